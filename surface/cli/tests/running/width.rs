//! Tests that the output of the commands for running sites fits the terminal.

use quietcore_supervisor::control::EventLine;
use quietcore_supervisor::fake;

use crate::command::said;
use crate::ground::{call, command_in, serve};

/// A long name, such as a site file may well have.
const NAME: &str = "conveyor-of-the-second-line";

/// Goal: `ps`, `top`, `events` and what `set` and `deploy` say fit 80, 100 and 120 columns, and say
/// the same in each of them.
/// Method: a site with long names and large figures; the words are compared without their places.
#[test]
fn what_the_commands_for_running_sites_say_fits_80_100_and_120_columns() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let ground = serve(at, "line");
    {
        let mut state = ground.site.state();
        state.partitions[1].name = NAME.to_owned();
        state.partitions[1].cycles = 31_536_000_000;
        state.partitions[1].overruns = 7_654_321;
        state.events = vec![EventLine {
            text: "overrun: 1.2 ms of 1 ms; the job before it took longer than its deadline, and \
                   the outputs are those of the cycle before"
                .to_owned(),
            ..fake::event(1)
        }];
        state.overwritten = vec!["servo_P.Kp".to_owned()];
    }
    for arguments in [
        &["ps"][..],
        &["top", "--once"],
        &["events"],
        &["set", "axis", "servo_P.Kp=3.5"],
        &["deploy", "axis", "."],
        &["down", "nothing-of-that-name-runs-here"],
        &["watch", "axis", "servo_P.there_is_no_variable_of_such_a_name"],
    ] {
        let mut told = Vec::new();
        for columns in [80, 100, 120] {
            let mut command = command_in(at, arguments);
            let said = said(&command.env("COLUMNS", columns.to_string()).output().unwrap());
            let both = said.out + &said.err;
            assert!(!both.is_empty(), "{arguments:?}");
            for line in both.lines() {
                assert!(line.chars().count() <= columns, "{columns} {arguments:?}: {line}");
            }
            told.push(both);
        }
        if !arguments.starts_with(&["ps"]) && !arguments.starts_with(&["top"]) {
            let words = |text: &String| -> Vec<String> {
                let words = text.split_whitespace().map(str::to_owned);
                // The cycles go on.
                words.filter(|word| !word.chars().all(|it| it.is_ascii_digit())).collect()
            };
            assert_eq!(words(&told[0]), words(&told[2]), "nothing is left out: {arguments:?}");
        }
    }
    // A program that reads it gets a line each.
    let whole = call(at, &["events"]).out;
    assert_eq!(whole.lines().count(), 1, "{whole}");
    assert!(whole.chars().count() > 120, "{whole}");
}
