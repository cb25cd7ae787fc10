//! A PASS that proves little: after a run so short that a late release every few seconds would go
//! unseen.

use quietcore_record::class::Class;
use quietcore_record::statistics::cycles_needed;
use quietcore_record::verdict::{Verdict, one_in, thousands};
use quietcore_units::Nanos;

use super::{PartitionSummary, Summary};

/// Bound above which a PASS is a quick look: one late release in 100 s at 1 ms.
const QUICK_ABOVE: f64 = 1e-5;

/// The exceedance that acceptance asks for, which is the default of a site file.
const ACCEPTANCE: f64 = 1e-6;

/// A PASS that excludes little, and how little.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct QuickLook {
    /// The bound on the probability of that event, at 95 % confidence.
    bound: f64,
    /// The event of which so little is excluded: a late release, or a run of misses that is longer
    /// than a firm class bears.
    rare: &'static str,
    /// The period of the record that excludes the least, in ns; `None` where it is not known.
    period_ns: Option<u64>,
}

/// Returns how little the PASS of a partition excludes; `None` where it excludes enough, for other
/// verdicts, and for a soft class.
pub(crate) fn quick_look(
    partition: &PartitionSummary<'_>,
    summary: &Summary<'_>,
) -> Option<QuickLook> {
    let declared = partition.declared.as_ref()?;
    // A soft class has a share of its own, which takes the place of the exceedance.
    if declared.overall.verdict != Verdict::Pass || declared.class.is_some_and(Class::is_soft) {
        return None;
    }
    let is_firm = declared.class.is_some_and(|class| !class.strictness.is_hard());
    let rare = if is_firm { "longer run of misses" } else { "late release" };
    let columns = partition.columns.iter().filter(|column| column.reserved);
    let records = columns.flat_map(|column| &column.records).map(|index| &summary.records[*index]);
    let looks = records.filter_map(|record| {
        let period_ns = record.record.period_ns;
        Some(QuickLook { bound: record.statistics.bound_95?, rare, period_ns })
    });
    let weakest = looks.max_by(|one, other| one.bound.total_cmp(&other.bound))?;
    (weakest.bound > QUICK_ABOVE).then_some(weakest)
}

impl QuickLook {
    /// Tells how little is excluded, and how many cycles acceptance takes.
    pub(crate) fn sentence(self) -> String {
        let every = self.period_ns.map(|period_ns| {
            let apart = Nanos::new((period_ns as f64 / self.bound) as u64);
            format!(", which is one {} each {apart}", self.rare)
        });
        format!(
            "A quick look: so few cycles exclude no more than {}{}. Acceptance asks for \
             `exceedance = 1e-6`, which takes {} cycles.",
            one_in(self.bound),
            every.unwrap_or_default(),
            thousands(cycles_needed(ACCEPTANCE)),
        )
    }
}
