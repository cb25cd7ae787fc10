//! The audit trail of the daemon: who has changed what, with old and new values.
//!
//! ```text
//! call ─► intention ─► site is asked ─► outcome, both on the disk ─► answer
//! ```
//!
//! An entry is never changed. A change that was made is therefore two entries, the intention and
//! its outcome: whenever the daemon is killed, nothing has changed without a trace. An intention
//! without an outcome is shown as `unknown`.
//!
//! # The chain
//!
//! An entry is an object of JSON, and its canonical form is one text: no spaces, names sorted,
//! whole numbers only, UTF-8. The SHA-256 of that text is the entry's hash, and the next entry has
//! it as `previous`. An export has one entry a line, with its hash as `hash`. To check one:
//!
//! ```python
//! import hashlib, json, sys
//! previous = None
//! for line in sys.stdin:
//!     entry = json.loads(line)
//!     told = entry.pop("hash")
//!     text = json.dumps(entry, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
//!     if hashlib.sha256(text.encode()).hexdigest() != told:
//!         sys.exit(f"entry {entry['number']} was changed")
//!     if previous not in (None, entry["previous"]):
//!         sys.exit(f"entries before {entry['number']} are missing or were replaced")
//!     previous = told
//! print(f"in order; the last hash is {previous}")
//! ```
//!
//! The hashes need no secret: whoever may write the file can write a whole chain anew. An export,
//! or the last hash, that is kept elsewhere shows that.
//!
//! # The file
//!
//! SQLite, `STATE/@daemon/audit.db`. Triggers refuse what is neither the next entry nor a pruning.
//! The rule for a file that is damaged: it is set aside as `audit-TIME.db`, and a new chain begins
//! with an entry that names it, its fault, and its last entry that was in order. While nothing can
//! be written, nothing may be changed.
//!
//! | limit | value | beyond it |
//! |-------|-------|-----------|
//! | text in details | [`DETAIL_CHARS_MAX`] | it is cut and ends in `…` |
//! | details of an entry | [`DETAILS_BYTES_MAX`] | they are left out, and their size is told |
//! | time for which entries are kept | [`Retention`] | they are pruned |
//! | entries and time of one pruning, one a day | [`PRUNED_COUNT_MAX`], [`PRUNED_SPAN_MAX`] | the next one goes on |
//! | settings of the clock that are told | [`CLOCK_SETTINGS_MAX`] | the later ones are not |

#![forbid(unsafe_code)]

mod canonical;
mod database;
mod entry;
mod error;
mod instant;
mod reader;
mod trail;
mod verify;

pub use canonical::{DETAIL_CHARS_MAX, DETAILS_BYTES_MAX};
pub use entry::{Entry, Kind, NO_HASH, Refusal, Row, Who};
pub use error::TrailError;
pub use instant::Instant;
pub use reader::Reader;
pub use trail::{
    FILE, Intended, Intention, OnDisk, Outcome, PRUNED_COUNT_MAX, PRUNED_SPAN_MAX, Retention, Trail,
};
pub use verify::{CLOCK_SETTINGS_MAX, ClockSetting, Fault, Head, Verification, Verifier, WhyFault};
