//! `cargo xtask lies`: how many of a hundred kinds of edits of an evidence folder are found.
//!
//! ```text
//!                    signed     unsigned
//! edit alone           all        all        the sums name it
//! with new sums        all        most       what else says so, names it
//! with new pages, too  all        most       the same
//! ```
//!
//! A forger who leaves the sums alone is found by them. One who makes them anew, and the pages, is
//! found where the folder contradicts itself. Which edits are not is printed by name: a signature
//! alone finds those. Found on a signed folder means that `quietcore verify` says that it is not
//! genuine.
//!
//! Every edit of the signed folder must be found, and every edit of the unsigned one but those that
//! are known to be beyond it.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod edit;
mod files;
mod folder;
mod manifest;
mod record;
#[path = "../../../realise/evidence/tests/sample/mod.rs"]
mod sample;

use std::num::NonZero;
use std::sync::Mutex;

use edit::{Lie, Reach};
use folder::{Bench, Forger};

/// The outcome of one kind of edit.
struct Outcome {
    lie: Lie,
    /// By whether the folder was signed, then by how much the forger made anew.
    found: [[bool; 3]; 2],
}

fn all() -> Vec<Lie> {
    let mut lies = manifest::lies();
    lies.extend(record::lies());
    lies.extend(files::lies());
    lies
}

fn outcomes() -> Vec<Outcome> {
    let bench = Bench::new();
    let look = |lie: Lie| {
        let found = [true, false]
            .map(|signed| Forger::ALL.map(|forger| bench.is_found(&lie, signed, forger)));
        Outcome { lie, found }
    };
    let lies = Mutex::new(all().into_iter().enumerate());
    let work = || {
        let next = || lies.lock().unwrap().next();
        std::iter::from_fn(next).map(|(number, lie)| (number, look(lie))).collect::<Vec<_>>()
    };
    let workers = std::thread::available_parallelism().map_or(1, NonZero::get);
    let mut outcomes: Vec<(usize, Outcome)> = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..workers).map(|_| scope.spawn(work)).collect();
        workers.into_iter().flat_map(|worker| worker.join().unwrap()).collect()
    });
    outcomes.sort_by_key(|(number, _)| *number);
    outcomes.into_iter().map(|(_, outcome)| outcome).collect()
}

/// The edits that should have been found and were not, in words.
fn missed(outcomes: &[Outcome]) -> Vec<String> {
    let mut missed = Vec::new();
    for Outcome { lie, found: [signed, unsigned] } in outcomes {
        for (forger, found) in Forger::ALL.into_iter().zip(signed) {
            if !found {
                missed.push(format!("signed, {}: {}", forger.words(), lie.name));
            }
        }
        for (forger, found) in Forger::ALL.into_iter().zip(unsigned) {
            let is_beyond = forger != Forger::Careless && lie.reach == Reach::SignatureOnly;
            if !found && !is_beyond {
                missed.push(format!("unsigned, {}: {}", forger.words(), lie.name));
            }
            if *found && is_beyond && forger == Forger::Thorough {
                missed.push(format!("found after all, say so: {}", lie.name));
            }
        }
    }
    missed
}

/// Writes how many were found of each, and which were not.
fn table(outcomes: &[Outcome]) -> String {
    let of = outcomes.len();
    let count = |signed: usize, forger: usize| {
        let found = outcomes.iter().filter(|outcome| outcome.found[signed][forger]).count();
        format!("{found} of {of}")
    };
    let mut text = format!("{:32}  {:>12}  {:>12}\n", "kinds of edits found", "signed", "unsigned");
    for (index, forger) in Forger::ALL.into_iter().enumerate() {
        let (signed, unsigned) = (count(0, index), count(1, index));
        text.push_str(&format!("{:32}  {signed:>12}  {unsigned:>12}\n", forger.words()));
    }
    text.push_str("\nnot found in an unsigned folder whose sums and pages were made anew:\n");
    for outcome in outcomes.iter().filter(|outcome| !outcome.found[1][2]) {
        text.push_str(&format!("  {}\n", outcome.lie.name));
    }
    text
}

#[test]
fn every_lie_in_a_signed_folder_is_found_and_what_else_is_known() {
    let outcomes = outcomes();
    println!("{}", table(&outcomes));
    assert!(outcomes.len() >= 100, "{}", outcomes.len());
    assert_eq!(missed(&outcomes), Vec::<String>::new());
}

#[test]
fn each_kind_has_a_name_of_its_own() {
    let names: std::collections::BTreeSet<_> = all().iter().map(|lie| lie.name).collect();
    assert_eq!(names.len(), all().len());
}
