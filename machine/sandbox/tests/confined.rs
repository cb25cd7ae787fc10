//! Programs in the sandbox: what they see, what they can't do, and what is taken of them.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _};
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use quietcore_sandbox::{Limits, Sandbox, SandboxError, View, make_readable};
use quietcore_skip::skip;

/// A folder that programs see, and one beside it with a secret.
struct Ground {
    folder: tempfile::TempDir,
}

impl Ground {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("seen")).unwrap();
        fs::write(folder.path().join("seen/given"), "given").unwrap();
        fs::write(folder.path().join("secret"), "top secret").unwrap();
        make_readable(&folder.path().join("seen")).unwrap();
        Self { folder }
    }

    fn seen(&self) -> std::path::PathBuf {
        self.folder.path().join("seen")
    }

    /// Runs a line of shell in the sandbox; `None` where this machine grants none.
    fn run_with(&self, limits: Limits, script: &str, result: Option<&Path>) -> Option<Output> {
        let mut command = Command::new("sh");
        command.args(["-c", script]).stdin(Stdio::null());
        command.env("SECRET", "of the caller");
        let seen = self.seen();
        let view = View { readable: &[&seen], folder: &seen, result };
        Sandbox { limits }.confine(&mut command, &view).unwrap();
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        match command.spawn() {
            Ok(child) => Some(child.wait_with_output().unwrap()),
            Err(error) => {
                skip!("{}", not_granted(error));
                None
            }
        }
    }

    /// Runs a line of shell in the sandbox, with this process's own output.
    fn run_shown(&self, script: &str) {
        let mut command = Command::new("sh");
        command.args(["-c", script]).stdin(Stdio::null());
        let seen = self.seen();
        let view = View { readable: &[&seen], folder: &seen, result: None };
        Sandbox::default().confine(&mut command, &view).unwrap();
        match command.spawn() {
            Ok(mut child) => drop(child.wait()),
            Err(error) => println!("SKIPPED {}", not_granted(error)),
        }
    }

    fn run(&self, script: &str) -> Option<Output> {
        self.run_with(Limits::default(), script, None)
    }
}

/// Returns why this machine grants no sandbox; anything else is a fault of the sandbox.
fn not_granted(error: std::io::Error) -> SandboxError {
    let refused = Sandbox::why_not(error);
    let told = refused.to_string();
    let of_machine = ["namespaces are taken", "the user is named", "`/proc` is mounted"];
    assert!(of_machine.iter().any(|step| told.contains(step)), "{told}");
    refused
}

fn text(output: &Output) -> String {
    let text = [&output.stdout[..], &output.stderr].concat();
    String::from_utf8_lossy(&text).into_owned()
}

#[test]
fn a_program_sees_its_folder_and_nothing_else_of_the_machine() {
    let ground = Ground::new();
    let secret = ground.folder.path().join("secret");
    let script = format!(
        "cat given; ls /; cat {} /etc/shadow; ls /boot /srv /etc; env; ls /dev; ls /proc/1/",
        secret.display()
    );
    let Some(output) = ground.run(&script) else { return };
    let told = text(&output);
    assert!(told.starts_with("given"), "{told}");
    assert!(told.contains("/etc/shadow: No such file"), "{told}");
    assert!(told.contains("'/srv': No such file") && told.contains("'/boot': No such file"));
    assert!(!told.contains("top secret") && !told.contains("of the caller"), "{told}");
    assert!(told.contains("PATH=/usr/bin:/bin"), "{told}");
}

#[test]
fn a_program_changes_nothing_of_the_machine() {
    let ground = Ground::new();
    let script = "touch given new /usr/new /new /etc/new 2>/dev/null; rm -f given; \
                  echo kept > /tmp/kept && cat /tmp/kept";
    let Some(output) = ground.run(script) else { return };
    assert_eq!(fs::read(ground.seen().join("given")).unwrap(), b"given");
    assert_eq!(fs::read_dir(ground.seen()).unwrap().count(), 1, "{}", text(&output));
    assert!(!Path::new("/usr/new").exists() && !Path::new("/tmp/kept").exists());
    assert!(text(&output).contains("kept"), "it has a `/tmp` of its own: {}", text(&output));
}

