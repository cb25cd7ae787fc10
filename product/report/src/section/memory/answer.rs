//! The answer, where the evidence is about accesses to memory.

use quietcore_record::record::AccessPattern;
use quietcore_record::slowdown::ONSET;

use super::super::Section;
use super::super::content::{Answer, NEUTRAL, Tile, bold, plain};
use super::{MemorySummary, bends, published_worst};
use crate::figures::{self, NONE};

pub(super) fn answer(section: &Section<'_>, memory: &MemorySummary<'_>) -> Answer {
    let mut why = vec![plain(neighbours(section))];
    if section.records.iter().any(|it| !it.record.is_valid()) {
        why.push(bold("The timing is not valid; see the reasons below. "));
    }
    why.push(plain("No class judges an access."));
    Answer {
        tone: NEUTRAL,
        who: vec![plain("Accesses to memory")],
        word: word(memory),
        why: vec![why],
        tiles: Some(tiles(memory)),
        ..Answer::default()
    }
}

/// Tells the largest cost of neighbours, in a sentence.
fn word(memory: &MemorySummary<'_>) -> String {
    let slowdowns = memory.slowdowns_of(None).filter_map(|it| Some((it, it.worst()?)));
    let worst = slowdowns.max_by(|one, other| one.1.ratio.median.total_cmp(&other.1.ratio.median));
    if let Some((slowdown, point)) = worst {
        let set = figures::bytes(point.working_set_bytes);
        let sure = if point.ratio.is_surely_above(ONSET) { "" } else { ", which is not sure" };
        return format!(
            "Neighbours slow {} accesses to {set} down {:.2}×{sure}",
            slowdown.pattern.name(),
            point.ratio.median
        );
    }
    if let Some(last) = memory.pressures.first().and_then(|it| it.points.last()) {
        let rate = figures::rate(last.bytes_per_second);
        return format!("Neighbours at {rate} slow accesses down {:.2}×", last.ratio.median);
    }
    let ratios = memory.routines.iter().filter_map(|row| Some((row, row.ratio?)));
    match ratios.max_by(|one, other| one.1.median.total_cmp(&other.1.median)) {
        Some((row, ratio)) => {
            format!("Neighbours slow the routine {} down {:.2}×", row.routine.name(), ratio.median)
        }
        None => "Accesses were measured without neighbours".to_owned(),
    }
}

/// Describes the neighbours; empty without any.
fn neighbours(section: &Section<'_>) -> String {
    let runs = section.records.iter().filter_map(|it| it.record.memory());
    let Some(who) = runs.filter_map(|run| run.interference.as_ref()).next() else {
        return String::new();
    };
    let size =
        who.size_bytes.map_or_else(String::new, |it| format!(" over {}", figures::bytes(it)));
    format!("{} × {}{size} each, on CPU {}. ", who.workers, who.title(), who.cpus)
}

fn tiles(memory: &MemorySummary<'_>) -> Vec<Tile> {
    let mut tiles = Vec::new();
    for pattern in AccessPattern::ALL {
        let Some(worst) = memory.worst(pattern) else { continue };
        let paper = published_worst(pattern)
            .map_or_else(String::new, |it| format!("; the paper saw {it}× on its machine"));
        let at = figures::bytes(worst.working_set_bytes);
        let ratio = figures::ratio(&worst.ratio);
        tiles.push(Tile {
            label: format!("{} access, at most", pattern.name()),
            value: format!("{:.2}×", worst.ratio.median),
            note: format!("at {at}, {ratio}{paper}"),
        });
    }
    if let Some(pressure) = memory.pressures.first() {
        let knee = pressure.knee;
        tiles.push(Tile {
            label: "knee of the pressure".to_owned(),
            value: knee.map_or_else(|| NONE.to_owned(), |it| figures::rate(it.bytes_per_second)),
            note: bends(pressure),
        });
    }
    let ratios = memory.routines.iter().filter_map(|row| Some((row, row.ratio?)));
    if let Some((row, ratio)) = ratios.max_by(|a, b| a.1.median.total_cmp(&b.1.median)) {
        let name = figures::routine(row.routine, row.trigger);
        tiles.push(Tile {
            label: "routine slowed down most".to_owned(),
            value: format!("{:.2}×", ratio.median),
            note: format!("{name}, {}", figures::ratio(&ratio)),
        });
    }
    tiles
}
