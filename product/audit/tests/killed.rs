//! Acknowledged entries are there, whatever ends the process that writes the trail.
//!
//! Method: this program starts itself as a process that appends and tells each number as soon as it
//! is acknowledged; the process is killed, or its disk is full.

use std::env;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;

use quietcore_audit::{Intention, Kind, OnDisk, Outcome, Reader, Retention, Trail, TrailError};
use rustix::process::{Resource, Rlimit, setrlimit};
use serde_json::json;

/// Folder of the trail that a process shall write.
const FOLDER: &str = "QUIETCORE_TEST_AUDIT_FOLDER";
/// The largest file that it may write, in bytes.
const FILE_BYTES: &str = "QUIETCORE_TEST_AUDIT_FILE_BYTES";
/// The number of changes that it makes; [`CHANGES_MAX`] where nothing is said.
const CHANGES: &str = "QUIETCORE_TEST_AUDIT_CHANGES";
/// So many that it ends by itself when its parent has gone.
const CHANGES_MAX: u32 = 20_000;

/// The process that appends; in an ordinary run it has nothing to do.
#[test]
fn appends_where_it_is_told_to() {
    let Some(folder) = env::var_os(FOLDER) else { return };
    if let Ok(bytes) = env::var(FILE_BYTES) {
        let bytes = Some(bytes.parse().expect("a number"));
        // With a handler of the signal, a write beyond the limit is an error.
        signal_hook::flag::register(signal_hook::consts::SIGXFSZ, Arc::default())
            .expect("a handler");
        let limit = Rlimit { current: bytes, maximum: bytes };
        setrlimit(Resource::Fsize, limit).expect("a lower limit is allowed");
    }
    let mut trail = Trail::new(Path::new(&folder), Retention::default());
    let changes = env::var(CHANGES).ok().and_then(|it| it.parse().ok()).unwrap_or(CHANGES_MAX);
    for change in 0..changes {
        if let Err(error) = append(&mut trail, change) {
            tell(&format!("refused {error}"));
            return;
        }
    }
}

/// Makes a change, every other one with an intention that does not wait for the disk.
fn append(trail: &mut Trail, change: u32) -> Result<(), TrailError> {
    let on_disk = [OnDisk::BeforeTheChange, OnDisk::WithTheOutcome][change as usize % 2];
    let call = "PartitionService/PausePartition".to_owned();
    let what = json!({ "change": change });
    let intended = trail.intend(Intention { call, what, ..Intention::default() }, on_disk)?;
    tell(&format!("acknowledged {}", intended.number()));
    let number = trail.conclude(intended, Outcome::Done(json!({ "was_paused": false })))?;
    tell(&format!("acknowledged {number}"));
    Ok(())
}

/// Writes a line past the test harness, which keeps what a test prints.
fn tell(line: &str) {
    let mut output = std::io::stdout();
    let written = writeln!(output, "{line}").and_then(|()| output.flush());
    written.expect("the parent reads");
}

fn start(folder: &Path, file_bytes: Option<u64>) -> Child {
    let mut command = Command::new(env::current_exe().expect("this program"));
    command.args(["--exact", "appends_where_it_is_told_to", "--nocapture"]).env(FOLDER, folder);
    if let Some(bytes) = file_bytes {
        command.env(FILE_BYTES, bytes.to_string());
    }
    command.stdout(Stdio::piped()).spawn().expect("it starts")
}

/// Reads what a process tells: the numbers that it has acknowledged, and its refusal. After so many
/// numbers it is killed.
fn hear(mut child: Child, kill_after: Option<usize>) -> (Vec<u64>, Option<String>) {
    let output = child.stdout.take().expect("a pipe");
    let (mut numbers, mut refusal) = (Vec::new(), None);
    for line in BufReader::new(output).lines() {
        let line = line.expect("text");
        if let Some((_, number)) = line.split_once("acknowledged ") {
            // A line that the kill has cut off is no acknowledgement.
            numbers.extend(number.parse::<u64>());
        } else if let Some((_, told)) = line.split_once("refused ") {
            refusal = Some(told.to_owned());
        }
        if kill_after == Some(numbers.len()) {
            child.kill().expect("it can be killed");
        }
    }
    child.wait().expect("it has ended");
    (numbers, refusal)
}

