//! The folders that the gate reads and writes.

use std::env;
use std::path::PathBuf;

/// Folders, each with its whole path. They are texts, because commands are.
#[derive(Clone, Debug)]
pub(crate) struct Places {
    /// The folder with the workspace's `Cargo.toml`.
    pub(crate) root: String,
    /// Cargo's folder of built programs.
    pub(crate) target: String,
    /// The gate's own: logs, results, and tools that it has installed.
    pub(crate) scratch: String,
}

impl Places {
    /// The folders of the project in the current folder; `own` is the gate's own within cargo's.
    ///
    /// # Errors
    /// There is no project, or its path is not UTF-8.
    pub(crate) fn find(own: &str) -> Result<Self, String> {
        let root = env::current_dir().map_err(|error| format!("the current folder: {error}"))?;
        if !root.join("Cargo.toml").is_file() {
            return Err(format!("{} has no Cargo.toml; run ./test", root.display()));
        }
        let target = env::var_os("CARGO_TARGET_DIR").map_or_else(|| "target".into(), PathBuf::from);
        let target = root.join(target);
        let scratch = target.join(own);
        let text = |path: PathBuf| {
            path.into_os_string()
                .into_string()
                .map_err(|path| format!("{} is not UTF-8", path.display()))
        };
        Ok(Self { root: text(root)?, target: text(target)?, scratch: text(scratch)? })
    }

    /// A program that the workspace builds.
    pub(crate) fn built(&self, program: &str) -> String {
        format!("{}/debug/{program}", self.target)
    }

    /// A file or folder of the gate's own.
    pub(crate) fn own(&self, name: &str) -> String {
        format!("{}/{name}", self.scratch)
    }
}
