//! Pure decisions stay pure: the two lowest floors do no input or output, read no clock and start
//! no thread, so that every decision can be tested with plain values.
//!
//! Looked at are the paths in code, the macros that print, and the crates depended on. Tests may do
//! what they need. What runs on simulated time, too, stays pure of the machine's clock, files and
//! processes: it takes them from its `World`.

use syn::spanned::Spanned as _;
use syn::visit::{self, Visit};

use crate::finding::Finding;
use crate::manifest::manifests;
use crate::source::Source;
use crate::tree::Tree;

const RULE: &str = "purity";

/// The floors that decide and do not act.
const PURE_FLOORS: [&str; 2] = ["ground/", "logic/"];

const IMPURE_PATHS: [&str; 11] = [
    "std::env",
    "std::fs",
    "std::io::stderr",
    "std::io::stdin",
    "std::io::stdout",
    "std::net",
    "std::os",
    "std::process",
    "std::thread",
    "std::time::Instant",
    "std::time::SystemTime",
];

const PRINTING: [&str; 4] = ["print", "println", "eprint", "eprintln"];

/// Crates that exist in order to touch the machine.
const MACHINE_CRATES: [&str; 7] =
    ["libc", "memmap2", "nix", "procfs", "rustix", "signal-hook", "tempfile"];

/// Folders whose code runs in a simulation.
const SIMULATED: [&str; 3] = [
    "product/campaign/src/measure/",
    "product/campaign/src/probe/",
    "product/supervisor/src/keeper/",
];

/// Ends of paths that reach the machine past the `World`.
const PAST_THE_WORLD: [(&str, &[&str]); 7] = [
    ("Command", &["new"]),
    ("File", &["create", "open"]),
    ("fs", &["copy", "create_dir_all", "read", "read_to_string", "remove_file", "rename", "write"]),
    ("Instant", &["now"]),
    ("SystemTime", &["now"]),
    ("thread", &["sleep", "spawn"]),
    ("Timestamp", &["now"]),
];

/// Finds what touches the machine on a floor that decides.
pub(crate) fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    let is_looked_at = |path: &str| is_pure(path) || is_simulated(path);
    for source in tree.sources.iter().filter(|source| is_looked_at(&source.path)) {
        let mut finder = PathFinder { source, findings: Vec::new() };
        finder.visit_file(&source.syntax);
        findings.append(&mut finder.findings);
    }
    let (manifests, _) = manifests(tree);
    for manifest in manifests.iter().filter(|manifest| is_pure(&manifest.path)) {
        for dependency in manifest.dependencies.iter().filter(|it| !it.for_tests) {
            if MACHINE_CRATES.contains(&dependency.package.as_str()) {
                findings.push(Finding::new(
                    RULE,
                    &manifest.path,
                    dependency.line,
                    format!("`{}` touches the machine", dependency.package),
                    "decide here and act in `machine/`",
                ));
            }
        }
    }
    findings
}

fn is_pure(path: &str) -> bool {
    PURE_FLOORS.iter().any(|floor| path.starts_with(floor))
}

fn is_simulated(path: &str) -> bool {
    SIMULATED.iter().any(|folder| path.starts_with(folder))
}

struct PathFinder<'a> {
    source: &'a Source,
    findings: Vec<Finding>,
}

