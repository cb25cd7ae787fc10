//! Nothing that is written makes the reader panic, and every refusal has its place.
//!
//! The body is that of the fuzz target `oil`, here with what proptest thinks of.

use proptest::prelude::*;

use crate::applications::{Choices, application, write};
use crate::hostile::use_text;
use crate::support::stored;

/// Pieces of the language.
const PIECES: [&str; 46] = [
    "OIL_VERSION",
    "IMPLEMENTATION",
    "CPU",
    "OS",
    "TASK",
    "ISR",
    "RESOURCE",
    "EVENT",
    "COUNTER",
    "ALARM",
    "APPMODE",
    "SCHEDULETABLE",
    "MESSAGE",
    "PRIORITY",
    "AUTOSTART",
    "ACTION",
    "MASK",
    "TRUE",
    "FALSE",
    "AUTO",
    "INTERNAL",
    "LINKED",
    "ACTIVATETASK",
    "UINT32",
    "ENUM",
    "TASK_TYPE",
    "WITH_AUTO",
    "NO_DEFAULT",
    "{",
    "}",
    "[",
    "]",
    "=",
    ";",
    ":",
    ",",
    "..",
    "\"2.5\"",
    "\"",
    "/*",
    "*/",
    "//",
    "1",
    "-3.5e7",
    "t",
    "#include \"a\"\n",
];

/// One change of a text: at a place, some characters go and a piece comes.
type Change = (prop::sample::Index, usize, Option<usize>);

fn changed(text: &str, changes: &[Change]) -> String {
    let mut characters: Vec<char> = text.chars().collect();
    for (at, gone, piece) in changes {
        let start = at.index(characters.len() + 1);
        let end = (start + gone).min(characters.len());
        let come = piece.map_or("", |piece| PIECES[piece]).chars();
        characters.splice(start..end, come);
    }
    characters.into_iter().collect()
}

proptest! {
    #[test]
    fn bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        use_text(&String::from_utf8_lossy(&bytes));
    }

    #[test]
    fn characters_are_read_or_refused(text in "\\PC{0,200}") {
        use_text(&text);
    }

    #[test]
    fn pieces_of_the_language_are_read_or_refused(
        pieces in prop::collection::vec(0..PIECES.len(), 0..120),
        frame in any::<bool>(),
    ) {
        let text: Vec<_> = pieces.iter().map(|piece| PIECES[*piece]).collect();
        let text = text.join(" ");
        use_text(&if frame { crate::support::whole(&text) } else { text });
    }

    #[test]
    fn a_changed_application_is_read_or_refused(
        numbers in prop::collection::vec(any::<u32>(), 0..300),
        changes in prop::collection::vec(
            (any::<prop::sample::Index>(), 0_usize..6, prop::option::of(0..PIECES.len())),
            1..5,
        ),
    ) {
        let mut choices = Choices::new(&numbers);
        let meant = application(&mut choices);
        let text = write(&meant, &mut choices);
        use_text(&changed(&text, &changes));
    }

    #[test]
    fn a_changed_application_that_has_everything_is_read_or_refused(
        changes in prop::collection::vec(
            (any::<prop::sample::Index>(), 0_usize..12, prop::option::of(0..PIECES.len())),
            1..4,
        ),
    ) {
        use_text(&changed(&stored("conveyor.oil"), &changes));
    }
}
