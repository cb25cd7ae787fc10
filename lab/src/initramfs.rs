//! The file system that a machine starts from: its first process with the libraries that this
//! needs, the modules and the job. All else comes from the shares.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::Command;

use cpio::newc::{Builder, trailer};

use crate::job::{JOB, Job};

const FOLDER: u32 = 0o040_755;
const PROGRAM: u32 = 0o100_755;
const CONSOLE: u32 = 0o020_600;

/// Why there is no initramfs.
#[derive(Debug, thiserror::Error)]
pub enum NoInitramfs {
    /// A file can't be read or written.
    #[error("can't use {path}: {because}")]
    File {
        /// Path of the file.
        path: PathBuf,
        /// The error of the operating system.
        because: io::Error,
    },
    /// The libraries of the first process can't be told.
    #[error("{program} is no program that ldd understands, or a library is missing: {said}")]
    Libraries {
        /// Path of the program.
        program: PathBuf,
        /// The output of `ldd`.
        said: String,
    },
}

fn failed(path: &Path) -> impl Fn(io::Error) -> NoInitramfs {
    move |because| NoInitramfs::File { path: path.to_owned(), because }
}

/// Writes the initramfs: `init` as the first process, the modules of `job` from where they are
/// here.
///
/// # Errors
/// [`NoInitramfs`].
pub fn write(target: &Path, init: &Path, job: &Job) -> Result<(), NoInitramfs> {
    let mut archive = Archive {
        file: File::create(target).map_err(failed(target))?,
        next: 1,
        made: BTreeSet::new(),
    };
    let written = archive.fill(init, job);
    let Archive { file, .. } = archive;
    written?;
    trailer(file).map_err(failed(target))?.sync_all().map_err(failed(target))
}

/// Returns the path of a module of the host's in the initramfs.
pub fn module_place(module: &Path) -> PathBuf {
    Path::new("/modules").join(module.file_name().unwrap_or_default())
}

struct Archive {
    file: File,
    next: u32,
    made: BTreeSet<PathBuf>,
}

impl Archive {
    fn fill(&mut self, init: &Path, job: &Job) -> Result<(), NoInitramfs> {
        self.folder(Path::new("/dev"))?;
        // The kernel opens it for the first process.
        self.device(Path::new("/dev/console"), 5, 1)?;
        self.add(Path::new("/init"), init)?;
        for library in libraries(init)? {
            self.add(&library, &library)?;
        }
        for module in &job.modules {
            self.add(&module_place(module), module)?;
        }
        let placed = Job {
            modules: job.modules.iter().map(|module| module_place(module)).collect(),
            ..job.clone()
        };
        let text = serde_json::to_vec(&placed).expect("a job is plain data");
        self.put(Path::new(JOB), &text)
    }

    fn add(&mut self, place: &Path, source: &Path) -> Result<(), NoInitramfs> {
        let bytes = fs::read(source).map_err(failed(source))?;
        self.put(place, &bytes)
    }

    fn put(&mut self, place: &Path, bytes: &[u8]) -> Result<(), NoInitramfs> {
        if let Some(folder) = place.parent() {
            self.folder(folder)?;
        }
        let length = u32::try_from(bytes.len()).unwrap_or(u32::MAX);
        let builder = self.entry(place).mode(PROGRAM);
        let mut writer = builder.write(&self.file, length);
        writer.write_all(bytes).map_err(failed(place))?;
        writer.finish().map(drop).map_err(failed(place))
    }

    fn folder(&mut self, place: &Path) -> Result<(), NoInitramfs> {
        if place == Path::new("/") || !self.made.insert(place.to_owned()) {
            return Ok(());
        }
        if let Some(parent) = place.parent() {
            self.folder(parent)?;
        }
        let builder = self.entry(place).mode(FOLDER);
        builder.write(&self.file, 0).finish().map(drop).map_err(failed(place))
    }

    fn device(&mut self, place: &Path, major: u32, minor: u32) -> Result<(), NoInitramfs> {
        let builder = self.entry(place).mode(CONSOLE).rdev_major(major).rdev_minor(minor);
        builder.write(&self.file, 0).finish().map(drop).map_err(failed(place))
    }

    fn entry(&mut self, place: &Path) -> Builder {
        let name = place.to_string_lossy();
        let inode = self.next;
        self.next += 1;
        Builder::new(name.trim_start_matches('/')).ino(inode).nlink(1)
    }
}

/// The program's libraries and its interpreter, as the interpreter itself finds them.
fn libraries(program: &Path) -> Result<Vec<PathBuf>, NoInitramfs> {
    let output = Command::new("ldd").arg(program).output().map_err(failed(Path::new("ldd")))?;
    let text = String::from_utf8_lossy(&output.stdout);
    if !output.status.success() || text.contains("not found") {
        let said = text.trim().to_owned();
        return Err(NoInitramfs::Libraries { program: program.to_owned(), said });
    }
    Ok(text.lines().filter_map(place_of_library).collect())
}

/// `libc.so.6 => /lib/libc.so.6 (0x…)` and `/lib64/ld-linux.so.2 (0x…)`; the kernel's own has no
/// place.
fn place_of_library(line: &str) -> Option<PathBuf> {
    line.split_whitespace().find(|word| word.starts_with('/')).map(PathBuf::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn libraries_are_read_from_what_ldd_says() {
        let place = |line| place_of_library(line).map(|path| path.display().to_string());
        assert_eq!(place("\tlinux-vdso.so.1 (0x00007ffd)"), None);
        assert_eq!(place("\tlibc.so.6 => /lib/libc.so.6 (0x0000)"), Some("/lib/libc.so.6".into()));
        assert_eq!(place("\t/lib64/ld.so.2 (0x0000)"), Some("/lib64/ld.so.2".into()));
    }

    #[test]
    fn what_was_put_in_is_read_back() {
        let scratch = tempfile::tempdir().expect("a scratch folder");
        let target = scratch.path().join("initramfs");
        let init = std::env::current_exe().expect("this test's program");
        let job = Job {
            modules: Vec::new(),
            project: "/project".into(),
            directory: "/project".into(),
            command: vec!["true".into()],
            tell_after: std::time::Duration::MAX,
        };
        write(&target, &init, &job).expect("an initramfs");
        let mut file = File::open(&target).expect("it was written");
        let mut entries = Vec::new();
        loop {
            let reader = cpio::newc::Reader::new(file).expect("an archive");
            if reader.entry().is_trailer() {
                break;
            }
            entries.push((reader.entry().name().to_owned(), reader.entry().file_size()));
            file = reader.finish().expect("the next entry");
        }
        let size = fs::metadata(&init).expect("this test's program").len();
        assert!(entries.contains(&("init".to_owned(), size as u32)));
        assert!(entries.iter().any(|(name, size)| name.contains("libc.so") && *size > 0));
        assert!(entries.iter().any(|(name, _)| name == "job.json"));
        let folder = entries.iter().position(|(name, _)| name == "dev");
        let device = entries.iter().position(|(name, _)| name == "dev/console");
        assert!(folder < device, "a folder comes before what is in it");
    }

    #[test]
    fn a_first_process_that_is_none_is_refused() {
        let scratch = tempfile::tempdir().expect("a scratch folder");
        let init = scratch.path().join("init");
        fs::write(&init, "no program").expect("a file");
        let error = libraries(&init).expect_err("no program");
        assert!(error.to_string().contains("no program that ldd understands"), "{error}");
    }
}
