//! Small pieces that several sections use.

use maud::{Markup, html};
use quietcore_record::verdict::Verdict;

use crate::figures;

/// Returns the class of the style sheet that colours a verdict.
pub(crate) const fn tone(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Pass => "pass",
        Verdict::NotProven => "unproven",
        Verdict::Fail => "fail",
    }
}

/// Renders a verdict as sign, word and colour.
pub(crate) fn badge(verdict: Verdict) -> Markup {
    html! {
        span class=(format!("badge {}", tone(verdict))) {
            span.sign aria-hidden="true" { (figures::sign(verdict)) }
            " " (verdict)
        }
    }
}

/// Renders the same without a background, for tables full of verdicts.
pub(crate) fn mini(verdict: Verdict) -> Markup {
    html! {
        span class=(format!("mini {}", tone(verdict))) {
            span.sign aria-hidden="true" { (figures::sign(verdict)) }
            " " (verdict)
        }
    }
}

/// Renders a number with its unit in parts, so that a column aligns at the decimal point.
pub(crate) fn quantity(text: &str) -> Markup {
    let Some((number, unit)) = text.rsplit_once('\u{a0}') else {
        return html! { span.q { span.i { (text) } span.f {} span.u {} } };
    };
    if unit.starts_with(|c: char| c.is_ascii_digit()) {
        // `1 in 100 000` has no point to align.
        return html! { (text) };
    }
    let (whole, fraction) = match number.split_once('.') {
        Some((whole, fraction)) => (whole, Some(fraction)),
        None => (number, None),
    };
    html! {
        span.q {
            span.i { (whole) }
            span.f { @if let Some(fraction) = fraction { "." (fraction) } }
            span.u { (unit) }
        }
    }
}

/// Renders text, with the parts between backticks as code.
pub(crate) fn with_code(text: &str) -> Markup {
    let parts: Vec<&str> = text.split('`').collect();
    // An odd number of backticks means something else.
    let paired = parts.len() % 2 == 1;
    html! {
        @if paired {
            @for (index, part) in parts.iter().enumerate() {
                @if index % 2 == 1 { code { (part) } } @else { (part) }
            }
        } @else { (text) }
    }
}

/// Makes a sentence of a clause: it begins with a capital and ends with a full stop.
pub(crate) fn sentence(text: &str) -> String {
    let mut characters = text.trim().chars();
    let Some(first) = characters.next() else {
        return String::new();
    };
    let stop = if text.trim_end().ends_with(['.', '!', '?']) { "" } else { "." };
    format!("{}{}{stop}", first.to_uppercase(), characters.as_str())
}

/// Encodes text as a part of an address: a byte that is neither a letter, a digit nor plain becomes
/// a percent sign with its number.
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
    fn quantities_are_taken_apart_at_the_point() {
        let markup = |text| quantity(text).into_string();
        assert_eq!(
            markup("23.4\u{a0}µs"),
            "<span class=\"q\"><span class=\"i\">23</span><span class=\"f\">.4</span><span \
             class=\"u\">µs</span></span>"
        );
        assert!(markup("≥\u{a0}400\u{a0}µs").contains("<span class=\"i\">≥\u{a0}400</span>"));
    }

    #[test]
    fn backticks_enclose_code() {
        let markup = |text| with_code(text).into_string();
        assert_eq!(markup("run `a<b` now"), "run <code>a&lt;b</code> now");
        assert_eq!(markup("it's `open"), "it's `open");
    }

    #[test]
    fn every_byte_of_an_address_can_be_read_back() {
        assert_eq!(escaped("a,b\n1.5,\"x µ\""), "a,b%0A1.5,%22x%20%C2%B5%22");
    }

    #[test]
    fn sentences_read_well() {
        assert_eq!(sentence("no release was late"), "No release was late.");
        assert_eq!(sentence(""), "");
    }
}
