//! Tests of the look of tables: each of them fits.

use super::*;
use proptest::prelude::*;

fn table() -> Table {
    let mut table = Table::new()
        .leading("record", Side::Left)
        .numbers(["median", "max"], 6)
        .column("why", Side::Left, 0);
    table.row(["tp1 · task0", "11 ns", "2.30\u{a0}ms", "late"]);
    table.row(["tp2\u{1b}[2J", "9 ns", "4 ms"]);
    table
}

#[test]
fn columns_are_as_wide_as_they_must_be() {
    assert_eq!(
        table().lines(100, false),
        [
            "record      median     max why",
            "tp1 · task0  11 ns 2.30 ms late",
            "tp2\u{fffd}[2J       9 ns    4 ms"
        ]
    );
}

#[test]
fn what_does_not_fit_stands_below_behind_the_name() {
    let lines = table().lines(26, false);
    assert_eq!(lines[0], "record      median     max");
    assert_eq!(lines[3], "");
    assert_eq!(lines[4], "record      why");
    assert_eq!(lines[5], "tp1 · task0 late");
}

#[test]
fn a_name_gives_way_before_a_column_does() {
    let mut table = Table::new().leading("class", Side::Left).numbers(["max"], 0);
    table.row(["electricity-distribution-medium-voltage", "23 µs"]);
    assert_eq!(
        table.lines(30, false),
        ["class                      max", "electricity…dium-voltage 23 µs"]
    );
}

/// Goal: two rows are never called the same because their names were cut.
#[test]
fn names_that_are_cut_still_differ() {
    let names = ["iec-61850-goose-ed1", "iec-61850-goose-ed2", "iec-61850-sv-50hz", "none"];
    let mut table = Table::new().leading("class", Side::Left).numbers(["one", "two"], 22);
    names.iter().for_each(|name| table.row([*name, "1", "2"]));
    let lines = table.lines(60, false);
    let first = |line: &String| line.split(' ').next().unwrap().to_owned();
    let shown: BTreeSet<String> = lines.iter().map(first).collect();
    assert!(shown.len() == 5 && lines.iter().all(|line| length(line) <= 60), "{lines:?}");
    assert!(shown.iter().all(|name| length(name) <= NAME_MIN), "{shown:?}");
}

/// Goal: a table that goes on below is not cut as well.
#[test]
fn names_are_whole_where_columns_go_on_below_anyhow() {
    let mut table = Table::new().leading("", Side::Left).numbers(["A", "B"], 12);
    table = table.column("finding", Side::Left, 34);
    table.row(["standard deviation", "1 µs", "2 µs", "no difference shown (p = 1.000)"]);
    let lines = table.lines(60, false);
    assert_eq!(lines.len(), 5, "{lines:?}");
    assert!(lines[1].starts_with("standard deviation ") && lines[4].starts_with("standard d"));
    assert!(lines.iter().all(|line| length(line) <= 60 && !line.contains('…')), "{lines:?}");
}

#[test]
fn colour_takes_no_columns() {
    let mut table = Table::new().leading("a", Side::Left).column("b", Side::Left, 0);
    table.row([Field::from("x"), Field::new("✗ FAIL", Look::Bad)]);
    assert_eq!(table.lines(80, true)[1], "x \u{1b}[1;31m✗ FAIL\u{1b}[0m");
    assert_eq!(table.lines(80, false)[1], "x ✗ FAIL");
}

proptest! {
    /// Checks that no line is wider than the terminal, and no column is lost, whatever the fields
    /// hold.
    #[test]
    fn every_table_fits(
        rows in prop::collection::vec(prop::collection::vec(".{0,30}", 7), 0..5),
        width in prop::sample::select(vec![60_usize, 80, 100, 120]),
    ) {
        let headings = ["one", "two", "three", "four", "five", "six"];
        let mut table = Table::new().leading("name", Side::Left).numbers(headings, 9);
        for row in &rows {
            table.row(row.iter().map(String::as_str));
        }
        let lines = table.lines(width, false);
        for line in &lines {
            prop_assert!(line.chars().count() <= width, "{line}");
        }
        let text = lines.join("\n");
        for heading in headings {
            prop_assert!(text.contains(heading));
        }
    }
}
