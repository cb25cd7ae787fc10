//! Every refusal with its exact text.
//!
//! The table is `tests/stored/refusals.txt`. Each case is a title, a text and what is said of it:
//!
//! ```text
//! # what it is about
//! | the objects of a CPU whose OS object has no attributes, from line 2 on
//! | a text that names OIL_VERSION or begins with `!` is taken as it is, without the `!`
//! > each problem
//! ~ what is said of it instead where texts of others are read, of which some is no problem then
//! ```

use crate::support::{assert_stored, read_text, stored, understand, whole};

const TABLE: &str = "refusals.txt";

/// Goal: each text is refused with the stored words, and the places in them are right.
/// Method: read the texts of the table again, and compare the table with what was said.
#[test]
fn every_refusal_says_what_is_stored() {
    let table = stored(TABLE);
    let mut said = String::new();
    let mut text = String::new();
    for line in table.lines().chain([""]) {
        if let Some(part) = line.strip_prefix('|') {
            text.push_str(part.strip_prefix(' ').unwrap_or(part));
            text.push('\n');
        } else if !text.is_empty() && !is_said(line) {
            said.push_str(&answer(text.trim_end_matches('\n')));
            text.clear();
        }
        if !is_said(line) {
            said.push_str(line);
            said.push('\n');
        }
    }
    assert_stored(
        "logic/oil/tests/stored/refusals.txt",
        said.trim_end_matches('\n').to_owned().as_str(),
    );
}

/// Returns `true` if a line of the table is a message.
fn is_said(line: &str) -> bool {
    line.starts_with('>') || line.starts_with('~')
}

fn answer(text: &str) -> String {
    let text = match text.strip_prefix('!') {
        Some(text) => text.to_owned(),
        None if text.contains("OIL_VERSION") => text.to_owned(),
        None => whole(text),
    };
    let Err(problems) = read_text(&text) else {
        panic!("this is not refused:\n{text}");
    };
    let lines: Vec<_> = text.lines().collect();
    for problem in &problems {
        // The token is in fact where the problem says it is.
        if problem.token.is_empty()
            || problem.token.ends_with('…')
            || problem.token.contains('\u{fffd}')
        {
            continue;
        }
        let line = lines[problem.position.line as usize - 1];
        let rest: String = line.chars().skip(problem.position.column as usize - 1).collect();
        // That of a directive is the file.
        let unquoted = rest.strip_prefix('"').unwrap_or(&rest);
        let found = rest.starts_with(&problem.token)
            || unquoted.starts_with(&problem.token)
            || rest.starts_with('#') && rest.contains(&problem.token);
        assert!(found, "{problem}\n{line}");
    }
    let strict = problems.to_string();
    let lenient = match understand(&text) {
        Ok(configuration) => {
            let remarks =
                configuration.remarks().iter().map(|remark| format!("accepted: {remark}"));
            remarks.collect::<Vec<_>>().join("\n")
        }
        Err(problems) => problems.to_string(),
    };
    let lenient = if lenient == strict { String::new() } else { lenient };
    let said = strict.lines().map(|line| format!("> {line}\n"));
    said.chain(lenient.lines().map(|line| format!("~ {line}\n"))).collect()
}
