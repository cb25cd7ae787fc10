//! Things that steps need beyond a Rust toolchain.
//!
//! Each is looked for, and fetched where that may be, when the first step wants it. Steps without
//! it are skipped, with the reason.

mod install;

use std::collections::HashMap;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::{Mutex, PoisonError};

pub(crate) use install::Installer;
use rustix::process::geteuid;

use crate::steps::{BARE, NIGHTLY};

/// Something that a step needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Need {
    /// The database of dependencies with known faults.
    Advisories,
    /// Rust's libraries for a machine without an operating system.
    BareMachine,
    /// Chromium, which the live page is tried in.
    Browser,
    /// A program that looks at dependencies.
    CargoDeny,
    /// Root, control groups and a container runtime.
    Containers,
    /// A program that feeds others with random input.
    Fuzzer,
    /// The image of a Linux guest, which a step has built.
    GuestImage,
    /// The kernel of a virtual test machine.
    LabKernel,
    /// The daemon of libvirt.
    Libvirt,
    /// A program that finds undefined behaviour.
    Miri,
    /// The program that runs tests.
    Nextest,
    /// The packages that the live page is made of.
    NodePackages,
    /// The live page, which a step has built.
    Page,
    /// The client for Python, installed as users do.
    PythonClient,
    /// An emulator, and Rust's libraries for guests.
    Qemu,
    /// The programs of tests, which cargo lists.
    TestPrograms,
}

impl Need {
    /// Names it in the list of skips.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Advisories => "advisories",
            Self::BareMachine => "setup (x86_64-unknown-none)",
            Self::Browser => "the live page in a browser",
            Self::CargoDeny => "dependencies",
            Self::Containers => "partitions in containers",
            Self::Fuzzer => "fuzz",
            Self::GuestImage => "Linux guests",
            Self::LabKernel => "lab",
            Self::Libvirt => "a guest under libvirt (lab)",
            Self::Miri => "miri",
            Self::Nextest => "cargo-nextest",
            Self::NodePackages | Self::Page => "the live page",
            Self::PythonClient => "Python client",
            Self::Qemu => "partitions in guests of QEMU",
            Self::TestPrograms => "programs of tests",
        }
    }

    /// Returns `true` if a machine without it proves nothing, so that a step fails by that.
    pub(crate) fn is_required(self) -> bool {
        matches!(self, Self::Nextest | Self::TestPrograms)
    }
}

/// The needs that were looked for, with the results.
#[derive(Debug)]
pub(crate) struct Needs {
    pub(crate) installer: Installer,
    /// The text that each has left, such as a path, or why it can't be had.
    found: Mutex<HashMap<Need, Result<String, String>>>,
}

impl Needs {
    pub(crate) fn new(installer: Installer) -> Self {
        Self { installer, found: Mutex::default() }
    }

    /// Looks for it, the first time; another step that wants it waits.
    ///
    /// # Errors
    /// Why it can't be had.
    pub(crate) fn get(&self, need: Need) -> Result<String, String> {
        let mut found = self.found.lock().unwrap_or_else(PoisonError::into_inner);
        found.entry(need).or_insert_with(|| self.look_for(need)).clone()
    }

    fn look_for(&self, need: Need) -> Result<String, String> {
        let places = &self.installer.places;
        match need {
            Need::Advisories => {
                let mut fetch = Command::new(places.own("cargo-deny/bin/cargo-deny"));
                let fetched = self.installer.run(fetch.args(["--locked", "fetch", "db"]));
                fetched.map_err(|why| format!("the database can't be fetched: {why}"))
            }
            Need::BareMachine => has_bare().then(String::new).ok_or_else(|| {
                format!("Rust for {BARE} is not installed; run `rustup target add {BARE}`")
            }),
            Need::Browser => {
                self.installer.packages_if_missing("chromium", &["chromium"]);
                has("chromium", "a browser").map_err(|_| "install `chromium`".to_owned())
            }
            Need::CargoDeny => self.installer.cargo_deny(),
            Need::Containers => containers(),
            Need::Fuzzer => self.installer.fuzzer(),
            Need::GuestImage => file(&places.own("guest/guest.json"), "it was not built"),
            Need::LabKernel => {
                let mut fetch = Command::new(places.built("quietcore-lab"));
                self.installer.run(fetch.args(["fetch", "kvm"]))
            }
            Need::Libvirt => has("libvirtd", "install `libvirt-daemon-driver-qemu`"),
            Need::Miri => self.installer.miri(),
            Need::Nextest => self.installer.nextest(),
            Need::NodePackages => self.installer.node_packages(),
            Need::Page => file(&format!("{}/web/dist/app.js", places.root), "it was not built"),
            Need::PythonClient => self.installer.python_client(),
            Need::Qemu => {
                has("qemu-system-x86_64", "install `qemu-system-x86`")?;
                has_bare().then(String::new).ok_or_else(|| format!("there is no Rust for {BARE}"))
            }
            Need::TestPrograms => self.installer.list_test_programs(),
        }
    }
}

/// Returns `true` if Rust has libraries for the machine without an operating system.
pub(crate) fn has_bare() -> bool {
    let folder =
        Command::new("rustc").args(["--print", "target-libdir", "--target", BARE]).output();
    folder.is_ok_and(|folder| Path::new(String::from_utf8_lossy(&folder.stdout).trim()).is_dir())
}

/// Returns `true` if a program is in the path.
pub(crate) fn is_program(name: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| folder.join(name).is_file())
}

fn has(program: &str, remedy: &str) -> Result<String, String> {
    let there = is_program(program).then(String::new);
    there.ok_or_else(|| format!("there is no `{program}`; {remedy}"))
}

fn file(path: &str, otherwise: &str) -> Result<String, String> {
    fs::exists(path).unwrap_or(false).then(String::new).ok_or_else(|| otherwise.to_owned())
}

fn containers() -> Result<String, String> {
    let groups = rustix::fs::access("/sys/fs/cgroup", rustix::fs::Access::WRITE_OK);
    let there = geteuid().is_root() && groups.is_ok() && is_program("runc");
    let missing = "needs root, control groups that can be written, and runc";
    there.then(String::new).ok_or_else(|| missing.to_owned())
}

/// A command of cargo with the compiler that has Miri.
pub(crate) fn nightly() -> String {
    format!("+{NIGHTLY}")
}
