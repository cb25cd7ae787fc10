//! Conditions as written, and windows against a naive model that has all samples before it.

use proptest::prelude::*;

use super::*;

fn trigger(text: &str) -> Trigger {
    text.parse().unwrap()
}

#[test]
fn conditions_are_read_as_they_are_meant() {
    let above = |moment| Trigger {
        variable: "servo_Y.torque".to_owned(),
        moment,
        limit: Some((Comparison::Above, "0.5".to_owned())),
    };
    for text in ["servo_Y.torque > 0.5", "servo_Y.torque>0.5", "  servo_Y.torque  >  0.5 "] {
        assert_eq!(trigger(text), above(Moment::Level), "{text}");
    }
    assert_eq!(trigger("rising servo_Y.torque > 0.5"), above(Moment::Rising));
    assert_eq!(trigger("falling servo_Y.torque>0.5"), above(Moment::Falling));
    let bare = Trigger { variable: "rising".to_owned(), moment: Moment::Level, limit: None };
    assert_eq!(trigger("rising"), bare, "a variable may have this name");
    assert_eq!(trigger("DW.mode[2] == RUN").limit, Some((Comparison::Equal, "RUN".to_owned())));
    assert_eq!(trigger("x <= -1e-3").limit, Some((Comparison::AtMost, "-1e-3".to_owned())));
}

#[test]
fn what_is_no_condition_is_refused_with_an_example() {
    for (text, problem) in [
        ("", "names no variable"),
        ("> 5", "names no variable"),
        ("rising > 5", "names no variable"),
        ("x >", "nothing to compare with"),
        ("x = 5", "none of >"),
        ("x ! 5", "none of >"),
        ("x 5", "between variable and value"),
        ("rising edge x", "between variable and value"),
    ] {
        let error = text.parse::<Trigger>().unwrap_err().to_string();
        assert!(error.contains(problem) && error.contains("rising servo_U.enable"), "{error}");
    }
}

fn seen(text: &str, limit: f64, values: &[f64]) -> Vec<usize> {
    let mut detector = Detector::new(&trigger(text), limit);
    let hits = values.iter().enumerate().filter(|(_, value)| detector.sees(**value));
    hits.map(|(index, _)| index).collect()
}

#[test]
fn levels_hold_and_edges_happen() {
    let values = [1.0, 0.0, 1.0, 1.0, 0.0];
    assert_eq!(seen("x", 0.0, &values), [0, 2, 3]);
    assert_eq!(seen("rising x", 0.0, &values), [2]);
    assert_eq!(seen("falling x", 0.0, &values), [1, 4]);
    assert_eq!(seen("rising x >= 2", 2.0, &[2.0, 1.9, 2.0]), [2]);
    assert_eq!(seen("x == 2", 2.0, &[1.0, 2.0]), [1]);
}

#[test]
fn a_change_is_an_edge_in_either_direction_or_another_value() {
    assert_eq!(seen("changing x > 1", 1.0, &[0.0, 2.0, 3.0, 1.0]), [1, 3]);
    assert_eq!(seen("changing x", 0.0, &[1.0, 1.0, 2.0, 2.0, f64::NAN, 2.0]), [2]);
    assert_eq!(trigger("changing x > 1").to_string(), "changing x > 1");
}

#[test]
fn what_is_no_number_begins_nothing() {
    let values = [f64::NAN; 3];
    for text in ["x", "x > 0", "x < 0", "x == 0", "x != 0", "rising x", "falling x", "changing x"] {
        assert_eq!(seen(text, 0.0, &values), [0_usize; 0], "{text}");
        assert_eq!(seen(text, f64::NAN, &[f64::NAN, f64::NAN]), [0_usize; 0], "{text}");
    }
}

/// Cuts the window as somebody would who has all samples on the table.
fn naive(triggered: &[bool], pre: usize, total: usize) -> Vec<usize> {
    let Some(first) = triggered.iter().position(|hit| *hit) else { return Vec::new() };
    if total == 0 {
        return Vec::new();
    }
    let begin = first - first.min(pre).min(total - 1);
    (begin..triggered.len()).take(total).collect()
}

