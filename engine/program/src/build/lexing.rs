//! A look at C source without understanding it: comments, strings, names and brackets.
//!
//! It answers the few questions that come before the compiler can: does this file define `main`,
//! and how is this variable initialised. Preprocessor lines are skipped as a whole.

/// A token with its place in the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Token<'a> {
    pub(crate) text: &'a str,
    /// Offset of its first byte.
    pub(crate) at: usize,
}

/// The tokens of a text: names, numbers, strings as a whole, and single characters for all the
/// rest.
pub(crate) fn tokens(text: &str) -> Vec<Token<'_>> {
    let bytes = text.as_bytes();
    let mut tokens = Vec::new();
    let mut at = 0;
    let mut line_start = true;
    while at < bytes.len() {
        let byte = bytes[at];
        let end = match byte {
            b'\n' => {
                line_start = true;
                at += 1;
                continue;
            }
            _ if byte.is_ascii_whitespace() => {
                at += 1;
                continue;
            }
            b'/' if bytes.get(at + 1) == Some(&b'*') => {
                at = text[at + 2..].find("*/").map_or(bytes.len(), |found| at + 2 + found + 2);
                continue;
            }
            b'/' if bytes.get(at + 1) == Some(&b'/') => {
                at = end_of_line(bytes, at);
                continue;
            }
            b'#' if line_start => {
                at = end_of_line(bytes, at);
                continue;
            }
            b'"' | b'\'' => end_of_string(bytes, at),
            _ if is_word(byte) => {
                let rest = bytes[at..].iter().position(|byte| !is_word(*byte));
                rest.map_or(bytes.len(), |length| at + length)
            }
            _ => at + 1,
        };
        line_start = false;
        tokens.push(Token { text: text.get(at..end).unwrap_or(""), at });
        at = end;
    }
    tokens
}

/// Names; characters beyond ASCII are counted to them, so that no cut falls inside of one.
fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || !byte.is_ascii()
}

/// The end of the line; a backslash at its end joins the next one to it.
fn end_of_line(bytes: &[u8], mut at: usize) -> usize {
    while at < bytes.len() && bytes[at] != b'\n' {
        // A comment may start in a preprocessor line and go on for many.
        if bytes[at..].starts_with(b"/*") {
            let end = bytes[at + 2..].windows(2).position(|pair| pair == b"*/");
            at = end.map_or(bytes.len(), |found| at + 2 + found + 2);
            continue;
        }
        let escaped = bytes[at] == b'\\';
        at += 1;
        if escaped && bytes.get(at) == Some(&b'\r') {
            at += 1;
        }
        if escaped && bytes.get(at) == Some(&b'\n') {
            at += 1;
        }
    }
    at
}

fn end_of_string(bytes: &[u8], start: usize) -> usize {
    let quote = bytes[start];
    let mut at = start + 1;
    while at < bytes.len() && bytes[at] != quote && bytes[at] != b'\n' {
        at += if bytes[at] == b'\\' { 2 } else { 1 };
    }
    (at + 1).min(bytes.len())
}

/// Returns `true` if a function `main` is defined at file level.
pub(crate) fn defines_main(text: &str) -> bool {
    let tokens = tokens(text);
    let mut depth = 0_usize;
    for (index, token) in tokens.iter().enumerate() {
        match token.text {
            "{" => depth += 1,
            "}" => depth = depth.saturating_sub(1),
            "main" if depth == 0 => {
                let Some(close) = closing(&tokens, index + 1, "(", ")") else {
                    continue;
                };
                if tokens.get(close + 1).is_some_and(|it| it.text == "{") {
                    return true;
                }
            }
            _ => {}
        }
    }
    false
}

/// Returns whether a class or structure of this name is defined, not only declared.
pub(crate) fn defines_class(text: &str, name: &str) -> bool {
    let tokens = tokens(text);
    tokens.windows(3).any(|three| {
        ["class", "struct"].contains(&three[0].text)
            && three[1].text == name
            && ["{", ":", "final"].contains(&three[2].text)
    })
}

