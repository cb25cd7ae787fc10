//! Prints the figures of all loops over their lateness, for those who tune them.
//!
//! Arguments name the loops; without any, all are run.

use quietcore_models::margin::{Lateness, Subject, subjects};
use quietcore_units::Nanos;

const STEPS: u64 = 40;

fn main() {
    let wanted: Vec<String> = std::env::args().skip(1).collect();
    for subject in subjects() {
        if wanted.is_empty() || wanted.iter().any(|name| name == subject.name) {
            Lateness::ALL.iter().for_each(|lateness| print_sweep(&subject, *lateness));
        }
    }
}

fn print_sweep(subject: &Subject, lateness: Lateness) {
    println!("{}, {}, allowed {}", subject.name, lateness.name(), subject.allowance.of(lateness));
    for index in 0..STEPS {
        let amount = Nanos::new(subject.step.get() * index);
        let outcome = (subject.scenario)(lateness.of(amount));
        print!("{amount:>10}");
        for figure in &outcome.figures {
            let mark = if figure.value <= figure.limit { ' ' } else { '!' };
            print!("  {} {:.2}{mark}", figure.name, figure.value);
        }
        println!("  {}", if outcome.is_stable { "stable" } else { "UNSTABLE" });
        if !outcome.is_stable {
            break;
        }
    }
}
