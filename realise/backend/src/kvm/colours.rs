//! A guest's part of the last-level cache, given by the colours of its pages.
//!
//! *Colours* are a matter of the pages that the guest's process takes for the guest's own memory.
//! The host measures once which address bits are the colour, so that a number means the same to all
//! guests. *Ways* need nothing of the guest: the host gives them to any partition.

use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use quietcore_host::CacheGround;
use quietcore_host::facts::CacheDomain;
use quietcore_microvm::colour::{
    CacheShape, ColouredMemory, Colouring, Ground, Measured, PageMap, Pin, PoolError, measure_here,
};
use quietcore_microvm::memory::Memory;
use quietcore_microvm::row::Row;
use quietcore_units::Causes;
use rustix::thread::{CpuSet, sched_setaffinity};
use serde::{Deserialize, Serialize};

use super::GuestSetting;
use crate::guest::in_words;
use quietcore_process::remark::remark;

/// The page colours of a guest, and thereby its sets of the last-level cache.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct ColourSetting {
    /// Address bits that form the colour, as [`colours_here`] found them.
    pub mask: u64,
    /// Colours of the guest, counted from zero.
    pub colours: Vec<u32>,
}

/// The memory of a guest; and, where it has page colours, the pin that keeps its pages in them. The
/// guest's process keeps nothing that shows it where its pages are.
pub(super) type GuestMemory = (Memory, Option<Pin>);

/// Makes the memory of a guest: at the start of `row` with pages yet to come, or, where the guest
/// has colours, with its pages at addresses of its own.
///
/// # Errors
/// When there are no such colours, or the memory can't be had; in words.
pub(super) fn memory(setting: &GuestSetting, row: &Arc<Row>) -> Result<GuestMemory, String> {
    let Some(ColourSetting { mask, colours }) = &setting.colours else {
        let memory = Memory::reserve_in(Some(row), setting.memory);
        let memory = memory.map_err(in_words)?;
        return Ok((memory, None));
    };
    let colouring = Colouring::of_mask(*mask);
    let colouring = colouring.ok_or_else(|| format!("{mask:#x} are no bits of page colours"))?;
    if let Some(colour) = colours.iter().find(|colour| **colour >= colouring.count()) {
        let count = colouring.count();
        return Err(format!("there is no page colour {colour}: this machine has {count}"));
    }
    let knows = PageMap::open().map_err(in_words)?;
    let made = ColouredMemory::create(setting.memory, colouring, colours, knows);
    let (memory, coloured) = made.map_err(in_words)?;
    let pin = coloured.into_pin().inspect_err(|because| {
        remark(format_args!(
            "the kernel may move pages of the guest to other colours: {}",
            Causes(because)
        ));
    });
    Ok((memory, pin.ok()))
}

/// Returns the page colours of this machine. The first call measures them on `cpu`, which takes
/// seconds, and four times as much memory as the last-level cache has.
///
/// # Errors
/// [`PoolError`] when there are none.
pub fn colours_here(cpu: u32) -> Result<Measured, PoolError> {
    static KNOWN: Mutex<Option<Measured>> = Mutex::new(None);
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(measured) = &*known {
        return Ok(measured.clone());
    }
    let ground = ground(&CacheGround::read());
    // Only a thread that ends can be pinned without a trace.
    let measured = thread::scope(|scope| {
        let measuring = scope.spawn(|| {
            let mut cpus = CpuSet::new();
            cpus.set(usize::try_from(cpu).unwrap_or_default());
            // Without the pin the result is still true where all CPUs share the cache; elsewhere
            // nothing is found.
            let _ = sched_setaffinity(None, &cpus);
            measure_here(&ground)
        });
        measuring.join().expect("measuring does not panic")
    })?;
    Ok(known.insert(measured).clone())
}

fn ground(known: &CacheGround) -> Ground {
    let hypervisor = match (known.hypervisor.get(), known.hypervisor.unreadable()) {
        (Some(name), _) => Some(name.clone()),
        (None, Some(why)) => Some(why.to_owned()),
        (None, None) => None,
    };
    let shape = |domain: &CacheDomain| {
        Some(CacheShape {
            sets: *domain.sets.get()?,
            ways: *domain.ways.get()?,
            line_bytes: *domain.line_bytes.get()?,
        })
    };
    Ground {
        hypervisor,
        last_level: known.last_level.as_ref().and_then(shape),
        before_last: known.before_last.as_ref().and_then(shape),
    }
}

#[cfg(test)]
mod tests {
    use quietcore_microvm::colour::NoColours;
    use quietcore_units::ByteSize;

    use super::*;

    fn row() -> Arc<Row> {
        Row::keep(0, 4 << 20, true).unwrap()
    }

    fn setting(mask: u64, colours: &[u32]) -> GuestSetting {
        let colours = Some(ColourSetting { mask, colours: colours.to_vec() });
        GuestSetting { memory: ByteSize::new(4 << 20), colours }
    }

    #[test]
    fn a_guest_without_colours_has_ordinary_memory() {
        let setting = GuestSetting { colours: None, ..setting(0, &[]) };
        let (memory, pin) = memory(&setting, &row()).unwrap();
        assert_eq!(memory.size(), setting.memory);
        assert!(pin.is_none());
    }

    #[test]
    fn a_guest_gets_memory_of_its_colours() {
        // These bits need not mean anything to a cache; they are bits of addresses.
        match memory(&setting(0x7000, &[1, 6]), &row()) {
            // A page of another colour would have been an error.
            Ok((memory, _)) => assert_eq!(memory.size(), ByteSize::new(4 << 20)),
            Err(why) => quietcore_skip::skip!("{why}"),
        }
    }

    #[test]
    fn colours_that_can_not_be_are_refused() {
        let told = |mask, colours: &[u32]| memory(&setting(mask, colours), &row()).unwrap_err();
        assert!(told(0x7000, &[8]).contains("no page colour 8: this machine has 8"));
        assert!(told(0x7001, &[1]).contains("0x7001 are no bits"));
    }

    #[test]
    fn colours_of_this_machine_are_measured_or_it_is_told_why_not() {
        match colours_here(0) {
            Ok(measured) => {
                assert!(measured.colouring.count() > 1);
                assert_eq!(colours_here(0).unwrap(), measured, "they are measured once");
            }
            Err(PoolError::NoColours(NoColours::Virtual { hypervisor })) => {
                assert!(!hypervisor.is_empty());
            }
            Err(other) => quietcore_skip::skip!("{other}"),
        }
    }
}
