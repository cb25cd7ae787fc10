//! Evidence of every kind that an earlier version has written, and the output that it gives today.
//!
//! Goal: a change of anything that a user reads in evidence is seen, and evidence that was written
//! stays readable. Method: the folders below `folders` are shown, verified, compared and reported,
//! and each answer is compared with its stored copy below `expected`. What a folder holds already,
//! as the document that `show --json` prints, is not stored twice.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod document;
mod page;
#[path = "../stored/mod.rs"]
mod stored;

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use sha2::{Digest as _, Sha256};
use stored::{assert_stored, test_file, transcript};

/// The public key by which the folders are signed; the private one was deleted.
const KEY: &str = "../plant.pub.pem";
/// Number of lines of a table that are stored; the others are in its sum.
const TABLE_LINES: usize = 4;

/// Compares all answers about a folder with the stored ones.
#[track_caller]
fn check(name: &str) {
    let folders = test_file("evidence/folders");
    let ask = |arguments: &[&str]| transcript(&folders, arguments);
    let held = |file: &str| fs::read_to_string(folders.join(name).join(file)).unwrap();
    let within = |file: &str, text: &str| {
        let held = held(file);
        let is_same = !held.is_empty() && text.contains(&held);
        if is_same {
            text.replace(&held, &format!("(as `{file}` in the folder)\n"))
        } else {
            text.into()
        }
    };
    let calls = [
        ask(&["show", name]),
        document::by_its_file(
            &ask(&["show", name, "--json"]),
            "evidence.json",
            &held("evidence.json"),
        ),
        ask(&["verify", name]),
        ask(&["verify", name, "--key", KEY]),
        ask(&["verify", name, "--key", KEY, "--json"]),
    ];
    let made = tempfile::tempdir().unwrap();
    let path = |file: &str| made.path().join(file).display().to_string();
    let (page, junit, csv, text) = (path("page"), path("junit"), path("csv"), path("cyclictest"));
    let options = ["--html", &page, "--junit", &junit, "--csv", &csv, "--cyclictest", &text];
    let reported = ask(&[&["report", name], &options[..]].concat());
    let reported = reported.replace(&format!("{}/", made.path().display()), "");
    let mut told = calls.join("\n") + "\n" + &reported;
    let junit = fs::read_to_string(junit).unwrap();
    write!(told, "\n=== junit\n{}", within("junit.xml", &junit)).unwrap();
    told.push_str(&tables(Path::new(&csv)));
    told.push_str(&head("cyclictest", &fs::read_to_string(text).unwrap()));
    write!(told, "\n=== page\n{}", page::outline(&fs::read_to_string(page).unwrap())).unwrap();
    assert_stored(&format!("evidence/expected/{name}.txt"), &told);
}

/// Goal: what a page says in its sections, a program can read: the same tables, and nothing where
/// there are none.
#[test]
fn sections_are_the_stored_ones() {
    let folders = test_file("evidence/folders");
    let mut told = String::new();
    for name in ["memory", "ethercat", "osek", "qualify-isolation", "tune", "disturb", "latency"] {
        let made = tempfile::tempdir().unwrap();
        let place = made.path().join("sections");
        let path = place.display().to_string();
        transcript(&folders, &["report", name, "--sections", &path]);
        let document = fs::read_to_string(place.join("sections.json")).unwrap();
        let document: serde_json::Value = serde_json::from_str(&document).unwrap();
        assert_eq!(document["schema"], "quietcore.sections/1");
        let sections = document["sections"].as_array().unwrap();
        let titles: Vec<_> = sections.iter().map(|it| it["title"].as_str().unwrap()).collect();
        writeln!(told, "\n=== {name}: {}", titles.join(", ")).unwrap();
        told.push_str(&tables(&place));
    }
    assert_stored("evidence/expected/sections.txt", &told);
}

/// Returns the tables of a folder, by name.
fn tables(folder: &Path) -> String {
    let names = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name());
    let mut names: Vec<_> = names.map(|name| name.into_string().unwrap()).collect();
    names.sort();
    let text = |name: &String| fs::read_to_string(folder.join(name)).unwrap();
    names.iter().map(|name| head(name, &text(name))).collect()
}

