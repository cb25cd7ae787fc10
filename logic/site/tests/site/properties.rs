//! Whatever is written: reading never panics, every problem has a place in the file and fits a
//! line, and what is accepted can be planned or is refused with a reason.

use proptest::prelude::*;
use quietcore_record::class::catalogue;
use quietcore_site::{Problems, plan, read};

use crate::support::{machine, repository_file};

fn press_line() -> String {
    std::fs::read_to_string(repository_file("examples/press-line.toml")).unwrap()
}

fn check(bytes: &[u8]) -> Result<(), TestCaseError> {
    match read("f", bytes, &catalogue()) {
        Ok(site) => {
            let _ = site.remarks();
            if let Err(refusals) = plan(&site, &machine(4)) {
                prop_assert!(!refusals.is_empty());
            }
        }
        Err(problems) => check_problems(&problems, bytes)?,
    }
    Ok(())
}

fn check_problems(problems: &Problems, bytes: &[u8]) -> Result<(), TestCaseError> {
    let lines = 1 + bytes.iter().filter(|byte| **byte == b'\n').count();
    for problem in problems {
        prop_assert!((1..=lines).contains(&(problem.place.position.line as usize)), "{}", problem);
        prop_assert!(problem.place.position.column >= 1);
        prop_assert!(!problem.problem.is_empty() && !problem.remedy.is_empty());
        prop_assert!(!problem.to_string().contains('\n'), "{}", problem);
    }
    Ok(())
}

/// Pieces that site files are made of, for files that are nearly right.
fn piece() -> impl Strategy<Value = String> {
    let keys = "(name|class|cpus|period|deadline|like|from|to|profiles|cycles|kind|size|initial|\
                model|watchdog|on_fault|substitute|retain|rate|trigger|gap|priority|offset|device|\
                plant|connect|variable|entry|scale|at|subdevice|interface|partition|cycle)";
    let values = prop_oneof![
        Just("\"axis\"".to_owned()),
        Just("\"motion-control\"".to_owned()),
        Just("\"1 ms\"".to_owned()),
        Just("[1, 2]".to_owned()),
        Just("[\"tp1\"]".to_owned()),
        Just("{ ways = 4 }".to_owned()),
        Just("{ input_1 = \"level\" }".to_owned()),
        Just("{ \"a.b\" = 1 }".to_owned()),
        Just("\"substitute\"".to_owned()),
        Just("\"event\"".to_owned()),
        Just("\"servo-drive\"".to_owned()),
        Just("\"digital-input-8\"".to_owned()),
        Just("\"tank\"".to_owned()),
        Just("\"sim\"".to_owned()),
        Just("\"axis.input_1\"".to_owned()),
        Just("true".to_owned()),
        any::<i64>().prop_map(|number| number.to_string()),
        any::<f64>().prop_map(|number| format!("{number:?}")),
        "\"[a-z0-9 ]{0,8}\"",
    ];
    let headers = prop_oneof![
        Just("[site]"),
        Just("[host]"),
        Just("[[partition]]"),
        Just("[partition.vcr]"),
        Just("[partition.program]"),
        Just("[[channel]]"),
        Just("[[partition.program.task]]"),
        Just("[partition.program.restart]"),
        Just("[fieldbus.x]"),
        Just("[[fieldbus.x.subdevice]]"),
        Just("[[fieldbus.x.map]]"),
        Just("[[fieldbus.x.fault]]"),
        Just("[[class]]"),
        Just("[[profile]]"),
        Just("[[profile.load]]"),
        Just("[campaign]"),
    ];
    prop_oneof![
        3 => (keys, values).prop_map(|(key, value)| format!("{key} = {value}")),
        1 => headers.prop_map(str::to_owned),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn any_bytes_are_read_or_refused(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        check(&bytes)?;
    }

    #[test]
    fn any_text_is_read_or_refused(text in "\\PC{0,200}") {
        check(text.as_bytes())?;
    }

    #[test]
    fn files_of_known_pieces_are_read_or_refused(
        pieces in proptest::collection::vec(piece(), 0..30),
    ) {
        check(pieces.join("\n").as_bytes())?;
    }

    #[test]
    fn a_good_file_with_some_bytes_changed_is_read_or_refused(
        changes in proptest::collection::vec((0_usize..8_000, any::<u8>()), 1..6),
    ) {
        let mut bytes = press_line().into_bytes();
        for (at, byte) in changes {
            let at = at % bytes.len();
            bytes[at] = byte;
        }
        check(&bytes)?;
    }

    #[test]
    fn a_good_file_with_a_value_changed_is_read_or_refused(
        line in 0_usize..240,
        value in "[a-z0-9\"\\[\\]{} ,.-]{0,12}",
    ) {
        let text = press_line();
        let lines: Vec<_> = text
            .lines()
            .enumerate()
            .map(|(index, old)| match old.split_once('=') {
                Some((key, _)) if index == line => format!("{key}= {value}"),
                _ => old.to_owned(),
            })
            .collect();
        check(lines.join("\n").as_bytes())?;
    }

    #[test]
    fn a_good_file_with_lines_taken_out_is_read_or_refused(
        from in 0_usize..240,
        count in 1_usize..30,
    ) {
        let text = press_line();
        let left = text.lines().enumerate().filter(|(index, _)| {
            !(from..from + count).contains(index)
        });
        let left: Vec<_> = left.map(|(_, line)| line).collect();
        check(left.join("\n").as_bytes())?;
    }
}
