//! The text of a file, whatever encoding its author's editor chose.

use std::borrow::Cow;

use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE};

/// The largest file that is read: 64 MiB. The largest that vendors publish have some 20 MiB.
pub const FILE_BYTES_MAX: usize = 64 << 20;

/// An XML declaration ends within so many bytes.
const DECLARATION_BYTES_MAX: usize = 256;

/// Decodes a file by its byte order mark, by its first two bytes, or by the encoding that its XML
/// declaration names (XML 1.0, appendix F). Bytes that are none become U+FFFD: they spoil a name at
/// most, since numbers and tags are ASCII.
pub(crate) fn decoded(bytes: &[u8]) -> Cow<'_, str> {
    let encoding = match bytes {
        [b'<', 0, ..] => UTF_16LE,
        [0, b'<', ..] => UTF_16BE,
        _ => declared(bytes).unwrap_or(UTF_8),
    };
    // A byte order mark says more than a declaration, and goes.
    encoding.decode(bytes).0
}

/// The encoding that the declaration names; `None` for none that is known. A declaration that can
/// be read byte by byte is not UTF-16, whatever it says.
fn declared(bytes: &[u8]) -> Option<&'static Encoding> {
    let start = bytes.get(..DECLARATION_BYTES_MAX).unwrap_or(bytes);
    let start = String::from_utf8_lossy(start);
    let (declaration, _) = start.trim_start().strip_prefix("<?xml")?.split_once("?>")?;
    let (_, value) = declaration.split_once("encoding")?;
    let label = value.split(['"', '\'']).nth(1)?;
    let encoding = Encoding::for_label(label.as_bytes())?;
    (encoding != UTF_16LE && encoding != UTF_16BE).then_some(encoding)
}

/// A name as terminals and site files can show it: words with one space between them.
pub(crate) fn words(text: &str) -> String {
    let plain = text.replace(char::is_control, " ");
    plain.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A number of an ESI file: `#x1a00`, or decimal (ETG.2000, HexDecValue). Some files have `0x1a00`,
/// and some `#x0x1a00`.
pub(crate) fn number(text: &str) -> Option<u32> {
    let text = text.trim();
    let prefixes = ["#x0x", "#x", "#X", "0x", "0X"];
    let hexadecimal = prefixes.iter().find_map(|prefix| text.strip_prefix(prefix));
    let (digits, radix) = hexadecimal.map_or((text, 10), |digits| (digits, 16));
    // `from_str_radix` takes a sign.
    let plain = digits.chars().all(|digit| digit.is_digit(radix));
    plain.then(|| u32::from_str_radix(digits, radix).ok()).flatten()
}

/// A truth of an ESI file: `1` or `true`; everything else is false.
pub(crate) fn truth(text: Option<&str>) -> bool {
    text.is_some_and(|text| matches!(text.trim(), "1" | "true" | "True" | "TRUE"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_decoded_by_its_mark_its_bytes_or_its_declaration() {
        let text = "<?xml version=\"1.0\"?><a>Gerät</a>";
        let utf_16 = |to_bytes: fn(u16) -> [u8; 2]| -> Vec<u8> {
            text.encode_utf16().flat_map(to_bytes).collect()
        };
        for bytes in [
            text.as_bytes().to_vec(),
            [b"\xef\xbb\xbf", text.as_bytes()].concat(),
            utf_16(u16::to_le_bytes),
            utf_16(u16::to_be_bytes),
            [&[0xff, 0xfe], &*utf_16(u16::to_le_bytes)].concat(),
            [&[0xfe, 0xff], &*utf_16(u16::to_be_bytes)].concat(),
        ] {
            assert_eq!(decoded(&bytes), text, "{bytes:?}");
        }
        for label in ["iso-8859-1", "windows-1252", "ISO-8859-15"] {
            let start = format!("<?xml version='1.0' encoding='{label}'?><a>Ger");
            let bytes = [start.as_bytes(), b"\xe4t</a>"].concat();
            assert!(decoded(&bytes).ends_with("Gerät</a>"), "{label}");
        }
    }

    #[test]
    fn a_declaration_that_can_be_read_is_not_utf_16() {
        let text = "<?xml version=\"1.0\" encoding=\"utf-16\"?><a/>";
        assert_eq!(decoded(text.as_bytes()), text);
        assert_eq!(decoded(b"<a>\xff</a>"), "<a>\u{fffd}</a>", "a name is spoilt, and no more");
    }

    #[test]
    fn numbers_are_hexadecimal_or_decimal_and_nothing_else() {
        for (text, expected) in [
            ("#x1A00", Some(0x1a00)),
            (" #x044c2c52\n", Some(0x44c_2c52)),
            ("0x10", Some(16)),
            ("#x0x603F", Some(0x603f)),
            ("0001", Some(1)),
            ("4294967295", Some(u32::MAX)),
            ("4294967296", None),
            ("", None),
            ("#x", None),
            ("+1", None),
            ("-1", None),
            ("1A", None),
        ] {
            assert_eq!(number(text), expected, "{text:?}");
        }
    }

    #[test]
    fn names_are_shown_in_one_line() {
        assert_eq!(words("  Target\n\t position\u{1b}[2J "), "Target position [2J");
    }
}
