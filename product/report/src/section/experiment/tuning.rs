//! The effect of each control, and the smallest set that reaches the class.

use quietcore_record::experiment::{
    Confirmed, ControlEffect, Effect, Figure as Quantity, SetsFound, Tuning,
};

use super::super::Reader;
use super::super::content::{
    Answer, Block, Cell, Column, Content, Figure, NEUTRAL, Row, Span, Table, Tile, plain,
};
use super::{METHOD, name_of, ratio, releases, times, too_few, too_few_on_page};
use crate::figures;
use crate::plot;
use crate::summary::{exceedances, set_of};

/// Anchor and title of the section on the page.
pub(crate) const NAME: (&str, &str) = ("tuning", "Controls");

/// Columns of a control's effect.
const EFFECT: usize = 16;
/// Columns that say whether a set reaches the class.
const SIGN: usize = 15;
/// Columns of a ratio without its interval.
const RATIO: usize = 9;

/// Makes the content of all tunings; empty where there is none.
pub(crate) fn content(tunings: &[Tuning], reader: Reader) -> Content {
    let mut content = Content::default();
    let add = match reader {
        Reader::Page => page,
        Reader::Terminal => terminal,
    };
    tunings.iter().for_each(|tuning| add(tuning, &mut content));
    content
}

/// Names the smallest set that reaches the class, or says that there is none.
fn answer(tuning: &Tuning) -> Answer {
    let (tone, word) = match tuning.found() {
        SetsFound::Smallest([]) => ("pass", "It needs no control".to_owned()),
        SetsFound::Smallest(set) => ("pass", format!("It needs {}", set_of(set))),
        SetsFound::Untried => (NEUTRAL, "No set was tried against the class".to_owned()),
        SetsFound::NoneReaches => ("fail", "No set of controls reaches the class".to_owned()),
        SetsFound::NotShown(rounds, needed) => (
            "unproven",
            format!("Not shown that a set reaches the class: {rounds} of {needed} rounds"),
        ),
    };
    let tile = |label: &str, wanted: Effect| {
        let effects = tuning.effects.iter().filter(|effect| effect.effect == wanted);
        let names: Vec<&str> = effects.map(name_of).collect();
        Tile::new(label, names.len().to_string(), names.join(", "))
    };
    let class = tuning.confirmed.first().map(|set| format!(", class {}", set.class));
    let class = class.unwrap_or_default();
    let because = decisive(tuning).map(|last| plain(format!("{}. ", last.because)));
    let smallest = tuning.smallest.as_ref().map(|_| {
        let words = "No control of the set can be left out; another set may be as small. \
                     `quietcore qualify` proves it with enough releases.";
        Span::Marked(words.to_owned())
    });
    Answer {
        tone,
        who: vec![plain(format!("{} · {}{class}", tuning.partition, tuning.task))],
        word,
        why: vec![because.into_iter().chain(smallest).collect()],
        tiles: Some(vec![
            tile("helped", Effect::Helped),
            tile("hurt", Effect::Hurt),
            tile("no effect (within 5 %)", Effect::NoEffect),
            tile("no effect shown", Effect::NotShown),
        ]),
        ..Answer::default()
    }
}

/// Returns the set that the answer rests on: the smallest that reaches the class, or the largest
/// one.
fn decisive(tuning: &Tuning) -> Option<&Confirmed> {
    let reached = tuning.confirmed.iter().filter(|set| set.reached);
    let largest = tuning.confirmed.iter().max_by_key(|set| set.on.len());
    reached.min_by_key(|set| set.on.len()).or(largest)
}

/// Lists the effect of each control, followed by that of all together.
fn all(tuning: &Tuning) -> impl Iterator<Item = &ControlEffect> {
    tuning.effects.iter().chain(&tuning.together)
}

fn page(tuning: &Tuning, content: &mut Content) {
    content.answers.push(answer(tuning));
    let rounds = format!(
        "{} rounds of {} releases for each variant",
        tuning.rounds,
        figures::count(tuning.cycles_in_block)
    );
    let name = format!("{} · {}", tuning.partition, tuning.task);
    content.blocks.push(Block::Heading(name, Some(rounds)));
    too_few_on_page(content, tuning.rounds, tuning.rounds_needed);
    content.remark(METHOD);
    content.blocks.push(Block::Figure(Figure {
        layout: Some("wide"),
        caption: Some((
            "Release latency without a control over that with it".to_owned(),
            "p99 above, maximum below; median of the rounds with its 95 % interval".to_owned(),
        )),
        ..Figure::new(plot::effects(&all(tuning).collect::<Vec<_>>()))
    }));
    content.blocks.push(Block::Table(effects(tuning)));
    content.remark(format!(
        "Releases above the p99.9 of all controls together: with them {}, without a control as its \
         row says.",
        exceedances(&tuning.with_all)
    ));
    if !tuning.confirmed.is_empty() {
        let heading = "Sets of controls against the class".to_owned();
        content.blocks.push(Block::SubHeading(heading, None));
        content.blocks.push(Block::Table(sets(tuning)));
    }
}