fn windowed(triggered: &[bool], pre: usize, total: usize) -> (Vec<usize>, Window<usize>) {
    let mut window = Window::new(pre, total as u64);
    let mut kept = Vec::new();
    for (index, hit) in triggered.iter().enumerate() {
        kept.extend(window.take(index, *hit));
    }
    (kept, window)
}

#[test]
fn a_window_without_its_trigger_keeps_nothing() {
    let (kept, window) = windowed(&[false; 10], 3, 5);
    assert_eq!((kept.len(), window.stage(), window.held()), (0, Stage::Waiting, 3));
}

/// Goal: a pre-trigger as large as memory costs nothing before samples come.
#[test]
fn room_is_taken_as_samples_come() {
    let mut window = Window::new(usize::MAX, u64::MAX);
    assert_eq!(window.take(1, false).count(), 0);
    assert_eq!(window.take(2, true).collect::<Vec<_>>(), [1, 2]);
}

proptest! {
    #[test]
    fn windows_agree_with_the_naive_cut(
        triggered in proptest::collection::vec(proptest::bool::weighted(0.1), 0..60),
        pre in 0_usize..70,
        total in 0_usize..70,
    ) {
        let expected = naive(&triggered, pre, total);
        let (kept, window) = windowed(&triggered, pre, total);
        prop_assert_eq!(&kept, &expected);
        prop_assert!(window.held() <= pre);
        prop_assert_eq!(window.stage() == Stage::Full, expected.len() == total);
    }

    #[test]
    fn edges_agree_with_pairs_of_neighbours(
        values in proptest::collection::vec(-2_i8..3, 0..40),
        limit in -2_i8..3,
    ) {
        let values: Vec<f64> = values.into_iter().map(f64::from).collect();
        let limit_text = limit.to_string();
        let limit = f64::from(limit);
        type Holds = fn(f64, f64) -> bool;
        let comparisons: [(&str, Holds); 6] = [
            (">", |a, b| a > b), (">=", |a, b| a >= b), ("<", |a, b| a < b),
            ("<=", |a, b| a <= b), ("==", |a, b| a == b), ("!=", |a, b| a != b),
        ];
        for (sign, holds) in comparisons {
            let truth: Vec<bool> = values.iter().map(|value| holds(*value, limit)).collect();
            let edge = |from: bool| -> Vec<usize> {
                let is_edge = |index: &usize| truth[index - 1] == from && truth[*index] != from;
                (1..truth.len()).filter(is_edge).collect()
            };
            let level: Vec<usize> = (0..truth.len()).filter(|index| truth[*index]).collect();
            let condition = format!("x {sign} {limit_text}");
            let seen = |moment: &str| seen(&format!("{moment}{condition}"), limit, &values);
            prop_assert_eq!(seen(""), level);
            prop_assert_eq!(seen("rising "), edge(false));
            prop_assert_eq!(seen("falling "), edge(true));
        }
    }

    #[test]
    fn a_condition_is_read_as_it_is_printed(
        name in "[A-Za-z_][A-Za-z0-9_.\\[\\]]{0,12}",
        moment in 0_usize..3,
        sign in 0_usize..7,
        value in "-?[0-9]{1,4}(\\.[0-9]{1,3})?",
    ) {
        prop_assume!(name != "rising" && name != "falling");
        let moment = [Moment::Level, Moment::Rising, Moment::Falling][moment];
        let limit = SIGNS.get(sign).map(|(_, comparison)| (*comparison, value));
        let written = Trigger { variable: name, moment, limit };
        prop_assert_eq!(trigger(&written.to_string()), written);
    }

    #[test]
    fn any_text_is_a_condition_or_a_refusal(text in "\\PC{0,30}") {
        if let Ok(read) = text.parse::<Trigger>() {
            prop_assert_eq!(trigger(&read.to_string()), read);
        }
    }
}
