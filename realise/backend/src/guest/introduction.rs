//! The first words between host and guest: both compare their counters, and the guest gets its host
//! page.

use std::time::{Duration, Instant};

use quietcore_boot::devices::Lead;
use quietcore_boot::{AddressRange, HostPage, Moment, places};
use quietcore_clock::Counter as HostCounter;
use quietcore_exchange::Region;
use quietcore_microvm::processor::counter::Counter;
use quietcore_process::remark::remark;
use quietcore_units::ByteSize;

use super::control::{Control, post_bytes};

/// Rate at which counts of the host's counter are compared; any will do.
const ANY_RATE: u64 = 1_000_000_000;

/// Longest time until the guest's first instructions, firmware before them; less than the
/// supervisor waits for the first cycle.
const BOOT: Duration = Duration::from_secs(100);
/// Time between two looks at a guest that boots, and at one that is slow to answer.
const BOOT_LOOK: Duration = Duration::from_millis(1);
const ROUND_LOOK: Duration = Duration::from_micros(50);
/// The guest's counter is compared with the host's in a round of this length at most, in counts, or
/// somebody is told: some 0.3 ms.
const WIDTH_USUAL: u64 = 1 << 20;

/// Compares the guest's counter with the host's, and writes the host page by it. Returns `None`
/// if the partition was told to stop meanwhile. `ended` says how the guest has ended, if it has.
///
/// # Errors
/// When it does not take part; in words.
pub(crate) fn introduce(
    control: &Control,
    mut ended: impl FnMut() -> Option<String>,
    region: Region<'_>,
    begun: Moment,
    page: &mut HostPage,
) -> Result<Option<Counter>, String> {
    let (introduction, end) = (control.introduction(), Instant::now() + BOOT);
    let mut looks = 0_u32;
    let goes_on = || {
        looks = looks.wrapping_add(1);
        // A guest that boots needs the CPU more than who waits for it.
        let waits = !introduction.has_begun();
        if waits || looks.is_multiple_of(1 << 12) {
            std::thread::sleep(if waits { BOOT_LOOK } else { ROUND_LOOK });
        }
        let is_time_to_look = looks.is_multiple_of(if waits { 1 << 5 } else { 1 << 16 });
        !is_time_to_look || (ended().is_none() && Instant::now() < end && !region.stop_requested())
    };
    let lead = introduction.answer(HostCounter::read, goes_on);
    let Some(Lead { counts, width }) = lead else {
        return match ended() {
            Some(why) => Err(format!("the guest ended before it began: {why}")),
            None if region.stop_requested() => Ok(None),
            None => Err(format!("the guest did not begin within {} s", BOOT.as_secs())),
        };
    };
    if width > WIDTH_USUAL {
        remark(format_args!(
            "the guest's counter was compared with the host's within {width} counts; its clock \
                 may be off by half of that"
        ));
    }
    let now = now_by_host();
    let counter = Counter::new(rate(begun, now), counts);
    let then = moment(counter);
    page.counter_hz = counter.hertz();
    (page.counter_then, page.host_then_ns) = (then.counter, then.host_ns);
    control.write_page(page);
    introduction.welcome();
    Ok(Some(counter))
}

/// Returns the present moment by the host's counter, where nothing is known of its rate.
pub(crate) fn now_by_host() -> Moment {
    moment(Counter::new(ANY_RATE, 0))
}

/// Returns the present moment by a guest's counter.
pub(crate) fn moment(counter: Counter) -> Moment {
    let now = counter.moment();
    Moment { counter: now.counter, host_ns: now.host_ns }
}

/// Returns counts a second between two moments.
fn rate(first: Moment, last: Moment) -> u64 {
    let counts = last.counter.saturating_sub(first.counter);
    let passed = last.host_ns.saturating_sub(first.host_ns).max(1);
    let rate = u128::from(counts) * 1_000_000_000 / u128::from(passed);
    u64::try_from(rate).unwrap_or(u64::MAX)
}

/// Returns the host page of a guest with so much memory, in which the time is missing.
pub(crate) fn host_page(memory: ByteSize, region: Region<'_>) -> HostPage {
    let bytes = (region.layout().bytes as u64).next_multiple_of(places::PAGE_BYTES);
    HostPage {
        memory_bytes: memory.get(),
        exchange: AddressRange { address: places::EXCHANGE, bytes },
        job: AddressRange { address: places::POST, bytes: post_bytes() },
        ..HostPage::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_is_counts_over_time() {
        let first = Moment { counter: 1_000, host_ns: 5 };
        let last = Moment { counter: 3_501_000, host_ns: 1_000_005 };
        assert_eq!(rate(first, last), 3_500_000_000);
        assert_eq!(rate(last, first), 0, "no time has passed");
    }
}
