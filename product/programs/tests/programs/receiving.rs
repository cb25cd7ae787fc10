//! Archives and files as they are received: whole and within limits, or not at all.

use std::io::Write as _;
use std::path::Path;

use crate::ground::{files, gz, leftovers, send, send_files, tar, zip};
use quietcore_program::build::RECEIVED_MARK;
use quietcore_programs::{FILE_COUNT_MAX, Programs};
use tar::EntryType;
use zip::write::SimpleFileOptions;

const SERVO: &[u8] = b"void servo_step(void) {}\n";

#[test]
fn the_same_files_are_the_same_version_however_they_come() {
    let state = tempfile::tempdir().unwrap();
    let programs = Programs::open(state.path()).unwrap();
    let plain = tar(&[
        ("./", EntryType::Directory, b""),
        ("./servo.h", EntryType::Regular, b"\n"),
        ("./src/", EntryType::Directory, b""),
        ("./src/servo.c", EntryType::Regular, SERVO),
    ]);
    let zipped = zip(&[("src/servo.c", SERVO), ("servo.h", b"\n")]);
    let text = std::str::from_utf8(SERVO).unwrap();
    let sent = [
        send(&programs, "a", &plain).unwrap(),
        send(&programs, "b", &gz(&plain)).unwrap(),
        send(&programs, "c", &zipped).unwrap(),
        send_files(&programs, "d", &[("src/servo.c", text), ("servo.h", "\n")]).unwrap(),
    ];
    for version in &sent {
        assert_eq!((version.number, version.files, version.bytes), (1, 2, 26));
        assert_eq!(version.sha256, sent[0].sha256);
        let folder = programs.folder(version);
        let expected =
            [("servo.h".to_owned(), b"\n".to_vec()), ("src/servo.c".to_owned(), SERVO.to_vec())];
        assert_eq!(files(&folder), expected);
        assert!(folder.join(RECEIVED_MARK).exists(), "whoever builds it has to use the sandbox");
    }
    // Sent again it is the version that is there; changed it is the next one.
    assert_eq!(send(&programs, "a", &zipped).unwrap().number, 1);
    assert_eq!(send(&programs, "a", &zip(&[("servo.c", SERVO)])).unwrap().number, 2);
    assert_eq!(send(&programs, "a", &zipped).unwrap().number, 3);
    assert!(leftovers(state.path(), &programs).is_empty());
}

/// Goal: nothing outside of its folder is written, whatever an archive says.
/// Method: each kind of entry and name that leads elsewhere, in an archive that begins well.
#[test]
fn hostile_entries_are_refused_and_nothing_is_left() {
    let state = tempfile::tempdir().unwrap();
    let programs = Programs::open(state.path()).unwrap();
    let mut linked = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    linked.add_symlink("a", "/etc", SimpleFileOptions::default()).unwrap();
    linked.start_file("a/evil", SimpleFileOptions::default()).unwrap();
    linked.write_all(b"evil").unwrap();
    let linked = linked.finish().unwrap().into_inner();
    let good = ("good.c", EntryType::Regular, SERVO);
    let with = |name, kind| tar(&[good, (name, kind, b"")]);
    let mut twice = zip(&[("a.c", b"1"), ("b.c", b"2")]);
    for at in 0..twice.len() - 3 {
        if &twice[at..at + 3] == b"b.c" {
            twice[at] = b'a';
        }
    }
    let big_header = [b'a'; 100_000];
    let cases: &[(Vec<u8>, &str)] = &[
        (zip(&[("../evil.c", b"")]), "leads out of the folder"),
        (zip(&[("a/../../evil.c", b"")]), "leads out of the folder"),
        (zip(&[("/evil.c", b"")]), "begins at the root"),
        (zip(&[("..\\evil.c", b"")]), "has a backslash"),
        (zip(&[("a\nb.c", b"")]), "`a\\nb.c` has a control character"),
        (zip(&[(".quietcore-received", b"")]), "uses itself"),
        (linked, "`a` is a symbolic link"),
        (twice, "`a.c` is there twice"),
        (zip(&[("a", b""), ("a/b.c", b"")]), "is there twice"),
        (with("../evil.c", EntryType::Regular), "leads out of the folder"),
        (with("../", EntryType::Directory), "leads out of the folder"),
        (with("/etc/evil.c", EntryType::Regular), "begins at the root"),
        (with("good.c", EntryType::Regular), "is there twice"),
        (with("l", EntryType::Symlink), "`l` is a symbolic link"),
        (with("l", EntryType::Link), "`l` is a hard link"),
        (with("d", EntryType::Char), "`d` is a device"),
        (with("d", EntryType::Block), "`d` is a device"),
        (with("p", EntryType::Fifo), "`p` is a pipe"),
        (tar(&[("x", EntryType::XHeader, &big_header)]), "a header of the archive is too large"),
        (tar(&[("x", EntryType::GNULongName, &big_header)]), "a header of the archive"),
        (tar(&[("x", EntryType::XHeader, b"10 size=0\n"), good]), "the size of a file twice"),
        (gz(b"no tar at all"), "no known kind|can't be read|no files"),
        (b"MZ\x90\0".to_vec(), "its first bytes are of no known kind"),
        (zip(&[("a.c", SERVO)])[..60].to_vec(), "the archive can't be read"),
        (gz(&tar(&[good]))[..40].to_vec(), "the archive can't be read"),
        (zip(&[]), "there are no files in it"),
        (Vec::new(), "there are no files in it"),
    ];
    for (archive, told) in cases {
        let error = send(&programs, "evil", archive).unwrap_err().to_string();
        assert!(told.split('|').any(|told| error.contains(told)), "{told}: {error}");
        assert!(leftovers(state.path(), &programs).is_empty(), "{told}");
    }
    assert!(programs.programs().unwrap().is_empty());
    let above = std::fs::read_dir(state.path()).unwrap().flatten().map(|it| it.file_name());
    let above: Vec<_> = above.filter(|it| !it.to_string_lossy().starts_with("programs")).collect();
    assert!(above.is_empty(), "{above:?}");
}

