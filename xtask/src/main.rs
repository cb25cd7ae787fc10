//! `cargo xtask check`: the house rules that a program can check.
//!
//! It looks at what git tracks, prints every departure as `path:line: rule: what; remedy` to its
//! standard output, and ends with status 0 without one, 1 with some, 2 where it could not look.
//! Rules live in [`rules`], exemptions with their reasons in [`exemptions`], and nowhere else.

mod comments;
mod exemptions;
mod figures;
mod finding;
mod manifest;
mod rules;
mod source;
mod tree;

use std::env;
use std::ffi::OsStr;
use std::path::Path;
use std::process::{Command, ExitCode};

use tree::Tree;

const USAGE: &str = "usage: cargo xtask check | exemptions | figures | lies | simulate | test

check        checks the house rules on all files that git tracks; ends with status 0
             where all hold, 1 with findings, 2 where it could not look
exemptions   prints what is exempted from the rules, with the reasons
figures      writes the documents' tables of measured figures from bench/figures
lies         edits evidence folders as forgers would, and prints how many edits are found
simulate     runs keepers on simulated time with faults by chance: `--seed N` repeats one
             run, `--seconds S` runs others for so long, `--runs R` so many of them, `--from N`
             those from one on
test         runs everything that must hold, as `./test` does; `test --help` says how";

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["check"] => check(),
        ["exemptions"] => {
            println!("{}", exemptions::listing());
            ExitCode::SUCCESS
        }
        ["figures"] => figures(),
        ["lies"] => lies(),
        ["simulate", ..] => simulate(&arguments[1..]),
        ["test", ..] => test(&arguments[1..]),
        ["help" | "--help" | "-h"] => {
            println!("{USAGE}");
            ExitCode::SUCCESS
        }
        _ => {
            eprintln!("{USAGE}");
            ExitCode::from(2)
        }
    }
}

/// Rewrites the tables of measured figures; says what was done and what is left.
fn figures() -> ExitCode {
    let folder = Path::new(".");
    let outcome = tree::root(folder).and_then(|root| Ok((Tree::read(folder)?, root)));
    let (tree, root) = match outcome {
        Ok(read) => read,
        Err(trouble) => {
            eprintln!("the documents could not be read: {trouble}");
            return ExitCode::from(2);
        }
    };
    let documents = tree.files.iter().map(|file| file.path.clone());
    let documents: Vec<String> = documents.filter(|path| path.ends_with(".md")).collect();
    match figures::rewrite(&root, &documents) {
        Ok(told) => {
            told.iter().for_each(|line| println!("{line}"));
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

/// A test, so that the house rules are checked without building what it needs.
fn lies() -> ExitCode {
    let test = ["test", "--quiet", "--package", "quietcore-xtask", "--test", "lies"];
    cargo(test.into_iter().chain(["--", "--nocapture"]))
}

/// Runs an example of the supervisor, for the same reason. Built as a part of the workspace, it
/// uses the crates that the tests have built.
fn simulate(arguments: &[String]) -> ExitCode {
    let build = ["build", "--quiet", "--locked", "--workspace", "--example", "simulate"];
    let built = cargo(build.into_iter().chain(["--features", "quietcore-supervisor/simulation"]));
    if built != ExitCode::SUCCESS {
        return built;
    }
    match env::current_exe() {
        Ok(own) => run(&own.with_file_name("examples").join("simulate"), arguments),
        Err(error) => {
            eprintln!("the folder of the program is not known: {error}");
            ExitCode::from(2)
        }
    }
}

/// A program of its own, since the house rules are checked without what it needs.
fn test(arguments: &[String]) -> ExitCode {
    let run = ["run", "--quiet", "--locked", "--package", "quietcore-gate", "--"];
    cargo(run.into_iter().chain(arguments.iter().map(String::as_str)))
}

/// Runs cargo; the status is 1 where that fails, and 2 where there is none.
fn cargo<'a>(arguments: impl Iterator<Item = &'a str>) -> ExitCode {
    let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    run(Path::new(&cargo), arguments)
}

/// Runs a program; the status is 1 where it fails, and 2 where it can't be started.
fn run(program: &Path, arguments: impl IntoIterator<Item = impl AsRef<OsStr>>) -> ExitCode {
    match Command::new(program).args(arguments).status() {
        Ok(status) if status.success() => ExitCode::SUCCESS,
        Ok(_) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("{} can't be started: {error}", program.display());
            ExitCode::from(2)
        }
    }
}

fn check() -> ExitCode {
    let tree = match Tree::read(Path::new(".")) {
        Ok(tree) => tree,
        Err(trouble) => {
            eprintln!("the house rules could not be checked: {trouble}");
            return ExitCode::from(2);
        }
    };
    let findings = rules::check(&tree);
    for finding in &findings {
        println!("{finding}");
    }
    let (files, packages) = (tree.files.len(), tree.packages.len());
    let count = match findings.len() {
        0 => "nothing found".to_owned(),
        1 => "1 finding".to_owned(),
        count => format!("{count} findings"),
    };
    eprintln!("house rules: {count} in {files} files and {packages} packages");
    ExitCode::from(u8::from(!findings.is_empty()))
}
