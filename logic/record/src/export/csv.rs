//! Tables for spreadsheets and scripts, as RFC 4180 has them: a heading, commas, `\r\n`.
//!
//! A figure that isn't known is an empty field. A quantile that is only known as a bound is written
//! `>=10000000`, so that nobody takes it for a number.

use crate::histogram::{Histogram, Quantile};
use crate::reason::sentences;
use crate::record::{Record, Scan};
use crate::statistics::Statistics;
use crate::verdict::Judgement;

const RECORDS: [&str; 59] = [
    "record",
    "probe",
    "partition",
    "profile",
    "reserved",
    "valid",
    "invalid_because",
    "degraded",
    "interrupted",
    "cpu",
    "period_ns",
    "resolution_ns",
    "count",
    "min_ns",
    "max_ns",
    "mean_ns",
    "sd_ns",
    "median_ns",
    "q1_ns",
    "q3_ns",
    "p2_5_ns",
    "p97_5_ns",
    "p99_ns",
    "p99_9_ns",
    "p99_99_ns",
    "p99_999_ns",
    "p99_9999_ns",
    "tukey_low_ns",
    "tukey_high_ns",
    "jitter_peak_to_peak_ns",
    "jitter_whiskers_ns",
    "jitter_successive_ns",
    "missed_cycles",
    "longest_miss_run",
    "early",
    "migrations",
    "overflow",
    "overflow_from_ns",
    "bound_95_per_cycle",
    "started_at",
    "duration_ns",
    "mode",
    "policy",
    "deadline_ns",
    "execution_count",
    "execution_min_ns",
    "execution_median_ns",
    "execution_p99_ns",
    "execution_p99_9_ns",
    "execution_max_ns",
    "response_median_ns",
    "response_p99_ns",
    "response_p99_9_ns",
    "response_max_ns",
    "overruns",
    "longest_overrun_run",
    "watchdog_hits",
    "skipped_releases",
    "lost_frames",
];

/// The columns at the end that are of a program, and empty where the probe ran alone.
const OF_A_PROGRAM: usize = 16;

/// A row a record, with all statistics of its release latency and those of its program.
pub fn records_csv(records: &[Record]) -> String {
    let mut table = Table::new(&RECORDS);
    for record in records {
        let statistics = Statistics::of(record);
        let mut fields = identity(record);
        fields.extend(figures(&statistics));
        fields.extend([
            statistics.missed_cycles.map(|cycles| cycles.to_string()).unwrap_or_default(),
            statistics.longest_miss_run.map(|cycles| cycles.to_string()).unwrap_or_default(),
            record.counters.early.to_string(),
            record.counters.migrations.to_string(),
            statistics.overflow.to_string(),
            record.release.overflow_from_ns().to_string(),
            statistics.bound_95.map(|bound| format!("{bound:e}")).unwrap_or_default(),
            record.conditions.started_at.clone(),
            record.conditions.duration_ns.to_string(),
            record.conditions.mode.to_string(),
            record.conditions.policy.to_string(),
        ]);
        fields.extend(of_a_program(record.scan()));
        table.row(&fields);
    }
    table.text
}

fn identity(record: &Record) -> Vec<String> {
    vec![
        record.name.clone(),
        record.probe.clone(),
        record.partition.clone(),
        record.profile.clone(),
        record.reserved.to_string(),
        record.is_valid().to_string(),
        sentences(&record.invalid_because),
        sentences(&record.degraded),
        record.interrupted.to_string(),
        record.cpu.map(|cpu| cpu.to_string()).unwrap_or_default(),
        record.period_ns.map(|period| period.to_string()).unwrap_or_default(),
        record.release.resolution_ns().to_string(),
    ]
}

fn whole(value: Option<u64>) -> String {
    value.map(|value| value.to_string()).unwrap_or_default()
}

