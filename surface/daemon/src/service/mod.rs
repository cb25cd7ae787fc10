//! The services of `quietcore.v1`, one module each: they check what a call says, ask the site, and
//! answer in the words of the contract.

mod audit;
mod host;
mod page;
mod partition;
mod program;
mod qualification;
mod site;
mod site_version;
mod timing;
mod trace;
mod variable;

pub(crate) use audit::AuditCalls;
pub(crate) use host::HostCalls;
pub(crate) use page::PageCalls;
pub(crate) use partition::PartitionCalls;
pub(crate) use program::ProgramCalls;
pub(crate) use qualification::QualificationCalls;
pub(crate) use site::SiteCalls;
pub use site_version::CHOICES_MAX;
pub(crate) use trace::TraceCalls;
pub use variable::{PATTERN_BYTES_MAX, PATTERNS_MAX};
pub(crate) use variable::{VariableCalls, check_patterns};
