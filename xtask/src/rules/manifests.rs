//! Packages have the names of their folders and take from the workspace what it decides.
//!
//! - `machine/clock` is the package `quietcore-clock`; folders are written in `snake_case`.
//! - Version, edition, licence, lints and the versions of dependencies come from the root.
//! - Every program is called `quietcore`, `quietcored` or `quietcore-NAME`, so that nobody on a
//!   machine wonders whose process that is.

use crate::finding::Finding;
use crate::manifest::{Manifest, manifests};
use crate::tree::Tree;

const NAMES: &str = "crate-names";
const INHERITANCE: &str = "manifests";
const BINARIES: &str = "binaries";

/// Finds packages that are named, built or inherited otherwise.
pub(crate) fn check(tree: &Tree) -> Vec<Finding> {
    let (manifests, errors) = manifests(tree);
    let mut findings: Vec<Finding> = errors
        .into_iter()
        .map(|(path, line, message)| {
            Finding::new(INHERITANCE, &path, line, message, "cargo can't read it either")
        })
        .collect();
    for manifest in &manifests {
        findings.extend(check_name(manifest));
        findings.extend(check_inheritance(manifest));
        findings.extend(check_binaries(manifest, tree));
    }
    findings
}

fn check_name(manifest: &Manifest) -> Option<Finding> {
    let folder = manifest.folder();
    let base = folder.rsplit('/').next().unwrap_or(folder);
    let (name, line) = &manifest.name;
    let snake = |character: char| character.is_ascii_lowercase() || character.is_ascii_digit();
    if !base.chars().all(|character| snake(character) || character == '_') {
        return Some(Finding::new(
            NAMES,
            &manifest.path,
            *line,
            format!("the folder `{folder}` is not in snake_case"),
            "rename it",
        ));
    }
    let expected = format!("quietcore-{}", base.replace('_', "-"));
    (*name != expected).then(|| {
        Finding::new(
            NAMES,
            &manifest.path,
            *line,
            format!("the package in `{folder}` is called `{name}`"),
            format!("call it `{expected}`"),
        )
    })
}

fn check_inheritance(manifest: &Manifest) -> Vec<Finding> {
    let finding = |line: usize, what: String, remedy: &str| {
        Finding::new(INHERITANCE, &manifest.path, line, what, remedy)
    };
    let line = manifest.name.1;
    let mut findings: Vec<Finding> = manifest
        .own_keys
        .iter()
        .map(|key| {
            let what = format!("`{key}` is not taken from the workspace");
            finding(line, what, &format!("write `{key}.workspace = true`"))
        })
        .collect();
    if !manifest.lints_inherited {
        let what = "the lints are not taken from the workspace".to_owned();
        findings.push(finding(line, what, "add `[lints]` with `workspace = true`"));
    }
    let own_version = |package: &str| format!("`{package}` has a version of its own here");
    for dependency in manifest.dependencies.iter().filter(|it| !it.inherited) {
        findings.push(finding(
            dependency.line,
            own_version(&dependency.package),
            "name it in the workspace's table and write `.workspace = true`",
        ));
    }
    findings
}

fn check_binaries(manifest: &Manifest, tree: &Tree) -> Vec<Finding> {
    let mut programs: Vec<(String, usize)> =
        manifest.binaries.iter().map(|(name, _, line)| (name.clone(), *line)).collect();
    let listed =
        |source: &str| manifest.binaries.iter().any(|(_, path, _)| path.as_deref() == Some(source));
    for file in &tree.files {
        let Some(source) =
            file.path.strip_prefix(manifest.folder()).and_then(|rest| rest.strip_prefix('/'))
        else {
            continue;
        };
        let name = match source.strip_prefix("src/bin/") {
            _ if listed(source) => None,
            Some(rest) => rest.strip_suffix("/main.rs").or(rest.strip_suffix(".rs")),
            None if source == "src/main.rs" => Some(manifest.name.0.as_str()),
            None => None,
        };
        programs.extend(name.filter(|name| !name.contains('/')).map(|name| (name.to_owned(), 1)));
    }
    programs
        .into_iter()
        .filter(|(name, _)| !is_named_well(name))
        .map(|(name, line)| {
            Finding::new(
                BINARIES,
                &manifest.path,
                line,
                format!("it builds a program called `{name}`"),
                "programs are called `quietcore`, `quietcored` or `quietcore-NAME`",
            )
        })
        .collect()
}

fn is_named_well(program: &str) -> bool {
    matches!(program, "quietcore" | "quietcored") || program.starts_with("quietcore-")
}

#[cfg(test)]
mod tests {
    use super::*;

    const INHERITS: &str = "version.workspace = true\nedition.workspace = \
                            true\nrust-version.workspace = true\nlicense.workspace = \
                            true\npublish.workspace = true\n[lints]\nworkspace = true\n";

    fn findings(path: &str, head: &str, tail: &str, others: &[(&str, &str)]) -> Vec<String> {
        let text = format!("[package]\n{head}\n{INHERITS}{tail}");
        let mut files = vec![(path, text.as_str())];
        files.extend(others);
        let findings = check(&Tree::of(&files));
        findings.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_package_in_order_is_silent() {
        let name = "name = \"quietcore-micro-vm\"";
        let tail = "[dependencies]\nlibc.workspace = true\n";
        assert_eq!(findings("machine/micro_vm/Cargo.toml", name, tail, &[]), [""; 0]);
    }

    #[test]
    fn a_name_that_is_not_the_folders_is_found() {
        let found = findings("machine/clock/Cargo.toml", "name = \"clock\"", "", &[]);
        assert!(found[0].ends_with("is called `clock`; call it `quietcore-clock`"), "{found:?}");
        let found = findings("machine/a-b/Cargo.toml", "name = \"quietcore-a-b\"", "", &[]);
        assert!(found[0].contains("not in snake_case"), "{found:?}");
    }

    #[test]
    fn own_versions_and_missing_lints_are_found() {
        let text = "[package]\nname = \"quietcore-clock\"\nversion = \
                    \"1.0.0\"\n[dependencies]\nlibc = \"0.2\"\n";
        let found = check(&Tree::of(&[("machine/clock/Cargo.toml", text)]));
        // Five keys, the lints, one dependency.
        assert_eq!(found.len(), 7);
        assert_eq!(found[6].line, 5);
    }

    #[test]
    fn programs_of_other_names_are_found_wherever_they_are_declared() {
        let found = findings(
            "surface/cli/Cargo.toml",
            "name = \"quietcore-cli\"",
            "[[bin]]\nname = \"qc\"\npath = \"src/main.rs\"\n",
            &[
                ("surface/cli/src/main.rs", "//! A.\nfn main() {}"),
                ("surface/cli/src/bin/worker.rs", "//! A.\nfn main() {}"),
                ("surface/cli/src/bin/quietcore-runtime.rs", "//! A.\nfn main() {}"),
            ],
        );
        assert_eq!(found.len(), 2, "{found:?}");
        assert!(found[0].contains("`qc`") && found[1].contains("`worker`"));
    }
}
