//! The ground of a simulation: a site file, and builds of its program.
//!
//! The builds are real ones, so that names, types, retained variables and what is carried over are
//! those of a compiler. Their steps are not run: `machine` has a step in Rust that does the same.
//!
//! | build | difference from the first |
//! |-------|------------------|
//! | 0 | the first |
//! | 1 | its variables lie elsewhere, and one that may be forced is gone |
//! | 2 | a retained variable has another type |
//! | 3 | as the first, and fails soon |

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use quietcore_assembly::{Assembly, AssemblyError, Workshop};
use quietcore_program::{Build, BuildError, SymbolError};
use quietcore_record::class::catalogue;
use quietcore_site::Site;
use tempfile::TempDir;

/// Number of builds of the program.
pub(super) const BUILDS: usize = 4;
/// Number of the build that fails soon.
const FAILING: usize = 3;
/// Restarts in a row that the site file allows.
pub(super) const RESTART_LIMIT: u64 = 3;
/// Name of the kept partition.
pub(super) const PARTITION: &str = "press";

const SITE: &str = r#"
[site]
name = "line"

[[partition]]
name = "press"
class = "fast-control-loop"
criticality = "low"

[partition.vcr]
cpus = [0]

[partition.program]
model = "build-0"
period = "5 ms"
policy = "other"
watchdog = "40 ms"
retain = ["plant_DW.a", "plant_DW.b", "plant_DW.c", "plant_DW.d"]
restart = { limit = 3, wait = "100 ms" }

[partition.monitor]
on_missed_cycle = "report"

[[partition]]
name = "axis"
class = "fast-control-loop"
criticality = "high"

[partition.vcr]
cpus = [1]

[partition.program]
model = "build-0"
period = "5 ms"
policy = "other"

[partition.monitor]
on_overrun = "shed"
calm = "300 ms"
"#;

const HEADER: &str = r"
#ifndef PLANT_H
#define PLANT_H
#include <stdint.h>
typedef struct { PARAMETERS } P_plant_T;
typedef struct { double in; } ExtU_plant_T;
typedef struct { double out; } ExtY_plant_T;
typedef struct { STATE } DW_plant_T;
typedef struct { const char *errorStatus; } RT_MODEL_plant_T;
extern P_plant_T plant_P;
extern ExtU_plant_T plant_U;
extern ExtY_plant_T plant_Y;
extern DW_plant_T plant_DW;
extern RT_MODEL_plant_T *const plant_M;
extern void plant_initialize(void);
extern void plant_step(void);
extern void plant_terminate(void);
#endif
";

const SOURCE: &str = r#"
#include "plant.h"
P_plant_T plant_P = { .gain = 2.0 };
ExtU_plant_T plant_U;
ExtY_plant_T plant_Y;
DW_plant_T plant_DW;
static RT_MODEL_plant_T plant_M_;
RT_MODEL_plant_T *const plant_M = &plant_M_;
void plant_initialize(void) { plant_DW.a = 0; }
void plant_step(void)
{
    plant_DW.a++;
    plant_DW.d++;
    plant_Y.out = plant_P.gain * plant_U.in;
    plant_DW.b = 3 * plant_DW.a;
    plant_DW.c = ~plant_DW.a;
}
void plant_terminate(void) { }
"#;

/// The parameters and the state of each build.
const VARIABLES: [(&str, &str); BUILDS] = [
    ("double gain; double bias;", "uint64_t a, b, c, d;"),
    ("double gain;", "uint32_t first; uint64_t d, c, more, b, a;"),
    ("double gain; double bias;", "uint64_t a, b, c; uint32_t d;"),
    ("double bias; double gain;", "uint64_t d, a, b, c;"),
];

