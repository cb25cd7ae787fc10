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
    // However a path leads out of the folder, it never ends in what lies around the build.
    fs::write(out.path().join("gain.h"), "#define GAIN 9\n").unwrap();
    let climbing = folder.path().join("climbing");
    fs::create_dir(&climbing).unwrap();
    fs::write(climbing.join("a.c"), source.replace("gain.h", "../../gain.h")).unwrap();
    let error = build(&climbing, &options(), out.path()).unwrap_err().to_string();
    assert!(error.contains("a.c: error: `../../gain.h` lies outside of the folder"), "{error}");
    // Unless nothing needs the file that includes it.
    fs::rename(climbing.join("a.c"), climbing.join("b.c")).unwrap();
    fs::write(climbing.join("a.c"), source.replace("#include \"gain.h\"", "#define GAIN 3"))
        .unwrap();
    let text = fs::read_to_string(climbing.join("b.c")).unwrap().replace("a_", "b_board_");
    fs::write(climbing.join("b.c"), text).unwrap();
    let built = build(&climbing, &options(), out.path()).unwrap();
    assert!(built.remarks_told()[0].contains("lies outside"), "{:?}", built.remarks_told());

    let mut options = options();
    options.include.push(folder.path().join("beside"));
    let hash = || build(&folder.path().join("named"), &options, out.path()).unwrap().hash;
    let first = hash();
    fs::write(folder.path().join("beside/gain.h"), "#define GAIN 2\n").unwrap();
    assert_ne!(first, hash());
}

/// Goal: a program is never older than what it is made of, and an old one is found again.
/// Method: a header by its whole path; change it, change it back, delete it.
#[test]
fn a_header_by_its_whole_path_is_part_of_the_build() {
    need_compiler!();
    let beside = folder(&[("a b/cfg.h", "#define GAIN 2\n")]);
    let header = beside.path().join("a b/cfg.h");
    let source = format!(
        "#include \"{}\"\nint a_Y;\nvoid a_initialize(void) {{ }}\n\
         void a_step(void) {{ a_Y = GAIN; }}\n",
        header.display()
    );
    let program = folder(&[("a.c", &source)]);
    let out = TempDir::new().unwrap();
    let built = || build(program.path(), &options(), out.path());
    let first = built().unwrap();
    assert!(first.remarks.iter().any(|it| it.contains("a b/cfg.h`")), "{:?}", first.remarks);
    assert!(built().unwrap().cached);
    fs::write(&header, "#define GAIN 7\n").unwrap();
    let second = built().unwrap();
    assert!(!second.cached);
    assert_ne!((&first.hash, &first.module), (&second.hash, &second.module));
    assert_ne!(first.module_sha256(), second.module_sha256());
    fs::write(&header, "#define GAIN 2\n").unwrap();
    let third = built().unwrap();
    assert!(third.cached);
    assert_eq!((third.hash, third.module), (first.hash, first.module));
    std::os::unix::fs::symlink(&header, program.path().join("linked.c")).unwrap();
    let told = built().unwrap().remarks_told();
    assert!(told.iter().any(|it| it.starts_with("left out: `linked.c`")), "{told:?}");
    fs::remove_file(&header).unwrap();
    assert!(built().unwrap_err().to_string().contains("is missing"));
}
