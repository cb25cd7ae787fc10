//! A request to a keeper, and the way for its answer.

#[cfg(any(test, feature = "simulation"))]
use std::sync::mpsc::TryRecvError;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

use quietcore_program::Build;

use crate::control::{Asker, ControlError, Refusal, Verb};
use crate::site::Answered;

/// Limit of the lines of progress that wait for the client.
const PROGRESS_MAX: usize = 8;

/// A program that was built for a deploy.
pub(crate) struct Prepared {
    pub(crate) build: Build,
    /// Folder that it was built from.
    pub(crate) folder: String,
}

/// A request to the keeper of a partition.
pub(crate) struct Request {
    pub(crate) verb: Verb,
    /// Program that a deploy swaps in; built beforehand, since a compiler takes its time.
    pub(crate) prepared: Option<Box<Prepared>>,
    pub(crate) caller: Caller,
}

impl Request {
    /// Answers that the partition does not run now.
    pub(crate) fn refuse_not_running(self, partition: &str) {
        self.caller.refuse(Refusal::NotRunning.at(partition));
    }
}

/// The client that asks, and the way for one answer. Dropping it answers that the site is coming
/// down.
pub(crate) struct Caller {
    pub(crate) by: Asker,
    answer: SyncSender<Result<Answered, ControlError>>,
    lines: SyncSender<String>,
}

impl Caller {
    /// Makes a caller, and the end at which its answer is waited for.
    pub(crate) fn new(by: Asker) -> (Self, Waiting) {
        let (answer, answered) = sync_channel(1);
        let (lines, told) = sync_channel(PROGRESS_MAX);
        (Self { by, answer, lines }, Waiting { answered, told })
    }

    /// Passes on a line of progress; it is dropped if too many wait.
    pub(crate) fn progress(&self, line: String) {
        // The client may have gone, or not listen.
        let _ = self.lines.try_send(line);
    }

    /// Answers the client, which gets one answer.
    pub(crate) fn answer(self, answer: Result<impl Into<Answered>, ControlError>) {
        // The client may have gone meanwhile.
        let _ = self.answer.send(answer.map(Into::into));
    }

    /// Answers that the request is refused.
    pub(crate) fn refuse(self, refusal: ControlError) {
        let _ = self.answer.send(Err(refusal));
    }
}

/// The end at which an answer is waited for.
#[derive(Debug)]
pub(crate) struct Waiting {
    answered: Receiver<Result<Answered, ControlError>>,
    told: Receiver<String>,
}

impl Waiting {
    /// Waits for the answer, and passes on lines of progress meanwhile. Returns `None` if there
    /// will be no answer.
    pub(crate) fn hear(
        self,
        progress: &mut dyn FnMut(&str),
    ) -> Option<Result<Answered, ControlError>> {
        // The channel for lines closes when the request is answered, or given up.
        self.told.iter().for_each(|line| progress(&line));
        self.answered.recv().ok()
    }

    /// Looks for the answer without waiting; returns `Some(None)` if there will be none.
    #[cfg(any(test, feature = "simulation"))]
    pub(crate) fn look(&self) -> Option<Option<Result<Answered, ControlError>>> {
        match self.answered.try_recv() {
            Ok(answer) => Some(Some(answer)),
            Err(TryRecvError::Empty) => None,
            Err(TryRecvError::Disconnected) => Some(None),
        }
    }
}
