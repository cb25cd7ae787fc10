//! Where the registers of a device are in its guest, and which of them are left out.
//!
//! Each base address register has a place that is aligned to its size, as on a bus; its pages keep
//! their order in it. Pages that the guest must not have, or that the kernel does not map, are no
//! memory there.

use std::ops::Range;

use quietcore_boot::{BARS, Place, places};

use crate::memory::PAGE_BYTES;
use crate::vfio::configuration::Stretch;

/// A base address register as the kernel tells of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Bar {
    /// Its bytes; 0 where there is none, or it can't be mapped.
    pub bytes: u64,
    /// The stretches that can be mapped, as offsets; empty where all of it can.
    pub only: Vec<Range<u64>>,
}

/// A stretch of registers that becomes memory of the guest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// The number of the base address register.
    pub bar: usize,
    /// Its first byte there; the beginning of a page.
    pub offset: u64,
    /// Whole pages.
    pub bytes: u64,
    /// Its address in the guest.
    pub place: u64,
}

/// Where everything is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    /// The places of the registers, as the guest is told.
    pub bars: [Place; BARS],
    /// What of them is memory.
    pub windows: Vec<Window>,
}

/// There is no room.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "the registers of the device take {needed:#x} bytes from {from:#x} on; a guest has room up to \
     {:#x}",
    places::PASSED_END
)]
pub struct NoRoom {
    from: u64,
    needed: u64,
}

/// Lays registers out from the address `from` on. What is `kept` is not the guest's.
///
/// # Errors
/// [`NoRoom`].
pub fn lay_out(from: u64, bars: &[Bar; BARS], kept: &[Stretch]) -> Result<Layout, NoRoom> {
    let mut layout = Layout { bars: [Place::default(); BARS], windows: Vec::new() };
    let mut next = from.max(places::PASSED);
    for (number, bar) in bars.iter().enumerate().filter(|(_, bar)| bar.bytes > 0) {
        let room = || NoRoom {
            from,
            needed: bars.iter().fold(0, |sum, bar| bar.bytes.saturating_add(sum)),
        };
        let size = bar.bytes.checked_next_power_of_two().ok_or_else(room)?.max(PAGE_BYTES);
        let address = next.checked_next_multiple_of(size).ok_or_else(room)?;
        let end = address.checked_add(size).filter(|end| *end <= places::PASSED_END);
        next = end.ok_or_else(room)?;
        layout.bars[number] = Place { address, bytes: bar.bytes };
        let kept = kept.iter().filter(|stretch| stretch.bar == number);
        let windows = windows(bar, kept).into_iter().map(|pages| Window {
            bar: number,
            offset: pages.start,
            bytes: pages.end - pages.start,
            place: address + pages.start,
        });
        layout.windows.extend(windows);
    }
    Ok(layout)
}

/// The pages of a register that are mapped, as stretches of bytes.
fn windows<'a>(bar: &Bar, kept: impl Iterator<Item = &'a Stretch>) -> Vec<Range<u64>> {
    let end = bar.bytes.next_multiple_of(PAGE_BYTES);
    // Only whole pages of what can be mapped, …
    let mut open: Vec<Range<u64>> = if bar.only.is_empty() {
        std::iter::once(0..end).collect()
    } else {
        let inner = bar.only.iter().map(|part| {
            let start = part.start.checked_next_multiple_of(PAGE_BYTES).unwrap_or(end);
            start.min(end)..down(part.end.min(end))
        });
        inner.collect()
    };
    // … and no page in which something is kept.
    for stretch in kept {
        let first = down(stretch.offset);
        let behind = stretch.offset.saturating_add(stretch.bytes).min(end);
        let behind = behind.next_multiple_of(PAGE_BYTES);
        let split = open
            .into_iter()
            .flat_map(|part| [part.start..part.end.min(first), part.start.max(behind)..part.end]);
        open = split.filter(|part| part.start < part.end).collect();
    }
    open.retain(|part| part.start < part.end);
    open.sort_by_key(|part| part.start);
    open
}

