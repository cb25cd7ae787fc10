//! Arguments of the command `channel`.

use clap::Args;
use clap_complete::engine::ArgValueCompleter;
use quietcore_supervisor::client::Address;
use quietcore_units::Nanos;

use super::running::{Assignment, assignment, rate};
use crate::completion;

#[derive(Debug, Args)]
#[command(
    after_help = "The values of every channel can be read, at no cost for the partitions at its \
    ends; a line has the number of the sending, the signal and its value, and sendings between \
    two looks show as a gap in the numbers. Where the site file says `from = \"host\"`, \
    NAME=VALUE sends; where it says `to = \"host\"`, `--take` takes the messages of its queues. \
    One program at a time is such an end, which is free as soon as that program has gone. Exit \
    status 1 where `--once` finds values that are overdue.\n\nExamples:\n  \
    quietcore channel actual                     each sending as it comes\n  \
    quietcore channel actual --once --json       the values now, with their age\n  \
    quietcore channel setpoint target=12.5       send; other values stay as they are\n  \
    quietcore channel setpoint target=12.5 --every 50ms\n  \
    quietcore channel alarm --take               messages, each one once"
)]
pub(crate) struct ChannelRequest {
    /// The channel, as `CHANNEL` or `SITE/CHANNEL`
    pub(crate) channel: Address,
    /// Values and messages to send; all values go at once
    #[arg(value_name = "NAME=VALUE", value_parser = assignment)]
    pub(crate) assignments: Vec<Assignment>,
    /// The site, where several run
    #[arg(long, value_name = "SITE", add = ArgValueCompleter::new(completion::sites))]
    pub(crate) site: Option<String>,
    /// Send the values again after each such time, such as `50 ms`; messages go once
    #[arg(long, value_name = "D", requires = "assignments", value_parser = every)]
    pub(crate) every: Option<Nanos>,
    /// Take the messages of its queues as well, as the receiving end
    #[arg(long, conflicts_with_all = ["assignments", "once"])]
    pub(crate) take: bool,
    /// Rate at which it is read, in Hz, 0.1 to 100
    #[arg(long, value_name = "HZ", default_value_t = 10.0, value_parser = rate,
        conflicts_with = "assignments")]
    pub(crate) rate: f64,
    /// Read once and end
    #[arg(long, conflicts_with = "assignments")]
    pub(crate) once: bool,
    /// Print one JSON object per line
    #[arg(long, conflicts_with = "assignments")]
    pub(crate) json: bool,
    /// End after this long, such as `10 s`
    #[arg(long = "for", value_name = "D", conflicts_with = "once")]
    pub(crate) duration: Option<Nanos>,
}

fn every(text: &str) -> Result<Nanos, String> {
    let every: Nanos = text.parse().map_err(|error| format!("{error}"))?;
    let least = Nanos::from_millis(1);
    if every < least {
        return Err(format!("{every} is shorter than {least}; a program in C can be as fast"));
    }
    Ok(every)
}
