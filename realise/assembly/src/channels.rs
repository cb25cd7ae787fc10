//! The channels of a site file as numbers and entries.
//!
//! ```text
//! [[channel]] setpoint: speed f64, code u8 queue = 16, enabled bool
//!
//! entries    0 group of 2 │ 1 speed │ 2 enabled │ 3 code (queue)
//! numbers    ComConf_ComSignal_setpoint_speed 0, …_code 1, …_enabled 2
//!            ComConf_ComSignalGroup_setpoint 0
//! ```
//!
//! Each partition counts the signals of its own channels, in the order of the site file, and so the
//! groups. All values of a channel that are no queue form its group: they are sent and received as
//! one. The group's timeout is the shortest of theirs.

use quietcore_program::Carried;
use quietcore_scan::process::job::{ChannelEntry, ChannelJob};
use quietcore_site::{Channel, Initial, Signal, SignalKind, Site};
use quietcore_units::{DataType, Nanos};

/// Before the name of a signal's macro.
const SIGNAL_PREFIX: &str = "ComConf_ComSignal_";
/// Before the name of a group's macro.
const GROUP_PREFIX: &str = "ComConf_ComSignalGroup_";

/// Two names become the same macro, because `-` and the border of channel and signal become `_`.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "channels of partition `{partition}`: `{first}` and `{second}` are both the macro `{name}`; \
     rename one"
)]
pub struct NumberingError {
    partition: String,
    first: String,
    second: String,
    name: String,
}

/// Lists the entries that a channel carries.
pub fn entries(channel: &Channel) -> Vec<ChannelEntry> {
    let mut members = Vec::new();
    let mut queues = Vec::new();
    let mut timeout = Nanos::ZERO;
    for signal in &channel.signals {
        match signal.kind {
            SignalKind::Latest { initial } => {
                members.push(ChannelEntry::Member {
                    bytes: signal.value_type.bytes() as u8,
                    initial: bits(initial, signal.value_type),
                });
                timeout = shorter(timeout, signal.timeout);
            }
            SignalKind::Queue { depth } => queues.push(ChannelEntry::Queue {
                message_bytes: signal.value_type.bytes() as u16,
                slots: depth.next_power_of_two(),
            }),
        }
    }
    if !members.is_empty() {
        let count = u16::try_from(members.len()).unwrap_or(u16::MAX);
        members.insert(0, ChannelEntry::Group { members: count, timeout });
    }
    members.append(&mut queues);
    members
}

/// The shorter of two timeouts, of which zero and none are no timeout.
fn shorter(timeout: Nanos, other: Option<Nanos>) -> Nanos {
    match other {
        Some(other) if timeout == Nanos::ZERO => other,
        Some(other) => timeout.min(other),
        None => timeout,
    }
}

/// A value as it lies in memory, in the low bytes.
pub(super) fn bits(initial: Initial, value_type: DataType) -> u64 {
    match initial {
        Initial::Truth(truth) => truth.into(),
        Initial::Whole(whole) => {
            let unused = 64 - 8 * value_type.bytes() as u32;
            (whole.cast_unsigned() << unused) >> unused
        }
        Initial::Real(real) if value_type == DataType::F32 => (real as f32).to_bits().into(),
        Initial::Real(real) => real.to_bits(),
    }
}

/// Lists the entry behind each signal of a channel, in the order of the site file.
pub fn places(channel: &Channel) -> Vec<u32> {
    let is_member = |signal: &&Signal| matches!(signal.kind, SignalKind::Latest { .. });
    let members = channel.signals.iter().filter(is_member).count() as u32;
    let mut next_member = 1;
    let mut next_queue = if members == 0 { 0 } else { 1 + members };
    let place = |signal: &Signal| {
        let next = match signal.kind {
            SignalKind::Latest { .. } => &mut next_member,
            SignalKind::Queue { .. } => &mut next_queue,
        };
        *next += 1;
        *next - 1
    };
    channel.signals.iter().map(place).collect()
}

fn own<'a>(site: &'a Site, partition: &'a str) -> impl Iterator<Item = &'a Channel> {
    let is_own = move |channel: &&Channel| channel.from.is(partition) || channel.to.is(partition);
    site.channels().iter().filter(is_own)
}

/// The channels of a partition, as its process is told of them; their descriptors are not known
/// yet.
pub(crate) fn jobs(site: &Site, partition: &str) -> Vec<ChannelJob> {
    let job = |channel: &Channel| ChannelJob {
        name: channel.name.clone(),
        descriptor: -1,
        device: None,
        sends: channel.from.is(partition),
        entries: entries(channel),
        signals: places(channel),
    };
    own(site, partition).map(job).collect()
}

/// The macros by which the program of a partition knows its signals and groups, as `NAME=VALUE`.
///
/// # Errors
/// [`NumberingError`] where two of them have one name.
pub(crate) fn defines(site: &Site, partition: &str) -> Result<Vec<String>, NumberingError> {
    let mut signals = Vec::new();
    let mut groups = Vec::new();
    for channel in own(site, partition) {
        for signal in &channel.signals {
            signals.push(format!("{}.{}", channel.name, signal.name));
        }
        if has_group(channel) {
            groups.push(channel.name.clone());
        }
    }
    let mut defines = numbered(partition, SIGNAL_PREFIX, &signals)?;
    defines.extend(numbered(partition, GROUP_PREFIX, &groups)?);
    Ok(defines)
}

/// Lists what a partition's channels carry, as an OSEK program in it is notified of that.
pub(crate) fn carried(site: &Site, partition: &str) -> Vec<Carried> {
    let mut carried = Vec::new();
    for channel in own(site, partition) {
        let is_received = !channel.from.is(partition);
        for signal in &channel.signals {
            let name = name_in_c(&format!("{}.{}", channel.name, signal.name));
            carried.push(Carried { name, is_group: false, is_received });
        }
        if has_group(channel) {
            let name = name_in_c(&channel.name);
            carried.push(Carried { name, is_group: true, is_received });
        }
    }
    carried
}

fn has_group(channel: &Channel) -> bool {
    matches!(entries(channel).first(), Some(ChannelEntry::Group { .. }))
}

/// The end of a macro, for a channel or `CHANNEL.SIGNAL`.
fn name_in_c(name: &str) -> String {
    name.replace(['-', '.'], "_")
}

fn numbered(
    partition: &str,
    prefix: &str,
    names: &[String],
) -> Result<Vec<String>, NumberingError> {
    let macros: Vec<String> =
        names.iter().map(|name| format!("{prefix}{}", name_in_c(name))).collect();
    for (index, name) in macros.iter().enumerate() {
        if let Some(first) = macros[..index].iter().position(|before| before == name) {
            return Err(NumberingError {
                partition: partition.to_owned(),
                first: names[first].clone(),
                second: names[index].clone(),
                name: name.clone(),
            });
        }
    }
    Ok(macros.iter().enumerate().map(|(number, name)| format!("{name}={number}u")).collect())
}

#[cfg(test)]
mod tests;
