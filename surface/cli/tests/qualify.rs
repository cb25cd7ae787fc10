//! A short campaign on this machine: what it writes, how it ends, what it leaves behind.
//!
//! These tests look at the evidence, never at whether the machine was fast.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

#[expect(dead_code, reason = "other tests call it in other ways")]
mod command;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use command::{call, quietcore, said, site};
use quietcore_backend::container::{ContainerError, Containers};
use serde_json::Value;

const TWO_PROFILES: &str = "profiles = [\"tp2\", \"tp4\"]\nduration = \"500 ms\"";

/// Returns the processes of a partition or a load that were started below `folder`.
fn runtime_processes(folder: &Path) -> Vec<u32> {
    let mut found = Vec::new();
    for entry in fs::read_dir("/proc").unwrap().flatten() {
        let Ok(pid) = entry.file_name().to_string_lossy().parse::<u32>() else { continue };
        let name = fs::read_to_string(entry.path().join("comm")).unwrap_or_default();
        let place = fs::read_link(entry.path().join("cwd")).unwrap_or_default();
        let ended = fs::read_to_string(entry.path().join("stat"))
            .is_ok_and(|stat| stat.rsplit(')').next().unwrap_or("").trim().starts_with('Z'));
        if name.starts_with("quietcore-runt") && place == folder && !ended {
            found.push(pid);
        }
    }
    found
}

fn wait_until(what: &str, mut condition: impl FnMut() -> bool) {
    let end = Instant::now() + Duration::from_secs(30);
    while !condition() {
        assert!(Instant::now() < end, "{what} did not happen within 30 s");
        thread::sleep(Duration::from_millis(20));
    }
}

fn json(folder: &Path, name: &str) -> Value {
    serde_json::from_slice(&fs::read(folder.join(name)).unwrap()).unwrap()
}

/// Goal: whoever opens the folder of the runs sees how a partition stands.
/// Method: two campaigns into the folder that nobody chose, and one elsewhere.
#[test]
fn each_campaign_makes_the_page_of_the_runs_anew() {
    let folder = tempfile::tempdir().unwrap();
    if site(folder.path(), TWO_PROFILES).is_none() {
        quietcore_skip::skip!("one CPU only");
        return;
    }
    let page = folder.path().join("runs/index.html");
    for runs in [1, 2] {
        let run = call(folder.path(), &["qualify", "site.toml", "--cycles", "100"]);
        assert!(run.err.contains("all runs: runs/index.html"), "{}", run.err);
        let page = fs::read_to_string(&page).unwrap();
        assert_eq!(page.matches("/report.html\"").count(), runs, "a link each");
    }
    let run = call(folder.path(), &["qualify", "site.toml", "--cycles", "100", "--out", "own"]);
    assert!(!run.err.contains("all runs:") && !folder.path().join("index.html").exists());
    let made = fs::read_to_string(&page).unwrap();
    let again = call(folder.path(), &["report", "runs"]);
    assert_eq!((again.status, again.out.trim()), (Some(0), "runs/index.html"));
    assert_eq!(fs::read_to_string(&page).unwrap(), made);
}

