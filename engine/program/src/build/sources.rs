//! Which files of a folder belong to the program.
//!
//! | what | happens |
//! |---|---|
//! | `.c`, `.cpp` that defines `main` | left out: the generator's example, or somebody's board |
//! | folders of reports and of tests (`html`, `instrumented`, `sil`, `pil`, …), hidden ones | not entered |
//! | links | left out: what is built is what lies in the folder |
//! | `.oil` | makes it an OSEK program: see `recipe/kernel` |
//! | `.cpp`, `.cc`, `.cxx` | as `.c`; for a guest left out, as that has no C++ |
//! | all others | part of the hash; `.c` is compiled, a folder with `.h` is searched for headers |

use std::collections::BTreeSet;
use std::fs;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use crate::build::telling::foreign::{self, Foreign};
use crate::build::{LeftOut, lexing};
use crate::symbols::matches_name;

/// Most files of a folder.
const FILES_MAX: usize = 10_000;

/// Largest file of those that matter, in bytes.
const FILE_BYTES_MAX: u64 = 64 * 1024 * 1024;

/// Largest sum of them, in bytes.
const FOLDER_BYTES_MAX: u64 = 512 * 1024 * 1024;

/// Deepest folder in a folder.
const DEPTH_MAX: usize = 8;

/// Folders that generators fill with something else than the program.
const FOREIGN_FOLDERS: [&str; 12] = [
    "html",
    "instrumented",
    "sil",
    "pil",
    "xil",
    "hil",
    "coderassumptions",
    "tmwinternal",
    "accel",
    "raccel",
    "sim",
    "debug",
];

/// Endings of files that can change what is built.
const SOURCE_ENDINGS: [&str; 17] = [
    "c", "cpp", "cc", "cxx", "C", "h", "hpp", "hh", "hxx", "inc", "inl", "def", "tbl", "dat",
    "txt", "csv", "oil",
];

/// A source file with its content.
#[derive(Debug, Clone)]
pub(crate) struct SourceFile {
    /// Its name relative to the folder, with `/`.
    pub(crate) name: String,
    pub(crate) content: Vec<u8>,
}

impl SourceFile {
    /// Its name without folder and ending.
    pub(crate) fn stem(&self) -> &str {
        let file = self.name.rsplit('/').next().unwrap_or(&self.name);
        file.rsplit_once('.').map_or(file, |(stem, _)| stem)
    }

    pub(crate) fn text(&self) -> std::borrow::Cow<'_, str> {
        String::from_utf8_lossy(&self.content)
    }

    /// Returns whether it seems to define a generated program, by the names of functions in it.
    pub(crate) fn seems_generated(&self) -> bool {
        let text = self.text();
        let has = |name: &str| text.contains(name);
        (has("_initialize") && has("_step")) || (has("::initialize") && has("::step"))
    }
}

/// The files of a folder, sorted by name.
#[derive(Debug, Default)]
pub(crate) struct Sources {
    /// Files that are compiled.
    pub(crate) compiled: Vec<SourceFile>,
    /// Files with a `main`: they may hold initial values that stand nowhere else.
    pub(crate) mains: Vec<SourceFile>,
    /// Headers and other files that sources may include.
    pub(crate) included: Vec<SourceFile>,
    /// Files that describe an OSEK application.
    pub(crate) oil: Vec<SourceFile>,
    /// Headers of the folders that are searched beside it; part of the hash only.
    pub(crate) beside: Vec<SourceFile>,
    /// Folders that hold headers, relative; the folder itself is not among them.
    pub(crate) header_folders: BTreeSet<String>,
    pub(crate) left_out: Vec<LeftOut>,
}

impl Sources {
    /// Returns whether there is a header of this name, in whatever folder.
    pub(crate) fn holds_header(&self, name: &str) -> bool {
        let mut names = self.included.iter().map(|file| &file.name);
        names.any(|file| file.rsplit('/').next() == Some(name))
    }
}

