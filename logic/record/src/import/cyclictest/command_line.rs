//! The options of a `cyclictest` command line that its JSON doesn't say otherwise.

/// Short options of `cyclictest` that take a value, attached or as the next word.
const WITH_VALUE: &str = "bcdDFhHilopy";
/// Short options whose value can only be attached.
const WITH_ATTACHED: &str = "aAt";

/// The interval where none is given, in µs.
const INTERVAL_US: u64 = 1_000;

/// The longest histogram that `cyclictest` keeps, in units of its output.
const HISTOGRAM_MAX: u64 = 1_000_000;

/// The options that matter for a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Options {
    /// `-i`, in µs; where `cyclictest` got none, its own default.
    pub(crate) interval_us: Option<u64>,
    /// `-h` or `-H`: the end of the histogram, in units of the output.
    pub(crate) histogram: Option<u64>,
    /// `-p`, the priority.
    pub(crate) priority: Option<u64>,
}

/// Programs of rt-tests that write JSON of the same frame, and measure something else.
const OTHERS: [&str; 5] = ["pmqtest", "ptsematest", "signaltest", "sigwaittest", "svsematest"];

/// Returns the program of a command line, if it is one of rt-tests that is not `cyclictest`.
pub(crate) fn other_program(command_line: &str) -> Option<&'static str> {
    let program = command_line.split_whitespace().next()?.rsplit('/').next()?;
    OTHERS.into_iter().find(|other| *other == program)
}

/// Reads a command line. Words that aren't understood are passed over.
pub(crate) fn options(command_line: &str) -> Options {
    let mut words = command_line.split_whitespace();
    // Whoever else writes this format has no default that is known here.
    let is_cyclictest = words.next().is_some_and(|program| program.ends_with("cyclictest"));
    let interval_us = is_cyclictest.then_some(INTERVAL_US);
    let mut options = Options { interval_us, histogram: None, priority: None };
    while let Some(word) = words.next() {
        if let Some(long) = word.strip_prefix("--") {
            let (name, attached) = match long.split_once('=') {
                Some((name, value)) => (name, Some(value)),
                None => (long, None),
            };
            // A name may be cut off where it is still the only one.
            let is = |whole: &str| name.len() > 2 && whole.starts_with(name);
            let letter = match name {
                _ if is("interval") => 'i',
                "histofall" => 'H',
                "histfile" => continue,
                _ if is("histogram") => 'h',
                _ if is("priority") || name == "prio" => 'p',
                _ => continue,
            };
            if let Some(value) = attached.or_else(|| words.next()) {
                options.set(letter, value);
            }
        } else if let Some(cluster) = word.strip_prefix('-') {
            for (place, letter) in cluster.char_indices() {
                let attached = &cluster[place + letter.len_utf8()..];
                if WITH_VALUE.contains(letter) {
                    let value = if attached.is_empty() { words.next() } else { Some(attached) };
                    options.set(letter, value.unwrap_or_default());
                    break;
                }
                if WITH_ATTACHED.contains(letter) {
                    break;
                }
            }
        }
    }
    options
}

impl Options {
    fn set(&mut self, letter: char, value: &str) {
        let value = number(value);
        match letter {
            // Whatever it says instead of a number, it is not the default.
            'i' => self.interval_us = value,
            'h' | 'H' => self.histogram = value.map(|value| value.min(HISTOGRAM_MAX)),
            'p' => self.priority = value,
            _ => {}
        }
    }
}

/// Reads the digits at the begin of a word, as the program does; what follows has no meaning to it.
fn number(text: &str) -> Option<u64> {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    text[..end].parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_usual_spellings_are_understood() {
        let expected = Options { interval_us: Some(200), histogram: Some(400), priority: Some(80) };
        for line in [
            "cyclictest -q -D 1 -h 400 -i 200 -p 80",
            "cyclictest -mqSi200 -h400 -p80",
            "cyclictest -t2 -a1 --histogram=400 --interval 200 --priority=80",
            "/usr/bin/cyclictest -qH 400 --interval=200 -p 80 --json=x -l 100",
            "cyclictest -A -i 200us -h 400 -p 80",
            "cyclictest -mA3 --interv 200 --histog=400 --prior 80 --histfile=out",
        ] {
            assert_eq!(options(line), expected, "{line}");
        }
        let default = Options { interval_us: Some(1_000), histogram: None, priority: None };
        assert_eq!(options(""), Options { interval_us: None, ..default });
        assert_eq!(options("quietcore -h 5").interval_us, None);
        assert_eq!(options("cyclictest -h"), default);
        assert_eq!(options("cyclictest -i many"), Options { interval_us: None, ..default });
    }

    #[test]
    fn other_programs_are_known_by_their_names() {
        assert_eq!(other_program("/usr/bin/pmqtest -t 1"), Some("pmqtest"));
        for line in ["cyclictest -h 5", "quietcore probe", "pmqtester", ""] {
            assert_eq!(other_program(line), None, "{line}");
        }
    }
}
