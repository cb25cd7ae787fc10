//! A process that is killed while it receives, and a disk that is full.
//!
//! The test runs itself as the process that is killed: what it prints was acknowledged.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use crate::ground::{files, gz, leftovers, send, tar};
use quietcore_programs::{Programs, ProgramsError};
use quietcore_skip::skip;
use tar::EntryType;

/// Set for the process that is killed: the folder of its programs.
const RECEIVES: &str = "QUIETCORE_TEST_RECEIVES";
/// Set for the process whose disk is full: where that is mounted.
const FULL: &str = "QUIETCORE_TEST_FULL";

fn content(number: u64) -> String {
    format!("int number = {number};\n").repeat(200)
}

fn this_test(name: &str) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", name, "--nocapture"]).stdin(Stdio::null()).stdout(Stdio::piped());
    command
}

/// Receives one version after the other, and deletes every third, until it is killed.
fn receive_until_killed(folder: &Path) {
    let programs = Programs::open(folder).unwrap();
    let begin = programs.programs().unwrap().first().and_then(|it| it.newest).unwrap_or(0);
    for number in begin + 1..100_000 {
        let text = content(number);
        let entries = [("servo.c", EntryType::Regular, text.as_bytes())];
        let version = send(&programs, "servo", &gz(&tar(&entries))).unwrap();
        println!("kept {} {number}", version.number);
        if number % 3 == 0 {
            println!("deleting {}", version.number);
            programs.delete("servo", version.number, |_| false).unwrap();
        }
        std::io::stdout().flush().unwrap();
    }
}

/// Goal: what was acknowledged outlives the death of the process, and nothing half stays.
/// Method: a process that receives is killed after another number of lines each time, some
/// microseconds later each time; then all that it said is looked up.
#[test]
fn what_was_acknowledged_survives_kill_9() {
    if let Some(folder) = std::env::var_os(RECEIVES) {
        receive_until_killed(Path::new(&folder));
    }
    let state = tempfile::tempdir().unwrap();
    let (mut kept, mut deleted) = (Vec::new(), Vec::new());
    for round in 0..8_u32 {
        let mut child = this_test("killed::what_was_acknowledged_survives_kill_9")
            .env(RECEIVES, state.path())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok);
        let mut take = |line: String| match line.split(' ').collect::<Vec<_>>()[..] {
            ["kept", version, number] => {
                kept.push((version.parse::<u64>().unwrap(), number.parse::<u64>().unwrap()));
            }
            ["deleting", version] => deleted.push(version.parse::<u64>().unwrap()),
            _ => {}
        };
        lines.by_ref().take(4 + round as usize).for_each(&mut take);
        std::thread::sleep(Duration::from_micros(700) * round);
        child.kill().unwrap();
        lines.for_each(&mut take);
        child.wait().unwrap();
        let programs = Programs::open(state.path()).unwrap();
        let versions = programs.versions("servo").unwrap();
        let newest = versions.iter().map(|it| it.number).max().unwrap_or(0);
        for (number, what) in &kept {
            let found = versions.iter().find(|version| version.number == *number);
            let may_be_gone = deleted.contains(number) || newest >= *number + 50;
            assert!(found.is_some() || may_be_gone, "round {round}: version {number} is lost");
            if let Some(version) = found {
                let expected = [("servo.c".to_owned(), content(*what).into_bytes())];
                assert_eq!(files(&programs.folder(version)), expected, "version {number}");
            }
        }
        assert_eq!(leftovers(state.path(), &programs), [""; 0].map(Path::new));
    }
    assert!(kept.len() >= 8, "{kept:?}");
}

/// Fills a small disk, and says what came of it.
fn fill(disk: &Path) {
    let programs = Programs::open(disk).unwrap();
    let mut number = 0;
    let error = loop {
        number += 1;
        let noise: Vec<u8> =
            (0..200_000_u64).map(|at| (at * number / 7).to_le_bytes()[0]).collect();
        let archive = tar(&[("noise.c", EntryType::Regular, &noise)]);
        match send(&programs, "servo", &archive) {
            Ok(version) => println!("kept {}", version.number),
            Err(error) => break error,
        }
        assert!(number < 100, "the disk has no end");
    };
    assert!(matches!(error, ProgramsError::Full { .. }), "{error}");
    assert!(error.to_string().contains("there is no room left"), "{error}");
    let versions = programs.versions("servo").unwrap();
    assert_eq!(versions.len() as u64, number - 1, "all that were acknowledged, and no other");
    assert!(leftovers(disk, &programs).is_empty());
    // Room is made, and it goes on.
    programs.delete("servo", 1, |_| false).unwrap();
    let entries = [("small.c", EntryType::Regular, &b"1"[..])];
    send(&programs, "servo", &tar(&entries)).unwrap();
    println!("done");
}

#[test]
fn a_full_disk_is_refused_and_nothing_half_stays() {
    if let Some(disk) = std::env::var_os(FULL) {
        fill(Path::new(&disk));
        return;
    }
    let disk = tempfile::tempdir().unwrap();
    let script = "mount -t tmpfs -o size=3m none \"$1\" || exit 77; shift; exec \"$@\"";
    let output = Command::new("unshare")
        .args(["--mount", "--map-root-user", "sh", "-c", script, "sh"])
        .arg(disk.path())
        .arg(std::env::current_exe().unwrap())
        .args(["--exact", "killed::a_full_disk_is_refused_and_nothing_half_stays", "--nocapture"])
        .env(FULL, disk.path())
        .output();
    let Ok(output) = output else {
        skip!("there is no `unshare`; install util-linux");
        return;
    };
    let told = [output.stdout, output.stderr].concat();
    let told = String::from_utf8_lossy(&told);
    if output.status.code() == Some(77) || told.contains("unshare failed") {
        skip!("no file system can be mounted here: {told}");
        return;
    }
    assert!(output.status.success() && told.contains("done"), "{told}");
}
