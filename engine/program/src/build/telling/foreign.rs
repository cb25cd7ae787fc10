//! Files and folders that are well known and can't be built as programs, such as FMUs.
//!
//! The answer says what the thing was taken for and what to name in its place, instead of naming a
//! function that it lacks.

use std::fmt;
use std::fs;
use std::path::Path;

/// Most entries of a folder that are looked at.
const ENTRIES_MAX: usize = 10_000;

/// Something that is recognised and can't be built.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Foreign {
    /// A file `.fmu`, or one unpacked.
    Fmu,
    /// Files of Structured Text.
    StructuredText,
    /// A project of PLCopen XML.
    PlcOpen,
    /// A project of Beremiz, or its build.
    Beremiz,
    /// A build of OpenPLC.
    OpenPlc,
    /// C that was translated from Structured Text, by whatever tool.
    TranslatedStructuredText,
    /// A model that no code was generated from yet.
    SimulinkModel,
    /// An archive of packed files.
    Archive,
    /// A source file instead of its folder.
    SourceFile,
}

impl fmt::Display for Foreign {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const NOT_YET: &str = "which can't be run yet; name a folder of generated C or C++";
        match self {
            Self::Fmu => write!(f, "an FMU (Functional Mock-up Unit), {NOT_YET}"),
            Self::StructuredText => write!(f, "Structured Text (IEC 61131-3), {NOT_YET}"),
            Self::PlcOpen => write!(f, "a PLCopen XML project (IEC 61131-3), {NOT_YET}"),
            Self::Beremiz => write!(f, "a Beremiz project or its build, {NOT_YET}"),
            Self::OpenPlc => write!(f, "an OpenPLC build, {NOT_YET}"),
            Self::TranslatedStructuredText => write!(
                f,
                "C that was translated from Structured Text (`POUS.c`, as Beremiz and OpenPLC \
                 have it), {NOT_YET}"
            ),
            Self::SimulinkModel => f.write_str(
                "a Simulink model; generate C or C++ from it, and name the folder that the \
                 generator wrote",
            ),
            Self::Archive => f.write_str("an archive; unpack it, and name the folder of sources"),
            Self::SourceFile => f.write_str("a single file; name the folder that it lies in"),
        }
    }
}

/// Recognises a file that was named as a folder; `None` where its ending says nothing.
pub(in crate::build) fn of_file(path: &Path) -> Option<Foreign> {
    let ending = path.extension()?.to_string_lossy().to_ascii_lowercase();
    Some(match ending.as_str() {
        "fmu" => Foreign::Fmu,
        "st" | "scl" | "iecst" => Foreign::StructuredText,
        "slx" | "mdl" => Foreign::SimulinkModel,
        "zip" | "gz" | "xz" | "bz2" | "tar" | "tgz" | "7z" | "rar" => Foreign::Archive,
        "c" | "h" | "cpp" | "cc" | "cxx" | "hpp" | "oil" => Foreign::SourceFile,
        _ => return None,
    })
}

/// Recognises a folder by names that no program has, whatever code lies beside them; `None` where
/// it may be a program.
pub(in crate::build) fn of_folder(path: &Path) -> Option<Foreign> {
    by_names(&names(path))
}

/// Recognises a folder without any code, in it or below, by the endings of the names in it.
pub(in crate::build) fn of_folder_without_code(path: &Path) -> Option<Foreign> {
    by_endings(&names(path))
}

fn names(path: &Path) -> Vec<String> {
    let Ok(entries) = fs::read_dir(path) else { return Vec::new() };
    let entries = entries.take(ENTRIES_MAX).filter_map(Result::ok);
    entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
}

fn by_names(names: &[String]) -> Option<Foreign> {
    let has = |wanted: &str| names.iter().any(|name| name == wanted);
    if has("modelDescription.xml") {
        return Some(Foreign::Fmu);
    }
    if has("beremiz.xml") || has("plc.xml") {
        return Some(Foreign::Beremiz);
    }
    if has("glueVars.cpp") || (has("POUS.c") && has("Res0.c")) {
        return Some(Foreign::OpenPlc);
    }
    if has("POUS.c") && has("POUS.h") {
        let is_beremiz = has("plc_main.c") || has("plc_debugger.c") || has("beremiz.h");
        return Some(if is_beremiz { Foreign::Beremiz } else { Foreign::TranslatedStructuredText });
    }
    None
}

/// The kinds of files that may as well lie beside code, the most telling first.
fn by_endings(names: &[String]) -> Option<Foreign> {
    let all: Vec<Foreign> = names.iter().filter_map(|name| of_file(Path::new(name))).collect();
    [Foreign::StructuredText, Foreign::Fmu, Foreign::SimulinkModel]
        .into_iter()
        .find(|kind| all.contains(kind))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_known_by_the_names_in_it() {
        let owned = |names: &[&str]| -> Vec<String> {
            names.iter().map(|name| (*name).to_owned()).collect()
        };
        let known = |names: &[&str]| by_names(&owned(names));
        let known_without_code = |names: &[&str]| by_endings(&owned(names));
        assert_eq!(known(&["modelDescription.xml", "sources", "binaries"]), Some(Foreign::Fmu));
        assert_eq!(known(&["plc.xml", "beremiz.xml"]), Some(Foreign::Beremiz));
        assert_eq!(known(&["POUS.c", "POUS.h", "config.c", "plc_main.c"]), Some(Foreign::Beremiz));
        assert_eq!(known(&["POUS.c", "POUS.h", "Config0.c", "Res0.c"]), Some(Foreign::OpenPlc));
        assert_eq!(
            known(&["POUS.c", "POUS.h", "config.c"]),
            Some(Foreign::TranslatedStructuredText)
        );
        assert_eq!(known(&["servo.cpp", "servo.h"]), None);
        // A model beside the code that was generated from it is as usual as a note in a `.st`.
        let beside_code = ["servo.slx", "notes.st"];
        assert_eq!(known(&beside_code), None);
        assert_eq!(known_without_code(&beside_code), Some(Foreign::StructuredText));
        assert_eq!(known_without_code(&["main.st", "pump.ST"]), Some(Foreign::StructuredText));
        assert_eq!(known_without_code(&["servo.slx"]), Some(Foreign::SimulinkModel));
        assert_eq!(known_without_code(&["readme.txt", ".st"]), None);
    }

    #[test]
    fn a_file_is_known_by_its_ending() {
        assert_eq!(of_file(Path::new("models/Pump.FMU")), Some(Foreign::Fmu));
        assert_eq!(of_file(Path::new("pump.st")), Some(Foreign::StructuredText));
        assert_eq!(of_file(Path::new("servo.c")), Some(Foreign::SourceFile));
        assert_eq!(of_file(Path::new("servo")), None);
    }
}
