//! The written forms of texts that mean more than their letters.
//!
//! The schema names them in `format`, beside a `pattern` for editors that know nothing of us. The
//! shape walk reads them here, with the errors of `quietcore-units`.

use quietcore_units::{BitCount, BitRate, ByteSize, CpuSet, Nanos, UnitError};
use schemars::{Schema, SchemaGenerator, json_schema};

use crate::site::Entry;

/// Characters of a name.
pub(crate) const NAME_CHARS_MAX: usize = 64;
/// Characters of a title, description or source.
const LINE_CHARS_MAX: usize = 300;
/// Bytes of a path, as the kernel allows.
const PATH_BYTES_MAX: usize = 4095;
/// Characters of the name of a model.
const MODEL_CHARS_MAX: usize = 256;
/// Characters of an entry: the names of its PDO and of itself, as an ESI file has them.
const ENTRY_CHARS_MAX: usize = 401;
/// Characters of the path of a variable.
const VARIABLE_CHARS_MAX: usize = 256;
/// Bytes of the name of a network interface, as the kernel allows.
const INTERFACE_BYTES_MAX: usize = 15;

/// The written form of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    Duration,
    EarlyWake,
    Size,
    BitRate,
    BitCount,
    CpuList,
    NumberList,
    Name,
    Line,
    Path,
    Interface,
    /// Destination of the frames of a fieldbus: an interface, `sim`, or a card on the PCI bus.
    FieldbusInterface,
    /// The name of a model, with its namespaces where it has them.
    ModelName,
    /// The path of a variable of a program.
    Variable,
    /// The same, in which `*` may end a part.
    Variables,
    /// A SubDevice and an entry of its process data.
    Entry,
    /// A channel of a terminal, or an entry of a SubDevice's process data.
    Channel,
}

impl Format {
    /// The form that a schema's `format` names; `None` for a format that isn't ours.
    pub(crate) fn named(name: &str) -> Option<Self> {
        Some(match name {
            "quietcore-duration" => Self::Duration,
            "quietcore-early-wake" => Self::EarlyWake,
            "quietcore-size" => Self::Size,
            "quietcore-bit-rate" => Self::BitRate,
            "quietcore-bit-count" => Self::BitCount,
            "quietcore-cpu-list" => Self::CpuList,
            "quietcore-number-list" => Self::NumberList,
            "quietcore-name" => Self::Name,
            "quietcore-line" => Self::Line,
            "quietcore-path" => Self::Path,
            "quietcore-interface" => Self::Interface,
            "quietcore-fieldbus-interface" => Self::FieldbusInterface,
            "quietcore-model-name" => Self::ModelName,
            "quietcore-variable" => Self::Variable,
            "quietcore-variables" => Self::Variables,
            "quietcore-entry" => Self::Entry,
            "quietcore-channel" => Self::Channel,
            _ => return None,
        })
    }

