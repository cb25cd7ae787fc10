//! The way from a folder of generated C to a module that can be loaded.
//!
//! 1. `sources`: which files belong to the program. They are copied, so that what is built is what
//!    the hash was made of, whatever happens to the folder meanwhile.
//! 2. Each is compiled. A failure counts only if something needs the file.
//! 3. `objects`: the entry points, and the objects that they need.
//! 4. A first link, for the debug information: it says what the entry points take.
//! 5. The glue is written and compiled; the second link makes the module.
//! 6. `image`: the module is checked against all that its loader relies on.
//! 7. `collect`: its symbols. `store`: all of it moves to its place at once.
//!
//! A folder with an OIL file is an OSEK program and goes another way: `recipe/kernel`.
//!
//! A folder that holds [`RECEIVED_MARK`], or lies below one that does, came from elsewhere: it is
//! compiled in a sandbox or not at all, whoever builds it.
//!
//! The same sources, options and compiler give the same bytes, wherever they lie. What the compiler
//! reads from outside of the folder decides as well, and is known once it has been read: `reads`.

mod collect;
pub(crate) mod compiler;
mod guest;
mod headers;
pub(crate) mod image;
pub(crate) mod lexing;
pub(crate) mod objects;
mod recipe;
pub(crate) mod sources;
pub(crate) mod store;
mod telling;
mod widths;

#[cfg(test)]
mod tests;

use std::fmt;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use quietcore_units::Causes;
use serde::{Deserialize, Serialize};

use crate::debug::DebugError;
use crate::interface::{Interface, InterfaceError};
use crate::place::{Memory, VariableLocation};
use crate::symbols::{DataImage, Symbols, SymbolsFileError};
use crate::value::Value;
use image::LinkedFile;

pub use compiler::{CompilerError, Listener};
pub use guest::{GuestError, Needed};
pub use image::{DATA_BYTES_MAX, ImageError};
pub use sources::FolderError;
pub use store::BUILD_SCHEMA;
pub use telling::{Foreign, Lack, Origin, left_out_told};

/// Name of the file that marks a folder as received.
pub const RECEIVED_MARK: &str = ".quietcore-received";

/// The machine that a program is built for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Target {
    /// A process, which loads it as a module.
    #[default]
    Module,
    /// A guest, into whose memory it is put at fixed addresses: see [`quietcore_program_image`].
    Guest,
}

/// The kinds of programs that a folder may hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// C or C++ that a generator wrote.
    Generated,
    /// C with an OIL file, for the OSEK kernel.
    Osek,
}

/// Choices of a build. The default suits what generators write.
#[derive(Debug, Clone)]
pub struct Options {
    /// The machine that it is built for.
    pub target: Target,
    /// The kind of program in the folder; `None` if an OIL file in it decides.
    pub kind: Option<Kind>,
    /// Name of the model; `None` when the folder holds only one.
    pub model: Option<String>,
    /// The OIL file of an OSEK program, relative to the folder; `None` when that holds one at most.
    pub oil: Option<String>,
    /// The application mode in which an OSEK program starts; `None` for the first of its OIL file.
    pub mode: Option<String>,
    /// The time of a tick for hardware counters of an OIL file that say none, in ns: the cycle of
    /// the partition, where there is one.
    pub tick_ns: Option<u64>,
    /// Number of rates, for a model whose step function takes the rate's number and does not say
    /// how many there are. Where it is known, another number is an error.
    pub rates: Option<u32>,
    /// The compiler; `None` means the one that `CC` names, or `gcc`.
    pub compiler: Option<PathBuf>,
    /// Macros to define, each as `NAME` or `NAME=VALUE`.
    pub defines: Vec<String>,
    /// The signals, queues and groups of its partition, of which an OSEK program may be notified.
    pub carried: Vec<Carried>,
    /// Further folders to look for headers in.
    pub include: Vec<PathBuf>,
    /// Source files to leave out, relative to the folder; `*` and `?` are wildcards.
    pub leave_out: Vec<String>,
    /// Longest time that one run of the compiler may take.
    pub time_limit: Duration,
    /// Hears what is compiled, and what the compiler says of it.
    pub listener: Option<Listener>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            target: Target::Module,
            kind: None,
            model: None,
            oil: None,
            mode: None,
            tick_ns: None,
            rates: None,
            compiler: None,
            defines: Vec::new(),
            carried: Vec::new(),
            include: Vec::new(),
            leave_out: Vec::new(),
            time_limit: Duration::from_secs(120),
            listener: None,
        }
    }
}

