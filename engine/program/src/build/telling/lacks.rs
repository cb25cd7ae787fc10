//! Headers and functions that a program needs and its folder does not hold, found in the compiler's
//! text: the file and function that need each, its origin, and how to generate the model without.

use std::collections::BTreeSet;
use std::fmt;
use std::path::Path;

use quietcore_wording::list;

use crate::build::headers;
use crate::build::lexing::{self, Token};
use crate::build::sources::{SourceFile, Sources};
use crate::build::telling::diagnostic;
use crate::build::telling::origin::Origin;

/// Most things that are told.
const LACKS_MAX: usize = 4;

/// Most others of the same origin that are named with one.
const OTHERS_MAX: usize = 6;

/// One thing that is missing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lack {
    /// The header or function.
    pub name: String,
    /// The product that it belongs to; `None` if its name does not tell.
    pub origin: Option<Origin>,
    /// It is named like a file of the model itself.
    pub is_own: bool,
    /// Why a file of this name that is there is not read, as the rest of a sentence.
    pub unread: Option<String>,
    /// The line that includes a header, as `servo.h:12`; empty for a function.
    pub included_at: String,
    /// The source file that needs it.
    pub source: String,
    /// The function that needs it, and what it calls.
    pub call: Option<(String, String)>,
    /// Others of the same origin that are missing.
    pub others: Vec<String>,
    /// The target that the code says it was generated for, where that is one of somebody's own.
    pub target: Option<String>,
}

impl fmt::Display for Lack {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.unread {
            Some(why) => write!(f, "`{}` is not read: {why}", self.name)?,
            None => write!(f, "`{}` is missing", self.name)?,
        }
        if !self.others.is_empty() {
            write!(f, ", and {}", list(&self.others))?;
        }
        match self.origin {
            _ if self.unread.is_some() => {}
            Some(origin) => write!(f, ": it belongs to {origin}")?,
            None if self.is_own => f.write_str(": it is part of the generated code")?,
            None => {}
        }
        let mut border = ". ";
        if !self.included_at.is_empty() {
            write!(f, "{border}`{}` includes it", self.included_at)?;
            if !self.included_at.starts_with(&format!("{}:", self.source)) {
                write!(f, ", for `{}`", self.source)?;
            }
            border = "; ";
        }
        if let Some((function, call)) = &self.call {
            write!(f, "{border}`{function}` in `{}` calls `{call}`", self.source)?;
        }
        if let Some(target) = &self.target {
            write!(f, ". The code was generated for the target `{target}`")?;
        }
        match self.origin {
            _ if self.unread.is_some() => Ok(()),
            Some(origin) => write!(f, ". To do without: {}", origin.without()),
            None if self.is_own => f.write_str(". The folder is not whole: copy all of it"),
            None if self.name.starts_with('/') => {
                f.write_str(". Put it there, or include a copy in the folder")
            }
            None => f.write_str(". Put a copy into the folder"),
        }
    }
}

/// Lists what is missing of a program in this folder that the compiler or the linker refused with
/// this text.
pub(in crate::build) fn find(text: &str, sources: &Sources, folder: &Path) -> Vec<Lack> {
    let mut lacks: Vec<Lack> = Vec::new();
    // What the compiler says before an error: the files by which it came there, and the function.
    let (mut from, mut function) = (None, None);
    for line in text.lines() {
        if let Some(file) = included_from(line) {
            from = Some(file.to_owned());
            continue;
        }
        if let Some((_, name)) = line.split_once("in function `") {
            function = Some(name.trim_end_matches("':").to_owned());
        }
        let Some(error) = diagnostic::parse(line).pop() else { continue };
        let lack = if let Some(header) = error.message.strip_suffix(NO_FILE) {
            let at = error.line.map_or_else(String::new, |line| format!("{}:{line}", error.file));
            let unread = unread(header, &error.file, sources, folder);
            let source = from.take().unwrap_or(error.file);
            Lack { unread, ..of_header(header, at, source, sources) }
        } else if let Some(name) = undefined(&error.message) {
            let Some(origin) = Origin::of_function(name) else { continue };
            let caller = function.clone().unwrap_or_default();
            Lack {
                name: name.to_owned(),
                origin: Some(origin),
                is_own: false,
                unread: None,
                included_at: String::new(),
                source: error.file,
                call: (!caller.is_empty()).then(|| (caller, name.to_owned())),
                others: Vec::new(),
                target: None,
            }
        } else {
            continue;
        };
        let is_told = lacks.iter().any(|it| it.name == lack.name || it.others.contains(&lack.name));
        if !is_told && lacks.len() < LACKS_MAX {
            lacks.push(lack);
        }
    }
    // What belongs to no product is a file like any other, whatever the target.
    if let Some(first) = lacks.iter_mut().find(|lack| lack.origin.is_some()) {
        first.target = foreign_target(sources);
    }
    lacks
}

