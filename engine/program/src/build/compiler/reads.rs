//! The files outside of a program's folder that its compiler reads: headers of the system, and
//! those that a source names with its whole path. They decide about a build as its own files do.
//!
//! The compiler lists them, and a build keeps the list with the sum of each. It is found again as
//! long as all of them are as they were. Not noticed are a header that comes to lie where the
//! compiler would look first, a file of `.incbin` or of a precompiled header, which the compiler
//! does not list, and a folder that another one replaces while the compiler runs.

use std::fs::{self, File};
use std::io::{self, Read as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use quietcore_wording::list;
use serde::{Deserialize, Serialize};

use crate::build::{BuildError, store};

/// Arguments by which the compiler prints what it reads, as a rule of `make`.
pub(in crate::build) const LIST: [&str; 5] = ["-MD", "-MF", "-", "-MT", TARGET];

/// The target of that rule.
const TARGET: &str = "read";

/// Returns `true` for a file of the system, which every program may read.
fn is_of_system(file: &str) -> bool {
    let is_below = |folder| Path::new(file).starts_with(folder);
    ["/usr", "/opt"].into_iter().any(is_below) && !is_below("/usr/local")
}

/// Most files that a remark names.
const TOLD_MAX: usize = 4;

/// Largest file, in bytes.
const FILE_BYTES_MAX: u64 = 64 << 20;

/// A file that the compiler has read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::build) struct ReadFile {
    /// Its path, as the compiler named it.
    pub(in crate::build) file: String,
    /// SHA-256 of its content, in hexadecimal digits.
    pub(in crate::build) sha256: String,
}

impl ReadFile {
    /// Reads a file that must not have changed since the build began.
    pub(in crate::build) fn read(file: String, begin: SystemTime) -> Result<Self, BuildError> {
        let sum = || -> io::Result<String> {
            let (sha256, changed) = sum(Path::new(&file))?;
            // A clock that was set back says nothing.
            match begin < changed && changed <= SystemTime::now() {
                true => {
                    Err(io::Error::other("it was changed while the program was built; build again"))
                }
                false => Ok(sha256),
            }
        };
        match sum() {
            Ok(sha256) => Ok(Self { file, sha256 }),
            Err(error) => Err(BuildError::io(Path::new(&file), error)),
        }
    }

    /// Returns `true` if the file has the content that was read.
    pub(in crate::build) fn is_unchanged(&self) -> bool {
        sum(Path::new(&self.file)).is_ok_and(|(sha256, _)| sha256 == self.sha256)
    }
}

/// Names the files that are neither the program's, whose folder this is, nor the system's.
pub(in crate::build) fn remark(read: &[ReadFile], folder: &Path) -> Option<String> {
    let files = read
        .iter()
        .map(|it| it.file.as_str())
        .filter(|file| !is_of_system(file) && !Path::new(file).starts_with(folder));
    let files: Vec<&str> = files.collect();
    let more = files.len().saturating_sub(TOLD_MAX);
    let told = list(files.iter().take(TOLD_MAX));
    let more = if more > 0 { format!(", and {more} more") } else { String::new() };
    (!files.is_empty()).then(|| {
        format!("it reads {told}{more} outside of its folder: a change there gives another build")
    })
}

/// Returns the sum of a file, and the time of the last change of it or of a link on its path.
fn sum(path: &Path) -> io::Result<(String, SystemTime)> {
    let metadata = fs::metadata(path)?;
    if !metadata.is_file() {
        return Err(io::Error::other("it is no plain file"));
    }
    let mut content = Vec::new();
    File::open(path)?.take(FILE_BYTES_MAX + 1).read_to_end(&mut content)?;
    if content.len() as u64 > FILE_BYTES_MAX {
        return Err(io::Error::other(format!("it has more than {} MiB", FILE_BYTES_MAX >> 20)));
    }
    let on_its_path = path.ancestors().filter_map(|it| it.symlink_metadata().ok());
    let links = on_its_path.filter(|it| it.file_type().is_symlink());
    let changes = links.chain([metadata]).map(|it| {
        let seconds = u64::try_from(it.ctime()).unwrap_or(0);
        let nanoseconds = u32::try_from(it.ctime_nsec()).unwrap_or(0);
        UNIX_EPOCH + Duration::new(seconds, nanoseconds)
    });
    Ok((store::sum(&content), changes.max().unwrap_or(UNIX_EPOCH)))
}

