//! What is named as a program and is none of those that can be built, although it is well known.
//!
//! Whoever names such a thing did nothing wrong but to hope; so the answer says what it was taken
//! for and what to name in its place, and not that some function is missing.

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
    /// What Beremiz keeps or makes.
    Beremiz,
    /// What OpenPLC makes.
    OpenPlc,
    /// What the translator of Structured Text makes, whoever called it.
    TranslatedStructuredText,
    /// A model that no code was generated from yet.
    SimulinkModel,
    /// Packed files.
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

/// What a file that was named as a folder is; `None` where its ending says nothing.
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

/// What a folder is, by the names in it; `None` where it may be a program.
pub(in crate::build) fn of_folder(path: &Path) -> Option<Foreign> {
    let entries = fs::read_dir(path).ok()?.take(ENTRIES_MAX).filter_map(Result::ok);
    let names: Vec<String> =
        entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    by_names(&names)
}

fn by_names(names: &[String]) -> Option<Foreign> {
    let has = |wanted: &str| names.iter().any(|name| name == wanted);
    let ends = |ending: &str| {
        names.iter().any(|name| name.to_ascii_lowercase().ends_with(ending) && name.len() > 3)
    };
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
    let is_code = [".c", ".cpp", ".cc", ".cxx"].iter().any(|ending| ends(ending));
    if is_code {
        return None;
    }
    if ends(".st") || ends(".iecst") || ends(".scl") {
        return Some(Foreign::StructuredText);
    }
    if ends(".fmu") {
        return Some(Foreign::Fmu);
    }
    (ends(".slx") || ends(".mdl")).then_some(Foreign::SimulinkModel)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_known_by_the_names_in_it() {
        let known = |names: &[&str]| {
            by_names(&names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>())
        };
        assert_eq!(known(&["modelDescription.xml", "sources", "binaries"]), Some(Foreign::Fmu));
        assert_eq!(known(&["main.st", "pump.ST"]), Some(Foreign::StructuredText));
        assert_eq!(known(&["plc.xml", "beremiz.xml"]), Some(Foreign::Beremiz));
        assert_eq!(known(&["POUS.c", "POUS.h", "config.c", "plc_main.c"]), Some(Foreign::Beremiz));
        assert_eq!(known(&["POUS.c", "POUS.h", "Config0.c", "Res0.c"]), Some(Foreign::OpenPlc));
        assert_eq!(
            known(&["POUS.c", "POUS.h", "config.c"]),
            Some(Foreign::TranslatedStructuredText)
        );
        assert_eq!(known(&["servo.slx"]), Some(Foreign::SimulinkModel));
        // A model beside the code that was generated from it is as usual as a note in a `.st`.
        assert_eq!(known(&["servo.slx", "servo.c", "notes.st"]), None);
        assert_eq!(known(&["servo.cpp", "servo.h"]), None);
    }

    #[test]
    fn a_file_is_known_by_its_ending() {
        assert_eq!(of_file(Path::new("models/Pump.FMU")), Some(Foreign::Fmu));
        assert_eq!(of_file(Path::new("pump.st")), Some(Foreign::StructuredText));
        assert_eq!(of_file(Path::new("servo.c")), Some(Foreign::SourceFile));
        assert_eq!(of_file(Path::new("servo")), None);
    }
}
