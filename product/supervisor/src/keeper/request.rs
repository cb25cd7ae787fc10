//! What a keeper is asked, each with the way for the answer.

use std::fs::File;
use std::sync::mpsc::SyncSender;

use quietcore_exchange::Command;
use quietcore_program::Build;

use crate::control::{
    Applied, ControlError, DeployPatience, Deployed, ErrorKind, Opened, Restart, Trace,
    TraceStarted,
};

/// A way for one answer.
pub(crate) type Reply<T> = SyncSender<Result<T, ControlError>>;

/// A way for lines about what is going on; what it has no room for is left out.
pub(crate) type Progress = SyncSender<String>;

/// A program that was built for a deploy.
pub(crate) struct Prepared {
    pub(crate) build: Build,
    /// The folder that it was built from.
    pub(crate) folder: String,
}

/// What a keeper is asked.
pub(crate) enum Request {
    Open {
        reply: Reply<(Opened, File)>,
    },
    /// Commands whose places belong to build `generation`, with the names of their variables; no
    /// names for what concerns no single variable.
    Write {
        commands: Vec<Command>,
        paths: Vec<String>,
        generation: u32,
        reply: Reply<Applied>,
    },
    TraceStart {
        trace: Trace,
        reply: Reply<TraceStarted>,
    },
    TraceStop {
        reply: Reply<()>,
    },
    Deploy {
        prepared: Box<Prepared>,
        patience: DeployPatience,
        progress: Progress,
        reply: Reply<Deployed>,
    },
    Restart {
        how: Restart,
        reply: Reply<()>,
    },
    /// Hold the program between two cycles, or let it go on.
    Pause {
        pause: bool,
        reply: Reply<()>,
    },
    /// The symbols of the build that runs, and its generation.
    Symbols {
        reply: Reply<(u32, Box<quietcore_program::Symbols>)>,
    },
}

impl Request {
    /// Answers that the partition does not run now.
    pub(crate) fn refuse_not_running(self, partition: &str) {
        let refusal = ControlError::new(
            ErrorKind::NotNow,
            partition,
            "the partition does not run now",
            "look with `quietcore ps`; start it with `quietcore restart`",
        );
        // Whoever asked may have gone meanwhile.
        let _ = match self {
            Self::Open { reply } => reply.send(Err(refusal)).is_ok(),
            Self::Write { reply, .. } => reply.send(Err(refusal)).is_ok(),
            Self::TraceStart { reply, .. } => reply.send(Err(refusal)).is_ok(),
            Self::TraceStop { reply } => reply.send(Err(refusal)).is_ok(),
            Self::Deploy { reply, .. } => reply.send(Err(refusal)).is_ok(),
            Self::Restart { reply, .. } => reply.send(Err(refusal)).is_ok(),
            Self::Pause { reply, .. } => reply.send(Err(refusal)).is_ok(),
            Self::Symbols { reply } => reply.send(Err(refusal)).is_ok(),
        };
    }
}