/// Returns `true` if a path from the copies of the sources leads out of the build's folder, to
/// whatever lies around it.
pub(in crate::build) fn leaves_build(file: &str) -> bool {
    let mut depth = 1_u32;
    !file.split('/').filter(|part| !matches!(*part, "" | ".")).all(|part| {
        let next = if part == ".." { depth.checked_sub(1) } else { depth.checked_add(1) };
        next.inspect(|next| depth = *next).is_some()
    })
}

/// The files in a list that the compiler has printed; `None` where there is none.
pub(in crate::build) fn listed(printed: &str) -> Option<Vec<String>> {
    let rule = printed.strip_prefix(TARGET)?.strip_prefix(':')?;
    let (mut files, mut file) = (Vec::new(), String::new());
    let mut rest = rule;
    while let Some(character) = rest.chars().next() {
        let escapes = rest.len() - rest.trim_start_matches('\\').len();
        let behind = &rest[escapes..];
        let taken = match behind.as_bytes().first() {
            // Backslashes before a blank are doubled; one more makes the blank part of the name.
            Some(b' ' | b'\t') if escapes > 0 => {
                file.push_str(&rest[..escapes / 2]);
                file.push_str(&behind[..1]);
                escapes + 1
            }
            // The line goes on.
            Some(b'\n') if escapes > 0 => {
                file.push_str(&rest[1..escapes]);
                escapes + 1
            }
            Some(b'#') if escapes > 0 => {
                file.push_str(&rest[1..=escapes]);
                escapes + 1
            }
            _ if escapes > 0 => {
                file.push_str(&rest[..escapes]);
                escapes
            }
            // The rule ends; another one may follow.
            Some(b'\n') => break,
            _ if character.is_ascii_whitespace() => {
                files.extend((!file.is_empty()).then(|| std::mem::take(&mut file)));
                1
            }
            _ => {
                file.push(character);
                if rest.starts_with("$$") { 2 } else { character.len_utf8() }
            }
        };
        rest = &rest[taken..];
    }
    files.extend((!file.is_empty()).then_some(file));
    Some(files)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rule_of_make_lists_files() {
        let printed =
            "read: ./a.c /usr/include/stdio.h \\\n /tmp/ä\\ b$$c/d\\#e.h /d\\e\\\\\\ f\n\nb.h:\n";
        let expected = ["./a.c", "/usr/include/stdio.h", "/tmp/ä b$c/d#e.h", "/d\\e\\ f"];
        assert_eq!(listed(printed).unwrap(), expected);
        assert_eq!(listed("read:\n").unwrap(), Vec::<String>::new());
        assert_eq!(listed("servo.o: servo.c\n"), None);
        assert_eq!(listed(""), None);
    }

    #[test]
    fn a_file_that_changes_while_the_compiler_runs_is_told_so() {
        let folder = tempfile::tempdir().unwrap();
        let (file, link) = (folder.path().join("a.h"), folder.path().join("b.h"));
        fs::write(&file, "1").unwrap();
        let read = |path: &Path, begin| ReadFile::read(path.display().to_string(), begin);
        let before = SystemTime::now() - Duration::from_secs(60);
        let later = SystemTime::now() + Duration::from_secs(60);
        assert!(read(&file, later).unwrap().is_unchanged());
        let BuildError::Io { source, .. } = read(&file, before).unwrap_err() else { panic!() };
        assert_eq!(source.to_string(), "it was changed while the program was built; build again");
        let old = fs::canonicalize("/usr/bin/env").unwrap();
        std::os::unix::fs::symlink(&old, &link).unwrap();
        assert!(read(&old, before).is_ok());
        assert!(read(&link, before).is_err());
        fs::write(&file, "2").unwrap();
        assert!(
            !ReadFile { file: file.display().to_string(), sha256: store::sum(b"1") }.is_unchanged()
        );
    }

    #[test]
    fn a_path_stays_in_the_folder_of_the_build_or_leaves_it() {
        for inside in ["./a.h", "../include/Com.h", "sub/../a.h", "./sub/../../include/Com.h"] {
            assert!(!leaves_build(inside), "{inside}");
        }
        for outside in ["../../a.h", "./sub/../../../a.h", "../include/../../a.h"] {
            assert!(leaves_build(outside), "{outside}");
        }
    }
}