fn effects(tuning: &Tuning) -> Table {
    let quantities =
        Quantity::ALL.map(|quantity| Column::new(quantity.title(), RATIO).below("without / with"));
    let limit = format!("above {}", figures::nanos(tuning.with_all.limit_ns));
    let columns = [Column::words("what it did", EFFECT)].into_iter().chain(quantities);
    let row = |effect: &ControlEffect| {
        let tone = match effect.effect {
            Effect::Helped => "pass",
            Effect::Hurt => "fail",
            Effect::NoEffect | Effect::NotShown => "neutral",
        };
        let mut cells = vec![Cell::plain(effect.effect.title()).tone(tone)];
        cells.extend(effect.ratios.iter().map(ratio));
        cells.extend([releases(&effect.without), Cell::plain(&*effect.sentence)]);
        Row::new(name_of(effect), cells)
    };
    Table {
        name: "What each control does".to_owned(),
        lead: Column::new("Control", 0),
        columns: columns
            .chain([Column::new("releases", 0).below(limit), Column::reasons("how sure")])
            .collect(),
        rows: all(tuning).map(row).collect(),
        ..Table::default()
    }
}

fn sets(tuning: &Tuning) -> Table {
    let row = |set: &Confirmed| {
        let (tone, word) = if set.reached { ("pass", "reached") } else { ("fail", "not reached") };
        let cells = vec![
            Cell::plain(word).tone(tone),
            Cell::plain(figures::count(set.cycles)),
            Cell::plain(&*set.because),
        ];
        Row::new(set_of(&set.on), cells)
    };
    Table {
        name: "Sets of controls".to_owned(),
        lead: Column::new("Set", 0),
        columns: vec![
            Column::words("class reached", 0),
            Column::new("releases", 0),
            Column::reasons("why"),
        ],
        rows: tuning.confirmed.iter().map(row).collect(),
        ..Table::default()
    }
}

fn terminal(tuning: &Tuning, content: &mut Content) {
    content.remark(format!(
        "{} · {}: {} rounds of {} releases each; ratios are without a control over with it; p99.9 \
         with all of them: {}",
        tuning.partition,
        tuning.task,
        tuning.rounds,
        figures::count(tuning.cycles_in_block),
        exceedances(&tuning.with_all)
    ));
    too_few(content, tuning.rounds, tuning.rounds_needed);
    let row = |effect: &ControlEffect| {
        let ratios = effect.ratios.iter().map(|it| Cell::plain(times(it)));
        let cells = [Cell::plain(effect.effect.title())].into_iter().chain(ratios).collect();
        Row::new(name_of(effect), cells)
    };
    let quantities = Quantity::ALL.map(|quantity| Column::new(quantity.title(), RATIO));
    content.blocks.push(Block::Table(Table {
        name: "What each control does".to_owned(),
        lead: Column::new("control", "control".len()),
        columns: [Column::words("what it did", EFFECT)].into_iter().chain(quantities).collect(),
        rows: all(tuning).map(row).collect(),
        ..Table::default()
    }));
    content.blocks.push(Block::Gap);
    content.remark("What was shown, and what is still possible:");
    for effect in all(tuning) {
        let (name, above) = (name_of(effect), exceedances(&effect.without));
        content.fact((2, 0), "", &format!("{name}: {}; {above}", effect.sentence));
    }
    content.blocks.push(Block::Gap);
    confirmed(tuning, content);
}

/// Adds the sets that were tried, and what follows from them.
fn confirmed(tuning: &Tuning, content: &mut Content) {
    let Some(first) = tuning.confirmed.first() else { return };
    content.remark(format!("sets of controls against the class {}", first.class));
    for Confirmed { on, reached, because, .. } in &tuning.confirmed {
        let head = if *reached { "  reached" } else { "  not reached" };
        content.fact((0, SIGN), head, &format!("{}: {because}", set_of(on)));
    }
    content.blocks.push(Block::Gap);
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
            "Not shown: no set reached it in {rounds} rounds, which are too few to say that none \
             does; it takes at least {needed}."
        ),
    };
    content.remark(words);
    content.blocks.push(Block::Gap);
}
