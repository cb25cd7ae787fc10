//! Text in lines of so many columns.
//!
//! Lines end between words. A number stays with its unit, and what stands in backticks, such as a
//! command to be copied, stays in one line where it fits into one. Columns are counted in
//! characters.

/// Units that stay on the line of their number.
const UNITS: [&str; 8] = ["ns", "µs", "ms", "s", "min", "h", "d", "%"];

/// Spaces that belong to a word, such as between the thousands of a number.
const NO_BREAK: [char; 2] = ['\u{a0}', '\u{202f}'];

/// The treatment of a word that is longer than a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LongWord {
    /// It goes on in the next line.
    Cut,
    /// It stays whole, and its line is longer: a path or a command is to be copied.
    Keep,
}

/// Lines of at most `room` columns; none for a text without words.
#[must_use]
pub fn wrap(text: &str, room: usize, long: LongWord) -> Vec<String> {
    let room = room.max(1);
    let mut lines = Vec::new();
    let mut line: Vec<char> = Vec::new();
    for mut word in words(text, room) {
        if !line.is_empty() && line.len() + 1 + word.len() > room {
            lines.push(std::mem::take(&mut line));
        }
        while long == LongWord::Cut && word.len() > room {
            lines.push(word.drain(..room).collect());
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line.extend(word);
    }
    if !line.is_empty() {
        lines.push(line);
    }
    lines.into_iter().map(|line| line.into_iter().collect()).collect()
}

/// The lines of a text, each of them in lines of at most `columns`; those in which one goes on are
/// indented by `indent`, beyond what it is indented by itself. Text that fits stays as it is.
#[must_use]
pub fn hanging(text: &str, columns: usize, indent: usize) -> String {
    let mut lines = Vec::new();
    for line in text.lines() {
        if line.chars().count() <= columns {
            lines.push(line.to_owned());
            continue;
        }
        let own = line.chars().take_while(|it| *it == ' ').count();
        let (first, rest) = (" ".repeat(own), " ".repeat(own + indent));
        // The first line could hold more; that all of them are alike is easier to read.
        let parts = wrap(line, columns.saturating_sub(own + indent), LongWord::Keep);
        let begun = |(index, part)| format!("{}{part}", if index == 0 { &first } else { &rest });
        lines.extend(parts.into_iter().enumerate().map(begun));
    }
    lines.join("\n")
}

/// The words of a text: a number with its unit, and what stands in backticks and fits into `room`,
/// are one.
fn words(text: &str, room: usize) -> Vec<Vec<char>> {
    let between = text.split(|it: char| it.is_whitespace() && !NO_BREAK.contains(&it));
    let mut rest: &[&str] = &between.filter(|word| !word.is_empty()).collect::<Vec<_>>();
    let mut words: Vec<Vec<char>> = Vec::new();
    while let Some(taken) = quoted(rest, room) {
        let word = rest[..taken].join(" ");
        rest = &rest[taken..];
        let unit = word.trim_end_matches([',', ';', '.', ')']);
        match words.last_mut() {
            Some(last)
                if UNITS.contains(&unit) && last.last().is_some_and(char::is_ascii_digit) =>
            {
                last.push(' ');
                last.extend(word.chars());
            }
            _ => words.push(word.chars().collect()),
        }
    }
    words
}

/// Counts the words that the first one stays together with, itself included; `None` without any.
fn quoted(words: &[&str], room: usize) -> Option<usize> {
    let first = words.first()?;
    let mut open = first.matches('`').count() % 2 == 1;
    if !open {
        return Some(1);
    }
    let mut length = first.chars().count();
    for (index, word) in words.iter().enumerate().skip(1) {
        length += 1 + word.chars().count();
        if length > room {
            break;
        }
        open ^= word.matches('`').count() % 2 == 1;
        if !open {
            return Some(index + 1);
        }
    }
    Some(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_wrapped_between_words() {
        let cut = |text, room| wrap(text, room, LongWord::Cut);
        assert_eq!(cut("one two three", 7), ["one two", "three"]);
        assert_eq!(cut("abcdefghij k", 4), ["abcd", "efgh", "ij k"]);
        assert_eq!(cut("later than 390 µs.", 15), ["later than", "390 µs."]);
        assert_eq!(cut("in cycle 5\u{202f}912 of it", 11), ["in cycle", "5\u{202f}912 of it"]);
        assert!(cut("", 10).is_empty());
        assert_eq!(wrap("a /some/long/path b", 6, LongWord::Keep), ["a", "/some/long/path", "b"]);
    }

    #[test]
    fn a_command_to_be_copied_stays_in_one_line() {
        let text = "end it with `quietcore down line` now";
        assert_eq!(wrap(text, 24, LongWord::Keep), ["end it with", "`quietcore down line`", "now"]);
        // It does not fit, or never ends.
        assert_eq!(wrap("a `b c d` e", 4, LongWord::Keep), ["a `b", "c d`", "e"]);
        assert_eq!(wrap("it's a ` alone here", 9, LongWord::Keep), ["it's a `", "alone", "here"]);
    }

    #[test]
    fn a_line_goes_on_below_and_what_fits_stays() {
        let text = "short  with  gaps\n  two three four five";
        assert_eq!(hanging(text, 80, 4), text);
        let narrow = "short  with  gaps\n  two three\n      four five";
        assert_eq!(hanging(text, 17, 4), narrow);
    }
}
