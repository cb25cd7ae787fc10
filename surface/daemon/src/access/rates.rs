//! Rates: calls of one credential, failed calls of one address, and lines of the log.
//!
//! Decides by the time that it is given. What has recovered is forgotten.

use std::collections::HashMap;
use std::hash::Hash;
use std::net::{IpAddr, Ipv6Addr};
use std::time::{Duration, Instant};

use quietcore_access::Bucket;

/// Calls that one credential may make at once.
pub const CALLS_BURST: u32 = 200;
/// Calls that one credential may make in a second, from then on.
pub const CALLS_PER_SECOND: u32 = 100;
/// Failed calls that one address may make at once.
pub const FAILURES_BURST: u32 = 10;
/// Time after which an address may fail once more.
pub const FAILURE_EACH: Duration = Duration::from_secs(6);
/// Addresses and credentials that are remembered.
const REMEMBERED_MAX: usize = 4096;
/// Lines of the log about refused calls: at once, and the time to another one.
const LINES_BURST: u32 = 100;
const LINE_EACH: Duration = Duration::from_secs(1);

/// The rates of all that call from the network.
#[derive(Debug)]
pub(super) struct Rates {
    calls: HashMap<String, Bucket>,
    failures: HashMap<IpAddr, Bucket>,
    lines: Bucket,
}

impl Rates {
    pub(super) fn new(now: Instant) -> Self {
        Self { calls: HashMap::new(), failures: HashMap::new(), lines: Bucket::full(now) }
    }

    /// Counts a call of a credential; `false` if it makes too many.
    pub(super) fn take_call(&mut self, serial: &str, now: Instant) -> bool {
        let each = Duration::from_secs(1) / CALLS_PER_SECOND;
        bucket(&mut self.calls, serial.to_owned(), now).take(now, each, CALLS_BURST)
    }

    /// Counts a failed call of an address; `false` if there were too many already.
    pub(super) fn take_failure(&mut self, address: IpAddr, now: Instant) -> bool {
        let failures = bucket(&mut self.failures, network_of(address), now);
        failures.take(now, FAILURE_EACH, FAILURES_BURST)
    }

    /// Counts a line of the log; `false` if there were too many.
    pub(super) fn take_line(&mut self, now: Instant) -> bool {
        self.lines.take(now, LINE_EACH, LINES_BURST)
    }
}

/// Returns the bucket of a key. If too many are remembered, those that have recovered are
/// forgotten, and all if that does not help: memory has a bound, whoever calls.
fn bucket<K: Hash + Eq>(all: &mut HashMap<K, Bucket>, key: K, now: Instant) -> &mut Bucket {
    if all.len() >= REMEMBERED_MAX && !all.contains_key(&key) {
        all.retain(|_, bucket| !bucket.is_full(now));
        if all.len() >= REMEMBERED_MAX {
            all.clear();
        }
    }
    all.entry(key).or_insert_with(|| Bucket::full(now))
}

/// Returns what stands for an address: of IPv6 the first 64 bits, since one machine has all that
/// follow.
pub(crate) fn network_of(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(six) => Ipv6Addr::from_bits(six.to_bits() >> 64 << 64).into(),
        four @ IpAddr::V4(_) => four,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(text: &str) -> IpAddr {
        text.parse().expect("an address")
    }

    #[test]
    fn a_credential_has_a_burst_of_calls_and_then_a_rate() {
        let begin = Instant::now();
        let mut rates = Rates::new(begin);
        let taken = (0..1000).filter(|_| rates.take_call("anna", begin)).count();
        assert_eq!(taken, CALLS_BURST as usize);
        assert!(rates.take_call("bert", begin), "others have their own");
        let later = begin + Duration::from_secs(1);
        let taken = (0..1000).filter(|_| rates.take_call("anna", later)).count();
        assert_eq!(taken, CALLS_PER_SECOND as usize);
    }

    #[test]
    fn an_address_may_fail_so_often_and_then_at_a_rate() {
        let begin = Instant::now();
        let mut rates = Rates::new(begin);
        let (near, far) = (address("10.0.0.1"), address("10.0.0.2"));
        assert!((0..FAILURES_BURST).all(|_| rates.take_failure(near, begin)));
        assert!(!rates.take_failure(near, begin));
        assert!(!rates.take_failure(address("::ffff:10.0.0.1"), begin));
        assert!(rates.take_failure(far, begin), "others have their own");
        let later = begin + FAILURE_EACH;
        assert!(rates.take_failure(near, later) && !rates.take_failure(near, later));
    }

    #[test]
    fn a_machine_with_many_addresses_is_one_and_memory_has_a_bound() {
        assert_eq!(network_of(address("2001:db8::1")), network_of(address("2001:db8::ffff:2")));
        assert_ne!(network_of(address("2001:db8::1")), network_of(address("2001:db8:0:1::1")));
        let begin = Instant::now();
        let mut rates = Rates::new(begin);
        for number in 0..3 * REMEMBERED_MAX {
            let number = u32::try_from(number).expect("it is small");
            rates.take_failure(std::net::Ipv4Addr::from_bits(number).into(), begin);
        }
        assert!(rates.failures.len() <= REMEMBERED_MAX);
    }
}