fn figures(statistics: &Statistics) -> Vec<String> {
    let real = |value: Option<f64>| value.map(|value| format!("{value:.3}")).unwrap_or_default();
    let mut fields = vec![
        statistics.count.to_string(),
        whole(statistics.min_ns),
        whole(statistics.max_ns),
        real(statistics.mean_ns),
        real(statistics.sd_ns),
    ];
    fields.extend(
        [
            statistics.median_ns,
            statistics.q1_ns,
            statistics.q3_ns,
            statistics.p2_5_ns,
            statistics.p97_5_ns,
            statistics.p99_ns,
            statistics.p99_9_ns,
            statistics.p99_99_ns,
            statistics.p99_999_ns,
            statistics.p99_9999_ns,
        ]
        .map(quantile),
    );
    fields.extend([
        whole(statistics.tukey_low_ns),
        whole(statistics.tukey_high_ns),
        whole(statistics.jitter_peak_to_peak_ns),
        whole(statistics.jitter_whiskers_ns),
        real(statistics.jitter_successive_ns),
    ]);
    fields
}

/// Returns the fields of a program's scan cycles, which are empty where the probe ran alone.
fn of_a_program(scan: Option<&Scan>) -> Vec<String> {
    let Some(scan) = scan else {
        return vec![String::new(); OF_A_PROGRAM];
    };
    let (execution, response) =
        (Statistics::of_histogram(&scan.execution), Statistics::of_histogram(&scan.response));
    let times = |of: &Statistics| [of.median_ns, of.p99_ns, of.p99_9_ns].map(quantile).into_iter();
    let mut fields = vec![
        scan.terms.deadline_ns.map(|deadline| deadline.to_string()).unwrap_or_default(),
        execution.count.to_string(),
        whole(execution.min_ns),
    ];
    fields.extend(times(&execution));
    fields.push(whole(execution.max_ns));
    fields.extend(times(&response));
    fields.push(whole(response.max_ns));
    let counters = &scan.counters;
    fields.extend(
        [
            counters.overruns,
            counters.longest_overrun_run,
            counters.watchdog_hits,
            counters.skipped_releases,
        ]
        .map(|count| count.to_string()),
    );
    fields.push(counters.lost_frames.map(|frames| frames.to_string()).unwrap_or_default());
    fields
}

fn quantile(value: Option<Quantile>) -> String {
    match value {
        None => String::new(),
        Some(Quantile::Exactly(value)) => value.to_string(),
        Some(Quantile::AtLeast { at_least }) => format!(">={at_least}"),
    }
}

/// A row a bin that holds values, of all records; then a row for the overflow, without upper end.
pub fn histogram_csv(records: &[Record]) -> String {
    let mut table = Table::new(&["record", "low_ns", "high_ns", "count"]);
    for record in records {
        table.bins(&[&record.name], &record.release);
    }
    table.text
}

/// The same of execution and response times, with the quantity behind the record; `None` where no
/// record has them.
pub fn scan_histogram_csv(records: &[Record]) -> Option<String> {
    let mut table = Table::new(&["record", "quantity", "low_ns", "high_ns", "count"]);
    let mut any = false;
    for record in records {
        let Some(scan) = record.scan() else { continue };
        any = true;
        table.bins(&[&record.name, "execution"], &scan.execution);
        table.bins(&[&record.name, "response"], &scan.response);
    }
    any.then_some(table.text)
}

/// A row a verdict.
pub fn verdicts_csv(judgements: &[Judgement]) -> String {
    let mut table = Table::new(&[
        "record",
        "class",
        "verdict",
        "because",
        "cycles_needed",
        "latency_limit_ns",
        "exceedances",
        "bound_95_per_cycle",
        "exceedances_least",
    ]);
    for judgement in judgements {
        table.row(&[
            judgement.record.clone(),
            judgement.class.clone(),
            judgement.verdict.to_string(),
            judgement.because.clone(),
            whole(judgement.cycles_needed),
            whole(judgement.latency_limit_ns),
            whole(judgement.exceedances),
            judgement.bound_95.map(|bound| format!("{bound:e}")).unwrap_or_default(),
            whole(judgement.exceedances_least.or(judgement.exceedances)),
        ]);
    }
    table.text
}

/// A table in the making; every row has as many fields as the heading.
#[derive(Debug)]
pub(super) struct Table {
    width: usize,
    text: String,
}

impl Table {
    pub(super) fn new(heading: &[&str]) -> Self {
        let mut table = Self { width: heading.len(), text: String::new() };
        table.row(heading);
        table
    }

    /// Returns the text of the table.
    pub(super) fn finish(self) -> String {
        self.text
    }

