//! Findings in plain words.

use quietcore_units::Nanos;

use super::{Dependence, Difference, Finding, Interval, Value};

/// Puts a difference into words. What isn't comparable has its reason already.
pub(super) fn say(difference: &mut Difference, comparisons: usize) {
    let is_time = difference.statistic.ends_with("_ns");
    let figure = |value: Option<Value>| match value {
        None => "unknown".to_owned(),
        Some(Value::Exactly(value)) => amount(value, is_time),
        Some(Value::AtLeast { at_least }) => format!("at least {}", amount(at_least, is_time)),
    };
    let (a, b) = (figure(difference.a), figure(difference.b));
    let title = difference.title;
    let corrected = probability(difference.p_corrected.unwrap_or(1.0));
    let sure = interval(difference.interval);
    difference.sentence = match difference.finding {
        Finding::NotComparable => {
            format!("The {title} can't be compared ({a} in A, {b} in B): {}.", difference.sentence)
        }
        Finding::Differs => {
            let bound = [difference.a, difference.b]
                .iter()
                .any(|value| matches!(value, Some(Value::AtLeast { .. })));
            let by = difference.difference.unwrap_or(0.0);
            let direction = if by > 0.0 { "larger" } else { "smaller" };
            let least = if bound { "at least " } else { "" };
            let ratio = difference.ratio.map(|ratio| format!(", {}", times(ratio, bound)));
            format!(
                "The {title} of B is {direction}: {b} against {a} in A, by {least}{}{}{sure}; \
                 {corrected} after Holm's correction for {comparisons} comparisons.",
                amount(by.abs(), is_time),
                ratio.unwrap_or_default(),
            )
        }
        Finding::NoDifferenceShown => {
            let alone = difference.p_value.filter(|p| *p < super::SIGNIFICANCE).map(|p| {
                format!(
                    " Alone it would count as one ({}); among {comparisons} comparisons it \
                     doesn't.",
                    probability(p)
                )
            });
            format!(
                "No difference of the {title} is shown: {a} in A, {b} in B{sure}.{}",
                alone.unwrap_or_default()
            )
        }
    };
}

/// Returns the assumptions that the figures rest on.
pub(super) fn assumptions(a: &Dependence, b: &Dependence, comparisons: usize) -> Vec<String> {
    let mut assumptions = Vec::new();
    for (letter, dependence) in [("A", a), ("B", b)] {
        assumptions.push(match dependence.batches {
            Some(batches) => format!(
                "successive values of {letter} depend on each other: by the means of {batches} \
                 batches the variance is {:.2} times that of independent values, and all limits \
                 are wider by the root of that; high quantiles may depend more or less than the \
                 mean",
                dependence.inflation
            ),
            None => format!(
                "{letter} has no time line to tell how far its values depend on each other; they \
                 are taken as independent, so differences look surer than they are"
            ),
        });
    }
    assumptions.push(
        "the runs were not interleaved: what the machine did meanwhile (drift, temperature, other \
         load) looks like a difference"
            .to_owned(),
    );
    assumptions.push(format!(
        "with {comparisons} comparisons, Holm's correction keeps the probability of any false \
         `differs` below 5 %"
    ));
    assumptions.push(
        "quantiles are interpolated within their bins; they may differ by less than a bin from \
         those in tables"
            .to_owned(),
    );
    assumptions
}

/// `p = 0.03`, or `p < 0.001`.
pub(super) fn probability(p_value: f64) -> String {
    if p_value < 0.001 { "p < 0.001".to_owned() } else { format!("p = {p_value:.3}") }
}

fn interval(interval: Option<Interval>) -> String {
    let Some(Interval { low, high, of_ratio }) = interval else { return String::new() };
    let limit = |limit: f64| if of_ratio { format!("{limit:.3}") } else { signed(limit) };
    let what = if of_ratio { "ratio" } else { "difference" };
    match (low, high) {
        (Some(low), Some(high)) => {
            format!(" (95 % interval of the {what} {} to {})", limit(low), limit(high))
        }
        (Some(low), None) => format!(" (95 % interval of the {what} from {} on)", limit(low)),
        (None, Some(high)) => format!(" (95 % interval of the {what} up to {})", limit(high)),
        (None, None) => String::new(),
    }
}

fn amount(value: f64, is_time: bool) -> String {
    if is_time {
        Nanos::new(value.round().max(0.0) as u64).to_string()
    } else {
        crate::verdict::thousands(value.round().max(0.0) as u64)
    }
}

fn signed(nanos: f64) -> String {
    let sign = if nanos < -0.5 { "−" } else { "" };
    format!("{sign}{}", Nanos::new(nanos.abs().round() as u64))
}

fn times(ratio: f64, bound: bool) -> String {
    let least = if bound { "at least " } else { "" };
    // Three significant digits, as for all figures.
    let decimals = match ratio {
        100.0.. => 0,
        10.0.. => 1,
        _ => 2,
    };
    format!("{least}{ratio:.decimals$} times")
}
