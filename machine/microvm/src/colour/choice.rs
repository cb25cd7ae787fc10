//! The colours of pages, and which pages a guest gets.

use std::fmt;

use crate::memory::PAGE_BYTES;

/// The colours of pages on this machine: the address bits that are the colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Colouring {
    mask: u64,
}

/// Why a partition can't have the colours it asks for.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unassignable {
    /// There are fewer colours than that.
    #[error("partition `{partition}` asks for colour {colour}; there are {count}, from 0 on")]
    NoSuchColour {
        /// Name of the partition.
        partition: String,
        /// Number of the colour.
        colour: u32,
        /// Number of colours here.
        count: u32,
    },
    /// It belongs to another one.
    #[error("partition `{partition}` asks for colour {colour}, which `{owner}` has already")]
    Owned {
        /// Name of the partition.
        partition: String,
        /// Number of the colour.
        colour: u32,
        /// The partition that has it.
        owner: String,
    },
    /// It has none at all.
    #[error("partition `{partition}` asks for no colour")]
    None {
        /// Name of the partition.
        partition: String,
    },
}

/// There are too few pages of some colours.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shortage {
    /// The colours that lack pages, and how many each of them lacks.
    pub lacks: Vec<(u32, usize)>,
}

impl fmt::Display for Shortage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lacks = self.lacks.iter().map(|(colour, pages)| format!("{pages} of colour {colour}"));
        write!(f, "pages are missing: {}", lacks.collect::<Vec<_>>().join(", "))
    }
}

impl Colouring {
    /// By these address bits; `None` where they are none above those within a page, or more than
    /// 16.
    pub fn of_mask(mask: u64) -> Option<Self> {
        let is_possible = mask != 0 && mask.is_multiple_of(PAGE_BYTES) && mask.count_ones() <= 16;
        is_possible.then_some(Self { mask })
    }

    /// The address bits that are the colour.
    pub fn mask(self) -> u64 {
        self.mask
    }

    /// Counts the colours: a power of two.
    pub fn count(self) -> u32 {
        1 << self.mask.count_ones()
    }

    /// The colour of the page with this number (its physical address in pages): its address bits of
    /// the mask, moved together.
    pub fn of_frame(self, frame: u64) -> u32 {
        let mut left = self.mask / PAGE_BYTES;
        let mut colour = 0;
        for place in 0..self.mask.count_ones() {
            let bit = left.trailing_zeros();
            colour |= u32::from(frame >> bit & 1 != 0) << place;
            left &= left - 1;
        }
        colour
    }

