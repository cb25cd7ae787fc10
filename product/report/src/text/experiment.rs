//! Experiments as tables: what each control does, and what each neighbour.

use quietcore_record::experiment::{
    Confirmed, ControlEffect, Disturbance, DisturbanceCell, Figure, Ratio, Tuning,
};

use super::Page;
use super::table::fit;
use crate::figures::{self, NONE};
use crate::summary::{Summary, achieved, cause, set_of};

/// Columns of a control or a neighbour.
const NAME: usize = 18;
/// Columns of what a control did.
const EFFECT: usize = 16;
/// Columns that say whether a set reaches the class.
const SIGN: usize = 15;
/// Columns of a place.
const PLACE: usize = 16;
/// Columns of a ratio without its interval.
const RATIO: usize = 9;
/// Columns of a ratio with its interval.
const WITH_INTERVAL: usize = 24;

impl Page {
    /// All experiments.
    pub(super) fn experiments(&mut self, summary: &Summary<'_>) {
        summary.tunings.iter().for_each(|tuning| self.tuning(tuning));
        summary.disturbances.iter().for_each(|matrix| self.disturbance(matrix));
    }

    fn tuning(&mut self, tuning: &Tuning) {
        self.paragraph(
            "",
            &format!(
                "{} · {}: {} rounds of {} releases each; ratios are without a control over with it",
                tuning.partition,
                tuning.task,
                tuning.rounds,
                figures::count(tuning.cycles_in_block)
            ),
        );
        self.too_few(tuning.rounds, tuning.rounds_needed);
        let titles = Figure::ALL.map(|figure| format!(" {:>RATIO$}", figure.title()));
        self.line(&format!(
            "{}{}{}",
            fit("control", NAME),
            fit("what it did", EFFECT),
            titles.concat()
        ));
        for effect in tuning.effects.iter().chain(&tuning.together) {
            self.effect(effect);
        }
        self.line("");
        self.paragraph("", "What was shown, and what is still possible:");
        for effect in tuning.effects.iter().chain(&tuning.together) {
            self.paragraph("  ", &format!("{}: {}", name_of(effect), effect.sentence));
        }
        self.line("");
        self.confirmed(tuning);
    }

    /// Says that nothing can be sure.
    fn too_few(&mut self, rounds: u32, needed: u32) {
        if rounds < needed {
            let words = format!(
                "{rounds} rounds show nothing: so much is tested that it takes at least {needed}."
            );
            self.paragraph("! ", &words);
        }
    }

    fn effect(&mut self, effect: &ControlEffect) {
        let ratios = effect.ratios.iter().map(|ratio| format!(" {:>RATIO$}", short(ratio)));
        let line = format!(
            "{}{}{}",
            fit(name_of(effect), NAME),
            fit(effect.effect.title(), EFFECT),
            ratios.collect::<String>()
        );
        self.line(&line);
    }

    fn confirmed(&mut self, tuning: &Tuning) {
        let Some(first) = tuning.confirmed.first() else { return };
        self.line(&format!("sets of controls against the class {}", first.class));
        for Confirmed { on, reached, because, .. } in &tuning.confirmed {
            let head = fit(if *reached { "  reached" } else { "  not reached" }, SIGN);
            self.hanging(&head, SIGN, &format!("{}: {because}", set_of(on)));
        }
        self.line("");
        let words = match &tuning.smallest {
            Some(none) if none.is_empty() => "It is reached without any control.".to_owned(),
            Some(set) => {
                let words: Vec<String> = set.iter().map(|word| format!("\"{word}\"")).collect();
                format!(
                    "The smallest set that reaches it, for `[host]`: controls = [{}]",
                    words.join(", ")
                )
            }
            None => "No set of these controls reaches it.".to_owned(),
        };
        self.paragraph("", &words);
        self.line("");
    }

    fn disturbance(&mut self, matrix: &Disturbance) {
        self.paragraph(
            "",
            &format!(
                "{} · {}: quiet p99.9 {}, maximum {} of {} releases in {} rounds; ratios are \
                 beside a neighbour over quiet",
                matrix.partition,
                matrix.task,
                figures::nanos(matrix.quiet_p99_9_ns),
                figures::nanos(matrix.quiet_max_ns),
                figures::count(matrix.quiet_cycles),
                matrix.rounds
            ),
        );
        self.too_few(matrix.rounds, matrix.rounds_needed);
        self.line(&format!(
            "{}{} {:>WITH_INTERVAL$} {:>WITH_INTERVAL$}",
            fit("neighbour", NAME),
            fit("place", PLACE),
            "p99.9 (95 %)",
            "maximum (95 %)"
        ));
        for cell in &matrix.cells {
            self.cell_of(cell);
        }
        self.line("");
    }

    fn cell_of(&mut self, cell: &DisturbanceCell) {
        let ratio = |ratio: &Ratio| {
            let text = ratio.ratio.as_ref().map_or_else(|| NONE.to_owned(), figures::ratio);
            super::plain(&text)
        };
        self.line(&format!(
            "{}{} {:>WITH_INTERVAL$} {:>WITH_INTERVAL$}",
            fit(&cell.aggressor.kind, NAME),
            fit(cell.aggressor.placement.title(), PLACE),
            ratio(&cell.p99_9),
            ratio(&cell.max)
        ));
        let mut more = vec![achieved(cell)];
        more.extend(cause(cell));
        if cell.missed_cycles > 0 {
            more.push(format!("{} missed cycles", figures::count(cell.missed_cycles)));
        }
        if cell.invalid_blocks > 0 {
            more.push(format!("{} blocks are invalid", cell.invalid_blocks));
        }
        let words = format!("CPU {}: {}", cell.aggressor.cpus, more.join("; "));
        let words = super::plain(&words);
        self.paragraph("    ", &words);
    }
}

/// The control's word, or what stands for all of them.
pub(crate) fn name_of(effect: &ControlEffect) -> &str {
    if effect.control.is_empty() { "all together" } else { &effect.control }
}

fn short(ratio: &Ratio) -> String {
    let median = ratio.ratio.map(|estimate| super::plain(&figures::times(estimate.median)));
    median.unwrap_or_else(|| NONE.to_owned())
}