    /// The form in words, for "should be …".
    pub(crate) const fn expected(self) -> &'static str {
        match self {
            Self::Duration => "a duration with its unit, such as `1 ms`",
            Self::EarlyWake => "`off`, `adaptive`, `spin` or a duration such as `50 us`",
            Self::Size => "a size with its unit, such as `64 MiB`",
            Self::BitRate => "a rate with its unit, such as `100 Mbit/s`",
            Self::BitCount => "an amount with its unit, such as `1 Mbit`",
            Self::CpuList => "a list of CPUs, such as `0,2-5`",
            Self::NumberList => "a list of numbers, such as `0-5`",
            Self::Name => {
                "a name of lower-case letters, digits, `-` and `_`, at most 64 characters"
            }
            Self::Line => "a line of text, at most 300 characters",
            Self::Path => "a path",
            Self::Interface => "a network interface such as `eth0`",
            Self::FieldbusInterface => {
                "a network interface such as `eth0`, `sim`, or the PCI address of a network card \
                 such as `0000:03:00.0`"
            }
            Self::ModelName => {
                "the name of a model, such as `servo` or `plant::axis::Servo`, at most 256 \
                 characters"
            }
            Self::Variable => "the path of a variable, such as `servo_U.position`",
            Self::Variables => "the path of variables, such as `servo_P.*`",
            Self::Entry => {
                "an entry of a SubDevice, such as `drive.position_actual_value` or \
                 `drive.0x6064:0`"
            }
            Self::Channel => {
                "a channel such as `input_1`, or an entry such as `Channel 1.Value` or `0x6064:0`"
            }
        }
    }

    /// Reads a text and returns its measure in base units (ns, bytes, bits), `None` if it has none;
    /// an error has the problem and the remedy.
    pub(crate) fn read(self, text: &str) -> Result<Option<u64>, (String, String)> {
        match self {
            Self::Duration => self.quantity(text.parse().map(Nanos::get)),
            Self::EarlyWake if matches!(text, "off" | "adaptive" | "spin") => Ok(None),
            Self::EarlyWake => self.quantity(text.parse().map(Nanos::get)),
            Self::Size => self.quantity(text.parse().map(ByteSize::get)),
            Self::BitRate => self.quantity(text.parse().map(BitRate::get)),
            Self::BitCount => self.quantity(text.parse().map(BitCount::get)),
            Self::CpuList | Self::NumberList => {
                self.quantity(text.parse::<CpuSet>().map(|_| 0)).map(|_| None)
            }
            Self::Name => self.plain(name_fault(text)),
            Self::Line => self.plain(line_fault(text)),
            Self::Path => self.plain(path_fault(text)),
            Self::Interface => self.plain(interface_fault(text)),
            Self::FieldbusInterface if is_card(text) => Ok(None),
            Self::FieldbusInterface => self.plain(fieldbus_interface_fault(text)),
            Self::ModelName => self.plain(model_name_fault(text)),
            Self::Variable => self.plain(variable_fault(text, false)),
            Self::Variables => self.plain(variable_fault(text, true)),
            Self::Entry => self.plain(entry_fault(text)),
            Self::Channel => self.plain(channel_fault(text)),
        }
    }

    fn quantity(self, value: Result<u64, UnitError>) -> Result<Option<u64>, (String, String)> {
        value.map(Some).map_err(|error| {
            let text = error.to_string();
            match text.split_once("; ") {
                Some((problem, remedy)) => (problem.to_owned(), remedy.to_owned()),
                None => (text, format!("write {}", self.expected())),
            }
        })
    }

    fn plain(self, fault: Option<&str>) -> Result<Option<u64>, (String, String)> {
        match fault {
            Some(fault) => Err((fault.to_owned(), format!("write {}", self.expected()))),
            None => Ok(None),
        }
    }
}

fn name_fault(text: &str) -> Option<&'static str> {
    let allowed = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '-' | '_');
    match text {
        "" => Some("a name has at least one character"),
        text if text.chars().count() > NAME_CHARS_MAX => Some("it is too long for a name"),
        text if text.starts_with(['-', '_']) => Some("a name begins with a letter or a digit"),
        text if !text.chars().all(allowed) => Some("it has a character that a name can't have"),
        _ => None,
    }
}

fn line_fault(text: &str) -> Option<&'static str> {
    match text {
        text if text.trim().is_empty() => Some("nothing is written"),
        text if text.chars().count() > LINE_CHARS_MAX => Some("it is too long"),
        text if text.chars().any(char::is_control) => Some("it has a control character"),
        _ => None,
    }
}

fn path_fault(text: &str) -> Option<&'static str> {
    match text {
        "" => Some("nothing is written"),
        text if text.len() > PATH_BYTES_MAX => Some("it is too long"),
        text if text.chars().any(char::is_control) => Some("it has a control character"),
        _ => None,
    }
}

/// Returns `true` if a text is a PCI address with its domain, as Linux writes it: in lower case.
/// No interface has such a name, since the kernel allows none with a colon.
pub(crate) fn is_card(text: &str) -> bool {
    let hex = |text: &str, digits: usize, most: u32| {
        let are_digits = text.chars().all(|it| matches!(it, '0'..='9' | 'a'..='f'));
        let number = u32::from_str_radix(text, 16);
        text.len() == digits && are_digits && number.is_ok_and(|number| number <= most)
    };
    let mut parts = text.split(':');
    let (domain, bus, rest) = (parts.next(), parts.next(), parts.next());
    let Some((device, function)) = rest.and_then(|rest| rest.split_once('.')) else { return false };
    parts.next().is_none()
        && domain.is_some_and(|text| hex(text, 4, 0xFFFF))
        && bus.is_some_and(|text| hex(text, 2, 0xFF))
        && hex(device, 2, 0x1F)
        && hex(function, 1, 7)
}

