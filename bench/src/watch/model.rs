//! A program with as many variables as one likes, in the style of generated C, and its site file.

use std::fs;
use std::path::{Path, PathBuf};

/// The variables that are watched.
pub(crate) const ALL: &str = "wide_DW.cell";

const HEADER: &str = "\
#ifndef WIDE_H
#define WIDE_H

typedef struct {
    double gain;
} P_wide_T;

typedef struct {
    double input;
} ExtU_wide_T;

typedef struct {
    double output;
} ExtY_wide_T;

typedef struct {
    double cell[LEAVES];
} DW_wide_T;

typedef struct {
    const char *errorStatus;
} RT_MODEL_wide_T;

extern P_wide_T wide_P;
extern ExtU_wide_T wide_U;
extern ExtY_wide_T wide_Y;
extern DW_wide_T wide_DW;
extern RT_MODEL_wide_T *const wide_M;

extern void wide_initialize(void);
extern void wide_step(void);
extern void wide_terminate(void);

#endif
";

const SOURCE: &str = "\
#include \"wide.h\"

P_wide_T wide_P = {0.5};
ExtU_wide_T wide_U;
ExtY_wide_T wide_Y;
DW_wide_T wide_DW;
static RT_MODEL_wide_T wide_M_;
RT_MODEL_wide_T *const wide_M = &wide_M_;

void wide_initialize(void)
{
}

/* A delay line whose cells all change in each step. */
void wide_step(void)
{
    int index;
    for (index = LEAVES - 1; index > 0; index--) {
        wide_DW.cell[index] += wide_P.gain * (wide_DW.cell[index - 1] - wide_DW.cell[index]);
    }
    wide_DW.cell[0] += 1.0 + wide_U.input;
    wide_Y.output = wide_DW.cell[LEAVES - 1];
}

void wide_terminate(void)
{
}
";

const SITE: &str = "\
[site]
name = \"bench-wide\"

[[partition]]
name = \"wide\"
class = \"motion-control\"

[partition.vcr]
cpus = [CPU]

[partition.program]
model = \"wide\"
period = \"1 ms\"
priority = 90
watchdog = \"500 us\"
sensitivity = 100
";

/// Writes program and site file into a folder; the site file.
pub(crate) fn write(folder: &Path, cpu: u32, leaves: usize) -> Result<PathBuf, String> {
    let model = folder.join("wide");
    let site = folder.join("wide.toml");
    let leaves = leaves.to_string();
    let write = |path: PathBuf, text: String| {
        fs::write(&path, text).map_err(|error| format!("{}: {error}", path.display()))
    };
    fs::create_dir_all(&model).map_err(|error| format!("{}: {error}", model.display()))?;
    write(model.join("wide.h"), HEADER.replace("LEAVES", &leaves))?;
    write(model.join("wide.c"), SOURCE.replace("LEAVES", &leaves))?;
    write(site.clone(), SITE.replace("CPU", &cpu.to_string()))?;
    Ok(site)
}
