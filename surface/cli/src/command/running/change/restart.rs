//! `quietcore restart`

use quietcore_supervisor::control::Restart;

use super::super::site;
use crate::arguments::{How, RestartRequest};
use crate::command;
use crate::status::{Failure, Status};

pub(in crate::command) fn run(request: &RestartRequest) -> Result<Status, Failure> {
    let (mut client, partition) = site::of_partition(&request.of)?;
    let (how, word) = match request.how {
        How::Warm => (Restart::Warm, "warm"),
        How::Cold => (Restart::Cold, "cold"),
        How::Origin => (Restart::Origin, "from its origin"),
    };
    client.restart(&partition, how)?;
    command::print_lines(&format!("{partition}: started {word}\n"))?;
    Ok(Status::Done)
}
