//! Licences of everything that is linked into the product: those who get it may pass it on.
//!
//! A package's SPDX expression must be satisfiable with permissive licences alone: one side of an
//! `OR` is enough, of an `AND` both are needed. MPL-2.0 is accepted because it binds its own files
//! only; the GPL family is not. A package without an expression is refused until somebody has read
//! its sources and listed it in [`KNOWN_LICENCES`].

use crate::exemptions::{KNOWN_LICENCES, KnownLicence};
use crate::finding::Finding;
use crate::tree::{Package, Tree};

const RULE: &str = "licences";

const PERMISSIVE: [&str; 15] = [
    "0BSD",
    "Apache-2.0",
    "Apache-2.0 WITH LLVM-exception",
    "BSD-1-Clause",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "BSL-1.0",
    "CC0-1.0",
    "ISC",
    "MIT",
    "MIT-0",
    "MPL-2.0",
    "Unicode-3.0",
    "Unlicense",
    "Zlib",
];

/// Finds packages whose licence asks for more than naming its authors.
pub(crate) fn check(tree: &Tree) -> Vec<Finding> {
    let lock = tree.file("Cargo.lock").map_or("", |file| file.text.as_str());
    let foreign = tree.packages.iter().filter(|package| !package.own);
    foreign
        .filter_map(|package| {
            let what = judge(package, KNOWN_LICENCES)?;
            Some(Finding::new(
                RULE,
                "Cargo.lock",
                line_of(package, lock),
                format!("`{} {}` {what}", package.name, package.version),
                "use another package; if its sources say otherwise, list it in \
                 `xtask/src/exemptions.rs`",
            ))
        })
        .collect()
}

fn judge(package: &Package, known: &[KnownLicence]) -> Option<String> {
    let listed = known.iter().find(|known| known.package == package.name);
    let licence = listed.map(|known| known.licence).or(package.licence.as_deref());
    match licence {
        None => Some("states no licence".to_owned()),
        Some(expression) => match is_permissive(expression) {
            Some(true) => None,
            Some(false) => Some(format!("has the licence `{expression}`")),
            None => Some(format!("has a licence that can't be understood: `{expression}`")),
        },
    }
}

/// The line of the package in the lock file, from 1.
fn line_of(package: &Package, lock: &str) -> usize {
    let name = format!("name = \"{}\"", package.name);
    let version = format!("version = \"{}\"", package.version);
    let lines: Vec<&str> = lock.lines().collect();
    let found = lines.windows(2).position(|pair| pair[0] == name && pair[1] == version);
    found.map_or(1, |index| index + 1)
}

/// Returns `true` if permissive licences alone satisfy the expression; `None` if it is malformed.
fn is_permissive(expression: &str) -> Option<bool> {
    // Before SPDX, `MIT/Apache-2.0` was how crates wrote a choice.
    let spaced = expression.replace('/', " OR ").replace('(', " ( ").replace(')', " ) ");
    let words: Vec<&str> = spaced.split_whitespace().collect();
    let mut parser = Parser { words: &words, position: 0 };
    let satisfied = parser.either(0)?;
    (parser.position == words.len()).then_some(satisfied)
}

/// Parentheses nested deeper than this are no licence.
const DEPTH_MAX: usize = 16;

/// `either = both { OR both }`, `both = one { AND one }`, `one = ( either ) | NAME [ WITH NAME ]`.
struct Parser<'a> {
    words: &'a [&'a str],
    position: usize,
}

impl Parser<'_> {
    fn take(&mut self, word: &str) -> bool {
        let found = self.words.get(self.position) == Some(&word);
        self.position += usize::from(found);
        found
    }

    fn either(&mut self, depth: usize) -> Option<bool> {
        let mut satisfied = self.both(depth)?;
        while self.take("OR") {
            satisfied |= self.both(depth)?;
        }
        Some(satisfied)
    }

    fn both(&mut self, depth: usize) -> Option<bool> {
        let mut satisfied = self.one(depth)?;
        while self.take("AND") {
            satisfied &= self.one(depth)?;
        }
        Some(satisfied)
    }

    fn one(&mut self, depth: usize) -> Option<bool> {
        if depth > DEPTH_MAX {
            return None;
        }
        if self.take("(") {
            let satisfied = self.either(depth + 1)?;
            return self.take(")").then_some(satisfied);
        }
        let mut name = self.name()?;
        if self.take("WITH") {
            name = format!("{name} WITH {}", self.name()?);
        }
        Some(PERMISSIVE.contains(&name.as_str()))
    }

    fn name(&mut self) -> Option<String> {
        let word = *self.words.get(self.position)?;
        if matches!(word, "(" | ")" | "AND" | "OR" | "WITH") {
            return None;
        }
        self.position += 1;
        Some(word.to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn expressions_are_satisfied_by_permissive_licences_alone() {
        for (expression, satisfied) in [
            ("MIT", Some(true)),
            ("MIT/Apache-2.0", Some(true)),
            ("GPL-3.0-only", Some(false)),
            ("GPL-2.0-only OR MIT", Some(true)),
            ("GPL-2.0-only AND MIT", Some(false)),
            ("(MIT OR Apache-2.0) AND Unicode-3.0", Some(true)),
            ("MIT OR Apache-2.0 AND LGPL-2.1-only", Some(true)),
            ("Apache-2.0 WITH LLVM-exception", Some(true)),
            ("GPL-2.0-only WITH Classpath-exception-2.0", Some(false)),
            ("MPL-2.0", Some(true)),
            ("", None),
            ("MIT OR", None),
            ("(MIT", None),
            ("MIT Apache-2.0", None),
        ] {
            assert_eq!(is_permissive(expression), satisfied, "{expression}");
        }
    }

    #[test]
    fn a_package_is_found_at_its_line_of_the_lock() {
        let package = |name: &str, licence: Option<&str>| Package {
            name: name.to_owned(),
            version: "1.0.0".to_owned(),
            licence: licence.map(str::to_owned),
            own: false,
        };
        let mut tree = Tree::of(&[(
            "Cargo.lock",
            "[[package]]\nname = \"a\"\nversion = \"1.0.0\"\n\n[[package]]\nname = \"b\"\nversion \
             = \"1.0.0\"\n",
        )]);
        tree.packages = vec![package("a", Some("MIT")), package("b", None)];
        let findings = check(&tree);
        assert_eq!(findings.len(), 1);
        assert_eq!(findings[0].line, 6);
        let known = [KnownLicence { package: "b", licence: "ISC", reason: "a test" }];
        assert_eq!(judge(&tree.packages[1], &known), None);
    }

    proptest! {
        #[test]
        fn reading_an_expression_never_panics(text in "[()A-Z /-]{0,40}") {
            let _ = is_permissive(&text);
        }

        #[test]
        fn a_choice_with_mit_is_always_satisfied(name in "[A-Z][A-Za-z0-9.-]{1,12}") {
            prop_assume!(!["OR", "AND", "WITH"].contains(&name.as_str()));
            let choice = format!("{name} OR MIT");
            prop_assert_eq!(is_permissive(&choice), Some(true));
        }
    }
}
