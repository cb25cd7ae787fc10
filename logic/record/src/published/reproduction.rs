//! The reproduction of a paper: the commands of all its exhibits, each once.
//!
//! ```text
//! exhibits of the paper ─► commands in their order ─► each once
//!                                                          │
//!                              Course ◄── what became of each
//! ```
//!
//! Exhibits that begin with the same command share its evidence folder, so one measurement serves
//! several tables and figures.

mod course;

use super::exhibit::{Exhibit, exhibits};
use super::papers;

pub use course::{Course, Made, Outcome, Ran, SCHEMA, SystemLeftOut};

/// A command of a reproduction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// The command, as it is typed in the root of the repository.
    pub command: &'static str,
}

impl Step {
    /// Returns the words of the command after `quietcore`.
    pub fn words(&self) -> Vec<&'static str> {
        self.command.split(' ').skip(1).collect()
    }

    /// Returns the evidence folder that it makes, as it is named on its command line.
    pub fn folder(&self) -> Option<&'static str> {
        self.out().filter(|_| !self.makes_image())
    }

    /// Returns the folder of the guest's image that it makes, as it is named on its command line.
    pub fn image(&self) -> Option<&'static str> {
        self.out().filter(|_| self.makes_image())
    }

    fn out(&self) -> Option<&'static str> {
        let words = self.words();
        words.windows(2).find(|pair| pair[0] == "--out").map(|pair| pair[1])
    }

    fn makes_image(&self) -> bool {
        self.words().first() == Some(&"guest")
    }

    /// Returns the folders that it reads: evidence, or folders of several runs.
    pub fn reads(&self) -> Vec<&'static str> {
        match self.words().as_slice() {
            ["compare", rest @ ..] => {
                rest.iter().take_while(|word| !word.starts_with("--")).copied().collect()
            }
            ["report" | "show", folder, ..] => vec![folder],
            _ => Vec::new(),
        }
    }
}

/// Returns the keys of the papers, such as `queiroz2023`.
pub fn keys() -> impl Iterator<Item = &'static str> {
    papers::ALL.into_iter().map(|citation| citation.key)
}

/// Returns the tables and figures of a paper, by its key.
pub fn exhibits_of(key: &str) -> Vec<&'static Exhibit> {
    exhibits().iter().filter(|exhibit| exhibit.citation().key == key).collect()
}

/// Returns the commands of a paper, by its key: images of guests first, and each behind those whose
/// folders it reads. Empty if there is no such paper.
pub fn steps(key: &str) -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::new();
    for exhibit in exhibits_of(key) {
        for command in exhibit.commands {
            let step = Step { command };
            if !steps.contains(&step) {
                steps.push(step);
            }
        }
    }
    steps.sort_by_key(|step| !step.makes_image());
    steps
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn each_command_of_a_paper_is_a_step_once() {
        for key in keys() {
            let steps = steps(key);
            let commands: BTreeSet<&str> = steps.iter().map(|step| step.command).collect();
            assert_eq!(commands.len(), steps.len(), "{key}");
            for exhibit in exhibits_of(key) {
                let is_there = |command: &&str| commands.contains(command);
                assert!(exhibit.commands.iter().all(is_there), "{}", exhibit.id);
            }
        }
        assert!(steps("nobody1999").is_empty());
    }

    /// Goal: all steps of a paper can be run in one folder, one after the other.
    #[test]
    fn a_folder_is_made_by_one_step_before_others_read_it() {
        for key in keys() {
            let mut made = BTreeSet::new();
            for step in steps(key) {
                for folder in step.reads() {
                    let is_in = |it: &&str| it.starts_with(&format!("{folder}/"));
                    let is_made = made.contains(folder) || made.iter().any(is_in);
                    assert!(is_made, "{key}: `{}`", step.command);
                }
                let is_new = step.folder().is_none_or(|folder| made.insert(folder));
                assert!(is_new, "{key}: `{}` writes into a folder of another", step.command);
            }
        }
    }

    #[test]
    fn images_of_guests_are_made_before_anything_starts_from_one() {
        let steps = steps("queiroz2023");
        let images = steps.iter().take_while(|step| step.image().is_some()).count();
        assert_eq!(images, steps.iter().filter(|step| step.image().is_some()).count());
        assert!(images >= 2, "one without PREEMPT_RT and one with it");
    }

    #[test]
    fn folders_are_found_among_the_words() {
        let step = |command| Step { command };
        assert_eq!(step("quietcore qualify site.toml --out run").folder(), Some("run"));
        assert_eq!(step("quietcore compare a b").reads(), ["a", "b"]);
        assert_eq!(step("quietcore compare a --with t/1").reads(), ["a"]);
        assert_eq!(step("quietcore show run").reads(), ["run"]);
        assert_eq!(step("quietcore plan site.toml").reads(), [""; 0]);
        let image = step("quietcore guest build --out guest");
        assert_eq!((image.folder(), image.image()), (None, Some("guest")));
        assert_eq!(step("quietcore qualify site.toml --out run").image(), None);
    }
}
