//! The rules by which a verdict comes about, and the words of this report.

use maud::{Markup, html};
use quietcore_record::class::Class;

use crate::figures;
use crate::summary::Summary;

/// Words whose meaning is not the everyday one.
const GLOSSARY: [(&str, &str); 12] = [
    ("Release", "The instant at which a cycle of the control program is due to start."),
    ("Release latency", "How long after that instant the program did start."),
    (
        "Wake-up latency",
        "How long after the wake-up it had asked of the kernel the program ran. It is what \
         cyclictest measures; in mode sleep it is the release latency.",
    ),
    (
        "Early wake",
        "The program is woken a margin before the release and spins to the instant, so that the \
         release does not suffer from the wake-up.",
    ),
    ("Cycle, period", "The time between two releases."),
    ("Missed cycle", "A release that came a whole period late or more."),
    ("Partition", "CPUs, memory, cache and devices given to one program, and what runs in it."),
    ("Profile", "The conditions of a run: load, affinity, neighbours."),
    (
        "Reservation kept",
        "The profile leaves the partition's CPUs to the partition. Other profiles show what would \
         happen without, and do not count.",
    ),
    ("Record", "What one run of one task yielded: histogram, counters, spikes, conditions."),
    ("Class", "What a kind of application asks of time, with the source of each figure."),
    ("Observed maximum", "The largest value seen. It is not a worst case: nobody has proven one."),
];

pub(super) fn section(summary: &Summary<'_>) -> Markup {
    let exceedance = summary.evidence.manifest.exceedance;
    let classes = &summary.evidence.manifest.classes;
    html! {
        div.prose {
            h3 { "How a verdict comes about" }
            ol {
                li {
                    "A record that is invalid, or was not measured as the site asks, proves "
                    "nothing: " b { "NOT PROVEN" } ". So does a class without a published cycle, "
                    "and a measurement with a longer period than the class's cycle."
                }
                li {
                    "One release later than a tenth of the cycle is a " b { "FAIL" } ". The rest "
                    "of the cycle belongs to the program and to whoever shares the core "
                    "(hofer2019). A quantile would certify a machine that stalls now and then."
                    @if summary.states_latency() {
                        " Where the source of a class gives a latency, that is the limit."
                    }
                }
                @if classes.iter().any(|class| !class.strictness.is_hard()) {
                    li {
                        "A class that is firm or soft bears misses, which are late releases and "
                        "cycles that ended after their deadline: so many in a row, or a share of "
                        "the cycles with 95 % confidence. What the record cannot show is "
                        b { "NOT PROVEN" } "."
                    }
                }
                li {
                    "Release jitter above the class's published limit, by the definition named "
                    "with it, is a " b { "FAIL" } "."
                }
                li {
                    "Too few cycles to exclude more than " (figures::one_in(exceedance))
                    " per cycle: " b { "NOT PROVEN" } ", with the number that would do."
                    @if classes.iter().any(Class::is_soft) {
                        " A soft class takes as many as its own share needs."
                    }
                }
                li { "Otherwise: " b { "PASS" } "." }
            }
            p {
                "Overall, the worst record decides. Missing evidence never passes: what was asked "
                "for and not measured makes the overall verdict NOT PROVEN."
            }
            h3 { "What the maximum is worth" }
            p {
                "Without an exceedance in n independent cycles the probability of one is, with "
                "95 % confidence, below 3/n (exactly: Clopper–Pearson). Cycles of a computer are "
                "not independent, since disturbances come in bursts, so 3/n is the best case. "
                "Mean and quantiles describe the everyday; for a control program only the "
                "largest of all maxima over all runs matters."
            }
            h3 { "What the histogram loses" }
            p {
                "Nothing from 1 ns to 68.7 s, at three significant digits. Values of another "
                "program's overflow are counted and shown; a quantile among them is a bound, "
                "written with ≥ and drawn open. Every record checks that its bins and its "
                "overflow add up to its count."
            }
            h3 { "Words" }
            dl.glossary {
                @for (word, meaning) in GLOSSARY { div { dt { (word) } dd { (meaning) } } }
            }
        }
        @if !summary.records.is_empty() { (super::reasons::section(summary)) }
    }
}
