//! The side of a Linux guest that its first process needs the kernel for: a clock that follows the
//! host's, and words in a device's memory.

pub mod clock;
pub mod words;
