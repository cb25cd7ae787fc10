//! Obstacles to the parts of the network that partitions ask for.

use quietcore_units::{BitCount, BitRate};

use super::Refusals;
use crate::site::Partition;
use crate::words::{exact_bits, exact_rate};

/// The longest Ethernet frame, without its check sum: what is longer than a burst never passes.
const FRAME: BitCount = BitCount::new(1514 * 8);
/// Beyond it the kernel's filter has no room for what waits 50 ms.
const RATE_MAX: BitRate = BitRate::new(400_000_000_000);
/// The largest burst that fits into the kernel's filter beside that.
const BURST_MAX: BitCount = BitCount::new(8_000_000_000);
/// The longest that a burst may take at its rate, which the kernel keeps in 32 bits.
const BURST_SECONDS_MAX: u64 = 100;

impl Refusals<'_> {
    /// The part of one partition.
    pub(super) fn network(&mut self, partition: &Partition, key: &impl Fn(&str) -> String) {
        let Some(share) = partition.vcr.network else { return };
        let own = key("vcr.network");
        let name = &partition.name;
        if !self.site.traffic().iter().any(|traffic| traffic.partition == *name) {
            self.refuse(
                &own,
                format!("partition `{name}` sends on no network interface, so nothing is limited"),
                "take it out, or give it a program and a fieldbus whose `interface` is a real one",
            );
        }
        if !self.machine.root {
            self.refuse(
                &own,
                "only root may limit what an interface sends".to_owned(),
                "run it as root, or take it out",
            );
        }
        if share.rate > RATE_MAX {
            let reason = format!("a rate of {} can't be enforced", exact_rate(share.rate));
            self.refuse(
                &key("vcr.network.rate"),
                reason,
                format!("write {} at most", exact_rate(RATE_MAX)),
            );
        }
        let Some(burst) = share.burst else { return };
        let most = share.rate.get().saturating_mul(BURST_SECONDS_MAX).min(BURST_MAX.get());
        let most = BitCount::new(most.max(FRAME.get()));
        if burst < FRAME {
            self.refuse(
                &key("vcr.network.burst"),
                format!(
                    "a frame has up to {} bit, and one longer than the burst never passes",
                    FRAME.get()
                ),
                "write 13 kbit or more, or leave it out",
            );
        } else if burst > most {
            let (asked, rate) = (exact_bits(burst), exact_rate(share.rate));
            let reason = format!("a burst of {asked} can't be enforced at {rate}");
            self.refuse(
                &key("vcr.network.burst"),
                reason,
                format!("write {} at most", exact_bits(most)),
            );
        }
    }
}