/// Begin of the line by which generators name the target.
const TARGET: &str = "Target selection: ";

/// The target that a source file says it was generated for; `None` for those that Simulink Coder
/// and Embedded Coder have themselves.
fn foreign_target(sources: &Sources) -> Option<String> {
    let known = |name: &str| name.starts_with("ert") || name.starts_with("grt");
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
    sources.compiled.iter().find_map(|file| {
        let text = file.text();
        let name = text.split_once(TARGET)?.1.split_whitespace().next()?;
        let is_foreign = name.ends_with(".tlc") && name.chars().all(plain) && !known(name);
        is_foreign.then(|| name.to_owned())
    })
}

/// The compiler's words for a header that is not there.
const NO_FILE: &str = ": No such file or directory";

/// Ends of the names of a model's own headers, behind the model's name.
const OWN_ENDS: [&str; 6] = [".h", "_types.h", "_private.h", "_dt.h", "_capi.h", "_data.h"];

/// The file in a line that says by which way the compiler came to an error.
fn included_from(line: &str) -> Option<&str> {
    let rest = line.trim_start();
    let place = rest.strip_prefix("In file included from ").or(rest.strip_prefix("from "))?;
    let file = place.split(':').next()?;
    Some(file.trim_start_matches("./"))
}

/// The name in a linker's message.
fn undefined(message: &str) -> Option<&str> {
    let name = message.strip_prefix("undefined reference to `")?;
    Some(name.trim_end_matches('\'').split('(').next().unwrap_or(name))
}

fn of_header(name: &str, included_at: String, source: String, sources: &Sources) -> Lack {
    let origin = Origin::of_header(name);
    let is_of = |stem: &str| {
        name.strip_prefix(stem).is_some_and(|end| OWN_ENDS.contains(&end) && !stem.is_empty())
    };
    let mut stems = sources.compiled.iter().map(SourceFile::stem);
    let is_own = origin.is_none() && stems.any(is_of);
    let others = origin.map(|origin| others(origin, name, sources)).unwrap_or_default();
    let found = origin.and_then(|origin| call(origin, &source, sources));
    let (source, call) = match found {
        Some((file, function, call)) => (file, Some((function, call))),
        None => (source, None),
    };
    let name = name.to_owned();
    let (unread, target) = (None, None);
    Lack { name, origin, is_own, unread, included_at, source, call, others, target }
}

/// The reason why a file outside of the folder is not read, as the end of a sentence.
pub(in crate::build) const OUTSIDE: &str =
    "lies outside of the folder, and only the folder is read; include a copy in it";

/// Says why a header that a file includes is not read, though there is one.
fn unread(header: &str, included_by: &str, sources: &Sources, folder: &Path) -> Option<String> {
    let mut left_out = sources.left_out.iter();
    if let Some(left) = left_out.find(|left| Path::new(&left.file).ends_with(header)) {
        return Some(left.why.clone());
    }
    if header.starts_with('/') {
        return None;
    }
    let found = folder.join(included_by).parent()?.join(header).canonicalize().ok()?;
    let inside = "files of this name and in such a folder are not read; give it another place";
    Some(if found.starts_with(folder) { inside.to_owned() } else { format!("it {OUTSIDE}") })
}

/// Other headers of the same origin that the folder refers to and does not hold.
fn others(origin: Origin, name: &str, sources: &Sources) -> Vec<String> {
    let all = || sources.compiled.iter().chain(&sources.included);
    let is_there = |wanted: &str| {
        let end = format!("/{wanted}");
        headers::brings(wanted)
            || all().any(|file| file.name == wanted || file.name.ends_with(&end))
    };
    let mut names = BTreeSet::new();
    for file in all() {
        let text = file.text();
        let wanted = text.lines().filter_map(included);
        names.extend(
            wanted
                .filter(|wanted| {
                    *wanted != name
                        && Origin::of_header(wanted) == Some(origin)
                        && !is_there(wanted)
                })
                .map(str::to_owned),
        );
    }
    names.into_iter().take(OTHERS_MAX).collect()
}

/// The name in an `#include`.
fn included(line: &str) -> Option<&str> {
    let rest = line.trim_start().strip_prefix('#')?.trim_start().strip_prefix("include")?;
    let rest = rest.trim_start();
    let close = match rest.chars().next()? {
        '"' => '"',
        '<' => '>',
        _ => return None,
    };
    rest[1..].split_once(close).map(|(name, _)| name)
}

/// A call of something of this origin: the file, the function around it, and what is called. The
/// source file that failed is looked at first.
fn call(origin: Origin, source: &str, sources: &Sources) -> Option<(String, String, String)> {
    let (first, rest): (Vec<_>, Vec<_>) =
        sources.compiled.iter().partition(|file| file.name == source);
    first.into_iter().chain(rest).find_map(|file| {
        let text = file.text();
        let (function, call) = call_in(origin, &lexing::tokens(&text))?;
        Some((file.name.clone(), function.to_owned(), call.to_owned()))
    })
}

