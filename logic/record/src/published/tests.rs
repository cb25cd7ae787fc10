//! Tests of the published tables: complete, consistent in themselves, and found by their ids.

use super::*;

#[test]
fn every_table_is_there_with_its_rows_and_source() {
    let rows: Vec<_> = tables().iter().map(|table| (table.id, table.rows.len())).collect();
    assert_eq!(
        rows,
        [
            ("queiroz2023/table-1", 8),
            ("queiroz2023/table-2", 10),
            ("queiroz2023/table-3", 22),
            ("queiroz2023/table-4", 22),
            ("queiroz2023/table-5", 12),
            ("scordino2020/table-1", 4),
            ("scordino2020/figure-4", 3),
            ("scordino2020/figure-5", 2),
            ("scordino2020/figure-6", 10),
            ("kong2021/table-1", 2),
            ("kong2021/table-2", 3),
            ("kong2021/table-3", 2),
            ("hofer2019/table-1", 36),
            ("hofer2019/figure-1", 6),
            ("mahmud2014/table-1", 5),
            ("mahmud2014/table-2", 2),
            ("mahmud2014/table-3", 5),
        ]
    );
    for table in tables() {
        assert!(table.id.starts_with(table.citation.key));
        assert!(table.source().contains(&table.citation.year.to_string()));
        let labels: std::collections::BTreeSet<_> =
            table.rows.iter().map(|row| table.label(row)).collect();
        assert_eq!(labels.len(), table.rows.len(), "{}: rows have labels of their own", table.id);
    }
}

#[test]
fn every_figure_is_a_number_or_absent() {
    for table in tables() {
        for row in &table.rows {
            for (column, cell) in table.columns.iter().zip(row) {
                let is_text = matches!(column.unit, Unit::Text | Unit::Remark);
                let may_be_absent = ["cycle_to", "slowdown_min"].contains(&column.key)
                    || (table.id == "hofer2019/figure-1" && column.key != "maximum");
                assert!(
                    is_text || cell.number().is_some() || (may_be_absent && cell.0.is_empty()),
                    "{}: {} {:?}",
                    table.id,
                    column.key,
                    cell
                );
                assert!(!is_text || !cell.0.is_empty());
            }
        }
    }
}

#[test]
fn printed_jitter_is_the_distance_of_the_printed_whiskers() {
    for id in ["queiroz2023/table-3", "queiroz2023/table-4", "queiroz2023/table-5"] {
        let table = find(id).unwrap();
        for (row, plot) in table.rows.iter().zip(table.box_plots()) {
            let distance = plot.upper_whisker_ns - plot.lower_whisker_ns;
            let jitter = plot.jitter_ns.unwrap();
            // Three roundings by half a step each.
            assert!(distance.abs_diff(jitter) <= 1_500, "{id}: {}", table.label(row));
        }
    }
}

#[test]
fn box_plots_are_ordered_and_misprints_said() {
    let mut odd = Vec::new();
    for table in tables() {
        for plot in table.box_plots() {
            let ladder = [
                plot.lower_whisker_ns,
                plot.q1_ns,
                plot.median_ns,
                plot.q3_ns,
                plot.upper_whisker_ns,
            ];
            assert!(ladder.is_sorted(), "{}: {}", table.id, plot.label);
            assert_eq!(plot.resolution_ns, 1_000);
            odd.extend(plot.remark.is_some().then_some((table.id, plot.label)));
        }
    }
    assert_eq!(odd, [("queiroz2023/table-3", "#4 Hypervisor C, tp2".to_owned())]);
}

#[test]
fn a_row_is_what_the_paper_prints() {
    let table = find("queiroz2023/table-4").unwrap();
    let plots = table.box_plots();
    let plot = plots.iter().find(|plot| plot.label == "#3 Hypervisor B, tp6").unwrap();
    assert_eq!(plot.profile.as_deref(), Some("tp6"));
    assert_eq!(
        (plot.lower_whisker_ns, plot.q1_ns, plot.median_ns, plot.q3_ns, plot.upper_whisker_ns),
        (12_000, 18_000, 22_000, 27_000, 37_000)
    );
    assert_eq!(
        (plot.mean_ns, plot.sd_ns, plot.jitter_ns),
        (Some(24_000), Some(106_000), Some(25_000))
    );
    let table = find("hofer2019/table-1").unwrap();
    assert!(table.box_plots().is_empty());
    let row = &table.rows[35];
    assert_eq!(
        table.label(row),
        "isolated + no load balancing + IRQ affinity + with stress; host isolated + IRQ affinity, \
         Preempt-RT"
    );
    let maximum = table.figure(Figure::Maximum).unwrap();
    assert_eq!(table.nanos(row, maximum), Some((400_991_000.0, 500.0)));
    assert_eq!(table.row_profile(row), Some("iso12"));
    assert_eq!(find("queiroz2023/table-5").unwrap().row_profile(&[]), Some("tp5"));
}

#[test]
fn precision_is_that_of_the_last_digit() {
    assert_eq!(Cell("0.005".to_owned()).half_step(), 0.000_5);
    assert_eq!(Cell("246".to_owned()).half_step(), 0.5);
    assert_eq!(Cell(String::new()).number(), None);
}

#[test]
fn a_paper_may_be_called_by_its_number() {
    for table in tables() {
        let numbered = table.id.replacen(table.citation.key, table.citation.number, 1);
        assert_eq!(find(&numbered).unwrap().id, table.id);
    }
}

#[test]
fn an_unknown_id_is_answered_with_the_nearest() {
    let error = find("queiroz2023/table4").unwrap_err();
    for id in ["queiroz2023/table4", "000/table4"] {
        let error = find(id).unwrap_err();
        assert!(
            matches!(error, FindError::Unknown { nearest: "queiroz2023/table-4", .. }),
            "{id}: {error:?}"
        );
    }
    assert_eq!(
        error.to_string(),
        "`queiroz2023/table4` is no published table; use queiroz2023/table-4, the nearest of \
         queiroz2023/table-1, queiroz2023/table-2, queiroz2023/table-3, queiroz2023/table-4, \
         queiroz2023/table-5, scordino2020/table-1, scordino2020/figure-4, scordino2020/figure-5, \
         scordino2020/figure-6, kong2021/table-1, kong2021/table-2, kong2021/table-3, \
         hofer2019/table-1, hofer2019/figure-1, mahmud2014/table-1, mahmud2014/table-2, \
         mahmud2014/table-3"
    );
}

#[test]
fn a_picture_of_a_paper_is_answered_with_what_stands_there() {
    let error = |id| find(id).unwrap_err();
    let table = "queiroz2023/table-3";
    assert_eq!(
        error("queiroz2023/figure-8"),
        FindError::PlotOfTable { id: "queiroz2023/figure-8", table }
    );
    assert_eq!(error("001/figure-1"), FindError::Picture { id: "scordino2020/figure-1" });
    assert!(
        error("queiroz2023/figure-8").to_string().ends_with("of queiroz2023/table-3; use that")
    );
    assert!(error("mahmud2014/figure-4").to_string().contains("printed without figures"));
}

#[test]
fn only_like_is_measured_by_a_probe() {
    assert!(Quantity::ReleaseLatency.is_measured_by("latency"));
    assert!(Quantity::ReleaseLatency.is_measured_by("exec"));
    assert!(!Quantity::ReleaseLatency.is_measured_by("rtla osnoise"));
    assert!(!Quantity::InterruptResponse.is_measured_by("latency"));
    assert!(!Quantity::Limit.is_measured_by("latency"));
}
