//! The functions of a file by their addresses, to say where a guest is.
//!
//! The file may be malformed on purpose: what is kept of it is at most as many bytes of names as
//! the file has, each name cut, and sixteen bytes a symbol, of which a file has one in twenty-four
//! bytes. Names are made readable when one is asked for.

use std::fmt::{self, Write as _};

use object::{Object as _, ObjectSymbol as _, SymbolKind};
use rustc_demangle::demangle;

/// The longest name, in bytes; what is longer is cut.
pub const NAME_BYTES_MAX: usize = 512;

/// Functions by their addresses.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Functions {
    /// Sorted by address, without repetition.
    starts: Vec<Start>,
    /// All names, one after the other.
    names: String,
}

/// The begin of a function, and its part of the names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Start {
    address: u64,
    name: u32,
    bytes: u32,
}

impl<'name> FromIterator<(u64, &'name str)> for Functions {
    /// Functions that are named one by one.
    fn from_iter<T: IntoIterator<Item = (u64, &'name str)>>(named: T) -> Self {
        let mut functions = Self::default();
        named.into_iter().for_each(|(address, name)| functions.add(address, name.as_bytes()));
        functions.starts.sort_unstable();
        functions
    }
}

impl Functions {
    /// Those of an ELF file; none where it is no such file, or was stripped. Where its names have
    /// more bytes than the file, those that come last are missing.
    pub fn of(file: &[u8]) -> Self {
        let mut functions = Self::default();
        let Ok(elf) = object::File::parse(file) else { return functions };
        for symbol in elf.symbols().filter(|symbol| symbol.kind() == SymbolKind::Text) {
            let Ok(name) = symbol.name_bytes() else { continue };
            let name = cut(name);
            if functions.names.len() + name.len() > file.len() {
                break;
            }
            functions.add(symbol.address(), name);
        }
        functions.starts.sort_unstable();
        functions
    }

    fn add(&mut self, address: u64, name: &[u8]) {
        let first = self.names.len();
        for chunk in cut(name).utf8_chunks() {
            let shown = |sign: char| if sign.is_control() { '?' } else { sign };
            self.names.extend(chunk.valid().chars().map(shown));
            if !chunk.invalid().is_empty() {
                self.names.push('?');
            }
        }
        let (Ok(name), Ok(bytes)) = (u32::try_from(first), u32::try_from(self.names.len() - first))
        else {
            return;
        };
        self.starts.push(Start { address, name, bytes });
    }

    /// The function in which an address is, as far as is known: the last one that begins before it,
    /// and where that is.
    pub fn at(&self, address: u64) -> Option<(u64, String)> {
        let behind = self.starts.partition_point(|start| start.address <= address);
        let start = self.starts.get(behind.checked_sub(1)?)?;
        let first = start.name as usize;
        Some((start.address, readable(&self.names[first..first + start.bytes as usize])))
    }

    /// An address as function and offset; as a number where no function begins before it.
    pub fn place(&self, address: u64) -> String {
        match self.at(address) {
            Some((start, name)) => format!("{name}+{:#x} ({address:#x})", address - start),
            None => format!("{address:#x}"),
        }
    }
}

fn cut(name: &[u8]) -> &[u8] {
    &name[..name.len().min(NAME_BYTES_MAX)]
}

