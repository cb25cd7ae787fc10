//! The processors: how they hang together, sleep, share caches and count time.

pub(super) mod cache;
pub(super) mod cache_ground;
pub(super) mod clock;
pub(super) mod cpu;
pub(super) mod power;

use super::{field, field_of};

/// Folder in which the kernel describes CPUs.
const CPUS: &str = "/sys/devices/system/cpu";
