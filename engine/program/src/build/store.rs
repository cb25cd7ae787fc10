//! Builds on disk: written whole, found again by what went into them.
//!
//! The key is the sum of the folder's files, the options and the compiler: all that is known before
//! the compiler has read anything. The hash covers the files outside of the folder as well.
//!
//! ```text
//! OUT/program-1f0c…-77ab…/    the first 16 digits of the key, and 16 of the hash
//! ├── module.so               for a guest: slot-a.elf and slot-b.elf
//! ├── symbols.json            quietcore.symbols/1
//! └── build.json              quietcore.build/1; with the sums of the others
//! ```

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::build::compiler::reads::ReadFile;
use crate::build::sources::Sources;
use crate::build::{Build, BuildError, Diagnostic, Kind, LeftOut, Options, Target};
use crate::interface::Interface;
use crate::symbols::{DataImage, Symbols};

/// Schema of `build.json`.
pub const BUILD_SCHEMA: &str = "quietcore.build/1";

/// Changes whenever the same sources would be built into something else.
const RECIPE: &str = "quietcore program recipe 5";

const MODULE_FILE: &str = "module.so";
const SLOT_FILES: [&str; 2] = ["slot-a.elf", "slot-b.elf"];
const SYMBOLS_FILE: &str = "symbols.json";
const BUILD_FILE: &str = "build.json";

/// Largest file of a build that is read back, in bytes.
const BUILD_BYTES_MAX: u64 = 16 * 1024 * 1024;

/// Begin of the name of each folder.
const NAME: &str = "program";
/// Number of digits of each of the two sums in it.
const DIGITS: usize = 16;

/// The content of `build.json`.
#[derive(Debug, Serialize, Deserialize)]
struct Record {
    schema: String,
    target: Target,
    key: String,
    hash: String,
    compiler: String,
    /// The files outside of the folder that the compiler has read.
    read: Vec<ReadFile>,
    data: DataImage,
    interface: Interface,
    warnings: Vec<Diagnostic>,
    remarks: Vec<String>,
    left_out: Vec<LeftOut>,
    module_sha256: String,
    second_sha256: Option<String>,
    symbols_sha256: String,
}

/// A finished build, before it has its place.
#[derive(Debug)]
pub(super) struct Fresh {
    pub(super) module: Vec<u8>,
    /// For a guest the image for slot B.
    pub(super) second: Option<Vec<u8>>,
    pub(super) symbols: Symbols,
    pub(super) data: DataImage,
    pub(super) interface: Interface,
    pub(super) warnings: Vec<Diagnostic>,
    pub(super) remarks: Vec<String>,
    pub(super) left_out: Vec<LeftOut>,
}

/// All that decides about a build.
#[derive(Debug)]
pub(super) struct Inputs<'a> {
    pub(super) key: &'a str,
    pub(super) compiler: &'a str,
    pub(super) read: Vec<ReadFile>,
}

impl Inputs<'_> {
    fn hash(&self) -> String {
        let mut hasher = Sha256::new();
        hasher.update(self.key);
        for ReadFile { file, sha256 } in &self.read {
            hasher.update((file.len() as u64).to_le_bytes());
            hasher.update(file);
            hasher.update(sha256);
        }
        hexadecimal(&hasher.finalize())
    }
}

/// The sum of all that decides about a build and is known before it.
pub(super) fn key(sources: &Sources, options: &Options, compiler: &str, parts: &[&[u8]]) -> String {
    let mut hasher = Sha256::new();
    let mut add = |bytes: &[u8]| {
        // With the length before each part, no two lists of parts look alike.
        hasher.update((bytes.len() as u64).to_le_bytes());
        hasher.update(bytes);
    };
    add(RECIPE.as_bytes());
    add(compiler.as_bytes());
    for part in parts {
        add(part);
    }
    add(options.model.as_deref().unwrap_or_default().as_bytes());
    add(&options.rates.unwrap_or_default().to_le_bytes());
    for define in &options.defines {
        add(define.as_bytes());
    }
    if let Some(kind) = options.kind {
        add(b"kind");
        add(match kind {
            Kind::Generated => b"generated",
            Kind::Osek => b"osek",
        });
    }
    if let Some(oil) = &options.oil {
        add(b"oil");
        add(oil.as_bytes());
    }
    if let Some(mode) = &options.mode {
        add(b"mode");
        add(mode.as_bytes());
    }
    if let Some(tick_ns) = options.tick_ns.filter(|_| !sources.oil.is_empty()) {
        add(b"tick");
        add(&tick_ns.to_le_bytes());
    }
    // Their numbers are among the macros; the direction is not.
    for carried in options.carried.iter().filter(|_| !sources.oil.is_empty()) {
        add(if carried.is_received { b"received" } else { b"sent" });
        add(carried.name.as_bytes());
    }
    add(b"include");
    for file in &sources.beside {
        add(file.name.as_bytes());
        add(&file.content);
    }
    add(b"left out");
    for LeftOut { file, why } in &sources.left_out {
        add(file.as_bytes());
        add(why.as_bytes());
    }
    add(b"files");
    let files = sources.compiled.iter().chain(&sources.included).chain(&sources.mains);
    for file in files.chain(&sources.oil) {
        add(file.name.as_bytes());
        add(&file.content);
    }
    hexadecimal(&hasher.finalize())
}

