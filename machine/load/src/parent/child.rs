//! One worker process as its parent holds it: started, asked, listened to, ended and reaped.

use std::ffi::OsString;
use std::io::{self, Read};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{ChildStderr, ChildStdin, Command, ExitStatus, Stdio};

use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};

/// Bytes of a worker's standard error that are kept. More is read and thrown away.
const STDERR_KEPT: usize = 4096;
/// Bytes that are read in one go, so that a worker that writes without end can't hold up its
/// parent. It is also what a pipe holds; a worker that fills it waits, does no work, and is seen as
/// stalled.
const STDERR_READ: usize = 64 << 10;

/// A worker process. Dropping it without [`end`](Self::end) closes its pipe, so it ends anyway, but
/// leaves a zombie.
#[derive(Debug)]
pub(crate) struct Child {
    process: std::process::Child,
    /// Closed to ask the worker to end.
    stdin: Option<ChildStdin>,
    stderr: Option<ChildStderr>,
    kept: Vec<u8>,
    ended: Option<ExitStatus>,
}

impl Child {
    /// Starts `program` in a process group of its own, so that Ctrl-C on the terminal reaches the
    /// parent alone and the parent decides.
    pub(crate) fn spawn(program: &Path, arguments: &[OsString]) -> io::Result<Self> {
        let mut process = Command::new(program)
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .process_group(0)
            .spawn()?;
        let mut child = Self {
            stdin: process.stdin.take(),
            stderr: process.stderr.take(),
            process,
            kept: Vec::new(),
            ended: None,
        };
        if let Err(error) = child.listen_without_waiting() {
            child.kill();
            let _ = child.process.wait();
            return Err(error);
        }
        Ok(child)
    }

    fn listen_without_waiting(&self) -> io::Result<()> {
        if let Some(stderr) = &self.stderr {
            let flags = fcntl_getfl(stderr)?;
            fcntl_setfl(stderr, flags | OFlags::NONBLOCK)?;
        }
        Ok(())
    }

    /// The number of the process.
    pub(crate) fn process_id(&self) -> u32 {
        self.process.id()
    }

    /// Returns the exit status of the worker, or `None` while it lives. Reaps it.
    pub(crate) fn ended(&mut self) -> Option<ExitStatus> {
        if self.ended.is_none() {
            self.ended = match self.process.try_wait() {
                Ok(status) => status,
                // There is no such child any more. Where the parent was started with SIGCHLD
                // ignored, the kernel reaps, and how the worker ended is lost.
                Err(_) => Some(ExitStatus::default()),
            };
        }
        self.ended
    }

    /// Asks the worker to end; it does so within 100 ms unless it is stopped.
    pub(crate) fn ask_to_end(&mut self) {
        self.stdin = None;
    }

    /// Ends the worker by force.
    pub(crate) fn kill(&mut self) {
        if self.ended().is_none() {
            // The process is our child and not yet reaped, so the number can't mean another one.
            let _ = self.process.kill();
        }
    }

    /// The beginning of what the worker wrote on standard error so far, for people to read.
    pub(crate) fn stderr(&mut self) -> String {
        self.listen();
        let mut clean: String = String::from_utf8_lossy(&self.kept)
            .chars()
            .map(|c| if c.is_control() { ' ' } else { c })
            .collect();
        clean.truncate(clean.trim_end().len());
        if self.kept.len() == STDERR_KEPT {
            clean.push_str(" …");
        }
        clean
    }

    fn listen(&mut self) {
        let Some(stderr) = &mut self.stderr else {
            return;
        };
        let mut buffer = [0; 4096];
        let mut read_so_far = 0;
        while read_so_far < STDERR_READ {
            match stderr.read(&mut buffer) {
                Ok(0) => {
                    self.stderr = None;
                    return;
                }
                Ok(count) => {
                    let room = STDERR_KEPT - self.kept.len();
                    self.kept.extend_from_slice(&buffer[..count.min(room)]);
                    read_so_far += count;
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                // Nothing there now, or nothing to be had ever.
                Err(_) => return,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::thread;
    use std::time::{Duration, Instant};

    fn shell(script: &str) -> Child {
        Child::spawn(Path::new("/bin/sh"), &["-c".into(), script.into()]).unwrap()
    }

    fn wait_for_end(child: &mut Child) -> ExitStatus {
        let begin = Instant::now();
        loop {
            if let Some(status) = child.ended() {
                return status;
            }
            assert!(begin.elapsed() < Duration::from_secs(10), "it never ended");
            thread::sleep(Duration::from_millis(2));
        }
    }

    #[test]
    fn a_child_ends_when_its_input_closes_and_its_words_are_kept() {
        let mut child = shell("printf 'first\\nsecond\\033' >&2; read line; exit 7");
        assert!(child.ended().is_none());
        child.ask_to_end();
        assert_eq!(wait_for_end(&mut child).code(), Some(7));
        assert_eq!(child.stderr(), "first second");
    }

    #[test]
    fn a_child_that_talks_without_end_is_bounded() {
        let mut child = shell("while :; do echo talk >&2; done");
        let begin = Instant::now();
        while child.stderr().len() < STDERR_KEPT && begin.elapsed() < Duration::from_secs(10) {
            thread::sleep(Duration::from_millis(2));
        }
        assert_eq!(child.kept.len(), STDERR_KEPT);
        child.kill();
        assert!(!wait_for_end(&mut child).success());
    }
}
