//! The comments of a Rust source, which the parser throws away.
//!
//! A small lexer that knows just enough to tell a comment from a text that looks like one: strings
//! with escapes, raw strings, character literals against lifetimes, and nested block comments. It
//! never fails: what is no Rust gives some comments or none.

/// One line of a comment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Comment {
    /// Line in the file, from 1.
    pub(crate) line: usize,
    /// The text after `//`, `///`, `//!` or in a block comment, without the blanks around it.
    pub(crate) text: String,
}

/// All comments of `text` in their order, block comments line by line.
pub(crate) fn comments(text: &str) -> Vec<Comment> {
    let mut lexer =
        Lexer { characters: text.chars().collect(), position: 0, line: 1, found: Vec::new() };
    while lexer.step() {}
    lexer.found
}

struct Lexer {
    characters: Vec<char>,
    position: usize,
    line: usize,
    found: Vec<Comment>,
}

impl Lexer {
    fn peek(&self, ahead: usize) -> Option<char> {
        self.characters.get(self.position + ahead).copied()
    }

    fn advance(&mut self) -> Option<char> {
        let character = self.peek(0)?;
        self.position += 1;
        self.line += usize::from(character == '\n');
        Some(character)
    }

    /// Goes over one token, roughly; `false` at the end.
    fn step(&mut self) -> bool {
        let Some(character) = self.peek(0) else {
            return false;
        };
        match (character, self.peek(1)) {
            ('/', Some('/')) => self.line_comment(),
            ('/', Some('*')) => self.block_comment(),
            ('"', _) => self.string(),
            ('\'', _) => self.character_or_lifetime(),
            _ if character.is_alphanumeric() || character == '_' => self.word(),
            _ => {
                self.advance();
            }
        }
        true
    }

    fn line_comment(&mut self) {
        let line = self.line;
        let mut text = String::new();
        while let Some(character) = self.peek(0).filter(|next| *next != '\n') {
            text.push(character);
            self.advance();
        }
        let text = text.trim_start_matches('/');
        self.push(line, text.strip_prefix('!').unwrap_or(text));
    }

    fn block_comment(&mut self) {
        let mut depth = 0_usize;
        let mut line = self.line;
        let mut text = String::new();
        loop {
            match (self.peek(0), self.peek(1)) {
                (Some('/'), Some('*')) => {
                    depth += 1;
                    self.advance();
                    self.advance();
                }
                (Some('*'), Some('/')) => {
                    depth -= 1;
                    self.advance();
                    self.advance();
                }
                (Some('\n'), _) => {
                    self.push(line, &text);
                    text.clear();
                    self.advance();
                    line = self.line;
                }
                (Some(character), _) => {
                    text.push(character);
                    self.advance();
                }
                (None, _) => break,
            }
            if depth == 0 {
                break;
            }
        }
        self.push(line, &text);
    }

    fn push(&mut self, line: usize, text: &str) {
        self.found.push(Comment { line, text: text.trim().to_owned() });
    }

    fn string(&mut self) {
        self.advance();
        while let Some(character) = self.advance() {
            match character {
                '\\' => {
                    self.advance();
                }
                '"' => break,
                _ => {}
            }
        }
    }

    /// `'a'` and `'\n'` are literals, `'a` is a lifetime and holds no text.
    fn character_or_lifetime(&mut self) {
        self.advance();
        if self.peek(0) == Some('\\') {
            self.advance();
            self.advance();
            while let Some(character) = self.advance() {
                if character == '\'' {
                    break;
                }
            }
        } else if self.peek(1) == Some('\'') {
            self.advance();
            self.advance();
        }
    }

    /// A word, and the raw string that it may be the prefix of.
    fn word(&mut self) {
        let mut word = String::new();
        while let Some(character) = self.peek(0)
            && (character.is_alphanumeric() || character == '_')
        {
            word.push(character);
            self.advance();
        }
        if !matches!(word.as_str(), "r" | "br" | "cr") {
            return;
        }
        let mut hashes = 0;
        while self.peek(hashes) == Some('#') {
            hashes += 1;
        }
        if self.peek(hashes) == Some('"') {
            self.raw_string(hashes);
        }
    }

    fn raw_string(&mut self, hashes: usize) {
        for _ in 0..=hashes {
            self.advance();
        }
        while let Some(character) = self.advance() {
            if character == '"' && (0..hashes).all(|ahead| self.peek(ahead) == Some('#')) {
                for _ in 0..hashes {
                    self.advance();
                }
                break;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn texts(source: &str) -> Vec<(usize, String)> {
        comments(source).into_iter().map(|comment| (comment.line, comment.text)).collect()
    }

    #[test]
    fn comments_of_every_kind_are_found_with_their_line() {
        let source = "//! head\n/// doc\nfn a() {} // why\n/* one /* nested */\ntwo */ fn b() {}\n";
        let expected = [(1, "head"), (2, "doc"), (3, "why"), (4, "one  nested"), (5, "two")];
        assert_eq!(texts(source), expected.map(|(line, text)| (line, text.to_owned())));
    }

    #[test]
    fn what_only_looks_like_a_comment_is_none() {
        let source = r##"
            let a = "// no"; let b = r#"" // no"#; let c = '"'; let d = '\''; // yes
            fn e<'a>(f: &'a str) {} // and "this"
        "##;
        assert_eq!(texts(source), [(2, "yes".to_owned()), (3, "and \"this\"".to_owned())]);
    }

    proptest! {
        #[test]
        fn lexing_ends_and_never_panics(text in "[/*'\"r#\\\\a\n ]{0,60}") {
            for comment in comments(&text) {
                prop_assert!(comment.line <= text.matches('\n').count() + 1);
            }
        }

        #[test]
        fn a_comment_behind_any_string_is_found(inside in "[^\"\\\\]{0,30}") {
            let source = format!("let a = \"{inside}\"; // mark");
            prop_assert_eq!(texts(&source).pop().map(|(_, text)| text), Some("mark".to_owned()));
        }
    }
}
