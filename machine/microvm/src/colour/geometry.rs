//! Which bits of an address may be the colour of its page, from the shape of the caches.

use crate::memory::PAGE_BYTES;

/// The highest bit of an address that is looked at: what is above it is no set of any cache.
const HIGHEST_BIT: u32 = 31;

/// Why pages have no colours here.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum NoColours {
    /// The kernel runs on a hypervisor.
    #[error(
        "this kernel runs in a virtual machine ({hypervisor}), whose physical addresses are none; \
         page colours need a kernel on the bare machine"
    )]
    Virtual {
        /// Name of the hypervisor.
        hypervisor: String,
    },
    /// Nobody says what the cache is like.
    #[error("the shape of the last-level cache is not known; page colours need it")]
    UnknownCache,
    /// A page reaches all sets of the cache, or every set by itself.
    #[error(
        "a last-level cache of {sets} sets of {line_bytes} bytes has one colour of pages of 4 KiB"
    )]
    OneColour {
        /// Number of its sets.
        sets: u64,
        /// Bytes of a line.
        line_bytes: u32,
    },
    /// Physical addresses are not to be seen.
    #[error(
        "physical addresses can't be seen ({because}); page colours need the right CAP_SYS_ADMIN"
    )]
    NoAddresses {
        /// The reason, in words.
        because: String,
    },
    /// Even pages that must be of one colour don't evict each other.
    #[error(
        "pages of one colour don't evict each other measurably ({sureness}); this cache, or this \
         machine's time, is not what was expected"
    )]
    NoEvictions {
        /// The measurement, which shows no difference.
        sureness: crate::colour::Sureness,
    },
    /// No bit is one.
    #[error(
        "none of the address bits {lowest} to {highest} decides on the set of the last-level \
         cache by itself: it has slices by a hash; use cache ways (CAT) where there are some"
    )]
    Hashed {
        /// The first bit looked at.
        lowest: u32,
        /// The highest bit that counts.
        highest: u32,
    },
}

/// The shape of a cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CacheShape {
    /// Number of its sets, all slices together.
    pub sets: u64,
    /// Lines in a set.
    pub ways: u32,
    /// Bytes in a line.
    pub line_bytes: u32,
}

impl CacheShape {
    /// Counts the pages that it holds.
    pub fn pages(&self) -> u64 {
        let set_bytes = u64::from(self.ways).saturating_mul(u64::from(self.line_bytes));
        self.sets.saturating_mul(set_bytes) / PAGE_BYTES
    }

    /// The bits of an address above those within a page that its sets may follow from: as many as
    /// two divides the number of sets by. What is left of that number is slices, chosen by a hash.
    pub fn set_bits(&self) -> Vec<u32> {
        let bytes = self.sets.saturating_mul(u64::from(self.line_bytes));
        if bytes == 0 {
            return Vec::new();
        }
        let first = PAGE_BYTES.trailing_zeros();
        (first..bytes.trailing_zeros().min(HIGHEST_BIT + 1)).collect()
    }
}

/// The facts about the machine that are known beforehand.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ground {
    /// The hypervisor below this kernel; `None` on the bare machine.
    pub hypervisor: Option<String>,
    /// The last-level cache; `None` if none is known.
    pub last_level: Option<CacheShape>,
    /// The cache of a CPU's own before it; `None` where there is none.
    pub before_last: Option<CacheShape>,
}

/// The bits to be measured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Candidates {
    /// Those that only the last-level cache looks at, lowest first.
    pub last_only: Vec<u32>,
    /// Those that the cache before it looks at too.
    pub both: Vec<u32>,
}

impl Ground {
    /// The bits that may be colours.
    ///
    /// # Errors
    /// [`NoColours`] where none may.
    pub fn candidates(&self) -> Result<Candidates, NoColours> {
        if let Some(hypervisor) = &self.hypervisor {
            return Err(NoColours::Virtual { hypervisor: hypervisor.clone() });
        }
        let cache = self.shape()?;
        let all = cache.set_bits();
        if all.is_empty() || cache.ways == 0 {
            let CacheShape { sets, line_bytes, .. } = cache;
            return Err(NoColours::OneColour { sets, line_bytes });
        }
        let before = self.before_last.map(|cache| cache.set_bits()).unwrap_or_default();
        let (both, last_only) = all.into_iter().partition(|bit| before.contains(bit));
        Ok(Candidates { last_only, both })
    }

    /// The shape of the last-level cache.
    ///
    /// # Errors
    /// [`NoColours::UnknownCache`].
    pub fn shape(&self) -> Result<CacheShape, NoColours> {
        self.last_level.ok_or(NoColours::UnknownCache)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const SHAPE: CacheShape = CacheShape { sets: 8192, ways: 16, line_bytes: 64 };
    const SMALL: CacheShape = CacheShape { sets: 1024, ways: 8, line_bytes: 64 };

    fn ground(sets: u64) -> Ground {
        Ground {
            hypervisor: None,
            last_level: Some(CacheShape { sets, ..SHAPE }),
            before_last: Some(SMALL),
        }
    }

    #[test]
    fn bits_above_the_page_are_candidates() {
        // 8 MiB: the set is bits 6 to 18, of which the second level looks at 6 to 15.
        let candidates = ground(8192).candidates().unwrap();
        assert_eq!(candidates.last_only, [16, 17, 18]);
        assert_eq!(candidates.both, [12, 13, 14, 15]);
        assert_eq!(SHAPE.pages(), 2048);
        // 12 slices of 1024 sets: the slices are no bits.
        assert_eq!(ground(12 * 1024).candidates().unwrap().last_only, [16, 17]);
    }

    #[test]
    fn what_can_have_no_colours_is_told() {
        let told = |ground: &Ground| ground.candidates().unwrap_err().to_string();
        let virtual_one = Ground { hypervisor: Some("TCGTCGTCG".to_owned()), ..ground(8192) };
        assert!(told(&virtual_one).contains("in a virtual machine (TCGTCGTCG)"));
        assert!(told(&Ground { last_level: None, ..ground(1) }).contains("not known"));
        assert!(told(&ground(64)).contains("has one colour"));
        assert!(told(&ground(0)).contains("has one colour"));
        assert!(told(&ground(63 * 1025)).contains("has one colour"));
    }

    proptest! {
        #[test]
        fn any_shape_has_bits_of_an_address(sets: u64, ways: u32, line_bytes: u32) {
            let shape = CacheShape { sets, ways, line_bytes };
            let _ = shape.pages();
            prop_assert!(shape.set_bits().iter().all(|bit| (12..=HIGHEST_BIT).contains(bit)));
        }
    }
}
