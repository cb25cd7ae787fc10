//! The tree that the rules look at: the files that git tracks, and the packages that cargo would
//! link.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::finding::Finding;
use crate::source::Source;

/// The packages of other platforms are never linked into the product, so nobody judges them.
const PLATFORM: &str = "x86_64-unknown-linux-gnu";

/// A tracked file; of binary files only the path is known.
pub(crate) struct TrackedFile {
    /// Path below the root of the repository, with `/` between its parts.
    pub(crate) path: String,
    /// Its text; empty where it is not UTF-8.
    pub(crate) text: String,
}

/// A package that the workspace is built from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Package {
    /// Name in the registry.
    pub(crate) name: String,
    /// Version of the package.
    pub(crate) version: String,
    /// The SPDX expression, where the package states one.
    pub(crate) licence: Option<String>,
    /// `true` if it is one of ours.
    pub(crate) own: bool,
}

/// The repository with its packages.
#[derive(Default)]
pub(crate) struct Tree {
    /// All tracked files, sorted by path.
    pub(crate) files: Vec<TrackedFile>,
    /// The Rust files among them that could be parsed.
    pub(crate) sources: Vec<Source>,
    /// One finding for each that could not.
    pub(crate) unparsed: Vec<Finding>,
    /// All packages, ours included.
    pub(crate) packages: Vec<Package>,
}

/// Why the check could not be made.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Trouble {
    /// A program that is needed does not run.
    #[error("`{program}` could not be started: {cause}; install it")]
    NotStarted {
        /// The program that was called.
        program: &'static str,
        /// The error of the kernel.
        cause: std::io::Error,
    },
    /// A program that is needed failed.
    #[error("`{command}` failed: {message}")]
    Failed {
        /// The program with its arguments.
        command: String,
        /// Its text on standard error.
        message: String,
    },
    /// A program wrote something else than expected.
    #[error("the answer of `{command}` could not be understood: {message}")]
    Answer {
        /// The program that was called.
        command: &'static str,
        /// The problem with its answer.
        message: String,
    },
    /// A tracked file can't be read.
    #[error("`{path}` could not be read: {cause}")]
    Unreadable {
        /// Path of the file.
        path: String,
        /// The error of the kernel.
        cause: std::io::Error,
    },
}

impl Tree {
    /// Reads the repository that contains the folder `inside`.
    pub(crate) fn read(inside: &Path) -> Result<Self, Trouble> {
        let root = root(inside)?;
        let listing = run("git", &["ls-files", "-z"], &root)?;
        let mut files = Vec::new();
        for path in listing.split('\0').filter(|path| !path.is_empty()) {
            let full = root.join(path);
            // A link is judged where it points to; a file deleted but not committed is gone.
            if !full.is_file() || full.is_symlink() {
                continue;
            }
            let bytes = fs::read(&full)
                .map_err(|cause| Trouble::Unreadable { path: path.to_owned(), cause })?;
            files.push(TrackedFile {
                path: path.to_owned(),
                text: String::from_utf8(bytes).unwrap_or_default(),
            });
        }
        let arguments =
            ["metadata", "--format-version=1", "--locked", "--filter-platform", PLATFORM];
        let packages = packages_in(&run("cargo", &arguments, &root)?)?;
        Ok(Self::from_parts(files, packages))
    }

    /// The repository made of these files and packages.
    pub(crate) fn from_parts(mut files: Vec<TrackedFile>, packages: Vec<Package>) -> Self {
        files.sort_by(|a, b| a.path.cmp(&b.path));
        let mut tree = Self { packages, ..Self::default() };
        for file in files.iter().filter(|file| file.path.ends_with(".rs")) {
            match Source::parse(&file.path, &file.text) {
                Ok(source) => tree.sources.push(source),
                Err((line, message)) => tree.unparsed.push(Finding::new(
                    "syntax",
                    &file.path,
                    line,
                    format!("it can't be parsed: {message}"),
                    "mend it so that the other rules can be checked",
                )),
            }
        }
        tree.files = files;
        tree
    }

    /// A repository for a test: paths and texts.
    #[cfg(test)]
    pub(crate) fn of(files: &[(&str, &str)]) -> Self {
        let files = files
            .iter()
            .map(|(path, text)| TrackedFile { path: (*path).to_owned(), text: (*text).to_owned() })
            .collect();
        Self::from_parts(files, Vec::new())
    }

