//! A simulation: the real keeper of a partition on simulated time, with faults by chance.
//!
//! ```text
//!           ┌─────────── a thread: the keeper ──────────┐
//! client ──►│ keeper ── waits, sleeps ──► universe: time │── files in memory
//!           └────────────────────────────────│──────────┘
//!                                            ▼ the process may run until this instant
//!           ┌─ another, only while that waits for it ─┐
//!           │ the scan cycle, with a program in Rust  │── a real exchange
//!           └─────────────────────────────────────────┘
//! ```
//!
//! There are two threads at most, and never both at once: so a seed gives the same run on every
//! machine, which the hash of everything told shows. Real are the keeper with all its verbs, its
//! event log, the format of retained values, the exchange, and the scan cycle. Simulated are the
//! clock, the process around the scan cycle, the steps of its program, the files, and the clients.
//!
//! These go wrong by chance: processes don't start, die, stand still, and come late; programs
//! crash, loop, report an error and print; builds fail soon, are refused, or are loaded too late;
//! files can't be written, are cut off, and take their time; a supervisor is killed, and a machine
//! loses its power; the time of day is set; clients go; and a more critical neighbour is late, for
//! which the running monitor sheds the partition. The promises that must hold nevertheless are in
//! `promises`.

mod chance;
mod client;
mod files;
mod forces;
mod ground;
mod neighbour;
mod process;
mod promises;
mod running;
mod tally;
#[cfg(test)]
mod tests;
mod universe;

use std::sync::Arc;

use chance::Chance;
pub use ground::{Ground, GroundError};
pub use tally::Tally;
use universe::Universe;

/// Limit of the lives of the supervisor in a run, one after the other on the same files.
const LIVES_MAX: u64 = 4;

/// The outcome of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// Faults and figures of the run.
    pub tally: Tally,
    /// Hash of everything that was reported and answered; the same for the same seed and code.
    pub trace: u64,
    /// Promises that were broken, each with its instant; the run ends with the first.
    pub broken: Vec<String>,
    /// The last lines that were reported and answered, to find the reason.
    pub last: Vec<String>,
}

/// Runs the simulation of one seed.
pub fn run(seed: u64, ground: &Arc<Ground>) -> Outcome {
    let mut chance = Chance::new(seed);
    let lives = 1 + chance.below(LIVES_MAX);
    let universe = Arc::new(Universe::new(chance, Arc::clone(ground)));
    for life in 0..lives {
        universe.begin_life(life + 1 == lives);
        running::live(&universe);
        if universe.is_broken() {
            break;
        }
    }
    universe.outcome()
}
