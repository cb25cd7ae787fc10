//! `quietcore pause` and `resume`

use super::super::site;
use crate::arguments::Of;
use crate::command;
use crate::status::{Failure, Status};

pub(in crate::command) fn run(of: &Of, pause: bool) -> Result<Status, Failure> {
    let (mut client, partition) = site::of_partition(of)?;
    client.pause(&partition, pause)?;
    let what = if pause { "paused; no cycle is run until `quietcore resume`" } else { "goes on" };
    command::print_lines(&format!("{partition}: {what}\n"))?;
    Ok(Status::Done)
}
