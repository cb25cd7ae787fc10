//! The same sources give the same bytes, and are not built twice.

use std::fs;

use quietcore_program::build::build;
use tempfile::TempDir;

use crate::support::{folder, model, options};

const SOURCE: &str = "int a_Y;\nvoid a_initialize(void) { }\nvoid a_step(void) { a_Y++; }\n";

#[test]
fn what_was_built_is_found_again() {
    need_compiler!();
    let out = TempDir::new().unwrap();
    let first = build(&model("plain"), &options(), out.path()).unwrap();
    let again = build(&model("plain"), &options(), out.path()).unwrap();
    assert!(!first.cached);
    assert!(again.cached);
    assert_eq!((&first.hash, &first.module, first.data), (&again.hash, &again.module, again.data));
    assert_eq!(first.symbols, again.symbols);
    assert_eq!(first.interface, again.interface);
    assert_eq!(first.left_out, again.left_out);
    // Nothing else is left beside it.
    assert_eq!(fs::read_dir(out.path()).unwrap().count(), 1);
}

#[test]
fn a_damaged_build_is_built_again() {
    need_compiler!();
    let out = TempDir::new().unwrap();
    let first = build(&model("plain"), &options(), out.path()).unwrap();
    let whole = fs::read(&first.module).unwrap();
    fs::write(&first.module, &whole[..whole.len() / 2]).unwrap();
    let again = build(&model("plain"), &options(), out.path()).unwrap();
    assert!(!again.cached);
    assert_eq!(fs::read(&again.module).unwrap(), whole);
}

/// Goal: the place of a folder leaves no trace in what is built from it.
/// Method: build copies in two places and compare all bytes.
#[test]
fn the_same_sources_give_the_same_bytes_anywhere() {
    need_compiler!();
    let built = |_: u8| {
        let files = [("a.c", SOURCE), ("sub/b.h", "int b;\n")];
        let folder = folder(&files);
        let out = TempDir::new().unwrap();
        let built = build(folder.path(), &options(), out.path()).unwrap();
        let files = [&built.module, &built.symbols_file].map(|path| fs::read(path).unwrap());
        (built.hash, files)
    };
    let (one, other) = (built(1), built(2));
    assert!(one == other);
}

#[test]
fn whatever_decides_about_a_build_changes_its_hash() {
    need_compiler!();
    let out = TempDir::new().unwrap();
    let hash = |files: &[(&str, &str)], define: &str| {
        let mut options = options();
        options.defines.push(define.to_owned());
        build(folder(files).path(), &options, out.path()).unwrap().hash
    };
    let all = [
        hash(&[("a.c", SOURCE)], "X=1"),
        hash(&[("a.c", SOURCE)], "X=2"),
        hash(&[("b.c", SOURCE)], "X=1"),
        hash(&[("a.c", SOURCE), ("b.h", "")], "X=1"),
        hash(&[("a.c", &SOURCE.replace("++", "--"))], "X=1"),
    ];
    let different: std::collections::BTreeSet<&String> = all.iter().collect();
    assert_eq!(different.len(), all.len());
}

#[test]
fn a_failed_build_leaves_nothing_behind() {
    need_compiler!();
    let out = TempDir::new().unwrap();
    assert!(build(folder(&[("a.c", "oops\n")]).path(), &options(), out.path()).is_err());
    assert_eq!(fs::read_dir(out.path()).unwrap().count(), 0);
}

#[test]
fn two_builders_at_once_agree() {
    need_compiler!();
    let out = TempDir::new().unwrap();
    let source = folder(&[("a.c", SOURCE)]);
    let modules: Vec<_> = std::thread::scope(|scope| {
        let start = || scope.spawn(|| build(source.path(), &options(), out.path()).unwrap().module);
        let threads = [start(), start()];
        threads.map(|thread| thread.join().unwrap()).to_vec()
    });
    assert_eq!(modules[0], modules[1]);
    assert!(modules[0].exists());
    assert_eq!(fs::read_dir(out.path()).unwrap().count(), 1);
}

/// Goal: nothing decides about a build that is not part of its hash.
#[test]
fn headers_outside_of_the_folder_are_named_or_not_found() {
    need_compiler!();
    let source = "#include \"gain.h\"\nint a_Y;\nvoid a_initialize(void) { }\n\
                  void a_step(void) { a_Y = GAIN; }\n";
    let folder = folder(&[
        ("program/a.c", &source.replace("gain.h", "../beside/gain.h")),
        ("named/a.c", source),
        ("beside/gain.h", "#define GAIN 1\n"),
    ]);
    let out = TempDir::new().unwrap();
    let error = build(&folder.path().join("program"), &options(), out.path()).unwrap_err();
    assert!(error.to_string().contains("../beside/gain.h: No such file"), "{error}");

    let mut options = options();
    options.include.push(folder.path().join("beside"));
    let hash = || build(&folder.path().join("named"), &options, out.path()).unwrap().hash;
    let first = hash();
    fs::write(folder.path().join("beside/gain.h"), "#define GAIN 2\n").unwrap();
    assert_ne!(first, hash());
}
