//! The way from a folder of generated C to a module that can be loaded.

use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::interface::Interface;
use crate::symbols::{DataImage, Symbols};

/// What may be chosen about a build. The default suits what generators write.
#[derive(Debug, Clone)]
pub struct Options {
    /// Name of the model; `None` when the folder holds only one.
    pub model: Option<String>,
    /// Number of rates, for a model whose step function takes the rate's number and does not say how many
    /// there are.
    pub rates: Option<u32>,
    /// The compiler; `None` means the one that `CC` names, or `gcc`.
    pub compiler: Option<PathBuf>,
    /// Macros to define, each as `NAME` or `NAME=VALUE`.
    pub defines: Vec<String>,
    /// Further folders to look for headers in.
    pub include: Vec<PathBuf>,
    /// Source files to leave out, relative to the folder; `*` and `?` are wildcards.
    pub leave_out: Vec<String>,
    /// Longest time that one run of the compiler may take.
    pub time_limit: Duration,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            model: None,
            rates: None,
            compiler: None,
            defines: Vec::new(),
            include: Vec::new(),
            leave_out: Vec::new(),
            time_limit: Duration::from_secs(120),
        }
    }
}

/// A program, built.
#[derive(Debug, Clone)]
pub struct Build {
    /// Name of the model.
    pub model: String,
    /// The module: a shared object that exports `quietcore_module`.
    pub module: PathBuf,
    /// The file that [`Build::symbols`] can be loaded from.
    pub symbols_file: PathBuf,
    /// Its variables.
    pub symbols: Symbols,
    /// Its writable data.
    pub data: DataImage,
    /// The functions that it is run by.
    pub interface: Interface,
    /// SHA-256 of all that went into it, in hexadecimal digits: sources, compiler, options.
    pub hash: String,
    /// What the compiler warned of.
    pub warnings: Vec<Diagnostic>,
    /// Source files that are no part of it, each with the reason.
    pub left_out: Vec<LeftOut>,
    /// Whether it was found as built before.
    pub cached: bool,
}

/// A source file that is no part of the module.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeftOut {
    /// The file, relative to the folder.
    pub file: String,
    /// Why.
    pub why: String,
}

/// How grave a remark of the compiler is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Severity {
    /// There is no module.
    Error,
    /// There is one.
    Warning,
}

/// One remark of the compiler.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Diagnostic {
    /// How grave.
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
    /// Not made yet.
    #[error("not made yet")]
    NotYet,
}

/// Builds the program in `folder` into a subfolder of `out_dir`, or finds it as built before.
///
/// # Errors
/// [`BuildError`]; then nothing is left in `out_dir` but what was there before.
pub fn build(folder: &Path, options: &Options, out_dir: &Path) -> Result<Build, BuildError> {
    let _ = (folder, options, out_dir);
    Err(BuildError::NotYet)
}

impl Build {
    /// The data image as the module's file holds it: initial values, zero where there are none.
    /// Addresses in it are not relocated.
    ///
    /// # Errors
    /// When the module can't be read.
    pub fn initial_data(&self) -> Result<Vec<u8>, BuildError> {
        Err(BuildError::NotYet)
    }
}
