//! Tests of the text in the plot of a recording, beside its numbers.

use std::fs;
use std::process::Stdio;
use std::thread;
use std::time::{Duration, Instant};

use crate::ground::{command_in, done, serve_standing};

/// The longest wait, long enough for the busiest machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// Goal: a plot names truth values and the values of an enumeration, and marks what was set and
/// forced while it was recorded.
/// Method: a program whose cycles are stepped by hand, so that each change has its cycle.
#[test]
fn a_plot_has_levels_names_and_marks() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let ground = serve_standing(at, "line");
    let arguments = [
        "trace",
        "axis",
        "servo_P.Ki",
        "servo_U.enable",
        "servo_Y.mode",
        "--samples",
        "200",
        "--plot",
        "run.svg",
    ];
    let child = command_in(at, &arguments).stdout(Stdio::piped()).spawn().unwrap();
    let end = Instant::now() + PATIENCE;
    while !ground.site.state().asked.iter().any(|asked| asked.starts_with("trace-start axis")) {
        assert!(Instant::now() < end, "nothing is recorded");
        thread::sleep(Duration::from_millis(5));
    }
    let step = |cycles| ground.site.state().program.as_ref().unwrap().step(cycles);
    // The program sees in a cycle what is to be recorded.
    step(100);
    ground.site.state().cycle = 60;
    done(at, &["set", "axis", "servo_P.Ki=2.5"]);
    ground.site.state().cycle = 90;
    done(at, &["force", "axis", "servo_U.enable=false"]);
    step(110);
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    let plot = fs::read_to_string(at.join("run.svg")).unwrap();
    for words in [
        ">false<",
        ">true<",
        ">IDLE<",
        ">RUN<",
        ">set 2.5<",
        "set 2.5 in cycle 61",
        ">forced false<",
        "forced false in cycle 91",
    ] {
        assert!(plot.contains(words), "`{words}`: {plot}");
    }
}
