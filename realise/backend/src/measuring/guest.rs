//! A guest that measures under another hypervisor than ours: the part that all of them share.
//!
//! Such a guest has no program of a site, no channels and no orders: it takes its job from the
//! post, measures into the exchange, and ends.

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use quietcore_boot::port;
use quietcore_boot::post::Poster;
use quietcore_exchange::Region;
use quietcore_microvm::devices::console::ConsoleReader;
use quietcore_probe::guest::hypervisor::Look;
use quietcore_probe::guest::runner::{GuestError, LOOK_EVERY, PATIENCE};
use quietcore_units::ByteSize;

use crate::guest::control::Control;

/// A guest that measures has no programs, and no memory for their code.
pub(crate) const NO_CODE: ByteSize = ByteSize::new(0);
/// The most bytes that are kept of what it says.
const SAID_BYTES_MAX: usize = 16 << 10;

/// The words of a guest so far.
#[derive(Debug)]
pub(crate) struct Said {
    console: ConsoleReader,
    text: String,
}

impl Said {
    /// Takes the words of a guest from its console.
    pub(crate) fn new(console: ConsoleReader) -> Self {
        Self { console, text: String::new() }
    }

    /// Takes what was said since.
    pub(crate) fn listen(&mut self) {
        for line in self.console.lines() {
            self.keep(&line);
        }
    }

    /// Returns all that was said, by a guest that says no more.
    pub(crate) fn all(mut self) -> String {
        self.listen();
        if let Some(rest) = self.console.rest() {
            self.keep(&rest);
        }
        self.text
    }

    fn keep(&mut self, line: &str) {
        if self.text.len() + line.len() < SAID_BYTES_MAX {
            // Writing to a text does not fail.
            let _ = writeln!(self.text, "{line}");
        }
    }
}

/// Posts the job of a guest, before it begins.
///
/// # Errors
/// Returns [`GuestError::Job`] when it is too long.
pub(crate) fn post(control: &Control, job: &[u8]) -> Result<(), GuestError> {
    let poster = Poster::new(control.post());
    let mut poster = poster.expect("the control memory has room for a post");
    poster.post(job)?;
    Ok(())
}

/// Looks at a guest until `ended` returns how it has ended, and asks it to end once `look` returns
/// `true`. Returns `None` if it does not end within `takes`, or soon after it was asked to.
pub(crate) fn watch<E>(
    region: Region<'_>,
    takes: Duration,
    look: Look<'_>,
    mut ended: impl FnMut() -> Option<E>,
) -> Option<E> {
    let mut end = Instant::now() + takes + PATIENCE;
    let mut is_told = false;
    loop {
        if let Some(how) = ended() {
            return Some(how);
        }
        if look(&region) && !is_told {
            region.request_stop();
            is_told = true;
            end = Instant::now() + PATIENCE;
        }
        if Instant::now() > end {
            return None;
        }
        std::thread::sleep(LOOK_EVERY);
    }
}

/// Judges the end of a guest by the status that it left, if any: only one that has measured ends
/// well. `otherwise` says how it ended where it left none that there is.
///
/// # Errors
/// Returns [`GuestError::Ended`], with what it has `said`.
pub(crate) fn judge(
    status: Option<u8>,
    region: Region<'_>,
    control: &Control,
    otherwise: impl FnOnce() -> String,
    said: String,
) -> Result<(), GuestError> {
    let has_measured = || region.task(0).is_some_and(|first| first.state().has_ended());
    let how = match status {
        Some(port::ENDED) if has_measured() => return Ok(()),
        Some(port::REFUSED) => "refused its job".to_owned(),
        Some(port::CRASHED) => match control.crash_record() {
            Some(crash) => format!("crashed: {} at {:#x}", crash.what(), crash.instruction),
            None => "crashed".to_owned(),
        },
        _ => otherwise(),
    };
    Err(GuestError::Ended { how, said })
}

#[cfg(test)]
mod tests {
    use quietcore_exchange::{Recorder, Shape, TaskState};
    use quietcore_microvm::devices::console::Console;
    use quietcore_process::exchange::Exchange;
    use quietcore_units::Nanos;

    use super::*;

    fn ended(exchange: &Exchange, status: Option<u8>) -> Result<(), String> {
        let control = Control::create(NO_CODE).unwrap();
        let otherwise = || "ended unexpectedly".to_owned();
        let judged = judge(status, exchange.region(), &control, otherwise, "words".to_owned());
        judged.map_err(|error| error.to_string())
    }

    #[test]
    fn only_a_guest_that_has_measured_ends_well() {
        let exchange = Exchange::create(&Shape::of_tasks(1)).unwrap();
        let unexpected = Err("the guest ended unexpectedly: words".to_owned());
        assert_eq!(ended(&exchange, Some(port::ENDED)), unexpected, "QEMU's own errors do so");
        let task = exchange.region().task(0).unwrap();
        Recorder::new(task, Nanos::from_secs(1), 1).set_state(TaskState::Finished);
        assert_eq!(ended(&exchange, Some(port::ENDED)), Ok(()));
        assert_eq!(ended(&exchange, None), unexpected);
        let refused = ended(&exchange, Some(port::REFUSED)).unwrap_err();
        assert_eq!(refused, "the guest refused its job: words");
        assert!(ended(&exchange, Some(port::CRASHED)).unwrap_err().contains("crashed"));
    }

    #[test]
    fn a_guest_is_asked_to_end_once_and_heard() {
        let exchange = Exchange::create(&Shape::of_tasks(1)).unwrap();
        let region = exchange.region();
        let (mut looks, mut asked) = (0, 0);
        let mut look = |_: &Region<'_>| {
            looks += 1;
            looks >= 2
        };
        let ended = || {
            asked += u32::from(region.stop_requested());
            (asked == 2).then_some("ended")
        };
        assert_eq!(watch(region, Duration::from_secs(60), &mut look, ended), Some("ended"));
        assert_eq!(looks, 3, "it is looked at until it has ended");
    }

    #[test]
    fn what_a_guest_says_is_kept_to_its_last_word_and_has_a_limit() {
        let (console, reader) = Console::new().unwrap();
        let mut said = Said::new(reader);
        console.say(b"first\nsec");
        said.listen();
        console.say(b"ond");
        assert_eq!(said.all(), "first\nsecond\n");
        let (console, reader) = Console::new().unwrap();
        let mut said = Said::new(reader);
        for _ in 0..100 {
            console.say(&[b'x'; 500]);
            console.say(b"\n");
            said.listen();
        }
        assert!(said.all().len() <= SAID_BYTES_MAX);
    }
}
