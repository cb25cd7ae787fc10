//! The translation of a process's job into that of a guest: names are left out, files become
//! addresses.

use quietcore_boot::AddressRange;
use quietcore_boot::places::{CHANNELS, PAGE_BYTES};
use quietcore_scan::guest::job::{GuestBuild, GuestChannel, GuestJob, GuestTask};
use quietcore_scan::process::job::{ChannelJob, ProgramJob, TaskJob};

/// Returns the job of a guest. `places` are the addresses of its channels, in their order.
pub fn guest_job(
    job: &ProgramJob,
    thread_id: u32,
    places: &[AddressRange],
    build: GuestBuild,
    fieldbus: Option<Vec<u8>>,
) -> GuestJob {
    GuestJob {
        cpu: job.cpu.unwrap_or(0),
        thread_id,
        is_watched: true,
        tasks: job.tasks.iter().map(task).collect(),
        kernel_tasks: job.kernel_tasks.clone(),
        on_fault: job.on_fault,
        channels: job.channels.iter().zip(places).map(channel).collect(),
        probation_cycles: job.probation_cycles,
        warm_up_cycles: job.warm_up_cycles,
        cycles: job.cycles,
        late_beyond: job.snare.map(|snare| snare.limit),
        fieldbus,
        build,
    }
}

fn task(job: &TaskJob) -> GuestTask {
    let TaskJob { rate, release, deadline, watchdog, sensitivity, overrun, wake, .. } = *job;
    GuestTask { rate, release, deadline, watchdog, sensitivity, overrun, wake }
}

fn channel((job, place): (&ChannelJob, &AddressRange)) -> GuestChannel {
    GuestChannel {
        place: *place,
        sends: job.sends,
        entries: job.entries.clone(),
        signals: job.signals.clone(),
    }
}

/// Places channels of these sizes in bytes one after the other, each at the start of a page.
pub(crate) fn channel_places(sizes: impl IntoIterator<Item = u64>) -> Vec<AddressRange> {
    let mut end = CHANNELS;
    let place = |bytes: u64| {
        let address = end;
        end = end.saturating_add(bytes.next_multiple_of(PAGE_BYTES));
        AddressRange { address, bytes }
    };
    sizes.into_iter().map(place).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn channels_follow_each_other_on_pages() {
        let places = channel_places([1, 4096, 4097, 8]);
        let addresses: Vec<u64> = places.iter().map(|place| place.address - CHANNELS).collect();
        assert_eq!(addresses, [0, 0x1000, 0x2000, 0x4000]);
        assert_eq!(places[2].bytes, 4097);
    }
}
