//! Bit fields: they share bytes, and bytes are what a plan copies.
//!
//! A run is all bit fields that share bytes with one another. It is carried when the new build has
//! the same fields in it, each at the same bit, and no others; its bytes are copied as they are.

use crate::carry::walk::{Pair, Walk};
use crate::symbols::{Bits, Member};

/// A bit field with the bytes that it lies in.
#[derive(Debug, Clone, Copy)]
struct Field<'a> {
    member: &'a Member,
    bits: Bits,
}

impl Field<'_> {
    fn first_byte(&self) -> u64 {
        self.bits.first / 8
    }

    /// The first byte behind it.
    fn end_byte(&self) -> u64 {
        (self.bits.first + u64::from(self.bits.width)).div_ceil(8)
    }
}

/// Carries the bit fields of one structure.
pub(super) fn carry(walk: &mut Walk<'_>, pair: Pair, ours: &[Member], theirs: &[Member]) {
    let theirs = fields(theirs);
    for run in runs(fields(ours)) {
        let first = run[0].first_byte();
        let end = run.iter().map(Field::end_byte).max().expect("a run has a field");
        match counterpart(walk, &run, &theirs) {
            Some(new_first) => {
                let (from, to) = (pair.old.offset + first, pair.new.offset + new_first);
                if walk.is_wanted(from, end - first) {
                    walk.copy(from, to, end - first, run.len() as u64);
                }
            }
            None => {
                for field in run {
                    let path = format!("{}.{}", walk.path, field.member.name);
                    walk.plan.refuse(&path, "its bits lie elsewhere, or beside others");
                }
            }
        }
    }
}

fn fields(members: &[Member]) -> Vec<Field<'_>> {
    let with_bits = members.iter().filter_map(|member| Some(Field { member, bits: member.bits? }));
    let mut fields: Vec<Field<'_>> = with_bits.collect();
    fields.sort_by_key(|field| field.bits.first);
    fields
}

/// Fields that share bytes, together.
fn runs(fields: Vec<Field<'_>>) -> Vec<Vec<Field<'_>>> {
    let mut runs: Vec<Vec<Field<'_>>> = Vec::new();
    let mut end = 0;
    for field in fields {
        match runs.last_mut() {
            Some(run) if field.first_byte() < end => run.push(field),
            _ => runs.push(vec![field]),
        }
        end = end.max(field.end_byte());
    }
    runs
}

/// The first byte of the same run in the new build.
fn counterpart(walk: &Walk<'_>, run: &[Field<'_>], theirs: &[Field<'_>]) -> Option<u64> {
    let first = run[0].first_byte();
    let end = run.iter().map(Field::end_byte).max()?;
    let head = theirs.iter().find(|field| field.member.name == run[0].member.name)?;
    let new_first = head.first_byte();
    for field in run {
        let other = theirs.iter().find(|other| other.member.name == field.member.name)?;
        let same_place =
            other.bits.first.checked_sub(8 * new_first)? == field.bits.first - 8 * first;
        let same_width = other.bits.width == field.bits.width;
        let same_type = walk.old.shape(field.member.shape) == walk.new.shape(other.member.shape);
        if !(same_place && same_width && same_type) {
            return None;
        }
    }
    let new_end = new_first + (end - first);
    let inside = |other: &&Field<'_>| other.first_byte() < new_end && other.end_byte() > new_first;
    (theirs.iter().filter(inside).count() == run.len()).then_some(new_first)
}
