//! Causes of late releases, for the terminal.

use quietcore_record::ledger::{Cause, Ledger, Ledgers};

use super::Page;
use crate::figures;
use crate::plot::tooltip;

/// The most ledgers that are written out, the worst ones.
const LEDGERS_MAX: usize = 3;
/// The most shares of a ledger that are named, the largest ones.
const SHARES_MAX: usize = 4;
/// The most functions of a stack that are named.
const FUNCTIONS_MAX: usize = 5;

impl Page {
    /// Appends all about the late releases of a record.
    pub(super) fn ledgers(&mut self, ledgers: &Ledgers) {
        self.named("late", &crate::html::how_many(ledgers));
        if ledgers.kept.is_empty() {
            return;
        }
        let sum: u64 = ledgers.sums.values().sum();
        let share = |ns: u64| ns as f64 / sum.max(1) as f64 * 100.0;
        let mut causes: Vec<(&Cause, &u64)> = ledgers.sums.iter().collect();
        causes.sort_by_key(|(_, ns)| std::cmp::Reverse(**ns));
        let causes: Vec<String> = causes
            .into_iter()
            .map(|(cause, ns)| format!("{} {:.1} %", cause.title(), share(*ns)))
            .collect();
        self.named("causes", &causes.join(", "));
        for ledger in ledgers.kept.iter().take(LEDGERS_MAX) {
            self.named("ledger", &one(ledger));
        }
        let missed: Vec<&str> = ledgers.not_observed.iter().map(|it| it.what.as_str()).collect();
        if !missed.is_empty() {
            let missed = missed.join("; ");
            self.named("unobserved", &format!("{missed} (why: in --json and the report)"));
        }
    }
}

fn one(ledger: &Ledger) -> String {
    let more = ledger.shares.len().saturating_sub(SHARES_MAX);
    let shares =
        ledger.shares.iter().take(SHARES_MAX).map(|share| tooltip(share, ledger.latency_ns));
    let shares: Vec<String> = shares.collect();
    let mut text = format!(
        "{} at release {}: {}",
        figures::nanos(ledger.latency_ns),
        figures::count(ledger.release),
        shares.join("; ")
    );
    if more > 0 {
        text.push_str(&format!("; and {more} more"));
    }
    let functions: Vec<&str> =
        ledger.interrupted().iter().take(FUNCTIONS_MAX).map(String::as_str).collect();
    if !functions.is_empty() {
        text.push_str("; woken while in ");
        text.push_str(&functions.join(" ← "));
    }
    for remark in &ledger.remarks {
        text.push_str("; ");
        text.push_str(remark);
    }
    text
}
