//! Accesses to memory as tables: what one takes in each cache, what neighbours cost, and where.

use quietcore_record::reason::Reason;
use quietcore_record::record::{AccessPattern, MemoryRun};
use quietcore_record::slowdown::{ONSET, Pressure, RoutineSlowdown};

use super::Page;
use super::table::fit;
use crate::figures::{self, NONE};
use crate::summary::{MemorySummary, Plateau, Summary, published_worst};
use crate::table::{Side, Table};

/// Columns of a row's name.
const NAME: usize = 22;
/// Columns of a size, a time or a rate.
const VALUE: usize = 12;
/// Columns of a ratio with its interval.
const RATIO: usize = 22;

impl Page {
    /// All that was measured of accesses to memory.
    pub(super) fn memory(&mut self, summary: &Summary<'_>) {
        let memory = &summary.memory;
        if memory.is_empty() {
            return;
        }
        if let Some(first) = summary.accesses.first() {
            self.accesses_conditions(first.record);
        }
        for because in reasons(summary) {
            self.paragraph("invalid: ", &because);
        }
        for ways in memory.ways() {
            if let Some(ways) = ways {
                let words = format!("With {ways} ways of the last-level cache of its own");
                self.paragraph("", &words);
            }
            for pattern in AccessPattern::ALL {
                self.plateaus(pattern, &memory.plateaus(ways, pattern));
            }
        }
        self.worst(memory);
        memory.pressures.iter().for_each(|pressure| self.pressure(pressure));
        self.routine_slowdowns(&memory.routines);
    }

    fn accesses_conditions(&mut self, record: &quietcore_record::record::Record) {
        let held = &record.conditions;
        let Some(run) = &record.memory else { return };
        self.paragraph("mode       ", &held.mode);
        let thread = format!("{} on CPU {}; {}", held.policy, held.affinity, run.pages);
        self.paragraph("thread     ", &thread);
        self.paragraph("caches     ", &caches(run));
        self.line("");
    }

    fn plateaus(&mut self, pattern: AccessPattern, plateaus: &[Plateau]) {
        if plateaus.is_empty() {
            return;
        }
        let mut table = Table::new()
            .leading(&fit(&format!("{} access", pattern.name()), NAME), Side::Left)
            .numbers(["working set", "alone ns", "beside ns"], VALUE)
            .numbers(["slowdown (95 %)"], RATIO);
        for plateau in plateaus {
            let place = match plateau.cache_bytes {
                Some(bytes) => format!("  in {} of {}", plateau.place, figures::bytes(bytes)),
                None => format!("  in {}", plateau.place),
            };
            let time = |it: Option<quietcore_record::slowdown::Estimate>| {
                it.map_or_else(|| NONE.to_owned(), |it| format!("{:.2}", it.median))
            };
            let ratio = figures::or_dash(plateau.slowdown.as_ref(), figures::ratio);
            let set = figures::bytes(plateau.working_set_bytes);
            table.row([place, set, time(plateau.alone), time(plateau.beside), ratio]);
        }
        self.table(&table);
        self.line("");
    }

    /// The largest slowdowns, beside those of the paper.
    fn worst(&mut self, memory: &MemorySummary<'_>) {
        for slowdown in &memory.slowdowns {
            let Some(worst) = slowdown.worst() else { continue };
            let ways = slowdown.ways.map_or_else(String::new, |ways| format!(", {ways} own ways"));
            let paper = published_worst(slowdown.pattern).map_or_else(String::new, |published| {
                format!("; scordino2020, figure 5, saw {published}× on another machine")
            });
            let text = format!(
                "{}{ways}: most at {}, {}; {} of {} working sets surely above {ONSET}×{paper}",
                slowdown.pattern.name(),
                figures::bytes(worst.working_set_bytes),
                figures::ratio(&worst.ratio),
                slowdown.count_above(ONSET),
                slowdown.points.len(),
            );
            self.paragraph("slowdown   ", &text);
        }
        if !memory.slowdowns.is_empty() {
            self.line("");
        }
    }

    fn pressure(&mut self, pressure: &Pressure) {
        let mut table = Table::new()
            .leading(&fit("pressure, neighbours", NAME), Side::Left)
            .numbers(["asked", "achieved"], VALUE)
            .numbers(["slowdown (95 %)"], RATIO);
        for point in &pressure.points {
            table.row([
                String::new(),
                format!("{:.1} %", f64::from(point.asked_permille) / 10.0),
                figures::rate(point.bytes_per_second),
                figures::ratio(&point.ratio),
            ]);
        }
        self.table(&table);
        let set = figures::bytes(pressure.working_set_bytes);
        self.paragraph("", &format!("{set}, {}. {}", pressure.pattern.name(), bends(pressure)));
        self.line("");
    }

    fn routine_slowdowns(&mut self, routines: &[RoutineSlowdown]) {
        if routines.is_empty() {
            return;
        }
        let mut table = Table::new()
            .leading(&fit("routine beside", NAME), Side::Left)
            .numbers(["alone ns"], VALUE)
            .numbers(["slowdown (95 %)", "scordino2020, figure 6"], RATIO);
        for row in routines {
            let ratio = figures::or_dash(row.ratio.as_ref(), figures::ratio);
            let published = row.published.map_or_else(
                || NONE.to_owned(),
                |bounds| match bounds.least {
                    Some(least) => format!("{least}× to {}×", bounds.most),
                    None => format!("at most {}×", bounds.most),
                },
            );
            let name = figures::routine(row.routine, row.trigger);
            table.row([name, format!("{:.1}", row.alone_mean_ns), ratio, published]);
        }
        self.table(&table);
        self.line("");
    }
}

/// Onset and knee of a pressure in words.
pub(crate) fn bends(pressure: &Pressure) -> String {
    let onset = pressure.onset_bytes_per_second.map_or_else(
        || format!("No rate slows it down surely by more than {ONSET}×."),
        |rate| format!("From {} on it is surely slowed down above {ONSET}×.", figures::rate(rate)),
    );
    let knee = pressure.knee.map_or_else(
        || " The curve has no knee.".to_owned(),
        |knee| {
            let beyond = if knee.is_steeper_beyond { "faster" } else { "slower" };
            format!(
                " Knee: {} at {:.2}×; beyond it the slowdown grows {beyond}.",
                figures::rate(knee.bytes_per_second),
                knee.ratio
            )
        },
    );
    onset + &knee
}

/// The caches in words.
pub(crate) fn caches(run: &MemoryRun) -> String {
    let words = |level: &quietcore_record::record::CacheLevel| {
        format!("L{} {}, of CPU {}", level.level, figures::bytes(level.bytes), level.cpus)
    };
    let all: Vec<String> = run.caches.iter().map(words).collect();
    if all.is_empty() { "the machine does not tell".to_owned() } else { all.join("; ") }
}

/// Lists why records of accesses can't be trusted, each reason once.
fn reasons(summary: &Summary<'_>) -> Vec<String> {
    let mut reasons: Vec<&Reason> = Vec::new();
    for because in summary.accesses.iter().flat_map(|it| &it.record.invalid_because) {
        if !reasons.contains(&because) {
            reasons.push(because);
        }
    }
    reasons.into_iter().map(ToString::to_string).collect()
}