/// A folder that can't be read as a program.
#[derive(Debug, thiserror::Error)]
pub enum FolderError {
    /// It does not exist.
    #[error("there is no folder `{}`", path.display())]
    Missing {
        /// Path of the folder.
        path: PathBuf,
    },
    /// It is a file.
    #[error("`{}` is no folder; name the folder that the generator wrote", path.display())]
    NoFolder {
        /// Path of the file.
        path: PathBuf,
    },
    /// It is something that is known, and no program that can be built.
    #[error("`{}` is {what}", path.display())]
    Foreign {
        /// The file or folder.
        path: PathBuf,
        /// The kind that it is of.
        what: Foreign,
    },
    /// It could not be read.
    #[error("`{}` could not be read", path.display())]
    Unreadable {
        /// The file or folder.
        path: PathBuf,
        /// The error of the system.
        #[source]
        source: io::Error,
    },
    /// It holds no C or C++.
    #[error(
        "`{}` holds no source file of C or C++{}; name the folder that the generator wrote",
        path.display(),
        beside_left_out(left_out)
    )]
    NoSource {
        /// Path of the folder.
        path: PathBuf,
        /// Source files in it that are no part of a program.
        left_out: Vec<LeftOut>,
    },
    /// It holds C++ only, and is for a guest.
    #[error(
        "`{}` holds C++ only, which is not built for a guest; choose C as the language of the \
         generated code, or the backend `process` or `container`",
        path.display()
    )]
    OnlyCpp {
        /// Path of the folder.
        path: PathBuf,
    },
    /// It is larger than any program.
    #[error("`{}` has more than {limit}; name the folder of one program", path.display())]
    TooLarge {
        /// The file or folder.
        path: PathBuf,
        /// The limit, in words.
        limit: String,
    },
}

/// The folder with its whole path, where it may hold a program.
pub(crate) fn existing(folder: &Path) -> Result<PathBuf, FolderError> {
    let path = fs::canonicalize(folder).map_err(|source| {
        let path = folder.to_owned();
        match source.kind() {
            io::ErrorKind::NotFound => FolderError::Missing { path },
            _ => FolderError::Unreadable { path, source },
        }
    })?;
    if path.is_dir() {
        return match foreign::of_folder(&path) {
            Some(what) => Err(FolderError::Foreign { path: folder.to_owned(), what }),
            None => Ok(path),
        };
    }
    let path = folder.to_owned();
    Err(match foreign::of_file(folder) {
        Some(what) => FolderError::Foreign { path, what },
        None => FolderError::NoFolder { path },
    })
}

/// Reads the source files of a folder and of those below it.
///
/// `has_cpp` says whether files of C++ can be part of the program.
pub(crate) fn scan(
    folder: &Path,
    leave_out: &[String],
    has_cpp: bool,
) -> Result<Sources, FolderError> {
    let mut scan =
        Scan { leave_out, has_cpp, sources: Sources::default(), files: 0, bytes: 0, cpp: 0 };
    scan.folder(folder, "", 0)?;
    let Scan { mut sources, cpp, .. } = scan;
    sources.compiled.sort_by(|one, other| one.name.cmp(&other.name));
    sources.included.sort_by(|one, other| one.name.cmp(&other.name));
    sources.oil.sort_by(|one, other| one.name.cmp(&other.name));
    sources.mains.sort_by(|one, other| one.name.cmp(&other.name));
    sources.left_out.sort_by(|one, other| one.file.cmp(&other.file));
    if sources.compiled.is_empty() {
        let path = folder.to_owned();
        return Err(match foreign::of_folder_without_code(folder) {
            _ if cpp > 0 => FolderError::OnlyCpp { path },
            Some(what) => FolderError::Foreign { path, what },
            None => {
                let mut left_out = sources.left_out;
                left_out.retain(|left| is_compiled(&left.file));
                FolderError::NoSource { path, left_out }
            }
        });
    }
    Ok(sources)
}

fn beside_left_out(left_out: &[LeftOut]) -> String {
    let Some((first, rest)) = left_out.split_first() else { return String::new() };
    let more = if rest.is_empty() { String::new() } else { format!(", and {} more", rest.len()) };
    format!(" that is part of a program: {first}{more}")
}

/// Reads the headers of a folder that is searched beside the program's own.
pub(crate) fn headers(folder: &Path) -> Result<Vec<SourceFile>, FolderError> {
    let sources = Sources::default();
    let mut scan = Scan { leave_out: &[], has_cpp: true, sources, files: 0, bytes: 0, cpp: 0 };
    scan.folder(folder, "", 0)?;
    let mut headers = scan.sources.included;
    headers.sort_by(|one, other| one.name.cmp(&other.name));
    Ok(headers)
}

