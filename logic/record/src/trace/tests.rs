//! Tables that come back as they were, tables that are none, and courses that lose no extreme.

use proptest::prelude::*;

use super::*;

fn moment(cycle: u64) -> Moment {
    Moment { cycle, monotonic_ns: cycle * 1_000_000, seconds: cycle as f64 / 1e3, lost_before: 0 }
}

fn names(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

#[test]
fn a_table_is_written_as_documented() {
    let variables = names(&["servo_Y.torque", "servo_DW.filter[2]", "mode, of the \"axis\""]);
    let mut table = TableWriter::new(Vec::new(), &variables).unwrap();
    let before = Moment { seconds: -0.001, lost_before: 3, ..moment(41) };
    table.row(&before, &[Number::Double(0.1), Number::Single(0.1), Number::Bool(true)]).unwrap();
    let all = [Number::Double(f64::NAN), Number::Signed(-7), Number::Unsigned(u64::MAX)];
    table.row(&moment(42), &all).unwrap();
    assert!(table.row(&moment(43), &all[..2]).is_err());
    let written = String::from_utf8(table.finish().unwrap()).unwrap();
    assert_eq!(
        written,
        "cycle,monotonic_ns,seconds,lost_before,servo_Y.torque,servo_DW.filter[2],\"mode, of the \
         \"\"axis\"\"\"\r\n41,41000000,-0.001000000,3,0.1,0.1,1\r\n\
         42,42000000,0.042000000,0,NaN,-7,18446744073709551615\r\n"
    );
    let recording = read(written.as_bytes()).unwrap();
    assert_eq!(recording.variables, variables);
    assert_eq!((recording.samples, recording.lost, recording.cycles), (2, 3, Some((41, 42))));
    assert!(recording.has_pre_trigger());
    assert_eq!(recording.course.range(0), Some((0.1, 0.1)));
    assert_eq!(recording.course.range(1), Some((-7.0, 0.1)));
}

#[test]
fn what_is_no_table_is_refused_with_its_line() {
    let heading = "cycle,monotonic_ns,seconds,lost_before,x\n";
    let wide = format!("{}{}\n", heading.trim_end(), ",x".repeat(64));
    for (text, line, words) in [
        (String::new(), 1, "heading"),
        ("a,b\n1,2\n".to_owned(), 1, "heading"),
        ("cycle,monotonic_ns,seconds,lost_before\n".to_owned(), 1, "0 variables"),
        (wide, 1, "65 variables"),
        (format!("{heading}1,2,0,0,5\n1,2,0,0\n"), 3, "4 fields"),
        (format!("{heading}1,2,0,0,five\n"), 2, "`five` in column 5"),
        (format!("{heading}1,-2,0,0,5\n"), 2, "`-2` in column 2"),
        (format!("{heading}1,2,inf,0,5\n"), 2, "no finite number"),
    ] {
        let error = read(text.as_bytes()).unwrap_err();
        assert_eq!(error.line, line, "{text}: {error}");
        assert!(error.problem.contains(words), "{error}");
    }
    assert!(read(b"cycle,monotonic_ns,seconds,lost_before,\xff\n").is_err());
}

#[test]
fn a_long_course_stays_bounded() {
    let mut course = Course::new(1);
    for index in 0..1_000_000 {
        course.push(f64::from(index), &[f64::from(index % 1000)]);
    }
    let stretches = course.stretches();
    assert!((STRETCHES_MAX / 2..=STRETCHES_MAX).contains(&stretches.len()));
    assert_eq!((stretches[0].from_seconds, course.range(0)), (0.0, Some((0.0, 999.0))));
    assert_eq!(stretches.last().unwrap().to_seconds, 999_999.0);
    assert!(stretches.windows(2).all(|pair| pair[0].to_seconds < pair[1].from_seconds));
}

proptest! {
    #[test]
    fn no_extreme_is_lost(values in proptest::collection::vec(-1e9_f64..1e9, 1..6000)) {
        let mut course = Course::new(2);
        for (index, value) in values.iter().enumerate() {
            course.push(index as f64, &[*value, f64::NAN]);
        }
        let low = values.iter().copied().fold(f64::INFINITY, f64::min);
        let high = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        prop_assert_eq!(course.range(0), Some((low, high)));
        prop_assert_eq!(course.range(1), None);
        let last = course.stretches().last().unwrap();
        prop_assert_eq!(last.bands[0].last, *values.last().unwrap());
    }

    #[test]
    fn numbers_come_back_as_they_were(
        double in any::<f64>(),
        single in any::<f32>(),
        whole in any::<i64>(),
    ) {
        let mut table = TableWriter::new(Vec::new(), &names(&["a", "b", "c"])).unwrap();
        let row = [Number::Double(double), Number::Single(single), Number::Signed(whole)];
        table.row(&moment(1), &row).unwrap();
        let text = String::from_utf8(table.finish().unwrap()).unwrap();
        let fields: Vec<&str> = text.lines().nth(1).unwrap().split(',').collect();
        let same = |a: f64, b: f64| a == b || (a.is_nan() && b.is_nan());
        prop_assert!(same(fields[4].parse().unwrap(), double));
        prop_assert!(same(f64::from(fields[5].parse::<f32>().unwrap()), f64::from(single)));
        prop_assert_eq!(fields[6].parse::<i64>().unwrap(), whole);
        prop_assert!(read(text.as_bytes()).is_ok());
    }

    #[test]
    fn any_bytes_are_a_table_or_a_refusal(
        bytes in proptest::collection::vec(any::<u8>(), 0..300),
    ) {
        let _ = read(&bytes);
        let mut text = b"cycle,monotonic_ns,seconds,lost_before,x\n".to_vec();
        text.extend(bytes);
        let _ = read(&text);
    }
}

#[test]
fn a_cycle_has_its_time_between_the_samples() {
    let mut recording = Recording::new(vec!["x".to_owned()]);
    assert_eq!(recording.seconds_of(5), None);
    for (cycle, seconds) in [(10, -0.5), (12, 0.0), (20, 2.0)] {
        let moment = Moment { cycle, monotonic_ns: 0, seconds, lost_before: 0 };
        recording.push(&moment, &[0.0]);
    }
    assert_eq!(recording.seconds_of(10), Some(-0.5));
    assert_eq!(recording.seconds_of(15), Some(0.75));
    assert_eq!(recording.seconds_of(20), Some(2.0));
    assert_eq!((recording.seconds_of(9), recording.seconds_of(21)), (None, None));
}
