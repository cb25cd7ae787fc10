//! Pools of Xen for domains that have CPUs for themselves.

use quietcore_units::CpuSet;

use crate::setting::{Setting, pool};
use crate::want::Want;

/// Returns the setting that gives CPUs a pool of their own.
pub(crate) fn part(cpus: CpuSet) -> (Setting, Want) {
    (Setting::Pool { cpus: cpus.to_string() }, Want::Exactly(pool::OWN.to_owned()))
}