fn fieldbus_interface_fault(text: &str) -> Option<&'static str> {
    let told = Some("no interface has a colon, and a PCI address looks like `0000:03:00.0`");
    if text.contains(':') { told } else { interface_fault(text) }
}

fn interface_fault(text: &str) -> Option<&'static str> {
    let forbidden = |c: char| c.is_whitespace() || c.is_control() || matches!(c, '/' | ':');
    match text {
        "" => Some("nothing is written"),
        "." | ".." => Some("the kernel allows no such interface"),
        text if text.len() > INTERFACE_BYTES_MAX => Some("an interface has at most 15 characters"),
        text if text.chars().any(forbidden) => Some("it has a character that the kernel refuses"),
        _ => None,
    }
}

/// Identifiers of C++ with `::` between them: namespaces, and behind them a class, or the start of
/// the functions' names.
fn model_name_fault(text: &str) -> Option<&'static str> {
    match text {
        "" => Some("nothing is written"),
        text if text.chars().count() > MODEL_CHARS_MAX => Some("it is too long for a model"),
        text if text.contains(['<', '>', '(', ')']) => {
            Some("templates and what has no name can't be run")
        }
        text if !text.split("::").all(is_identifier) => Some("a part of it is no name of C or C++"),
        _ => None,
    }
}

/// Parts with dots between them, each an identifier of C with indices in brackets behind it. The
/// first part may be qualified where names alone are not unique: `file::count`, `count~2`.
fn variable_fault(text: &str, pattern: bool) -> Option<&'static str> {
    if text.chars().count() > VARIABLE_CHARS_MAX {
        return Some("it is too long for the path of a variable");
    }
    text.split('.').enumerate().find_map(|(index, part)| {
        let part = if index == 0 { unqualified(part) } else { part };
        part_fault(part, pattern)
    })
}

/// Returns a variable's name without the file or function before it and the number behind.
fn unqualified(part: &str) -> &str {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    let part = match part.split_once("::") {
        Some((home, name)) if !home.is_empty() && home.chars().all(plain) => name,
        _ => part,
    };
    match part.split_once('~') {
        Some((name, number))
            if !number.is_empty() && number.chars().all(|c| c.is_ascii_digit()) =>
        {
            name
        }
        _ => part,
    }
}

fn part_fault(part: &str, pattern: bool) -> Option<&'static str> {
    let (name, mut indices) = part.split_at(part.find('[').unwrap_or(part.len()));
    let (name, open) = match name.strip_suffix('*') {
        Some(rest) if pattern => (rest, true),
        _ => (name, false),
    };
    if name.is_empty() && !open {
        return Some("a part of the path is empty");
    }
    if !name.is_empty() && !is_identifier(name) {
        return Some("a part of the path is no name of C");
    }
    while let Some(rest) = indices.strip_prefix('[') {
        let Some((index, behind)) = rest.split_once(']') else {
            return Some("a bracket isn't closed");
        };
        let any = pattern && index == "*";
        if !any && (index.is_empty() || !index.chars().all(|c| c.is_ascii_digit())) {
            return Some("an index isn't a number");
        }
        indices = behind;
    }
    (!indices.is_empty()).then_some("something stands behind an index")
}

fn is_identifier(text: &str) -> bool {
    let letter = |c: char| c.is_ascii_alphabetic() || c == '_';
    text.starts_with(letter) && text.chars().all(|c| letter(c) || c.is_ascii_digit())
}

fn entry_fault(text: &str) -> Option<&'static str> {
    let Some((subdevice, entry)) = text.split_once('.') else {
        return Some("it has no `.` between SubDevice and entry");
    };
    name_fault(subdevice).or_else(|| channel_fault(entry))
}

