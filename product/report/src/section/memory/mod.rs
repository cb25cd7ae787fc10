//! Accesses to memory: the results of the probe `memory`, alone and beside neighbours.
//!
//! | module | what |
//! |---|---|
//! | `summary` | the results, curve by curve |
//! | `answer` | the answer, where the evidence is about nothing else |
//! | `tables` | figures by cache, by rate and by routine |

mod answer;
mod summary;
mod tables;

use quietcore_record::reason::Reason;
use quietcore_record::record::{AccessPattern, CacheLevel, MemoryRun};
use quietcore_record::slowdown::{ONSET, Pressure, RoutineSlowdown};

use super::content::{Block, Content, Figure, Paragraph, bold, plain, text};
use super::{Kind, ListedConditions, Reader, Section};
use crate::figures;
use crate::plot;
use summary::{Plateau, published_worst};

pub(crate) use summary::{CurveSummary, MemorySummary};

pub(super) const KIND: Kind = Kind {
    anchor: "memory",
    title: "Memory",
    holds: |record| record.memory().is_some(),
    content,
    conditions: ListedConditions::Own,
};

/// Columns before a fact's name in a terminal, and columns of the name.
const FACTS: (usize, usize) = (0, 11);
/// Columns before and of the name of the reasons why figures can't be trusted.
const INVALID: (usize, usize) = (0, 9);

fn content(section: &Section<'_>, reader: Reader) -> Content {
    let memory = MemorySummary::of(section.evidence);
    let mut content = Content::default();
    match reader {
        _ if memory.is_empty() => {}
        Reader::Page => {
            content.answers.push(answer::answer(section, &memory));
            of_page(&mut content, section, &memory);
            content.method(method());
        }
        Reader::Terminal => of_terminal(&mut content, section, &memory),
    }
    content
}

fn of_page(content: &mut Content, section: &Section<'_>, memory: &MemorySummary<'_>) {
    conditions(content, section);
    for ways in memory.ways() {
        if let Some(svg) = plot::curves(memory, ways) {
            if let Some(ways) = ways {
                content.blocks.push(Block::Heading(own_ways(ways), None));
            }
            let sub = "median of the blocks with its 95 % interval; solid alone, dashed beside \
                       neighbours; the caches of this CPU as zones";
            let name = "Time of an access by working set";
            content.blocks.push(Block::Figure(Figure {
                layout: Some("wide"),
                caption: Some((name.to_owned(), sub.to_owned())),
                scrolls: Some("Access time"),
                ..Figure::new(svg)
            }));
        }
        content.blocks.extend(tables::plateaus(memory, ways));
    }
    for pressure in &memory.pressures {
        let set = figures::bytes(pressure.working_set_bytes);
        let sub = format!("{} accesses to {set}", pressure.pattern.name());
        let title = "Neighbours' bandwidth against slowdown";
        content.blocks.push(Block::Heading(title.to_owned(), Some(sub)));
        content.remark(bends(pressure));
        let drawing = plot::pressure(pressure).map(Figure::new);
        content.blocks.extend(drawing.map(Block::Figure));
    }
    routines(content, &memory.routines);
}

fn routines(content: &mut Content, routines: &[RoutineSlowdown]) {
    let Some(svg) = plot::slowed_routines(routines) else { return };
    let title = "Routines of the OSEK kernel beside neighbours";
    content.blocks.push(Block::Heading(title.to_owned(), None));
    let sub = "logarithmic; the median ratio of the blocks is written above; grey is what \
               scordino2020 says of its figure 6";
    let name = "Minimum to maximum over the mean alone, the mean as a ring";
    let legend = [
        ("few", "alone"),
        ("many", "beside neighbours"),
        ("paper", "published, another machine and kernel"),
    ];
    content.blocks.push(Block::Figure(Figure {
        layout: Some("routines"),
        caption: Some((name.to_owned(), sub.to_owned())),
        legend: legend.map(|(class, words)| (class.to_owned(), words.to_owned())).into(),
        ..Figure::new(svg)
    }));
    content.blocks.push(tables::routines(routines));
}

/// Adds the conditions of the figures, on the page.
fn conditions(content: &mut Content, section: &Section<'_>) {
    let Some(first) = section.records.first() else { return };
    let Some(run) = first.record.memory() else { return };
    let held = &first.record.conditions;
    let loads = section.records.iter().find_map(|it| it.record.conditions.loads.first());
    let loads = loads.map_or_else(String::new, |load| {
        let rate = load.bytes_per_second;
        let rate = rate.map_or_else(String::new, |it| format!("{}, ", figures::rate(it)));
        format!(" Neighbours achieved, all together: {rate}{:.2} CPUs.", load.cpu_share)
    });
    content.remark(format!(
        "{} on CPU {}, {}. Caches: {}. Measured in {}.{loads}",
        held.policy,
        held.affinity,
        run.pages,
        caches(run),
        held.mode
    ));
}

