//! Tests that compare what a person sees with stored text.

use std::sync::Arc;

use quietcore_program::place::Scalar::Number;
use quietcore_program::place::{Access, Enumeration, Scalar};
use quietcore_units::DataType::{Bool, F32, F64, U64};

use super::*;

fn row(path: &str, value: Value, kind: Scalar, access: Access) -> Row {
    Row { path: path.into(), value, kind, access, writable: true, forced: false }
}

fn sample() -> Sample {
    let mode = Enumeration {
        name: "Mode".to_owned(),
        bytes: 4,
        signed: false,
        values: vec![("RUN".to_owned(), 1)],
    };
    let mode = Scalar::Enum(Arc::new(mode));
    let named = Value::Named { value: 1, name: Some("RUN".to_owned()) };
    let forced = Row {
        forced: true,
        ..row("servo_U.enable", Value::Bool(true), Number(Bool), Access::Input)
    };
    Sample {
        cycle: 61_234,
        generation: 2,
        consistent: true,
        silent: false,
        rows: vec![
            row("servo_P.Kp", Value::Double(2.5), Number(F64), Access::Parameter),
            forced,
            row("servo_Y.torque", Value::Single(0.1), Number(F32), Access::Output),
            row("servo_Y.mode", named, mode, Access::Output),
            row("servo_DW.counter", Value::Unsigned(u64::MAX), Number(U64), Access::State),
            row("servo_DW.ratio", Value::Double(f64::NAN), Number(F64), Access::State),
        ],
    }
}

fn all(sample: &Sample) -> Vec<&Row> {
    sample.rows.iter().collect()
}

const PLAIN: Palette = Palette { bold: "", dim: "", red: "", yellow: "", green: "", reset: "" };

#[test]
fn every_form_is_as_stored() {
    let sample = sample();
    let rows = all(&sample);
    let odd = Sample { consistent: false, ..sample.clone() };
    let silent = Sample { silent: true, ..sample.clone() };
    let text = [
        table("press-line/axis", &sample, &rows),
        table("press-line/axis", &odd, &rows[..1]),
        table("press-line/axis", &silent, &rows[..1]),
        lines(&sample, &rows),
        json("press-line/axis", &sample, &rows),
    ]
    .join("\n");
    assert_eq!(text, include_str!("stored.txt"), "{text}");
}

#[test]
fn a_screen_is_drawn_over_itself_and_never_larger_than_it_is() {
    let mut screen = Screen::default();
    let mut sample = sample();
    let first = screen.draw("press-line/axis", &sample, (40, 24), &PLAIN);
    assert_eq!(first.matches('\n').count(), 8);
    assert!(!first.contains("\x1b[8F"));
    sample.rows[0].value = Value::Double(3.0);
    let marked = Palette { bold: "<b>", yellow: "<y>", reset: "</>", ..PLAIN };
    let second = screen.draw("press-line/axis", &sample, (100, 24), &marked);
    assert!(second.starts_with("\x1b[8F"), "{second:?}");
    assert!(second.contains("<b>servo_P.Kp"), "{second}");
    assert!(second.contains("<y>servo_U.enable"), "{second}");
    assert!(!second.contains("<b>servo_Y"), "{second}");
    let small = screen.draw("press-line/axis", &sample, (30, 6), &PLAIN);
    assert!(small.contains("… and 4 more"), "{small}");
    let lines: Vec<&str> = small.split('\n').collect();
    assert!(lines.len() <= 6, "{small}");
    let width = |line: &str| line.replace("\x1b[K", "").replace("\x1b[8F", "").chars().count();
    assert!(lines.iter().all(|line| width(line) < 30), "{small}");
}

#[test]
fn only_what_has_changed_is_shown() {
    let mut sample = sample();
    let mut changes = Changes::new(0.0);
    assert_eq!(changes.of(&sample).len(), 6);
    assert_eq!(changes.of(&sample).len(), 0, "what is no number stays the same");
    sample.rows[4].value = Value::Unsigned(u64::MAX - 1);
    sample.rows[1].forced = false;
    let paths: Vec<String> = changes.of(&sample).iter().map(|row| row.path.to_string()).collect();
    assert_eq!(paths, ["servo_U.enable", "servo_DW.counter"]);
    sample.generation = 3;
    assert_eq!(changes.of(&sample).len(), 6);
}

#[test]
fn a_deadband_is_counted_from_what_was_shown() {
    let mut changes = Changes::new(0.5);
    let mut sample = sample();
    changes.of(&sample);
    for (value, shown) in [(2.9, 0), (3.0, 0), (3.1, 1), (3.5, 0), (2.5, 1), (f64::INFINITY, 1)] {
        sample.rows[0].value = Value::Double(value);
        assert_eq!(changes.of(&sample).len(), shown, "{value}");
    }
}
