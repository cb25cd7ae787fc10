//! `quietcore init`
//!
//! The site file goes to standard output. An example that runs a program needs the folder of
//! generated C that its site file names: that folder is written below the current one, whole or not
//! at all, and never over files that are there and differ.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use quietcore_site::Model;

use crate::arguments::Init;
use crate::machine;
use crate::status::{Failure, Status};

/// A model that can't be written beside the site file.
#[derive(Debug, thiserror::Error)]
enum ModelError {
    /// The folder is there with something else in it.
    #[error(
        "`{}` is not what the model of this example has there; begin in an empty folder",
        path.display()
    )]
    Differs { path: PathBuf },
    /// The folder or a file in it can't be written.
    #[error("`{}` can't be written", path.display())]
    Write { path: PathBuf, source: io::Error },
}

pub(super) fn run(request: &Init) -> Result<Status, Failure> {
    let machine = machine::read_facts(&*machine::stop_flag()?)?.machine();
    if let Some(model) = request.example.model()
        && write_beside(Path::new(""), model)?
    {
        let (folder, count) = (model.folder, model.files.len());
        eprintln!("wrote `{folder}` ({count} files), the model that the site file names");
    }
    super::print(&quietcore_site::init(&machine, request.example))?;
    Ok(Status::Done)
}

/// Writes a model below `parent`; `false` if it is there already.
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
        // Where even that fails, the name says that it is partial.
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