fn of_terminal(content: &mut Content, section: &Section<'_>, memory: &MemorySummary<'_>) {
    if let Some(first) = section.records.first()
        && let Some(run) = first.record.memory()
    {
        let held = &first.record.conditions;
        let thread = format!("{} on CPU {}; {}", held.policy, held.affinity, run.pages);
        content.fact(FACTS, "mode", &held.mode.to_string());
        content.fact(FACTS, "thread", &thread);
        content.fact(FACTS, "caches", &caches(run));
        content.blocks.push(Block::Gap);
    }
    let mut reasons: Vec<&Reason> = Vec::new();
    for because in section.records.iter().flat_map(|it| &it.record.invalid_because) {
        if !reasons.contains(&because) {
            reasons.push(because);
        }
    }
    reasons.iter().for_each(|because| content.fact(INVALID, "invalid:", &because.to_string()));
    for ways in memory.ways() {
        if let Some(ways) = ways {
            content.remark(own_ways(ways));
        }
        for pattern in AccessPattern::ALL {
            let plateaus: Vec<Plateau> = memory.plateaus(ways, pattern);
            if !plateaus.is_empty() {
                content.blocks.push(tables::plateaus_in_terminal(pattern, &plateaus));
                content.blocks.push(Block::Gap);
            }
        }
    }
    worst(content, memory);
    for pressure in &memory.pressures {
        content.blocks.push(tables::pressure(pressure));
        let set = figures::bytes(pressure.working_set_bytes);
        content.remark(format!("{set}, {}. {}", pressure.pattern.name(), bends(pressure)));
        content.blocks.push(Block::Gap);
    }
    if !memory.routines.is_empty() {
        content.blocks.push(tables::routines_in_terminal(&memory.routines));
        content.blocks.push(Block::Gap);
    }
}

/// Adds the largest slowdowns, beside those of the paper.
fn worst(content: &mut Content, memory: &MemorySummary<'_>) {
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
        content.fact(FACTS, "slowdown", &text);
    }
    if !memory.slowdowns.is_empty() {
        content.blocks.push(Block::Gap);
    }
}

fn own_ways(ways: u32) -> String {
    format!("With {ways} ways of the last-level cache of its own")
}

/// Describes onset and knee of a pressure.
fn bends(pressure: &Pressure) -> String {
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

/// Describes the caches of the measuring CPU.
fn caches(run: &MemoryRun) -> String {
    let words = |level: &CacheLevel| {
        format!("L{} {}, of CPU {}", level.level, figures::bytes(level.bytes), level.cpus)
    };
    let all: Vec<String> = run.caches.iter().map(words).collect();
    if all.is_empty() { "the machine does not tell".to_owned() } else { all.join("; ") }
}

/// Explains the quantities, and how the figures come about.
fn method() -> Vec<Paragraph> {
    vec![
        Paragraph::Text(vec![
            plain(
                "A partition reads working sets of many sizes, as the benchmark of scordino2020 \
                 (section V-A) does. ",
            ),
            bold("Random"),
            plain(
                " accesses follow one cycle through all lines of the set, in which each line says \
                 where the next one is: none can begin before the one before has ended, so the \
                 time of one is its latency. ",
            ),
            bold("Sequential"),
            plain(
                " ones read the same lines from begin to end and wait for nothing: their time is \
                 what remains of the latency after prefetching and overlapping.",
            ),
        ]),
        text(
            "Neighbours are started once; they rest and work in turns, and go once through their \
             own sets before anything is measured beside them. Each block beside them has one \
             without in the same round, right before or after, and a slowdown is the median of \
             the ratios of such pairs: what drifts over the run is in both. Its interval lies \
             between two of the sorted ratios, chosen by the binomial distribution, and assumes \
             nothing about their distribution; it takes six rounds.",
        ),
        Paragraph::Text(vec![
            plain("The "),
            bold("onset"),
            plain(
                " is the least rate of the neighbours from which on all larger ones slow the \
                 partition down surely, with an interval above ",
            ),
            plain(format!("{ONSET}×. The ")),
            bold("knee"),
            plain(
                " is where the curve bends most: with both axes from 0 to 1, the point farthest \
                 from the straight line between no neighbours and the largest rate, if that is a \
                 tenth at least.",
            ),
        ]),
        text(
            "The paper prints its figures 5 and 6 without numbers; beside the measured values \
             stand the bounds that its text gives, of another machine, hypervisor and kernel.",
        ),
    ]
}