/// A signal, queue or group that a channel carries to or from a program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Carried {
    /// Its name in C, without what stands before all of them: `setpoint_code`.
    pub name: String,
    /// `true` for a group, whose numbers are counted apart.
    pub is_group: bool,
    /// `true` where the program receives it, `false` where it sends it.
    pub is_received: bool,
}

/// A built program with its variables.
#[derive(Debug, Clone)]
pub struct Build {
    /// Name of the model.
    pub model: String,
    /// The machine that it was built for.
    pub target: Target,
    /// The module: a shared object that exports `quietcore_module`. For a guest the image for slot
    /// A, a static file whose entry is the address of `quietcore_module`.
    pub module: PathBuf,
    /// For a guest the same for slot B, laid out as the first; for a process there is none.
    pub second: Option<PathBuf>,
    /// The file that [`Build::symbols`] can be loaded from.
    pub symbols_file: PathBuf,
    /// Its variables by name, type and location.
    pub symbols: Symbols,
    /// Link-time address and size of its writable data.
    pub data: DataImage,
    /// The functions that it is run by.
    pub interface: Interface,
    /// SHA-256 of all that went into it, in hexadecimal digits: sources, compiler, options, and the
    /// files outside of the folder that the compiler has read.
    pub hash: String,
    /// The compiler's version and what it compiles for.
    pub compiler: String,
    /// Warnings of the compiler.
    pub warnings: Vec<Diagnostic>,
    /// Remarks of the builder, as sentences.
    pub remarks: Vec<String>,
    /// Source files that are no part of it, each with the reason.
    pub left_out: Vec<LeftOut>,
    /// `true` if it was found as built before.
    pub cached: bool,
}

impl Build {
    /// Reads the module and returns its SHA-256 in hexadecimal digits; `None` where it can't be
    /// read.
    pub fn module_sha256(&self) -> Option<String> {
        fs::read(&self.module).ok().map(|module| store::sum(&module))
    }
}

/// A source file that is no part of the module.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeftOut {
    /// The file, relative to the folder.
    pub file: String,
    /// The reason, as the rest of a sentence.
    pub why: String,
}

impl fmt::Display for LeftOut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` ({})", self.file, self.why)
    }
}

/// The gravity of a remark of the compiler.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Severity {
    /// There is no module.
    Error,
    /// A warning; the build goes on.
    Warning,
}

/// One remark of the compiler.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Diagnostic {
    /// The gravity of the remark.
    pub severity: Severity,
    /// The file, as the compiler named it: relative to the folder. Empty where it named none.
    pub file: String,
    /// The line, counted from 1.
    pub line: Option<u32>,
    /// The column, counted from 1.
    pub column: Option<u32>,
    /// The first line of the remark.
    pub message: String,
}

/// A program that could not be built.
#[derive(Debug, thiserror::Error)]
pub enum BuildError {
    /// The folder holds no program.
    #[error(transparent)]
    Folder(#[from] FolderError),
    /// The compiler can't be run.
    #[error(transparent)]
    Compiler(#[from] CompilerError),
    /// The compiler refused the program.
    #[error("the program does not compile{}:\n{}{}", remedy(text), lines(lacks), text.trim_end())]
    Refused {
        /// Headers and functions that it needs and the folder does not hold.
        lacks: Vec<Lack>,
        /// All that it said, word for word.
        text: String,
        /// The errors, in the compiler's order.
        errors: Vec<Diagnostic>,
    },
    /// The OIL file describes no application that the kernel can run.
    #[error("the OIL file is refused:\n{}{}", text.trim_end(), kind_hint(*is_generated))]
    Oil {
        /// `true` if the folder holds a generated program as well.
        is_generated: bool,
        /// All that is wrong with it, a problem a line.
        text: String,
        /// The same, one by one.
        errors: Vec<Diagnostic>,
    },
    /// The OIL file that was asked for is not there.
    #[error(
        "there is no OIL file `{wanted}` in the folder{}",
        if names.is_empty() { String::new() } else { format!("; there is {}", names.join(", ")) }
    )]
    NoOil {
        /// The file asked for.
        wanted: String,
        /// Those that are there.
        names: Vec<String>,
    },
    /// It is to be an OSEK program, and there is no OIL file.
    #[error("the folder holds no OIL file, which `kind = \"osek\"` asks for")]
    NoOilAtAll,
    /// There are several OIL files.
    #[error(
        "the folder holds several OIL files: {}; name the one that is meant, in the site file as \
         `oil`{}",
        names.join(", "),
        kind_hint(*is_generated)
    )]
    SeveralOil {
        /// The names of the OIL files.
        names: Vec<String>,
        /// `true` if the folder holds a generated program as well.
        is_generated: bool,
    },
    /// The OSEK program has no application mode of the name that was asked for.
    #[error("`{oil}` has no application mode `{wanted}`; it has {}", names.join(", "))]
    NoMode {
        /// Name of the OIL file.
        oil: String,
        /// The mode asked for.
        wanted: String,
        /// Those that it has.
        names: Vec<String>,
    },
    /// The functions of the program can't be run.
    #[error(transparent)]
    Interface(#[from] InterfaceError),
    /// The module can't be loaded.
    #[error(transparent)]
    Image(#[from] ImageError),
    /// There is no image for a guest.
    #[error(transparent)]
    Guest(#[from] GuestError),
    /// The compiler's record of the variables can't be read.
    #[error("the variables of the program cannot be read: {0}")]
    Variables(String),
    /// A file could not be read or written.
    #[error("`{}` could not be read or written", path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// The error of the system.
        #[source]
        source: io::Error,
    },
}

impl BuildError {
    fn io(path: &Path, source: io::Error) -> Self {
        Self::Io { path: path.to_owned(), source }
    }
}

impl From<DebugError> for BuildError {
    fn from(error: DebugError) -> Self {
        Self::Variables(Causes(&error).to_string())
    }
}

impl From<SymbolsFileError> for BuildError {
    fn from(error: SymbolsFileError) -> Self {
        Self::Variables(Causes(&error).to_string())
    }
}

/// Says how a folder with an OIL file is taken for generated code, where it holds such code.
fn kind_hint(is_generated: bool) -> &'static str {
    if is_generated {
        "\nthe folder also holds a generated program: to run that, write `kind = \"generated\"`"
    } else {
        ""
    }
}

