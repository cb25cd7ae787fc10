//! The course of a late release: the pieces of its time in their order, for a Gantt chart.

use serde::{Deserialize, Serialize};

use super::Cause;

/// The most pieces of a course.
pub const PIECES_MAX: usize = 256;

/// A piece of the time between due instant and start that belonged to one cause without a break.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Piece {
    /// The cause of the time, as the trace tells it; steal is counted, and has no place in time.
    pub cause: Cause,
    /// The interrupt, softirq or thread; empty where the cause says all.
    pub what: String,
    /// Begin of the piece, since the release was due, in ns.
    pub at_ns: u64,
    /// Length of the piece, in ns.
    pub ns: u64,
}

/// Joins pieces that follow each other and have the same cause. Of more than [`PIECES_MAX`] the
/// longest stay, in their order; the number of the others is returned with them.
pub(super) fn course(pieces: impl Iterator<Item = Piece>) -> (Vec<Piece>, usize) {
    let mut course: Vec<Piece> = Vec::new();
    for piece in pieces {
        match course.last_mut() {
            Some(last) if last.cause == piece.cause && last.what == piece.what => {
                last.ns += piece.ns;
            }
            _ => course.push(piece),
        }
    }
    let left_out = course.len().saturating_sub(PIECES_MAX);
    if left_out > 0 {
        course.sort_by_key(|piece| std::cmp::Reverse(piece.ns));
        course.truncate(PIECES_MAX);
        course.sort_by_key(|piece| piece.at_ns);
    }
    (course, left_out)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn piece(what: &str, at_ns: u64, ns: u64) -> Piece {
        Piece { cause: Cause::Thread, what: what.to_owned(), at_ns, ns }
    }

    #[test]
    fn pieces_of_the_same_cause_are_joined_where_they_touch() {
        let pieces = [piece("a", 0, 5), piece("a", 5, 2), piece("b", 7, 1), piece("a", 8, 3)];
        let (course, left_out) = course(pieces.into_iter());
        assert_eq!(course, [piece("a", 0, 7), piece("b", 7, 1), piece("a", 8, 3)]);
        assert_eq!(left_out, 0);
    }

    #[test]
    fn of_too_many_pieces_the_longest_stay_in_their_order() {
        let many = (0..300_u64).map(|index| {
            let ns = if index % 3 == 0 { 1 } else { 10 };
            piece(if index % 2 == 0 { "a" } else { "b" }, index * 10, ns)
        });
        let (course, left_out) = course(many);
        assert_eq!((course.len(), left_out), (PIECES_MAX, 44));
        assert!(course.is_sorted_by_key(|piece| piece.at_ns));
        assert_eq!(
            course.iter().filter(|piece| piece.ns == 10).count(),
            200,
            "no long piece is left out"
        );
    }
}
