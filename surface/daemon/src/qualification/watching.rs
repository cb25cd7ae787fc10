//! Streams of a run: its remarks and progress as they come, and its files.

use std::fs::File;
use std::io::{self, Read as _};
use std::time::{Duration, Instant};

use quietcore_api::v1;
use quietcore_api::v1::watch_run_response::Content;
use quietcore_campaign::RunProgress;
use tonic::Status;

use super::kept::{RunError, RunRecord, Runs};
use crate::failure::CallError;
use crate::following::StreamEnd;

/// Time between two looks at a run.
const LOOK: Duration = Duration::from_millis(200);
/// The longest line that is passed on, in bytes; a longer one is passed on in parts.
const LINE_BYTES_MAX: usize = 4096;
/// Bytes that are read or sent at once.
const CHUNK_BYTES: usize = 256 << 10;

/// A log that is read as it grows.
struct Lines {
    log: File,
    waiting: Vec<u8>,
}

impl Lines {
    /// Returns the next whole lines, as many as one read has; none where there is nothing new.
    fn next(&mut self, is_over: bool) -> io::Result<Vec<String>> {
        let mut bytes = vec![0; CHUNK_BYTES];
        let read = self.log.read(&mut bytes)?;
        self.waiting.extend_from_slice(&bytes[..read]);
        let mut lines = Vec::new();
        while let Some(length) = self.line(is_over && read == 0) {
            let line: Vec<u8> = self.waiting.drain(..length).collect();
            lines.push(String::from_utf8_lossy(&line).trim_end_matches('\n').to_owned());
        }
        Ok(lines)
    }

    /// Returns the length of the next line with its end; the last line may have none.
    fn line(&self, is_last: bool) -> Option<usize> {
        let within = &self.waiting[..self.waiting.len().min(LINE_BYTES_MAX)];
        match within.iter().position(|byte| *byte == b'\n') {
            Some(end) => Some(end + 1),
            None if within.len() == LINE_BYTES_MAX || (is_last && !within.is_empty()) => {
                Some(within.len())
            }
            None => None,
        }
    }
}

fn message(content: Content) -> v1::WatchRunResponse {
    v1::WatchRunResponse { content: Some(content) }
}

fn progress(told: RunProgress) -> v1::RunProgress {
    v1::RunProgress {
        profile: told.profile,
        partitions: told.partitions,
        step: told.step,
        begun: told.begun,
        fraction: told.fraction,
        left_ns: told.left_ns,
        worst_ns: told.worst_ns,
    }
}

/// Feeds a stream with the remarks of a run and its progress, and ends it with the run.
pub(crate) fn watch(runs: &Runs, record: RunRecord, end: StreamEnd<v1::WatchRunResponse>) {
    match follow(runs, record, &end) {
        Ok(()) => {}
        Err(error) => end.fail(error),
    }
}

fn follow(
    runs: &Runs,
    record: RunRecord,
    end: &StreamEnd<v1::WatchRunResponse>,
) -> Result<(), CallError> {
    let number = record.number;
    let path = runs.folder(number)?.join("log");
    let mut lines = match File::open(&path) {
        Ok(log) => Some(Lines { log, waiting: Vec::new() }),
        // The daemon was killed before it could start the program.
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(error) => return Err(RunError::at(&path)(error).into()),
    };
    let mut last = None;
    loop {
        // The order matters: what the run says before its end is read after that.
        let is_over = !runs.goes_on(number)?;
        while let Some(lines) = &mut lines {
            let new = lines.next(is_over).map_err(RunError::at(&path))?;
            if new.is_empty() {
                break;
            }
            if !end.send_all(new.into_iter().map(|line| message(Content::Line(line)))) {
                return Ok(());
            }
        }
        let told = runs.progress(number)?;
        if told != last {
            let now = told.clone().map(|told| message(Content::Progress(progress(told))));
            if !end.send_all(now) {
                return Ok(());
            }
            last = told;
        }
        if is_over {
            let run = runs.describe(record, true)?;
            end.send_all([message(Content::Ended(run))]);
            return Ok(());
        }
        if !end.sleep_until(Instant::now() + LOOK) {
            return Ok(());
        }
    }
}

/// Feeds a stream with a file.
pub(crate) fn send_file(mut file: File, end: StreamEnd<v1::FetchFileResponse>) {
    loop {
        let mut chunk = vec![0; CHUNK_BYTES];
        match file.read(&mut chunk) {
            Ok(0) => return,
            Ok(read) => {
                chunk.truncate(read);
                if !end.send_all([v1::FetchFileResponse { chunk }]) {
                    return;
                }
            }
            Err(error) => return end.fail(Status::internal(format!("it can't be read: {error}"))),
        }
    }
}
