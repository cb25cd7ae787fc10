//! Building and running programs in tests.
//!
//! Modules are loaded by a small program in C, in a process of its own: `unsafe` has no place here,
//! and a program that crashes takes only that process with it.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, OnceLock};

use quietcore_program::build::{Build, BuildError, Options, Target, build};
use quietcore_program::symbols::DataImage;
use tempfile::TempDir;

/// Skips the surrounding test where there is no compiler.
macro_rules! need_compiler {
    () => {
        if !crate::support::has_compiler() {
            quietcore_skip::skip!("there is no gcc; install it");
            return;
        }
    };
}

/// Skips the surrounding test where there is no compiler for C++.
macro_rules! need_cpp {
    () => {
        need_compiler!();
        if !crate::support::has_cpp() {
            quietcore_skip::skip!("there is no compiler for C++; install g++");
            return;
        }
    };
}

/// Returns `true` if the GNU compiler can be run for C++.
pub(crate) fn has_cpp() -> bool {
    Command::new("g++").arg("--version").output().is_ok_and(|output| output.status.success())
}

/// Returns `true` if the GNU compiler can be run.
pub(crate) fn has_compiler() -> bool {
    Command::new("gcc").arg("--version").output().is_ok_and(|output| output.status.success())
}

/// The folder of a model that lies beside the tests.
pub(crate) fn model(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/models").join(name)
}

/// A folder that holds these files.
pub(crate) fn folder(files: &[(&str, &str)]) -> TempDir {
    let folder = TempDir::new().unwrap();
    for (name, text) in files {
        let path = folder.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    folder
}

/// Options that do not depend on the environment.
pub(crate) fn options() -> Options {
    Options { compiler: Some("gcc".into()), ..Options::default() }
}

/// The same for a guest.
pub(crate) fn guest_options() -> Options {
    Options { target: Target::Guest, ..options() }
}

/// Skips the surrounding test where programs for guests can't be built.
macro_rules! need_musl {
    () => {
        need_compiler!();
        if !std::path::Path::new("/usr/lib/x86_64-linux-musl/libc.a").exists() {
            quietcore_skip::skip!("there is no static C library for guests; install musl-dev");
            return;
        }
    };
}

/// Builds a folder, and keeps the result until the program is dropped.
pub(crate) fn try_build(folder: &Path, options: &Options) -> Result<Program, BuildError> {
    let out = TempDir::new().unwrap();
    let built = build(folder, options, out.path())?;
    Ok(Program { built, _out: out })
}

/// Builds a model that must build.
pub(crate) fn build_model(name: &str) -> Program {
    try_build(&model(name), &options()).unwrap()
}

/// Builds files that must build.
pub(crate) fn build_files(files: &[(&str, &str)]) -> Program {
    try_build(folder(files).path(), &options()).unwrap()
}

/// The message of a build that must fail.
pub(crate) fn failure(files: &[(&str, &str)], options: &Options) -> String {
    match try_build(folder(files).path(), options) {
        Ok(program) => panic!("it was built: {:?}", program.built.interface),
        Err(error) => error.to_string(),
    }
}

/// A program that was built.
#[derive(Debug)]
pub(crate) struct Program {
    pub(crate) built: Build,
    /// Deleted with the program.
    _out: TempDir,
}

impl Program {
    /// Loads the program and does one thing after the other; the answers are those of `NAME?`, of
    /// `status` and of what the program itself said.
    ///
    /// `NAME?` reads a variable, `NAME=VALUE` sets it; all else is said to the loader as it is.
    pub(crate) fn run(&self, commands: &[&str]) -> Vec<String> {
        self.run_file(&self.built.module, self.built.data, commands)
    }

    /// The same with the image for slot B.
    pub(crate) fn run_second(&self, commands: &[&str]) -> Vec<String> {
        let second = self.built.second.as_ref().unwrap();
        let data = DataImage { address: 0x3000_0000, ..self.built.data };
        self.run_file(second, data, commands)
    }

    fn run_file(&self, file: &Path, data: DataImage, commands: &[&str]) -> Vec<String> {
        let symbols = &self.built.symbols;
        let mut words = Vec::new();
        let mut readers = Vec::new();
        for command in commands {
            if let Some(path) = command.strip_suffix('?') {
                let place = symbols.resolve(path).unwrap();
                words.push(format!("peek:{}:{}", place.offset, place.bytes()));
                readers.push(place);
            } else if let Some((path, value)) = command.split_once('=') {
                let place = symbols.resolve(path).unwrap();
                let value = place.encode_text(value).unwrap();
                let (offset, bytes, mask) = (place.offset, place.bytes(), place.mask());
                words.push(format!("poke:{offset}:{bytes}:{mask}:{value}"));
            } else {
                words.push((*command).to_owned());
            }
        }
        let DataImage { address, bytes } = data;
        let output = Command::new(harness("run"))
            .arg(file)
            .args([address.to_string(), bytes.to_string()])
            .args(words)
            .output()
            .unwrap();
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{errors}");
        let text = String::from_utf8(output.stdout).unwrap();
        let mut lines = text.lines();
        let rates = format!("rates {}", self.built.interface.rates.len());
        assert_eq!(lines.next(), Some(rates.as_str()));
        let mut readers = readers.into_iter();
        let answers = lines.map(|line| match line.parse::<u64>() {
            Ok(word) => {
                let place = readers.next().unwrap();
                place.decode(&word.to_le_bytes()).unwrap().to_string()
            }
            Err(_) => line.to_owned(),
        });
        answers.collect()
    }
}

/// Returns the output of the loader of kernels for so many cycles of so many µs.
pub(crate) fn drive(file: &Path, cycles: u32, period_us: u32) -> Vec<String> {
    let output = Command::new(harness("kernel"))
        .arg(file)
        .args([cycles, period_us].map(|number| number.to_string()))
        .output()
        .unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{:?} {errors}", output.status);
    String::from_utf8(output.stdout).unwrap().lines().map(str::to_owned).collect()
}

/// A loader of `tests/harness`, compiled once a process.
fn harness(name: &str) -> PathBuf {
    static FOLDER: OnceLock<TempDir> = OnceLock::new();
    static COMPILED: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());
    let folder = FOLDER.get_or_init(|| TempDir::new().unwrap());
    let path = folder.path().join(name);
    let mut compiled = COMPILED.lock().unwrap();
    if !compiled.contains(&path) {
        let here = Path::new(env!("CARGO_MANIFEST_DIR"));
        let output = Command::new("gcc")
            .args(["-std=gnu11", "-O1", "-Wall", "-Wextra", "-Werror"])
            .arg(format!("-I{}", here.join("include").display()))
            .arg(format!("-I{}", here.join("../../ground/exchange/include").display()))
            .arg(here.join("tests/harness").join(name).with_extension("c"))
            .arg("-o")
            .arg(&path)
            .arg("-ldl")
            .output()
            .unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        compiled.push(path.clone());
    }
    path
}
