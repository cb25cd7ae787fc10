//! `quietcore channel`: reads a channel of a running site, sends on one, or takes its messages.

mod show;

use std::time::{Duration, Instant};

use quietcore_supervisor::control::{ChannelSignal, ChannelUse};
use quietcore_supervisor::host_channel::{HostChannel, HostChannelError};
use quietcore_units::{Causes, Nanos};
use quietcore_wording::{list, plural};

use self::show::Reading;
use super::change::variables::refuse_twice;
use super::site;
use super::watch::{put, sleep_until};
use crate::arguments::{Assignment, ChannelRequest};
use crate::machine;
use crate::status::{Failure, Status};

/// Time between two looks whether the site still runs.
const LOOK_FOR_SITE: Duration = Duration::from_secs(1);
/// The most messages that are taken of one queue before the values are looked at again.
const MESSAGES_A_ROUND: usize = 1024;

pub(in crate::command) fn run(request: &ChannelRequest) -> Result<Status, Failure> {
    let stop = machine::stop_flag()?;
    let is_end = request.take || !request.assignments.is_empty();
    let usage = if is_end { ChannelUse::End } else { ChannelUse::Read };
    let mut client = site::of_channel(&request.channel, request.site.as_deref())?;
    let mut channel = HostChannel::open(&mut client, &request.channel.partition, usage)?;
    drop(client);
    refuse_wrong_end(request, &channel)?;
    if request.once {
        return read_once(request, &mut channel);
    }
    let mut rounds = Rounds::new(request);
    let mut reader = Reader::default();
    if !request.assignments.is_empty() {
        send_first(request, &mut channel)?;
    }
    while rounds.go_on(&channel)? {
        let is_heard = match request.assignments.is_empty() {
            true => reader.look(request, &mut channel)?,
            false if rounds.count > 1 => channel.send().map(|()| true)?,
            false => true,
        };
        let is_alone = !request.assignments.is_empty() && request.every.is_none();
        if is_alone || !is_heard || !sleep_until(rounds.due, &stop) {
            return Ok(Status::Done);
        }
    }
    Ok(Status::Done)
}

/// Refuses to send where a partition does, and to take messages where a partition does.
fn refuse_wrong_end(request: &ChannelRequest, channel: &HostChannel) -> Result<(), Failure> {
    let opened = channel.opened();
    let name = &opened.channel;
    if let (false, Some(from)) = (request.assignments.is_empty(), &opened.from) {
        return Err(Failure::new(format!(
            "quietcore: channel `{name}` comes from partition `{from}`, which alone sends on it; \
             to take its messages, use `--take`"
        )));
    }
    if let (true, Some(to)) = (request.take, &opened.to) {
        return Err(Failure::new(format!(
            "quietcore: channel `{name}` leads to partition `{to}`, which takes its messages; \
             read its values without `--take`"
        )));
    }
    if request.take && !opened.signals.iter().any(|signal| signal.queue.is_some()) {
        let problem = "has no queue, so there is nothing to take; read its values without `--take`";
        return Err(Failure::new(format!("quietcore: channel `{name}` {problem}")));
    }
    Ok(())
}

/// When the next round is due, and whether there is one.
struct Rounds {
    period: Duration,
    due: Instant,
    end: Option<Instant>,
    /// Number of the round that is under way.
    count: u64,
    looked: Instant,
}

impl Rounds {
    fn new(request: &ChannelRequest) -> Self {
        let now = Instant::now();
        let of = |nanos: Nanos| Duration::from_nanos(nanos.get());
        let period = Duration::from_secs_f64(1.0 / request.rate);
        Self {
            period: request.every.map_or(period, of),
            due: now,
            end: request.duration.map(|duration| now + of(duration)),
            count: 0,
            looked: now,
        }
    }

    /// Begins a round; returns `false` when the time is over or the site is down.
    fn go_on(&mut self, channel: &HostChannel) -> Result<bool, Failure> {
        let now = Instant::now();
        if self.end.is_some_and(|end| now >= end) {
            return Ok(false);
        }
        if now >= self.looked + LOOK_FOR_SITE {
            self.looked = now;
            if !channel.is_up()? {
                eprintln!("site `{}` is down", channel.opened().site);
                return Ok(false);
            }
        }
        self.count += 1;
        self.due = (self.due + self.period).max(now);
        Ok(true)
    }
}

