//! The results of a recorded machine, as they came by its serial line.

use std::fs::{self, File};
use std::io::{self, BufReader};
use std::path::{Component, Path};

use cpio::newc::Reader;

/// The bits of a mode that say what kind of file it is, and those of a plain one.
const FILE_TYPE: u32 = 0o170_000;
const PLAIN: u32 = 0o100_000;

/// Unpacks the plain files of an archive into a folder that is made for them. An archive that was
/// cut off yields what is whole in it; one that is empty nothing.
///
/// # Errors
/// The archive can't be read, a file can't be written, or would lie outside of the folder.
pub fn unpack(archive: &Path, folder: &Path) -> io::Result<()> {
    fs::create_dir_all(folder)?;
    let mut file = BufReader::new(File::open(archive)?);
    loop {
        let Ok(mut reader) = Reader::new(file) else { return Ok(()) };
        let entry = reader.entry();
        if entry.is_trailer() {
            return Ok(());
        }
        let name = Path::new(entry.name()).to_owned();
        let is_plain = entry.mode() & FILE_TYPE == PLAIN;
        if !name.components().all(|part| matches!(part, Component::Normal(_))) {
            let text = format!("a result is called {}", name.display());
            return Err(io::Error::new(io::ErrorKind::InvalidData, text));
        }
        if is_plain {
            let place = folder.join(name);
            fs::create_dir_all(place.parent().unwrap_or(folder))?;
            let expected = u64::from(reader.entry().file_size());
            let written = io::copy(&mut reader, &mut File::create(&place)?)?;
            if written < expected {
                return fs::remove_file(place);
            }
        }
        file = reader.finish()?;
    }
}

#[cfg(test)]
mod tests {
    use quietcore_linux_guest::archive::Archive;

    use super::*;

    fn archive(path: &Path, names: &[&str]) -> Vec<u8> {
        let mut archive = Archive::empty(File::create(path).expect("a file"));
        for name in names {
            archive.put(Path::new(name), name.as_bytes()).expect("an entry");
        }
        archive.end().expect("an archive");
        fs::read(path).expect("it was written")
    }

    #[test]
    fn results_come_as_they_were_and_what_was_cut_off_is_left_out() {
        let scratch = tempfile::tempdir().expect("a scratch folder");
        let (path, folder) = (scratch.path().join("archive"), scratch.path().join("results"));
        let bytes = archive(&path, &["/status", "/deep/trace.txt"]);
        unpack(&path, &folder).expect("an archive");
        assert_eq!(fs::read(folder.join("status")).expect("a result"), b"/status");
        assert_eq!(fs::read(folder.join("deep/trace.txt")).expect("a result"), b"/deep/trace.txt");

        fs::remove_dir_all(&folder).expect("a folder");
        // Without the end of the second file, and the trailer.
        fs::write(&path, &bytes[..bytes.len() - 132]).expect("a file");
        unpack(&path, &folder).expect("a part of an archive");
        assert!(folder.join("status").exists() && !folder.join("deep/trace.txt").exists());
    }

    #[test]
    fn a_result_stays_in_its_folder() {
        let scratch = tempfile::tempdir().expect("a scratch folder");
        let (path, folder) = (scratch.path().join("archive"), scratch.path().join("results"));
        archive(&path, &["/deep/../../outside"]);
        let error = unpack(&path, &folder).expect_err("it leads out of the folder");
        assert!(error.to_string().contains("a result is called"), "{error}");
        assert!(!scratch.path().join("outside").exists());
    }
}
