//! The manifest of a record: what was recorded, and everything that a replay must find as it was.
//!
//! A replay runs the same instructions only if the emulator, its firmware and the files are the
//! same. Each of them is compared before it begins, and all differences are told.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use super::{ARCHIVE, CONSOLE, EVENTS, INITRAMFS, KERNEL};
use crate::emulator::PROGRAM;

/// The format of the manifest.
const SCHEMA: &str = "quietcore.lab.record/1";
/// Name of the manifest in the folder of its record.
pub const MANIFEST: &str = "record.json";
/// The files of a record, which a replay reads or is compared with.
const FILES: [&str; 5] = [KERNEL, INITRAMFS, EVENTS, CONSOLE, ARCHIVE];
/// The emulator's own files that run in a machine before its kernel does.
const FIRMWARE: [&str; 3] = ["bios-256k.bin", "kvmvapic.bin", "linuxboot_dma.bin"];

/// A record, and the conditions under which it can be replayed.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq, Serialize)]
pub struct Manifest {
    /// The format, `quietcore.lab.record/1`.
    pub schema: String,
    /// The kind of machine.
    pub kind: String,
    /// Size of its memory in MiB.
    pub memory_mib: u32,
    /// The command that it ran.
    pub command: Vec<String>,
    /// Debian's package that the kernel is from.
    pub package: String,
    /// The end that the command, or the machine, came to.
    pub ended: Ended,
    /// The emulator that recorded it.
    pub emulator: Emulator,
    /// SHA-256 of each file of the record.
    pub files: BTreeMap<String, String>,
}

/// An emulator with everything of it that a machine depends on.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq, Serialize)]
pub struct Emulator {
    /// The first line of its `--version`.
    pub version: String,
    /// SHA-256 of each of its files that ran in the machine.
    pub firmware: BTreeMap<String, String>,
    /// Its arguments when it recorded.
    pub arguments: Vec<String>,
}

/// The end of a recorded machine.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Ended {
    /// The command ended with this exit status.
    Status(i32),
    /// The machine ended before the command did, as after a panic.
    Early,
    /// The command was not done when its time was over.
    CutOff,
}

/// Something that is not as it was when the record was made.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Difference {
    /// The emulator here has another version.
    #[error("it was recorded by `{recorded}`, and here is `{here}`; install that version")]
    Emulator {
        /// Version of the one that recorded it.
        recorded: String,
        /// Version of the one that is here.
        here: String,
    },
    /// A file of the emulator that runs in the machine has other contents, or is gone.
    #[error(
        "QEMU's file {name} is another one than when it was recorded; install the firmware \
             (Debian's seabios and qemu-system-data) of that time"
    )]
    Firmware {
        /// Name of the file.
        name: String,
    },
    /// A file of the record has other contents, or is gone.
    #[error("the file `{name}` is not the one that was recorded; replay an unchanged copy")]
    File {
        /// Name of the file in the folder of the record.
        name: String,
    },
    /// This lab would give QEMU other arguments.
    #[error(
        "this lab would start another machine than was recorded (see `arguments` in {MANIFEST}); \
         replay it with the lab that recorded it"
    )]
    Arguments,
}

/// Why a folder can't be read as a record, or a record not be written.
#[derive(Debug, thiserror::Error)]
pub enum NoManifest {
    /// A file can't be read or written.
    #[error("{path}: {because}")]
    File {
        /// Path of the file.
        path: PathBuf,
        /// The error of the operating system.
        because: io::Error,
    },
    /// The manifest is none.
    #[error("{path} is no manifest of a record: {because}")]
    Malformed {
        /// Path of the manifest.
        path: PathBuf,
        /// The error of the parser.
        because: serde_json::Error,
    },
    /// The manifest is of another format.
    #[error("{path} has the format `{schema}`; this lab reads `{SCHEMA}`")]
    Schema {
        /// Path of the manifest.
        path: PathBuf,
        /// The format that its field `schema` names.
        schema: String,
    },
    /// The emulator can't be run.
    #[error("can't run {PROGRAM}: {0}; Debian's package is qemu-system-x86")]
    NoEmulator(io::Error),
}

impl Emulator {
    /// The emulator that is here, with these arguments.
    ///
    /// # Errors
    /// [`NoManifest::NoEmulator`].
    pub fn here(arguments: Vec<String>) -> Result<Self, NoManifest> {
        let said = |question: &[&str]| {
            let output = Command::new(PROGRAM).args(question).output();
            let output = output.map_err(NoManifest::NoEmulator)?;
            Ok(String::from_utf8_lossy(&output.stdout).into_owned())
        };
        let version = said(&["--version"])?.lines().next().unwrap_or_default().to_owned();
        // It takes each of its files from the first of these folders that has it.
        let folders = said(&["-L", "help"])?;
        let firmware = FIRMWARE.iter().filter_map(|name| {
            let digest = folders.lines().find_map(|it| digest(&Path::new(it).join(name)).ok())?;
            Some(((*name).to_owned(), digest))
        });
        Ok(Self { version, firmware: firmware.collect(), arguments })
    }

    /// Tells in what an emulator differs from the one that recorded.
    fn differences(&self, here: &Self) -> Vec<Difference> {
        let mut found = Vec::new();
        if self.version != here.version {
            let (recorded, here) = (self.version.clone(), here.version.clone());
            found.push(Difference::Emulator { recorded, here });
        }
        for (name, digest) in &self.firmware {
            if here.firmware.get(name) != Some(digest) {
                found.push(Difference::Firmware { name: name.clone() });
            }
        }
        if self.arguments != here.arguments {
            found.push(Difference::Arguments);
        }
        found
    }
}

