//! The files of a recorded machine: it has no shares, so all its programs are in the initramfs.
//!
//! ```text
//! usual programs, those asked for, files that the command names ─► with their libraries, each at
//!   the place that it has here
//! ```

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use quietcore_linux_guest::archive::{NoInitramfs, libraries};

/// Programs that every recorded machine has.
pub const PROGRAMS: &[&str] = &[
    "awk", "basename", "bash", "cat", "chmod", "chrt", "cmp", "cp", "cut", "date", "dirname",
    "dmesg", "env", "false", "find", "grep", "head", "id", "ip", "kill", "ln", "ls", "mkdir",
    "mktemp", "mount", "mv", "od", "ps", "readlink", "rm", "sed", "seq", "sh", "sleep", "sort",
    "stat", "sync", "tail", "taskset", "tee", "timeout", "touch", "tr", "true", "uname", "uniq",
    "wc", "xargs",
];
/// The folders in which programs are looked for.
const FOLDERS: [&str; 4] = ["/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin"];
/// Programs that scripts name by a path of their own.
const SHELLS: [&str; 2] = ["bash", "sh"];
/// The first bytes of a program.
const ELF: [u8; 4] = *b"\x7fELF";

/// A file that a recorded machine would need and that is not here.
#[derive(Debug, thiserror::Error)]
pub enum NoContents {
    /// There is no such program or file.
    #[error(
        "there is no `{name}`, neither as a program of this machine nor as a file in {project}"
    )]
    Missing {
        /// The name or path that was asked for.
        name: String,
        /// Folder of the project.
        project: PathBuf,
    },
    /// A file can't be read.
    #[error("can't read {path}: {because}")]
    Unreadable {
        /// Path of the file.
        path: PathBuf,
        /// The error of the operating system.
        because: io::Error,
    },
    /// The libraries of a program can't be told.
    #[error(transparent)]
    Libraries(#[from] NoInitramfs),
}

/// Returns the files of a machine that runs `command` in the folder of the project: their places in
/// the machine with their sources here. `with` has further programs by name, and files by path.
///
/// # Errors
/// [`NoContents`]; of [`PROGRAMS`] those that this machine doesn't have are left out.
pub fn files(
    project: &Path,
    command: &[String],
    with: &[String],
) -> Result<BTreeMap<PathBuf, PathBuf>, NoContents> {
    let mut places: Vec<PathBuf> = PROGRAMS.iter().filter_map(|name| program(name)).collect();
    for name in with.iter().chain(command.first()) {
        let found = program(name).or_else(|| file(project, name));
        let missing = || NoContents::Missing { name: name.clone(), project: project.to_owned() };
        places.push(found.ok_or_else(missing)?);
    }
    places.extend(command.iter().skip(1).filter_map(|word| file(project, word)));
    let mut files = BTreeMap::new();
    for place in places {
        if is_program(&place)? {
            files.extend(libraries(&place)?.into_iter().map(|library| (library.clone(), library)));
        }
        let shell = SHELLS.iter().find(|name| place.ends_with(name));
        files.extend(shell.map(|name| (Path::new("/bin").join(name), place.clone())));
        files.insert(place.clone(), place);
    }
    Ok(files)
}

/// The path of a program of this machine.
fn program(name: &str) -> Option<PathBuf> {
    let is_name = !name.is_empty() && !name.contains('/');
    let mut paths = FOLDERS.iter().map(|folder| Path::new(folder).join(name));
    paths.find(|path| is_name && path.is_file())
}

/// The path of a file, which may be one from the project's folder.
fn file(project: &Path, name: &str) -> Option<PathBuf> {
    Some(project.join(name)).filter(|path| path.is_file())
}

fn is_program(path: &Path) -> Result<bool, NoContents> {
    let failed = |because| NoContents::Unreadable { path: path.to_owned(), because };
    let mut head = Vec::new();
    File::open(path)
        .map_err(failed)?
        .take(ELF.len() as u64)
        .read_to_end(&mut head)
        .map_err(failed)?;
    Ok(head == ELF)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_machine_has_the_usual_programs_and_what_its_command_names() {
        let project = tempfile::tempdir().expect("a scratch folder");
        let script = project.path().join("race.sh");
        fs::write(&script, "#!/bin/bash\n").expect("a file");
        let command = ["bash", "race.sh", "--out", "nowhere"].map(str::to_owned);
        let files = files(project.path(), &command, &["id".to_owned()]).expect("all is there");
        let has = |place: &str| files.contains_key(Path::new(place));
        assert!(["/bin/bash", "/usr/bin/cat", "/usr/bin/id"].into_iter().all(has));
        assert_eq!(files.get(&script), Some(&script));
        let libc = files.keys().any(|place| place.ends_with("libc.so.6"));
        assert!(libc, "programs come with their libraries: {files:?}");
    }

    #[test]
    fn a_program_that_is_not_there_is_named() {
        let with = ["no-such-program".to_owned()];
        let error = files(Path::new("/nowhere"), &[], &with).expect_err("it is nowhere");
        assert!(error.to_string().contains("no `no-such-program`"), "{error}");
    }
}
