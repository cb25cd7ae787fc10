//! `[[channel]]`: both ends exist, initial values fit their types, and values fit into their group.

use quietcore_units::DataType;

use crate::check::unique;
use crate::raw::{RawChannel, RawNumber, RawSignal};
use crate::reading::collector::Collector;
use crate::reading::place::Path;
use crate::site::{Channel, ChannelEnd, HOST_END, Initial, Partition, Signal, SignalKind};
use crate::words::instead;

/// The most values of a channel that are no queues: the members that a group can have.
const VALUES_MAX: usize = 64;

/// Checks the channels and returns those that are right.
pub(super) fn check(
    raw: &[RawChannel],
    partitions: &[String],
    collector: &mut Collector<'_, '_>,
) -> Vec<Channel> {
    let path = |index| Path::top().key("channel").index(index);
    let named = raw.iter().enumerate().map(|(index, one)| (path(index), one.name.as_deref()));
    unique("channel", named, collector);
    let mut channels = Vec::new();
    for (index, raw) in raw.iter().enumerate() {
        channels.extend(channel(raw, partitions, &path(index), collector));
    }
    channels
}

/// Reports channels of guests that start from their disks, which have no program to use them.
/// `channels` are those that are right, in the order of the file.
pub(super) fn among(
    channels: &[Channel],
    partitions: &[Partition],
    collector: &mut Collector<'_, '_>,
) {
    let is_measured = |name: &str| {
        partitions.iter().find(|one| one.name == name).is_none_or(Partition::is_measured)
    };
    for (index, channel) in channels.iter().enumerate() {
        let path = Path::top().key("channel").index(index);
        for (key, end) in [("from", &channel.from), ("to", &channel.to)] {
            let partition = end.partition().filter(|name| !is_measured(name));
            if let Some(name) = partition {
                collector.refuse(
                    &path.key(key),
                    format!("partition `{name}` starts from its disk, and knows no channels"),
                    "name a partition with a program",
                );
            }
        }
    }
}

fn channel(
    raw: &RawChannel,
    partitions: &[String],
    path: &Path,
    collector: &mut Collector<'_, '_>,
) -> Option<Channel> {
    let from = end(raw.from.as_deref(), partitions, &path.key("from"), collector);
    let to = end(raw.to.as_deref(), partitions, &path.key("to"), collector);
    match (&from, &to) {
        (Some(ChannelEnd::Host), Some(ChannelEnd::Host)) => collector.refuse(
            &path.key("to"),
            "both ends of the channel are programs of the host",
            "name a partition at one of them",
        ),
        (Some(from), Some(to)) if from == to => collector.refuse(
            &path.key("to"),
            format!("the channel leads from `{from}` to itself"),
            "name another partition",
        ),
        _ => {}
    }
    let signals_path = path.key("signals");
    let written = raw.signals.as_deref().unwrap_or_default();
    let named = written.iter().enumerate();
    let named = named.map(|(index, one)| (signals_path.index(index), one.name.as_deref()));
    unique("signal", named, collector);
    let values = written.iter().filter(|one| one.queue.is_none()).count();
    if values > VALUES_MAX {
        collector.refuse(
            &signals_path,
            format!("{values} values are sent as one, and {VALUES_MAX} are possible"),
            "divide them among several channels",
        );
    }
    let mut signals = Vec::new();
    for (index, raw) in written.iter().enumerate() {
        signals.extend(signal(raw, &signals_path.index(index), collector));
    }
    Some(Channel { name: raw.name.clone()?, from: from?, to: to?, signals })
}

/// Returns the end that a name stands for. A partition that is called as the word for the host is
/// a partition, as it was before that word had a meaning.
fn end(
    name: Option<&str>,
    partitions: &[String],
    path: &Path,
    collector: &mut Collector<'_, '_>,
) -> Option<ChannelEnd> {
    let is_partition = |name: &str| partitions.iter().any(|partition| partition == name);
    let name = name?;
    if name == HOST_END && !is_partition(name) {
        return Some(ChannelEnd::Host);
    }
    if !is_partition(name) {
        let known = partitions.iter().map(String::as_str).chain([HOST_END]);
        let problem = format!("there is no partition `{name}`");
        collector.refuse(path, problem, instead(name, known));
    }
    Some(ChannelEnd::Partition(name.to_owned()))
}

fn signal(raw: &RawSignal, path: &Path, collector: &mut Collector<'_, '_>) -> Option<Signal> {
    let initial_path = path.key("initial");
    let value_type = raw.value_type?;
    let kind = match raw.queue {
        Some(depth) => {
            if collector.has(&initial_path) {
                collector.refuse_key(
                    &initial_path,
                    "a queue begins empty, so it has no initial value",
                    "take it out, or take out `queue`",
                );
            }
            let timeout_path = path.key("timeout");
            if collector.has(&timeout_path) {
                collector.refuse_key(
                    &timeout_path,
                    "a queue may be empty for long, so it has no timeout",
                    "take it out, and give one to a value of the channel",
                );
            }
            SignalKind::Queue { depth }
        }
        None => SignalKind::Latest {
            initial: fitting(raw.initial, value_type, &initial_path, collector)?,
        },
    };
    Some(Signal { name: raw.name.clone()?, value_type, timeout: raw.timeout, kind })
}

/// The value, if it fits the type; zero or `false` where none is written.
pub(super) fn fitting(
    raw: Option<RawNumber>,
    value_type: DataType,
    path: &Path,
    collector: &mut Collector<'_, '_>,
) -> Option<Initial> {
    let integers = value_type.integers();
    let fitting = match (raw, value_type, &integers) {
        (None, DataType::Bool, _) => Some(Initial::Truth(false)),
        (None, _, Some(_)) => Some(Initial::Whole(0)),
        (None, _, None) => Some(Initial::Real(0.0)),
        (Some(RawNumber::Truth(truth)), DataType::Bool, _) => Some(Initial::Truth(truth)),
        (Some(RawNumber::Whole(whole)), _, Some(integers)) => {
            integers.contains(&whole.into()).then_some(Initial::Whole(whole))
        }
        (Some(RawNumber::Whole(whole)), DataType::F32 | DataType::F64, None) => {
            Some(Initial::Real(whole as f64))
        }
        (Some(RawNumber::Real(real)), DataType::F64, _) => Some(Initial::Real(real)),
        (Some(RawNumber::Real(real)), DataType::F32, _) => {
            (real.abs() <= f64::from(f32::MAX)).then_some(Initial::Real(real))
        }
        _ => None,
    };
    if fitting.is_none() {
        let remedy = match (value_type, integers) {
            (DataType::Bool, _) => "write `true` or `false`".to_owned(),
            (_, Some(integers)) => {
                let most = (*integers.end()).min(i64::MAX.into());
                format!("write an integer from {} to {most}", integers.start())
            }
            (_, None) => "write a number within its range".to_owned(),
        };
        let problem = format!("this value doesn't fit the type `{value_type}`");
        collector.refuse(path, problem, remedy);
    }
    fitting
}

/// Reports a partition that doesn't exist.
pub(super) fn exists(
    name: Option<&str>,
    partitions: &[String],
    path: &Path,
    collector: &mut Collector<'_, '_>,
) {
    let Some(name) = name else { return };
    if !partitions.iter().any(|partition| partition == name) {
        let known = partitions.iter().map(String::as_str);
        let remedy = match partitions {
            [] => "add a `[[partition]]` of that name".to_owned(),
            _ => instead(name, known),
        };
        collector.refuse(path, format!("there is no partition `{name}`"), remedy);
    }
}
