//! A trail over its years: entries, pruning, clocks that jump, and files that are damaged.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use jiff::{SignedDuration, Timestamp};
use quietcore_audit::{
    Entry, Instant, Intention, Kind, NO_HASH, OnDisk, Outcome, Reader, Refusal, Retention, Trail,
    TrailError, Verification, Who, WhyFault,
};
use rusqlite::Connection;
use serde_json::{Value, json};
use tempfile::TempDir;

/// A trail in a folder of its own, on clocks that a test sets.
struct Bench {
    folder: TempDir,
    now: Arc<Mutex<Instant>>,
    trail: Trail,
}

impl Bench {
    fn new() -> Self {
        let folder = TempDir::new().expect("a folder");
        let at = "2026-11-27T20:15:03.25Z".parse::<Timestamp>().expect("an instant");
        let now = Instant { at, boot: "a".to_owned(), since_boot_us: 1_000_000 };
        let now = Arc::new(Mutex::new(now));
        let trail = trail(&folder, &now);
        Self { folder, now, trail }
    }

    fn path(&self) -> PathBuf {
        self.trail.path().to_owned()
    }

    /// Lets time pass on both clocks.
    fn pass(&self, days: i64) {
        let span = SignedDuration::from_hours(24 * days);
        let mut now = self.now.lock().expect("nobody panics with it");
        now.at += span;
        now.since_boot_us += u64::try_from(span.as_micros()).expect("it goes forward");
    }

    /// Ends the trail and begins anew, as a daemon does.
    fn restart(&mut self) {
        self.trail = trail(&self.folder, &self.now);
    }

    fn intend(&mut self) -> Result<quietcore_audit::Intended, TrailError> {
        let intention = Intention {
            who: Who { user: "anna".into(), ..Who::default() },
            call: "PartitionService/PausePartition".into(),
            site: "line".into(),
            partition: "axis".into(),
            what: json!({"request": "pause"}),
        };
        self.trail.intend(intention, OnDisk::BeforeTheChange)
    }

    fn change(&mut self) {
        let intended = self.intend().expect("it can be written");
        let done = Outcome::Done(json!({"was_paused": false}));
        self.trail.conclude(intended, done).expect("it can be written");
    }

    fn entries(&self) -> Vec<Entry> {
        let rows = Reader::open(&self.path()).and_then(|it| it.rows(0, usize::MAX));
        rows.expect("it can be read").iter().map(|row| row.entry().expect("an entry")).collect()
    }

    fn verify(&self) -> Verification {
        verify(&self.path())
    }

    /// The files that were set aside.
    fn set_aside(&self) -> Vec<PathBuf> {
        let listed = fs::read_dir(&self.folder).expect("a folder").flatten();
        let is_one = |path: &PathBuf| {
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            name.starts_with("audit-") && name.ends_with(".db")
        };
        listed.map(|entry| entry.path()).filter(is_one).collect()
    }
}

fn trail(folder: &TempDir, now: &Arc<Mutex<Instant>>) -> Trail {
    let now = Arc::clone(now);
    let clock = move || now.lock().expect("nobody panics with it").clone();
    Trail::new(folder.path(), Retention::default()).with_clock(clock)
}

fn verify(path: &Path) -> Verification {
    Reader::open(path).and_then(|it| it.verify()).expect("it can be read")
}

#[test]
fn an_intention_is_there_before_its_outcome_and_both_say_who_and_what() {
    let mut bench = Bench::new();
    let intended = bench.intend().unwrap();
    let before = bench.entries();
    assert_eq!(before.iter().map(|it| it.kind).collect::<Vec<_>>(), [Kind::Began, Kind::Intended]);
    assert_eq!(before[0].previous, NO_HASH);
    assert_eq!(bench.verify().unknown, [2]);
    let refusal = Refusal { kind: "NOT_NOW".into(), sentence: "axis: it does not run".into() };
    bench.trail.conclude(intended, Outcome::Refused(refusal.clone())).unwrap();
    let after = bench.entries();
    assert_eq!(after[..2], before);
    let outcome = &after[2];
    assert_eq!((outcome.of, outcome.kind), (Some(2), Kind::Refused));
    assert_eq!(outcome.refusal, Some(refusal));
    assert_eq!((&outcome.who, &outcome.call), (&before[1].who, &before[1].call));
    assert_eq!(bench.verify().unknown, [0_u64; 0]);
}

#[test]
fn a_trail_goes_on_where_it_ended() {
    let mut bench = Bench::new();
    bench.change();
    bench.restart();
    bench.change();
    let found = bench.verify();
    assert_eq!((found.fault, found.count), (None, 5));
    assert!(bench.set_aside().is_empty());
}

