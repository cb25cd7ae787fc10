//! The look of a channel's values: as lines, as a table, as JSON. This module only formats.

use quietcore_program::Value;
use quietcore_supervisor::control::{ChannelOpened, ChannelSignal};
use quietcore_supervisor::host_channel::{HostChannel, HostChannelError};
use quietcore_units::Nanos;
use serde_json::json;

use super::super::watch::show::json_value;
use crate::table::Table;

/// The schema of the objects that `--json` prints.
const SCHEMA: &str = "quietcore.channel/1";

/// The values of one sending.
pub(super) struct Reading {
    /// Number of the sending; 0 for the initial values.
    pub(super) count: u64,
    /// Time since it was sent, or since the channel was opened where none was.
    pub(super) age: Nanos,
    /// `true` if it is older than the channel's timeout.
    pub(super) is_overdue: bool,
    values: Vec<(ChannelSignal, Value)>,
}

impl Reading {
    /// Takes the newest values; `None` where the channel has queues only.
    pub(super) fn take(channel: &mut HostChannel) -> Result<Option<Self>, HostChannelError> {
        let signals = channel.opened().signals.iter().filter(|signal| signal.queue.is_none());
        let signals: Vec<ChannelSignal> = signals.cloned().collect();
        if signals.is_empty() {
            return Ok(None);
        }
        let received = channel.receive()?;
        let (age, is_overdue) = channel.age(&received);
        let values = signals.into_iter().map(|signal| {
            let value = channel.value(&signal)?;
            Ok((signal, value))
        });
        let values = values.collect::<Result<_, HostChannelError>>()?;
        Ok(Some(Self { count: received.count, age, is_overdue, values }))
    }

    /// Returns a line per value: number of the sending, signal, value.
    pub(super) fn lines(&self) -> String {
        let line = |(signal, value): &(ChannelSignal, Value)| {
            format!("{} {} {value}\n", self.count, signal.name)
        };
        self.values.iter().map(line).collect()
    }

    /// Returns a heading and a table.
    pub(super) fn table(&self, opened: &ChannelOpened) -> String {
        let end = |end: &Option<String>| match end {
            Some(partition) => format!("`{partition}`"),
            None => "the host".to_owned(),
        };
        let ends = format!("from {} to {}", end(&opened.from), end(&opened.to));
        let overdue = if self.is_overdue { ", overdue" } else { "" };
        let state = match self.count {
            0 => format!("nothing sent yet{overdue}"),
            count => format!("sending {count}, {} ago{overdue}", self.age),
        };
        let mut text = format!("{}/{}  {ends}  {state}\n", opened.site, opened.channel);
        let mut table = Table::new(&["signal", ">value", "type"]);
        for (signal, value) in &self.values {
            table.row([signal.name.clone(), value.to_string(), signal.value_type.to_string()]);
        }
        for line in table.lines() {
            text.push_str(&line);
            text.push('\n');
        }
        text
    }

    /// Returns an object on one line.
    pub(super) fn json(&self, opened: &ChannelOpened) -> String {
        let value = |(signal, value): &(ChannelSignal, Value)| {
            json!({
                "signal": signal.name,
                "value": json_value(value),
                "type": signal.value_type,
            })
        };
        let object = json!({
            "schema": SCHEMA,
            "channel": format!("{}/{}", opened.site, opened.channel),
            "from": opened.from,
            "to": opened.to,
            "sending": self.count,
            "age_ns": self.age.get(),
            "overdue": self.is_overdue,
            "values": self.values.iter().map(value).collect::<Vec<_>>(),
        });
        format!("{object}\n")
    }
}

/// Returns a line for a message.
pub(super) fn message(
    opened: &ChannelOpened,
    queue: &ChannelSignal,
    value: &Value,
    is_json: bool,
) -> String {
    if !is_json {
        return format!("{} {value}\n", queue.name);
    }
    let object = json!({
        "schema": SCHEMA,
        "channel": format!("{}/{}", opened.site, opened.channel),
        "message": {
            "signal": queue.name,
            "value": json_value(value),
            "type": queue.value_type,
        },
    });
    format!("{object}\n")
}
