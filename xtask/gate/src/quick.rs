//! The inner loop: formatting, house rules, and clippy and unit tests of some crates.

use crate::repository::{self, Crate};
use crate::steps::step::{CommandLine, Group, Step};
use crate::steps::style;

/// The steps for these crates, by name or folder, or for those with files that differ from the main
/// branch.
///
/// # Errors
/// There is no such crate, or git fails.
pub(crate) fn group(names: &[String]) -> Result<Group, String> {
    let crates = repository::crates()?;
    let chosen: Vec<&Crate> = if names.is_empty() {
        repository::changed(&crates)?.into_iter().collect()
    } else {
        let find = |name: &String| {
            let found = crates.iter().find(|krate| is_named(krate, name));
            found.ok_or_else(|| format!("there is no crate `{name}`"))
        };
        names.iter().map(find).collect::<Result<_, _>>()?
    };
    let mut steps = style().to_vec();
    if chosen.is_empty() {
        println!("no crate differs from the main branch");
    } else {
        steps.extend(of_crates(&chosen));
    }
    Ok(Group { name: "quick", at_once: 1, steps })
}

fn is_named(krate: &Crate, name: &str) -> bool {
    let name = name.trim_end_matches('/');
    let short = krate.package.strip_prefix("quietcore-");
    krate.folder == name || krate.package == name || short == Some(name)
}

fn of_crates(crates: &[&Crate]) -> [Step; 2] {
    let folders: Vec<&str> = crates.iter().map(|krate| &*krate.folder).collect();
    let folders = folders.join(" ");
    let packages = || crates.iter().flat_map(|krate| ["--package", &*krate.package]);
    let has_library = crates.iter().any(|krate| krate.has_library);
    let targets = if has_library { &["--lib", "--bins"][..] } else { &["--bins"] };
    let clippy = CommandLine::words("cargo clippy --locked").arguments(packages());
    let clippy = clippy.arguments(["--all-targets", "--", "-D", "warnings"]);
    let tests = CommandLine::words("cargo test --locked --no-fail-fast").arguments(packages());
    [
        Step::new(format!("clippy: {folders}"), clippy),
        Step::new(format!("unit tests: {folders}"), tests.arguments(targets.iter().copied())),
    ]
}
