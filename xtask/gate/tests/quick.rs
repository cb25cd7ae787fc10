//! `./test quick` as `./test` calls it, on a small repository, with a `cargo` that writes down its
//! calls.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output};

use tempfile::TempDir;

/// Two crates with a library, one of which has another inside of its folder, and one without.
const CRATES: [(&str, &str); 4] = [
    ("ground/units", "lib.rs"),
    ("logic/site", "lib.rs"),
    ("logic/site/tool", "main.rs"),
    ("fuzz", "main.rs"),
];

/// Fails where a file `broken` lies beside the calls.
const CARGO: &str = r#"#!/bin/sh
echo "$*" >>"$CALLS"
case "$1" in test) echo 'test result: ok. 3 passed; 0 failed; 0 ignored' ;; esac
[ ! -e "$CALLS.broken" ] || [ "$1" != clippy ]
"#;

struct Repository {
    folder: TempDir,
}

impl Repository {
    fn new() -> Self {
        let repository = Self { folder: tempfile::tempdir().expect("a temporary folder") };
        for (folder, root) in CRATES {
            let name = folder.rsplit('/').next().unwrap_or(folder);
            let manifest = format!("[package]\nname = \"quietcore-{name}\"\n");
            repository.write(&format!("{folder}/Cargo.toml"), &manifest);
            repository.write(&format!("{folder}/src/{root}"), "//! A.\n");
        }
        repository.write(".gitignore", "/bin/\n/target/\n/calls*\n");
        repository.write("bin/cargo", CARGO);
        repository.write("Cargo.toml", "[workspace]\n");
        let cargo = repository.path().join("bin/cargo");
        fs::set_permissions(cargo, fs::Permissions::from_mode(0o755)).expect("the file is ours");
        repository.git(&["init", "--quiet", "--initial-branch=main"]);
        repository.commit();
        repository
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.path().join(path);
        fs::create_dir_all(path.parent().expect("a file lies in a folder"))
            .expect("the folder is ours");
        fs::write(path, text).expect("the folder is ours");
    }

    fn git(&self, arguments: &[&str]) {
        let identity = ["-c", "user.name=A", "-c", "user.email=a@localhost"];
        let output = Command::new("git")
            .args(identity)
            .args(arguments)
            .current_dir(self.path())
            .output()
            .expect("git is there");
        assert!(output.status.success(), "git {arguments:?}: {output:?}");
    }

    fn commit(&self) {
        self.git(&["add", "--all"]);
        self.git(&["commit", "--quiet", "--message=a: b"]);
    }

    fn test(&self, arguments: &[&str]) -> Output {
        let search = std::env::var("PATH").expect("a path to programs");
        let search = format!("{}:{search}", self.path().join("bin").display());
        Command::new(env!("CARGO_BIN_EXE_quietcore-gate"))
            .args(arguments)
            .current_dir(self.path())
            .env("PATH", search)
            .env("CALLS", self.path().join("calls"))
            .env_remove("CARGO_TARGET_DIR")
            .output()
            .expect("the program was built")
    }

    /// Returns the calls of `cargo` since the last time.
    fn calls(&self) -> Vec<String> {
        let file = self.path().join("calls");
        let text = fs::read_to_string(&file).unwrap_or_default();
        fs::write(file, "").expect("the folder is ours");
        text.lines().map(str::to_owned).collect()
    }
}

fn last_line(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).lines().last().unwrap_or_default().to_owned()
}

fn calls_for(packages: &str, targets: &str) -> [String; 4] {
    [
        "fmt --all --check".to_owned(),
        "xtask check".to_owned(),
        format!("clippy --locked {packages} --all-targets -- -D warnings"),
        format!("test --locked --no-fail-fast {packages} {targets}"),
    ]
}

#[test]
fn crates_with_files_that_differ_from_the_main_branch_are_checked_and_no_others() {
    let repository = Repository::new();
    let output = repository.test(&["quick"]);
    assert_eq!(repository.calls(), ["fmt --all --check", "xtask check"], "nothing has changed");
    assert_eq!(last_line(&output), "2 passed, 0 failed, 0 skipped");

    repository.git(&["checkout", "--quiet", "-b", "work"]);
    repository.write("logic/site/src/lib.rs", "//! B.\n");
    repository.commit();
    repository.write("ground/units/tests/new.rs", "//! Not known to git.\n");
    repository.write("fuzz/src/main.rs", "//! Of another workspace.\n");
    repository.write("README.md", "# Of no crate\n");
    let output = repository.test(&["quick"]);
    let both = "--package quietcore-units --package quietcore-site";
    assert_eq!(repository.calls(), calls_for(both, "--lib --bins"));
    assert_eq!(last_line(&output), "6 passed, 0 failed, 0 skipped", "{output:?}");
    assert_eq!(output.status.code(), Some(0));
}

#[test]
fn a_crate_is_named_by_its_package_or_its_folder() {
    let repository = Repository::new();
    for name in ["tool", "quietcore-tool", "logic/site/tool", "logic/site/tool/"] {
        repository.test(&["quick", name]);
        assert_eq!(repository.calls(), calls_for("--package quietcore-tool", "--bins"), "{name}");
    }
    let output = repository.test(&["quick", "sight"]);
    assert_eq!(output.status.code(), Some(2));
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(told.ends_with("there is no crate `sight`\n"), "{told}");
    assert!(repository.calls().is_empty());
}

#[test]
fn a_step_that_fails_is_named_and_the_others_still_run() {
    let repository = Repository::new();
    repository.write("calls.broken", "");
    let output = repository.test(&["quick", "units"]);
    assert_eq!(repository.calls().len(), 4);
    assert_eq!(output.status.code(), Some(1));
    let told = String::from_utf8_lossy(&output.stdout);
    assert!(told.contains("\nFAILED: clippy: ground/units\n"), "{told}");
    assert_eq!(last_line(&output), "5 passed, 1 failed, 0 skipped");
}

#[test]
fn a_call_that_is_none_says_where_the_calls_are_listed() {
    let repository = Repository::new();
    let output = repository.test(&["quik"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("see `./test --help`"));
    let output = repository.test(&["--help"]);
    assert_eq!(output.status.code(), Some(0));
    assert!(String::from_utf8_lossy(&output.stdout).contains("./test quick CRATE.."));
    assert!(repository.calls().is_empty(), "help runs nothing");
}
