//! Requests to a running site and its answers, as values.
//!
//! ```text
//! client ── Introduction + Ask ──► supervisor ── Asked ──► keeper of the partition
//!   ▲                                                            │
//!   └────────────────────────── Answer ◄─────────────────────────┘
//! ```
//!
//! A request says who asks, of which partition, and what; an answer says what came of it, for a
//! change with the value before and after and the reason where it had no effect. Both travel from
//! the client to the thread that keeps the partition as they are. The crate is pure: sockets and
//! threads are the supervisor's.
//!
//! | module | what |
//! |--------|------|
//! | [`asker`] | who asks: what the kernel says of a client, and what that says of itself |
//! | [`request`] | the verbs, of a site and of a partition, and their limits |
//! | [`answer`] | the answers; among them a channel that a program of the host opens |
//! | [`change`] | changes of variables, and what comes of them |
//! | [`error`] | refusals, each worded once, with its remedy |
//! | [`line`](mod@line) | all of it as lines of JSON |
//! | [`partition`], [`event`], [`deployed`] | states, events, builds |
//!
//! Everything here crosses the control socket as JSON. Within a version of the schema keys may be
//! added to answers, never removed or changed; a request with a key that is not known is refused.
//! Durations are whole numbers of nanoseconds.

#![forbid(unsafe_code)]

pub mod answer;
pub mod asker;
pub mod change;
pub mod deployed;
pub mod error;
pub mod event;
pub mod line;
mod nanos;
pub mod partition;
pub mod request;
#[cfg(any(test, feature = "samples"))]
pub mod samples;

pub use answer::channel::{ChannelOpened, ChannelSignal, ChannelUse};
pub use answer::{Answer, Done, Events, Hello, History, Partitions, Paused, TraceStarted};
pub use asker::{Asker, Introduction};
pub use change::{
    Applied, AppliedChange, CHANGE_COUNT_MAX, Change, ChangeKind, Effect, WhyNoEffect,
};
pub use deployed::{
    DeployPatience, Deployed, NOT_CARRIED_MAX, NotCarried, NotForced, Probation, Restart,
};
pub use error::{ControlError, ErrorKind, Refusal, quoted};
pub use event::{EventLine, Severity};
pub use partition::{
    Activity, Faults, FieldbusState, LastFault, Opened, PartitionState, Reactions, TaskDescription,
};
pub use quietcore_site::Criticality;
pub use request::{Ask, Asked, Request, SiteVerb, TRACE_VARIABLES_MAX, Trace, Verb};