impl Manifest {
    /// Describes the record in `folder`, whose files are all there, and writes the manifest.
    ///
    /// # Errors
    /// [`NoManifest::File`].
    pub fn write(mut self, folder: &Path) -> Result<Self, NoManifest> {
        SCHEMA.clone_into(&mut self.schema);
        for name in FILES {
            let path = folder.join(name);
            let digest = digest(&path).map_err(|because| NoManifest::File { path, because })?;
            self.files.insert(name.to_owned(), digest);
        }
        let path = folder.join(MANIFEST);
        let text = serde_json::to_vec_pretty(&self).expect("a manifest is plain data");
        fs::write(&path, text).map_err(|because| NoManifest::File { path, because })?;
        Ok(self)
    }

    /// Reads the manifest of a record.
    ///
    /// # Errors
    /// [`NoManifest`].
    pub fn read(folder: &Path) -> Result<Self, NoManifest> {
        let path = folder.join(MANIFEST);
        let failed = |because| NoManifest::File { path: path.clone(), because };
        let bytes = fs::read(&path).map_err(failed)?;
        let malformed = |because| NoManifest::Malformed { path: path.clone(), because };
        let whole: serde_json::Value = serde_json::from_slice(&bytes).map_err(malformed)?;
        let schema = whole["schema"].as_str().unwrap_or("none").to_owned();
        if schema != SCHEMA {
            return Err(NoManifest::Schema { path, schema });
        }
        serde_json::from_value(whole).map_err(malformed)
    }

    /// Tells in what the files in `folder` and the emulator that is here differ from when this was
    /// recorded.
    pub fn differences(&self, folder: &Path, here: &Emulator) -> Vec<Difference> {
        let mut found = self.emulator.differences(here);
        for name in FILES {
            if digest(&folder.join(name)).ok().as_ref() != self.files.get(name) {
                found.push(Difference::File { name: name.to_owned() });
            }
        }
        found
    }
}

fn digest(path: &Path) -> io::Result<String> {
    let mut hasher = Sha256::new();
    let mut file = File::open(path)?;
    let mut buffer = vec![0; 1 << 16];
    loop {
        let length = io::Read::read(&mut file, &mut buffer)?;
        if length == 0 {
            break;
        }
        hasher.update(&buffer[..length]);
    }
    Ok(hasher.finalize().iter().fold(String::new(), |mut text, byte| {
        write!(text, "{byte:02x}").expect("a text can be written to");
        text
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn emulator() -> Emulator {
        Emulator {
            version: "QEMU emulator version 7.2.22".to_owned(),
            firmware: BTreeMap::from([("bios-256k.bin".to_owned(), "12ab".to_owned())]),
            arguments: vec!["-smp".to_owned(), "1".to_owned()],
        }
    }

    /// A folder of a record, as far as its manifest sees it.
    fn record() -> (tempfile::TempDir, Manifest) {
        let folder = tempfile::tempdir().expect("a scratch folder");
        for name in FILES {
            fs::write(folder.path().join(name), name).expect("a file");
        }
        let manifest = Manifest {
            schema: String::new(),
            kind: "stock".to_owned(),
            memory_mib: 512,
            command: vec!["true".to_owned()],
            package: "linux-image-amd64".to_owned(),
            ended: Ended::Status(1),
            emulator: emulator(),
            files: BTreeMap::new(),
        };
        let manifest = manifest.write(folder.path()).expect("a manifest");
        (folder, manifest)
    }

    #[test]
    fn a_record_that_is_as_it_was_has_no_differences() {
        let (folder, manifest) = record();
        let read = Manifest::read(folder.path()).expect("a manifest");
        assert_eq!(read, manifest);
        assert_eq!(read.differences(folder.path(), &emulator()), []);
    }

    #[test]
    fn every_difference_is_told() {
        let (folder, manifest) = record();
        fs::write(folder.path().join(EVENTS), "others").expect("a file");
        fs::remove_file(folder.path().join(KERNEL)).expect("a file");
        let here = Emulator {
            version: "QEMU emulator version 9.0".to_owned(),
            firmware: BTreeMap::new(),
            arguments: Vec::new(),
        };
        let found = manifest.differences(folder.path(), &here);
        let texts: Vec<String> = found.iter().map(ToString::to_string).collect();
        let expected = [
            "recorded by `QEMU emulator version 7.2.22`, and here is `QEMU emulator version 9.0`",
            "QEMU's file bios-256k.bin is another one",
            "another machine than was recorded",
            "the file `kernel` is not the one",
            "the file `events` is not the one",
        ];
        assert_eq!(texts.len(), expected.len(), "{texts:?}");
        for (text, part) in texts.iter().zip(expected) {
            assert!(text.contains(part), "{text}");
        }
    }

    #[test]
    fn what_is_no_record_is_refused() {
        let folder = tempfile::tempdir().expect("a scratch folder");
        let path = folder.path().join(MANIFEST);
        let refused = || Manifest::read(folder.path()).expect_err("no record").to_string();
        assert!(refused().contains("record.json: No such file"), "{}", refused());
        fs::write(&path, "{").expect("a file");
        assert!(refused().contains("no manifest of a record"), "{}", refused());
        fs::write(&path, r#"{"schema": "quietcore.lab.record/9"}"#).expect("a file");
        assert!(refused().contains("format `quietcore.lab.record/9`"), "{}", refused());
    }
}