#[test]
fn a_campaign_leaves_whole_evidence_and_a_verdict_that_show_repeats() {
    let folder = tempfile::tempdir().unwrap();
    if site(folder.path(), TWO_PROFILES).is_none() {
        quietcore_skip::skip!("one CPU only");
        return;
    }
    let run = call(folder.path(), &["qualify", "site.toml", "--out", "run", "--json"]);
    assert!(matches!(run.status, Some(0 | 1)), "{}", run.err);
    let document: Value = serde_json::from_str(&run.out).unwrap();
    assert_eq!(document["schema"], "quietcore.evidence/1");
    let records = document["records"].as_array().unwrap();
    assert_eq!(records.len(), 2, "{}", run.err);
    for record in records {
        let statistics = &record["statistics"];
        assert_eq!(statistics["count"], 500, "{record}");
        let number = |name: &str| statistics[name].as_u64().unwrap();
        assert!(number("min_ns") <= number("median_ns"));
        assert!(number("median_ns") <= number("max_ns"));
        assert_eq!(record["probe"], "latency");
        assert_eq!(record["partition"], "axis");
    }
    assert_eq!(document["overall"]["verdict"] == "PASS", run.status == Some(0), "{}", run.err);
    let loads = records[1]["conditions"]["loads"].as_array().unwrap();
    assert_eq!(loads.len(), 2);
    // One block of 64 MB may take longer than the run; the CPU time shows that it was at work.
    assert!(loads.iter().all(|load| load["cpu_share"].as_f64().unwrap() > 0.0), "{loads:?}");
    assert!(loads.iter().all(|load| load["working"] == load["workers"]), "{loads:?}");

    let shown = call(folder.path(), &["show", "run", "--json"]);
    assert_eq!((shown.status, &shown.out), (Some(0), &run.out));
    for name in ["manifest.json", "site.toml", "doctor.json", "evidence.json", "report.html"] {
        assert!(folder.path().join("run").join(name).is_file(), "{name}");
    }
    let sums = std::process::Command::new("sha256sum")
        .args(["--check", "--quiet", "SHA256SUMS"])
        .current_dir(folder.path().join("run"))
        .status()
        .unwrap();
    assert!(sums.success());
    assert_eq!(runtime_processes(folder.path()), Vec::<u32>::new());

    // The page can be made anew, and the evidence stays what it was.
    fs::remove_file(folder.path().join("run/report.html")).unwrap();
    let report = call(folder.path(), &["report", "run"]);
    assert_eq!((report.status, &report.err[..]), (Some(0), ""));
    let again = call(folder.path(), &["show", "run", "--json"]);
    assert_eq!(again.out, run.out);
}

#[test]
fn without_privileges_nothing_is_proven_and_it_is_said_why() {
    let folder = tempfile::tempdir().unwrap();
    if site(folder.path(), "profiles = [\"tp2\"]\nduration = \"500 ms\"").is_none() {
        quietcore_skip::skip!("one CPU only");
        return;
    }
    open_to_all(folder.path());
    let Some(program) = for_all(folder.path()) else { return };
    let output = std::process::Command::new("setpriv")
        .args(["--reuid=65534", "--regid=65534", "--clear-groups", "--bounding-set=-all"])
        .arg(program)
        .args(["qualify", "site.toml", "--out", "run"])
        .current_dir(folder.path())
        .output()
        .unwrap();
    let run = said(&output);
    assert_eq!(run.status, Some(1), "{}", run.err);
    assert!(run.out.contains("NOT PROVEN"), "{}", run.out);
    let record = json(&folder.path().join("run/records"), "axis.tp2.cpu1.json");
    let degraded = record["degraded"].as_array().unwrap();
    let is_policy = |reason: &Value| {
        (&reason["code"], &reason["setting"]) == (&"setting_refused".into(), &"policy".into())
    };
    assert!(degraded.iter().any(is_policy), "{degraded:?}");
    assert!(run.err.contains("degraded:"), "{}", run.err);
}

fn open_to_all(folder: &Path) {
    use std::os::unix::fs::PermissionsExt as _;
    fs::set_permissions(folder, fs::Permissions::from_mode(0o777)).unwrap();
}

/// Copies the programs to where another user may execute them; skips with the reason if this test
/// can't.
fn for_all(folder: &Path) -> Option<std::path::PathBuf> {
    let root = std::process::Command::new("id").arg("-u").output().unwrap().stdout == b"0\n";
    let online = fs::read_to_string("/sys/devices/system/cpu/online").unwrap();
    if !root || online.trim() != "0-1" {
        quietcore_skip::skip!("needs root to give up being root, and the CPUs 0-1");
        return None;
    }
    for name in ["quietcore", "quietcore-runtime"] {
        let from = Path::new(env!("CARGO_BIN_EXE_quietcore")).with_file_name(name);
        fs::copy(from, folder.join(name)).unwrap();
    }
    Some(folder.join("quietcore"))
}