/// The error of a ground that can't be made.
#[derive(Debug, thiserror::Error)]
pub enum GroundError {
    /// There is no folder for the builds.
    #[error("there is no folder for the simulation's builds")]
    Folder(#[from] io::Error),
    /// The site file of the simulation is refused.
    #[error("the simulation's site file is refused: {0}")]
    Site(String),
    /// A program can't be built.
    #[error("the simulation's program can't be built")]
    Assembly(#[from] AssemblyError),
    /// The initial data of a build can't be read.
    #[error("the simulation's program can't be read")]
    Build(#[from] BuildError),
    /// A variable is not in a build.
    #[error("the simulation's program lacks a variable")]
    Symbol(#[from] SymbolError),
}

/// The ground of all runs.
#[derive(Debug)]
pub struct Ground {
    pub(super) site: Arc<Site>,
    pub(super) assembly: Assembly,
    pub(super) plants: Vec<Plant>,
    _folder: TempDir,
}

/// A build of the program, as its step in Rust needs it.
#[derive(Clone, Debug)]
pub(super) struct Plant {
    pub(super) build: Build,
    /// Data before the first step.
    pub(super) initial: Vec<u8>,
    pub(super) places: Places,
    pub(super) fails_soon: bool,
}

/// The offsets of a build's variables in its data.
#[derive(Clone, Copy, Debug)]
pub(super) struct Places {
    pub(super) a: u32,
    pub(super) b: u32,
    pub(super) c: u32,
    pub(super) d: u32,
    /// Bytes of the variable `d`.
    pub(super) d_bytes: u8,
    pub(super) input: u32,
    pub(super) gain: u32,
    pub(super) output: u32,
}

impl Ground {
    /// Builds the programs, which takes a C compiler.
    ///
    /// # Errors
    /// [`GroundError`] when the site file is refused or a program can't be built.
    pub fn new() -> Result<Self, GroundError> {
        let folder = tempfile::tempdir()?;
        let site = quietcore_site::read("line.toml", SITE.as_bytes(), &catalogue());
        let site = site.map_err(|error| GroundError::Site(error.to_string()))?;
        let workshop = Workshop {
            site_folder: folder.path().to_owned(),
            build_folder: folder.path().join("builds"),
        };
        let partition = &site.partitions()[0];
        let mut plants = Vec::new();
        for (number, variables) in VARIABLES.into_iter().enumerate() {
            let source = source_folder(folder.path(), number);
            write_source(&source, variables)?;
            let build = workshop.build_folder_of(&site, partition, &source)?;
            let (initial, places) = (build.initial_data()?, Places::of(&build)?);
            plants.push(Plant { build, initial, places, fails_soon: number == FAILING });
        }
        let mut assembly = workshop.assemble(&site, partition)?;
        // Sizes are small, so that overflows happen here.
        assembly.shape.trace_bytes = 8192;
        assembly.shape.event_slots = 64;
        Ok(Self { site: Arc::new(site), assembly, plants, _folder: folder })
    }

    /// Returns the build that a module belongs to.
    pub(super) fn plant_of(&self, module: &Path) -> Option<&Plant> {
        self.plants.iter().find(|plant| plant.build.module == module)
    }
}

fn source_folder(folder: &Path, number: usize) -> PathBuf {
    folder.join(format!("build-{number}"))
}

fn write_source(folder: &Path, (parameters, state): (&str, &str)) -> io::Result<()> {
    fs::create_dir_all(folder)?;
    let header = HEADER.replace("PARAMETERS", parameters).replace("STATE", state);
    fs::write(folder.join("plant.h"), header)?;
    fs::write(folder.join("plant.c"), SOURCE)
}

impl Places {
    fn of(build: &Build) -> Result<Self, SymbolError> {
        let place = |path: &str| build.symbols.resolve(path);
        let offset = |path: &str| place(path).map(|place| place.offset);
        Ok(Self {
            a: offset("plant_DW.a")?,
            b: offset("plant_DW.b")?,
            c: offset("plant_DW.c")?,
            d: offset("plant_DW.d")?,
            d_bytes: place("plant_DW.d")?.bytes() as u8,
            input: offset("plant_U.in")?,
            gain: offset("plant_P.gain")?,
            output: offset("plant_Y.out")?,
        })
    }
}
