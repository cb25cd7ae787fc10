//! QEMU's monitor (QMP): lines of JSON over a socket, as few as are needed to find the processor's
//! thread and to let the guest go.
//!
//! This is no client of a library: those known read answers of any length, and wait for ever. What
//! QEMU says has limits here, and is looked at for nothing else than what was asked.

use std::io::{self, Write as _};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use quietcore_units::ByteSize;
use serde_json::{Value, json};

use crate::lines::Lines;

/// Longest answer of QEMU.
const ANSWER_BYTES_MAX: ByteSize = ByteSize::new(64 << 10);
/// Longest wait for an answer: QEMU may still be starting, on a machine that has much to do.
const PATIENCE: Duration = Duration::from_secs(15);
/// Most lines before an answer, or in one look: unrequested events.
const EVENTS_MAX: usize = 100;

/// Why QEMU was not understood.
#[derive(Debug, thiserror::Error)]
pub(super) enum MonitorError {
    /// It can't be reached, or said nothing for 15 s.
    #[error("QEMU's monitor does not answer `{asked}`")]
    Silent {
        /// The command that it was asked last.
        asked: &'static str,
        /// The error of the socket.
        #[source]
        source: io::Error,
    },
    /// It refused a command.
    #[error("QEMU refuses `{asked}`: {why}")]
    Refused {
        /// The command that it was asked last.
        asked: &'static str,
        /// The first 200 characters of its description.
        why: String,
    },
    /// It answered something else than documented.
    #[error("QEMU's answer to `{asked}` is not as documented")]
    Nonsense {
        /// The command that it was asked last.
        asked: &'static str,
    },
}

/// The host's end of the monitor.
#[derive(Debug)]
pub(super) struct Monitor {
    commands: UnixStream,
    answers: Lines<UnixStream>,
}

impl Monitor {
    /// Makes a monitor that QEMU is to have the other end of.
    ///
    /// # Errors
    /// Those of the operating system.
    pub(super) fn new() -> io::Result<(Self, OwnedFd)> {
        let (own, other) = UnixStream::pair()?;
        let answers = Lines::new(own.try_clone()?, ANSWER_BYTES_MAX);
        Ok((Self { commands: own, answers }, other.into()))
    }

    /// Waits for QEMU's greeting and agrees on the protocol.
    ///
    /// # Errors
    /// [`MonitorError`].
    pub(super) fn greet(&mut self) -> Result<(), MonitorError> {
        const GREETING: &str = "QMP";
        let greeting = self.line(GREETING, Instant::now() + PATIENCE)?;
        if greeting.get(GREETING).is_none() {
            return Err(MonitorError::Nonsense { asked: GREETING });
        }
        self.ask("qmp_capabilities").map(drop)
    }

    /// Returns the number of the thread that runs the guest's one processor.
    ///
    /// # Errors
    /// [`MonitorError`].
    pub(super) fn processor_thread(&mut self) -> Result<u32, MonitorError> {
        self.processor_threads(1).map(|threads| threads[0])
    }

    /// Returns the numbers of the threads that run the guest's processors, of which there are
    /// `count`, in their order.
    ///
    /// # Errors
    /// [`MonitorError`].
    pub(super) fn processor_threads(&mut self, count: usize) -> Result<Vec<u32>, MonitorError> {
        const ASKED: &str = "query-cpus-fast";
        let answer = self.ask(ASKED)?;
        let field = |processor: &Value, name: &str| processor.get(name).and_then(Value::as_u64);
        let mut found: Vec<(u64, u32)> = Vec::new();
        for processor in answer.as_array().into_iter().flatten() {
            let thread = field(processor, "thread-id").and_then(|it| u32::try_from(it).ok());
            let index = field(processor, "cpu-index");
            let both = index.zip(thread).filter(|(_, thread)| *thread > 0);
            found.push(both.ok_or(MonitorError::Nonsense { asked: ASKED })?);
        }
        found.sort_unstable();
        let is_each = found.iter().map(|(index, _)| *index).eq(0..count as u64);
        if !is_each || count == 0 {
            return Err(MonitorError::Nonsense { asked: ASKED });
        }
        Ok(found.into_iter().map(|(_, thread)| thread).collect())
    }

    /// Has the guest's processor run.
    ///
    /// # Errors
    /// [`MonitorError`].
    pub(super) fn resume(&mut self) -> Result<(), MonitorError> {
        self.ask("cont").map(drop)
    }

    /// Asks the guest to shut down, as the button of a machine does. What it makes of that is its
    /// own affair.
    ///
    /// # Errors
    /// [`MonitorError`].
    pub(super) fn shut_down(&mut self) -> Result<(), MonitorError> {
        self.ask("system_powerdown").map(drop)
    }