#[test]
fn bombs_stop_at_a_limit_and_leave_nothing() {
    let state = tempfile::tempdir().unwrap();
    let programs = Programs::open(state.path()).unwrap();
    let zeros = vec![0; 40 << 20];
    let many: Vec<String> = (0..=FILE_COUNT_MAX).map(|number| format!("{number}.c")).collect();
    let many_zip: Vec<(&str, &[u8])> = many.iter().map(|name| (name.as_str(), &b""[..])).collect();
    let many_tar: Vec<(&str, EntryType, &[u8])> =
        many.iter().map(|name| (name.as_str(), EntryType::Directory, &b""[..])).collect();
    let cases: &[(Vec<u8>, &str)] = &[
        (zip(&[("zeros.c", &zeros)]), "unpacks to too much: more than 200 bytes for each"),
        (gz(&tar(&[("zeros.c", EntryType::Regular, &zeros)])), "unpacks to too much"),
        (zip(&many_zip), "there are too many files and folders: more than 10000"),
        (gz(&tar(&many_tar)), "there are too many files and folders: more than 10000"),
    ];
    for (archive, told) in cases {
        let error = send(&programs, "bomb", archive).unwrap_err().to_string();
        assert!(error.contains(told), "{told}: {error}");
        assert!(leftovers(state.path(), &programs).is_empty(), "{told}");
    }
    let mut upload = programs.receive("bomb").unwrap();
    let error = (0..100).find_map(|_| upload.chunk(&zeros[..1 << 20]).err()).unwrap().to_string();
    assert_eq!(error, "the archive is too large: more than 67108864 bytes");
    let mut upload = programs.receive("bomb").unwrap();
    upload.chunk(b"PK").unwrap();
    assert!(upload.file("a.c").unwrap_err().to_string().contains("came after"));
    assert!(programs.receive("../a").unwrap_err().to_string().contains("is no name of a program"));
}

#[test]
fn names_may_have_letters_of_any_language() {
    let state = tempfile::tempdir().unwrap();
    let programs = Programs::open(state.path()).unwrap();
    let version = send(&programs, "any", &zip(&[("モデル 🙂/größe.c", SERVO)])).unwrap();
    assert_eq!(files(&programs.folder(&version))[0].0, "モデル 🙂/größe.c");
    let long = "d/".repeat(60) + "servo.c";
    let error = send(&programs, "deep", &zip(&[(&long, SERVO)])).unwrap_err().to_string();
    assert!(error.contains("lies below more than 16 folders"), "{error}");
}

/// Goal: bytes that were changed by chance or on purpose are refused or taken, and nothing else.
/// Method: some bytes of good archives are replaced, in an order that is always the same.
#[test]
fn archives_with_changed_bytes_do_no_harm() {
    let state = tempfile::tempdir().unwrap();
    let programs = Programs::open(state.path()).unwrap();
    let plain = tar(&[
        ("src/", EntryType::Directory, b""),
        ("src/servo.c", EntryType::Regular, SERVO),
        ("a/b/c.h", EntryType::Regular, b"int c;\n"),
    ]);
    let good = [zip(&[("src/servo.c", SERVO), ("a/b/c.h", b"int c;\n")]), gz(&plain), plain];
    let mut number = 20_261_127_u64;
    let mut chance = |below: usize| {
        number = number.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888);
        usize::try_from(number >> 33).unwrap() % below
    };
    let interesting = *b"\0\x01./\\\xff5712LPKx";
    let mut refused = 0;
    for round in 0..120 {
        let mut archive = good[round % good.len()].clone();
        for _ in 0..=chance(4) {
            let at = chance(archive.len());
            archive[at] = interesting[chance(interesting.len())];
        }
        if chance(4) == 0 {
            archive.truncate(chance(archive.len()) + 1);
        }
        refused += usize::from(send(&programs, "changed", &archive).is_err());
        assert_eq!(leftovers(state.path(), &programs), [""; 0].map(Path::new), "round {round}");
    }
    assert!((30..120).contains(&refused), "{refused} of 120 were refused");
    let kept = std::fs::read_dir(state.path()).unwrap().flatten().map(|it| it.file_name());
    assert!(kept.into_iter().all(|it| it.to_string_lossy().starts_with("programs")));
}
