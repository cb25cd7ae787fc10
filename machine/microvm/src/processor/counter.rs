//! The time stamp counter as the guest reads it.
//!
//! It shall be the host's own, so that what the guest measured, the host's ledger of exits and the
//! host page can be joined without a conversion. Whether it is, is found by reading it back: where
//! KVM can't set the difference, the difference is what was measured.
// UNSAFETY: KVM is given the address of a number.
#![expect(unsafe_code, reason = "an attribute of a processor is passed by address")]

use std::os::fd::AsRawFd as _;

use kvm_bindings::{KVM_VCPU_TSC_CTRL, KVM_VCPU_TSC_OFFSET, Msrs, kvm_device_attr, kvm_msr_entry};
use kvm_ioctls::VcpuFd;
use quietcore_clock::Counter as HostCounter;
use rustix::time::{ClockId, clock_gettime};

use crate::machine::request::SET_ATTRIBUTE;

/// The register that is the counter (Intel SDM volume 4, table 2-2).
pub(crate) const COUNTER_REGISTER: u32 = 0x10;

/// Number of comparisons of the counters; the closest one counts.
const COMPARISONS: usize = 8;

/// Fraction bits of the factor.
const SHIFT: u32 = 32;

/// The guest's time stamp counter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counter {
    hertz: u64,
    ahead: i64,
    /// ns a count, times 2^32.
    factor: u64,
}

/// One instant, by both clocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Moment {
    /// The value of the guest's counter.
    pub counter: u64,
    /// The host's monotonic clock, in ns.
    pub host_ns: u64,
}

impl Counter {
    /// A counter with so many counts a second, 1 kHz at least, that is so many counts ahead of the
    /// host's.
    pub const fn new(hertz: u64, ahead: i64) -> Self {
        let hertz = if hertz < 1000 { 1000 } else { hertz };
        let factor = ((1_000_000_000_u128 << SHIFT) / hertz as u128) as u64;
        Self { hertz, ahead, factor }
    }

    /// Makes the guest's counter the host's where KVM can do that, and finds out how far it is
    /// ahead of it.
    pub(crate) fn align(file: &VcpuFd, hertz: u64) -> Result<Self, kvm_ioctls::Error> {
        let nothing: u64 = 0;
        let attribute = kvm_device_attr {
            group: KVM_VCPU_TSC_CTRL,
            attr: u64::from(KVM_VCPU_TSC_OFFSET),
            addr: (&raw const nothing).addr() as u64,
            ..kvm_device_attr::default()
        };
        // Kernels before 5.16 can't; what comes of it is measured.
        let at: *const kvm_device_attr = &raw const attribute;
        // SAFETY: KVM reads the attribute, and the number at its address; both live.
        let is_set = unsafe { libc::ioctl(file.as_raw_fd(), SET_ATTRIBUTE, at) } == 0;
        let (ahead, width) = measure(file)?;
        // Both readings are of one counter: nothing is between them but the time of a call.
        let is_same = is_set && ahead.unsigned_abs() <= width;
        Ok(Self::new(hertz, if is_same { 0 } else { ahead }))
    }

    /// Returns its frequency in Hz.
    pub const fn hertz(self) -> u64 {
        self.hertz
    }

    /// Returns its lead over the host's, in counts; 0 if both are one.
    pub const fn ahead(self) -> i64 {
        self.ahead
    }

    /// Returns the value that the guest would read now.
    #[inline]
    pub fn read(self) -> u64 {
        HostCounter::read().wrapping_add_signed(self.ahead)
    }

    /// The time that so many counts take, in ns.
    #[inline]
    pub const fn nanoseconds(self, counts: u64) -> u64 {
        let long = (counts as u128 * self.factor as u128) >> SHIFT;
        if long > u64::MAX as u128 { u64::MAX } else { long as u64 }
    }

    /// Now, by the guest's counter and by the host's monotonic clock: what a host page tells.
    pub fn moment(self) -> Moment {
        let closest = (0..COMPARISONS).map(|_| {
            let before = self.read();
            let host = clock_gettime(ClockId::Monotonic);
            let width = self.read().wrapping_sub(before);
            let host_ns = host.tv_sec as u64 * 1_000_000_000 + host.tv_nsec as u64;
            (width, Moment { counter: before.wrapping_add(width / 2), host_ns })
        });
        closest.min_by_key(|(width, _)| *width).expect("there are comparisons").1
    }
}

/// Measures the lead of the guest's counter over the host's, and its uncertainty, in counts.
fn measure(file: &VcpuFd) -> Result<(i64, u64), kvm_ioctls::Error> {
    let mut closest: Option<(i64, u64)> = None;
    for _ in 0..COMPARISONS {
        let entry = kvm_msr_entry { index: COUNTER_REGISTER, ..kvm_msr_entry::default() };
        let mut registers =
            Msrs::from_entries(&[entry]).expect("one register is fewer than the most");
        let before = HostCounter::read();
        let read = file.get_msrs(&mut registers)?;
        let width = HostCounter::read().wrapping_sub(before);
        if read != 1 {
            return Err(kvm_ioctls::Error::new(libc::EIO));
        }
        let guest = registers.as_slice()[0].data;
        let ahead = guest.wrapping_sub(before.wrapping_add(width / 2)).cast_signed();
        if closest.is_none_or(|(_, least)| width < least) {
            closest = Some((ahead, width));
        }
    }
    Ok(closest.expect("there are comparisons"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_made_ns() {
        let counter = Counter::new(2_500_000_000, 0);
        // The factor is rounded down: 1 ns a second at most.
        assert!((999_999_999..=1_000_000_000).contains(&counter.nanoseconds(2_500_000_000)));
        assert_eq!(counter.nanoseconds(6), 2);
        assert_eq!(Counter::new(1000, 0).nanoseconds(u64::MAX), u64::MAX);
        assert_eq!(Counter::new(0, 0).hertz(), 1000);
    }

    #[test]
    fn a_counter_that_is_ahead_reads_so() {
        let (here, ahead) = (Counter::new(1_000_000_000, 0), Counter::new(1_000_000_000, 1 << 60));
        let (first, second) = (here.read(), ahead.read());
        assert!(second.wrapping_sub(first) >= 1 << 60, "{first} {second}");
    }

    #[test]
    fn a_moment_is_now() {
        let counter = Counter::new(1_000_000_000, 0);
        let (first, second) = (counter.moment(), counter.moment());
        assert!(second.host_ns >= first.host_ns && second.counter >= first.counter);
    }
}
