//! UEFI's firmware: OVMF, and a partition's own copy of its variables.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// The places in which distributions have the program and the template of its variables.
const PLACES: [(&str, &str); 4] = [
    ("/usr/share/OVMF/OVMF_CODE_4M.fd", "/usr/share/OVMF/OVMF_VARS_4M.fd"),
    ("/usr/share/OVMF/OVMF_CODE.fd", "/usr/share/OVMF/OVMF_VARS.fd"),
    ("/usr/share/edk2/ovmf/OVMF_CODE.fd", "/usr/share/edk2/ovmf/OVMF_VARS.fd"),
    ("/usr/share/edk2/x64/OVMF_CODE.4m.fd", "/usr/share/edk2/x64/OVMF_VARS.4m.fd"),
];

/// The files of OVMF.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Ovmf {
    /// The program, which is only read.
    pub(super) program: PathBuf,
    /// The variables that a machine begins with.
    template: PathBuf,
}

impl Ovmf {
    /// Returns the one that is installed; `None` where none is.
    pub(super) fn find() -> Option<Self> {
        let found = PLACES.iter().find(|(program, template)| {
            Path::new(program).is_file() && Path::new(template).is_file()
        });
        found.map(|(program, template)| Self { program: program.into(), template: template.into() })
    }

    /// Makes a machine's variables, unless it has some from before: the order in which it starts is
    /// kept in them.
    ///
    /// # Errors
    /// Those of the file system.
    pub(super) fn make_variables(&self, path: &Path) -> io::Result<()> {
        let template = fs::read(&self.template)?;
        if fs::metadata(path).is_ok_and(|found| found.len() == template.len() as u64) {
            return Ok(());
        }
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder)?;
        }
        fs::write(path, template)
    }
}
