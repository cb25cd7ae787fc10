//! `quietcore up --detach`: the same program once more, away from the terminal.
//!
//! The child writes its output into a file beside the site's state. The parent shows that until the
//! partitions run or the child has given up, so that a mistake in the site file is seen as usual.

mod replacing;

use std::fs::{self, File};
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::Ordering;
use std::thread;
use std::time::{Duration, Instant};

use quietcore_process::descriptors::replace_outputs;
use quietcore_supervisor::client::Client;
use quietcore_supervisor::control::Activity;
use quietcore_supervisor::log_file;
use quietcore_supervisor::places::{PlaceError, Places};
use rustix::process::{Pid, Signal, kill_process, setsid};

use crate::arguments::Up;
use crate::command;
use crate::files;
use crate::machine;
use crate::status::{Failure, Status};

/// Name of the file that the child writes into.
const LOG: &str = "up.log";
/// The largest size of the file in bytes; it then becomes `up.log.1`, in place of the one before.
const LOG_BYTES_MAX: u64 = 4 << 20;
/// Time between two looks at the child.
const LOOK: Duration = Duration::from_millis(50);
/// The longest wait for partitions to start. They are left starting after it, since a fieldbus may
/// never come.
const START_MAX: Duration = Duration::from_secs(10);

/// The file for the output of a site in the background can't be opened.
#[derive(Debug, thiserror::Error)]
#[error(
    "`{}` can't be opened for writing; make that possible, or set `QUIETCORE_STATE_DIR` to a \
     folder of yours",
    path.display()
)]
struct LogError {
    path: PathBuf,
    source: io::Error,
}

/// Brings a site up in the background, in place of one of its name that runs if that is asked for.
pub(super) fn run(request: &Up) -> Result<Status, Failure> {
    let file = files::read_site(&request.site)?;
    let name = file.site.name().to_owned();
    let places = Places::of_environment()?;
    let running = places.running()?.into_iter().find(|site| site.name == name);
    match running {
        None => bring_up(request, &name, &places),
        Some(running) if request.replace => {
            let before = replacing::make_way(request, &file.site, running)?;
            let up = bring_up(request, &name, &places);
            up.map_err(|failure| replacing::bring_back(before, &name, &places, &failure))
        }
        Some(running) => {
            let pid = running.description.map(|described| described.pid);
            Err(PlaceError::AlreadyRunning { site: name, pid }.into())
        }
    }
}

/// Starts the child and waits until the site runs.
fn bring_up(request: &Up, name: &str, places: &Places) -> Result<Status, Failure> {
    let stop = machine::stop_flag()?;
    let path = places.state_folder(name, &request.site)?.join(LOG);
    let cannot = |source| LogError { path: path.clone(), source };
    let log = log_file::open(&path, LOG_BYTES_MAX).map_err(cannot)?;
    // Opened apart: copies of one open file share their place in it.
    let mut said = File::open(&path).map_err(cannot)?;
    said.seek(SeekFrom::End(0))?;
    let mut child = start(request, &log)?;
    let mut patience_ends = None;
    loop {
        follow(&mut said)?;
        if let Some(status) = child.try_wait()? {
            follow(&mut said)?;
            let path = path.display();
            return Err(Failure::new(format_args!(
                "quietcore: `{name}` did not come up ({status}); see `{path}`"
            )));
        }
        if stop.load(Ordering::Relaxed) {
            end(&mut child);
            return Err(Failure::new("quietcore: interrupted"));
        }
        let answers = places.running()?.into_iter().any(|site| {
            site.name == name && site.description.is_some_and(|it| it.pid == child.id())
        });
        if answers {
            let end = *patience_ends.get_or_insert_with(|| Instant::now() + START_MAX);
            let starting = starting(places, name);
            if !starting.is_empty() && Instant::now() < end {
                thread::sleep(LOOK);
                continue;
            }
            follow(&mut said)?;
            for partition in starting {
                crate::terminal::say(format_args!(
                    "{partition}: still starting; look with `quietcore ps`"
                ));
            }
            let (pid, path) = (child.id(), path.display());
            command::print_lines(&format!("{name}: up, process {pid}; it writes to {path}\n"))?;
            return Ok(Status::Done);
        }
        thread::sleep(LOOK);
    }
}

/// Returns the partitions that neither run yet nor have failed.
fn starting(places: &Places, site: &str) -> Vec<String> {
    let list = Client::connect(places, Some(site)).and_then(|mut client| client.list());
    let all = list.unwrap_or_default().into_iter();
    all.filter(|one| one.state == Activity::Starting).map(|one| one.name).collect()
}

fn start(request: &Up, log: &File) -> Result<Child, Failure> {
    let mut command = Command::new(std::env::current_exe()?);
    command.arg("up").arg(&request.site).arg("--detached");
    for (is_asked, option) in [
        (request.until_stopped, "--until-stopped"),
        (request.cold, "--cold"),
        (request.origin, "--origin"),
    ] {
        command.args(is_asked.then_some(option));
    }
    command.stdin(Stdio::null()).stdout(log.try_clone()?).stderr(log.try_clone()?);
    Ok(command.spawn()?)
}

/// The log of a site in the background, as the site's own process sees it.
pub(super) struct Log(PathBuf);

impl Log {
    /// Finds the log of a site, which standard output and error already go to.
    pub(super) fn of(places: &Places, site: &str, site_file: &Path) -> Result<Self, PlaceError> {
        Ok(Self(places.state_folder(site, site_file)?.join(LOG)))
    }

    /// Begins the log anew if it is long; if that fails, the old one is continued.
    pub(super) fn keep_short(&self) {
        if let Some(file) = next(&self.0, LOG_BYTES_MAX) {
            let _ = replace_outputs(&file);
        }
    }
}

/// Returns a new log in place of one that has reached `limit` bytes.
fn next(path: &Path, limit: u64) -> Option<File> {
    let is_long = fs::metadata(path).is_ok_and(|found| found.len() >= limit);
    is_long.then(|| log_file::open(path, limit).ok()).flatten()
}

/// Shows the child's output since the last call.
fn follow(said: &mut File) -> io::Result<()> {
    let mut text = Vec::new();
    said.read_to_end(&mut text)?;
    for line in String::from_utf8_lossy(&text).lines() {
        crate::terminal::say(line);
    }
    Ok(())
}

/// Ends a child in an orderly way.
fn end(child: &mut Child) {
    if let Some(pid) = Pid::from_raw(child.id().cast_signed()) {
        let _ = kill_process(pid, Signal::TERM);
    }
    let _ = child.wait();
}

/// Leaves the terminal's session, so that the site outlives it. A process that already leads its
/// group can't leave, and need not.
pub(super) fn leave_terminal() {
    let _ = setsid();
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    #[test]
    fn a_long_log_begins_anew_and_the_one_before_is_kept() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(LOG);
        assert!(next(&path, 100).is_none(), "there is none");
        let mut file = log_file::open(&path, 100).unwrap();
        for text in ["first", "second"] {
            file.write_all(text.as_bytes()).unwrap();
            assert!(next(&path, 100).is_none(), "it is short");
            file.write_all(&[b'x'; 100]).unwrap();
            file = next(&path, 100).unwrap();
            assert_eq!(fs::read(&path).unwrap(), b"");
            assert!(fs::read(log_file::older(&path)).unwrap().starts_with(text.as_bytes()));
        }
    }
}
