//! `quietcore console`
//!
//! The supervisor keeps what a guest writes in a file of bounded size; this reads it from there.

use std::fs::File;
use std::io::{self, BufRead as _, BufReader, Read as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::thread;
use std::time::Duration;

use quietcore_supervisor::client::{Client, ClientError};
use quietcore_supervisor::log_file;

use super::site;
use super::watch::put;
use crate::arguments::ConsoleRequest;
use crate::machine;
use crate::status::{Failure, Status};
use crate::terminal::visible;

/// Time between two looks for new lines.
const LOOK: Duration = Duration::from_millis(100);
/// Looks at the file between two looks whether the site still runs.
const LOOKS_AT_FILE: u32 = 10;
/// Number of past lines that are shown before those that are followed.
const BEFORE_FOLLOWING: usize = 10;
/// The most bytes of a file that are read; one has 1 MiB and a line at most.
const BYTES_MAX: u64 = 4 << 20;

/// The partition has no console.
#[derive(Debug, thiserror::Error)]
#[error(
    "partition `{partition}` has no console: it runs a program of the site; what that prints is in \
     `quietcore events {partition}`"
)]
struct NoConsole {
    partition: String,
}

pub(in crate::command) fn run(request: &ConsoleRequest) -> Result<Status, Failure> {
    let stop = machine::stop_flag()?;
    let (mut client, partition) = site::of_partition(&request.of)?;
    let (path, vnc) = console_of(&mut client, &partition)?;
    if let Some(socket) = vnc {
        crate::terminal::say(format_args!("its screen: VNC on `{}`", socket.display()));
    }
    let mut follower = Follower { path: path.clone(), read: length(&path) };
    let past = past(&path)?;
    let last = request.last.or(request.follow.then_some(BEFORE_FOLLOWING));
    let skipped = last.map_or(0, |last| past.len().saturating_sub(last));
    let mut heard = put(&lines(&past[skipped..]))?;
    let mut looks: u32 = 0;
    while request.follow && heard && !stop.load(Ordering::Relaxed) {
        thread::sleep(LOOK);
        heard = put(&lines(&follower.news()?))?;
        looks = looks.wrapping_add(1);
        if looks.is_multiple_of(LOOKS_AT_FILE) && client.list().is_err() {
            crate::terminal::say(format_args!("{}: down", client.site()));
            break;
        }
    }
    Ok(Status::Done)
}

/// Returns the file of a partition's console, and the socket of its screen if it has one.
fn console_of(client: &mut Client, partition: &str) -> Result<(PathBuf, Option<PathBuf>), Failure> {
    let partitions = client.list()?;
    let Some(found) = partitions.iter().find(|known| known.name == partition) else {
        let names = partitions.iter().map(|known| known.name.as_str());
        let unknown = quietcore_supervisor::ControlError::no_partition(partition, names);
        return Err(ClientError::Refused(unknown).into());
    };
    let console = found.console.clone();
    let none = || NoConsole { partition: partition.to_owned() };
    Ok((console.ok_or_else(none)?, found.vnc.clone()))
}

/// Reads all lines that are kept, the oldest first; none where the guest has written nothing.
fn past(path: &Path) -> io::Result<Vec<String>> {
    let mut all = Vec::new();
    for path in [log_file::older(path), path.to_owned()] {
        match File::open(&path) {
            Ok(file) => all.extend(read(file)?),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
    }
    Ok(all)
}

fn read(file: impl io::Read) -> io::Result<Vec<String>> {
    let mut lines = BufReader::new(file.take(BYTES_MAX)).split(b'\n');
    let text = |line: Vec<u8>| String::from_utf8_lossy(&line).into_owned();
    lines.try_fold(Vec::new(), |mut all, line| {
        all.push(text(line?));
        Ok(all)
    })
}

fn lines(all: &[String]) -> String {
    all.iter().map(|line| visible(line) + "\n").collect()
}

fn length(path: &Path) -> u64 {
    std::fs::metadata(path).map_or(0, |found| found.len())
}

/// Reads a file of lines as it grows, and begins with the next one where that takes its place.
struct Follower {
    path: PathBuf,
    /// Bytes that have been read.
    read: u64,
}

impl Follower {
    /// Returns the whole lines that have come since the last call.
    fn news(&mut self) -> io::Result<Vec<String>> {
        use std::io::{Seek as _, SeekFrom};
        let length = length(&self.path);
        if length < self.read {
            self.read = 0;
        }
        if length == self.read {
            return Ok(Vec::new());
        }
        let mut file = File::open(&self.path)?;
        file.seek(SeekFrom::Start(self.read))?;
        let mut bytes = Vec::new();
        file.take(BYTES_MAX).read_to_end(&mut bytes)?;
        let whole = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |place| place + 1);
        self.read += whole as u64;
        read(&bytes[..whole])
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_console_is_read_from_both_files_and_followed_into_the_next() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("console.log");
        assert_eq!(past(&path).unwrap(), Vec::<String>::new(), "nothing was written");
        fs::write(log_file::older(&path), "first\n").unwrap();
        fs::write(&path, "second\nhalf").unwrap();
        assert_eq!(past(&path).unwrap(), ["first", "second", "half"]);
        let mut follower = Follower { path: path.clone(), read: 7 };
        assert!(follower.news().unwrap().is_empty(), "the line has not ended");
        fs::write(&path, "second\nhalf a line\n").unwrap();
        assert_eq!(follower.news().unwrap(), ["half a line"]);
        fs::write(&path, "new\n").unwrap();
        assert_eq!(follower.news().unwrap(), ["new"], "it begins anew");
    }
}