/// Goal: the database itself keeps entries, whichever program opens it.
#[test]
fn no_statement_changes_or_removes_an_entry() {
    let mut bench = Bench::new();
    bench.change();
    let before = bench.entries();
    let other = Connection::open(bench.path()).unwrap();
    for (statement, told) in [
        ("UPDATE entry SET text = '{}' WHERE number = 2", "never changed"),
        ("UPDATE entry SET number = 9 WHERE number = 3", "never changed"),
        ("DELETE FROM entry WHERE number = 3", "by a pruning alone"),
        ("DELETE FROM entry", "by a pruning alone"),
        ("INSERT OR REPLACE INTO entry SELECT * FROM entry WHERE number = 2", "continues"),
        ("INSERT INTO entry SELECT number + 3, text, hash FROM entry", "continues"),
        ("UPDATE head SET number = 2", "the last entry"),
        ("DELETE FROM head", "the head stays"),
    ] {
        let refused = other.execute_batch(statement).unwrap_err().to_string();
        assert!(refused.contains(told), "{statement}: {refused}");
    }
    assert_eq!(bench.entries(), before);
}

#[test]
fn what_was_kept_for_years_is_pruned_and_the_rest_verifies() {
    let mut bench = Bench::new();
    bench.change();
    bench.pass(1);
    bench.change();
    // Not yet five years after the second.
    bench.pass(5 * 366 - 4);
    bench.change();
    assert_eq!(bench.entries()[0].number, 4, "{:#?}", bench.entries());
    let entries = bench.entries();
    let pruned = entries.iter().find(|it| it.kind == Kind::Pruned).expect("a pruning");
    assert_eq!((&pruned.what["last_number"], &pruned.what["count"]), (&json!(3), &json!(3)));
    assert_eq!(pruned.what["last_hash"], json!(entries[0].previous));
    assert_eq!(bench.verify().fault, None);
    // The beginning that a pruning has left can't be cut further.
    let other = Connection::open(bench.path()).unwrap();
    other
        .execute_batch(
            "DROP TRIGGER a_pruning_alone_removes_entries; DELETE FROM entry WHERE number = 4",
        )
        .unwrap();
    let rows = Reader::open(&bench.path()).unwrap().rows(0, 100).unwrap();
    let mut verifier = quietcore_audit::Verifier::new();
    assert!(rows.iter().all(|row| verifier.take(row)));
    let fault = verifier.end(None).fault.expect("a fault");
    assert_eq!((fault.number, fault.why), (5, WhyFault::NoBeginning));
}

/// Goal: a wall clock that is years ahead for a while costs a month of the trail at most.
#[test]
fn a_pruning_removes_a_month_at_most_and_the_next_is_a_day_later() {
    let mut bench = Bench::new();
    for _ in 0..3 {
        bench.change();
        bench.pass(20);
    }
    // The clock jumps; the machine starts again and again.
    bench.now.lock().unwrap().at += SignedDuration::from_hours(24 * 3660);
    for _ in 0..3 {
        bench.restart();
        bench.change();
    }
    let entries = bench.entries();
    assert_eq!(entries.iter().filter(|it| it.kind == Kind::Pruned).count(), 1);
    assert_eq!(entries[0].number, 6, "those of the first 31 days have gone");
    bench.pass(1);
    bench.restart();
    bench.change();
    assert_eq!(bench.entries()[0].number, 8);
    let found = bench.verify();
    assert_eq!(found.fault, None);
}

#[test]
fn a_clock_that_was_set_is_told_with_its_place() {
    let mut bench = Bench::new();
    bench.change();
    bench.now.lock().unwrap().at -= SignedDuration::from_hours(2);
    bench.change();
    let found = bench.verify();
    assert_eq!(found.fault, None, "numbers and hashes order the entries, not the clock");
    let settings: Vec<_> = found.clock_settings.iter().map(|it| (it.before, it.by)).collect();
    assert_eq!(settings, [(4, -SignedDuration::from_hours(2))]);
}