struct Scan<'a> {
    leave_out: &'a [String],
    has_cpp: bool,
    sources: Sources,
    files: usize,
    bytes: u64,
    cpp: usize,
}

impl Scan<'_> {
    fn folder(&mut self, path: &Path, prefix: &str, depth: usize) -> Result<(), FolderError> {
        let unreadable = |source| FolderError::Unreadable { path: path.to_owned(), source };
        for entry in fs::read_dir(path).map_err(unreadable)? {
            let entry = entry.map_err(unreadable)?;
            let kind = entry.file_type().map_err(unreadable)?;
            self.files += 1;
            if self.files > FILES_MAX {
                return Err(FolderError::TooLarge {
                    path: path.to_owned(),
                    limit: format!("{FILES_MAX} files"),
                });
            }
            // A name that is no text can't be written in an include and is of no use here.
            let Ok(name) = entry.file_name().into_string() else {
                continue;
            };
            let relative = format!("{prefix}{name}");
            if kind.is_dir() {
                let foreign = FOREIGN_FOLDERS.contains(&name.to_ascii_lowercase().as_str());
                if !foreign && !name.starts_with('.') && depth < DEPTH_MAX {
                    self.folder(&entry.path(), &format!("{relative}/"), depth + 1)?;
                }
            } else if kind.is_file() {
                self.file(&entry.path(), relative)?;
            } else if is_source(&name) {
                self.leave(relative, "it is no plain file; put a copy in its place");
            }
        }
        Ok(())
    }

    fn file(&mut self, path: &Path, name: String) -> Result<(), FolderError> {
        if is_cpp(&name) && !self.has_cpp {
            self.cpp += 1;
            self.leave(name, "it is C++, which is not built for a guest");
            return Ok(());
        }
        if !is_source(&name) {
            return Ok(());
        }
        // Characters that a line of the compiler's or a `#line` could take for something else.
        if name.contains(['\n', '\r', '"', '\\']) {
            self.leave(name, "its name has a character that no source file should have");
            return Ok(());
        }
        if self.leave_out.iter().any(|pattern| matches_name(pattern, &name)) {
            self.leave(name, "`leave_out` names it");
            return Ok(());
        }
        let content = self.read(path)?;
        let file = SourceFile { name, content };
        if file.name.ends_with(".oil") {
            self.sources.oil.push(file);
        } else if !is_compiled(&file.name) {
            if ["h", "hpp", "hh", "hxx"].contains(&ending(&file.name))
                && let Some((folder, _)) = file.name.rsplit_once('/')
            {
                self.sources.header_folders.insert(folder.to_owned());
            }
            self.sources.included.push(file);
        } else if lexing::defines_main(&file.text()) {
            self.leave(file.name.clone(), "it has a `main` of its own");
            self.sources.mains.push(file);
        } else {
            self.sources.compiled.push(file);
        }
        Ok(())
    }

    fn read(&mut self, path: &Path) -> Result<Vec<u8>, FolderError> {
        let unreadable = |source| FolderError::Unreadable { path: path.to_owned(), source };
        let mut content = Vec::new();
        let file = fs::File::open(path).map_err(unreadable)?;
        file.take(FILE_BYTES_MAX + 1).read_to_end(&mut content).map_err(unreadable)?;
        self.bytes += content.len() as u64;
        for (bytes, limit) in
            [(content.len() as u64, FILE_BYTES_MAX), (self.bytes, FOLDER_BYTES_MAX)]
        {
            if bytes > limit {
                let limit = format!("{} MiB", limit / 1024 / 1024);
                return Err(FolderError::TooLarge { path: path.to_owned(), limit });
            }
        }
        Ok(content)
    }

    fn leave(&mut self, file: String, why: &str) {
        self.sources.left_out.push(LeftOut { file, why: why.to_owned() });
    }
}

fn ending(name: &str) -> &str {
    name.rsplit_once('.').map_or("", |(_, ending)| ending)
}

fn is_source(name: &str) -> bool {
    !name.starts_with('.') && SOURCE_ENDINGS.contains(&ending(name))
}

/// Returns whether a file is compiled by itself, and not only included.
pub(crate) fn is_compiled(name: &str) -> bool {
    ending(name) == "c" || is_cpp(name)
}

/// Returns whether a source file is C++.
pub(crate) fn is_cpp(name: &str) -> bool {
    matches!(ending(name), "cpp" | "cc" | "cxx" | "C")
}
