//! What this machine is and how it is set: facts, what they mean for real-time work, and controls.

pub mod attempts;
mod conditions;
pub mod controls;
mod cpu_list;
pub mod doctor;
pub mod facts;
mod machine;
#[cfg(test)]
mod machines;
mod reading;
pub mod sampler;
mod source;

pub use cpu_list::CpuList;
pub use doctor::{Area, Finding, Severity};
pub use facts::CacheGround;
pub use facts::Facts;
pub use machine::{boot, running_partitions};
pub use reading::Reading;
pub use source::{ENTRY_LIMIT, Source, TEXT_LIMIT};

pub(crate) use reading::error_text;
