//! The compiler's remarks: `servo.c:12:5: error: 'x' undeclared (first use in this function)`.

use std::fmt;

use crate::build::{Diagnostic, Severity};

/// Most remarks that are kept.
const DIAGNOSTICS_MAX: usize = 1000;

/// Words by which the compiler and the linker say how grave a remark is.
const MARKS: [(&str, Severity); 4] = [
    ("fatal error: ", Severity::Error),
    ("error: ", Severity::Error),
    ("warning: ", Severity::Warning),
    ("undefined reference to ", Severity::Error),
];

/// The remarks in a text, in order.
pub(in crate::build) fn parse(text: &str) -> Vec<Diagnostic> {
    text.lines().filter_map(line).take(DIAGNOSTICS_MAX).collect()
}

fn line(line: &str) -> Option<Diagnostic> {
    let (at, severity, mark) = MARKS
        .iter()
        .filter_map(|(mark, severity)| Some((line.find(mark)?, *severity, *mark)))
        .min_by_key(|(at, ..)| *at)?;
    let keeps_mark = !mark.ends_with(": ");
    let message = if keeps_mark { &line[at..] } else { &line[at + mark.len()..] };
    let place = line[..at].trim_end().trim_end_matches(':');
    // The linker puts its own name before the place.
    let place = place.rsplit_once(": ").map_or(place, |(_, place)| place);
    let (file, line_number, column) = place_of(place);
    Some(Diagnostic {
        severity,
        file: file.trim_start_matches("./").to_owned(),
        line: line_number,
        column,
        message: message.to_owned(),
    })
}

/// `file`, `file:line` or `file:line:column`.
fn place_of(place: &str) -> (&str, Option<u32>, Option<u32>) {
    let Some((rest, last)) = place.rsplit_once(':') else {
        return (place, None, None);
    };
    let Ok(last) = last.parse::<u32>() else {
        return (place, None, None);
    };
    match rest.rsplit_once(':').map(|(file, line)| (file, line.parse::<u32>())) {
        Some((file, Ok(line))) => (file, Some(line), Some(last)),
        _ => (rest, Some(last), None),
    }
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.file.is_empty() {
            write!(f, "{}:", self.file)?;
        }
        for number in [self.line, self.column].into_iter().flatten() {
            write!(f, "{number}:")?;
        }
        if !self.file.is_empty() {
            f.write_str(" ")?;
        }
        let severity = match self.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
        };
        write!(f, "{severity}: {}", self.message)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn remarks_are_found_with_their_place() {
        let text = "./servo.c: In function 'servo_step':\n\
                    ./servo.c:12:5: error: 'x' undeclared (first use in this function)\n\
                       12 |     x = 1;\n\
                    sub/a.c:3:10: fatal error: rt_sim.h: No such file or directory\n\
                    servo.h:7:2: warning: unused variable 'y' [-Wunused-variable]\n\
                    /usr/bin/ld: ././servo.c:40: undefined reference to `MW_pwm'\n\
                    collect2: error: ld returned 1 exit status\n";
        let shown: Vec<String> = parse(text).iter().map(ToString::to_string).collect();
        assert_eq!(
            shown,
            [
                "servo.c:12:5: error: 'x' undeclared (first use in this function)",
                "sub/a.c:3:10: error: rt_sim.h: No such file or directory",
                "servo.h:7:2: warning: unused variable 'y' [-Wunused-variable]",
                "servo.c:40: error: undefined reference to `MW_pwm'",
                "collect2: error: ld returned 1 exit status",
            ]
        );
    }
}