#[test]
fn a_program_has_no_network_no_rights_and_no_neighbours() {
    let ground = Ground::new();
    let script = "cat /proc/self/net/dev | grep -c :; cat /proc/cmdline; \
                  grep -E 'NoNewPrivs|CapEff|^Uid' /proc/self/status; \
                  echo /proc/[0-9]*; kill -9 $PPID; mount -t tmpfs a /out; \
                  hostname";
    let Some(output) = ground.run(script) else { return };
    let told = text(&output);
    assert!(told.starts_with("1\n"), "only its own loopback: {told}");
    assert!(told.contains("NoNewPrivs:\t1"), "{told}");
    assert!(told.contains("CapEff:\t0000000000000000"), "{told}");
    assert!(!told.contains("Uid:\t0"), "{told}");
    assert!(told.contains("/proc/cmdline: No such file"), "nothing of the machine: {told}");
    assert!(told.contains("/proc/1") && !told.contains(&format!("/proc/{}", std::process::id())));
}

#[test]
fn the_result_is_taken_out_if_it_is_a_plain_file() {
    let ground = Ground::new();
    let result = ground.folder.path().join("result");
    let run = |script: &str| ground.run_with(Limits::default(), script, Some(&result));
    let Some(output) = run("echo made > /out/result") else { return };
    assert!(output.status.success(), "{}", text(&output));
    assert_eq!(fs::read(&result).unwrap(), b"made\n");
    for bad in ["ln -s /etc/passwd /out/result", "mkfifo /out/result", "mkdir /out/result", "true"]
    {
        let output = run(bad).expect("it ran before");
        assert!(!output.status.success(), "{bad}");
        assert!(text(&output).contains("no plain file"), "{bad}: {}", text(&output));
        assert_eq!(fs::read(&result).unwrap(), b"", "{bad}");
    }
    let output = run("echo partial > /out/result; exit 3").expect("it ran before");
    assert_eq!(output.status.code(), Some(3));
    assert_eq!(fs::read(&result).unwrap(), b"", "a program that fails has no result");
}

#[test]
fn a_program_stays_within_its_limits() {
    let ground = Ground::new();
    let limits = Limits { output_bytes: 1 << 20, process_count: 16, ..Limits::default() };
    let limits = Limits { memory_bytes: 256 << 20, processor_s: 2, ..limits };
    let run = |script: &str| ground.run_with(limits, script, None);
    let Some(output) = run("head -c 9000000 /proc/self/maps /dev/zero > /out/file; \
                            i=0; while [ $i -lt 9 ]; do i=$((i+1)); \
                            yes | head -c 900000 > /out/$i || exit 7; done")
    else {
        return;
    };
    assert!(!output.status.success(), "more than its room: {}", text(&output));
    // Many at once: those beyond the limit are refused, and all end with the shell.
    let output = run("for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24; \
                      do sleep 1000 & done; echo all")
    .expect("it ran before");
    let told = text(&output);
    assert!(told.contains("ork") && !told.contains("all"), "processes are limited: {told}");
    let output = run("while :; do :; done").expect("it ran before");
    assert!(!output.status.success(), "its processor time is limited");
    let output = run("awk 'BEGIN { s = \"x\"; while (1) s = s s }'").expect("it ran before");
    assert!(!output.status.success(), "its memory is limited");
}

/// Goal: the caller's end of a program ends all that it has started.
/// Method: a program whose child keeps the caller's pipe open, killed by its group; and one that
/// has left the group and wants to outlive whatever is before it.
#[test]
fn killing_the_group_ends_all_of_it() {
    for script in [
        "setsid sleep 100 & echo begun; wait",
        "echo begun; exec setpriv --pdeathsig clear setsid sleep 100",
        "exec setpriv --pdeathsig clear setsid sh -c 'echo begun; sleep 100'",
    ] {
        kill_the_group_of(script);
    }
}

