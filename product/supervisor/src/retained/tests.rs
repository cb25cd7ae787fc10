//! A snapshot is read back as it was written, and nothing else is taken for one.

use std::fs;

use super::*;
use crate::world::storage::{Disk, FullDisk};
use proptest::prelude::*;

fn open(folder: &Path) -> Result<(RetainFiles, Option<Snapshot>), RetainError> {
    RetainFiles::open(Arc::new(Disk), folder)
}

fn variables() -> Vec<Variable> {
    let of = |path: &str, type_name: &str, bytes| Variable {
        path: path.to_owned(),
        type_name: type_name.to_owned(),
        bytes,
    };
    vec![of("servo_DW.position", "f64", 8), of("servo_DW.mode", "i16", 2)]
}

#[test]
fn the_newest_snapshot_is_read_back() {
    let folder = tempfile::tempdir().unwrap();
    let (mut files, nothing) = open(folder.path()).unwrap();
    assert_eq!(nothing, None);
    for value in 1..=3 {
        files.keep(&variables(), &[value; 10]).unwrap();
    }
    let (mut files, found) = open(folder.path()).unwrap();
    let found = found.unwrap();
    assert_eq!((found.sequence, found.values), (3, vec![3; 10]));
    assert_eq!(found.variables, variables());
    files.keep(&variables(), &[4; 10]).unwrap();
    files.forget().unwrap();
    assert_eq!(open(folder.path()).unwrap().1, None);
}

#[test]
fn a_file_cut_off_anywhere_leaves_the_one_before() {
    let folder = tempfile::tempdir().unwrap();
    let (mut files, _) = open(folder.path()).unwrap();
    files.keep(&variables(), &[1; 10]).unwrap();
    files.keep(&variables(), &[2; 10]).unwrap();
    let newer = folder.path().join("retained.1");
    let whole = fs::read(&newer).unwrap();
    for length in 0..whole.len() {
        fs::write(&newer, &whole[..length]).unwrap();
        let found = open(folder.path()).unwrap().1.unwrap();
        assert_eq!(found.values, [1; 10], "cut off after {length} bytes");
    }
    fs::remove_file(folder.path().join("retained.0")).unwrap();
    let refused = open(folder.path()).unwrap_err().to_string();
    assert!(refused.contains("damaged") && refused.contains("--cold"), "{refused}");
}

#[test]
fn what_was_kept_is_written_over_only_by_what_is_kept() {
    let folder = tempfile::tempdir().unwrap();
    let (mut files, _) = open(folder.path()).unwrap();
    let values = |name: &str| read(&Disk, &folder.path().join(name)).unwrap().unwrap().values[0];
    files.keep(&variables(), &[1; 10]).unwrap();
    for value in 2..5 {
        files.write(&variables(), &[value; 10]).unwrap();
        assert_eq!((values("retained.0"), values("retained.1")), (1, value));
    }
    files.keep(&variables(), &[5; 10]).unwrap();
    files.write(&variables(), &[6; 10]).unwrap();
    assert_eq!((values("retained.0"), values("retained.1")), (6, 5));
    let newest = open(folder.path()).unwrap().1.unwrap();
    assert_eq!(newest.values, [6; 10]);
}

/// Goal: what is no file is named and makes nobody wait. Method: pipes and a link.
#[test]
fn what_is_no_regular_file_is_refused_and_replaced() {
    use rustix::fs::{CWD, FileType, Mode, mknodat};
    let folder = tempfile::tempdir().unwrap();
    let pipe = |name: &str| {
        let path = folder.path().join(name);
        mknodat(CWD, &path, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
    };
    pipe("retained.0");
    pipe("retained.new");
    std::os::unix::fs::symlink("elsewhere", folder.path().join("retained.1")).unwrap();
    for name in NAMES {
        let refused = read(&Disk, &folder.path().join(name)).unwrap_err();
        assert!(refused.ends_with(&format!("{name}` is not a regular file")), "{refused}");
    }
    let refused = open(folder.path()).unwrap_err().to_string();
    assert!(refused.contains("not a regular file") && refused.contains("--cold"), "{refused}");
    let mut files = RetainFiles::begin_anew(Arc::new(Disk), folder.path());
    files.keep(&variables(), &[1; 10]).unwrap();
    assert_eq!(open(folder.path()).unwrap().1.unwrap().values, [1; 10]);
}

/// Goal: what is half written on a full disk does not keep its room, nor what a supervisor has left
/// that was killed while it wrote. Found by the simulation.
#[test]
fn nothing_half_written_is_left() {
    let folder = tempfile::tempdir().unwrap();
    let (mut files, _) = open(folder.path()).unwrap();
    files.keep(&variables(), &[1; 10]).unwrap();
    let (mut full, _) = RetainFiles::open(Arc::new(FullDisk::default()), folder.path()).unwrap();
    assert!(full.keep(&variables(), &[2; 10]).is_err());
    let half = folder.path().join("retained.new");
    assert!(!half.exists());
    fs::write(&half, "QCRET").unwrap();
    assert_eq!(open(folder.path()).unwrap().1.unwrap().values, [1; 10]);
    assert!(!half.exists());
}

proptest! {
    #[test]
    fn no_bytes_are_taken_for_a_snapshot(
        mut bytes in proptest::collection::vec(any::<u8>(), 0..200),
        sound: bool,
    ) {
        if sound {
            let checksum = crc32fast::hash(&bytes);
            bytes.extend_from_slice(&checksum.to_le_bytes());
        }
        prop_assert_eq!(decode(&bytes), None);
    }

    #[test]
    fn a_flipped_bit_is_noticed(at in 0_usize..100, bit in 0_u8..8) {
        let mut bytes = encode(7, &variables(), &[9; 10]);
        let at = at % bytes.len();
        bytes[at] ^= 1 << bit;
        prop_assert_eq!(decode(&bytes), None);
    }
}
