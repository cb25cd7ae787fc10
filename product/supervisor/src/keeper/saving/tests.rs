//! Times at which values are saved, and the values that each build is given.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use quietcore_exchange::Target;

use super::*;
use crate::world::Storage;
use crate::world::storage::{Disk, FullDisk};

#[test]
fn a_value_of_another_type_is_named_and_the_others_are_given() {
    let entry = |path: &str, kind: &str, offset, bytes| RetainEntry {
        path: path.to_owned(),
        kind: kind.to_owned(),
        offset,
        bytes,
    };
    let old = [entry("DW.total", "u32", 0, 4), entry("DW.mode", "u8", 4, 1)];
    let values = vec![1, 2, 3, 4, 5];
    let snapshot = Snapshot { sequence: 1, variables: variables(&old), values };
    let new = [entry("DW.total", "f32", 16, 4), entry("DW.mode", "u8", 20, 1)];
    let (given, changed) = values_of(&snapshot, &new);
    assert_eq!(given, [Value { place: DataRange { offset: 20, bytes: 1 }, bytes: vec![5] }]);
    assert_eq!(changed, ["`DW.total` was `u32`, is `f32`"]);
}

/// Goal: no forced value is retained, whether it is one element of an array, some bits of a
/// word, or lies across the border of what is retained.
#[test]
fn a_forced_variable_is_retained_as_it_was_before() {
    let entry = |offset, bytes| RetainEntry {
        path: "DW.some".to_owned(),
        kind: "u8[4]".to_owned(),
        offset,
        bytes,
    };
    let held = |offset, bytes, mask, before| Held {
        force: Assignment { target: Target { offset, bytes, mask }, value: 0 },
        before,
    };
    let forced = [
        held(10, 1, u64::MAX, 0x77),
        held(40, 2, 0x0ff0, 0x1234),
        held(34, 4, u64::MAX, 0xaabb_ccdd),
    ];
    let mut values = [9; 8];
    give_back(&forced, &[entry(8, 4), entry(40, 2), entry(36, 2)], &mut values);
    assert_eq!(values, [9, 9, 0x77, 9, 0x39, 0x02, 0xbb, 0xaa]);
}

/// Makes a saving that begins anew in a folder.
fn saving(storage: Arc<dyn Storage>, folder: &Path, now: Instant) -> Saving {
    let (files, newest) = RetainFiles::open(storage, folder).unwrap();
    Saving {
        files,
        newest,
        saved: 0,
        next: now,
        keep_at: now,
        stored: Stored::Written,
        buffer: Vec::new(),
        released: 0,
        forced_before: None,
    }
}

/// Takes a value of the one variable there is.
fn take(saving: &mut Saving, value: u8) {
    saving.buffer = vec![value];
    saving.take(vec![Variable { path: "a".into(), type_name: "u8".into(), bytes: 1 }]);
}

/// Goal: the disk is spared where nothing changes, and what changed last gets there all the
/// same. Method: the number of the snapshot in the files counts how often they were written.
#[test]
fn values_that_stay_are_written_once_and_kept() {
    let folder = tempfile::tempdir().unwrap();
    let start = Instant::now();
    let mut saving = saving(Arc::new(Disk), folder.path(), start);
    let mut save = |millis: u64, value: u8, at_once: bool| {
        take(&mut saving, value);
        saving.store(start + Duration::from_millis(millis), at_once).unwrap();
        let found = RetainFiles::open(Arc::new(Disk), folder.path()).unwrap().1.unwrap();
        assert_eq!(found.values, [value]);
        (found.sequence, saving.stored)
    };
    assert_eq!(save(0, 1, false), (1, Stored::Kept));
    assert_eq!(save(100, 1, false), (1, Stored::Kept));
    assert_eq!(save(200, 2, false), (2, Stored::Written));
    assert_eq!(save(300, 2, false), (2, Stored::Written));
    assert_eq!(save(1000, 2, false), (3, Stored::Kept));
    assert_eq!(save(1100, 2, true), (3, Stored::Kept));
    assert_eq!(save(1200, 3, true), (4, Stored::Kept));
}
/// Goal: what a full disk would not take is written when it has room, though nothing new comes,
/// as of a partition that is not started any more. Found by the simulation.
#[test]
fn values_that_could_not_be_written_are_written_later() {
    let folder = tempfile::tempdir().unwrap();
    let (disk, start) = (Arc::new(FullDisk::default()), Instant::now());
    let mut saving = saving(Arc::clone(&disk) as Arc<dyn Storage>, folder.path(), start);
    take(&mut saving, 7);
    assert!(saving.store(start, true).is_err() && !saving.is_settled());
    disk.has_room.store(true, Ordering::Relaxed);
    saving.store(start + SAVE_EVERY, false).unwrap();
    assert!(saving.is_settled());
    let found = RetainFiles::open(Arc::new(Disk), folder.path()).unwrap().1.unwrap();
    assert_eq!(found.values, [7]);
}

/// Goal: as long as no file is on the disk for sure, the disk is waited for: else a loss of
/// power could leave two damaged ones, with which no site comes up. Found by the simulation.
#[test]
fn the_first_values_after_all_were_forgotten_are_kept() {
    let folder = tempfile::tempdir().unwrap();
    let start = Instant::now();
    let mut saving = saving(Arc::new(Disk), folder.path(), start);
    take(&mut saving, 1);
    saving.store(start, false).unwrap();
    saving.begin(Restart::Origin);
    take(&mut saving, 2);
    saving.store(start + SAVE_EVERY, false).unwrap();
    assert_eq!(saving.stored, Stored::Kept);
    take(&mut saving, 3);
    saving.store(start + SAVE_EVERY * 2, false).unwrap();
    assert_eq!(saving.stored, Stored::Written);
}

/// Goal: a process that dies in the cycle in which variables are released loses no values of the
/// cycles before, and leaves no forced one behind. Found by the simulation.
#[test]
fn values_from_before_a_release_are_of_the_forces_then() {
    let folder = tempfile::tempdir().unwrap();
    let mut saving = saving(Arc::new(Disk), folder.path(), Instant::now());
    let held = |before| {
        let target = Target { offset: 0, bytes: 1, mask: u64::MAX };
        vec![Held { force: Assignment { target, value: 0 }, before }]
    };
    let forces_of = |saving: &Saving, cycle| saving.forces_of(cycle, Some(Vec::new()));
    saving.note_release(10, Some(held(1)));
    saving.note_release(20, Some(held(2)));
    assert_eq!(forces_of(&saving, 20), Some(Vec::new()));
    assert_eq!(forces_of(&saving, 19), Some(held(2)));
    assert_eq!(forces_of(&saving, 10), Some(held(2)));
    assert_eq!(forces_of(&saving, 9), None);
    saving.note_release(30, None);
    assert_eq!(forces_of(&saving, 29), None);
}