fn kill_the_group_of(script: &str) {
    let ground = Ground::new();
    let mut command = Command::new("sh");
    command.args(["-c", script]).stdin(Stdio::null());
    let view = View { readable: &[&ground.seen()], folder: Path::new("/"), result: None };
    Sandbox::default().confine(&mut command, &view).unwrap();
    let mut child = match command.stdout(Stdio::piped()).spawn() {
        Ok(child) => child,
        Err(error) => {
            skip!("{}", not_granted(error));
            return;
        }
    };
    let mut out = child.stdout.take().unwrap();
    out.read_exact(&mut [0; 6]).unwrap();
    let group = rustix::process::Pid::from_raw(i32::try_from(child.id()).unwrap()).unwrap();
    let began = Instant::now();
    rustix::process::kill_process_group(group, rustix::process::Signal::KILL).unwrap();
    // The pipe ends when the last process that holds it has ended.
    assert_eq!(out.read(&mut [0; 1]).unwrap(), 0);
    assert!(began.elapsed() < Duration::from_secs(50), "the child was ended, not waited for");
    child.wait().unwrap();
}

#[test]
fn a_program_that_is_not_there_is_told_apart_from_a_sandbox_that_is_refused() {
    let mut command = Command::new("/usr/bin/no-such-compiler");
    let view = View { readable: &[], folder: Path::new("/"), result: None };
    Sandbox::default().confine(&mut command, &view).unwrap();
    match Sandbox::why_not(command.spawn().unwrap_err()) {
        refused @ SandboxError::Step { .. } => skip!("{refused}"),
        SandboxError::Program(error) => assert_eq!(error.kind(), std::io::ErrorKind::NotFound),
        other => panic!("{other}"),
    }
    let mut command = Command::new("true");
    let view = View { readable: &[], folder: Path::new("/nowhere"), result: None };
    Sandbox::default().confine(&mut command, &view).unwrap();
    let told = Sandbox::why_not(command.spawn().unwrap_err()).to_string();
    assert!(told.starts_with("the sandbox can't be had: "), "{told}");
}

/// Set for the process that is killed while a program runs in its sandbox.
const IS_KILLED: &str = "QUIETCORE_TEST_IS_KILLED";

/// Goal: no program outlives the process that has started it, however that ends.
/// Method: this test as a process of its own, with a mask that lets nobody read what it makes,
/// starts a program that holds the pipe to here, and is killed.
#[test]
fn a_program_ends_with_the_process_that_has_started_it() {
    if std::env::var_os(IS_KILLED).is_some() {
        let ground = Ground::new();
        ground.run_shown("cat given; echo; echo begun; sleep 1000 & wait");
        return;
    }
    let name = "a_program_ends_with_the_process_that_has_started_it";
    let mut process = Command::new("sh");
    process.args(["-c", "umask 077; exec \"$0\" --exact \"$1\" --nocapture"]);
    process.arg(std::env::current_exe().unwrap()).arg(name).env(IS_KILLED, "yes");
    let mut process = process.stdout(Stdio::piped()).stdin(Stdio::null()).spawn().unwrap();
    let mut lines = BufReader::new(process.stdout.take().unwrap()).lines().map_while(Result::ok);
    let mut heard = Vec::new();
    let has_begun = lines.by_ref().any(|line| {
        heard.push(line);
        heard.last().is_some_and(|line| line == "begun")
    });
    process.kill().unwrap();
    process.wait().unwrap();
    if heard.iter().any(|line| line.starts_with("SKIPPED")) {
        skip!("no sandbox: {heard:?}");
        return;
    }
    assert!(has_begun && heard.iter().any(|line| line.ends_with("given")), "{heard:?}");
    // The pipe ends when the last process that holds it has ended.
    assert_eq!(lines.count(), 0);
}
