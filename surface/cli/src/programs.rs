//! The programs of a site, built for a measurement.

pub(crate) mod turns;

use std::path::Path;

use quietcore_assembly::{Staged, Workshop};
use quietcore_backend::qemu::disk;
use quietcore_campaign::Programs;
use quietcore_program::build::LeftOut;
use quietcore_site::Site;
use quietcore_supervisor::places::Places;
use quietcore_units::Causes;
use serde::Serialize;
use tempfile::TempDir;

use crate::status::Failure;
use crate::terminal::say;

/// Built programs, and the folder that they are loaded from, which exists as long as this value.
pub(crate) struct Built {
    pub(crate) programs: Programs,
    _folder: TempDir,
}

/// Builds nothing, for a measurement that runs no program.
pub(crate) fn none() -> Result<Built, Failure> {
    let folder = tempfile::Builder::new().prefix("quietcore-builds-").tempdir()?;
    Ok(Built { programs: Programs::default(), _folder: folder })
}

/// Builds all programs of a site again. Models are relative to `site_folder`.
pub(crate) fn build(site: &Site, site_folder: &Path) -> Result<Built, Failure> {
    let folder = tempfile::Builder::new().prefix("quietcore-builds-").tempdir()?;
    let workshop =
        Workshop { site_folder: site_folder.to_owned(), build_folder: folder.path().to_owned() };
    let programs = Programs::build(site, &workshop, &mut |line| say(line))?;
    for partition in site.partitions() {
        let Some(assembly) = programs.get(&partition.name) else { continue };
        say_remarks(&partition.name, &assembly.first);
    }
    Ok(Built { programs, _folder: folder })
}

/// The programs of a site as `plan` finds them.
#[derive(Default)]
pub(crate) struct Checked {
    /// Each program that builds, with its partition, and its folder as written.
    pub(crate) found: Vec<CheckedProgram>,
    /// The problems of the other programs, at least one each, and of disks that guests start from.
    pub(crate) problems: Vec<String>,
}

/// A program that builds and has every name that the site file uses of it.
#[derive(Serialize)]
pub(crate) struct CheckedProgram {
    pub(crate) partition: String,
    pub(crate) model: String,
    pub(crate) taken_for: String,
    pub(crate) warnings: Vec<String>,
    pub(crate) remarks: Vec<String>,
    pub(crate) left_out: Vec<LeftOut>,
}

/// Builds all programs of a site in the place where `up` looks for them, and looks up every name.
/// If nothing can be kept there, they are built all the same.
pub(crate) fn check(site: &Site, site_file: &Path) -> Result<Checked, Failure> {
    let mut checked = Checked::default();
    let disks = disk::image::problems(site, folder_of(site_file));
    checked.problems.extend(disks.iter().map(|problem| Causes(problem).to_string()));
    if site.partitions().iter().all(|partition| partition.program.model.is_none()) {
        return Ok(checked);
    }
    let passing = tempfile::Builder::new().prefix("quietcore-builds-").tempdir()?;
    let kept =
        Places::of_environment().and_then(|places| places.state_folder(site.name(), site_file));
    let build_folder = kept.map_or_else(|_| passing.path().to_owned(), |kept| kept.join("builds"));
    let workshop = Workshop { site_folder: folder_of(site_file).to_owned(), build_folder };
    for partition in site.partitions() {
        let Some(model) = &partition.program.model else { continue };
        match workshop.first_of(site, partition) {
            Ok(first) => {
                say_remarks(&partition.name, &first);
                checked.found.push(CheckedProgram {
                    partition: partition.name.clone(),
                    model: model.clone(),
                    taken_for: first.build.taken_for(),
                    warnings: first.build.warnings.iter().map(ToString::to_string).collect(),
                    remarks: first.build.remarks.clone(),
                    left_out: first.build.left_out.clone(),
                });
            }
            Err(error) => checked.problems.push(Causes(&error).to_string()),
        }
    }
    Ok(checked)
}

/// Prints the remarks of the compiler and on the site file about a program.
fn say_remarks(partition: &str, first: &Staged) {
    let warnings = first.build.warnings_told();
    if !warnings.is_empty() {
        say(format_args!("remark: `{partition}`: {}", warnings.join("\n  ")));
    }
    for remark in first.build.remarks_told() {
        say(format_args!("remark: `{partition}`: {remark}"));
    }
    for remark in &first.remarks {
        say(format_args!("remark: {remark}"));
    }
}

/// Returns the folder that a site file's paths are relative to.
pub(crate) fn folder_of(site_file: &Path) -> &Path {
    match site_file.parent() {
        Some(folder) if folder != Path::new("") => folder,
        _ => Path::new("."),
    }
}
