//! Counters: which of them the machine drives, and the time of their ticks.

use std::collections::HashSet;

use super::{default_of, names};
use crate::problem::Collector;
use crate::schema::Kind;
use crate::schema::clocks::{COUNTER_MAX, TICK_NS_MAX, TICK_NS_MIN};
use crate::text::place::{TextPosition, Word};
use crate::text::tree::{Attribute, Block, Object, Tree, Value};

/// The tick of a hardware counter where nothing states one, in ns: the usual one.
const TICK_NS: u64 = 1_000_000;

/// Counters that remarks are made on, all of a kind in one, with the first of them.
#[derive(Default)]
struct CounterRemarks {
    assumed: Vec<String>,
    driven: Vec<String>,
    first: Option<(TextPosition, String)>,
}

/// Completes the counters of another implementation's text.
pub(super) fn understand(tree: &mut Tree, tick_ns: Option<u64>, collector: &mut Collector) {
    let kind = Kind::Counter.word();
    let is_hardware = default_of(tree, kind, "TYPE").is_some_and(|it| it.token == "HARDWARE");
    let incremented = incremented(tree);
    let used = used(tree);
    let mut told = CounterRemarks::default();
    let stated = tree.objects.iter().filter(|it| it.kind.text == kind).find_map(tick_of);
    for counter in tree.objects.iter_mut().filter(|object| object.kind.text == kind) {
        let name = counter.name.text.clone();
        limits(counter, collector);
        seconds(&mut counter.block);
        let is_untyped = counter.block.first("TYPE").is_none()
            && counter.block.first("NANOSECONDSPERTICK").is_none();
        if is_untyped && is_hardware && !incremented.contains(&name) {
            let word = "HARDWARE".to_owned();
            counter.block.add("TYPE", Value::Word, word, counter.name.place);
        } else if is_untyped && used.contains(&name) && !incremented.contains(&name) {
            told.driven.push(format!("`{name}`"));
        }
        let has_tick = counter.block.first("NANOSECONDSPERTICK").is_some();
        let is_driven = counter.block.first("TYPE").is_some_and(|it| it.token == "HARDWARE");
        if is_driven && !has_tick {
            let tick = stated.or(tick_ns).unwrap_or(TICK_NS);
            counter.block.set_number("NANOSECONDSPERTICK", tick, &counter.name);
            told.assumed.push(format!("`{name}`"));
        }
        if told.first.is_none() && !(told.assumed.is_empty() && told.driven.is_empty()) {
            told.first = Some((counter.name.place, name));
        }
    }
    tell(&told, stated, tick_ns, collector);
}

fn tell(
    told: &CounterRemarks,
    stated: Option<u64>,
    tick_ns: Option<u64>,
    collector: &mut Collector,
) {
    let Some((place, word)) = &told.first else { return };
    if !told.assumed.is_empty() {
        let (tick, why) = match (stated, tick_ns) {
            (Some(tick), _) => (tick, "as the other hardware counters have"),
            (None, Some(tick)) => (tick, "the cycle of the partition"),
            (None, None) => (TICK_NS, "the cycle of the partition; where that is not known, 1 ms"),
        };
        let message = format!(
            "no time of a tick is given for {}; read as {tick} ns, {why}",
            names(&told.assumed)
        );
        collector.remark(*place, word, message);
    }
    if !told.driven.is_empty() {
        let message = format!(
            "{} without `TYPE`: the program drives it by `IncrementCounter`; for the cycle of the \
             partition to drive it, write `NANOSECONDSPERTICK = …;`",
            names(&told.driven)
        );
        collector.remark(*place, word, message);
    }
}

/// Completes the largest value, the ticks per base and the shortest cycle where they are missing,
/// zero or too large.
fn limits(counter: &mut Object, collector: &mut Collector) {
    let name = counter.name.clone();
    let most = counter.block.first("MAXALLOWEDVALUE");
    if most.is_none() && !counter.block.is_damaged {
        let message = format!("no `MAXALLOWEDVALUE` is given; read as {COUNTER_MAX}");
        collector.remark(name.place, &name.text, message);
        counter.block.set_number("MAXALLOWEDVALUE", COUNTER_MAX, &name);
    } else if let Some(most) = most.filter(|it| it.number().is_some_and(|it| it > COUNTER_MAX)) {
        let message = format!("read as {COUNTER_MAX}, which is the most");
        collector.remark(most.place, &most.token, message);
        counter.block.set_number("MAXALLOWEDVALUE", COUNTER_MAX, &name);
    }
    for word in ["TICKSPERBASE", "MINCYCLE"] {
        if let Some(given) = counter.block.first(word).filter(|it| it.number() == Some(0)) {
            collector.remark(given.place, &given.token, format!("`{word}` read as 1"));
            counter.block.set_number(word, 1, &name);
        }
    }
}

/// `SECONDSPERTICK` as `NANOSECONDSPERTICK`, where that says nothing itself.
fn seconds(block: &mut Block) {
    let says_nothing = |block: &Block| {
        block
            .first("NANOSECONDSPERTICK")
            .is_none_or(|it| it.number() == Some(0) || matches!(it.value, Value::Auto))
    };
    if !says_nothing(block) {
        block.take("SECONDSPERTICK");
        return;
    }
    block.take("NANOSECONDSPERTICK");
    let Some(given) = block.take("SECONDSPERTICK") else { return };
    if let Some(tick) = nanoseconds(&given.token).filter(|tick| *tick > 0) {
        let at = Word { text: given.token, place: given.place };
        block.set_number("NANOSECONDSPERTICK", tick, &at);
    }
}

/// Seconds as whole nanoseconds, whether or not a tick may be that long.
fn nanoseconds(seconds: &str) -> Option<u64> {
    let nanoseconds = (seconds.trim_matches('"').parse::<f64>().ok()? * 1e9).round();
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "the cast ends at the limits of `u64`, far outside of the range of ticks"
    )]
    let whole = nanoseconds as u64;
    Some(whole)
}

/// The tick that a counter states itself, where a tick may be that long.
fn tick_of(counter: &Object) -> Option<u64> {
    let block = &counter.block;
    let own = block.first("NANOSECONDSPERTICK").and_then(Attribute::number).filter(|it| *it > 0);
    let tick = own.or_else(|| nanoseconds(&block.first("SECONDSPERTICK")?.token))?;
    (TICK_NS_MIN..=TICK_NS_MAX).contains(&tick).then_some(tick)
}

/// The counters that alarms and schedule tables increment.
fn incremented(tree: &Tree) -> HashSet<String> {
    let blocks = tree.objects.iter().map(|object| &object.block);
    let points =
        blocks.clone().flat_map(|block| &block.attributes).filter_map(|it| it.block.as_ref());
    let actions = blocks.chain(points).flat_map(|block| &block.attributes);
    let increments = actions.filter(|it| it.token == "INCREMENTCOUNTER");
    let counters = increments.filter_map(|it| it.block.as_ref()?.first("COUNTER"));
    counters.map(|counter| counter.token.clone()).collect()
}

/// The counters that alarms and schedule tables are on.
fn used(tree: &Tree) -> HashSet<String> {
    let clocks = [Kind::Alarm.word(), Kind::ScheduleTable.word()];
    let objects = tree.objects.iter().filter(|it| clocks.contains(&it.kind.text.as_str()));
    let counters = objects.filter_map(|it| it.block.first("COUNTER"));
    counters.map(|counter| counter.token.clone()).collect()
}