/// Sends the messages and, at once, the values.
fn send_first(request: &ChannelRequest, channel: &mut HostChannel) -> Result<(), Failure> {
    let (mut messages, mut values) = (Vec::new(), Vec::new());
    // All of them are looked at before anything is sent.
    for assignment in &request.assignments {
        let signal = channel.signal(&assignment.variable)?;
        match signal.queue {
            Some(_) => {
                channel.check_text(&assignment.variable, &assignment.value)?;
                messages.push(assignment);
            }
            None => {
                channel.set_text(&assignment.variable, &assignment.value)?;
                values.push(assignment);
            }
        }
    }
    refuse_twice(&values)?;
    if values.is_empty() && request.every.is_some() {
        let problem = "quietcore: `--every` sends values again, and there are only messages";
        return Err(Failure::new(problem));
    }
    let in_order = [&messages[..], &values[..]].concat();
    for (index, message) in messages.iter().enumerate() {
        let pushed = channel.push_text(&message.variable, &message.value);
        pushed.map_err(|error| cut_short(in_order.split_at(index), &error))?;
    }
    if !values.is_empty() {
        channel.send().map_err(|error| cut_short(in_order.split_at(messages.len()), &error))?;
    }
    let mut sent = Vec::new();
    for (count, noun) in [(values.len(), "value"), (messages.len(), "message")] {
        if count > 0 {
            sent.push(format!("{count} {noun}{}", plural(count as u64)));
        }
    }
    let again = request.every.map(|every| format!(", the values again every {every}"));
    let name = &channel.opened().channel;
    put(&format!("{name}: sent {}{}\n", sent.join(" and "), again.unwrap_or_default()))?;
    Ok(())
}

/// Says which assignments were sent before an error and which were not, so that nobody sends one
/// of them twice.
fn cut_short((sent, left): (&[&Assignment], &[&Assignment]), error: &HostChannelError) -> Failure {
    let sent = if sent.is_empty() { String::new() } else { format!("sent {}; ", listed(sent)) };
    let (left, why) = (listed(left), Causes(error));
    Failure::new(format_args!("quietcore: {sent}not sent {left}: {why}"))
}

fn listed(assignments: &[&Assignment]) -> String {
    list(assignments.iter().map(|it| format!("{}={}", it.variable, it.value)))
}

fn read_once(request: &ChannelRequest, channel: &mut HostChannel) -> Result<Status, Failure> {
    let Some(reading) = Reading::take(channel)? else {
        let name = &channel.opened().channel;
        return Err(Failure::new(format!(
            "quietcore: channel `{name}` has queues only; their messages are taken by `--take`"
        )));
    };
    let text =
        if request.json { reading.json(channel.opened()) } else { reading.table(channel.opened()) };
    put(&text)?;
    Ok(Status::of(!reading.is_overdue))
}

/// Remembers what was shown of a channel that is followed.
#[derive(Default)]
struct Reader {
    count: Option<u64>,
    is_overdue: bool,
}

impl Reader {
    /// Shows what has come since the last look; returns `false` if the reader of the output has
    /// gone away.
    fn look(
        &mut self,
        request: &ChannelRequest,
        channel: &mut HostChannel,
    ) -> Result<bool, Failure> {
        let mut text = String::new();
        if let Some(reading) = Reading::take(channel)? {
            if self.count != Some(reading.count) {
                self.count = Some(reading.count);
                let opened = channel.opened();
                text += &if request.json { reading.json(opened) } else { reading.lines() };
            }
            if reading.is_overdue && !self.is_overdue {
                let age = reading.age;
                eprintln!("{}: no values for {age}: overdue", channel.opened().channel);
            }
            self.is_overdue = reading.is_overdue;
        }
        if request.take {
            text += &messages(request, channel)?;
        }
        put(&text)
    }
}

/// Takes messages, and returns a line for each.
fn messages(request: &ChannelRequest, channel: &mut HostChannel) -> Result<String, Failure> {
    let queues = channel.opened().signals.iter().filter(|signal| signal.queue.is_some());
    let queues: Vec<ChannelSignal> = queues.cloned().collect();
    let mut text = String::new();
    for queue in &queues {
        for _ in 0..MESSAGES_A_ROUND {
            let Some(value) = channel.take(queue)? else { break };
            text += &show::message(channel.opened(), queue, &value, request.json);
        }
    }
    Ok(text)
}