/// The initialiser, braces included, of a variable of this type at file level:
/// `static TYPE name = { … };`.
pub(crate) fn initialiser_of<'a>(text: &'a str, type_name: &str) -> Option<&'a str> {
    let tokens = tokens(text);
    let wanted = type_name.strip_prefix("struct ").unwrap_or(type_name);
    let mut depth = 0_usize;
    for (index, token) in tokens.iter().enumerate() {
        match token.text {
            "{" => depth += 1,
            "}" => depth = depth.saturating_sub(1),
            _ if depth == 0 && token.text == wanted => {
                let texts: Vec<&str> = tokens[index..].iter().take(4).map(|it| it.text).collect();
                if let [_, _, "=", "{"] = texts[..] {
                    let close = closing(&tokens, index + 3, "{", "}")?;
                    return text.get(tokens[index + 3].at..tokens[close].at + 1);
                }
            }
            _ => {}
        }
    }
    None
}

/// The lengths written in brackets after a parameter of a function's declaration: `[3]` or
/// `[2][3]`. `None` where it is not declared so.
pub(crate) fn parameter_length(text: &str, function: &str, parameter: &str) -> Option<u64> {
    let tokens = tokens(text);
    for (index, _) in tokens.iter().enumerate().filter(|(_, token)| token.text == function) {
        let Some(close) = closing(&tokens, index + 1, "(", ")") else {
            continue;
        };
        let list = &tokens[index + 1..close];
        let Some(at) = list.iter().position(|token| token.text == parameter) else {
            continue;
        };
        let mut length = None;
        let mut rest = list[at + 1..].iter().map(|token| token.text);
        while let (Some("["), Some(number), Some("]")) = (rest.next(), rest.next(), rest.next()) {
            let number: u64 = number.trim_end_matches(['u', 'U', 'l', 'L']).parse().ok()?;
            length = Some(length.unwrap_or(1_u64).checked_mul(number)?);
        }
        if length.is_some() {
            return length;
        }
    }
    None
}

/// The remark that a generator leaves on a function's sample time, in seconds:
/// `void servo_step1(void) /* Sample time: [0.1s, 0.0s] */`.
pub(crate) fn sample_time(text: &str, function: &str) -> Option<f64> {
    const REMARK: &str = "Sample time: [";
    for (at, _) in text.match_indices(function) {
        let rest = &text[at + function.len()..];
        // The remark stands between the parameter list and the body, and may be broken into lines.
        let Some(end) = rest.find(['{', ';']) else {
            continue;
        };
        if rest.starts_with(|next: char| next.is_alphanumeric() || next == '_') {
            continue;
        }
        let Some(remark) = rest[..end].find(REMARK) else {
            continue;
        };
        let number = &rest[remark + REMARK.len()..end];
        let number = &number[..number.find('s')?];
        return number.trim().parse().ok().filter(|seconds: &f64| *seconds > 0.0);
    }
    None
}

/// The body of a function, braces and comments included; `None` where it is not defined here. A
/// method is named with its class, `Servo::step`.
pub(crate) fn body_of<'a>(text: &'a str, function: &str) -> Option<&'a str> {
    // Most texts don't hold it: to cut them into tokens would be in vain.
    let (class, name) = function.rsplit_once("::").map_or((None, function), |(class, name)| {
        (Some(class.rsplit("::").next().unwrap_or(class)), name)
    });
    if !text.contains(name) {
        return None;
    }
    let tokens = tokens(text);
    let of_class = |index: usize| {
        let before = |back: usize| index.checked_sub(back).map(|at| tokens[at].text);
        class.is_none_or(|class| {
            [before(1), before(2), before(3)] == [Some(":"), Some(":"), Some(class)]
        })
    };
    let named = tokens.iter().enumerate().filter(|(_, token)| token.text == name);
    named.into_iter().find_map(|(index, _)| {
        let close = closing(&tokens, index + 1, "(", ")").filter(|_| of_class(index))?;
        let end = closing(&tokens, close + 1, "{", "}")?;
        text.get(tokens[close + 1].at..tokens[end].at + 1)
    })
}

/// The number that is assigned to a member of this name.
pub(crate) fn assigned(text: &str, member: &str) -> Option<f64> {
    if !text.contains(member) {
        return None;
    }
    let tokens = tokens(text);
    tokens.windows(2).filter(|two| two[0].text == member && two[1].text == "=").find_map(|two| {
        let value = &text[two[1].at + 1..];
        let value = &value[..value.find([';', ',', '}'])?];
        let is_around = |c: char| c.is_whitespace() || "()fF".contains(c);
        value.trim_matches(is_around).parse().ok()
    })
}