fn call_in<'t>(origin: Origin, tokens: &[Token<'t>]) -> Option<(&'t str, &'t str)> {
    let text = |at: usize| tokens.get(at).map_or("", |token| token.text);
    // Braces that are open: true where they belong to a function.
    let mut open: Vec<bool> = Vec::new();
    let (mut named, mut function) = ("", "");
    for (at, token) in tokens.iter().enumerate() {
        let inside = open.iter().any(|is_body| *is_body);
        match token.text {
            "{" => {
                let before = if at > 0 { text(at - 1) } else { "" };
                let is_body = inside || [")", "const", "noexcept", "override"].contains(&before);
                if is_body && !inside {
                    function = named;
                }
                open.push(is_body);
            }
            "}" => {
                open.pop();
            }
            name if text(at + 1) == "(" => {
                if !inside {
                    named = name;
                } else if Origin::of_function(name) == Some(origin) {
                    return Some((function, name));
                }
            }
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(name: &str, text: &str) -> SourceFile {
        SourceFile { name: name.to_owned(), content: text.as_bytes().to_vec() }
    }

    #[test]
    fn what_needs_a_header_is_told_with_it() {
        let source = "#include \"servo.h\"\nextern \"C\" {\nvoid servo_initialize(void)\n{\n}\n\
                      void servo_step(void)\n{\n  if (a) {\n    MW_PWM_SetDutyCycle(1);\n  \
                      }\n}\n}\n";
        let sources = Sources {
            compiled: vec![file("servo.c", source)],
            included: vec![
                file(
                    "servo.h",
                    "#include <MW_PWM.h>\n# include \"MW_AnalogIn.h\"\n#include \"MW_here.h\"\n",
                ),
                file("board/MW_here.h", ""),
            ],
            ..Sources::default()
        };
        let said = "In file included from ./servo.c:1:\n./servo.h:1:10: fatal error: MW_PWM.h: No \
                    such file or directory\n    1 | #include <MW_PWM.h>\ncompilation terminated.\n";
        let lacks = find(said, &sources, Path::new(""));
        let told: Vec<String> = lacks.iter().map(ToString::to_string).collect();
        assert_eq!(
            told,
            ["`MW_PWM.h` is missing, and `MW_AnalogIn.h`: it belongs to driver blocks for a \
              board (a hardware support package). `servo.h:1` includes it, for `servo.c`; \
              `servo_step` in `servo.c` calls `MW_PWM_SetDutyCycle`. To do without: generate the \
              model without these blocks: put inports and outports in their place, and choose no \
              hardware board"]
        );
    }

    #[test]
    fn a_name_that_the_linker_misses_is_told_with_its_caller() {
        let said = "/usr/bin/ld: 0.o: in function `servo_step':\n./servo.c:40: undefined reference \
                    to `MW_pwm'\n./servo.c:41: undefined reference to `sine'\n";
        let lacks = find(said, &Sources::default(), Path::new(""));
        assert_eq!(lacks.len(), 1);
        assert_eq!(lacks[0].call, Some(("servo_step".to_owned(), "MW_pwm".to_owned())));
        assert!(lacks[0].to_string().starts_with("`MW_pwm` is missing: it belongs to driver"));
    }

    #[test]
    fn a_target_of_somebodys_own_is_named() {
        let told = |target: &str| {
            let source = format!("/*\n * Target selection: {target}\n */\n");
            let sources = Sources { compiled: vec![file("pump.c", &source)], ..Sources::default() };
            let said = "./pump.c:9:10: fatal error: hil.h: No such file or directory\n";
            find(said, &sources, Path::new(""))[0].to_string()
        };
        let quarc = told("quarc_win64.tlc");
        assert!(
            quarc.contains(". The code was generated for the target `quarc_win64.tlc`. To do"),
            "{quarc}"
        );
        for own in ["ert.tlc", "grt_malloc.tlc", "ert_shrlib.tlc", "<b>.tlc", ""] {
            assert!(!told(own).contains("generated for"), "{own}");
        }
    }

    #[test]
    fn a_file_of_the_model_itself_is_told_as_such() {
        let sources = Sources { compiled: vec![file("servo.c", "")], ..Sources::default() };
        let said = "./servo.c:3:10: fatal error: servo_types.h: No such file or directory\n\
                    ./servo.c:4:10: fatal error: ours.h: No such file or directory\n";
        let told: Vec<String> =
            find(said, &sources, Path::new("")).iter().map(ToString::to_string).collect();
        assert_eq!(
            told,
            [
                "`servo_types.h` is missing: it is part of the generated code. `servo.c:3` \
                 includes it. The folder is not whole: copy all of it",
                "`ours.h` is missing. `servo.c:4` includes it. Put a copy into the folder",
            ]
        );
    }
}
