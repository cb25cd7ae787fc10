//! A peer in Python, a package of which is named by the environment.

use std::env;
use std::process::Command;

use super::script::Script;
use super::versions;

/// A package of Python, and the variable of the environment that names a Python that has it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Package {
    pub(crate) name: &'static str,
    pub(crate) variable: &'static str,
}

impl Package {
    /// The version of the package in the Python that is named.
    pub(crate) fn version(self) -> String {
        versions::of_python_package(&env::var_os(self.variable).unwrap_or_default(), self.name)
    }

    /// Starts a script with these arguments, and waits until it says `ready`.
    pub(crate) fn start(self, script: &str, arguments: &[&str]) -> Result<Script, String> {
        let Self { name, variable } = self;
        let python = env::var_os(variable)
            .ok_or_else(|| format!("{name}: set {variable} to a Python that has it"))?;
        Script::start(name, Command::new(python).args(["-c", script]).args(arguments))
    }
}
