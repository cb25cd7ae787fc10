//! The figures as CSV, in the page itself: a page that was sent to somebody still has them.

use maud::{Markup, html};
use quietcore_evidence::Evidence;
use quietcore_record::export;

/// A larger table is not put into the page.
const EMBEDDED_MAX: usize = 192 << 10;

/// Links that save the tables; of one that is too large it is said how to get it.
pub(in crate::html) fn links(evidence: &Evidence) -> Markup {
    let tables = [
        ("records.csv", export::records_csv(&evidence.records)),
        ("verdicts.csv", export::verdicts_csv(&evidence.judgements)),
        ("histograms.csv", export::histogram_csv(&evidence.records)),
    ];
    let (within, beyond): (Vec<_>, Vec<_>) =
        tables.into_iter().partition(|(_, text)| text.len() <= EMBEDDED_MAX);
    html! {
        p.remark {
            "As CSV: "
            @for (index, (name, text)) in within.iter().enumerate() {
                @if index > 0 { ", " }
                a href=(format!("data:text/csv;charset=utf-8,{}", escaped(text))) download=(name) {
                    (name)
                }
            }
            ". "
            @if !beyond.is_empty() {
                "Too large for this page: "
                (beyond.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", "))
                ". "
            }
            code { "quietcore report . --csv tables" }
            " in the evidence folder writes all there are."
        }
    }
}

/// Text as a part of an address: what is neither a letter, a digit nor plain is a percent sign with
/// the byte.
pub(crate) fn escaped(text: &str) -> String {
    let mut address = String::with_capacity(text.len() + text.len() / 4);
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-_.~,;:/".contains(&byte) {
            address.push(char::from(byte));
        } else {
            address.push_str(&format!("%{byte:02X}"));
        }
    }
    address
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_can_be_read_back() {
        assert_eq!(escaped("a,b\n1.5,\"x µ\""), "a,b%0A1.5,%22x%20%C2%B5%22");
    }
}
