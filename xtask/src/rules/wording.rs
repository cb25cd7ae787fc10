//! Words, folders and remarks that no tracked text contains.
//!
//! | rule | says |
//! |---|---|
//! | `words` | EtherCAT's roles have their current names |
//! | `paths` | no folder of the machine on which something was written |
//! | `remarks` | a `TODO` carries an issue number; a `FIXME` never reaches the main branch |
//!
//! Causes of errors are told once: [`errors`]. Doc comments begin with their subject: [`docs`].

pub(crate) mod docs;
pub(crate) mod errors;

use crate::finding::Finding;
use crate::source::Source;
use crate::tree::{TrackedFile, Tree};

/// The word not used, and the one used instead.
const WORDS: [(&str, &str); 4] = [
    ("master", "MainDevice"),
    ("masters", "MainDevices"),
    ("slave", "SubDevice"),
    ("slaves", "SubDevices"),
];

/// Folders that exist on one machine only.
const MACHINE_FOLDERS: [&str; 3] = ["/home", "/root", "/work"];

/// Texts that are not ours to word.
const FOREIGN: [&str; 3] = ["Cargo.lock", "LICENSE-APACHE", "LICENSE-MIT"];

/// Finds words, paths and remarks that must not stay.
pub(crate) fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = errors::check(tree);
    findings.extend(docs::check(tree));
    let own = tree.files.iter().filter(|file| !FOREIGN.contains(&file.path.as_str()));
    for file in own {
        findings.extend(check_words(file));
        findings.extend(check_paths(file));
        if has_hash_comments(file) {
            let lines = file.text.lines().enumerate();
            let comments =
                lines.filter_map(|(index, line)| Some((index + 1, line.split_once('#')?.1)));
            findings.extend(comments.filter_map(|(line, text)| remark(&file.path, line, text)));
        }
    }
    findings.extend(tree.sources.iter().flat_map(check_remarks));
    findings
}

fn check_words(file: &TrackedFile) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (index, line) in file.text.lines().enumerate() {
        // An alias leads those who search for the older word to the current one.
        if line.contains("doc(alias") {
            continue;
        }
        for word in words_of(line) {
            if let Some((_, instead)) = WORDS.iter().find(|(old, _)| *old == word) {
                findings.push(Finding::new(
                    "words",
                    &file.path,
                    index + 1,
                    format!("`{word}` is not used"),
                    format!("say {instead}, or what is meant"),
                ));
            }
        }
    }
    findings
}

/// The words of a line in lower case; `camelCase` and `snake_case` names count as several.
fn words_of(line: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut previous_is_lower = false;
    for character in line.chars() {
        let starts_word = character.is_uppercase() && previous_is_lower;
        if starts_word || !character.is_alphabetic() {
            words.push(String::new());
        }
        if character.is_alphabetic() {
            let word = words.last_mut().expect("the list starts with one word");
            word.extend(character.to_lowercase());
        }
        previous_is_lower = character.is_lowercase();
    }
    words.retain(|word| !word.is_empty());
    words
}

fn check_paths(file: &TrackedFile) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (index, line) in file.text.lines().enumerate() {
        if let Some(folder) = machine_folder(line) {
            findings.push(Finding::new(
                "paths",
                &file.path,
                index + 1,
                format!("`{folder}` is a folder of one machine"),
                "write the path below the repository, or take it from the environment",
            ));
        }
    }
    findings
}

/// The folder of one machine that the line names; `a/home/b` and `/homeland` are none.
fn machine_folder(line: &str) -> Option<&'static str> {
    let continues = |character: char| character.is_alphanumeric() || "_-.~$}*".contains(character);
    MACHINE_FOLDERS.into_iter().find(|folder| {
        line.match_indices(folder).any(|(at, _)| {
            let before = line[..at].chars().next_back();
            let after = line[at + folder.len()..].chars().next();
            !before.is_some_and(|it| continues(it) || it == '/')
                && !after.is_some_and(|it| it.is_alphanumeric() || "_-".contains(it))
        })
    })
}

fn has_hash_comments(file: &TrackedFile) -> bool {
    file.path.ends_with(".toml") || file.path.ends_with(".py") || file.text.starts_with("#!/")
}

fn check_remarks(source: &Source) -> Vec<Finding> {
    let comments = source.comments.iter();
    comments.filter_map(|comment| remark(&source.path, comment.line, &comment.text)).collect()
}

fn remark(path: &str, line: usize, comment: &str) -> Option<Finding> {
    let mut words = comment.split(|character: char| !character.is_alphanumeric());
    if words.clone().any(|word| word == "FIXME") && !comment.contains("`FIXME`") {
        let remedy = "mend it before it reaches the main branch";
        return Some(Finding::new("remarks", path, line, "a FIXME stands here", remedy));
    }
    let has_todo = words.any(|word| word == "TODO") && !comment.contains("`TODO`");
    (has_todo && !carries_issue(comment)).then(|| {
        let what = "a TODO carries no issue number";
        Finding::new("remarks", path, line, what, "write `TODO(#12): what is to do`")
    })
}

/// Returns `true` if every `TODO` of the comment is followed by `(#` and a number.
fn carries_issue(comment: &str) -> bool {
    comment.split("TODO").skip(1).all(|rest| {
        let number = rest.strip_prefix("(#").and_then(|rest| rest.split_once(')'));
        number.is_some_and(|(number, _)| number.parse::<u32>().is_ok())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules(path: &str, text: &str) -> Vec<(&'static str, usize)> {
        let findings = check(&Tree::of(&[(path, text)]));
        findings.iter().map(|finding| (finding.rule, finding.line)).collect()
    }

    #[test]
    fn older_words_are_found_in_texts_and_names() {
        let text = "//! Counts the devices of a line.\nfn slave_count() {}\nstruct EcMaster;\n\
                    // Slaves answer.\n";
        assert_eq!(rules("a/src/b.rs", text), [("words", 2), ("words", 3), ("words", 4)]);
        assert_eq!(rules("a.md", "The grandmaster clock is mastered; enslaved.\n"), []);
    }

    #[test]
    fn an_older_word_may_be_a_search_alias() {
        assert_eq!(rules("a/src/b.rs", "#[doc(alias = \"slave\")]\nstruct SubDevice;\n"), []);
    }

    #[test]
    fn folders_of_one_machine_are_found() {
        for text in ["see /home/anna/x", "`/root`", "a=/work b", "\"/work\""] {
            assert_eq!(rules("a.md", text), [("paths", 1)], "{text}");
        }
        for text in ["src/home/x", "/homepage", "https://a.org/work/", "$x/root", "/sys/root"] {
            assert_eq!(rules("a.md", text), [], "{text}");
        }
    }

    #[test]
    fn remarks_carry_their_issue() {
        let text = "// TODO(#12): later\n// TODO: when?\nfn a() { b(\"TODO\") } // FIXME\n";
        assert_eq!(rules("a/src/b.rs", text), [("remarks", 2), ("remarks", 3)]);
        assert_eq!(rules("a.toml", "a = 1 # TODO later\n"), [("remarks", 1)]);
        assert_eq!(rules("a.toml", "a = \"TODO later\"\n"), []);
        assert_eq!(rules("a/src/b.rs", "/// A `TODO` carries an issue number.\nfn a() {}\n"), []);
    }
}