    /// Reads the events that have come, without waiting. Returns `true` if QEMU has stopped the
    /// guest, which it does when KVM can't run it any further.
    pub(super) fn has_stopped(&mut self) -> bool {
        for _ in 0..EVENTS_MAX {
            let Ok(Some(line)) = self.answers.next(Duration::ZERO) else { return false };
            let event: Option<Value> = serde_json::from_slice(&line).ok();
            let is_stop = |event: &Value| event.get("event").is_some_and(|name| name == "STOP");
            if event.as_ref().is_some_and(is_stop) {
                return true;
            }
        }
        false
    }

    /// Sends a command without arguments and returns its answer.
    fn ask(&mut self, asked: &'static str) -> Result<Value, MonitorError> {
        let mut line = json!({ "execute": asked }).to_string();
        line.push('\n');
        let sent = self.commands.write_all(line.as_bytes());
        sent.map_err(|source| MonitorError::Silent { asked, source })?;
        let end = Instant::now() + PATIENCE;
        for _ in 0..EVENTS_MAX {
            let mut answer = self.line(asked, end)?;
            if let Some(value) = answer.get_mut("return") {
                return Ok(value.take());
            }
            if let Some(error) = answer.get("error") {
                let why = error.get("desc").and_then(Value::as_str).unwrap_or("no reason");
                let why = why.chars().take(200).collect();
                return Err(MonitorError::Refused { asked, why });
            }
            if answer.get("event").is_none() {
                break;
            }
        }
        Err(MonitorError::Nonsense { asked })
    }

    fn line(&mut self, asked: &'static str, end: Instant) -> Result<Value, MonitorError> {
        let silent = |source| MonitorError::Silent { asked, source };
        let line =
            self.answers.next(end.saturating_duration_since(Instant::now())).map_err(silent)?;
        let line = line.ok_or_else(|| silent(io::ErrorKind::UnexpectedEof.into()))?;
        serde_json::from_slice(&line).map_err(|_| MonitorError::Nonsense { asked })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Returns a monitor at whose other end these lines wait.
    fn monitor(lines: &str) -> (Monitor, UnixStream) {
        let (monitor, other) = Monitor::new().unwrap();
        let mut other = UnixStream::from(other);
        other.write_all(lines.as_bytes()).unwrap();
        (monitor, other)
    }

    #[test]
    fn the_thread_is_found_between_events() {
        let (mut monitor, _other) = monitor(
            "{\"QMP\":{\"version\":{}}}\n{\"return\":{}}\n{\"event\":\"RESUME\"}\n\
             {\"return\":[{\"cpu-index\":0,\"thread-id\":4711}]}\n",
        );
        monitor.greet().unwrap();
        assert_eq!(monitor.processor_thread().unwrap(), 4711);
    }

    #[test]
    fn the_threads_are_in_the_order_of_the_processors() {
        let (mut monitor, _other) = monitor(
            "{\"return\":[{\"cpu-index\":1,\"thread-id\":12},\
             {\"cpu-index\":0,\"thread-id\":11}]}\n",
        );
        assert_eq!(monitor.processor_threads(2).unwrap(), [11, 12]);
    }

    #[test]
    fn what_is_not_as_documented_is_refused() {
        for answer in [
            "{\"return\":[]}",
            "{\"return\":[{\"cpu-index\":0,\"thread-id\":1},\
             {\"cpu-index\":1,\"thread-id\":2}]}",
            "{\"return\":[{\"cpu-index\":0,\"thread-id\":-1}]}",
            "{\"return\":[{\"cpu-index\":0,\"thread-id\":0}]}",
            "{\"return\":[{\"cpu-index\":7,\"thread-id\":1}]}",
            "{\"return\":[{\"thread-id\":1}]}",
            "{\"something\":1}",
            "no JSON",
        ] {
            let (mut monitor, _other) = monitor(&format!("{answer}\n"));
            let error = monitor.processor_thread().unwrap_err().to_string();
            assert!(error.contains("not as documented"), "{answer}: {error}");
        }
        let (mut refusing, _other) = monitor("{\"error\":{\"desc\":\"not now\"}}\n");
        assert_eq!(refusing.resume().unwrap_err().to_string(), "QEMU refuses `cont`: not now");
        let (mut stopped, _other) = monitor("{\"event\":\"RTC_CHANGE\"}\nno JSON\n");
        assert!(!stopped.has_stopped());
        let (mut stopped, _other) = monitor("{\"event\":\"RTC_CHANGE\"}\n{\"event\":\"STOP\"}\n");
        assert!(stopped.has_stopped());
        let (mut gone, other) = monitor("");
        drop(other);
        assert!(matches!(gone.greet(), Err(MonitorError::Silent { .. })));
    }

    proptest! {
        #[test]
        fn no_answer_breaks_the_monitor(lines in "[ -~\n]{0,200}") {
            let (mut monitor, other) = monitor(&format!("{lines}\n"));
            other.shutdown(std::net::Shutdown::Write).unwrap();
            let _ = monitor.greet();
            let _ = monitor.processor_thread();
        }
    }
}
