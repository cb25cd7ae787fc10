//! Prints whether this machine's time is real, and the costs that show it. Exits 1 when it is not.

use std::process::ExitCode;
use std::time::Instant;

use quietcore_clock::TimeCalibration;

fn main() -> ExitCode {
    let started = Instant::now();
    let calibration = TimeCalibration::measure();
    let elapsed = started.elapsed();
    println!("{}", calibration.time);
    println!(
        "{:.0} million simple instructions a second, calibrated in {:.1} ms",
        calibration.instructions_per_second / 1e6,
        elapsed.as_secs_f64() * 1e3
    );
    for (sequence, additions) in &calibration.costs {
        let nanoseconds = additions * 1e9 / calibration.instructions_per_second;
        println!("{sequence:>9} {nanoseconds:8.2} ns {additions:8.1} additions");
    }
    ExitCode::from(u8::from(!calibration.is_native()))
}
