//! Tests of a shell's completion of partitions and variables of running sites.

use std::ffi::OsString;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use quietcore_skip::skip;

use crate::ground::{done, places, serve};

/// The longest wait, long enough for the busiest machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// Returns the path of programs, with this build's folder first.
fn path() -> OsString {
    let own = Path::new(env!("CARGO_BIN_EXE_quietcore")).parent().unwrap().to_owned();
    let others = std::env::var_os("PATH").unwrap_or_default();
    std::env::join_paths(std::iter::once(own).chain(std::env::split_paths(&others))).unwrap()
}

fn bash(folder: &Path, program: &str) -> Command {
    let mut command = Command::new(program);
    command.current_dir(folder).env("PATH", path());
    command.env("QUIETCORE_RUN_DIR", places(folder).run_folder());
    command.env("QUIETCORE_STATE_DIR", folder.join("state"));
    command
}

/// Returns what bash's own function offers for these words.
fn offered(folder: &Path, words: &[&str]) -> Vec<String> {
    let script = "source <(quietcore completions bash); COMP_WORDS=(quietcore \"$@\"); \
                  COMP_CWORD=$#; _clap_complete_quietcore quietcore \"${@: -1}\" \"\"; \
                  printf '%s\\n' \"${COMPREPLY[@]}\"";
    let mut command = bash(folder, "bash");
    let output = command.args(["--norc", "-c", script, "bash"]).args(words).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stderr), "", "it is silent");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    text.lines().filter(|line| !line.is_empty()).map(str::to_owned).collect()
}

/// Calls it until it offers what is expected, as a busy machine may not answer in time.
fn offers(folder: &Path, words: &[&str], expected: &[&str]) {
    let end = Instant::now() + PATIENCE;
    loop {
        let found = offered(folder, words);
        if expected.iter().all(|name| found.iter().any(|it| it == name)) {
            return;
        }
        assert!(Instant::now() < end, "{words:?} offers {found:?}, not {expected:?}");
    }
}

fn has_bash() -> bool {
    Command::new("bash").arg("--version").output().is_ok()
}

#[test]
fn a_shell_offers_the_partitions_and_variables_of_what_runs() {
    if !has_bash() {
        skip!("there is no bash to complete anything");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    assert!(offered(at, &["set", ""]).iter().all(|word| word.starts_with('-')), "nothing runs");
    let _ground = serve(at, "line");
    for verb in [
        "set", "force", "unforce", "watch", "trace", "restart", "deploy", "pause", "resume",
        "events",
    ] {
        offers(at, &[verb, ""], &["axis", "tank"]);
    }
    offers(at, &["events", "l"], &["line"]);
    for verb in ["down", "ps", "top"] {
        offers(at, &[verb, ""], &["line"]);
    }
    offers(at, &["watch", "--site", ""], &["line"]);
    offers(at, &["set", "line/a"], &["line/axis"]);
    offers(at, &["set", "axis", "servo_P."], &["servo_P.Kp=", "servo_P.Ki=", "servo_P.limits[0]="]);
    offers(at, &["force", "axis", "servo_U.e"], &["servo_U.enable="]);
    offers(at, &["watch", "axis", "servo_Y"], &["servo_Y.torque", "servo_Y.mode"]);
    offers(at, &["trace", "--every", "2", "axis", "servo_P.limits[1"], &["servo_P.limits[1]"]);
    done(at, &["force", "axis", "servo_U.enable=false"]);
    offers(at, &["unforce", "axis", "s"], &["servo_U.enable"]);
    assert!(!offered(at, &["unforce", "axis", "s"]).contains(&"servo_P.Kp".to_owned()));
    // What can't be asked offers nothing, and says nothing.
    assert_eq!(offered(at, &["set", "tank", "s"]), Vec::<String>::new());
    assert_eq!(offered(at, &["set", "nobody", "s"]), Vec::<String>::new());
}

/// Goal: the keys that a person presses do it.
/// Method: an interactive bash in the terminal that `script` makes.
#[test]
fn tab_completes_a_line_in_bash() {
    if !has_bash() || Command::new("script").arg("--version").output().is_err() {
        skip!("there is no bash, or no `script` that makes a terminal; install util-linux");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let ground = serve(folder.path(), "line");
    let end = Instant::now() + PATIENCE;
    loop {
        let mut command = bash(folder.path(), "script");
        command.args(["--quiet", "--command", "bash --norc --noprofile -i", "/dev/null"]);
        command.env("TERM", "dumb").stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.stderr(Stdio::null()).spawn().unwrap();
        let keys =
            "source <(quietcore completions bash)\nquietcore set ax\tservo_P.Ki\t0.75\nexit\n";
        let mut input = child.stdin.take().unwrap();
        input.write_all(keys.as_bytes()).unwrap();
        let output = child.wait_with_output().unwrap();
        drop(input);
        let asked = ground.site.state().asked.clone();
        if asked.iter().any(|it| it == "write axis: Set servo_P.Ki 0.75") {
            return;
        }
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(Instant::now() < end, "{asked:?}: {said}");
    }
}
