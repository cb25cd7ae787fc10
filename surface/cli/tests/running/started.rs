//! Tests of who started a site, as `ps` shows it, and of a bare `down`, which depends on it.

use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use quietcore_skip::skip;
use quietcore_supervisor::places::{SiteDescription, StartedBy};

use crate::ground::{Ground, call, command_in, places, refused, serve};

/// The longest wait, long enough for the busiest machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// Returns a site that was started in another folder and in no terminal.
fn elsewhere(folder: &Path) -> Ground {
    let mut ground = serve(folder, "line");
    let by = StartedBy { folder: Some("/elsewhere".into()), terminal: None, ..anna() };
    describe(&mut ground, Some(by));
    ground
}

fn anna() -> StartedBy {
    StartedBy {
        login: Some("anna".to_owned()),
        command: Some("bash".to_owned()),
        service: None,
        ..StartedBy::this_process()
    }
}

fn describe(ground: &mut Ground, started_by: Option<StartedBy>) {
    ground.description = SiteDescription { started_by, ..ground.description.clone() };
    ground.claim.describe(&ground.description).unwrap();
}

fn asked_down(ground: &Ground) -> bool {
    ground.site.state().asked.contains(&"down".to_owned())
}

#[test]
fn ps_says_who_started_a_site_and_from_where() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let mut ground = elsewhere(at);
    let said = call(at, &["ps"]).out;
    let expected = format!("\nstarted by anna as {} without a terminal (bash), from", anna().user);
    assert!(said.replace("\n  ", " ").contains(&expected), "{said}");
    assert!(said.contains("2026-11-21T20:15:03Z"), "{said}");
    let json: serde_json::Value = serde_json::from_str(&call(at, &["ps", "--json"]).out).unwrap();
    let by = &json["sites"][0]["started_by"];
    assert_eq!((&by["login"], &by["folder"]), (&"anna".into(), &"/elsewhere".into()));
    // Of a version that does not say it.
    describe(&mut ground, None);
    let said = call(at, &["ps"]).out;
    assert!(said.starts_with("line (") && !said.contains("started by"), "{said}");
}

/// Goal: who has no terminal ends nobody else's site by mistake, and is told how to mean it.
#[test]
fn a_bare_down_names_the_site_that_was_not_started_from_here() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let mut ground = elsewhere(at);
    let said = refused(at, &["down"]);
    assert!(said.contains("was started by anna as"), "{said}");
    assert!(said.contains("from /elsewhere, not from here"), "{said}");
    assert!(said.contains("use `quietcore down line`"), "{said}");
    describe(&mut ground, None);
    let said = refused(at, &["down"]);
    assert!(said.contains("does not say who has started it"), "{said}");
    assert!(said.contains("use `quietcore down line`"), "{said}");
    assert!(!asked_down(&ground));
}

#[test]
fn what_is_named_or_was_started_from_here_comes_down_without_a_question() {
    let here: fn(&Path) -> Ground = |folder| serve(folder, "line");
    for (site, arguments) in [
        (here, &["down"][..]),
        (elsewhere, &["down", "line"]),
        (elsewhere, &["down", "line.toml"]),
        (elsewhere, &["down", "--site", "line"]),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let ground = site(folder.path());
        let mut command = command_in(folder.path(), arguments);
        let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        wait_until_asked(&ground);
        drop(ground);
        let output = child.wait_with_output().unwrap();
        assert_eq!(String::from_utf8_lossy(&output.stdout), "line: down\n", "{arguments:?}");
        assert_eq!(String::from_utf8_lossy(&output.stderr), "", "{arguments:?}");
    }
}

/// Goal: on a terminal the one who sits there decides.
/// Method: `script` is the terminal; what is typed comes from a pipe.
#[test]
fn a_terminal_is_asked_before_a_site_from_elsewhere_comes_down() {
    if Command::new("script").arg("--version").output().is_err() {
        skip!("there is no `script`, which makes a terminal; install util-linux");
        return;
    }
    for (answer, comes_down) in [("n\n", false), ("\n", false), ("y\n", true)] {
        let folder = tempfile::tempdir().unwrap();
        let ground = elsewhere(folder.path());
        let mut command = Command::new("script");
        // A shell reads the line.
        command.args(["--quiet", "--return", "--command", "\"$PROGRAM\" down", "/dev/null"]);
        command.env("PROGRAM", env!("CARGO_BIN_EXE_quietcore"));
        command.current_dir(folder.path());
        command.env("QUIETCORE_RUN_DIR", places(folder.path()).run_folder());
        command.env("QUIETCORE_STATE_DIR", folder.path().join("state"));
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut input = child.stdin.take().unwrap();
        input.write_all(answer.as_bytes()).unwrap();
        if comes_down {
            wait_until_asked(&ground);
            drop(ground);
        } else {
            let end = Instant::now() + PATIENCE;
            while child.try_wait().unwrap().is_none() {
                assert!(!asked_down(&ground), "{answer:?}");
                assert!(Instant::now() < end, "it still waits");
                thread::sleep(Duration::from_millis(5));
            }
        }
        let output = child.wait_with_output().unwrap();
        drop(input);
        let said = String::from_utf8_lossy(&output.stdout).replace('\r', "");
        assert!(said.contains("Bring it down? [y/N]"), "{said}");
        let outcome = if comes_down { "line: down" } else { "site `line` stays up" };
        assert!(said.contains(outcome), "{answer:?}: {said}");
        assert_eq!(output.status.code(), Some(if comes_down { 0 } else { 2 }), "{said}");
    }
}

fn wait_until_asked(ground: &Ground) {
    let end = Instant::now() + PATIENCE;
    while !asked_down(ground) {
        assert!(Instant::now() < end, "nobody asked for the end");
        thread::sleep(Duration::from_millis(5));
    }
}
