//! The machine that a command is about: this one, or one whose daemon answers (`--at`).
//!
//! ```text
//! --at, QUIETCORE_AT, the context in use ──► Reach ──► Here:  sites of this user, by their sockets
//!                                                  └─► There: the daemon of a machine, by gRPC
//! ```
//!
//! A command that works at a distance asks its [`Reach`] and shows the answers with the same code,
//! wherever they come from. Every other one is refused before it does anything.

use quietcore_remote::{Contexts, HERE, Remote, Target};

use crate::arguments::{Command, RunningCommand};
use crate::status::Failure;

/// Variable of the environment that says what `--at` says.
const VARIABLE: &str = "QUIETCORE_AT";

/// The place where the answers come from.
#[derive(Debug)]
pub(crate) enum Reach {
    /// The sites of this machine.
    Here,
    /// The daemon of a machine.
    There(Target),
}

/// The machines on which a command works.
enum Extent {
    /// It is about files, and the same everywhere.
    Files,
    /// It works at a distance.
    AnyMachine,
    /// It works on its own machine alone; its words.
    OwnMachine(&'static str),
}

impl Reach {
    /// Finds the machine that is meant, and refuses a command that can't be asked of it.
    pub(crate) fn of(at: Option<&str>, command: &Command) -> Result<Self, Failure> {
        let words = match extent(command) {
            Extent::Files => return Ok(Self::Here),
            Extent::AnyMachine => None,
            Extent::OwnMachine(words) => Some(words),
        };
        let variable = std::env::var(VARIABLE).ok().filter(|value| !value.is_empty());
        let asked = at.or(variable.as_deref());
        let Some(target) = Contexts::read(&Contexts::path())?.target(asked)? else {
            return Ok(Self::Here);
        };
        let Some(words) = words else { return Ok(Self::There(target)) };
        let there = match &target {
            Target::Network { host, .. } => host.clone(),
            Target::Socket(_) => "HOST".to_owned(),
        };
        Err(Failure::new(format_args!(
            "quietcore: `{words}` works on its own machine only, and `{}` is meant; run it there, \
             as by `ssh {there} quietcore {words}`, or here with `--at {HERE}`",
            target.address()
        )))
    }

    /// Connects to the daemon, if one is meant.
    pub(crate) fn remote(&self) -> Result<Option<Remote>, Failure> {
        match self {
            Self::Here => Ok(None),
            Self::There(target) => Ok(Some(Remote::connect(target)?)),
        }
    }
}

fn extent(command: &Command) -> Extent {
    let own = Extent::OwnMachine;
    match command {
        Command::Doctor(_) => Extent::AnyMachine,
        Command::Audit(request) if request.file.is_some() => Extent::Files,
        Command::Audit(request) if request.verify => own("audit --verify"),
        Command::Audit(_) => Extent::AnyMachine,
        Command::Running(command) => running_extent(command),
        Command::Init(_) => own("init"),
        Command::Plan(_) => own("plan"),
        Command::Qualify(_) => own("qualify"),
        Command::Campaign(_) => own("campaign"),
        Command::Tune(_) => own("tune"),
        Command::Disturb(_) => own("disturb"),
        Command::Cost(_) => own("cost"),
        Command::Probe(_) => own("probe"),
        Command::Verdict(_) => own("verdict"),
        Command::Segment(_) => own("segment"),
        Command::Auth(_) => own("auth"),
        Command::Show(_)
        | Command::Verify(_)
        | Command::Report(_)
        | Command::Import(_)
        | Command::Compare(_)
        | Command::Osek(_)
        | Command::Guest(_)
        | Command::Export(_)
        | Command::Context(_)
        | Command::Schema(_)
        | Command::Completions(_)
        | Command::Man(_) => Extent::Files,
    }
}

fn running_extent(command: &RunningCommand) -> Extent {
    match command {
        RunningCommand::Up(_) => Extent::OwnMachine("up"),
        RunningCommand::Down(_) => Extent::OwnMachine("down"),
        RunningCommand::Top(_) => Extent::OwnMachine("top"),
        RunningCommand::Console(_) => Extent::OwnMachine("console"),
        RunningCommand::Channel(_) => Extent::OwnMachine("channel"),
        RunningCommand::Trace(_) => Extent::OwnMachine("trace"),
        RunningCommand::Ps(_)
        | RunningCommand::Events(_)
        | RunningCommand::Watch(_)
        | RunningCommand::Set(_)
        | RunningCommand::Force(_)
        | RunningCommand::Unforce(_)
        | RunningCommand::Deploy(_)
        | RunningCommand::Restart(_)
        | RunningCommand::Pause(_)
        | RunningCommand::Resume(_) => Extent::AnyMachine,
    }
}