/// Asserts that the chain is in order, and holds what was acknowledged.
fn assert_holds(folder: &Path, acknowledged: &[u64]) -> quietcore_audit::Verification {
    let reader = Reader::open(&folder.join(quietcore_audit::FILE)).expect("it can be read");
    let found = reader.verify().expect("it can be read");
    assert_eq!(found.fault, None);
    let rows = reader.rows(0, usize::MAX).expect("rows");
    for number in acknowledged {
        let entry =
            rows.iter().find(|row| row.number == *number).and_then(quietcore_audit::Row::entry);
        let kind = entry.expect("it was acknowledged").kind;
        assert!(matches!(kind, Kind::Intended | Kind::Done), "{kind:?}");
    }
    found
}

#[test]
fn what_was_acknowledged_is_there_after_a_kill() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut all = Vec::new();
    for (kills, after) in [1, 2, 7, 16, 33].into_iter().enumerate() {
        let (numbers, refusal) = hear(start(folder.path(), None), Some(after));
        assert!(numbers.len() >= after && refusal.is_none(), "{numbers:?}, {refusal:?}");
        all.extend(numbers);
        // As it lies there, and as the next daemon finds it.
        let found = assert_holds(folder.path(), &all);
        assert!(found.unknown.len() <= kills + 1, "{:?}", found.unknown);
        Trail::new(folder.path(), Retention::default()).open().expect("it goes on");
        assert_holds(folder.path(), &all);
    }
    let names = std::fs::read_dir(folder.path()).expect("a folder").flatten();
    let is_aside = |name: String| name.starts_with("audit-");
    assert!(!names.into_iter().any(|it| is_aside(it.file_name().to_string_lossy().into())));
}

#[test]
fn a_full_disk_refuses_and_keeps_what_was_acknowledged() {
    let folder = tempfile::tempdir().expect("a folder");
    let (numbers, refusal) = hear(start(folder.path(), Some(96 << 10)), None);
    let refusal = refusal.expect("the disk is full at last");
    assert!(refusal.contains("audit.db` can't be used"), "{refusal}");
    assert!(!numbers.is_empty());
    assert_holds(folder.path(), &numbers);
    // With nothing to begin on, nothing is left behind that would be taken for a damaged trail.
    let small = tempfile::tempdir().expect("a folder");
    let (numbers, refusal) = hear(start(small.path(), Some(8 << 10)), None);
    assert!(numbers.is_empty() && refusal.is_some());
    assert_eq!(std::fs::read_dir(small.path()).expect("a folder").count(), 0);
    let mut trail = Trail::new(folder.path(), Retention::default());
    append(&mut trail, 0).expect("there is place again");
}

/// Goal: what was acknowledged survives a loss of power, and an intention waits only where it must.
/// Method: trace the process that appends; before each acknowledgement it has synced its file since
/// the one before, or not.
#[test]
fn an_intention_waits_for_the_disk_unless_its_outcome_does() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut strace = Command::new("strace");
    strace
        .args(["-f", "-e", "trace=write,fsync,fdatasync", "-o", "trace"])
        .arg(env::current_exe().expect("this program"))
        .args(["--exact", "appends_where_it_is_told_to", "--nocapture"])
        .env(FOLDER, folder.path())
        .env(CHANGES, "6")
        .current_dir(folder.path());
    if let Err(reason) = quietcore_skip::strace(&mut strace) {
        return quietcore_skip::skip!("{reason}");
    }
    let trace = std::fs::read_to_string(folder.path().join("trace")).expect("a trace");
    let (mut synced, mut before_each) = (false, Vec::new());
    for line in trace.lines() {
        if line.contains("acknowledged") {
            before_each.push(std::mem::take(&mut synced));
        }
        synced |= line.contains("sync(");
    }
    assert_eq!(before_each, [true, true, false, true].repeat(3), "{trace}");
}