/// Finds a build with this key whose compiler would read the same today, whole and undamaged.
pub(super) fn find(out_dir: &Path, key: &str) -> Option<Build> {
    let start = format!("{NAME}-{}-", first_digits(key));
    let is_of_key = |entry: &fs::DirEntry| {
        entry.file_name().to_str().is_some_and(|name| name.starts_with(&start))
    };
    let entries = fs::read_dir(out_dir).ok()?.flatten();
    let mut folders: Vec<PathBuf> = entries.filter(is_of_key).map(|entry| entry.path()).collect();
    folders.sort();
    let mut builds = folders.iter().filter_map(|folder| load(folder, key));
    builds.find(|(_, read)| read.iter().all(ReadFile::is_unchanged)).map(|(build, _)| build)
}

/// The folder of a build.
fn folder(out_dir: &Path, key: &str, hash: &str) -> PathBuf {
    out_dir.join(format!("{NAME}-{}-{}", first_digits(key), first_digits(hash)))
}

fn first_digits(sum: &str) -> &str {
    sum.get(..DIGITS).unwrap_or(sum)
}

/// Reads a build of this key, whole and undamaged, with what its compiler has read.
fn load(folder: &Path, key: &str) -> Option<(Build, Vec<ReadFile>)> {
    let record: Record = serde_json::from_slice(&read(&folder.join(BUILD_FILE)).ok()?).ok()?;
    if record.schema != BUILD_SCHEMA || record.key != key {
        return None;
    }
    let (module, second) = file_names(record.target);
    let (module, second) = (folder.join(module), second.map(|name| folder.join(name)));
    let second_sum = match &second {
        Some(second) => Some(sum(&fs::read(second).ok()?)),
        None => None,
    };
    let symbols_file = folder.join(SYMBOLS_FILE);
    let symbols_bytes = fs::read(&symbols_file).ok()?;
    let intact = record.module_sha256 == sum(&fs::read(&module).ok()?)
        && record.second_sha256 == second_sum
        && record.symbols_sha256 == sum(&symbols_bytes);
    if !intact {
        return None;
    }
    let symbols = Symbols::from_json(&symbols_bytes).ok()?;
    let build = Build {
        model: record.interface.model.clone(),
        target: record.target,
        module,
        second,
        symbols_file,
        symbols,
        data: record.data,
        interface: record.interface,
        hash: record.hash,
        compiler: record.compiler,
        warnings: record.warnings,
        remarks: record.remarks,
        left_out: record.left_out,
        cached: true,
    };
    Some((build, record.read))
}

/// Writes a build into a folder beside its place, and moves it there whole.
pub(super) fn keep(
    fresh: Fresh,
    inputs: Inputs<'_>,
    scratch: &Path,
    out_dir: &Path,
) -> Result<Build, BuildError> {
    let (key, hash) = (inputs.key, inputs.hash());
    let place = &folder(out_dir, key, &hash);
    let whole = scratch.join("whole");
    let symbols = fresh.symbols.to_json();
    let target = if fresh.second.is_some() { Target::Guest } else { Target::Module };
    let record = Record {
        schema: BUILD_SCHEMA.to_owned(),
        target,
        key: key.to_owned(),
        hash,
        compiler: inputs.compiler.to_owned(),
        read: inputs.read,
        data: fresh.data,
        interface: fresh.interface,
        warnings: fresh.warnings,
        remarks: fresh.remarks,
        left_out: fresh.left_out,
        module_sha256: sum(&fresh.module),
        second_sha256: fresh.second.as_deref().map(sum),
        symbols_sha256: sum(&symbols),
    };
    let mut description =
        serde_json::to_vec_pretty(&record).map_err(|error| BuildError::io(place, error.into()))?;
    description.push(b'\n');
    fs::create_dir(&whole).map_err(|error| BuildError::io(&whole, error))?;
    let (module, second) = file_names(target);
    let files = [(module, &fresh.module), (SYMBOLS_FILE, &symbols), (BUILD_FILE, &description)];
    for (name, content) in files.into_iter().chain(second.zip(fresh.second.as_ref())) {
        write_synced(&whole.join(name), content)?;
    }
    if fs::rename(&whole, place).is_err() {
        // Something is there: a build of this hash that was made meanwhile, or a damaged one.
        if let Some((build, _)) = load(place, key) {
            return Ok(build);
        }
        // It is moved away first, as a folder can't be renamed over one that is not empty.
        let damaged = scratch.join("damaged");
        fs::rename(place, &damaged).map_err(|error| BuildError::io(place, error))?;
        fs::rename(&whole, place).map_err(|error| BuildError::io(place, error))?;
    }
    let (mut build, _) = load(place, key)
        .ok_or_else(|| BuildError::io(place, io::Error::other("what was written is not there")))?;
    build.cached = false;
    Ok(build)
}

/// Returns the names of the program's files.
fn file_names(target: Target) -> (&'static str, Option<&'static str>) {
    match target {
        Target::Module => (MODULE_FILE, None),
        Target::Guest => (SLOT_FILES[0], Some(SLOT_FILES[1])),
    }
}

fn write_synced(path: &Path, content: &[u8]) -> Result<(), BuildError> {
    let write = || -> io::Result<()> {
        let mut file = fs::File::create_new(path)?;
        io::Write::write_all(&mut file, content)?;
        file.sync_all()
    };
    write().map_err(|error| BuildError::io(path, error))
}

fn read(path: &Path) -> io::Result<Vec<u8>> {
    if fs::metadata(path)?.len() > BUILD_BYTES_MAX {
        return Err(io::Error::other("it is larger than any build.json"));
    }
    fs::read(path)
}

/// Returns the SHA-256 of these bytes in hexadecimal digits.
pub(super) fn sum(bytes: &[u8]) -> String {
    hexadecimal(&Sha256::digest(bytes))
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
