//! Reads a text that a stranger wrote; shared with the fuzz target.

use quietcore_oil::{Function, NotIncluded, Reading, Tables, header, oil, read, rust, source};
use quietcore_osek::check::check;
use quietcore_osek::configuration::{Entry, Hooks};

extern "C" fn nothing() {}

/// Reads a text, strictly and as those of others are read.
pub(crate) fn use_text(text: &str) {
    for strict in [true, false] {
        use_reading(text, Reading { strict, tick_ns: None });
    }
}

/// Reads a text. It is refused with a line and the token that stands there, or the kernel takes it.
fn use_reading(text: &str, reading: Reading) {
    let mut include = |name: &str| match name {
        // A file that includes itself, one that is there, and none.
        "a" => Ok("EVENT included; #include \"a\"\n".to_owned()),
        "b" => Ok("EVENT other;\n".to_owned()),
        _ => Err(NotIncluded::Missing("there is no such file".to_owned())),
    };
    match read("hostile.oil", text, reading, &mut include) {
        Err(problems) => {
            assert!(problems.iter().next().is_some(), "a refusal says why");
            for problem in &problems {
                assert!(
                    !problem.message.is_empty()
                        && problem.position.line >= 1
                        && problem.position.column >= 1
                );
                if problem.position.file == "hostile.oil" {
                    assert_place(text, problem);
                }
            }
        }
        Ok(configuration) => {
            let mut function = |_: Function<'_>| -> Entry { nothing };
            let tables = Tables::new(&configuration, Hooks::default(), &mut function);
            check(&tables.configuration()).expect("what is accepted is good for the kernel");
            let again = read(
                "again.oil",
                &oil(&configuration),
                Reading { strict: true, tick_ns: None },
                &mut include,
            );
            let again = again.expect("a checked application can be written and read");
            assert_eq!(oil(&again), oil(&configuration));
            let made = [header(&configuration), source(&configuration), rust(&configuration)];
            assert!(made.iter().all(|text| !text.is_empty()));
        }
    }
}

/// The token is where the problem says it is.
fn assert_place(text: &str, problem: &quietcore_oil::Problem) {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let line = text.split('\n').nth(problem.position.line as usize - 1).expect("the line exists");
    let rest: String = line.chars().skip(problem.position.column as usize - 1).collect();
    let token = problem.token.trim_end_matches('…');
    // What is not printable is replaced, a string is told as what it means, and a file that is
    // included or too large by its name.
    let is_literal = !token.contains(['\u{fffd}', '"', '\\']) && !rest.starts_with(['#', '"']);
    if is_literal && token != problem.position.file {
        assert!(rest.starts_with(token), "{problem}\n{line}");
    }
}
