//! A crate's `Cargo.toml`, as far as the rules look at it.

use std::collections::BTreeMap;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::tree::Tree;

/// Keys that every package takes from the workspace.
pub(crate) const INHERITED: [&str; 5] =
    ["version", "edition", "rust-version", "license", "publish"];

/// The manifest of one package.
#[derive(Debug, Default)]
pub(crate) struct Manifest {
    /// Path of the file below the root.
    pub(crate) path: String,
    /// The package's name, and its line.
    pub(crate) name: (String, usize),
    /// Dependencies of every kind.
    pub(crate) dependencies: Vec<Dependency>,
    /// The names of the `[[bin]]` sections, each with its source file and line.
    pub(crate) binaries: Vec<(String, Option<String>, usize)>,
    /// Which of [`INHERITED`] it does not take from the workspace.
    pub(crate) own_keys: Vec<&'static str>,
    /// `true` if it takes its lints from the workspace.
    pub(crate) lints_inherited: bool,
}

/// One line of a dependency section.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Dependency {
    /// The package depended on, renames resolved.
    pub(crate) package: String,
    /// Line in the manifest.
    pub(crate) line: usize,
    /// `true` if only tests use it.
    pub(crate) for_tests: bool,
    /// `true` if only the build script uses it.
    pub(crate) for_build: bool,
    /// `true` if version and source come from the workspace.
    pub(crate) inherited: bool,
}

impl Manifest {
    /// The folder of the package, without the last `/`.
    pub(crate) fn folder(&self) -> &str {
        self.path.strip_suffix("/Cargo.toml").expect("only manifests below the root are read")
    }
}

/// All manifests of packages below the root; the errors name file, line and fault.
pub(crate) fn manifests(tree: &Tree) -> (Vec<Manifest>, Vec<(String, usize, String)>) {
    let renames = tree
        .file("Cargo.toml")
        .and_then(|file| DeTable::parse(&file.text).ok())
        .map(|table| workspace_renames(table.get_ref()))
        .unwrap_or_default();
    let mut read = Vec::new();
    let mut errors = Vec::new();
    let files = tree.files.iter();
    for file in files.filter(|file| file.path.ends_with("/Cargo.toml")) {
        match DeTable::parse(&file.text) {
            Ok(table) => {
                read.push(read_manifest(&file.path, &file.text, table.get_ref(), &renames));
            }
            Err(error) => {
                let line = error.span().map_or(1, |span| line_at(&file.text, span.start));
                errors.push((file.path.clone(), line, error.message().to_owned()));
            }
        }
    }
    (read, errors)
}

/// The line of byte `offset`, from 1.
fn line_at(text: &str, offset: usize) -> usize {
    1 + text.bytes().take(offset).filter(|byte| *byte == b'\n').count()
}

type Renames = BTreeMap<String, String>;

fn workspace_renames(table: &DeTable<'_>) -> Renames {
    let dependencies = table
        .get("workspace")
        .and_then(|workspace| workspace.get_ref().get("dependencies"))
        .and_then(|dependencies| dependencies.get_ref().as_table());
    let renamed = dependencies.into_iter().flatten().filter_map(|(key, value)| {
        let package = string_at(value.get_ref(), "package")?;
        Some((key.get_ref().to_string(), package))
    });
    renamed.collect()
}

fn read_manifest(path: &str, text: &str, table: &DeTable<'_>, renames: &Renames) -> Manifest {
    let package = table.get("package").map(Spanned::get_ref);
    let name = package
        .and_then(|package| package.get("name"))
        .map(|name| {
            let line = line_at(text, name.span().start);
            (name.get_ref().as_str().unwrap_or_default().to_owned(), line)
        })
        .unwrap_or_default();
    let own_keys = INHERITED
        .into_iter()
        .filter(|key| !package.is_some_and(|package| from_workspace(package, key)))
        .collect();
    let mut dependencies = Vec::new();
    read_dependencies(text, table, renames, &mut dependencies);
    let targets = table.get("target").and_then(|target| target.get_ref().as_table());
    for (_, target) in targets.into_iter().flatten() {
        if let Some(target) = target.get_ref().as_table() {
            read_dependencies(text, target, renames, &mut dependencies);
        }
    }
    Manifest {
        path: path.to_owned(),
        name,
        dependencies,
        binaries: read_binaries(text, table),
        own_keys,
        lints_inherited: table
            .get("lints")
            .is_some_and(|lints| is_true(lints.get_ref(), "workspace")),
    }
}

