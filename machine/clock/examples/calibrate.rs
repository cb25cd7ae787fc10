//! Prints whether this machine's time is real, and the costs that show it. Exits 1 when it is not.

use std::process::ExitCode;
use std::time::Instant;

use quietcore_clock::TimeCalibration;

fn main() -> ExitCode {
    let started = Instant::now();
    let calibration = TimeCalibration::measure();
    let elapsed = started.elapsed();
    println!("{}", calibration.verdict);
    println!(
        "{:.0} million simple instructions a second, calibrated in {:.1} ms",
        calibration.instructions_per_second / 1e6,
        elapsed.as_secs_f64() * 1e3
    );
    for cost in &calibration.costs {
        println!(
            "{:>9} {:8.2} ns {:8.1} additions",
            cost.sequence.name(),
            cost.nanoseconds,
            cost.additions
        );
    }
    ExitCode::from(u8::from(!calibration.is_native()))
}