/// An entry without its SubDevice.
fn channel_fault(entry: &str) -> Option<&'static str> {
    if let Some(object) = entry.strip_prefix("0x") {
        let address = parsed_object(object);
        return address.is_none().then_some("the entry has no address such as `0x6064:0`");
    }
    // Vendors name entries as they like.
    match entry {
        "" => Some("the entry is missing"),
        entry if entry.chars().count() > ENTRY_CHARS_MAX => Some("it is too long for an entry"),
        entry if entry.trim() != entry => Some("a blank is before or behind the entry"),
        entry if entry.contains(char::is_control) => {
            Some("it has a character that an entry can't have")
        }
        _ => None,
    }
}

/// The entry that a text such as `Channel 1.Value` or `0x6064:0` means.
pub(crate) fn parsed_entry(text: &str) -> Option<Entry> {
    match text.strip_prefix("0x") {
        Some(object) => parsed_object(object).map(|(index, sub)| Entry::Object { index, sub }),
        None => Some(Entry::Named(text.to_owned())),
    }
}

/// Index and sub-index of `6064:0`, the first hexadecimal and the second decimal.
fn parsed_object(text: &str) -> Option<(u16, u8)> {
    let (index, sub) = text.split_once(':')?;
    let plain = |text: &str| !text.is_empty() && text.chars().all(|c| c.is_ascii_hexdigit());
    if !plain(index) || !plain(sub) {
        return None;
    }
    Some((u16::from_str_radix(index, 16).ok()?, sub.parse().ok()?))
}

/// The regular expression for editors; those of lists and lines would say no more than the type.
pub(crate) fn pattern(format: Format) -> Option<&'static str> {
    match format {
        Format::Duration => Some(r"^\s*\d+(\.\d+)?\s*(ns|us|µs|μs|ms|s|m|min|h|d)\s*$"),
        Format::EarlyWake => {
            Some(r"^(off|adaptive|spin|\s*\d+(\.\d+)?\s*(ns|us|µs|μs|ms|s|m|min|h|d)\s*)$")
        }
        Format::Size => Some(r"^\s*\d+(\.\d+)?\s*(B|kB|MB|GB|KiB|MiB|GiB|TiB)\s*$"),
        Format::BitRate => Some(r"^\s*\d+(\.\d+)?\s*(bit|kbit|Mbit|Gbit)/s\s*$"),
        Format::BitCount => Some(r"^\s*\d+(\.\d+)?\s*(bit|kbit|Mbit|Gbit)\s*$"),
        Format::CpuList | Format::NumberList => {
            Some(r"^\s*(\d+\s*(-\s*\d+\s*)?(,\s*\d+\s*(-\s*\d+\s*)?)*)?$")
        }
        Format::Name => Some("^[a-z0-9][a-z0-9_-]{0,63}$"),
        Format::ModelName => Some(r"^[A-Za-z_][A-Za-z0-9_]*(::[A-Za-z_][A-Za-z0-9_]*)*$"),
        Format::Variable => Some(r"^[A-Za-z0-9_.:~\[\]-]+$"),
        Format::Variables => Some(r"^[A-Za-z0-9_.*:~\[\]-]+$"),
        Format::Entry => Some(concat!(
            r"^[a-z0-9][a-z0-9_-]{0,63}\.",
            r"(0x[0-9A-Fa-f]{1,4}:\d{1,3}|[^0\s](.*\S)?|0([^x\s](.*\S)?)?)$"
        )),
        Format::Channel => Some(r"^(0x[0-9A-Fa-f]{1,4}:\d{1,3}|[^0\s](.*\S)?|0([^x\s](.*\S)?)?)$"),
        Format::Line | Format::Path | Format::Interface | Format::FieldbusInterface => None,
    }
}

/// The schema of a duration.
pub(crate) fn duration(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "string", "format": "quietcore-duration" })
}

/// The schema of `off`, `adaptive` or a duration.
pub(crate) fn early_wake(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "string", "format": "quietcore-early-wake" })
}

/// The schema of an amount of memory.
pub(crate) fn size(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "string", "format": "quietcore-size" })
}

/// The schema of a network rate.
pub(crate) fn bit_rate(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "string", "format": "quietcore-bit-rate" })
}

