//! The side of a Linux guest that its first process needs the kernel for: a clock that follows the
//! host's, words in a device's memory, and pages that Xen grants.

pub mod clock;
pub mod granted;
pub mod words;
