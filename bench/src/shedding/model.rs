//! A program that overruns on command, and a site with three of it.

use std::fs;
use std::path::{Path, PathBuf};

/// For how many microseconds the next cycle spins.
pub(super) const SPIN: &str = "late_P.spin_us";

const HEADER: &str = "\
#ifndef LATE_H
#define LATE_H

#include <stdint.h>

typedef struct {
    int32_t spin_us;
} P_late_T;

typedef struct {
    uint32_t total;
} DW_late_T;

extern P_late_T late_P;
extern DW_late_T late_DW;

extern void late_initialize(void);
extern void late_step(void);

#endif
";

const SOURCE: &str = "\
#define _POSIX_C_SOURCE 199309L
#include \"late.h\"

#include <time.h>

P_late_T late_P;
DW_late_T late_DW;

static int64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

void late_initialize(void)
{
}

void late_step(void)
{
    int64_t until = now_ns() + late_P.spin_us * INT64_C(1000);
    while (late_P.spin_us != 0 && now_ns() < until) {
    }
    late_P.spin_us = 0;
    late_DW.total++;
}
";

/// Writes program and site file into a folder, and says where the site file is.
pub(super) fn write(folder: &Path, cpu: u32) -> Result<PathBuf, String> {
    let partition = |name: &str, criticality: &str, priority: u32, monitor: &str| {
        format!(
            "[[partition]]\nname = \"{name}\"\nclass = \"motion-control\"\ncriticality = \
             \"{criticality}\"\n[partition.vcr]\ncpus = [{cpu}]\nbudget = 30\n\
             [partition.program]\nmodel = \"late\"\nperiod = \"1 ms\"\npriority = {priority}\n\
             sensitivity = 100\n[partition.monitor]\n{monitor}\n"
        )
    };
    let site = [
        "[site]\nname = \"bench-shedding\"\n".to_owned(),
        partition("axis", "high", 90, "on_overrun = \"shed\"\ncalm = \"50 ms\""),
        partition("vision", "low", 50, "when_shed = \"freeze\""),
        partition("other", "low", 40, "when_shed = \"never\""),
    ];
    let model = folder.join("late");
    let file = folder.join("site.toml");
    fs::create_dir_all(&model)
        .and_then(|()| fs::write(model.join("late.h"), HEADER))
        .and_then(|()| fs::write(model.join("late.c"), SOURCE))
        .and_then(|()| fs::write(&file, site.concat()))
        .map_err(|error| format!("{}: {error}", folder.display()))?;
    Ok(file)
}
