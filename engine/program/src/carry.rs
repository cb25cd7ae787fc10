//! Carries data of a running program over into its next build.
//!
//! Variables are matched by name and type. What differs in either is not carried, and said so: a
//! number that is put where another was expected is worse than one that starts afresh.
//!
//! | class | carried |
//! |---|---|
//! | input, output, signal, state, other | whenever name and type are the same |
//! | parameter | only where its value differs from the old build's initial one: it was tuned by hand. Otherwise the new build's value is the reason for the change |
//! | address | never; it is valid only in the program that made it |
//!
//! The plan is a list of copies, made beforehand, so that the swap between two cycles is a few
//! calls of `memcpy`: no names and no decisions.

mod bits;
mod walk;

use serde::{Deserialize, Serialize};

use crate::symbols::{Pattern, Symbols};

/// Most variables that a plan lists as not carried; the rest is counted.
pub const NOT_CARRIED_LISTED_MAX: usize = 1000;

/// Most copies of a plan. A program beyond it has changed in a way that leaves a million pieces.
pub const COPIES_MAX: usize = 1_000_000;

/// One run of bytes to copy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Copy {
    /// Offset in the old data.
    pub from: u32,
    /// Offset in the new data image.
    pub to: u32,
    /// Number of bytes that are copied.
    pub bytes: u32,
}

/// A variable that is not carried.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NotCarried {
    /// Its path in the old build.
    pub path: String,
    /// The reason, as the rest of a sentence.
    pub why: String,
}

/// The bytes to copy, and the variables that are not carried.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CarryPlan {
    /// Sorted by `to`; no two overlap there.
    pub copies: Vec<Copy>,
    /// Number of scalars that are carried.
    pub carried: u64,
    /// Variables that are not carried, [`NOT_CARRIED_LISTED_MAX`] at most.
    pub not_carried: Vec<NotCarried>,
    /// Number of those beyond the list.
    pub not_carried_beyond: u64,
    /// Parameters that keep a value set by hand, whatever the new build gives them;
    /// [`NOT_CARRIED_LISTED_MAX`] at most.
    pub tuned: Vec<String>,
    /// Roots that only the new build has; they start with their initial values.
    pub fresh: Vec<String>,
}

/// The data of the running program, both of the old data image's length.
#[derive(Debug, Clone, Copy)]
pub struct OldData<'a> {
    /// Its data as they were before the first step: [`crate::Build::initial_data`], or better a
    /// copy made after its initialize function, which may compute parameters.
    pub initial: &'a [u8],
    /// The data as the program has them now.
    pub current: &'a [u8],
}

/// Plans the copies from the old build's data to the new one's.
///
/// `only` restricts them to variables that one of the patterns chooses; `None` means all.
pub fn carry_over(
    old: &Symbols,
    new: &Symbols,
    data: OldData<'_>,
    only: Option<&[Pattern]>,
) -> CarryPlan {
    walk::plan(old, new, data, only)
}

impl CarryPlan {
    /// Notes a variable that is not carried.
    pub(crate) fn refuse(&mut self, path: &str, why: impl Into<String>) {
        if self.not_carried.len() < NOT_CARRIED_LISTED_MAX {
            self.not_carried.push(NotCarried { path: path.to_owned(), why: why.into() });
        } else {
            self.not_carried_beyond += 1;
        }
    }

    /// Sorts the copies, joins neighbours, and lets no two write the same byte.
    pub(crate) fn arrange(&mut self) {
        self.copies.sort_by_key(|copy| (copy.to, copy.from));
        let mut arranged: Vec<Copy> = Vec::with_capacity(self.copies.len());
        for copy in self.copies.drain(..) {
            let Some(last) = arranged.last_mut() else {
                arranged.push(copy);
                continue;
            };
            let (last_end, end) = (last.to + last.bytes, copy.to + copy.bytes);
            let same_shift = i64::from(last.to) - i64::from(last.from)
                == i64::from(copy.to) - i64::from(copy.from);
            if copy.to > last_end || (copy.to == last_end && !same_shift) {
                arranged.push(copy);
            } else if same_shift {
                last.bytes = end.max(last_end) - last.to;
            } else if end > last_end {
                // Members of a union that changed may be asked to go to one place; the first one
                // goes.
                let taken = last_end - copy.to;
                let (from, to) = (copy.from + taken, copy.to + taken);
                arranged.push(Copy { from, to, bytes: copy.bytes - taken });
            }
        }
        self.copies = arranged;
    }
}