    /// The file at this path.
    pub(crate) fn file(&self, path: &str) -> Option<&TrackedFile> {
        self.files.iter().find(|file| file.path == path)
    }

    /// Returns `true` if anything is tracked below this folder; written without the last `/`.
    pub(crate) fn has_folder(&self, folder: &str) -> bool {
        self.files.iter().any(|file| is_below(&file.path, folder))
    }
}

/// The root of the repository that contains the folder `inside`.
pub(crate) fn root(inside: &Path) -> Result<PathBuf, Trouble> {
    let root = run("git", &["rev-parse", "--show-toplevel"], inside)?;
    Ok(PathBuf::from(root.trim_end_matches('\n')))
}

/// Returns `true` if a path lies below a folder; written without the last `/`.
pub(crate) fn is_below(path: &str, folder: &str) -> bool {
    path.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'))
}

fn run(program: &'static str, arguments: &[&str], folder: &Path) -> Result<String, Trouble> {
    let output = Command::new(program)
        .args(arguments)
        .current_dir(folder)
        .output()
        .map_err(|cause| Trouble::NotStarted { program, cause })?;
    if !output.status.success() {
        return Err(Trouble::Failed {
            command: format!("{program} {}", arguments.join(" ")),
            message: String::from_utf8_lossy(&output.stderr).trim().to_owned(),
        });
    }
    String::from_utf8(output.stdout)
        .map_err(|error| Trouble::Answer { command: program, message: error.to_string() })
}

/// The packages in the answer of `cargo metadata`: those that are resolved, not all that are known.
fn packages_in(answer: &str) -> Result<Vec<Package>, Trouble> {
    let wrong =
        |message: &str| Trouble::Answer { command: "cargo metadata", message: message.to_owned() };
    let answer: serde_json::Value =
        serde_json::from_str(answer).map_err(|error| wrong(&error.to_string()))?;
    let resolved: Vec<&str> = answer["resolve"]["nodes"]
        .as_array()
        .ok_or_else(|| wrong("it has no list `resolve.nodes`"))?
        .iter()
        .filter_map(|node| node["id"].as_str())
        .collect();
    let packages =
        answer["packages"].as_array().ok_or_else(|| wrong("it has no list `packages`"))?;
    let text = |package: &serde_json::Value, key: &str| {
        package[key]
            .as_str()
            .map(str::to_owned)
            .ok_or_else(|| wrong(&format!("a package has no `{key}`")))
    };
    packages
        .iter()
        .filter(|package| package["id"].as_str().is_some_and(|id| resolved.contains(&id)))
        .map(|package| {
            Ok(Package {
                name: text(package, "name")?,
                version: text(package, "version")?,
                licence: package["license"].as_str().map(str::to_owned),
                own: package["source"].is_null(),
            })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn resolved_packages_are_read_and_others_left_out() {
        let answer = r#"{
            "packages": [
                {"id": "a", "name": "ours", "version": "0.1.0", "license": null, "source": null},
                {"id": "b", "name": "theirs", "version": "1.0.0", "license": "MIT",
                 "source": "registry"},
                {"id": "c", "name": "elsewhere", "version": "1.0.0", "license": "MIT",
                 "source": "registry"}
            ],
            "resolve": {"nodes": [{"id": "a"}, {"id": "b"}]}
        }"#;
        let packages = packages_in(answer).unwrap();
        let names: Vec<_> =
            packages.iter().map(|package| (package.name.as_str(), package.own)).collect();
        assert_eq!(names, [("ours", true), ("theirs", false)]);
        assert_eq!(packages[1].licence.as_deref(), Some("MIT"));
    }

    #[test]
    fn an_answer_of_another_shape_is_an_error_and_not_an_empty_list() {
        assert!(packages_in("{}").is_err());
        assert!(packages_in("[").is_err());
    }

    #[test]
    fn a_file_that_is_no_rust_is_a_finding() {
        let tree = Tree::of(&[("a/src/lib.rs", "fn (")]);
        assert_eq!(tree.unparsed.len(), 1);
        assert!(tree.sources.is_empty());
        assert!(tree.has_folder("a/src") && !tree.has_folder("a/s"));
    }
}