fn start(folder: &Path, arguments: &[&str]) -> Child {
    quietcore(folder).args(arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

fn signal(child: &Child, signal: &str) {
    let kill = std::process::Command::new("kill").args([signal, &child.id().to_string()]).status();
    assert!(kill.unwrap().success());
}

/// Goal: Ctrl-C ends a campaign cleanly with what was measured so far, and it can be resumed.
/// Method: interrupt the second of two profiles, look at the evidence, resume, look again.
#[test]
fn an_interrupted_campaign_keeps_what_it_has_and_resumes() {
    let folder = tempfile::tempdir().unwrap();
    if site(folder.path(), "profiles = [\"tp2\", \"tp4\"]\ncycles = 4000").is_none() {
        quietcore_skip::skip!("one CPU only");
        return;
    }
    let child = start(folder.path(), &["qualify", "site.toml", "--out", "run"]);
    let records = folder.path().join("run/records");
    wait_until("the first record", || records.join("axis.tp2.cpu1.json").exists());
    wait_until("the second run", || runtime_processes(folder.path()).len() > 20);
    // This is in the middle of its 4 s, even if the loads begin late or the machine stands still.
    thread::sleep(Duration::from_millis(1500));
    signal(&child, "-INT");
    let run = said(&child.wait_with_output().unwrap());
    assert_eq!(run.status, Some(1), "{}", run.err);
    assert!(run.err.contains("qualify --resume run"), "{}", run.err);
    assert_eq!(runtime_processes(folder.path()), Vec::<u32>::new());
    let manifest = json(&folder.path().join("run"), "manifest.json");
    assert_eq!(manifest["complete"], false);
    assert_eq!(manifest["not_measured"][0]["profile"], "tp4");
    let first = fs::read(records.join("axis.tp2.cpu1.json")).unwrap();
    fs::write(records.join("axis.tp2.cpu1.json"), "{}").unwrap();
    let refused = call(folder.path(), &["qualify", "--resume", "run"]);
    assert_eq!(refused.status, Some(2));
    assert!(refused.err.contains("was changed after the run"), "{}", refused.err);
    fs::write(records.join("axis.tp2.cpu1.json"), &first).unwrap();

    let resumed = call(folder.path(), &["qualify", "--resume", "run", "--json"]);
    assert!(matches!(resumed.status, Some(0 | 1)), "{}", resumed.err);
    let document: Value = serde_json::from_str(&resumed.out).unwrap();
    let counts: Vec<_> = document["records"]
        .as_array()
        .unwrap()
        .iter()
        .map(|record| record["statistics"]["count"].as_u64().unwrap())
        .collect();
    let verified = call(folder.path(), &["verify", "run"]);
    assert_eq!(verified.status, Some(0), "{}{}", verified.out, verified.err);
    // What the interrupted part has seen stays: the record holds it beside the whole run.
    assert_eq!(counts[0], 4000);
    assert!(counts[1] > 4000, "{counts:?}");
    assert_eq!(fs::read(records.join("axis.tp2.cpu1.json")).unwrap(), first);
    let again = call(folder.path(), &["qualify", "--resume", "run"]);
    assert_eq!(again.status, Some(2));
    assert!(again.err.contains("nothing is left"), "{}", again.err);

    // Its end may have been missed, as on a full disk.
    for file in ["report.html", "SHA256SUMS", "evidence.intoto.json"] {
        fs::remove_file(folder.path().join("run").join(file)).unwrap();
    }
    let finished = call(folder.path(), &["qualify", "--resume", "run"]);
    assert!(matches!(finished.status, Some(0 | 1)), "{}", finished.err);
    assert!(finished.err.contains("the folder is finished now"), "{}", finished.err);
    let verified = call(folder.path(), &["verify", "run"]);
    assert!(!verified.err.contains("report.html"), "{}{}", verified.out, verified.err);
    assert!(folder.path().join("run/report.html").exists());
}

/// Goal: what two processes would write over each other is written by one.
#[test]
fn a_folder_that_a_campaign_writes_into_is_no_others() {
    let folder = tempfile::tempdir().unwrap();
    if site(folder.path(), "profiles = [\"tp2\"]\nduration = \"1 min\"").is_none() {
        quietcore_skip::skip!("one CPU only");
        return;
    }
    let child = start(folder.path(), &["qualify", "site.toml", "--out", "run"]);
    wait_until("the partition", || !runtime_processes(folder.path()).is_empty());
    let before = fs::read(folder.path().join("run/manifest.json")).unwrap();
    for arguments in [["qualify", "--resume", "run"].as_slice(), &["report", "run"]] {
        let refused = call(folder.path(), arguments);
        assert_eq!(refused.status, Some(2), "{}", refused.err);
        let told = "`run` could not be written: another process of Quietcore writes into it";
        assert!(refused.err.contains(told), "{}", refused.err);
    }
    assert_eq!(fs::read(folder.path().join("run/manifest.json")).unwrap(), before);
    let shown = call(folder.path(), &["show", "run"]);
    assert!(!shown.err.contains("another process"), "who reads waits for nobody: {}", shown.err);
    signal(&child, "-INT");
    let ended = said(&child.wait_with_output().unwrap());
    assert!(matches!(ended.status, Some(1 | 2)), "with a record or without: {}", ended.err);
}

/// Goal: no real-time thread and no load outlives a parent that was killed.
#[test]
fn a_killed_campaign_leaves_no_process_behind() {
    let folder = tempfile::tempdir().unwrap();
    if site(folder.path(), "profiles = [\"tp4\"]\nduration = \"1 h\"").is_none() {
        quietcore_skip::skip!("one CPU only");
        return;
    }
    let mut child = start(folder.path(), &["qualify", "site.toml", "--out", "run"]);
    wait_until("the partition and its loads", || runtime_processes(folder.path()).len() > 20);
    signal(&child, "-KILL");
    child.wait().unwrap();
    wait_until("the end of all processes", || runtime_processes(folder.path()).is_empty());
}

/// Goal: a campaign that was killed within a run goes on with what its last checkpoint has.
#[test]
fn a_killed_campaign_goes_on_from_its_last_checkpoint() {
    let folder = tempfile::tempdir().unwrap();
    if site(folder.path(), "profiles = [\"tp2\"]\nduration = \"8 s\"").is_none() {
        quietcore_skip::skip!("one CPU only");
        return;
    }
    let mut child = start(folder.path(), &["qualify", "site.toml", "--out", "run"]);
    let checkpoint = folder.path().join("run/checkpoints/axis.tp2.cpu1.json");
    wait_until("a checkpoint", || checkpoint.exists());
    signal(&child, "-KILL");
    child.wait().unwrap();
    wait_until("the end of all processes", || runtime_processes(folder.path()).is_empty());
    let resumed = call(folder.path(), &["qualify", "--resume", "run", "--json"]);
    assert!(matches!(resumed.status, Some(0 | 1)), "{}", resumed.err);
    let document: Value = serde_json::from_str(&resumed.out).unwrap();
    let record = &document["records"][0];
    let count = record["statistics"]["count"].as_u64().unwrap();
    let earlier = record["conditions"]["earlier_part"]["cycles"].as_u64().unwrap();
    assert_eq!(count, 8_000 + earlier);
    assert!((1_000..8_000).contains(&earlier), "{earlier} cycles");
    assert!(!folder.path().join("run/checkpoints").exists());
    let shown = call(folder.path(), &["show", "run"]);
    assert_eq!(shown.status, Some(0), "{}{}", shown.out, shown.err);
}

#[test]
fn an_injected_delay_is_seen_and_makes_the_record_invalid() {
    let folder = tempfile::tempdir().unwrap();
    for mode in ["sleep", "early-wake"] {
        let run = call(
            folder.path(),
            &[
                "probe",
                "latency",
                "--cycles",
                "1500",
                "--warm-up",
                "100 ms",
                "--mode",
                mode,
                "--inject",
                "20ms@1000",
                "--json",
            ],
        );
        assert_eq!(run.status, Some(0), "{}", run.err);
        let document: Value = serde_json::from_str(&run.out).unwrap();
        let record = &document["records"][0];
        assert_eq!(record["valid"], false);
        let because = record["invalid_because"].to_string();
        assert!(because.contains("was seen there as"), "{because}");
        let statistics = &record["statistics"];
        assert!(statistics["max_ns"].as_u64().unwrap() >= 20_000_000, "{statistics}");
        // A delay of 20 periods is 20 missed cycles, not one.
        assert!(statistics["missed_cycles"].as_u64().unwrap() >= 20, "{statistics}");
        assert!(statistics["longest_miss_run"].as_u64().unwrap() >= 20, "{statistics}");
        let verdicts = document["verdicts"].as_array().unwrap();
        assert!(verdicts.iter().all(|verdict| verdict["verdict"] == "NOT PROVEN"));
    }
}

/// Goal: the release that was held up is looked at by its number, also where it is none of the
/// worst.
#[test]
fn a_small_injected_delay_is_found_at_its_release() {
    let folder = tempfile::tempdir().unwrap();
    let run = call(
        folder.path(),
        &["probe", "latency", "--cycles", "800", "--warm-up", "50 ms", "--inject", "50us@500"],
    );
    assert_eq!(run.status, Some(0), "{}{}", run.out, run.err);
    let seen = "a delay of 50.0 µs was injected at release 500 and was seen there as";
    let text = run.out.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains(seen), "{text}");
    assert!(!text.contains("The largest latency is the injected one"), "{text}");
}

#[test]
fn a_probe_prints_what_cyclictest_would() {
    let folder = tempfile::tempdir().unwrap();
    let run = call(
        folder.path(),
        &["probe", "latency", "--cycles", "300", "--warm-up", "50 ms", "--histogram", "500"],
    );
    assert_eq!(run.status, Some(0), "{}", run.err);
    assert!(run.out.contains("# Max Latencies:"), "{}", run.out);
    fs::write(folder.path().join("own.txt"), &run.out).unwrap();
    let import = call(
        folder.path(),
        &["import", "cyclictest", "own.txt", "--interval", "1ms", "--out", "evidence"],
    );
    assert_eq!(import.status, Some(0), "{}", import.err);
    let shown = call(folder.path(), &["show", "evidence", "--json"]);
    let document: Value = serde_json::from_str(&shown.out).unwrap();
    assert_eq!(document["records"][0]["statistics"]["count"], 300);
}

/// Goal: partitions that share a CPU have run time of their own there, pinned, and the kernel's
/// setting that this takes is put back.
#[test]
fn partitions_share_a_cpu_by_their_budgets() {
    share_a_cpu_by_budgets("process");
}

#[test]
fn containers_share_a_cpu_by_their_budgets() {
    match Containers::prepare(PathBuf::new(), "test", 1, None, None) {
        Err(error @ ContainerError::Runtime(_)) => quietcore_skip::skip!("{error}"),
        _ => share_a_cpu_by_budgets("container"),
    }
}

fn share_a_cpu_by_budgets(backend: &str) {
    // The setting is the whole machine's.
    static ALONE: Mutex<()> = Mutex::new(());
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let folder = tempfile::tempdir().unwrap();
    // So long that the settings of each task are read back several times on a busy machine, too.
    let Some(site) = site(folder.path(), "profiles = [\"tp2\"]\nduration = \"2 s\"") else {
        quietcore_skip::skip!("one CPU only");
        return;
    };
    if !rustix::process::geteuid().is_root() {
        quietcore_skip::skip!("throttling is given up by root alone");
        return;
    }
    let throttling = || fs::read_to_string("/proc/sys/kernel/sched_rt_runtime_us").unwrap();
    let before = throttling();
    let path = folder.path().join(&site);
    let text = fs::read_to_string(&path).unwrap();
    let text = text.replace("priority = 50\nearly_wake = \"adaptive\"\n", "");
    let (head, partition) = text.split_once("[[partition]]").unwrap();
    let (partition, campaign) = partition.split_once("[campaign]").unwrap();
    let of = |name: &str, budget: u32| {
        let partition = partition
            .replace("\"axis\"", &format!("\"{name}\""))
            .replace("backend = \"process\"", &format!("backend = \"{backend}\""));
        let budget = format!("[partition.vcr]\nbudget = {budget}\n");
        format!("[[partition]]{}", partition.replace("[partition.vcr]\n", &budget))
    };
    let head = head.replace("[host]\n", "[host]\ncontrols = [\"throttling\"]\n");
    let both = format!("{head}{}{}[campaign]{campaign}", of("axis", 30), of("logger", 20));
    fs::write(&path, both).unwrap();
    let run = call(folder.path(), &["qualify", &site, "--out", "run", "--json"]);
    assert!(matches!(run.status, Some(0 | 1)), "{}", run.err);
    assert_eq!(throttling(), before);
    let document: Value = serde_json::from_str(&run.out).unwrap();
    let records = document["records"].as_array().unwrap();
    let names: Vec<_> = records.iter().map(|record| record["partition"].as_str()).collect();
    assert_eq!(names, [Some("axis"), Some("logger")], "{}", run.err);
    for record in records {
        if record["degraded"].to_string().contains("the kernel refused the real-time policy") {
            quietcore_skip::skip!("this kernel gives no SCHED_DEADLINE");
            return;
        }
        assert_eq!(record["conditions"]["policy"], "SCHED_DEADLINE", "{record}");
        assert_eq!(record["conditions"]["affinity"], record["cpu"].to_string(), "{record}");
        assert_eq!(record["degraded"], Value::Array(Vec::new()), "{record}");
    }
}

/// Goal: memory that is reserved is there and locked when a partition is measured.
#[test]
fn memory_that_is_reserved_is_there() {
    memory_is_there("process");
}

#[test]
fn memory_that_is_reserved_is_there_in_a_container() {
    match Containers::prepare(PathBuf::new(), "test", 1, None, None) {
        Err(error @ ContainerError::Runtime(_)) => quietcore_skip::skip!("{error}"),
        _ => memory_is_there("container"),
    }
}

fn memory_is_there(backend: &str) {
    let folder = tempfile::tempdir().unwrap();
    let Some(site) = site(folder.path(), "profiles = [\"tp1\"]\nduration = \"200 ms\"") else {
        quietcore_skip::skip!("one CPU only");
        return;
    };
    if !rustix::process::geteuid().is_root() {
        quietcore_skip::skip!("so much memory is locked by root alone");
        return;
    }
    let path = folder.path().join(&site);
    let text = fs::read_to_string(&path)
        .unwrap()
        .replace("backend = \"process\"", &format!("backend = \"{backend}\""));
    let memory = "[partition.vcr]\nmemory = \"256 MiB\"\n";
    fs::write(&path, text.replace("[partition.vcr]\n", memory)).unwrap();
    let run = call(folder.path(), &["qualify", &site, "--out", "run", "--json"]);
    assert!(matches!(run.status, Some(0 | 1)), "{}", run.err);
    let document: Value = serde_json::from_str(&run.out).unwrap();
    let record = &document["records"][0];
    let degraded = record["degraded"].to_string();
    assert!(!degraded.contains("are locked"), "{record}");
    let locked = record["conditions"]["activity"]["memory_locked"].as_str().unwrap();
    let locked: f64 = locked.strip_suffix(" MiB").unwrap().parse().unwrap();
    assert!((256.0..330.0).contains(&locked), "{locked}");
}

/// Goal: rows of the isolation matrix are measured, shown and exported, and a row whose settings
/// could not be changed does not look as if they were.
/// Method: those that move no other program, a tenth of a second each; then the JSON, the page and
/// the CSV file.
#[test]
fn the_isolation_matrix_is_measured_and_stands_beside_its_table() {
    let folder = tempfile::tempdir().unwrap();
    if site(folder.path(), "profiles = [\"tp2\"]").is_none() {
        quietcore_skip::skip!("one CPU only");
        return;
    }
    let arguments = [
        "qualify",
        "site.toml",
        "--profile",
        "iso1,iso2,iso3,iso4,iso5,iso6",
        "--duration",
        "100ms",
        "--out",
        "run",
        "--json",
    ];
    let run = call(folder.path(), &arguments);
    assert!(matches!(run.status, Some(0 | 1)), "{}", run.err);
    let document: Value = serde_json::from_str(&run.out).unwrap();
    assert_eq!(document["records"].as_array().unwrap().len(), 6, "{}", run.err);
    let matrix = &document["isolation"][0];
    assert_eq!(
        (&matrix["partition"], &matrix["table"]),
        (&"axis".into(), &"hofer2019/table-1".into())
    );
    let rows = matrix["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 12);
    assert!(rows[6..].iter().all(|row| row["release"].is_null()), "{matrix}");
    for row in &rows[..6] {
        let release = &row["release"];
        assert_eq!(release["count"], 100, "{row}");
        assert!(release["min_ns"].as_u64().unwrap() <= release["max_ns"].as_u64().unwrap());
        let exceedances = release["exceedances"].as_array().unwrap();
        let limits: Vec<_> =
            exceedances.iter().map(|it| it["limit_ns"].as_u64().unwrap()).collect();
        assert_eq!(limits, [100_000, 10_000_000]);
        for beyond in exceedances {
            let number = |key: &str| beyond[key].as_f64().unwrap();
            assert!(number("surely") <= number("count") && number("count") <= 100.0);
            assert!(number("share") <= number("bound_95") && number("bound_95") <= 1.0, "{beyond}");
        }
        assert_eq!(row["published"].as_array().unwrap().len(), 3);
    }
    // What was changed is in the conditions of the row, or why it was not is in its reasons.
    let changed =
        |index: usize| document["records"][index]["conditions"]["machine"]["controls"].to_string();
    assert_eq!((changed(0), changed(3)), ("null".to_owned(), "null".to_owned()));
    for control in ["interrupts", "load-balance"] {
        let reasons = rows[4]["not_as_asked"].to_string();
        assert!(changed(4).contains(control) || reasons.contains(control), "{control}: {reasons}");
    }
    let page = fs::read_to_string(folder.path().join("run/report.html")).unwrap();
    assert!(page.contains("<section id=\"isolation\"") && page.contains("12 · pinned, others"));
    let shown = call(folder.path(), &["show", "run"]);
    assert!(shown.out.contains("Isolation matrix of axis"), "{}", shown.out);
    assert_eq!(call(folder.path(), &["report", "run", "--csv", "tables"]).status, Some(0));
    let table = fs::read_to_string(folder.path().join("tables/isolation.csv")).unwrap();
    // The heading; release, wake-up and three kernels a row, of the others the kernels alone.
    assert_eq!(table.lines().count(), 1 + 6 * 5 + 6 * 3, "{table}");
}

/// Goal: who may not change settings is told so in each row that asks for some.
#[test]
fn without_root_a_row_with_controls_is_not_as_asked() {
    let folder = tempfile::tempdir().unwrap();
    if site(folder.path(), "profiles = [\"iso3\", \"iso5\"]\nduration = \"100 ms\"").is_none() {
        quietcore_skip::skip!("one CPU only");
        return;
    }
    open_to_all(folder.path());
    let Some(program) = for_all(folder.path()) else { return };
    let output = std::process::Command::new("setpriv")
        .args(["--reuid=65534", "--regid=65534", "--clear-groups", "--bounding-set=-all"])
        .arg(program)
        .args(["qualify", "site.toml", "--out", "run", "--json"])
        .current_dir(folder.path())
        .output()
        .unwrap();
    let run = said(&output);
    let document: Value = serde_json::from_str(&run.out).unwrap();
    let reasons = |row: usize| document["isolation"][0]["rows"][row]["not_as_asked"].to_string();
    let of_root = "control `load-balance` was not applied: that takes root";
    assert!(reasons(4).contains(of_root), "{}", reasons(4));
    assert!(!reasons(2).contains("control"), "{}", reasons(2));
    assert!(
        run.err.contains("the settings of controls `interrupts`, `load-balance`"),
        "{}",
        run.err
    );
}
