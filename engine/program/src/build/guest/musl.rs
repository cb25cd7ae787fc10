//! Finds the static C library, and its headers.

use std::fs;
use std::path::{Path, PathBuf};

use crate::build::BuildError;
use crate::build::compiler::Compiler;
use crate::build::guest::GuestError;

/// Places in distributions: the library, and the folder of its headers.
const PLACES: [(&str, &str); 4] = [
    // Debian, Ubuntu.
    ("/usr/lib/x86_64-linux-musl/libc.a", "/usr/include/x86_64-linux-musl"),
    // Fedora.
    ("/usr/x86_64-linux-musl/lib64/libc.a", "/usr/x86_64-linux-musl/include"),
    // Arch.
    ("/usr/lib/musl/lib/libc.a", "/usr/lib/musl/include"),
    // As its own makefile installs it.
    ("/usr/local/musl/lib/libc.a", "/usr/local/musl/include"),
];

/// Largest library that is read, in bytes.
const LIBRARY_BYTES_MAX: u64 = 64 << 20;

/// The static C library.
#[derive(Debug)]
pub(crate) struct Musl {
    library: PathBuf,
    headers: PathBuf,
    /// The folder of the compiler's own headers: of instructions, limits, argument lists. Empty
    /// until it was asked for.
    compilers_headers: PathBuf,
    bytes: Vec<u8>,
}

impl Musl {
    /// Finds the library in one of the usual places.
    pub(crate) fn find() -> Result<Self, BuildError> {
        let is_there = |(library, headers): &&(&str, &str)| {
            Path::new(library).is_file() && Path::new(headers).join("math.h").is_file()
        };
        let (library, headers) = PLACES.iter().find(is_there).ok_or(GuestError::NoLibrary)?;
        let library = PathBuf::from(library);
        let unusable = |why: String| {
            BuildError::from(GuestError::Library { file: library.display().to_string(), why })
        };
        let metadata = fs::metadata(&library).map_err(|error| unusable(error.to_string()))?;
        if metadata.len() > LIBRARY_BYTES_MAX {
            return Err(unusable(format!("it has more than {LIBRARY_BYTES_MAX} bytes")));
        }
        let bytes = fs::read(&library).map_err(|error| unusable(error.to_string()))?;
        let compilers_headers = PathBuf::new();
        Ok(Self { library, headers: PathBuf::from(headers), compilers_headers, bytes })
    }

    /// Asks the compiler for its own headers: before anything is compiled.
    pub(crate) fn prepare(&mut self, compiler: &Compiler) -> Result<(), BuildError> {
        let answer =
            compiler.run(Path::new("/"), &["-print-file-name=include".to_owned()], None)?;
        self.compilers_headers = PathBuf::from(answer.printed.trim());
        Ok(())
    }

    /// The file of the library.
    pub(crate) fn library(&self) -> &Path {
        &self.library
    }

    /// Returns the bytes of the archive.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Folders to look for headers in, the first ones first.
    pub(crate) fn headers(&self) -> [&Path; 2] {
        [&self.headers, &self.compilers_headers]
    }
}