/// Returns the first lines of a long text, and the sum of all.
fn head(name: &str, text: &str) -> String {
    let mut shown = format!("\n=== {name}\n");
    for line in text.lines().take(TABLE_LINES) {
        writeln!(shown, "{line}").unwrap();
    }
    let sum: String = Sha256::digest(text).iter().map(|byte| format!("{byte:02x}")).collect();
    writeln!(shown, "({} lines, SHA-256 {sum})", text.lines().count()).unwrap();
    shown
}

/// Makes a test for each folder, so that each has a name in the output.
macro_rules! folders {
    ($($test:ident: $name:literal,)*) => {
        $(#[test]
        fn $test() {
            check($name);
        })*

        const FOLDERS: &[&str] = &[$($name),*];
    };
}

folders! {
    a_campaign_of_programs_with_ledgers_passes: "qualify-programs",
    a_program_that_crashes_fails: "qualify-crash",
    a_program_that_overruns_fails: "qualify-overrun",
    an_osek_program_has_a_record_of_each_task: "qualify-osek",
    the_isolation_matrix_has_twelve_rows: "qualify-isolation",
    an_interrupted_campaign_is_not_proven: "qualify-interrupted",
    a_probe_of_latency: "latency",
    an_injected_delay_with_its_ledger: "latency-inject",
    a_probe_of_execution_time: "exec",
    a_probe_of_the_osek_kernel: "osek",
    a_probe_of_memory: "memory",
    a_probe_of_round_trips: "ethercat",
    controls_that_were_tried: "tune",
    neighbours_that_were_tried: "disturb",
    an_import_that_is_not_signed: "import-cyclictest",
    an_import_of_interrupts_and_threads: "import-rtla",
}

#[test]
fn every_folder_has_its_test() {
    let entries = fs::read_dir(test_file("evidence/folders")).unwrap();
    let mut names: Vec<_> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    let mut tested = FOLDERS.to_vec();
    tested.sort_unstable();
    assert_eq!(names, tested);
}

/// Goal: two runs beside each other, and a run beside what was published, read as they did.
#[test]
fn comparisons_are_the_stored_ones() {
    let folders = test_file("evidence/folders");
    let pairs = [
        ["latency", "latency-inject"],
        ["qualify-programs", "exec"],
        ["qualify-overrun", "qualify-osek"],
        ["osek", "memory"],
        ["import-cyclictest", "import-rtla"],
    ];
    let published = [
        ["qualify-programs", "queiroz2023/table-3"],
        ["latency", "queiroz2023/table-4"],
        ["qualify-isolation", "hofer2019/table-1"],
        ["osek", "scordino2020/figure-4"],
        ["memory", "scordino2020/figure-5"],
        ["memory", "scordino2020/figure-6"],
        ["ethercat", "scordino2020/table-1"],
        ["ethercat", "queiroz2023/table-3"],
    ];
    let calls = pairs.map(|[a, b]| vec!["compare", a, b]).into_iter();
    let calls =
        calls.chain(published.map(|[folder, table]| vec!["compare", folder, "--with", table]));
    let mut told = String::new();
    for call in calls {
        for form in [&[][..], &["--json"]] {
            let arguments = [&call, form].concat();
            told.push_str(&transcript(&folders, &arguments));
            told.push('\n');
        }
    }
    assert_stored("evidence/expected/comparisons.txt", &told);
}

/// Goal: the page over a folder of runs lists each of them as it did.
#[test]
fn the_page_over_all_folders_is_the_stored_one() {
    let made = tempfile::tempdir().unwrap();
    let folders = test_file("evidence/folders");
    let page = made.path().join("page");
    let arguments = ["report", ".", "--html", page.to_str().unwrap()];
    let told = transcript(&folders, &arguments);
    let told = told.replace(&format!("{}/", made.path().display()), "");
    let outline = page::outline(&fs::read_to_string(page).unwrap());
    assert_stored("evidence/expected/all-folders.txt", &format!("{told}\n=== page\n{outline}"));
}
