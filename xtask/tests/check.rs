//! The program as it is called: on a small repository made for each test.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use tempfile::TempDir;

const DOCUMENTS: [(&str, &str); 7] = [
    ("ARCHITECTURE.md", "`ground/units`\n"),
    ("CHANGELOG.md", "# Changes\n\n## Unreleased\n\n### Added\n"),
    ("CONTRIBUTING.md", "# A\n"),
    ("README.md", "# A\n"),
    ("SPECIFICATION.md", "**P1.** A. *Not enforced yet.*\n"),
    ("docs/glossary.md", "# A\n"),
    ("ground/README.md", "# A\n"),
];

const ROOT_MANIFEST: &str = "[workspace]\nresolver = \"3\"\nmembers = [\"ground/*\"]\n\
     [workspace.package]\nversion = \"0.1.0\"\nedition = \"2024\"\nrust-version = \"1.88\"\n\
     license = \"MIT\"\npublish = false\n";

const MANIFEST: &str = "[package]\nname = \"quietcore-units\"\nversion.workspace = \
                        true\nedition.workspace = true\nrust-version.workspace = \
                        true\nlicense.workspace = true\npublish.workspace = \
                        true\n[lints]\nworkspace = true\n";

fn repository(source: &str) -> TempDir {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let write = |path: &str, text: &str| {
        let path = folder.path().join(path);
        let parent = path.parent().expect("a file lies in a folder");
        fs::create_dir_all(parent).expect("the folder is ours");
        fs::write(path, text).expect("the folder is ours");
    };
    for (path, text) in DOCUMENTS {
        write(path, text);
    }
    write("Cargo.toml", &format!("{ROOT_MANIFEST}[workspace.lints]\n"));
    write("ground/units/Cargo.toml", MANIFEST);
    write("ground/units/src/lib.rs", source);
    run("cargo", &["generate-lockfile", "--offline"], folder.path());
    run("git", &["init", "--quiet"], folder.path());
    run("git", &["add", "--all"], folder.path());
    // Not tracked, so nobody looks at it.
    write("ground/units/src/draft.rs", "fn (");
    folder
}

fn run(program: &str, arguments: &[&str], folder: &Path) -> Output {
    let output = Command::new(program)
        .args(arguments)
        .current_dir(folder)
        .output()
        .expect("the program exists");
    assert!(output.status.success(), "{program} {arguments:?}: {output:?}");
    output
}

fn check(folder: &Path, arguments: &[&str]) -> (Option<i32>, String, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_quietcore-xtask"))
        .args(arguments)
        .current_dir(folder)
        .output()
        .expect("the program exists");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("it prints UTF-8");
    (output.status.code(), text(output.stdout), text(output.stderr))
}

/// The findings, less those about exemptions of the real house that the small one does not need.
fn findings(output: &str) -> Vec<&str> {
    let lines = output.lines();
    lines.filter(|line| !line.starts_with("xtask/src/exemptions.rs")).collect()
}

#[test]
fn a_house_in_order_has_no_finding() {
    let folder = repository("//! The units of a small house.\n#![no_std]\n");
    let inside = folder.path().join("ground/units");
    let (_, output, errors) = check(&inside, &["check"]);
    assert_eq!(findings(&output), [""; 0], "{errors}");
}

#[test]
fn all_findings_are_printed_with_place_and_remedy() {
    let folder = repository("#![no_std]\n#![allow(dead_code)]\nfn a() {}\n");
    let (status, output, errors) = check(folder.path(), &["check"]);
    assert_eq!(status, Some(1), "{errors}");
    let expected = [
        "ground/units/src/lib.rs:1: header: it does not open with `//!`; let its first line say \
         what the file is",
        "ground/units/src/lib.rs:2: allow: a lint is allowed; write `expect(.., reason = \"..\")`",
        "ground/units/src/lib.rs:3: crate-head: `lib.rs` holds header, modules and re-exports \
         only; move the item to a module named after its subject",
    ];
    assert_eq!(findings(&output), expected);
    assert!(errors.contains("findings in 11 files and 1 packages"), "{errors}");
}

#[test]
fn where_it_cannot_look_it_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let (status, output, errors) = check(folder.path(), &["check"]);
    assert_eq!((status, output.as_str()), (Some(2), ""));
    assert!(errors.contains("`git rev-parse --show-toplevel` failed"), "{errors}");

    let (status, _, errors) = check(folder.path(), &["chekc"]);
    assert_eq!(status, Some(2));
    assert!(errors.starts_with("usage: cargo xtask check"), "{errors}");
}
