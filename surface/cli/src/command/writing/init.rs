//! `quietcore init`
//!
//! The site file goes to standard output. An example that runs a program needs the folder of
//! generated C that its site file names: that folder is written below the current one, whole or not
//! at all, and never over existing files that differ.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use quietcore_program::interface::{InterfaceError, PeriodStatement};
use quietcore_program::place::Scalar;
use quietcore_program::{Access, BuildError, Options, VariableLocation};
use quietcore_site::{FoundModel, FoundPeriod, FoundVariable, Model};
use quietcore_units::{Causes, DataType, Nanos};

use crate::arguments::Init;
use crate::command::print;
use crate::machine;
use crate::status::{Failure, Status};
use crate::terminal::say;

/// A model that can't be written beside the site file.
#[derive(Debug, thiserror::Error)]
enum ModelError {
    /// The folder exists with other content.
    #[error(
        "`{}` is not what the model of this example has there; begin in an empty folder",
        path.display()
    )]
    Differs { path: PathBuf },
    /// The folder or a file in it can't be written.
    #[error("`{}` can't be written", path.display())]
    Write { path: PathBuf, source: io::Error },
}

pub(in crate::command) fn run(request: &Init) -> Result<Status, Failure> {
    let machine = machine::read_facts(&*machine::stop_flag()?)?.machine();
    if let Some(folder) = &request.model {
        let found = found(folder, request.model_name.as_deref())?;
        let file = file_written().unwrap_or_else(|| format!("{}.toml", found.name));
        print(&quietcore_site::init_found(&machine, &found, &file))?;
        return Ok(Status::Done);
    }
    if let Some(model) = request.example.model()
        && write_beside(Path::new(""), model)?
    {
        let (folder, count) = (model.folder, model.files.len());
        eprintln!("wrote `{folder}` ({count} files), the model that the site file names");
    }
    let file = file_written().unwrap_or_else(|| format!("{}.toml", request.example.name()));
    print(&quietcore_site::init(&machine, request.example, &file))?;
    Ok(Status::Done)
}

/// Returns the name of the file that standard output goes to; `None` if it is no file.
fn file_written() -> Option<String> {
    let path = fs::read_link("/proc/self/fd/1").ok().filter(|path| path.is_file())?;
    Some(path.file_name()?.to_string_lossy().into_owned())
}

/// Builds the program in a folder, since only the compiler knows its variables, and returns its
/// model, period and variables.
fn found(folder: &Path, model_name: Option<&str>) -> Result<FoundModel, Failure> {
    let builds = tempfile::Builder::new().prefix("quietcore-builds-").tempdir()?;
    let options = Options { model: model_name.map(str::to_owned), ..Options::default() };
    let build = quietcore_program::build(folder, &options, builds.path())
        .map_err(|error| Failure::new(not_built(folder, &error)))?;
    for remark in build.remarks_told() {
        say(format_args!("remark: {remark}"));
    }
    let all = || build.symbols.leaves(None, usize::MAX);
    let of = |access: Access| {
        let some = all().filter(move |(_, place)| place.access == access);
        some.filter(|(_, place)| place.scalar != Scalar::Address).map(variable).collect()
    };
    let rates = build.interface.rates.iter();
    let stated = |it: &PeriodStatement| FoundPeriod {
        period: Nanos::new(it.period_ns),
        place: it.to_string(),
    };
    let found = FoundModel {
        folder: folder.display().to_string().trim_end_matches('/').to_owned(),
        name: build.model.clone(),
        model_name: model_name.map(str::to_owned),
        taken_for: build.taken_for(),
        is_osek: build.interface.kernel.is_some(),
        periods: rates.map(|rate| rate.stated.iter().map(stated).collect()).collect(),
        inputs: of(Access::Input),
        outputs: of(Access::Output),
        parameters: retainable(all().filter(|(_, place)| place.access == Access::Parameter)),
    };
    for doubt in found.doubts() {
        say(format_args!("remark: {doubt}"));
    }
    Ok(found)
}

/// Returns why a program can't be built. There is no site file yet that could name one of several.
fn not_built(folder: &Path, error: &BuildError) -> String {
    let shown = folder.display();
    let several = match error {
        BuildError::Interface(InterfaceError::Several { names }) => {
            names.first().map(|name| name.trim_matches('`'))
        }
        _ => None,
    };
    match several {
        Some(first) => {
            format!("quietcore: {shown}: {error}, and to `init` as `--model-name {first}`")
        }
        None => format!("{shown}: {}", Causes(error)),
    }
}

/// Returns the variables to retain so that these scalars are retained: `NAME_P.*` for the members
/// of a structure. A constant, which the linker puts into read-only memory, keeps its value anyway.
fn retainable(scalars: impl Iterator<Item = (String, VariableLocation)>) -> Vec<String> {
    let fit = scalars.filter(|(_, place)| place.writable && place.bit.is_none());
    let roots = fit.map(|(path, _)| match path.find(['.', '[']) {
        Some(at) if path[at..].starts_with('.') => format!("{}.*", &path[..at]),
        Some(at) => path[..at].to_owned(),
        None => path,
    });
    let distinct: BTreeSet<String> = roots.collect();
    distinct.into_iter().collect()
}

