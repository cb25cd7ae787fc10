//! The commands for running sites, one file each.

mod channel;
mod console;
mod down;
mod events;
mod ps;
mod site;
mod timing;
mod top;
mod trace;
mod up;
mod watch;

/// Commands that change a partition.
mod change {
    pub(super) mod deploy;
    pub(super) mod pause;
    pub(super) mod restart;
    pub(super) mod variables;
}

use quietcore_supervisor::control::Verb;

use self::change::{deploy, pause, restart, variables};
use crate::arguments::RunningCommand;
use crate::command::distance::Reach;
use crate::status::{Failure, Status};

/// Dispatches a command to its module.
pub(super) fn run(reach: &Reach, command: RunningCommand) -> Result<Status, Failure> {
    match command {
        RunningCommand::Up(request) => up::run(&request),
        RunningCommand::Down(request) => down::run(&request),
        RunningCommand::Ps(request) => ps::run(reach, &request),
        RunningCommand::Top(request) => top::run(&request),
        RunningCommand::Events(request) => events::run(reach, &request),
        RunningCommand::Console(request) => console::run(&request),
        RunningCommand::Watch(request) => watch::run(reach, &request),
        RunningCommand::Set(request) => variables::set(reach, &request),
        RunningCommand::Force(request) => variables::force(reach, &request),
        RunningCommand::Unforce(request) => variables::unforce(reach, &request),
        RunningCommand::Channel(request) => channel::run(&request),
        RunningCommand::Trace(request) => trace::run(&request),
        RunningCommand::Deploy(request) => deploy::run(reach, &request),
        RunningCommand::Restart(request) => restart::run(reach, &request),
        RunningCommand::Pause(request) => pause::run(reach, &request.of, Verb::Pause),
        RunningCommand::Resume(request) => pause::run(reach, &request.of, Verb::Resume),
    }
}
