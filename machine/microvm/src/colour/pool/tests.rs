//! Memory of chosen pages: which pages those are, that nothing else is kept, and that it is memory.
//!
//! A fake tells physical addresses; it knows a page by a number that it writes into it: so these
//! tests need no right, and run in virtual machines too.
// UNSAFETY: reads numbers out of pages that are mapped.

use std::cell::Cell;
use std::collections::BTreeSet;
use std::os::linux::fs::MetadataExt as _;

use proptest::collection::vec;
use proptest::prelude::*;
use vm_memory::{Bytes as _, GuestAddress};

use super::*;
use crate::memory::PAGE_BYTES;

/// Gives pages numbers in the order in which it sees them first.
#[derive(Debug, Default)]
struct Numbers {
    seen: Cell<u64>,
    /// A number that is added to every other: pages that were moved.
    moved_by: Cell<u64>,
    /// Numbers are spread by this factor, so that not every colour comes.
    factor: u64,
}

impl Frames for Numbers {
    fn of(&self, address: u64, pages: usize) -> Result<Vec<Option<u64>>, NoColours> {
        Ok((0..pages)
            .map(|page| {
                let place = (address as usize + page * PAGE) as *mut u64;
                // SAFETY: these tests ask of pages that are mapped, to be read and written.
                let mut number = unsafe { place.read_volatile() };
                if number == 0 {
                    number = self.seen.get() + 1;
                    self.seen.set(number);
                    // SAFETY: as above.
                    unsafe { place.write_volatile(number) };
                }
                Some(number * self.factor.max(1) + self.moved_by.get())
            })
            .collect())
    }
}

fn colouring() -> Colouring {
    Colouring::of_mask(0b111 << 12).unwrap()
}

const SIZE: ByteSize = ByteSize::new(2 << 20);
/// More than a pool takes until it has a page of each colour.
const POOL_BYTES: usize = 64 << 20;
const PAGES: u64 = (2 << 20) / PAGE_BYTES;

#[test]
fn memory_is_of_its_colours_and_the_rest_is_given_back() {
    quietcore_skip::need_locked_memory!(POOL_BYTES);
    let knows = Numbers::default();
    let (memory, coloured) = ColouredMemory::create(SIZE, colouring(), &[2, 5], knows).unwrap();
    assert_eq!(memory.size(), SIZE);
    assert_eq!(coloured.misplaced().unwrap(), 0);
    let numbers: Vec<u64> = (0..PAGES)
        .map(|page| memory.mapping().read_obj(GuestAddress(page * PAGE_BYTES)).unwrap())
        .collect();
    let colours: BTreeSet<u64> = numbers.iter().map(|number| number % 8).collect();
    assert_eq!(colours.into_iter().collect::<Vec<_>>(), [2, 5]);
    assert_eq!(numbers.iter().collect::<BTreeSet<_>>().len() as u64, PAGES);
    // What the file has is what the guest has, and no page more.
    let kept = memory.file().metadata().unwrap().st_blocks() * 512;
    assert_eq!(kept, SIZE.get());
}

#[test]
fn pages_that_move_are_noticed() {
    quietcore_skip::need_locked_memory!(POOL_BYTES);
    let knows = Numbers::default();
    let (_memory, coloured) = ColouredMemory::create(SIZE, colouring(), &[0, 1], knows).unwrap();
    coloured.knows.moved_by.set(1);
    assert_eq!(coloured.misplaced().unwrap() as u64, PAGES / 2, "those that were of colour 1");
}

#[test]
fn a_colour_that_does_not_come_is_told() {
    quietcore_skip::need_locked_memory!(POOL_BYTES);
    let knows = Numbers { factor: 2, ..Numbers::default() };
    let refused = ColouredMemory::create(SIZE, colouring(), &[0, 1], knows).unwrap_err();
    let PoolError::Short { short, .. } = &refused else { panic!("{refused}") };
    assert_eq!(short.lacks, [(1, 256)]);
    assert!(refused.to_string().contains("256 of colour 1"), "{refused}");
}

