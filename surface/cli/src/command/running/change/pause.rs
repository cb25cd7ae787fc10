//! `quietcore pause` and `resume`

use quietcore_supervisor::control::{Paused, Verb};

use super::super::site::reached::Reached;
use crate::arguments::Of;
use crate::command;
use crate::command::distance::Reach;
use crate::status::{Failure, Status};
use crate::terminal;

/// The effect of a pause on a partition with a fieldbus, for the person who asked.
const NO_FRAMES: &str = "its fieldbus gets no frames meanwhile: the watchdogs of the SubDevices \
    take their outputs away (after 100 ms, or 4 cycles where those are longer) and they leave OP; \
    `quietcore resume` brings them back";

pub(in crate::command) fn run(reach: &Reach, of: &Of, verb: Verb) -> Result<Status, Failure> {
    let (mut site, partition) = Reached::of_partition(reach, of)?;
    let Paused { is_paused, was_paused, has_fieldbus } = site.ask(&partition, verb)?;
    if has_fieldbus && is_paused && !was_paused {
        terminal::say(format_args!("{partition}: {NO_FRAMES}"));
    }
    let what = match (is_paused, was_paused) {
        (true, false) => "paused; no cycle is run until `quietcore resume`",
        (true, true) => "is paused already; no cycle is run until `quietcore resume`",
        (false, true) => "goes on",
        (false, false) => "was not paused",
    };
    command::print_lines(&format!("{partition}: {what}\n"))?;
    Ok(Status::Done)
}
