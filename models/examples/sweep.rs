//! Prints the figures of all loops over their lateness, for those who tune them.

use quietcore_models::closed_loop::Outcome;
use quietcore_models::timing::Timing;
use quietcore_models::{servo, tank, turbine};
use quietcore_units::Nanos;

fn main() {
    sweep("servo cst", 250, 24, |timing| servo::scenario(servo::Mode::Torque, timing));
    sweep("servo csv", 500, 12, |timing| servo::scenario(servo::Mode::Velocity, timing));
    sweep("turbine", 5_000, 80, turbine::scenario);
    sweep("tank", 50_000, 28, tank::scenario);
}

fn sweep(name: &str, step_us: u64, count: u64, scenario: impl Fn(Timing) -> Outcome) {
    if std::env::args().skip(1).any(|wanted| wanted != name) {
        return;
    }
    let kinds: [(&str, fn(Nanos) -> Timing); 3] = [
        ("dead time", Timing::dead_time),
        ("jitter", Timing::jitter),
        ("latency", Timing::latency),
    ];
    for (word, kind) in kinds {
        println!("{name}, {word}");
        for index in 0..count {
            let late = Nanos::from_micros(step_us * index);
            let outcome = scenario(kind(late));
            print!("  {late:>8}");
            for figure in &outcome.figures {
                print!("  {:9.1}", figure.value);
            }
            println!("  stable {} within {}", outcome.is_stable, outcome.is_within());
            if !outcome.is_stable {
                break;
            }
        }
    }
}
