//! `quietcore restart`

use quietcore_supervisor::control::{Done, Restart, Verb};

use super::super::site::reached::Reached;
use crate::arguments::RestartRequest;
use crate::command;
use crate::command::distance::Reach;
use crate::status::{Failure, Status};

pub(in crate::command) fn run(reach: &Reach, request: &RestartRequest) -> Result<Status, Failure> {
    for (is_given, word) in [(request.cold, "cold"), (request.origin, "origin")] {
        if is_given {
            let of = &request.of.partition;
            return Err(Failure::new(format_args!(
                "quietcore: `restart` takes no `--{word}`; write `quietcore restart {of} {word}`"
            )));
        }
    }
    let (mut site, partition) = Reached::of_partition(reach, &request.of)?;
    let word = match request.how {
        Restart::Warm => "warm",
        Restart::Cold => "cold",
        Restart::Origin => "from its origin",
    };
    let Done {} = site.ask(&partition, Verb::Restart { how: request.how })?;
    command::print_lines(&format!("{partition}: started {word}\n"))?;
    Ok(Status::Done)
}
