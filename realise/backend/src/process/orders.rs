//! The pipe through which a partition's process gets its job, and orders while it runs.

use std::io::{self, Write as _};
use std::process::ChildStdin;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use serde::Serialize;

/// Longest wait for a process to read a line. One that stands still never reads it, and whoever
/// gives an order has other things to look after, too.
const READ_MAX: Duration = Duration::from_secs(10);

/// The host's end of the pipe; the process ends when it is dropped.
#[derive(Debug)]
pub(super) struct Orders(ChildStdin);

impl Orders {
    /// Takes over the pipe and makes it non-blocking.
    ///
    /// # Errors
    /// When the pipe can't be made non-blocking.
    pub(super) fn new(pipe: ChildStdin) -> io::Result<Self> {
        fcntl_setfl(&pipe, fcntl_getfl(&pipe)? | OFlags::NONBLOCK)?;
        Ok(Self(pipe))
    }

    /// Writes a value as one line of JSON.
    ///
    /// # Errors
    /// When the process has ended or does not read; a line that it has read in part is of no use.
    pub(super) fn give(&self, line: &impl Serialize) -> io::Result<()> {
        self.give_within(line, READ_MAX)
    }

    fn give_within(&self, line: &impl Serialize, limit: Duration) -> io::Result<()> {
        let mut line = serde_json::to_vec(line)?;
        line.push(b'\n');
        let end = Instant::now() + limit;
        let mut left = &*line;
        while !left.is_empty() {
            match (&self.0).write(left) {
                Ok(written) => left = &left[written..],
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    self.wait(end.saturating_duration_since(Instant::now()))?;
                }
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Waits until the pipe takes more.
    fn wait(&self, limit: Duration) -> io::Result<()> {
        let timeout = Timespec::try_from(limit).map_err(io::Error::other)?;
        let mut pipe = [PollFd::new(&self.0, PollFlags::OUT)];
        if poll(&mut pipe, Some(&timeout))? == 0 {
            let what = "the partition's process does not read what it is told";
            return Err(io::Error::new(io::ErrorKind::TimedOut, what));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::io::{BufRead as _, BufReader};
    use std::process::{Command, Stdio};

    use super::*;

    /// Returns more than a pipe holds.
    fn long() -> String {
        "x".repeat(1 << 20)
    }

    #[test]
    fn a_long_line_arrives_whole() {
        let mut child =
            Command::new("cat").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let orders = Orders::new(child.stdin.take().unwrap()).unwrap();
        let output = child.stdout.take().unwrap();
        let reader = std::thread::spawn(move || BufReader::new(output).lines().next());
        orders.give(&long()).unwrap();
        let line = reader.join().unwrap().unwrap().unwrap();
        assert_eq!(line.len(), long().len() + 2);
        drop(orders);
        assert!(child.wait().unwrap().success(), "its input has ended");
    }

    #[test]
    fn a_process_that_reads_nothing_holds_nobody_up() {
        let mut child = Command::new("sleep").arg("60").stdin(Stdio::piped()).spawn().unwrap();
        let orders = Orders::new(child.stdin.take().unwrap()).unwrap();
        let error = orders.give_within(&long(), Duration::from_millis(50)).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
        child.kill().unwrap();
        child.wait().unwrap();
    }
}