fn down(offset: u64) -> u64 {
    offset - offset % PAGE_BYTES
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    fn bars(sizes: &[u64]) -> [Bar; BARS] {
        let mut bars: [Bar; BARS] = Default::default();
        for (bar, bytes) in bars.iter_mut().zip(sizes) {
            bar.bytes = *bytes;
        }
        bars
    }

    #[test]
    fn registers_are_aligned_to_their_size() {
        let layout = lay_out(0, &bars(&[0x1000, 0, 1 << 20, 100]), &[]).unwrap();
        let places: Vec<_> = layout.bars.iter().map(|bar| (bar.address, bar.bytes)).collect();
        assert_eq!(
            places[..4],
            [(0xC000_0000, 0x1000), (0, 0), (0xC010_0000, 1 << 20), (0xC020_0000, 100)]
        );
        let last = layout.windows.last().unwrap();
        assert_eq!((last.bar, last.bytes, last.place), (3, 0x1000, 0xC020_0000));
        // The next device is behind.
        let next = lay_out(0xC020_1000, &bars(&[1 << 20]), &[]).unwrap();
        assert_eq!(next.bars[0].address, 0xC030_0000);
    }

    #[test]
    fn the_table_of_interrupts_is_left_out() {
        let kept = [Stretch { bar: 0, offset: 0x2010, bytes: 0x20 }];
        let layout = lay_out(0, &bars(&[0x8000, 0x1000]), &kept).unwrap();
        let first: Vec<_> =
            layout.windows.iter().map(|window| (window.bar, window.offset, window.bytes)).collect();
        assert_eq!(first, [(0, 0, 0x2000), (0, 0x3000, 0x5000), (1, 0, 0x1000)]);
        assert_eq!(layout.windows[1].place, 0xC000_3000);
    }

    #[test]
    fn only_what_can_be_mapped_is() {
        let mut all = bars(&[0x8000]);
        all[0].only = vec![0x800..0x3800, 0x4000..0x9000];
        let layout = lay_out(0, &all, &[]).unwrap();
        let parts: Vec<_> =
            layout.windows.iter().map(|window| (window.offset, window.bytes)).collect();
        assert_eq!(parts, [(0x1000, 0x2000), (0x4000, 0x4000)]);
    }

    #[test]
    fn what_has_no_room_is_refused() {
        let refused = lay_out(0, &bars(&[1 << 29]), &[]).unwrap_err().to_string();
        assert!(refused.contains("take 0x20000000 bytes"), "{refused}");
        assert!(lay_out(0, &bars(&[u64::MAX, u64::MAX]), &[]).is_err());
    }

    proptest! {
        #[test]
        fn windows_are_pages_of_their_register_and_nothing_kept(
            sizes in vec(0_u64..0x40_0000, 0..=BARS),
            kept in vec((0..BARS, any::<u32>(), 0_u64..0x1_0000), 0..4),
        ) {
            let kept: Vec<Stretch> = kept
                .into_iter()
                .map(|(bar, offset, bytes)| {
                    Stretch { bar, offset: (offset % 0x50_0000).into(), bytes }
                })
                .collect();
            let layout = lay_out(0, &bars(&sizes), &kept).unwrap();
            for window in &layout.windows {
                let place = layout.bars[window.bar];
                prop_assert!(window.offset % PAGE_BYTES == 0 && window.bytes % PAGE_BYTES == 0);
                prop_assert!(window.bytes > 0);
                prop_assert_eq!(window.place, place.address + window.offset);
                let whole = place.bytes.next_multiple_of(PAGE_BYTES);
                prop_assert!(window.offset + window.bytes <= whole);
                prop_assert!(window.place + window.bytes <= places::PASSED_END);
                for stretch in kept.iter().filter(|stretch| stretch.bar == window.bar) {
                    let is_before = stretch.offset + stretch.bytes <= window.offset;
                    let is_behind = stretch.offset >= window.offset + window.bytes;
                    prop_assert!(is_before || is_behind || stretch.bytes == 0);
                }
            }
            for (one, other) in layout.windows.iter().zip(layout.windows.iter().skip(1)) {
                prop_assert!(one.place + one.bytes <= other.place);
            }
        }
    }
}