/// The schema of an amount of network traffic.
pub(crate) fn bit_count(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "string", "format": "quietcore-bit-count" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_safe_as_names_of_files() {
        for good in ["axis", "plc-b", "a_1", "0"] {
            assert_eq!(Format::Name.read(good), Ok(None), "{good}");
        }
        let long = "x".repeat(65);
        for bad in ["", ".", "..", "a/b", "-rf", "Axis", "ä", "a b", "a\0", &long] {
            assert!(Format::Name.read(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn paths_of_variables_are_those_of_c() {
        for good in [
            "servo_P",
            "servo_DW.filter[2]",
            "a.b.c[1][2].d",
            "_x9",
            "servo-2::count",
            "step::n~2.x",
        ] {
            assert_eq!(Format::Variable.read(good), Ok(None), "{good}");
            assert_eq!(Format::Variables.read(good), Ok(None), "{good}");
        }
        for pattern in ["servo_P.*", "servo_DW.filt*", "*", "a*.b[1]", "a[*].b", "a::b*", "a*[*]"] {
            assert_eq!(Format::Variables.read(pattern), Ok(None), "{pattern}");
            assert!(Format::Variable.read(pattern).is_err(), "{pattern}");
        }
        let long = "x".repeat(257);
        for bad in [
            "", ".", "a.", ".a", "a..b", "1a", "a b", "a[", "a[]", "a[x]", "a[1", "a[1]b", "ä",
            "a]", "[1]", "a*b", "*a", "a[1]*", "a::", "::a", "a::b::c", "x.a::b", "a~", "a~b",
            "a\nb", &long,
        ] {
            assert!(Format::Variable.read(bad).is_err(), "{bad}");
            assert!(Format::Variables.read(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn models_are_named_with_the_namespaces_around_them() {
        let long = ["a"; 86].join("::");
        for good in ["servo", "Servo", "_x9", "plant::Servo", "a::b::c::X", &long] {
            assert_eq!(Format::ModelName.read(good), Ok(None), "{good}");
        }
        let longer = format!("{long}x");
        for bad in [
            "", "::a", "a::", "a:b", "a::::b", "a b", "1a", "a.b", "a::b[1]", "a~2", "a-1::b", "ä",
            "a<int>", "a\n", &longer,
        ] {
            assert!(Format::ModelName.read(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn entries_are_named_or_addressed() {
        let named = ["drive.position_actual_value", "d-1.x", "valves.Channel 1.Output"];
        for good in named.into_iter().chain(["drive.0x6064:0", "d.0x1:255"]) {
            assert_eq!(Format::Entry.read(good), Ok(None), "{good}");
        }
        for bad in [
            "",
            "drive",
            "drive.",
            ".x",
            "Drive.x",
            "drive. x",
            "drive.x ",
            "drive.a\u{7}b",
            "drive.0x6064",
            "drive.0x60640:0",
            "drive.0x6064:256",
            "drive.0x:0",
            "drive.0x+1:1",
            "drive.0x1:+1",
        ] {
            assert!(Format::Entry.read(bad).is_err(), "{bad}");
        }
        for (text, is_good) in [("Channel 1.Value", true), (" x", false), ("0x6064", false)] {
            assert_eq!(Format::Channel.read(text).is_ok(), is_good, "{text}");
        }
        assert_eq!(parsed_object("60fF:12"), Some((0x60ff, 12)));
    }

    #[test]
    fn a_wrong_quantity_says_what_is_wrong_and_what_would_be_right() {
        let (problem, remedy) = Format::Duration.read("5").unwrap_err();
        assert_eq!(problem, "the unit is missing");
        assert_eq!(remedy, "write one of ns, us, ms, s, min, h, d");
        let (problem, remedy) = Format::Size.read("-5 MB").unwrap_err();
        assert_eq!(problem, "it does not start with a positive decimal number");
        assert_eq!(remedy, "write a size with its unit, such as `64 MiB`");
        assert_eq!(Format::EarlyWake.read("adaptive"), Ok(None));
        assert_eq!(Format::EarlyWake.read("50 us"), Ok(Some(50_000)));
    }
}
