//! Tests of the drawing of a recording: the words in it, and that any numbers make one.

use super::*;
use proptest::prelude::*;
use quietcore_record::trace::{Deed, Meaning, Moment};

fn of(values: &[f64], begin: f64) -> Recording {
    let mut recording = Recording::new(vec!["a<b>.x".to_owned(), "none".to_owned()]);
    for (index, value) in values.iter().enumerate() {
        let seconds = begin + index as f64 / 1e3;
        let lost_before = u64::from(index == 2) * 5;
        let moment = Moment { cycle: index as u64, monotonic_ns: 0, seconds, lost_before };
        recording.push(&moment, &[*value, f64::NAN]);
    }
    recording
}

#[test]
fn panels_are_named_and_say_extremes_losses_and_trigger() {
    let drawn = recording(&of(&[1.0, -0.25, 3.0, 2.0], -0.001), "line/axis").into_string();
    for words in [
        "a&lt;b&gt;.x",
        "min -0.25, max 3",
        "no number",
        "5 samples lost before this",
        "trigger",
        "time in ms, from the trigger",
        "n = 4, cycles 0 to 3, 5 samples lost",
    ] {
        assert!(drawn.contains(words), "`{words}` in {drawn}");
    }
    roxmltree::Document::parse(&drawn).unwrap();
    let empty = recording(&of(&[], 0.0), "line/axis").into_string();
    assert!(empty.contains("nothing recorded"), "{empty}");
}

/// Goal: what is known of a variable stands beside its axis, and what was done to it is marked.
#[test]
fn units_levels_names_and_marks_are_drawn() {
    let names = ["speed", "enable", "mode"].map(str::to_owned);
    let mut recorded = Recording::new(names.to_vec());
    recorded.meanings = vec![
        Meaning::In("rad/s".to_owned()),
        Meaning::Level,
        Meaning::Names(vec![(0, "IDLE".to_owned()), (1, "RUN".to_owned())]),
    ];
    for cycle in 100..200 {
        let seconds = (cycle - 100) as f64 / 1e3;
        let moment = Moment { cycle, monotonic_ns: 0, seconds, lost_before: 0 };
        let on = f64::from(u8::from(cycle >= 150));
        recorded.push(&moment, &[seconds * 7.0, on, on]);
    }
    let deeds = [
        (1, 150, Deed::Forced, Some("true")),
        (1, 198, Deed::Released, None),
        (0, 120, Deed::Set, Some("<3>")),
        (0, 121, Deed::Set, Some("4")),
        (0, 250, Deed::Set, Some("after its end")),
    ];
    for (variable, cycle, deed, value) in deeds {
        let value = value.map(str::to_owned);
        recorded.marks.push(Mark { variable, cycle, deed, value });
    }
    let drawn = recording(&recorded, "line/axis").into_string();
    for words in [
        ">rad/s<",
        "max 0.693 rad/s",
        ">true<",
        ">false<",
        ">IDLE<",
        ">RUN<",
        ">forced true<",
        "forced true in cycle 150",
        ">released<",
        ">set &lt;3&gt;<",
        "set 4 in cycle 121",
    ] {
        assert!(drawn.contains(words), "`{words}` in {drawn}");
    }
    let before = |one: &str, other: &str| drawn.find(one) < drawn.find(other);
    assert!(before(">set &lt;3&gt;<", ">set 4<"), "one stands left, one right of them: {drawn}");
    assert!(!drawn.contains("after its end"), "{drawn}");
    assert_eq!(drawn.matches("class=\"deed\"").count(), 4);
    roxmltree::Document::parse(&drawn).unwrap();
}

#[test]
fn numbers_of_an_axis_are_short() {
    for (value, text) in [(0.0, "0"), (-0.00001, "-1.00e-5"), (2.5, "2.5"), (3e9, "3.00e9")] {
        assert_eq!(written(value), text);
    }
    for (value, text) in [(0.0, "0"), (252.17512, "252.2"), (-2.4707, "-2.471"), (1.0, "1")] {
        assert_eq!(rounded(value), text);
    }
}

proptest! {
    #[test]
    fn any_numbers_make_a_sound_drawing(
        values in proptest::collection::vec(any::<f64>(), 1..40),
        begin in -1e6_f64..1e6,
    ) {
        let drawn = recording(&of(&values, begin), "x").into_string();
        prop_assert!(roxmltree::Document::parse(&drawn).is_ok());
        prop_assert!(!drawn.contains("NaN") && !drawn.contains("inf"), "{}", drawn);
    }

    #[test]
    fn ticks_lie_on_the_axis_and_are_few(low in -1e12_f64..1e12, size in 1e-9_f64..1e12) {
        let span = Span::around(low, low + size);
        let ticks = span.ticks(5.0);
        prop_assert!(ticks.len() <= 12, "{} of {:?}", ticks.len(), span);
        let air = (span.high - span.low) * 1e-6;
        prop_assert!(ticks.iter().all(|it| *it >= span.low - air && *it <= span.high + air));
    }
}
