//! The daemon: sites of this machine, served by gRPC.
//!
//! ```text
//! client ── gRPC ──► access ── service ── Sites::ask ──► supervisor of the site (control socket)
//!   ▲                            │
//!   └── samples ◄── following: a thread a feed ──► exchange of the partition (read-only)
//! ```
//!
//! The daemon is a client of the supervisors, as the command line is: it decides nothing that the
//! command line decides otherwise, and holds no state of a site. If it is killed, sites go on, and
//! the next daemon finds them.
//!
//! | module | content |
//! |--------|---------|
//! | [`Daemon`] | the socket, the services on it, and their end |
//! | `service` | one module a service of `quietcore.v1` |
//! | `sites` | the way from a call to a site's supervisor and back |
//! | `audit` | changing calls in the audit trail, before and after |
//! | `programs` | programs that were received: uploads, builds, deployments |
//! | `applying` | sites planned, applied and undone by the command line; their versions |
//! | `qualification` | campaigns and experiments, which outlive the daemon |
//! | `traces` | variables cycle by cycle, recorded without their client |
//! | `following` | values and events that are streamed as they come |
//! | `command_line` | the product's own command line, as it is started here |
//! | `cpus` | the daemon's threads are kept off the CPUs of partitions |
//! | `access` | who calls, and whether they may, before all services |
//! | `calls` | the calls: the role that each needs, and whether it changes anything |
//! | `caller` | the caller, with its role and grants |
//! | `network` | connections by TLS 1.3 |
//! | `page` | the live page, for browsers of this machine |
//! | `systemd` | the units, and the sockets that systemd hands over |
//! | `link` | a link to it, asked for at the socket |
//! | `log` | the lines that it writes on standard error |
//! | `failure` | errors of the product as gRPC statuses |
//!
//! | limit | value | beyond it |
//! |-------|-------|-----------|
//! | calls to sites at once | [`CALLS_MAX`] | a further one waits |
//! | entries that wait for the audit trail | 64 | a further call waits |
//! | streams at once | [`STREAMS_MAX`] | `RESOURCE_EXHAUSTED` |
//! | size of a request | 4 MiB | `OUT_OF_RANGE` |
//! | patterns of a call, and length of each | [`PATTERNS_MAX`], [`PATTERN_BYTES_MAX`] | `INVALID_ARGUMENT` |
//! | variables that a call reads or follows | [`FOLLOWED_MAX`] | `INVALID_ARGUMENT` |
//! | uploads at once | [`UPLOADS_MAX`] | `RESOURCE_EXHAUSTED` |
//! | silence within an upload | [`UPLOAD_SILENCE_MAX`] | `DEADLINE_EXCEEDED` |
//! | builds at once | 1 | a further one waits |
//! | size of an upload, and what is kept | see `quietcore_programs` | `RESOURCE_EXHAUSTED` |
//! | time of an application, and of a plan | [`APPLY_TIME_MAX`], [`PLAN_TIME_MAX`] | `FAILED_PRECONDITION` |
//! | output of the command line that is read, and lines sent | [`OUTPUT_BYTES_MAX`], [`LINES_MAX`] | the last ones |
//! | programs chosen beside a text | [`CHOICES_MAX`] | `INVALID_ARGUMENT` |
//! | plans at once | 1 | a further one waits |
//! | runs at once, and runs that are kept | 1, [`RUNS_MAX`] | `ABORTED`; the oldest goes |
//! | words in a list of a run's request, and length of each | [`RUN_WORDS_MAX`], [`RUN_WORD_BYTES_MAX`] | `INVALID_ARGUMENT` |
//! | files of a run that are listed, and size of one that is sent | [`RUN_FILES_MAX`], [`RUN_FILE_BYTES_MAX`] | left out; `RESOURCE_EXHAUSTED` |
//! | traces at once | [`TRACES_AT_ONCE_MAX`] | `RESOURCE_EXHAUSTED` |
//! | windows of a trace, and bytes of its rows | [`TRACE_WINDOWS_MAX`], [`TRACE_BYTES_MAX`] | `INVALID_ARGUMENT` |
//! | traces that are kept, and bytes of all | [`TRACES_MAX`], [`TRACES_BYTES_MAX`] | the oldest go |
//! | interval of a subscription | [`INTERVAL_MIN`] to [`INTERVAL_MAX`] | `INVALID_ARGUMENT` |
//! | connections over the network, in all and of one address | [`CONNECTIONS_MAX`], [`CONNECTIONS_OF_ADDRESS_MAX`] | closed |
//! | handshakes at once, and time of each | [`HANDSHAKES_MAX`], [`HANDSHAKE_TIME`] | closed |
//! | connection without a call that was let in | [`UNKNOWN_TIME`] | closed |
//! | calls of one credential | [`CALLS_BURST`], then [`CALLS_PER_SECOND`] | `RESOURCE_EXHAUSTED` |
//! | failed calls of one address | [`FAILURES_BURST`], then one each [`FAILURE_EACH`] | `RESOURCE_EXHAUSTED` |
//! | connections of browsers | [`PAGE_CONNECTIONS_MAX`] | closed |
//! | links that wait, and time of each | [`LINKS_MAX`], [`LINK_TIME`] | the oldest is void |
//! | sessions of the page, and life of each | [`SESSIONS_MAX`], [`SESSION_TIME`] | the oldest ends |

#![forbid(unsafe_code)]

mod access;
mod applying;
mod audit;
mod caller;
mod calls;
mod command_line;
mod cpus;
mod daemon;
mod failure;
mod following;
mod link;
mod log;
mod network;
mod page;
mod programs;
mod qualification;
mod service;
mod sites;
mod systemd;
mod traces;

pub use access::rates::{CALLS_BURST, CALLS_PER_SECOND, FAILURE_EACH, FAILURES_BURST};
pub use applying::{APPLY_TIME_MAX, LINES_MAX, OUTPUT_BYTES_MAX, PLAN_TIME_MAX};
pub use calls::{CALLS, Effect};
pub use daemon::{Daemon, DaemonError};
pub use following::{FOLLOWED_MAX, INTERVAL_MAX, INTERVAL_MIN, STREAMS_MAX};
pub use link::{LinkError, ask_for_link};
pub use log::say;
pub use network::{
    CONNECTIONS_MAX, CONNECTIONS_OF_ADDRESS_MAX, HANDSHAKE_TIME, HANDSHAKES_MAX, TlsError,
    UNKNOWN_TIME,
};
pub use page::{
    LINK_TIME, LINKS_MAX, PAGE_CONNECTIONS_MAX, SESSION_TIME, SESSIONS_MAX, is_built_in,
};
pub use programs::{UPLOAD_SILENCE_MAX, UPLOADS_MAX};
pub use qualification::{
    RUN_FILE_BYTES_MAX, RUN_FILES_MAX, RUN_WORD_BYTES_MAX, RUN_WORDS_MAX, RUNS_MAX,
};
pub use service::{CHOICES_MAX, PATTERN_BYTES_MAX, PATTERNS_MAX};
pub use sites::CALLS_MAX;
pub use systemd::{Activation, ActivationError, Unit};
pub use traces::{
    TRACE_BYTES_MAX, TRACE_WINDOWS_MAX, TRACES_AT_ONCE_MAX, TRACES_BYTES_MAX, TRACES_MAX,
};
