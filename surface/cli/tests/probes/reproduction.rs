//! `quietcore campaign`, with a small site file in the place of a paper's: killed, interrupted and
//! finished in one folder.

use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use quietcore_record::published::reproduction::{Course, Outcome};
use quietcore_skip::skip;

use crate::command::{call, quietcore, said, site};

/// Longest time for what should happen at once.
const PATIENCE: Duration = Duration::from_secs(60);

/// Puts a site file where that of mahmud2014 lies; returns `None` on a machine with one CPU.
fn examples(folder: &Path) -> Option<()> {
    let site = site(folder, "profiles = [\"tp1\", \"tp2\"]\nduration = \"1500 ms\"")?;
    fs::create_dir_all(folder.join("examples/papers")).unwrap();
    fs::rename(folder.join(site), folder.join("examples/papers/mahmud2014.toml")).unwrap();
    Some(())
}

fn course(folder: &Path) -> Course {
    serde_json::from_slice(&fs::read(folder.join("campaign.json")).unwrap()).unwrap()
}

fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !is_so() {
        assert!(begun.elapsed() < PATIENCE, "{what}");
        thread::sleep(Duration::from_millis(20));
    }
}

fn start(folder: &Path, arguments: &[&str]) -> Child {
    let mut command = quietcore(folder);
    command.args(arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

fn signal(child: &Child, signal: &str) {
    let kill = Command::new("kill").args([signal, &child.id().to_string()]).status();
    assert!(kill.unwrap().success());
}

/// Returns the processes that this one has started and that still run.
fn children(of: u32) -> Vec<String> {
    let list = fs::read_to_string(format!("/proc/{of}/task/{of}/children")).unwrap_or_default();
    list.split_whitespace().map(str::to_owned).collect()
}

/// Goal: a campaign that was killed leaves no process; one that was interrupted says how to go on;
/// and what was done is not done again.
/// Method: kill it while it measures, then interrupt it there, then let it go on.
#[test]
fn a_reproduction_goes_on_after_it_was_killed_and_interrupted() {
    let folder = tempfile::tempdir().unwrap();
    let Some(()) = examples(folder.path()) else {
        return skip!("needs two CPUs; this machine has one");
    };
    let out = folder.path().join("out");
    let measures = || out.join("run/manifest.json").is_file();
    let mut killed = start(folder.path(), &["campaign", "mahmud2014", "--out", "out"]);
    until("nothing is measured", || {
        assert!(killed.try_wait().unwrap().is_none(), "it has ended already");
        measures()
    });
    let own = children(killed.id());
    assert_eq!(own.len(), 1, "one command at a time");
    signal(&killed, "-KILL");
    killed.wait().unwrap();
    let runs = || Path::new("/proc").join(&own[0]).join("exe").exists();
    until("its command goes on", || !runs());
    assert_eq!(course(&out).commands[0].outcome.why(), None, "`plan` was done");

    let resume = ["campaign", "--resume", "out"];
    let interrupted = start(folder.path(), &resume);
    until("nothing goes on", || !children(interrupted.id()).is_empty());
    let beside = call(folder.path(), &resume);
    assert_eq!(beside.status, Some(2), "{}", beside.err);
    assert!(beside.err.contains("another process of Quietcore writes into it"), "{}", beside.err);
    signal(&interrupted, "-INT");
    let told = said(&interrupted.wait_with_output().unwrap());
    assert_eq!(told.status, Some(1), "{}", told.err);
    assert!(told.err.contains("go on with: quietcore campaign --resume out"), "{}", told.err);
    assert!(told.out.contains("interrupted") && told.out.contains("not begun"), "{}", told.out);
    assert!(course(&out).commands.iter().any(|ran| ran.outcome == Outcome::Interrupted));

    let done = call(folder.path(), &resume);
    assert_eq!(done.status, Some(0), "{}{}", done.err, done.out);
    let course = course(&out);
    assert!(course.is_whole());
    for made in course.commands.iter().filter_map(|ran| ran.folder.as_ref()) {
        assert!(out.join(made).join("evidence.json").is_file(), "{made}");
        let verified = call(&out, &["show", made]);
        assert_eq!(verified.status, Some(0), "{made}: {}", verified.err);
    }
    let page = fs::read_to_string(out.join("index.html")).unwrap();
    assert!(page.contains(r#"href="run/report.html""#) && page.contains("Nothing has been done"));
    let again = call(folder.path(), &["campaign", "mahmud2014", "--out", "out"]);
    assert_eq!(again.status, Some(2));
    assert!(again.err.contains("it is there already"), "{}", again.err);
}

#[test]
fn a_plan_of_a_reproduction_does_nothing_and_fits_its_time() {
    let folder = tempfile::tempdir().unwrap();
    let Some(()) = examples(folder.path()) else {
        return skip!("needs two CPUs; this machine has one");
    };
    let plan = call(folder.path(), &["campaign", "mahmud2014", "--plan"]);
    assert_eq!(plan.status, Some(0), "{}", plan.err);
    assert_eq!(plan.out.matches("1.50 s each").count(), 2, "{}", plan.out);
    assert!(
        plan.out.contains("  table 2: a second node") && plan.out.contains("Nothing has been done")
    );
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "a folder was made");
    let short = call(folder.path(), &["campaign", "mahmud2014", "--plan", "--within", "3 s"]);
    assert_eq!(short.status, Some(2), "{}", short.out);
    assert!(short.err.contains("--within 3.00 s: too short"), "{}", short.err);
    let astray = call(folder.path(), &["campaign", "mahmud2014", "--examples", "nowhere"]);
    assert_eq!(astray.status, Some(2), "{}", astray.out);
    let missing = "site files of mahmud2014 are not there (`papers/mahmud2014.toml`)";
    assert!(astray.err.contains(&format!("--examples nowhere: {missing}")), "{}", astray.err);
}

#[test]
fn a_campaign_away_from_its_site_files_names_them_and_a_wrong_call_its_usage() {
    let folder = tempfile::tempdir().unwrap();
    let astray = call(folder.path(), &["campaign", "scordino2020"]);
    assert_eq!(astray.status, Some(2), "{}", astray.out);
    let missing = "scordino2020 are not there (`papers/scordino2020.toml`)";
    assert!(astray.err.contains(missing), "{}", astray.err);
    let wrong = call(folder.path(), &["campaign", "--resume", "out", "--plan"]);
    assert_eq!(wrong.status, Some(2), "{}", wrong.out);
    assert!(wrong.err.contains("quietcore campaign --resume <DIR> [--json]"), "{}", wrong.err);
    assert!(!wrong.err.contains("[PAPER]"), "it is refused beside --resume: {}", wrong.err);
}

#[test]
fn a_document_that_is_no_campaign_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("out")).unwrap();
    let refused = |text: &str| {
        fs::write(folder.path().join("out/campaign.json"), text).unwrap();
        let said = call(folder.path(), &["campaign", "--resume", "out"]);
        assert_eq!(said.status, Some(2), "{}", said.out);
        said.err
    };
    assert!(refused("{}").contains("is not the document of a campaign"));
    assert!(refused(&" ".repeat(2 << 20)).contains("is too large"));
    let other = r#"{"schema": "quietcore.reproduction/1", "paper": "kong2021", "started_at": "",
        "within_ns": null, "timing_not_valid": null, "commands": []}"#;
    assert!(refused(other).contains("of another version"));
}
