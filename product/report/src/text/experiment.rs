//! Experiments as tables: the effect of each control, and that of each neighbour.

use quietcore_record::experiment::{
    Confirmed, ControlEffect, Disturbance, DisturbanceCell, Figure, Ratio, SetsFound, Tuning,
};

use super::Page;
use super::table::fit;
use crate::figures::{self, NONE};
use crate::summary::{Summary, above, achieved, cause, exceedances, set_of};
use crate::table::{Side, Table};

/// Columns of a control's effect.
const EFFECT: usize = 16;
/// Columns that say whether a set reaches the class.
const SIGN: usize = 15;
/// Columns of a ratio without its interval.
const RATIO: usize = 9;
/// Columns of a ratio with its interval.
const WITH_INTERVAL: usize = 24;

impl Page {
    /// Appends all tunings, and then all disturbances.
    pub(super) fn experiments(&mut self, summary: &Summary<'_>) {
        summary.tunings.iter().for_each(|tuning| self.tuning(tuning));
        summary.disturbances.iter().for_each(|matrix| self.disturbance(matrix));
    }

    fn tuning(&mut self, tuning: &Tuning) {
        self.paragraph(
            "",
            &format!(
                "{} · {}: {} rounds of {} releases each; ratios are without a control over with \
                 it; p99.9 with all of them: {}",
                tuning.partition,
                tuning.task,
                tuning.rounds,
                figures::count(tuning.cycles_in_block),
                exceedances(&tuning.with_all)
            ),
        );
        self.too_few(tuning.rounds, tuning.rounds_needed);
        let mut table = Table::new()
            .leading("control", Side::Left)
            .column("what it did", Side::Left, EFFECT)
            .numbers(Figure::ALL.map(Figure::title), RATIO);
        for effect in tuning.effects.iter().chain(&tuning.together) {
            let mut fields = vec![name_of(effect).to_owned(), effect.effect.title().to_owned()];
            fields.extend(effect.ratios.iter().map(short));
            table.row(fields);
        }
        self.table(&table);
        self.line("");
        self.paragraph("", "What was shown, and what is still possible:");
        for effect in tuning.effects.iter().chain(&tuning.together) {
            let (name, above) = (name_of(effect), exceedances(&effect.without));
            self.paragraph("  ", &format!("{name}: {}; {above}", effect.sentence));
        }
        self.line("");
        self.confirmed(tuning);
    }

    /// Appends that nothing can be sure, where too few rounds were measured.
    fn too_few(&mut self, rounds: u32, needed: u32) {
        if rounds < needed {
            let words = format!(
                "{rounds} rounds show nothing: so much is tested that it takes at least {needed}."
            );
            self.paragraph("! ", &words);
        }
    }

    fn confirmed(&mut self, tuning: &Tuning) {
        let Some(first) = tuning.confirmed.first() else { return };
        self.line(&format!("sets of controls against the class {}", first.class));
        for Confirmed { on, reached, because, .. } in &tuning.confirmed {
            let head = fit(if *reached { "  reached" } else { "  not reached" }, SIGN);
            self.hanging(&head, SIGN, &format!("{}: {because}", set_of(on)));
        }
        self.line("");
        let words = match tuning.found() {
            SetsFound::Untried => return,
            SetsFound::Smallest([]) => "It is reached without any control.".to_owned(),
            SetsFound::Smallest(set) => {
                let words: Vec<String> = set.iter().map(|word| format!("\"{word}\"")).collect();
                format!(
                    "The smallest set that reaches it, for `[host]`: controls = [{}]",
                    words.join(", ")
                )
            }
            SetsFound::NoneReaches => "No set of these controls reaches it.".to_owned(),
            SetsFound::NotShown(rounds, needed) => format!(
                "Not shown: no set reached it in {rounds} rounds, which are too few to say that \
                 none does; it takes at least {needed}."
            ),
        };
        self.paragraph("", &words);
        self.line("");
    }

    fn disturbance(&mut self, matrix: &Disturbance) {
        self.paragraph(
            "",
            &format!(
                "{} · {}: quiet p99.9 {} ({} above), maximum {} in {} rounds; ratios are \
                 beside a neighbour over quiet",
                matrix.partition,
                matrix.task,
                figures::nanos(matrix.quiet_p99_9_ns),
                above(&matrix.quiet_above),
                figures::nanos(matrix.quiet_max_ns),
                matrix.rounds
            ),
        );
        self.too_few(matrix.rounds, matrix.rounds_needed);
        let mut table = Table::new()
            .leading("neighbour", Side::Left)
            .leading("place", Side::Left)
            .numbers(["p99.9 (95 %)", "maximum (95 %)"], WITH_INTERVAL);
        for cell in &matrix.cells {
            let ratio = |it: &Ratio| it.ratio.as_ref().map_or(NONE.to_owned(), figures::ratio);
            let (kind, place) = (cell.aggressor.kind.clone(), cell.aggressor.placement.title());
            table.row([kind, place.to_owned(), ratio(&cell.p99_9), ratio(&cell.max)]);
        }
        self.table(&table);
        self.line("");
        for cell in &matrix.cells {
            self.cell_of(cell);
        }
        self.line("");
    }

    fn cell_of(&mut self, cell: &DisturbanceCell) {
        let mut more = vec![achieved(cell), exceedances(&cell.above_quiet)];
        more.extend(cause(cell));
        if cell.missed_cycles > 0 {
            more.push(format!("{} missed cycles", figures::count(cell.missed_cycles)));
        }
        if cell.invalid_blocks > 0 {
            more.push(format!("{} blocks are invalid", cell.invalid_blocks));
        }
        let (kind, place) = (&cell.aggressor.kind, cell.aggressor.placement.title());
        let words = format!("{kind}, {place}, CPU {}: {}", cell.aggressor.cpus, more.join("; "));
        self.paragraph("  ", &words);
    }
}

/// Returns the control's word, or the words for all of them together.
pub(crate) fn name_of(effect: &ControlEffect) -> &str {
    if effect.control.is_empty() { "all together" } else { &effect.control }
}

fn short(ratio: &Ratio) -> String {
    ratio.ratio.map_or_else(|| NONE.to_owned(), |estimate| figures::times(estimate.median))
}
