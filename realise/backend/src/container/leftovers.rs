//! Removal of containers whose host was killed.

use std::fs;
use std::io::{self, ErrorKind};
use std::path::Path;

use quietcore_host::Source;
use quietcore_host::process::ProcessName;
use quietcore_units::Causes;
use serde::{Deserialize, Serialize};

use super::ContainerError;
use super::runtime::{Place, RuntimeProgram};
use crate::rooms::Cleared;

/// Name of the file in a container's folder that tells its owner.
const SIGNATURE: &str = "container.json";
/// Limit of a signature's size in bytes, far above what one takes.
const SIGNATURE_BYTES_MAX: u64 = 64 << 10;

/// The owner of a container, and the runtime that removes it.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Signature {
    pub(super) runtime: RuntimeProgram,
    owner: ProcessName,
}

impl Signature {
    /// Reads the signature in a container's folder.
    pub(super) fn read(folder: &Path) -> io::Result<Self> {
        let path = folder.join(SIGNATURE);
        if fs::metadata(&path)?.len() > SIGNATURE_BYTES_MAX {
            return Err(io::Error::new(ErrorKind::InvalidData, "it is too long"));
        }
        Ok(serde_json::from_slice(&fs::read(path)?)?)
    }
}

/// Writes the signature of `owner` into a container's folder.
pub(super) fn sign(
    folder: &Path,
    runtime: &RuntimeProgram,
    owner: &ProcessName,
) -> Result<(), ContainerError> {
    let signature = Signature { runtime: runtime.clone(), owner: *owner };
    let path = folder.join(SIGNATURE);
    let text = serde_json::to_vec(&signature).map_err(io::Error::from);
    text.and_then(|text| fs::write(&path, text)).map_err(ContainerError::folder(&path, "written"))
}

/// Removes all containers below `folders` whose owner has ended, with their processes, control
/// groups and folders. A folder without a signature counts as one of these.
pub fn clear(folders: &Path) -> Cleared {
    let mut cleared = Cleared::default();
    let Ok(entries) = fs::read_dir(folders) else { return cleared };
    let source = Source::live();
    for folder in entries.flatten().map(|entry| entry.path()) {
        let lives = Signature::read(&folder).is_ok_and(|signature| signature.owner.lives(&source));
        if lives {
            continue;
        }
        match remove(&folder) {
            Ok(()) => cleared.gone.extend(folder.file_name().map(|it| it.display().to_string())),
            Err(error) => cleared.left.push(Causes(&error).to_string()),
        }
    }
    cleared
}

/// Removes a container by the runtime that its signature names, whoever made it.
pub(super) fn remove(folder: &Path) -> Result<(), ContainerError> {
    let name = folder.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    match Signature::read(folder) {
        Ok(signature) => remove_of(folder, &signature.runtime, name),
        // Its maker ended before it signed, so there is nothing in it yet.
        Err(_) => remove_folder(folder),
    }
}

/// Removes a container, where there is one, and its folder.
pub(super) fn remove_of(
    folder: &Path,
    runtime: &RuntimeProgram,
    name: &str,
) -> Result<(), ContainerError> {
    let place = Place { folder, name };
    if place.state().join(name).exists() {
        let deleted = runtime.delete(&place);
        let output = deleted.map_err(ContainerError::folder(folder, "cleared"))?;
        if !output.status.success() {
            let said = String::from_utf8_lossy(&output.stderr).trim().to_owned();
            let source = io::Error::other(said);
            return Err(ContainerError::folder(folder, "cleared")(source));
        }
    }
    remove_folder(folder)
}

fn remove_folder(folder: &Path) -> Result<(), ContainerError> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        other => other.map_err(ContainerError::folder(folder, "removed")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a container runtime that does nothing and succeeds.
    fn nothing() -> RuntimeProgram {
        RuntimeProgram::new("/bin/true".into())
    }

    #[test]
    fn those_of_others_stay_and_those_of_the_dead_go() {
        let folders = tempfile::tempdir().expect("there is a folder for temporary files");
        let [mine, dead, unsigned] = ["mine", "dead", "unsigned"].map(|it| folders.path().join(it));
        for folder in [&mine, &dead, &unsigned] {
            fs::create_dir_all(folder.join("bundle")).expect("it is ours");
        }
        let gone = ProcessName { process: std::process::id(), began: 1, namespace: None };
        sign(&mine, &nothing(), &ProcessName::own(&Source::live())).expect("it is ours");
        sign(&dead, &nothing(), &gone).expect("it is ours");
        let cleared = clear(folders.path());
        assert_eq!((cleared.gone.len(), cleared.left), (2, Vec::new()));
        assert!(mine.exists() && !dead.exists() && !unsigned.exists());
    }

    #[test]
    fn what_the_container_runtime_can_t_remove_stays_and_is_told() {
        let folders = tempfile::tempdir().expect("there is a folder for temporary files");
        let folder = folders.path().join("stuck");
        fs::create_dir_all(folder.join("state/stuck")).expect("it is ours");
        let fails = RuntimeProgram::new("/bin/false".into());
        let gone = ProcessName { process: std::process::id(), began: 1, namespace: None };
        sign(&folder, &fails, &gone).expect("it is ours");
        let left = clear(folders.path()).left;
        assert!(left.len() == 1 && left[0].contains("stuck"), "{left:?}");
        assert!(folder.exists());
    }
}