    /// Checks that each partition has colours that exist, and that no colour has two owners.
    ///
    /// # Errors
    /// [`Unassignable`]: the first that can't be.
    pub fn check<'a>(
        self,
        partitions: impl IntoIterator<Item = (&'a str, &'a [u32])>,
    ) -> Result<(), Unassignable> {
        let mut owners: Vec<Option<&str>> = vec![None; self.count() as usize];
        for (partition, colours) in partitions {
            let named = || partition.to_owned();
            if colours.is_empty() {
                return Err(Unassignable::None { partition: named() });
            }
            for &colour in colours {
                let count = self.count();
                let missing = || Unassignable::NoSuchColour { partition: named(), colour, count };
                let owner = owners.get_mut(colour as usize).ok_or_else(missing)?;
                match *owner {
                    Some(other) if other != partition => {
                        let owner = other.to_owned();
                        return Err(Unassignable::Owned { partition: named(), colour, owner });
                    }
                    _ => *owner = Some(partition),
                }
            }
        }
        Ok(())
    }

    /// Chooses `count` pages of these colours, in turn: neighbours in the guest's memory are of
    /// different colours, and each colour has as many as another, but for one. `frames` are the
    /// numbers of the pages that there are; what is returned are places in that list.
    ///
    /// # Errors
    /// [`Shortage`]: how many more of which colours it takes.
    pub fn choose(
        self,
        frames: &[u64],
        colours: &[u32],
        count: usize,
    ) -> Result<Vec<usize>, Shortage> {
        let mut of_colours: Vec<Vec<usize>> = vec![Vec::new(); colours.len()];
        for (index, frame) in frames.iter().enumerate() {
            let colour = self.of_frame(*frame);
            if let Some(place) = colours.iter().position(|wanted| *wanted == colour) {
                of_colours[place].push(index);
            }
        }
        let turns = colours.len().max(1);
        let needed = |place: usize| count.saturating_sub(place).div_ceil(turns);
        let lacks: Vec<(u32, usize)> = colours
            .iter()
            .zip(&of_colours)
            .enumerate()
            .map(|(place, (colour, has))| (*colour, needed(place).saturating_sub(has.len())))
            .filter(|(_, lacking)| *lacking > 0)
            .collect();
        if !lacks.is_empty() || (colours.is_empty() && count > 0) {
            return Err(Shortage { lacks });
        }
        Ok((0..count).map(|page| of_colours[page % turns][page / turns]).collect())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    fn colouring(bits: &[u32]) -> Colouring {
        Colouring::of_mask(bits.iter().map(|bit| 1 << bit).sum()).unwrap()
    }

    #[test]
    fn a_colour_is_the_bits_of_the_mask_moved_together() {
        let colouring = colouring(&[13, 16, 17]);
        assert_eq!(colouring.count(), 8);
        assert_eq!(colouring.of_frame(0b0000), 0);
        assert_eq!(colouring.of_frame(0b0010), 1);
        assert_eq!(colouring.of_frame(0b10_0000 | 0b0010 | 0b0101), 5);
        assert_eq!(colouring.of_frame(u64::MAX), 7);
    }

    #[test]
    fn bits_within_a_page_and_no_bits_are_no_colouring() {
        for mask in [0, 1 << 11, 1 << 12 | 1, 0x1_FFFF << 12] {
            assert_eq!(Colouring::of_mask(mask), None);
        }
    }

    #[test]
    fn a_colour_has_one_owner() {
        let four = colouring(&[12, 13]);
        assert_eq!(four.check([("axis", &[0, 1][..]), ("hmi", &[2])]), Ok(()));
        let told = |asked: [(&str, &[u32]); 2]| four.check(asked).unwrap_err().to_string();
        assert_eq!(
            told([("axis", &[0, 1]), ("hmi", &[1])]),
            "partition `hmi` asks for colour 1, which `axis` has already"
        );
        assert!(told([("axis", &[4]), ("hmi", &[1])]).contains("there are 4, from 0 on"));
        assert!(told([("axis", &[]), ("hmi", &[1])]).contains("asks for no colour"));
    }

    #[test]
    fn what_is_missing_is_told_by_colour() {
        let four = colouring(&[12, 13]);
        let shortage = four.choose(&[0, 1, 4], &[0, 3], 4).unwrap_err();
        assert_eq!(shortage.lacks, [(3, 2)]);
        assert_eq!(shortage.to_string(), "pages are missing: 2 of colour 3");
    }

    proptest! {
        #[test]
        fn chosen_pages_are_of_the_colours_and_each_is_chosen_once(
            frames in vec(0_u64..4096, 0..600),
            colours in proptest::sample::subsequence((0..16_u32).collect::<Vec<_>>(), 1..16),
            count in 0_usize..80,
        ) {
            let colouring = colouring(&[12, 13, 15, 18]);
            let has = |colour: u32| {
                frames.iter().filter(|frame| colouring.of_frame(**frame) == colour).count()
            };
            match colouring.choose(&frames, &colours, count) {
                Ok(chosen) => {
                    prop_assert_eq!(chosen.len(), count);
                    prop_assert_eq!(chosen.iter().collect::<BTreeSet<_>>().len(), count);
                    let of = |index: &usize| colouring.of_frame(frames[*index]);
                    prop_assert!(chosen.iter().all(|index| colours.contains(&of(index))));
                    for colour in &colours {
                        let of_it = chosen.iter().filter(|index| of(index) == *colour).count();
                        prop_assert!(of_it.abs_diff(count / colours.len()) <= 1);
                    }
                }
                Err(shortage) => {
                    prop_assert!(!shortage.lacks.is_empty());
                    for (colour, lacking) in shortage.lacks {
                        let needed = has(colour) + lacking;
                        prop_assert!(needed <= count.div_ceil(colours.len()));
                    }
                }
            }
        }

        #[test]
        fn every_frame_has_a_colour_that_exists(frame: u64, mask: u64) {
            if let Some(colouring) = Colouring::of_mask(mask) {
                prop_assert!(colouring.of_frame(frame) < colouring.count());
            }
        }
    }
}