fn variable((path, place): (String, VariableLocation)) -> FoundVariable {
    FoundVariable {
        path,
        type_name: place.scalar.to_string(),
        is_switch: place.scalar == Scalar::Number(DataType::Bool),
        is_float: matches!(place.scalar, Scalar::Number(DataType::F32 | DataType::F64)),
    }
}

/// Writes a model below `parent`; returns `false` if it is there already.
fn write_beside(parent: &Path, model: &Model) -> Result<bool, ModelError> {
    let folder = parent.join(model.folder);
    if folder.exists() {
        let differs = |path: &PathBuf, text: &str| {
            fs::read(path).map_or(true, |bytes| bytes != text.as_bytes())
        };
        for file in model.files {
            let path = folder.join(file.name);
            if differs(&path, file.text) {
                return Err(ModelError::Differs { path });
            }
        }
        return Ok(false);
    }
    // Under another name first, so that an interruption leaves no half of a model.
    let partial = folder.with_extension("partial");
    let written = write_files(&partial, model).and_then(|()| {
        fs::rename(&partial, &folder).map_err(|source| ModelError::Write { path: folder, source })
    });
    if written.is_err() {
        // If even that fails, the name says that it is partial.
        let _ = fs::remove_dir_all(&partial);
    }
    written.map(|()| true)
}

fn write_files(folder: &Path, model: &Model) -> Result<(), ModelError> {
    let failed = |path: &Path, source| ModelError::Write { path: path.to_owned(), source };
    fs::create_dir_all(folder).map_err(|source| failed(folder, source))?;
    for file in model.files {
        let path = folder.join(file.name);
        fs::write(&path, file.text).map_err(|source| failed(&path, source))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn servo() -> &'static Model {
        quietcore_site::Example::Servo.model().unwrap()
    }

    /// Goal: what a site file retains is there, whatever the generator called it, and can be
    /// retained.
    #[test]
    fn parameters_are_retained_by_the_names_that_they_have() {
        let source = "typedef struct P_pump_ P_pump;\nstruct P_pump_ { double gain[2]; unsigned \
                      bit : 1; };\nP_pump rtP = { { 1, 2 }, 1 };\nconst P_pump pump_ConstP = { { \
                      3, 4 }, 0 };\ndouble pump_Y;\nvoid pump_initialize(void) { pump_Y = \
                      pump_ConstP.gain[0]; }\nvoid pump_step(void) { pump_Y += rtP.gain[0]; }\n";
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("pump.c"), source).unwrap();
        assert_eq!(found(folder.path(), None).unwrap().parameters, ["rtP.*"]);
    }

    /// Goal: of several models one is chosen where there is no site file yet, and stays chosen.
    #[test]
    fn one_of_several_models_is_named() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["pump", "valve"] {
            let source = format!(
                "double {name}_Y; void {name}_initialize(void) {{ {name}_Y = 0; }}\nvoid \
                 {name}_step(void) {{ {name}_Y += 1; }}\n"
            );
            fs::write(folder.path().join(format!("{name}.c")), source).unwrap();
        }
        let refused = found(folder.path(), None).unwrap_err().to_string();
        assert!(refused.contains("`pump`, `valve`"), "{refused}");
        assert!(refused.ends_with("to `init` as `--model-name pump`"), "{refused}");
        let model = found(folder.path(), Some("valve")).unwrap();
        assert_eq!((model.name.as_str(), model.model_name.as_deref()), ("valve", Some("valve")));
    }

    #[test]
    fn a_model_is_written_whole_once_and_nothing_else() {
        let parent = tempfile::tempdir().unwrap();
        assert!(write_beside(parent.path(), servo()).unwrap());
        let folder = parent.path().join("models/servo");
        assert_eq!(fs::read_dir(&folder).unwrap().count(), servo().files.len());
        assert_eq!(fs::read_dir(parent.path().join("models")).unwrap().count(), 1);
        assert!(!write_beside(parent.path(), servo()).unwrap(), "it is there already");
    }

    #[test]
    fn a_folder_with_something_else_in_it_stays_as_it_is() {
        let parent = tempfile::tempdir().unwrap();
        let folder = parent.path().join("models/servo");
        fs::create_dir_all(&folder).unwrap();
        for file in servo().files {
            fs::write(folder.join(file.name), file.text).unwrap();
        }
        fs::write(folder.join("servo.c"), "mine").unwrap();
        let error = write_beside(parent.path(), servo()).unwrap_err().to_string();
        assert!(error.contains("servo.c` is not what the model"), "{error}");
        assert_eq!(fs::read_to_string(folder.join("servo.c")).unwrap(), "mine");
    }

    #[test]
    fn what_cannot_be_written_leaves_nothing() {
        let parent = tempfile::tempdir().unwrap();
        fs::write(parent.path().join("models"), "a file where the folder should be").unwrap();
        let error = write_beside(parent.path(), servo()).unwrap_err().to_string();
        assert!(error.contains("can't be written"), "{error}");
        assert_eq!(fs::read_dir(parent.path()).unwrap().count(), 1);
    }
}
