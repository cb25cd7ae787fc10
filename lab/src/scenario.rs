//! Scenarios: what a machine does between its start and its end.
//!
//! A scenario is a shell script `lab/scenarios/NAME.sh`. Its first lines are comments: what it is
//! for, and `kinds: rt kvm`, those of machines in which it makes sense.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::kind::{self, Kind};

/// A script, and where it may run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scenario {
    /// The name of its file without `.sh`.
    pub name: String,
    /// The first line of its comment.
    pub about: String,
    /// The kinds of machines in which it makes sense; the first one where nothing else is said.
    pub kinds: Vec<&'static Kind>,
    /// Path of the script.
    pub path: PathBuf,
}

/// All scenarios of a folder, by name.
///
/// # Errors
/// Where the folder or a script can't be read, or a script does not say in which kinds it runs.
pub fn all(folder: &Path) -> io::Result<Vec<Scenario>> {
    let mut scenarios = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "sh") {
            scenarios.push(read(path)?);
        }
    }
    scenarios.sort_by(|one, other| one.name.cmp(&other.name));
    Ok(scenarios)
}

fn read(path: PathBuf) -> io::Result<Scenario> {
    let text = fs::read_to_string(&path)?;
    let mut comments = text.lines().skip(1).map_while(|line| line.strip_prefix('#')).map(str::trim);
    let about = comments.next().unwrap_or_default().to_owned();
    let kinds = comments.find_map(|line| line.strip_prefix("kinds:")).unwrap_or_default();
    let refused = |what: String| {
        let text = format!("{}: {what}", path.display());
        io::Error::new(io::ErrorKind::InvalidData, text)
    };
    let kinds = kinds
        .split_whitespace()
        .map(|name| kind::find(name).ok_or_else(|| refused(format!("no kind `{name}`"))))
        .collect::<io::Result<Vec<_>>>()?;
    if about.is_empty() || kinds.is_empty() {
        return Err(refused(
            "needs `# what it is for` and `# kinds: rt` below its first line".into(),
        ));
    }
    let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    Ok(Scenario { name, about, kinds, path })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_text(text: &str) -> io::Result<Scenario> {
        let scratch = tempfile::tempdir()?;
        let path = scratch.path().join("latency.sh");
        fs::write(&path, text)?;
        read(path)
    }

    #[test]
    fn a_scenario_says_what_it_is_for_and_where_it_runs() {
        let scenario = read_text("#!/bin/bash\n# release latency\n# kinds: rt stock\ntrue\n");
        let scenario = scenario.expect("a scenario");
        assert_eq!((&*scenario.name, &*scenario.about), ("latency", "release latency"));
        let kinds: Vec<&str> = scenario.kinds.iter().map(|kind| kind.name).collect();
        assert_eq!(kinds, ["rt", "stock"]);
    }

    #[test]
    fn a_scenario_that_does_not_say_so_is_refused() {
        for (text, because) in [
            ("#!/bin/bash\ntrue\n", "needs `# what it is for`"),
            ("#!/bin/bash\n# something\ntrue\n# kinds: rt\n", "needs `# what it is for`"),
            ("#!/bin/bash\n# something\n# kinds: rt vax\n", "no kind `vax`"),
        ] {
            let error = read_text(text).expect_err("it must be refused").to_string();
            assert!(error.contains("latency.sh: ") && error.contains(because), "{error}");
        }
    }

    #[test]
    fn every_scenario_of_the_project_can_be_read() {
        let scenarios = all(Path::new("scenarios")).expect("the project's scenarios");
        assert!(!scenarios.is_empty());
    }
}