    /// A row a bin behind `head`, then one for the overflow.
    fn bins(&mut self, head: &[&str], histogram: &Histogram) {
        let mut row = |low_ns: u64, high_ns: String, count: u64| {
            let mut fields: Vec<String> = head.iter().map(|field| (*field).to_owned()).collect();
            fields.extend([low_ns.to_string(), high_ns, count.to_string()]);
            self.row(&fields);
        };
        for bin in histogram.bins() {
            row(bin.low_ns, bin.high_ns.to_string(), bin.count);
        }
        if histogram.overflow() > 0 {
            row(histogram.overflow_from_ns(), String::new(), histogram.overflow());
        }
    }

    pub(super) fn row(&mut self, fields: &[impl AsRef<str>]) {
        assert_eq!(fields.len(), self.width, "a row has a field for each heading");
        for (index, field) in fields.iter().enumerate() {
            if index > 0 {
                self.text.push(',');
            }
            let field = field.as_ref();
            if field.contains([',', '"', '\n', '\r']) {
                self.text.push('"');
                self.text.push_str(&field.replace('"', "\"\""));
                self.text.push('"');
            } else {
                self.text.push_str(field);
            }
        }
        self.text.push_str("\r\n");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::class::catalogue;
    use crate::reason::Stated;
    use crate::verdict::judge;

    #[test]
    fn every_record_has_a_row_with_a_field_a_heading() {
        let mut record = crate::test_record(&[(4_000, 970), (9_000, 20)]);
        record.degraded =
            vec![Stated::from("memory, not locked").into(), Stated::from("a \"second\"").into()];
        let text = records_csv(&[record.clone(), record]);
        let lines: Vec<&str> = text.split_terminator("\r\n").collect();
        assert_eq!(lines.len(), 3);
        assert_eq!(lines[0].split(',').count(), RECORDS.len());
        assert!(lines[1].starts_with(
            "axis.tp2.cpu1,latency,axis,tp2,true,true,,\"memory, not locked; a \
             \"\"second\"\"\",false,1,1000000,1,990,4000,9000,"
        ));
    }

    #[test]
    fn a_program_fills_the_last_columns_and_has_histograms_of_its_own() {
        let records = [crate::test_record(&[(4_000, 970)]), crate::test_scan_record()];
        let text = records_csv(&records);
        let lines: Vec<&str> = text.split_terminator("\r\n").collect();
        assert!(lines[1].ends_with(&",".repeat(OF_A_PROGRAM)), "{}", lines[1]);
        let program = ",800000,30000,120000,120000,120000,120000,120000,124000,124000,124000,\
                       124000,0,0,0,0,";
        assert!(lines[2].ends_with(program), "{}", lines[2]);
        let bins = scan_histogram_csv(&records).unwrap();
        assert!(bins.contains("axis.tp2.cpu1,execution,"), "{bins}");
        assert!(bins.contains("axis.tp2.cpu1,response,"), "{bins}");
        assert_eq!(scan_histogram_csv(&records[..1]), None);
    }

    #[test]
    fn a_task_without_a_deadline_has_an_empty_field() {
        let mut record = crate::test_scan_record();
        record.scan_mut().unwrap().terms.deadline_ns = None;
        let text = records_csv(&[record]);
        let rows: Vec<Vec<&str>> =
            text.split_terminator("\r\n").map(|line| line.split(',').collect()).collect();
        let at = rows[0].iter().position(|name| *name == "deadline_ns").unwrap();
        assert_eq!(&rows[1][at..at + 3], ["", "30000", "120000"]);
    }

    #[test]
    fn a_bound_is_no_number() {
        let mut record = crate::test_record(&[]);
        record.release = Histogram::imported(1_000, 10_000_000);
        record.release.record_many(4_000, 900);
        record.release.record_overflow(100, 81_034_000, 5_000_000_000);
        let text = records_csv(std::slice::from_ref(&record));
        assert!(text.contains(",>=10000000,"));
        let bins = histogram_csv(&[record]);
        assert!(bins.ends_with("axis.tp2.cpu1,10000000,,100\r\n"), "{bins}");
    }

    #[test]
    fn verdicts_are_words_with_their_reasons() {
        let record = crate::test_record(&[(4_000, 970)]);
        let judgements: Vec<_> =
            catalogue().iter().map(|class| judge(&record, class, 1e-4)).collect();
        let text = verdicts_csv(&judgements);
        assert_eq!(text.matches("\r\n").count(), judgements.len() + 1);
        assert!(text.contains(",NOT PROVEN,"));
    }
}
