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
use crate::status::{Failure, Status};

/// Dispatches a command to its module.
pub(super) fn run(command: RunningCommand) -> Result<Status, Failure> {
    match command {
        RunningCommand::Up(request) => up::run(&request),
        RunningCommand::Down(request) => down::run(&request),
        RunningCommand::Ps(request) => ps::run(&request),
        RunningCommand::Top(request) => top::run(&request),
        RunningCommand::Events(request) => events::run(&request),
        RunningCommand::Console(request) => console::run(&request),
        RunningCommand::Watch(request) => watch::run(&request),
        RunningCommand::Set(request) => variables::set(&request),
        RunningCommand::Force(request) => variables::force(&request),
        RunningCommand::Unforce(request) => variables::unforce(&request),
        RunningCommand::Channel(request) => channel::run(&request),
        RunningCommand::Trace(request) => trace::run(&request),
        RunningCommand::Deploy(request) => deploy::run(&request),
        RunningCommand::Restart(request) => restart::run(&request),
        RunningCommand::Pause(request) => pause::run(&request.of, Verb::Pause),
        RunningCommand::Resume(request) => pause::run(&request.of, Verb::Resume),
    }
}
