//! The documented command line and its answers: every page of `--help`, the list of the manual's
//! pages, the scripts of the shells, and the answers to wrong calls.
//!
//! None of these depends on the machine: these mistakes are found before the machine is read.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use crate::stored::{assert_stored, transcript};

/// Returns the pages of help, and collects the names of all commands that are found on them.
fn commands(at: &Path, path: &[String], known: &mut Vec<Vec<String>>) -> String {
    let mut words: Vec<&str> = path.iter().map(String::as_str).collect();
    words.push("--help");
    let mut help = transcript(at, &words) + "\n";
    known.push(path.to_vec());
    let list = help.split_once("\nCommands:\n").map(|(_, list)| list.to_owned());
    for line in list.unwrap_or_default().lines().take_while(|line| !line.is_empty()) {
        // A name is indented by two; what it says goes on further in.
        let Some(entry) = line.strip_prefix("  ").filter(|it| !it.starts_with(' ')) else {
            continue;
        };
        let name = entry.split_whitespace().next().unwrap();
        if name != "help" {
            let path = [path, &[name.to_owned()]].concat();
            help.push_str(&commands(at, &path, known));
        }
    }
    help
}

#[test]
fn every_page_of_help_is_the_stored_one() {
    let folder = tempfile::tempdir().unwrap();
    let mut known = Vec::new();
    let help = commands(folder.path(), &[], &mut known);
    assert_stored("refusals/stored/help.txt", &help);
    // The manual has a page for each command, and no other.
    let man = transcript(folder.path(), &["man", "--out", "man"]);
    assert_eq!(man, "$ quietcore man --out man\nstatus 0\n");
    let pages: BTreeSet<String> = super::names(&folder.path().join("man")).into_iter().collect();
    let page = |words: Vec<String>| {
        ["quietcore".to_owned()].into_iter().chain(words).collect::<Vec<_>>().join("-") + ".1"
    };
    assert_eq!(pages, known.into_iter().map(page).collect());
    let list: String = pages.into_iter().map(|page| page + "\n").collect();
    assert_stored("refusals/stored/man-pages.txt", &list);
}

#[test]
fn the_scripts_of_the_shells_are_the_stored_ones() {
    let folder = tempfile::tempdir().unwrap();
    let shells = ["bash", "elvish", "fish", "powershell", "zsh"];
    let told = shells.map(|shell| transcript(folder.path(), &["completions", shell]));
    assert_stored("refusals/stored/completions.txt", &told.join("\n"));
}

/// Goal: whoever calls wrongly is told the same, with the same status, by every version.
/// Method: run each line of the table in a folder with files that are wrong, and compare all.
#[test]
fn every_wrong_call_is_answered_as_stored() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    fs::write(at.join("bad.toml"), BAD).unwrap();
    fs::write(at.join("good.toml"), GOOD).unwrap();
    fs::write(at.join("bad.oil"), "OIL_VERSION = \"2.5\"\nCPU x { TASK a { PRIO = 1; } };\n")
        .unwrap();
    fs::write(at.join("words.txt"), "hello\nworld\n").unwrap();
    fs::create_dir(at.join("empty")).unwrap();
    fs::create_dir_all(at.join("other/records")).unwrap();
    fs::write(at.join("other/manifest.json"), "{\"schema\": \"quietcore.manifest/99\"}\n").unwrap();
    let before = super::names(at);
    let mut told = String::new();
    for call in [""].into_iter().chain(WRONG.lines()) {
        let arguments: Vec<&str> = call.split(' ').filter(|word| !word.is_empty()).collect();
        let answer = transcript(at, &arguments);
        assert!(!answer.contains("\nstatus 0\n"), "{answer}");
        assert!(!answer.contains(&at.display().to_string()), "{answer}");
        told.push_str(&answer.replace(ROOTS_SITES, ""));
        told.push('\n');
    }
    assert_stored("refusals/stored/wrong-calls.txt", &told);
    assert_eq!(super::names(at), before, "a refused call left something behind");
}

/// The hint that is added on a machine where root has run sites.
const ROOTS_SITES: &str = "; sites of root are seen by root only";

const GOOD: &str = "[site]\nname = \"x\"\n[[partition]]\nname = \"axis\"\nclass = \
                    \"process-control\"\n[partition.vcr]\ncpus = [1]\n";
const BAD: &str = "[site]\nnam = \"x\"\n[[partition]]\nname = \"axis\"\nclass = \
                   \"motion-controll\"\n[partition.vcr]\ncpus = [0, 0]\n[partition.program]\n\
                   period = \"-1 ms\"\npriority = 120\n[campaign]\nprofiles = [\"tp9\"]\n";

/// Wrong calls, one per line, by command. A call without any word precedes them.
const WRONG: &str = include_str!("wrong-calls.txt");
