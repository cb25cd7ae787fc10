//! The programs of a site, built for a measurement.

use std::path::Path;

use quietcore_assembly::Workshop;
use quietcore_campaign::Programs;
use quietcore_site::Site;
use quietcore_wording::plural;
use tempfile::TempDir;

use crate::status::Failure;
use crate::terminal::say;

/// Built programs, and the folder that they are loaded from as long as this lives.
pub(crate) struct Built {
    pub(crate) programs: Programs,
    _folder: Option<TempDir>,
}

/// Builds all programs of a site anew. Models are relative to `site_folder`.
pub(crate) fn build(site: &Site, site_folder: &Path) -> Result<Built, Failure> {
    if site.partitions().iter().all(|partition| partition.program.model.is_none()) {
        return Ok(Built { programs: Programs::default(), _folder: None });
    }
    let folder = tempfile::Builder::new().prefix("quietcore-builds-").tempdir()?;
    let workshop =
        Workshop { site_folder: site_folder.to_owned(), build_folder: folder.path().to_owned() };
    let programs = Programs::build(site, &workshop, &mut |line| say(line))?;
    for partition in site.partitions() {
        let Some(assembly) = programs.get(&partition.name) else { continue };
        let warnings = assembly.first.build.warnings.len();
        if warnings > 0 {
            let name = &partition.name;
            let s = plural(warnings as u64);
            say(format_args!("remark: the compiler has {warnings} warning{s} on `{name}`"));
        }
        for remark in &assembly.first.build.remarks {
            say(format_args!("remark: {remark}"));
        }
        for remark in &assembly.first.remarks {
            say(format_args!("remark: {remark}"));
        }
    }
    Ok(Built { programs, _folder: Some(folder) })
}

/// The folder that a site file's paths are relative to.
pub(crate) fn folder_of(site_file: &Path) -> &Path {
    match site_file.parent() {
        Some(folder) if folder != Path::new("") => folder,
        _ => Path::new("."),
    }
}
