//! Settings of the machine that Quietcore changes, each read back after it is written.
//!
//! A control lives as long as the value that stands for it: dropping it undoes it. A run writes
//! down which controls it held, for a control changes the system that is measured.
//!
//! | control | module | undone by |
//! |---------|--------|-----------|
//! | settings that outlive their process | `holding` | its owner; after a crash, whoever opens the journal next |
//! | the longest wake-up from idle | `dma_latency` | the kernel, when the file is closed |
//! | ways of the last-level cache, a limit of the memory's bandwidth | `resctrl` | its owner; after a crash, whoever holds some or looks next |

mod changed;
mod dma_latency;
mod fake;
mod group;
mod holding;
mod journal;
mod requests;
pub mod resctrl;
mod setting;
mod tally;
mod want;

pub use changed::{
    ChangeError, Changed, Heard, Links, RequestedSettings, ReservedGroup, SettingsReport,
};
pub use dma_latency::{
    DmaLatency, FakeLatency, HeldLatency, LatencyControl, LatencyError, LiveLatency,
};
pub use fake::FakeSettings;
pub use group::CpusetKind;
pub use holding::{Controls, Effect, Held, Left, Outcome, Recovery, Request};
pub use journal::{JournalError, Store};
pub use requests::requests;
pub use resctrl::{HeldShare, MemoryShare, ResctrlError};
pub use setting::tool::{Tool, ToolError};
pub use setting::{Form, LiveSettings, Setting, SettingError, Settings};
pub use tally::Tally;
pub use want::Want;