/// Writes a trail, damages its file, and returns whether the next start has noticed.
fn is_noticed(bytes: &[u8], entries: &[Entry]) -> bool {
    let mut bench = Bench::new();
    fs::write(bench.path(), bytes).unwrap();
    let opened = bench.trail.open();
    if let Err(TrailError::Later { .. }) = opened {
        return true;
    }
    opened.unwrap();
    let now = bench.entries();
    assert_eq!(bench.verify().fault, None);
    if now == entries {
        return false;
    }
    assert_eq!((now.len(), now[0].kind, now[0].number), (1, Kind::Began, 1));
    let aside = bench.set_aside();
    if bytes.is_empty() {
        assert_eq!(now[0].what["reason"], "the file was empty");
        return true;
    }
    assert_eq!(aside.len(), 1);
    assert_eq!(fs::read(&aside[0]).unwrap(), bytes, "it is kept as it was");
    let name = aside[0].file_name().unwrap().to_string_lossy().into_owned();
    assert_eq!(now[0].what["file"], Value::String(name));
    assert!(now[0].what["fault"].as_str().is_some_and(|it| !it.is_empty()));
    bench.change();
    assert_eq!(bench.verify().fault, None);
    true
}

/// Returns the file of a trail that was closed, and its entries.
fn closed() -> (Vec<u8>, Vec<Entry>) {
    let mut bench = Bench::new();
    for _ in 0..6 {
        bench.change();
    }
    let (path, entries) = (bench.path(), bench.entries());
    bench.restart();
    (fs::read(path).unwrap(), entries)
}

/// Goal: whatever happens to the file, the next start either has all entries, or sets the file
/// aside and says so.
#[test]
fn a_file_that_was_cut_off_is_set_aside() {
    let (bytes, entries) = closed();
    assert!(!is_noticed(&bytes, &entries));
    for part in 0..16 {
        let length = bytes.len() * part / 16;
        assert!(is_noticed(&bytes[..length], &entries), "cut to {length} bytes");
    }
}

#[test]
fn a_file_with_a_flipped_bit_has_all_entries_or_is_set_aside() {
    let (bytes, entries) = closed();
    let text = bytes.windows(6).rposition(|it| it == b"\"anna\"").expect("an entry");
    let mut noticed = 0;
    let places = (0..bytes.len()).step_by(211).chain([text + 2, 60, 68, 16, 100, 4096]);
    let places: Vec<_> = places.collect();
    for place in &places {
        let mut bytes = bytes.clone();
        bytes[*place] ^= 0x10;
        noticed += usize::from(is_noticed(&bytes, &entries));
    }
    assert!(noticed > 5, "{noticed} of {}", places.len());
    let mut changed = bytes;
    changed[text + 2] ^= 0x10;
    assert!(is_noticed(&changed, &entries), "a changed name");
}

#[test]
fn what_was_set_aside_is_read_up_to_its_fault() {
    let mut bench = Bench::new();
    bench.change();
    bench.change();
    let path = bench.path();
    bench.restart();
    let other = Connection::open(&path).unwrap();
    let trigger: String = other
        .query_row(
            "SELECT sql FROM sqlite_schema WHERE name = 'an_entry_is_never_changed'",
            [],
            |row| row.get(0),
        )
        .unwrap();
    let forge = "DROP TRIGGER an_entry_is_never_changed;
        UPDATE entry SET text = replace(text, 'anna', 'otto') WHERE number = 4;";
    other.execute_batch(&format!("{forge}{trigger}")).unwrap();
    drop(other);
    bench.change();
    let entries = bench.entries();
    assert_eq!(entries[0].what["fault"], "entry 4 was changed: its hash is another one");
    assert_eq!(entries[0].what["last_number"], 3);
    let aside = bench.set_aside();
    let found = verify(&aside[0]);
    assert_eq!((found.count, found.fault.map(|it| it.number)), (3, Some(4)));
    assert_eq!(Reader::open(&aside[0]).unwrap().rows(0, 100).unwrap().len(), 5);
}

#[test]
fn nothing_is_entered_while_it_cannot_be_written_and_then_it_goes_on() {
    let mut bench = Bench::new();
    bench.change();
    // The folder goes, and comes back.
    let moved = bench.folder.path().with_extension("moved");
    fs::rename(&bench.folder, &moved).unwrap();
    let refused = bench.intend().unwrap_err();
    assert!(refused.to_string().contains("can't be used"), "{refused}");
    fs::rename(&moved, &bench.folder).unwrap();
    bench.change();
    assert_eq!((bench.verify().fault, bench.verify().count), (None, 5));
}

#[test]
fn a_file_that_was_removed_under_way_is_noticed() {
    let mut bench = Bench::new();
    bench.change();
    fs::remove_file(bench.path()).unwrap();
    bench.change();
    let entries = bench.entries();
    assert_eq!(entries[0].what["reason"], "the file was removed while it was written");
    assert_eq!(bench.verify().fault, None);
}
