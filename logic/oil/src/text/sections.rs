//! Tokens to a tree, after the grammar of OIL 2.5.
//!
//! ```text
//! OIL_VERSION = "2.5";
//! IMPLEMENTATION name { TASK { UINT32 [1..16] PRIORITY; … }; … };
//! CPU name { TASK name { PRIORITY = 3; AUTOSTART = TRUE { APPMODE = A; }; } : "remark"; … };
//! ```
//!
//! Unless asked to be strict, what other tools write beside that is read, too: sections again and
//! again, which add up; `OSEK` in place of `CPU`; `EVENT = name;` for an object without
//! attributes; and objects of kinds that nobody knows, which are left unused.

use crate::foreign;
use crate::problem::Collector;
use crate::schema::{Kind, REFUSED, is_object_word};
use crate::text::lexeme::{Token, TokenKind};
use crate::text::parser::{Parser, Unreadable};
use crate::text::place::{TextPosition, Word};
use crate::text::tree::{Block, Object, Tree};
use quietcore_wording::{either, meant, nearest};

/// The version of the language.
pub(crate) const VERSION: &str = "2.5";

/// The words with which sections begin.
pub(crate) const SECTIONS: [&str; 3] = ["OIL_VERSION", "IMPLEMENTATION", "CPU"];

/// Another tool's word for the section of the application.
const OTHER_CPU: &str = "OSEK";

/// Returns whether a word begins the section of an application.
pub(crate) fn is_cpu_word(word: &str) -> bool {
    word == "CPU" || word == OTHER_CPU
}

/// Makes a tree of tokens, the last of which is the end.
pub(crate) fn parse(tokens: &[Token], collector: &mut Collector) -> Tree {
    let mut parser = Parser::new(tokens, collector);
    let mut tree = Tree::default();
    let mut sections = Sections::default();
    while !parser.is_at_end() {
        if parser.take_empty() {
            continue;
        }
        if parser.section(&mut tree, &mut sections).is_err() {
            parser.recover_at(Parser::is_at_section);
            if parser.take("}") {
                parser.take(";");
            }
        }
    }
    let end = parser.peek().place;
    // A section that could not be read may be the one that seems to be missing.
    let is_missing = parser.collector.is_clean();
    let first = &tokens[0];
    if sections.version.is_none() && is_missing {
        let refused = format!("`OIL_VERSION = \"{VERSION}\";` is missing; begin with it");
        let understood = format!("`OIL_VERSION` is missing; read as OIL {VERSION}");
        parser.collector.depart(first.place, &first.text(), &refused, &understood);
    }
    if sections.cpu.is_none() && is_missing {
        let message = if sections.implementation.is_some() {
            "there is no CPU: this defines an implementation of OIL and describes no application; \
             name the file that has `CPU name { … };`"
        } else {
            "there is no CPU; describe the application in `CPU name { … };`"
        };
        parser.collector.refuse(end, "", message);
    }
    tree
}

/// The first occurrence of each section.
#[derive(Default)]
struct Sections {
    version: Option<TextPosition>,
    implementation: Option<TextPosition>,
    cpu: Option<TextPosition>,
    /// Number of CPU sections so far.
    cpus: u16,
}

impl Parser<'_, '_> {
    fn section(&mut self, tree: &mut Tree, sections: &mut Sections) -> Result<(), Unreadable> {
        let word = self.section_word()?;
        let seen = match word.text.as_str() {
            "OIL_VERSION" => &mut sections.version,
            "IMPLEMENTATION" => &mut sections.implementation,
            _ => &mut sections.cpu,
        };
        if let Some(first) = *seen {
            if self.collector.is_strict() {
                let first = self.collector.name(first, word.place);
                let message = format!("the second of its kind, after that in {first}; leave one");
                self.collector.refuse_word(&word, message);
            }
        } else {
            *seen = Some(word.place);
        }
        match word.text.as_str() {
            "OIL_VERSION" => self.version(),
            "IMPLEMENTATION" => self.implementation(&mut tree.declarations),
            _ => {
                sections.cpus += 1;
                self.cpu(tree, sections.cpus)
            }
        }
    }

