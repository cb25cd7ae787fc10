//! Experiments: the effect of each control of the machine, that of each neighbour, and the cost of
//! each backend.

pub(crate) mod cost;
pub(crate) mod disturbance;
mod heat;
pub(crate) mod tuning;

use quietcore_record::experiment::{ControlEffect, Exceedances, Ratio};

use super::content::{Block, Cell, Content, Span, bold};
use crate::figures::{self, NONE};

/// The explanation of the ratios, for readers of the page.
const METHOD: &str = "Each ratio is that of two blocks of the same round, measured right after \
                      each other in chance order. Shown is the median of the rounds with its 95 % \
                      interval. Something counts as shown where a sign test says so after the \
                      correction for all that was tested (Holm): in 19 of 20 experiments nothing \
                      is shown that is not so.";

/// Returns the control's word, or the words for all of them together.
pub(crate) fn name_of(effect: &ControlEffect) -> &str {
    if effect.control.is_empty() { "all together" } else { &effect.control }
}

/// Adds for the page that so few rounds were measured that nothing can be sure.
fn too_few_on_page(content: &mut Content, rounds: u32, needed: u32) {
    if rounds < needed {
        let why = format!(
            "So much is tested at once that it takes at least {needed} until anything can be sure; \
             measure again with `--rounds {needed}` or more."
        );
        let spans = vec![bold(format!("{rounds} rounds show nothing. ")), Span::Marked(why)];
        content.blocks.push(Block::Remark(spans));
    }
}

/// Adds the same for a terminal.
fn too_few(content: &mut Content, rounds: u32, needed: u32) {
    if rounds < needed {
        let words = format!(
            "{rounds} rounds show nothing: so much is tested that it takes at least {needed}."
        );
        content.fact((0, 2), "!", &words);
    }
}

/// Makes a cell of the releases above the limit that its column names.
fn releases(found: &Exceedances) -> Cell {
    Cell {
        below: vec![Cell::plain(format!("of {}", figures::count(found.cycles)))],
        ..Cell::plain(figures::count(found.above))
    }
}

/// Makes a cell of a ratio with its interval below.
fn ratio(found: &Ratio) -> Cell {
    let below = found.ratio.map(|estimate| figures::interval(&estimate).unwrap_or_default());
    Cell { below: below.map(Cell::plain).into_iter().collect(), ..Cell::plain(times(found)) }
}

/// Formats a ratio without its interval.
fn times(found: &Ratio) -> String {
    found.ratio.map_or_else(|| NONE.to_owned(), |estimate| figures::times(estimate.median))
}