/// Position of the bracket that closes the one at `open`; `None` when another token stands there.
fn closing(tokens: &[Token<'_>], open: usize, opens: &str, closes: &str) -> Option<usize> {
    let mut depth = 0_usize;
    for (index, token) in tokens.iter().enumerate().skip(open) {
        if token.text == opens {
            depth += 1;
        } else if token.text == closes {
            depth = depth.checked_sub(1)?;
        }
        if depth == 0 {
            return (index > open).then_some(index);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_main_is_found_however_it_is_written() {
        for text in [
            "int main(void) { return 0; }",
            "int_T main(int_T argc,\n  const char *argv[])\n{ }",
            "#include <a.h> /* a\n b */\nvoid main ( ) /* x */ {\n}",
        ] {
            assert!(defines_main(text), "{text}");
        }
    }

    #[test]
    fn what_only_looks_like_a_main_is_none() {
        for text in [
            "int main(void);",
            "void f(void) { main(); if (main()) { } }",
            "/* int main(void) { } */",
            "// int main(void) { }\n",
            "#define main(x) { x }\nint a;",
            "const char *a = \"int main(void) {\";",
            "int servo_main(void) { }",
            "char c = '\"'; int b; /* \" */",
        ] {
            assert!(!defines_main(text), "{text}");
        }
    }

    #[test]
    fn a_class_is_defined_where_its_body_stands() {
        let text = "class Servo;\nclass Pump final\n{ };\nclass Valve : public Base { };\n";
        assert!(!defines_class(text, "Servo"));
        assert!(defines_class(text, "Pump") && defines_class(text, "Valve"));
        assert!(!defines_class("// class Servo {\n", "Servo"));
    }

    #[test]
    fn an_initialiser_is_taken_with_its_braces() {
        let text =
            "static RT_MODEL rtM_;\nstatic P rtP = {\n /* } */ 1, { 2, 3 }, \"}\" };/* x */\n";
        assert_eq!(initialiser_of(text, "P"), Some("{\n /* } */ 1, { 2, 3 }, \"}\" }"));
        assert_eq!(initialiser_of(text, "DW"), None);
        assert_eq!(initialiser_of("void f(void) { P rtP = { 1 }; }", "P"), None);
    }

    #[test]
    fn the_length_of_a_parameter_is_read_from_its_declaration() {
        let text = "extern void s_step(RT *const M, real_T a_In1[3], real_T b[2][4], real_T *c);";
        assert_eq!(parameter_length(text, "s_step", "a_In1"), Some(3));
        assert_eq!(parameter_length(text, "s_step", "b"), Some(8));
        assert_eq!(parameter_length(text, "s_step", "c"), None);
    }

    #[test]
    fn the_sample_time_is_read_from_the_remark() {
        let text = "void s_step0(void);\n\
                    void s_step0(void)  /* Sample time: [0.001s, 0.0s] */\n{\n}\n\
                    void s_step10(void) /* Sample time: [1.0s, 0.0s] */ { }";
        assert_eq!(sample_time(text, "s_step0"), Some(0.001));
        assert_eq!(sample_time(text, "s_step1"), None);
        assert_eq!(sample_time(text, "s_step10"), Some(1.0));
    }

    #[test]
    fn a_body_and_what_is_assigned_are_read() {
        let text = "void s_step(void);\nvoid s_step(void) /* x */\n{ M.dt = (0.5F); /* { */ }\n\
                    void S::step() { }\nvoid T::step() const { other = 1; }\n";
        assert_eq!(body_of(text, "s_step"), Some("{ M.dt = (0.5F); /* { */ }"));
        assert_eq!(body_of(text, "a::S::step"), Some("{ }"));
        assert_eq!((body_of(text, "step_s"), body_of(text, "s_initialize")), (None, None));
        assert_eq!(assigned(text, "dt"), Some(0.5));
        assert_eq!((assigned("a.dt == 2;", "dt"), assigned("a.dt = b;", "dt")), (None, None));
    }

    proptest! {
        #[test]
        fn any_text_is_looked_at_without_a_panic(
            text in r#"([a-zP={}()\[\]"'/*\\#\n; ]|é){0,200}"#,
        ) {
            let _ = defines_main(&text);
            let _ = initialiser_of(&text, "P");
            let _ = parameter_length(&text, "a", "b");
            let _ = sample_time(&text, "a");
            let _ = body_of(&text, "a");
            let _ = assigned(&text, "a");
        }
    }
}
