//! `quietcore pause` and `resume`

use quietcore_supervisor::control::{Activity, PartitionState};

use super::super::site;
use crate::arguments::Of;
use crate::command;
use crate::status::{Failure, Status};
use crate::terminal;

pub(in crate::command) fn run(of: &Of, pause: bool) -> Result<Status, Failure> {
    let (mut client, partition) = site::of_partition(of)?;
    let before = client.list()?.into_iter().find(|known| known.name == partition);
    client.pause(&partition, pause)?;
    let was_paused = before.as_ref().is_some_and(|it| it.state == Activity::Paused);
    if let Some(warning) = before.as_ref().filter(|_| pause && !was_paused).and_then(warning) {
        terminal::say(format_args!("{partition}: {warning}"));
    }
    let what = match (pause, was_paused) {
        (true, false) => "paused; no cycle is run until `quietcore resume`",
        (true, true) => "is paused already; no cycle is run until `quietcore resume`",
        (false, true) => "goes on",
        (false, false) => "was not paused",
    };
    command::print_lines(&format!("{partition}: {what}\n"))?;
    Ok(Status::Done)
}

/// Says what a pause does to the fieldbus, where there is one.
fn warning(partition: &PartitionState) -> Option<&'static str> {
    partition.fieldbus.as_ref().map(|_| {
        "its fieldbus gets no frames meanwhile: the watchdogs of the SubDevices take their outputs \
         away (after 100 ms, or 4 cycles where those are longer) and they leave OP; `quietcore \
         resume` brings them back"
    })
}
