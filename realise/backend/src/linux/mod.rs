//! Linux guests: the partition's process runs in the guest, and is there what it is on the host.
//! Everything that they have in common, whether QEMU or Xen runs them.
//!
//! | module | content |
//! |---|---|
//! | `host` | a Linux guest as the setting of a partition |
//! | [`inside`] | the guest's first process |
//! | `parcel` | files, job and orders on their way into the guest |
//! | `ports` | the host's ends of the ports, by which those and the guest's words go |
//! | `rings` | ports that are rings in shared memory |
//! | `setting` | the words of the site file about the guest, and its job |

mod host;
pub mod inside;
pub(crate) mod parcel;
pub(crate) mod ports;
pub(crate) mod rings;
mod setting;

use std::fs::File;

use quietcore_exchange::Region;
use quietcore_scan::process::orders::Orders;

use crate::{qemu, xen};
pub use setting::{Hypervisor, LinuxSetting, LinuxSettingError, image_in};
pub(crate) use setting::{LinuxJob, named};

/// The names of the ports where they have names.
pub(crate) mod names {
    /// Parcels for the guest.
    pub(crate) const ORDERS: &str = "quietcore.orders";
    /// The port of what the program prints.
    pub(crate) const PRINTED: &str = "quietcore.printed";
    /// Remarks of the partition's process.
    pub(crate) const REMARKS: &str = "quietcore.remarks";
}

/// Runs a partition in a Linux guest until it ends. `orders` are the lines that follow the job.
///
/// # Errors
/// The reason, in words, if it did not end in order.
pub(crate) fn run(
    job: &LinuxJob,
    region: Region<'static>,
    exchange: &File,
    orders: &Orders,
) -> Result<(), String> {
    match (job.setting.hypervisor, job.domain()) {
        (Hypervisor::Qemu { accelerator }, _) => {
            qemu::linux::run(job, accelerator, region, exchange, orders)
        }
        (Hypervisor::Xen { is_pinned }, Some(domain)) => {
            xen::linux::run(job, domain, is_pinned, region, orders)
        }
        (Hypervisor::Xen { .. }, None) => Err("the job names no domain".to_owned()),
    }
}