    fn section_word(&mut self) -> Result<Word, Unreadable> {
        let token = self.peek().clone();
        let found = token.text().into_owned();
        let is_other = found == OTHER_CPU && !self.collector.is_strict();
        match token.kind {
            TokenKind::Word(text) if is_other || SECTIONS.contains(&text.as_str()) => {
                if is_other {
                    let message = "read as `CPU`, which another tool calls so";
                    self.collector.remark(token.place, &text, message);
                }
                self.word("a section")
            }
            _ => {
                self.collector.refuse_with(token.place, &found, || {
                    let otherwise = format!("expected {}", either(SECTIONS));
                    let hint = if is_object_word(&found) {
                        format!("objects stand in `CPU name {{ … }};`; {otherwise}")
                    } else {
                        meant(&found, SECTIONS, otherwise)
                    };
                    format!("no section of an OIL file; {hint}")
                });
                Err(Unreadable)
            }
        }
    }

    fn version(&mut self) -> Result<(), Unreadable> {
        self.expect("=", "behind `OIL_VERSION`")?;
        let token = self.peek().clone();
        match &token.kind {
            TokenKind::Text(text) if text == VERSION => {}
            TokenKind::Text(_) | TokenKind::Number(_) => {
                let refused =
                    format!("this is OIL {VERSION}; write `OIL_VERSION = \"{VERSION}\";`");
                let understood = format!("read as OIL {VERSION}");
                self.collector.depart(token.place, &token.text(), &refused, &understood);
            }
            _ => return Err(self.expected(&format!("`\"{VERSION}\"`"))),
        }
        self.value("the version")?;
        self.end_of("the version")
    }

    fn cpu(&mut self, tree: &mut Tree, section: u16) -> Result<(), Unreadable> {
        let name = self.word("the name of the CPU")?;
        let what = format!("CPU `{}`", name.text);
        // Of several the one in the file itself gives the name, and not one that it includes.
        let is_better = |known: &Word| known.place.file > name.place.file;
        if tree.cpu.as_ref().is_none_or(is_better) {
            tree.cpu = Some(name);
        }
        let open = self.expect("{", &format!("behind {what}"))?;
        loop {
            if self.take("}") {
                break;
            }
            if self.take_empty() {
                continue;
            }
            if self.is_at_end() {
                self.not_closed(&what, open);
                return Ok(());
            }
            match self.object(section, &mut tree.unused) {
                Ok(object) => tree.objects.extend(object),
                Err(Unreadable) => self.recover(),
            }
        }
        self.end_of(&what)
    }

    /// An object; `None` for one that is left unused, whose kind is added to `unused`.
    fn object(
        &mut self,
        section: u16,
        unused: &mut Vec<Word>,
    ) -> Result<Option<Object>, Unreadable> {
        let kind = self.word("an object like `TASK name { … };`, or `}`")?;
        let is_lenient = !self.collector.is_strict();
        if self.peek().is("=") {
            if !(is_lenient && Kind::of(&kind.text).is_some()) {
                let message = "an attribute outside of an object; write it into `OS name { … };`, \
                               `TASK name { … };` and so on";
                self.collector.refuse_word(&kind, message);
                return Err(Unreadable);
            }
            self.take("=");
            let name = self.next_word().unwrap_or("name");
            let message = format!("read as the object `{} {name};`", kind.text);
            self.collector.remark(kind.place, &kind.text, message);
        }
        let name = self.word(&format!("the name of the {}", kind.text))?;
        let what = format!("{} `{}`", kind.text, name.text);
        if is_lenient && is_of_others(&kind.text) {
            if self.peek().is("{") {
                self.skip_block(&what);
            }
            self.collector.leave_unused(None, &kind);
            unused.push(kind);
            self.end_of(&what)?;
            return Ok(None);
        }
        let block = if self.peek().is("{") { self.block(&what, 1)? } else { Block::default() };
        self.end_of(&what)?;
        Ok(Some(Object { kind, name, block, section }))
    }
}

/// Returns whether a kind of object is another implementation's, and no misspelled known one.
fn is_of_others(kind: &str) -> bool {
    if is_object_word(kind) {
        return foreign::UNUSED_OBJECTS.contains(&kind);
    }
    let refused = REFUSED.iter().map(|(word, _)| *word);
    let known = Kind::ALL.into_iter().map(Kind::word).chain(refused);
    foreign::knows_object(kind) || nearest(kind, known).is_none()
}
