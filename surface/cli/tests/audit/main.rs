//! `quietcore audit`: the trail that a daemon writes, printed, chosen from, exported and verified.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

#[expect(dead_code, reason = "other tests call it in other ways")]
#[path = "../command/mod.rs"]
mod command;

use std::fs;
use std::path::{Path, PathBuf};

use command::{Said, call};
use quietcore_audit::{FILE, Intention, OnDisk, Outcome, Refusal, Retention, Trail, Who};
use rusqlite::Connection;
use serde_json::{Value, json};
use tempfile::TempDir;

/// A folder with the state of a daemon that has the trail open, and has written five changes.
struct Bench {
    folder: TempDir,
    trail: Option<Trail>,
}

impl Bench {
    fn new() -> Self {
        let folder = TempDir::new().unwrap();
        let state = folder.path().join("state/@daemon");
        fs::create_dir_all(&state).unwrap();
        let mut trail = Trail::new(&state, Retention::default());
        for (user, partition) in [("anna", "axis"), ("otto", "axis"), ("anna", "press")] {
            let who = Who { user: user.to_owned(), ..Who::default() };
            let call = "PartitionService/PausePartition".to_owned();
            let (site, partition) = ("line".to_owned(), partition.to_owned());
            let what = json!({"request": "pause"});
            let intended = trail
                .intend(Intention { who, call, site, partition, what }, OnDisk::BeforeTheChange)
                .unwrap();
            let sentence = "press: it does not run".to_owned();
            let outcome = match user {
                "otto" => Outcome::Refused(Refusal { kind: "NOT_NOW".to_owned(), sentence }),
                _ => Outcome::Done(json!({"is_paused": true})),
            };
            trail.conclude(intended, outcome).unwrap();
        }
        trail
            .intend(
                Intention { call: "X/Y".to_owned(), ..Intention::default() },
                OnDisk::BeforeTheChange,
            )
            .unwrap();
        Self { folder, trail: Some(trail) }
    }

    fn file(&self) -> PathBuf {
        self.folder.path().join("state/@daemon").join(FILE)
    }

    fn audit(&self, arguments: &[&str]) -> Said {
        call(self.folder.path(), &[&["audit"], arguments].concat())
    }

    /// Numbers of the entries that an export holds.
    fn exported(&self, arguments: &[&str]) -> Vec<u64> {
        let said = self.audit(&[&["--json"], arguments].concat());
        assert_eq!((said.status, said.err.as_str()), (Some(0), ""), "{arguments:?}");
        let lines = said.out.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        lines.map(|entry| entry["number"].as_u64().unwrap()).collect()
    }
}

/// Changes an entry as somebody does who knows the database.
fn forge(file: &Path) {
    let database = Connection::open(file).unwrap();
    let trigger = "an_entry_is_never_changed";
    let query = format!("SELECT sql FROM sqlite_schema WHERE name = '{trigger}'");
    let sql: String = database.query_row(&query, [], |row| row.get(0)).unwrap();
    let change = "UPDATE entry SET text = replace(text, 'otto', 'anna') WHERE number = 4";
    database.execute_batch(&format!("DROP TRIGGER {trigger}; {change}; {sql}")).unwrap();
}

#[test]
fn changes_are_listed_with_their_outcomes_and_chosen_by_who_where_and_when() {
    let bench = Bench::new();
    let said = bench.audit(&[]);
    assert_eq!((said.status, said.err.as_str()), (Some(0), ""));
    // Long rows go on in their last column.
    let words = said.out.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut rest = words.as_str();
    for told in [
        "no time who where what 1 2",
        "Z quietcored the trail begins: it is the first 2 ",
        "Z anna line/axis PausePartition: done 4 ",
        "Z otto line/axis PausePartition: refused: press: it does not run 6 ",
        "Z anna line/press PausePartition: done 8 ",
        "Z Y: unknown: it is under way, or the daemon was killed",
    ] {
        let (_, behind) = rest.split_once(told).unwrap_or_else(|| panic!("`{told}` in {words}"));
        rest = behind;
    }
    assert_eq!(bench.exported(&[]), [1, 2, 3, 4, 5, 6, 7, 8]);
    assert_eq!(bench.exported(&["--who", "otto"]), [4, 5]);
    assert_eq!(bench.exported(&["--partition", "press"]), [6, 7]);
    assert_eq!(bench.exported(&["--partition", "line/axis", "--who", "anna"]), [2, 3]);
    assert_eq!(bench.exported(&["--site", "other"]), [0_u64; 0]);
    assert_eq!(bench.exported(&["--since", "365d"]).len(), 8);
    assert_eq!(bench.exported(&["--since", "2500-01-01"]), [0_u64; 0]);
}

/// Goal: a chain that was altered is found while the daemon runs and when it does not.
#[test]
fn a_verification_names_the_first_fault_and_fails() {
    let mut bench = Bench::new();
    let said = bench.audit(&["--verify"]);
    assert_eq!(said.status, Some(0), "{}{}", said.out, said.err);
    assert!(said.out.starts_with("in order: 8 entries, 1 to 8, from "), "{}", said.out);
    assert!(said.out.contains("\nwithout an outcome: 1 of 8 entries (8), "), "{}", said.out);
    forge(&bench.file());
    for is_running in [true, false] {
        if !is_running {
            bench.trail = None;
        }
        let said = bench.audit(&["--verify"]);
        assert_eq!(said.status, Some(1), "{}", said.err);
        let told = "NOT in order: entry 4 was changed: its hash is another one\nin order before \
                    that: 3 entries, 1 to 3, from ";
        assert!(said.out.starts_with(told), "{}", said.out);
    }
    fs::write(bench.file(), vec![7; 8192]).unwrap();
    let said = bench.audit(&["--verify"]);
    assert_eq!(said.status, Some(1), "{}", said.err);
    assert!(said.out.starts_with("NOT in order: the file can't be read: "), "{}", said.out);
}

#[test]
fn a_trail_that_was_set_aside_is_named_and_can_be_read() {
    let mut bench = Bench::new();
    bench.trail = None;
    forge(&bench.file());
    Trail::new(bench.file().parent().unwrap(), Retention::default()).open().unwrap();
    let said = bench.audit(&["--verify"]);
    assert!(said.out.starts_with("in order: 1 entry, 1 to 1, "), "{}", said.out);
    let (_, aside) = said.err.trim().rsplit_once("--file ").expect("a remark");
    let aside = aside.trim_end_matches('`');
    let said = bench.audit(&["--file", aside, "--verify"]);
    assert!(said.out.starts_with("NOT in order: entry 4 was changed"), "{}{}", said.out, said.err);
    let said = bench.audit(&["--file", aside, "--json"]);
    assert_eq!((said.status, said.out.lines().count()), (Some(0), 8), "{}", said.out);
}

#[test]
fn without_a_trail_it_is_told_who_makes_one() {
    let folder = TempDir::new().unwrap();
    let said = call(folder.path(), &["audit", "--verify"]);
    assert_eq!((said.status, said.out.as_str()), (Some(2), ""));
    assert!(said.err.contains("there is no audit trail yet"), "{}", said.err);
}
