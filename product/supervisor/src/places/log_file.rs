//! A file for lines that never ends growing in a bounded room: the last of them are kept.
//!
//! ```text
//! NAME      what is written now, up to its limit
//! NAME.1    what was written before
//! ```

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

/// The file that holds what came before.
pub fn older(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".1");
    name.into()
}

/// Opens a file to be appended to. One that has reached `limit` bytes becomes the older one first,
/// in the place of that.
///
/// # Errors
/// The file can't be opened for writing, or not be renamed.
pub fn open(path: &Path, limit: u64) -> io::Result<File> {
    let length = fs::symlink_metadata(path).map_or(0, |found| found.len());
    if length >= limit {
        fs::rename(path, older(path))?;
    }
    OpenOptions::new().create(true).append(true).open(path)
}

/// Lines in a file that is opened with the first of them.
#[derive(Debug)]
pub(crate) struct LogFile {
    path: PathBuf,
    limit: u64,
    file: Option<File>,
    length: u64,
}

impl LogFile {
    /// Lines in the file of this path; it and the older one have some `limit` bytes each at most.
    pub(crate) fn new(path: PathBuf, limit: u64) -> Self {
        Self { path, limit, file: None, length: 0 }
    }

    /// Adds a line.
    ///
    /// # Errors
    /// As for [`open`], or it can't be written.
    pub(crate) fn add(&mut self, line: &str) -> io::Result<()> {
        if self.length >= self.limit {
            self.file = None;
        }
        let file = match &mut self.file {
            Some(file) => file,
            None => {
                if let Some(folder) = self.path.parent() {
                    fs::create_dir_all(folder)?;
                }
                let file = open(&self.path, self.limit)?;
                self.length = file.metadata()?.len();
                self.file.insert(file)
            }
        };
        let line = format!("{line}\n");
        file.write_all(line.as_bytes())?;
        self.length += line.len() as u64;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_is_bounded_and_its_last_lines_are_kept() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("new").join("printed.log");
        let mut log = LogFile::new(path.clone(), 1000);
        for number in 0..10_000 {
            log.add(&format!("line {number}")).unwrap();
        }
        let text = |path: &Path| fs::read_to_string(path).unwrap();
        let (now, before) = (text(&path), text(&older(&path)));
        assert!(now.len() < 1020 && before.len() < 1020, "{} {}", now.len(), before.len());
        assert!(before.len() >= 1000);
        assert!(now.ends_with("line 9999\n"));
        let (first, last) = (now.lines().next().unwrap(), before.lines().last().unwrap());
        let number = |line: &str| line[5..].parse::<u32>().unwrap();
        assert_eq!(number(first), number(last) + 1, "none is lost between the two");
        // Another process goes on with it.
        LogFile::new(path.clone(), 1000).add("again").unwrap();
        assert!(text(&path).ends_with("again\n"));
    }
}
