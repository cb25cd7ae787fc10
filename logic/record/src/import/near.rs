//! A header that is not recognised, since something stands beside or before it: a remark, the mark
//! of a quoted mail, a time stamp, or the output of a terminal.

use super::error::quoted;
use super::lines::lines;
use super::{cyclictest, hwlatdetect, oslat, rtla};

/// Begin of a line below a histogram that begins as its header does.
const BELOW: &str = "# Histogram Overflow";

/// Returns place and problem of the first line that would be a header if it stood alone.
pub(super) fn header(text: &str) -> Option<((usize, usize), String)> {
    let has_buckets = text.contains("\"histogram\"");
    lines(text).find_map(|line| {
        let headers =
            [cyclictest::HEADER, rtla::HEADER_START, oslat::FREQUENCY, hwlatdetect::HEADER_START];
        let header = headers.into_iter().find(|header| line.text.contains(header));
        if let Some(header) = header.filter(|_| !line.text.contains(BELOW)) {
            let what = format!(
                "{} has more than the header; let `{}` begin the line, alone on it but for its own \
                 words, and what follows it likewise",
                quoted(line.text.trim()),
                header.trim()
            );
            return Some((line.place(), what));
        }
        let begins = line.text.trim_start().starts_with('{');
        let what = "the JSON begins here, behind other text; keep what begins at this line";
        (begins && has_buckets).then(|| (line.place(), what.to_owned()))
    })
}
