//! A folder of programs for tests, and archives made in memory.

use std::fs;
use std::io::{Cursor, Write as _};
use std::path::{Path, PathBuf};

use quietcore_programs::{Authorship, DeployPlace, Programs, ProgramsError, Version};
use zip::write::SimpleFileOptions;

pub(crate) fn by(user: &str) -> Authorship {
    Authorship { by: user.to_owned(), at: "2026-11-27T12:00:00Z".to_owned() }
}

pub(crate) fn place(partition: &str) -> DeployPlace {
    DeployPlace { site: "press".to_owned(), partition: partition.to_owned() }
}

/// Sends an archive in pieces.
pub(crate) fn send(
    programs: &Programs,
    program: &str,
    archive: &[u8],
) -> Result<Version, ProgramsError> {
    let mut upload = programs.receive(program)?;
    for chunk in archive.chunks(10_000) {
        upload.chunk(chunk)?;
    }
    programs.keep(upload, &by("anna"))
}

/// Sends files one by one.
pub(crate) fn send_files(
    programs: &Programs,
    program: &str,
    files: &[(&str, &str)],
) -> Result<Version, ProgramsError> {
    let mut upload = programs.receive(program)?;
    for (name, text) in files {
        upload.file(name)?;
        text.as_bytes().chunks(3).try_for_each(|chunk| upload.chunk(chunk))?;
    }
    programs.keep(upload, &by("anna"))
}

pub(crate) fn zip(files: &[(&str, &[u8])]) -> Vec<u8> {
    let mut writer = zip::ZipWriter::new(Cursor::new(Vec::new()));
    for (name, content) in files {
        writer.start_file(*name, SimpleFileOptions::default()).unwrap();
        writer.write_all(content).unwrap();
    }
    writer.finish().unwrap().into_inner()
}

/// A tar entry as it is written, whatever its name.
pub(crate) fn tar(entries: &[(&str, tar::EntryType, &[u8])]) -> Vec<u8> {
    let mut builder = tar::Builder::new(Vec::new());
    for (name, kind, content) in entries {
        let mut header = tar::Header::new_ustar();
        header.as_mut_bytes()[..name.len()].copy_from_slice(name.as_bytes());
        header.set_entry_type(*kind);
        header.set_size(content.len() as u64);
        header.set_mode(0o644);
        header.set_cksum();
        builder.append(&header, *content).unwrap();
    }
    builder.into_inner().unwrap()
}

pub(crate) fn gz(bytes: &[u8]) -> Vec<u8> {
    let level = flate2::Compression::default();
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), level);
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// Returns the files below a folder but for the mark, with their contents, by name.
pub(crate) fn files(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let mut files = Vec::new();
    let mut open = vec![folder.to_owned()];
    while let Some(path) = open.pop() {
        for entry in fs::read_dir(path).unwrap().flatten() {
            let path = entry.path();
            let name = path.strip_prefix(folder).unwrap().to_str().unwrap().to_owned();
            match path.is_dir() {
                true => open.push(path),
                false if name == quietcore_program::build::RECEIVED_MARK => {}
                false => files.push((name, fs::read(path).unwrap())),
            }
        }
    }
    files.sort();
    files
}

/// Returns what an upload has left, and versions that nobody knows.
pub(crate) fn leftovers(state: &Path, programs: &Programs) -> Vec<PathBuf> {
    let listed = programs.programs().unwrap();
    let known: Vec<_> = listed
        .iter()
        .flat_map(|program| programs.versions(&program.name).unwrap())
        .map(|version| programs.folder(&version))
        .collect();
    let below = |name: &str| fs::read_dir(state.join("programs").join(name)).unwrap().flatten();
    let unknown = below("versions").map(|it| it.path()).filter(|path| !known.contains(path));
    below("incoming").map(|it| it.path()).chain(unknown).collect()
}
