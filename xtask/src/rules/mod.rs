//! The rules, one module a subject. Each is a function of the tree, so that it is tested on trees
//! of a few lines.

pub(crate) mod calls;
pub(crate) mod documents;
pub(crate) mod files;
pub(crate) mod floors;
pub(crate) mod licences;
pub(crate) mod manifests;
pub(crate) mod purity;
pub(crate) mod shape;
pub(crate) mod specification;
pub(crate) mod unsafety;
pub(crate) mod wording;

use crate::exemptions::{ABSOLUTE, WAIVERS, Waiver};
use crate::finding::Finding;
use crate::tree::Tree;

/// All rules, in the order of their names.
const CHECKS: [fn(&Tree) -> Vec<Finding>; 11] = [
    floors::check,
    manifests::check,
    files::check,
    shape::check,
    calls::check,
    unsafety::check,
    purity::check,
    wording::check,
    documents::check,
    specification::check,
    licences::check,
];

/// Everything that departs from the rules and is not waived, sorted by place.
pub(crate) fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = tree.unparsed.clone();
    findings.extend(CHECKS.iter().flat_map(|check| check(tree)));
    let mut findings = apply(WAIVERS, findings);
    findings.sort();
    findings.dedup();
    findings
}

/// Takes away what is waived, and adds a finding for each waiver that nothing needs.
fn apply(waivers: &[Waiver], findings: Vec<Finding>) -> Vec<Finding> {
    let mut needed = vec![false; waivers.len()];
    let mut rest = Vec::new();
    for finding in findings {
        let waived = waivers.iter().position(|waiver| covers(waiver, &finding));
        match waived {
            Some(index) => needed[index] = true,
            None => rest.push(finding),
        }
    }
    let idle = waivers.iter().zip(needed).filter(|(_, needed)| !needed);
    rest.extend(idle.map(|(waiver, _)| {
        Finding::new(
            "waivers",
            "xtask/src/exemptions.rs",
            1,
            format!("`{}` needs no waiver of `{}`", waiver.path, waiver.rule),
            "take it off the list",
        )
    }));
    rest
}

fn covers(waiver: &Waiver, finding: &Finding) -> bool {
    let in_folder = waiver.path.ends_with('/') && finding.path.starts_with(waiver.path);
    waiver.rule == finding.rule
        && !ABSOLUTE.contains(&finding.rule)
        && (in_folder || finding.path == waiver.path)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn finding(rule: &'static str, path: &str) -> Finding {
        Finding::new(rule, path, 1, "a", "b")
    }

    fn waiver(rule: &'static str, path: &'static str) -> Waiver {
        Waiver { rule, path, reason: "a test" }
    }

    #[test]
    fn a_waiver_covers_its_rule_and_place_only() {
        let findings = vec![
            finding("width", "a/tables.rs"),
            finding("length", "a/tables.rs"),
            finding("width", "a/tables.rs.bak"),
        ];
        let rest = apply(&[waiver("width", "a/tables.rs")], findings.clone());
        assert_eq!(rest, findings[1..]);
        let rest = apply(&[waiver("width", "a/")], findings.clone());
        assert_eq!(rest, findings[1..2]);
    }

    #[test]
    fn a_waiver_that_nothing_needs_is_found() {
        let rest = apply(&[waiver("width", "a.rs")], Vec::new());
        assert!(rest[0].what.contains("`a.rs` needs no waiver of `width`"));
    }

    #[test]
    fn an_absolute_rule_cannot_be_waived() {
        let findings = vec![finding("length-limit", "a.rs")];
        let rest = apply(&[waiver("length-limit", "a.rs")], findings.clone());
        assert_eq!(rest[0], findings[0]);
    }
}
