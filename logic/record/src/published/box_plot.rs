//! Rows of a published table as box plots.

use serde::Serialize;

use super::{Cell, Figure, Table};

/// A published box plot, all times in ns.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct BoxPlot {
    /// Subject of the row, such as `#2 Hypervisor A, tp3`.
    pub label: String,
    /// The profile, such as `tp3`.
    pub profile: Option<String>,
    /// 2.5 % quantile.
    pub lower_whisker_ns: u64,
    /// 25 % quantile.
    pub q1_ns: u64,
    /// Median of the sample, in ns.
    pub median_ns: u64,
    /// Arithmetic mean, in ns.
    pub mean_ns: Option<u64>,
    /// Standard deviation, in ns.
    pub sd_ns: Option<u64>,
    /// 75 % quantile.
    pub q3_ns: u64,
    /// 97.5 % quantile.
    pub upper_whisker_ns: u64,
    /// Upper − lower whisker as the paper gives it.
    pub jitter_ns: Option<u64>,
    /// The figures are printed in steps of this.
    pub resolution_ns: u64,
    /// Oddity of the printed figures.
    pub remark: Option<String>,
}

impl BoxPlot {
    /// Makes the box plot of a row; `None` where whiskers, quartiles or median are missing.
    pub(super) fn of(table: &Table, row: &[Cell]) -> Option<Self> {
        let figure = |figure: Figure| {
            let (nanos, half_step) = table.nanos(row, table.figure(figure)?)?;
            Some((nanos.round() as u64, (2.0 * half_step).round() as u64))
        };
        let nanos = |which: Figure| figure(which).map(|(nanos, _)| nanos);
        let (median_ns, resolution_ns) = figure(Figure::Median)?;
        let (q1, q3) = (nanos(Figure::LowerQuartile)?, nanos(Figure::UpperQuartile)?);
        // A box can't end below its median: drawn there, and said.
        let remark = (q3 < median_ns || q1 > median_ns).then(|| {
            format!(
                "the printed quartiles are {q1} ns and {q3} ns, which don't enclose the median; \
                 the box is drawn up to the median"
            )
        });
        Some(Self {
            label: table.label(row),
            profile: table.row_profile(row).map(str::to_owned),
            lower_whisker_ns: nanos(Figure::LowerWhisker)?,
            q1_ns: q1.min(median_ns),
            median_ns,
            mean_ns: nanos(Figure::Mean),
            sd_ns: nanos(Figure::StandardDeviation),
            q3_ns: q3.max(median_ns),
            upper_whisker_ns: nanos(Figure::UpperWhisker)?,
            jitter_ns: nanos(Figure::JitterWhiskers),
            resolution_ns,
            remark,
        })
    }
}
