//! Accesses to memory: the answer, the curves, the pressure, and the routines beside neighbours.

mod tables;

use maud::{Markup, html};
use quietcore_record::record::AccessPattern;
use quietcore_record::slowdown::ONSET;

use crate::figures::{self, NONE};
use crate::plot;
use crate::summary::{MemorySummary, Summary, published_worst};
use crate::text::memory::{bends, caches};
use tables::{plateaus, routines};

/// The answer, where the evidence is about accesses to memory.
pub(super) fn hero(summary: &Summary<'_>) -> Markup {
    let memory = &summary.memory;
    let invalid = summary.accesses.iter().any(|it| !it.record.is_valid());
    html! {
        div class="hero neutral" {
            div.answer {
                p.who { "Accesses to memory" }
                p.word { (answer(memory)) }
                p.why {
                    (neighbours(summary))
                    @if invalid { b { "The timing is not valid; see the reasons below. " } }
                    "No class judges an access."
                }
            }
            div.tiles { @for tile in tiles(memory) { (tile) } }
        }
    }
}

/// What neighbours cost at most, in a sentence.
fn answer(memory: &MemorySummary<'_>) -> String {
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

/// Who the neighbours were.
fn neighbours(summary: &Summary<'_>) -> String {
    let runs = summary.accesses.iter().filter_map(|it| it.record.memory.as_ref());
    let Some(who) = runs.filter_map(|run| run.interference.as_ref()).next() else {
        return String::new();
    };
    let size =
        who.size_bytes.map_or_else(String::new, |it| format!(" over {}", figures::bytes(it)));
    format!("{} × {}{size} each, on CPU {}. ", who.workers, who.kind, who.cpus)
}

fn tiles(memory: &MemorySummary<'_>) -> Vec<Markup> {
    let tile = |label: &str, value: String, note: String| {
        html! { div.tile { p.label { (label) } p.value { (value) } p.note { (note) } } }
    };
    let mut tiles = Vec::new();
    for pattern in AccessPattern::ALL {
        if let Some(worst) = memory.worst(pattern) {
            let paper = published_worst(pattern)
                .map_or_else(String::new, |it| format!("; the paper saw {it}× on its machine"));
            let at = figures::bytes(worst.working_set_bytes);
            let label = format!("{} access, at most", pattern.name());
            let ratio = figures::ratio(&worst.ratio);
            tiles.push(tile(
                &label,
                format!("{:.2}×", worst.ratio.median),
                format!("at {at}, {ratio}{paper}"),
            ));
        }
    }
    if let Some(pressure) = memory.pressures.first() {
        let knee = pressure.knee;
        let value = knee.map_or_else(|| NONE.to_owned(), |it| figures::rate(it.bytes_per_second));
        tiles.push(tile("knee of the pressure", value, bends(pressure)));
    }
    let ratios = memory.routines.iter().filter_map(|row| Some((row, row.ratio?)));
    if let Some((row, ratio)) = ratios.max_by(|a, b| a.1.median.total_cmp(&b.1.median)) {
        let name = figures::routine(row.routine, row.trigger);
        let note = format!("{name}, {}", figures::ratio(&ratio));
        tiles.push(tile("routine slowed down most", format!("{:.2}×", ratio.median), note));
    }
    tiles
}

pub(super) fn section(summary: &Summary<'_>) -> Markup {
    let memory = &summary.memory;
    html! {
        (conditions(summary))
        @for ways in memory.ways() {
            @if let Some(drawing) = plot::curves(memory, ways) {
                @if let Some(ways) = ways {
                    h3 { "With " (ways) " ways of the last-level cache of its own" }
                }
                figure.wide {
                    figcaption {
                        span.name { "Time of an access by working set" }
                        span.sub {
                            "median of the blocks with its 95 % interval; solid alone, dashed "
                            "beside neighbours; the caches of this CPU as zones"
                        }
                    }
                    div.scroll tabindex="0" role="region" aria-label="Access time" { (drawing) }
                }
            }
            (plateaus(memory, ways))
        }
        @for pressure in &memory.pressures {
            h3 {
                "Neighbours' bandwidth against slowdown"
                span.sub {
                    (pressure.pattern.name()) " accesses to "
                    (figures::bytes(pressure.working_set_bytes))
                }
            }
            p.remark { (bends(pressure)) }
            @if let Some(drawing) = plot::pressure(pressure) { figure { (drawing) } }
        }
        @if let Some(drawing) = plot::slowed_routines(&memory.routines) {
            h3 { "Routines of the OSEK kernel beside neighbours" }
            figure.routines {
                figcaption {
                    span.name { "Minimum to maximum over the mean alone, the mean as a ring" }
                    span.sub {
                        "logarithmic; the median ratio of the blocks is written above; grey is "
                        "what scordino2020 says of its figure 6"
                    }
                }
                p.legend {
                    span class="key few" { "alone" }
                    span class="key many" { "beside neighbours" }
                    span class="key paper" { "published, another machine and kernel" }
                }
                (drawing)
            }
            (routines(&memory.routines))
        }
        (method())
    }
}

fn conditions(summary: &Summary<'_>) -> Markup {
    let Some(first) = summary.accesses.first() else { return html! {} };
    let Some(run) = &first.record.memory else { return html! {} };
    let held = &first.record.conditions;
    let loads = summary.accesses.iter().find_map(|it| it.record.conditions.loads.first());
    html! {
        p.remark {
            (held.policy) " on CPU " (held.affinity) ", " (run.pages) ". Caches: " (caches(run))
            ". Measured in " (held.mode) "."
            @if let Some(load) = loads {
                " Neighbours achieved, all together: "
                @if let Some(bytes) = load.bytes_per_second { (figures::rate(bytes)) ", " }
                (format!("{:.2}", load.cpu_share)) " CPUs."
            }
        }
    }
}

/// What is measured, and how the figures come about.
fn method() -> Markup {
    html! {
        h3 { "What is measured" }
        div.prose {
            p {
                "A partition reads working sets of many sizes, as the benchmark of scordino2020 "
                "(section V-A) does. " b { "Random" } " accesses follow one cycle "
                "through all lines of the set, in which each line says where the next one is: "
                "none can begin before the one before has ended, so the time of one is its "
                "latency. " b { "Sequential" } " ones read the same lines from begin to end and "
                "wait for nothing: their time is what remains of the latency after prefetching "
                "and overlapping."
            }
            p {
                "Neighbours are started once; they rest and work in turns, and go once through "
                "their own sets before anything is measured beside them. Each block beside them "
                "has one without in the same round, right before or after, and a slowdown is the "
                "median of the ratios of such pairs: what drifts over the run is in both. Its "
                "interval lies between two of the sorted ratios, chosen by the binomial "
                "distribution, and assumes nothing about their distribution; it takes six rounds."
            }
            p {
                "The " b { "onset" } " is the least rate of the neighbours from which on all "
                "larger ones slow the partition down surely, with an interval above " (ONSET)
                "×. The " b { "knee" } " is where the curve bends most: with both axes from 0 "
                "to 1, the point farthest from the straight line between no neighbours and the "
                "largest rate, if that is a tenth at least."
            }
            p {
                "The paper prints its figures 5 and 6 without numbers; beside the measured values "
                "stand the bounds that its text gives, of another machine, hypervisor and kernel."
            }
        }
    }
}