impl PathFinder<'_> {
    fn judge(&mut self, path: &str, line: usize) {
        if is_simulated(&self.source.path) {
            return self.judge_simulated(path, line);
        }
        let is_impure = IMPURE_PATHS.iter().any(|impure| {
            path.strip_prefix(impure).is_some_and(|rest| rest.is_empty() || rest.starts_with("::"))
        });
        if is_impure && !self.source.is_test_line(line) {
            self.find(line, format!("`{path}` touches the machine"));
        }
    }

    fn judge_simulated(&mut self, path: &str, line: usize) {
        let mut names = path.rsplit("::");
        let (Some(name), Some(of)) = (names.next(), names.next()) else { return };
        let is_past = PAST_THE_WORLD.iter().any(|(it, its)| *it == of && its.contains(&name));
        if is_past && !self.source.is_test_line(line) {
            let what = format!("`{path}` is the machine's, also in a simulation");
            let remedy = "take it from the `World`";
            self.findings.push(Finding::new(RULE, &self.source.path, line, what, remedy));
        }
    }

    fn find(&mut self, line: usize, what: String) {
        let remedy = "take what it yields as an argument; act in `machine/`";
        self.findings.push(Finding::new(RULE, &self.source.path, line, what, remedy));
    }

    fn judge_use(&mut self, prefix: &str, tree: &syn::UseTree) {
        let joined = |name: &syn::Ident| match prefix {
            "" => name.to_string(),
            _ => format!("{prefix}::{name}"),
        };
        match tree {
            syn::UseTree::Path(path) => self.judge_use(&joined(&path.ident), &path.tree),
            syn::UseTree::Group(group) => {
                for item in &group.items {
                    self.judge_use(prefix, item);
                }
            }
            syn::UseTree::Name(name) if name.ident == "self" => {
                self.judge(prefix, name.span().start().line);
            }
            syn::UseTree::Name(name) => self.judge(&joined(&name.ident), name.span().start().line),
            syn::UseTree::Rename(name) => {
                self.judge(&joined(&name.ident), name.span().start().line);
            }
            syn::UseTree::Glob(glob) => self.judge(prefix, glob.span().start().line),
        }
    }
}

impl<'ast> Visit<'ast> for PathFinder<'_> {
    fn visit_item_use(&mut self, item: &'ast syn::ItemUse) {
        self.judge_use("", &item.tree);
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        let names: Vec<String> = path.segments.iter().map(|it| it.ident.to_string()).collect();
        self.judge(&names.join("::"), path.span().start().line);
        visit::visit_path(self, path);
    }

    fn visit_macro(&mut self, call: &'ast syn::Macro) {
        let line = call.span().start().line;
        let name = call.path.segments.last().map(|it| it.ident.to_string()).unwrap_or_default();
        let is_printing = is_pure(&self.source.path) && PRINTING.contains(&name.as_str());
        if is_printing && !self.source.is_test_line(line) {
            self.find(line, format!("`{name}!` prints"));
        }
        visit::visit_macro(self, call);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(path: &str, text: &str) -> Vec<usize> {
        let findings = check(&Tree::of(&[(path, text)]));
        findings.iter().map(|finding| finding.line).collect()
    }

    #[test]
    fn every_way_to_the_machine_is_found() {
        let text = "use std::fs;\nuse std::{thread::spawn, time::{Duration, Instant}};\nuse \
                    std::io::{self, Write};\nfn a() {\n    \
                    std::process::exit(1);\nprintln!(\"b\");\n}\nuse std::net::*;\nuse \
                    std::os::fd as c;\nuse std::env::{self};\n";
        assert_eq!(lines("logic/a/src/b.rs", text), [1, 2, 2, 5, 6, 8, 9, 10]);
        assert_eq!(lines("machine/a/src/b.rs", text), [0_usize; 0]);
    }

    #[test]
    fn tests_may_do_what_they_need() {
        let text = "#[cfg(test)]\nmod tests {\n    use std::fs;\n    fn a() { println!(); }\n}\n";
        assert_eq!(lines("logic/a/src/b.rs", text), [0_usize; 0]);
        assert_eq!(lines("logic/a/tests/b.rs", "use std::fs;\n"), [0_usize; 0]);
    }

    #[test]
    fn a_keeper_takes_clock_and_files_from_its_world() {
        let text = "use std::time::Instant;\nuse std::fs::File;\nfn a() {\n    \
                    Instant::now();\n    std::fs::read(\"b\");\n    world.now();\n}\n";
        assert_eq!(lines("product/supervisor/src/keeper/a.rs", text), [4, 5]);
        assert_eq!(lines("product/supervisor/src/live.rs", text), [0_usize; 0]);
    }

    #[test]
    fn crates_that_touch_the_machine_are_found() {
        let text = "[package]\nname = \"quietcore-a\"\n[dependencies]\nlibc.workspace = \
                    true\n[dev-dependencies]\ntempfile.workspace = true\n";
        assert_eq!(lines("logic/a/Cargo.toml", text), [4]);
        assert_eq!(lines("machine/a/Cargo.toml", text), [0_usize; 0]);
    }
}
