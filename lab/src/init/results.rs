//! Results of a machine that has no shares: they leave as an archive, by a serial line.

use std::error::Error;
use std::fs::{self, File};
use std::io::{BufWriter, Write as _};
use std::path::{Path, PathBuf};

use quietcore_lab::job::OUT;
use quietcore_linux_guest::archive::Archive;
use rustix::termios::{OptionalActions, tcdrain, tcgetattr, tcsetattr};

/// Sends all files of the folder of results, and returns when the last byte has left.
pub(crate) fn send(device: &Path) -> Result<(), Box<dyn Error>> {
    let line = File::options().write(true).open(device);
    let line = line.map_err(|error| format!("{}: {error}", device.display()))?;
    // Bytes leave as they are.
    let mut settings = tcgetattr(&line)?;
    settings.make_raw();
    tcsetattr(&line, OptionalActions::Now, &settings)?;
    let mut archive = Archive::empty(BufWriter::new(&line));
    for file in files(Path::new(OUT))? {
        let place = Path::new("/").join(file.strip_prefix(OUT)?);
        archive.add(&place, &file)?;
    }
    archive.end()?.flush()?;
    Ok(tcdrain(&line)?)
}

/// The plain files below a folder, by name.
fn files(folder: &Path) -> Result<Vec<PathBuf>, Box<dyn Error>> {
    let mut found = Vec::new();
    let mut open = vec![folder.to_owned()];
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(folder)? {
            let entry = entry?;
            let kind = entry.file_type()?;
            if kind.is_dir() {
                open.push(entry.path());
            } else if kind.is_file() {
                found.push(entry.path());
            }
        }
    }
    found.sort();
    Ok(found)
}
