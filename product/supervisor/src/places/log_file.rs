//! A file of bounded size for lines that never end: the last of them are kept.
//!
//! ```text
//! NAME      what is written now, up to its limit
//! NAME.1    what was written before
//! ```

use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::world::Storage;
use crate::world::storage::LogLines;

/// Returns the path of the older file beside `path`.
pub fn older(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".1");
    name.into()
}

/// Opens a file to be appended to. If it has reached `limit` bytes, it first becomes the older one,
/// in the place of that.
///
/// # Errors
/// When the file can't be renamed, or can't be opened for writing.
pub fn open(path: &Path, limit: u64) -> io::Result<File> {
    let length = fs::symlink_metadata(path).map_or(0, |found| found.len());
    if length >= limit {
        fs::rename(path, older(path))?;
    }
    OpenOptions::new().create(true).append(true).open(path)
}

/// Lines in a file, which is opened when the first of them comes.
#[derive(Debug)]
pub(crate) struct LogFile {
    storage: Arc<dyn Storage>,
    path: PathBuf,
    limit: u64,
    file: Option<Box<dyn LogLines>>,
    length: u64,
}

impl LogFile {
    /// Makes a log in the file of this path; it and the older one have about `limit` bytes each at
    /// most.
    pub(crate) fn new(storage: Arc<dyn Storage>, path: PathBuf, limit: u64) -> Self {
        Self { storage, path, limit, file: None, length: 0 }
    }

    /// Appends a line to the file.
    ///
    /// # Errors
    /// Those of [`open`], and when the line can't be written.
    pub(crate) fn add(&mut self, line: &str) -> io::Result<()> {
        if self.length >= self.limit {
            self.file = None;
        }
        let file = match &mut self.file {
            Some(file) => file,
            None => {
                let (file, length) = self.storage.open_log(&self.path, self.limit)?;
                self.length = length;
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
    use crate::world::storage::Disk;

    #[test]
    fn a_log_is_bounded_and_its_last_lines_are_kept() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("new").join("printed.log");
        let mut log = LogFile::new(Arc::new(Disk), path.clone(), 1000);
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
        // Another process goes on with the same file.
        LogFile::new(Arc::new(Disk), path.clone(), 1000).add("again").unwrap();
        assert!(text(&path).ends_with("again\n"));
    }
}