/// Returns the remedy for a refusal with one known reason; empty, or a remark.
fn remedy(text: &str) -> &'static str {
    if text.contains("Code was generated for compiler with different sized") {
        "; it was generated for a processor of other word sizes: choose x86-64 as its hardware, or \
         portable word sizes"
    } else if text.contains("cc1plus") && text.contains("cannot execute") {
        "; there is no compiler for C++: install g++"
    } else if ["__cregister", "__interrupt", "typedef interrupt "]
        .iter()
        .any(|it| text.contains(it))
    {
        "; it is written for the compiler of a small processor, and not in C as such"
    } else if text.contains("exception handling disabled") {
        "; programs are built without exceptions of C++"
    } else {
        ""
    }
}

fn lines(lacks: &[Lack]) -> String {
    lacks.iter().map(|lack| format!("{lack}\n")).collect()
}

/// Builds the program in `folder` into a subfolder of `out_dir`, or finds it as built before.
///
/// # Errors
/// [`BuildError`]; then nothing is left in `out_dir` but what was there before.
pub fn build(folder: &Path, options: &Options, out_dir: &Path) -> Result<Build, BuildError> {
    let folder = sources::existing(folder)?;
    fs::create_dir_all(out_dir).map_err(|error| BuildError::io(out_dir, error))?;
    recipe::build(&folder, options, out_dir)
}

impl Build {
    /// The data image as the module's file holds it: initial values, zero where there are none.
    /// Addresses in it are not relocated.
    ///
    /// # Errors
    /// When the module can't be read.
    pub fn initial_data(&self) -> Result<Vec<u8>, BuildError> {
        let bytes = self.read_module()?;
        Ok(LinkedFile::parse(&bytes)?.initial_data(self.data)?)
    }

    /// The value of a constant; `None` when the place is none, or the file does not hold it.
    ///
    /// # Errors
    /// When the module can't be read.
    pub fn constant(&self, place: &VariableLocation) -> Result<Option<Value>, BuildError> {
        if place.memory != Memory::Constant {
            return Ok(None);
        }
        let bytes = self.read_module()?;
        let linked = LinkedFile::parse(&bytes)?;
        let found = linked.file_range(u64::from(place.offset), place.bytes() as u64);
        Ok(found.and_then(|bytes| place.decode(bytes)))
    }

    /// The file to be loaded into a data slot, 0 or 1: a guest has one for each.
    pub fn file_for(&self, slot: u8) -> &Path {
        match &self.second {
            Some(second) if slot != 0 => second,
            _ => &self.module,
        }
    }

    fn read_module(&self) -> Result<Vec<u8>, BuildError> {
        fs::read(&self.module).map_err(|error| BuildError::io(&self.module, error))
    }
}