fn read_dependencies(
    text: &str,
    table: &DeTable<'_>,
    renames: &Renames,
    dependencies: &mut Vec<Dependency>,
) {
    for section in ["dependencies", "build-dependencies", "dev-dependencies"] {
        let entries = table.get(section).and_then(|entries| entries.get_ref().as_table());
        for (key, value) in entries.into_iter().flatten() {
            let own_rename = string_at(value.get_ref(), "package");
            let package = own_rename
                .or_else(|| renames.get(key.get_ref().as_ref()).cloned())
                .unwrap_or_else(|| key.get_ref().to_string());
            dependencies.push(Dependency {
                package,
                line: line_at(text, key.span().start),
                for_tests: section == "dev-dependencies",
                for_build: section == "build-dependencies",
                inherited: is_true(value.get_ref(), "workspace"),
            });
        }
    }
}

fn read_binaries(text: &str, table: &DeTable<'_>) -> Vec<(String, Option<String>, usize)> {
    let sections = table.get("bin").and_then(|bins| bins.get_ref().as_array());
    let binaries = sections.into_iter().flatten().filter_map(|binary| {
        let name = string_at(binary.get_ref(), "name")?;
        let source = string_at(binary.get_ref(), "path");
        Some((name, source, line_at(text, binary.span().start)))
    });
    binaries.collect()
}

fn string_at(value: &DeValue<'_>, key: &str) -> Option<String> {
    value.as_table()?.get(key)?.get_ref().as_str().map(str::to_owned)
}

fn is_true(value: &DeValue<'_>, key: &str) -> bool {
    let entry = value.as_table().and_then(|table| table.get(key));
    entry.and_then(|entry| entry.get_ref().as_bool()) == Some(true)
}

fn from_workspace(package: &DeValue<'_>, key: &str) -> bool {
    let entry = package.as_table().and_then(|table| table.get(key));
    entry.is_some_and(|entry| is_true(entry.get_ref(), "workspace"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = r#"[package]
name = "quietcore-probe"
version.workspace = true
edition.workspace = true
rust-version.workspace = true
license = "MIT"
publish.workspace = true

[[bin]]
name = "probe"
path = "src/main.rs"

[dependencies]
quietcore-units = { workspace = true, features = ["serde"] }
clock.workspace = true
libc = "0.2"

[dev-dependencies]
proptest.workspace = true

[target.'cfg(unix)'.dependencies]
other = { package = "quietcore-host", workspace = true }

[lints]
workspace = true
"#;

    fn only(files: &[(&str, &str)]) -> Manifest {
        let (mut read, errors) = manifests(&Tree::of(files));
        assert_eq!(errors, []);
        read.remove(0)
    }

    #[test]
    fn a_manifest_is_read_with_lines_and_renames() {
        let root = "[workspace.dependencies]\nclock = { package = \"quietcore-clock\" }\n";
        let manifest = only(&[("Cargo.toml", root), ("realise/probe/Cargo.toml", TEXT)]);
        assert_eq!(manifest.folder(), "realise/probe");
        assert_eq!(manifest.name, ("quietcore-probe".to_owned(), 2));
        assert_eq!(manifest.own_keys, ["license"]);
        assert!(manifest.lints_inherited);
        assert_eq!(manifest.binaries, [("probe".to_owned(), Some("src/main.rs".to_owned()), 9)]);
        let mut seen: Vec<_> = manifest
            .dependencies
            .iter()
            .map(|it| (it.package.as_str(), it.line, it.for_tests, it.inherited))
            .collect();
        seen.sort_unstable();
        assert_eq!(
            seen,
            [
                ("libc", 16, false, false),
                ("proptest", 19, true, true),
                ("quietcore-clock", 15, false, true),
                ("quietcore-host", 22, false, true),
                ("quietcore-units", 14, false, true),
            ]
        );
    }

    #[test]
    fn a_broken_manifest_is_an_error_with_its_line() {
        let (read, errors) = manifests(&Tree::of(&[("a/b/Cargo.toml", "[package]\nname = \n")]));
        assert!(read.is_empty());
        assert_eq!((errors[0].0.as_str(), errors[0].1), ("a/b/Cargo.toml", 2));
    }
}