/// A name as it was in the source, cut like the others.
fn readable(name: &str) -> String {
    /// Takes what there is room for.
    struct Cut(String);
    impl fmt::Write for Cut {
        fn write_str(&mut self, text: &str) -> fmt::Result {
            for sign in text.chars() {
                if self.0.len() + sign.len_utf8() > NAME_BYTES_MAX {
                    return Err(fmt::Error);
                }
                self.0.push(sign);
            }
            Ok(())
        }
    }
    let mut cut = Cut(String::new());
    // It fails where the name is cut.
    let _ = write!(cut, "{:#}", demangle(name));
    cut.0
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn put(file: &mut [u8], offset: usize, value: u64) {
        file[offset..offset + 8].copy_from_slice(&value.to_le_bytes());
    }

    /// A file with nothing but symbols: of functions with these addresses and places in `names`.
    fn file(symbols: &[(u64, u32)], names: &[u8]) -> Vec<u8> {
        // The first symbol is none, and the names end where sections may begin.
        let symbols = [&[(0, 0)], symbols].concat();
        let names = [names, &vec![0; names.len().next_multiple_of(8) - names.len()]].concat();
        let (table, sections) = (64, 64 + 24 * symbols.len() + names.len());
        let mut file = vec![0; sections + 3 * 64];
        file[..7].copy_from_slice(b"\x7fELF\x02\x01\x01");
        // An executable for x86-64, version 1; its sections are at the end, 3 of 64 bytes.
        put(&mut file, 16, 2 | 62 << 16 | 1 << 32);
        put(&mut file, 40, sections as u64);
        put(&mut file, 52, 64 | 56 << 16 | 64 << 48);
        put(&mut file, 60, 3 | 2 << 16);
        for (index, (address, name)) in symbols.iter().enumerate() {
            let at = table + 24 * index;
            // A global function of section 1.
            put(&mut file, at, u64::from(*name) | 0x12 << 32 | 1 << 48);
            put(&mut file, at + 8, *address);
        }
        let strings = table + 24 * symbols.len();
        file[strings..strings + names.len()].copy_from_slice(&names);
        // Symbols with their names in section 2, then the names.
        for (section, kind, offset, bytes, link, entry) in
            [(1, 2, table, 24 * symbols.len(), 2, 24), (2, 3, strings, names.len(), 0, 0)]
        {
            let at = sections + 64 * section;
            put(&mut file, at, kind << 32);
            put(&mut file, at + 24, offset as u64);
            put(&mut file, at + 32, bytes as u64);
            put(&mut file, at + 40, link);
            put(&mut file, at + 56, entry);
        }
        file
    }

    #[test]
    fn an_address_is_in_the_function_before_it() {
        let names = b"\0_ZN4boot4lead17h0123456789abcdefE\0axis_step\0";
        let functions = Functions::of(&file(&[(0x2000, 35), (0x1000, 1)], names));
        assert_eq!(functions.place(0x1004), "boot::lead+0x4 (0x1004)");
        assert_eq!(functions.place(0x2000), "axis_step+0x0 (0x2000)");
        assert_eq!(functions.place(0xFFF), "0xfff");
        assert_eq!(functions.at(u64::MAX), Some((0x2000, "axis_step".to_owned())));
        assert_eq!(Functions::of(b"no file"), Functions::default());
    }

    #[test]
    fn a_name_is_cut_and_says_nothing_to_a_terminal() {
        let mut names = b"\0\x1b[2J\xFF\nred\0".to_vec();
        names.extend([b'a'; 5000]);
        names.push(0);
        let functions = Functions::of(&file(&[(1, 1), (2, 11)], &names));
        assert_eq!(functions.at(1), Some((1, "?[2J??red".to_owned())));
        assert_eq!(functions.at(2).map(|(_, name)| name.len()), Some(NAME_BYTES_MAX));
    }

    /// Goal: a file does not decide how much is kept of it.
    /// Method: as many symbols as fit, all with the same long name.
    #[test]
    fn names_take_no_more_than_their_file() {
        let mut names = vec![b'a'; 60_000];
        names.push(0);
        let symbols: Vec<(u64, u32)> = (0..20_000).map(|address| (address, 0)).collect();
        let file = file(&symbols, &names);
        let functions = Functions::of(&file);
        assert!(functions.starts.len() > 100, "{}", functions.starts.len());
        assert!(functions.names.len() <= file.len());
    }

    proptest! {
        #[test]
        fn whatever_a_file_holds_its_functions_are_read(
            changes in prop::collection::vec((0_usize..400, any::<u8>()), 0..8),
            address in any::<u64>(),
        ) {
            let mut file = file(&[(5, 1), (9, 3)], b"\0a\0bc\0");
            for (place, byte) in changes {
                if let Some(at) = file.get_mut(place) {
                    *at = byte;
                }
            }
            let functions = Functions::of(&file);
            prop_assert!(functions.names.len() <= file.len());
            prop_assert!(functions.place(address).len() <= NAME_BYTES_MAX + 64);
        }
    }
}
