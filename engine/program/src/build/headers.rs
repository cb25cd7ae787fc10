//! The headers that a build brings along.
//!
//! | folder | searched | holds |
//! |---|---|---|
//! | `include` | after the program's own folders | the face of a module, the channels of a partition |
//! | `fallback` | after all others | what belongs to a generator's installation and not to its code |
//!
//! Generated code refers to a few headers of the generator's installation. Of those, ours offer the
//! names and meanings that fixed-step code needs, in our own layout; a folder that brings the real
//! ones is built with them. What only a simulation or the generator's editor needs, such as logging
//! to a file or external mode, has no effect.

use std::fs;
use std::path::Path;

use crate::build::BuildError;
use crate::build::sources::Sources;
use crate::build::widths::SHORT_LONG_HEADER;

/// Headers that programs and the glue may include.
const HEADERS: [(&str, &str); 4] = [
    ("quietcore_module.h", include_str!("../../include/quietcore_module.h")),
    ("Com.h", include_str!("../../../../ground/exchange/include/Com.h")),
    (
        "quietcore_services.h",
        include_str!("../../../../ground/exchange/include/quietcore_services.h"),
    ),
    (SHORT_LONG_FILE, SHORT_LONG_HEADER),
];

/// Headers that a folder may come without.
const FALLBACK: [(&str, &str); 18] = [
    ("quietcore_types.h", include_str!("../../include/fallback/quietcore_types.h")),
    ("rtwtypes.h", include_str!("../../include/fallback/rtwtypes.h")),
    ("tmwtypes.h", include_str!("../../include/fallback/tmwtypes.h")),
    ("simstruc_types.h", include_str!("../../include/fallback/simstruc_types.h")),
    ("multiword_types.h", include_str!("../../include/fallback/multiword_types.h")),
    ("builtin_typeid_types.h", include_str!("../../include/fallback/builtin_typeid_types.h")),
    ("zero_crossing_types.h", include_str!("../../include/fallback/zero_crossing_types.h")),
    ("solver_zc.h", include_str!("../../include/fallback/solver_zc.h")),
    ("rtw_continuous.h", include_str!("../../include/fallback/rtw_continuous.h")),
    ("rtw_solver.h", include_str!("../../include/fallback/rtw_solver.h")),
    ("rt_logging.h", include_str!("../../include/fallback/rt_logging.h")),
    ("rtw_extmode.h", include_str!("../../include/fallback/rtw_extmode.h")),
    ("ext_work.h", include_str!("../../include/fallback/ext_work.h")),
    ("ext_types.h", include_str!("../../include/fallback/ext_types.h")),
    ("ext_mode.h", include_str!("../../include/fallback/ext_mode.h")),
    ("xcp.h", include_str!("../../include/fallback/xcp.h")),
    ("dt_info.h", include_str!("../../include/fallback/dt_info.h")),
    ("sysran_types.h", include_str!("../../include/fallback/sysran_types.h")),
];

/// Included before anything else in code that expects a `long` of 32 bits.
const SHORT_LONG_FILE: &str = "quietcore_short_long.h";

/// Returns whether a build brings a header of this name along.
pub(super) fn brings(name: &str) -> bool {
    HEADERS.iter().chain(&FALLBACK).any(|(brought, _)| *brought == name)
}

/// The texts of all headers; they are part of the hash.
pub(super) fn all() -> impl Iterator<Item = &'static str> {
    HEADERS.iter().chain(&FALLBACK).map(|(_, text)| *text)
}

/// Writes the headers below a folder.
pub(super) fn write(folder: &Path) -> Result<(), BuildError> {
    for (name, headers) in [("include", &HEADERS[..]), ("fallback", &FALLBACK[..])] {
        let folder = folder.join(name);
        fs::create_dir_all(&folder).map_err(|error| BuildError::io(&folder, error))?;
        for (name, text) in headers {
            let file = folder.join(name);
            fs::write(&file, text).map_err(|error| BuildError::io(&file, error))?;
        }
    }
    Ok(())
}

/// The compiler's arguments by which it finds them.
pub(super) fn search(folder: &Path) -> [String; 3] {
    let folder = folder.display();
    let include = format!("-I{folder}/include");
    [include, "-idirafter".to_owned(), format!("{folder}/fallback")]
}

/// The file to include in code that expects a `long` of 32 bits.
pub(super) fn short_long(folder: &Path) -> String {
    format!("{}/include/{SHORT_LONG_FILE}", folder.display())
}

/// Which headers of a generator's installation the folder refers to and does not hold.
pub(super) fn remark(sources: &Sources) -> Option<String> {
    let is_there = |name: &str| {
        let ending = format!("/{name}");
        sources.included.iter().any(|file| file.name == name || file.name.ends_with(&ending))
    };
    let files = || sources.compiled.iter().chain(&sources.included);
    let is_wanted = |name: &str| {
        let written = format!("\"{name}\"");
        files().any(|file| file.text().contains(&written))
    };
    let missing: Vec<String> = FALLBACK
        .iter()
        .map(|(name, _)| *name)
        .filter(|name| *name != "rtwtypes.h" && is_wanted(name) && !is_there(name))
        .map(|name| format!("`{name}`"))
        .collect();
    (!missing.is_empty()).then(|| {
        let missing = missing.join(", ");
        format!(
            "the folder comes without {missing}; what a controller needs of it was put in its place"
        )
    })
}
