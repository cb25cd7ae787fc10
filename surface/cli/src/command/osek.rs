//! `quietcore osek check` and `quietcore osek generate`

mod application;

use std::path::{Path, PathBuf};

use quietcore_evidence::write_whole;
use quietcore_oil::{Problem, Reading, Remark};
use quietcore_program::osek::{self, OilError};
use serde::Serialize;

use self::application::Application;
use crate::arguments::{OsekCheck, OsekGenerate, OsekKind, OsekVerb};
use crate::files;
use crate::status::{Failure, Status};

pub(super) fn run(request: &OsekVerb) -> Result<Status, Failure> {
    match &request.osek {
        OsekKind::Check(request) => check(request),
        OsekKind::Generate(request) => generate(request),
    }
}

/// The document that `osek check --json` prints.
#[derive(Debug, Default, Serialize)]
struct Document<'a> {
    schema: &'static str,
    file: String,
    problems: &'a [Problem],
    remarks: &'a [Remark],
    #[serde(skip_serializing_if = "Option::is_none")]
    application: Option<Application<'a>>,
}

/// Reads a file that belongs to no partition yet, so that the period of its tick is not known.
const fn reading(strict: bool) -> Reading {
    Reading { strict, tick_ns: None }
}

const SCHEMA: &str = "quietcore.osek-check/1";

fn check(request: &OsekCheck) -> Result<Status, Failure> {
    let file = request.file.display().to_string();
    let configuration = match osek::read(&request.file, reading(request.strict)) {
        Ok(configuration) => configuration,
        Err(OilError::Refused(problems)) if request.json => {
            let problems = problems.iter().as_slice();
            let document = Document { schema: SCHEMA, file, problems, ..Document::default() };
            super::print_json(&document)?;
            return Ok(Status::NotPassed);
        }
        Err(OilError::Refused(problems)) => {
            crate::terminal::say(format_args!("{problems}"));
            return Ok(Status::NotPassed);
        }
        Err(error) => return Err(error.into()),
    };
    let application = Application(&configuration);
    if request.json {
        let (problems, remarks) = (&[][..], configuration.remarks());
        let application = Some(application);
        super::print_json(&Document { schema: SCHEMA, file, problems, remarks, application })?;
        return Ok(Status::Done);
    }
    super::print(&application.text())?;
    for remark in configuration.remarks() {
        crate::terminal::say(format_args!("remark: {remark}"));
    }
    Ok(Status::Done)
}

/// The document that `osek generate --json` prints.
#[derive(Debug, Serialize)]
struct Generated {
    schema: &'static str,
    files: Vec<PathBuf>,
    command: String,
}

fn generate(request: &OsekGenerate) -> Result<Status, Failure> {
    files::refuse_dash("--out", &request.out)?;
    let configuration = match osek::read(&request.file, reading(request.strict)) {
        Ok(configuration) => configuration,
        Err(OilError::Refused(problems)) => {
            crate::terminal::say(format_args!("{problems}"));
            return Ok(Status::NotPassed);
        }
        Err(error) => return Err(error.into()),
    };
    for remark in configuration.remarks() {
        crate::terminal::say(format_args!("remark: {remark}"));
    }
    files::make_folder(&request.out)?;
    let mut files = Vec::new();
    let mut write = |name: &str, content: &[u8]| -> Result<(), Failure> {
        let path = request.out.join(name);
        write_whole(&path, content)?;
        files.push(path);
        Ok(())
    };
    for (name, text) in osek::generated(&configuration) {
        write(name, text.as_bytes())?;
    }
    for (name, text) in osek::HEADERS {
        write(name, text.as_bytes())?;
    }
    write(osek::LIBRARY_FILE, osek::LIBRARY)?;
    let command = command(&request.file, &request.out);
    if request.json {
        super::print_json(&Generated { schema: "quietcore.osek-generate/1", files, command })?;
        return Ok(Status::Done);
    }
    let names: Vec<String> = files.iter().map(|file| format!("wrote {}", file.display())).collect();
    super::print(&format!(
        "{}\n\nWith C beside it that has a `main` which calls StartOS, as a program of its own:\n  \
         {command}\n",
        names.join("\n")
    ))?;
    Ok(Status::Done)
}

/// Returns the command that builds a stand-alone program from these files and the C beside the OIL
/// file.
fn command(file: &Path, out: &Path) -> String {
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty());
    let folder = folder.unwrap_or(Path::new("."));
    let sources = folder.join("*.c");
    let stem = file.file_stem().unwrap_or_default().display();
    // Written beside the C, the tables are among `*.c` already.
    let tables = if folder == out { String::new() } else { format!(" {}/os_cfg.c", out.display()) };
    let out = out.display();
    format!("gcc -O2 -I{out} {}{tables} {out}/{} -o {stem}", sources.display(), osek::LIBRARY_FILE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_names_the_c_beside_the_oil_file() {
        let made = command(Path::new("models/belt/belt.oil"), Path::new("out"));
        assert_eq!(
            made,
            "gcc -O2 -Iout models/belt/*.c out/os_cfg.c out/libquietcore_osek.a -o belt"
        );
        assert!(command(Path::new("a.oil"), Path::new("b")).contains(" ./*.c "));
        let beside =
            command(Path::new("models/conveyor/conveyor.oil"), Path::new("models/conveyor/"));
        assert!(!beside.contains("os_cfg.c"), "{beside}");
    }
}
