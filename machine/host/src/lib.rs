//! This machine: its facts, and what they mean for real-time work.

pub mod attempts;
pub mod conditions;
mod cpu_list;
pub mod doctor;
pub mod facts;
mod machine;
#[cfg(test)]
mod machines;
pub mod process;
mod reading;
pub mod sampler;
mod source;

pub use cpu_list::CpuList;
pub use doctor::{Area, Finding, Severity};
pub use facts::CacheGround;
pub use facts::Facts;
pub use machine::{boot, cpu_use, running_partitions};
pub use reading::{Reading, error_text};
pub use source::{ENTRY_LIMIT, Source, TEXT_LIMIT, marked};