/// Goal: pages are looked for as long as others keep some, and no longer.
/// Method: a colour that does not come, and room for one, two or no stretches of the pool.
#[test]
fn a_pool_takes_no_more_than_there_is_room_for() {
    quietcore_skip::need_locked_memory!(POOL_BYTES);
    let share = PAGES as usize * 8 / 2;
    for (stretches, pages) in [(0, 0), (1, share + share / 8), (2, share + share / 4)] {
        let (asked, knows) = (Cell::new(0), Numbers { factor: 2, ..Numbers::default() });
        let has_room = |_: usize| {
            asked.set(asked.get() + 1);
            asked.get() <= stretches
        };
        let refused =
            ColouredMemory::create_within(SIZE, colouring(), &[0, 1], knows, has_room).unwrap_err();
        let PoolError::Short { looked_at, .. } = &refused else { panic!("{refused}") };
        assert_eq!(*looked_at, pages);
    }
}

#[test]
fn what_is_available_is_read() {
    let text = "MemTotal:       8000000 kB\nMemAvailable:    4000 kB\nBuffers: 1 kB\n";
    assert_eq!(available(text), Some(4_096_000));
    for text in
        ["", "MemAvailable: much kB", "MemAvailable: 4", "MemAvailable: 99999999999999999 kB"]
    {
        assert_eq!(available(text), None, "{text}");
    }
    assert!(has_room(1) && !has_room(usize::MAX));
}

#[test]
fn what_is_no_memory_of_a_guest_is_refused_at_once() {
    let refused = |size: u64| {
        let knows = Numbers::default();
        let made = ColouredMemory::create(ByteSize::new(size), colouring(), &[1], knows);
        made.unwrap_err().to_string()
    };
    assert!(refused(4096).contains("not possible"));
    assert!(refused(u64::MAX).contains("not possible"));
}

#[test]
fn memory_is_held_in_place_where_the_kernel_does_that() {
    quietcore_skip::need_locked_memory!(POOL_BYTES);
    let knows = Numbers::default();
    let (_memory, coloured) = ColouredMemory::create(SIZE, colouring(), &[0], knows).unwrap();
    if let Some(error) = coloured.may_move() {
        quietcore_skip::skip!("no io_uring to hold memory in place: {error}");
    }
}

/// The real thing, but for that the machine is taken for what it is not: in a virtual machine,
/// physical addresses are the hypervisor's idea.
#[test]
fn pages_of_this_machine_are_chosen_where_they_can_be_seen() {
    quietcore_skip::need_locked_memory!(POOL_BYTES);
    let made = PageMap::open().map_err(PoolError::from);
    match made.and_then(|knows| ColouredMemory::create(SIZE, colouring(), &[3], knows)) {
        Ok((memory, coloured)) => {
            assert_eq!(coloured.misplaced().unwrap(), 0);
            let mut last = [1; 16];
            let end = GuestAddress(SIZE.get() - 16);
            memory.mapping().read_slice(&mut last, end).unwrap();
            assert_eq!(last, [0; 16], "it is all zero");
            memory.mapping().write_slice(&[7; 8192], GuestAddress(PAGE_BYTES - 1)).unwrap();
            assert_eq!(
                memory.mapping().read_obj::<u8>(GuestAddress(3 * PAGE_BYTES - 2)).unwrap(),
                7
            );
        }
        Err(PoolError::NoColours(NoColours::NoAddresses { because })) => {
            quietcore_skip::skip!("physical addresses: {because}");
        }
        Err(other) => panic!("{other}"),
    }
}

proptest! {
    #[test]
    fn runs_and_gaps_are_all_pages(chosen in vec(any::<bool>(), 1..200)) {
        let picked: Vec<usize> =
            chosen.iter().enumerate().filter(|(_, is)| **is).map(|(page, _)| page).collect();
        let from_runs: Vec<usize> =
            runs(&picked).into_iter().flat_map(|(_, first, count)| first..first + count).collect();
        prop_assert_eq!(&from_runs, &picked);
        let mut all = from_runs;
        all.extend(gaps(&picked, chosen.len()).into_iter().flat_map(|(at, n)| at..at + n));
        all.sort_unstable();
        prop_assert_eq!(all, (0..chosen.len()).collect::<Vec<_>>());
    }

    #[test]
    fn any_order_of_pages_is_mapped_in_that_order(chosen in vec(0_usize..50, 1..80)) {
        let places: Vec<usize> =
            runs(&chosen).into_iter().flat_map(|(_, first, count)| first..first + count).collect();
        prop_assert_eq!(places, chosen);
    }
}
