//! A number with its unit, as the documents write it: three significant digits, SI units.

/// The way in which a unit of the benches is written.
enum Scale {
    /// A time, by its nanoseconds a unit; shown in the unit that gives it one to three digits
    /// before the point.
    Time(f64),
    /// Anything else, with what stands behind the number.
    Plain(&'static str),
}

/// The units that the benches use.
fn scale(unit: &str) -> Option<Scale> {
    Some(match unit {
        "ns" => Scale::Time(1.0),
        "µs" => Scale::Time(1e3),
        "ms" => Scale::Time(1e6),
        "s" => Scale::Time(1e9),
        "times" | "" => Scale::Plain(""),
        "M/s" => Scale::Plain(" million/s"),
        "MiB" => Scale::Plain(" MiB"),
        "MB" => Scale::Plain(" MB"),
        "kB" => Scale::Plain(" kB"),
        "cycles" => Scale::Plain(" cycles"),
        "/s" => Scale::Plain(" a second"),
        "%" => Scale::Plain(" %"),
        _ => return None,
    })
}

/// The factor and the word of the unit in which `value` is written.
fn fitting(value: f64, unit: &str) -> Option<(f64, &'static str)> {
    Some(match scale(unit)? {
        Scale::Plain(word) => (1.0, word),
        Scale::Time(nanoseconds) => match (value * nanoseconds).abs() {
            size if size >= 999.5e6 => (nanoseconds / 1e9, " s"),
            size if size >= 999.5e3 => (nanoseconds / 1e6, " ms"),
            size if size >= 999.5 => (nanoseconds / 1e3, " µs"),
            _ => (nanoseconds, " ns"),
        },
    })
}

/// `13.8 µs`. Nothing for a unit that is not known here.
pub(super) fn written(value: f64, unit: &str) -> Option<String> {
    let (factor, word) = fitting(value, unit)?;
    Some(format!("{}{word}", digits(value * factor)))
}

/// `149 to 173`, in the unit in which `value` is written.
pub(super) fn range(value: f64, low: f64, high: f64, unit: &str) -> Option<String> {
    let (factor, _) = fitting(value, unit)?;
    Some(format!("{} to {}", digits(low * factor), digits(high * factor)))
}

/// Three significant digits; integers beyond them stay whole, in groups from five digits on.
fn digits(value: f64) -> String {
    let text = match value.abs() {
        size if size >= 99.95 || size == 0.0 => format!("{size:.0}"),
        size if size >= 9.995 => format!("{size:.1}"),
        size if size >= 0.9995 => format!("{size:.2}"),
        size => format!("{size:.3}"),
    };
    let text = if text.len() > 4 && !text.contains('.') { grouped(&text) } else { text };
    // A negative number that is rounded to nothing has no sign.
    let is_nothing = text.chars().all(|character| matches!(character, '0' | '.'));
    if value < 0.0 && !is_nothing { format!("−{text}") } else { text }
}

fn grouped(text: &str) -> String {
    let mut grouped = String::new();
    for (index, digit) in text.chars().enumerate() {
        if index > 0 && (text.len() - index).is_multiple_of(3) {
            grouped.push(' ');
        }
        grouped.push(digit);
    }
    grouped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_written_in_the_unit_that_fits() {
        let texts = [8.7, 236.2, 999.4, 999.6, 13_800.0, 1.22e6, 2.5e9].map(|ns| written(ns, "ns"));
        let expected = ["8.70 ns", "236 ns", "999 ns", "1.00 µs", "13.8 µs", "1.22 ms", "2.50 s"];
        assert_eq!(texts.map(Option::unwrap), expected);
        assert_eq!(written(0.0611, "s").unwrap(), "61.1 ms");
        assert_eq!(written(0.6, "µs").unwrap(), "600 ns");
    }

    #[test]
    fn an_interval_keeps_the_unit_of_its_value() {
        assert_eq!(range(167_000.0, 149_000.0, 1_173_000.0, "ns").unwrap(), "149 to 1173");
        assert_eq!(range(-104.0, -960.0, 272.4, "ns").unwrap(), "−960 to 272");
        assert_eq!(range(1.25, 1.246, 1.254, "times").unwrap(), "1.25 to 1.25");
    }

    #[test]
    fn other_units_have_their_words_and_unknown_ones_none() {
        assert_eq!(written(45.23, "M/s").unwrap(), "45.2 million/s");
        assert_eq!(written(1257.4, "times").unwrap(), "1257");
        assert_eq!(written(123_456.0, "/s").unwrap(), "123 456 a second");
        assert_eq!(written(-0.0001, "times").unwrap(), "0.000");
        assert_eq!(written(1.0, "furlongs"), None);
    }
}
