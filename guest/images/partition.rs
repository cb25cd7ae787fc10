//! The image of partitions: takes a job from its post and runs it, with a fieldbus over the network
//! device where the job has one.
// UNSAFETY: the boot calls this image by a name.

#![no_std]
#![no_main]
#![expect(unsafe_code, reason = "an image begins with a function that the boot calls by its name")]

extern crate alloc;

use alloc::boxed::Box;
use alloc::string::{String, ToString as _};

use quietcore_exchange::Region;
use quietcore_fieldbus::{Bus, RestUntil};
use quietcore_guest::clock::Clock;
use quietcore_guest::net::Network;
use quietcore_guest::partition;
use quietcore_scan::program::Fieldbus;

#[unsafe(no_mangle)]
extern "C" fn quietcore_guest_main() -> u8 {
    // SAFETY: the image begins here, once, with interrupts off.
    unsafe { partition::run(bring_up) }
}

fn bring_up(
    job: &[u8],
    region: Region<'static>,
    clock: Clock,
    rest: RestUntil,
) -> Result<Box<dyn Fieldbus>, String> {
    let net = Network::of_partition(clock).map_err(|error| error.to_string())?;
    let bus = Bus::bring_up_job(net, job, region, rest).map_err(|error| error.to_string())?;
    Ok(Box::new(bus))
}
