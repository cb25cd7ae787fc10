//! Collects the output of a partition's program.
//!
//! A program that prints makes a system call for each line, and a real-time program should not. It
//! is neither refused nor held up for it: its output goes through a pipe that takes no more than it
//! has room for, and a thread of the host counts it and keeps lines until somebody takes them. A
//! program that prints without end is read at a limited rate, and the rest of its output is lost.

use std::collections::VecDeque;
use std::fmt;
use std::io::Read;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use quietcore_wording::plural;

/// Limit of the lines that are kept until they are taken.
const LINES_MAX: usize = 64;
/// Limit of the bytes that are kept of a line.
const LINE_BYTES_MAX: usize = 240;
/// Limit of the bytes that are read at once.
const READ_BYTES: usize = 16 << 10;
/// Pause after a read of [`READ_BYTES`], so that no more than 1.6 MB/s is read.
const BREATH: Duration = Duration::from_millis(10);
/// Longest wait for the end of a line; what has come until then counts as a line.
const LINE_END_MAX: Duration = Duration::from_millis(500);
/// Longest wait for the rest when the process has ended: one that it forked may hold the pipe.
const REST_MAX: Duration = Duration::from_millis(100);

/// The amount that a program has printed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Printed {
    /// Bytes that have been read.
    pub bytes: u64,
    /// Lines among them, including one that has not ended.
    pub lines: u64,
}

impl Printed {
    /// Returns `true` if it printed nothing.
    pub fn is_empty(&self) -> bool {
        self.bytes == 0
    }
}

impl fmt::Display for Printed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { bytes, lines } = self;
        write!(f, "{lines} line{}, {bytes} byte{}", plural(*lines), plural(*bytes))
    }
}

/// Lines that a program has printed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PrintedLines {
    /// The lines that were kept, each at most 240 bytes long.
    pub lines: Vec<String>,
    /// Number of lines beside them that were not kept.
    pub left_out: u64,
}

/// Collects the output that comes through a pipe, in a thread of its own. The thread ends with the
/// last process that prints.
#[derive(Debug)]
pub(super) struct Prints(Arc<Mutex<Kept>>);

impl Prints {
    pub(super) fn collect(pipe: impl Read + Send + 'static) -> Self {
        let kept = Arc::<Mutex<Kept>>::default();
        let own = Arc::clone(&kept);
        thread::spawn(move || collect(pipe, &own));
        Self(kept)
    }

    pub(super) fn figures(&self) -> Printed {
        let kept = lock(&self.0);
        let begun = u64::from(kept.has_begun);
        Printed { bytes: kept.bytes, lines: kept.ended_lines + begun }
    }

    pub(super) fn take(&self) -> PrintedLines {
        lock(&self.0).take(Instant::now())
    }

    /// Waits at most [`REST_MAX`] for the rest of what an ended process has printed.
    pub(super) fn wait_for_rest(&self) {
        let end = Instant::now() + REST_MAX;
        while !lock(&self.0).has_ended && Instant::now() < end {
            thread::sleep(REST_MAX / 50);
        }
    }
}

fn lock(kept: &Mutex<Kept>) -> MutexGuard<'_, Kept> {
    kept.lock().unwrap_or_else(PoisonError::into_inner)
}

fn collect(mut pipe: impl Read, kept: &Mutex<Kept>) {
    let mut buffer = [0; READ_BYTES];
    while let Ok(length @ 1..) = pipe.read(&mut buffer) {
        lock(kept).add(&buffer[..length], Instant::now());
        if length == READ_BYTES {
            thread::sleep(BREATH);
        }
    }
    lock(kept).has_ended = true;
}

#[derive(Debug, Default)]
struct Kept {
    bytes: u64,
    ended_lines: u64,
    lines: VecDeque<String>,
    left_out: u64,
    /// The line that has not ended, cut to [`LINE_BYTES_MAX`].
    begun: Vec<u8>,
    has_begun: bool,
    added: Option<Instant>,
    has_ended: bool,
}

impl Kept {
    fn add(&mut self, more: &[u8], now: Instant) {
        self.bytes += more.len() as u64;
        self.added = Some(now);
        for piece in more.split_inclusive(|byte| *byte == b'\n') {
            let (text, ends) = match piece {
                [text @ .., b'\n'] => (text, true),
                text => (text, false),
            };
            let room = LINE_BYTES_MAX - self.begun.len();
            self.begun.extend(&text[..text.len().min(room)]);
            self.has_begun = true;
            if ends {
                self.end_line();
            }
        }
    }

    fn end_line(&mut self) {
        self.has_begun = false;
        self.ended_lines += 1;
        let line = String::from_utf8_lossy(&self.begun).trim_end().to_owned();
        self.begun.clear();
        if self.lines.len() < LINES_MAX {
            self.lines.push_back(line);
        } else {
            self.left_out += 1;
        }
    }

    fn take(&mut self, now: Instant) -> PrintedLines {
        let is_old = |added: Instant| now.saturating_duration_since(added) >= LINE_END_MAX;
        if self.has_begun && (self.has_ended || self.added.is_some_and(is_old)) {
            self.end_line();
        }
        PrintedLines {
            lines: self.lines.drain(..).collect(),
            left_out: std::mem::take(&mut self.left_out),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kept(text: &str, now: Instant) -> Kept {
        let mut kept = Kept::default();
        kept.add(text.as_bytes(), now);
        kept
    }

    #[test]
    fn what_is_printed_comes_in_lines_and_is_counted() {
        let now = Instant::now();
        let mut kept = kept("step 1 a\nstep 2", now);
        assert_eq!(kept.take(now).lines, ["step 1 a"]);
        kept.add(b" b\n\n", now);
        assert_eq!(kept.take(now).lines, ["step 2 b", ""]);
        assert_eq!((kept.bytes, kept.ended_lines), (19, 3));
        assert_eq!(kept.take(now), PrintedLines::default());
    }

    #[test]
    fn a_line_that_is_not_ended_is_one_after_a_while_or_at_the_end() {
        let now = Instant::now();
        let mut kept = kept("a", now);
        assert!(kept.take(now).lines.is_empty());
        assert_eq!(kept.take(now + LINE_END_MAX).lines, ["a"]);
        kept.add(b"b", now);
        kept.has_ended = true;
        assert_eq!(kept.take(now).lines, ["b"]);
    }

    #[test]
    fn however_much_is_printed_little_is_kept() {
        let now = Instant::now();
        let mut kept = kept(&format!("{}\n", "x".repeat(1 << 20)), now);
        (0..1000).for_each(|_| kept.add(b"again\n", now));
        let taken = kept.take(now);
        assert_eq!((taken.lines.len(), taken.left_out), (LINES_MAX, 1001 - LINES_MAX as u64));
        assert_eq!(taken.lines[0].len(), LINE_BYTES_MAX);
        assert_eq!(kept.ended_lines, 1001);
    }

    #[test]
    fn figures_are_said_in_words() {
        let prints = Prints(Arc::new(Mutex::new(kept("one\ntwo", Instant::now()))));
        assert_eq!(prints.figures().to_string(), "2 lines, 7 bytes");
        assert!(Printed::default().is_empty() && !prints.figures().is_empty());
    }
}
