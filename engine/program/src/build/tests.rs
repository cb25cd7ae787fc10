//! Damaged modules: whatever a file says, reading it ends, and ends without a panic.
//!
//! Method: take a module that the compiler made, change some bytes of its headers or of its debug
//! information, and read everything that is ever read of it. The changes are drawn from a fixed
//! seed.

use std::collections::HashMap;
use std::path::PathBuf;
use std::process::Command;

use object::{Object as _, ObjectSection as _};

use super::collect;
use super::image::LinkedFile;
use crate::carry::{OldData, carry_over};
use crate::debug;
use crate::retain::RetainLayout;
use crate::symbolise;
use crate::symbols::{DataImage, Pattern, Symbols};

const SOURCE: &str = "
typedef enum { A, B = 7 } Mode;
typedef struct {
  double gain; unsigned bit : 3; Mode mode; union { int word; char bytes[4]; };
} Part;
struct { Part parts[4][2]; struct { Part *next; long tick; } inner; float list[3]; } d_DW;
const short d_table[5] = { 1, 2, 3, 4, 5 };
static int hidden = 3;
static int deeper(int value) { static int calls; return value / (++calls) + hidden; }
void d_initialize(void) { }
void d_step(void) { d_DW.inner.tick += deeper(d_table[d_DW.inner.tick & 3]); }
";

/// A module with debug information, and its place; `None` where there is no compiler.
fn module() -> Option<(tempfile::TempDir, PathBuf)> {
    let folder = tempfile::TempDir::new().unwrap();
    let (source, module) = (folder.path().join("d.c"), folder.path().join("d.so"));
    std::fs::write(&source, SOURCE).unwrap();
    let arguments = ["-shared", "-fPIC", "-O1", "-gdwarf-5", "-gz=none", "-nostartfiles"];
    let status = Command::new("gcc").args(arguments).arg(&source).arg("-o").arg(&module).status();
    status.is_ok_and(|status| status.success()).then_some((folder, module))
}

/// Reads everything, and uses what was read.
fn read_all(bytes: &[u8], image: DataImage) {
    let Ok(linked) = LinkedFile::parse(bytes) else {
        return;
    };
    let _ = linked.check();
    let _ = linked.initial_data(image);
    let Ok(file) = object::File::parse(bytes) else {
        return;
    };
    let Ok(info) = debug::read(&file) else {
        return;
    };
    let Ok(symbols) = collect::symbols("d", &info, &linked, image, &HashMap::new(), None) else {
        return;
    };
    use_symbols(&symbols);
}

fn use_symbols(symbols: &Symbols) {
    for (path, place) in symbols.leaves(None, 2000) {
        // Members of one name may follow one another in a damaged structure; the first is found.
        let _ = symbols.resolve(&path);
        let _ = symbols.name_at(place.offset);
        let _ = place.decode(&[0xff; 8]);
    }
    let all = [Pattern::parse("*").unwrap()];
    let _ = RetainLayout::new(symbols, &all, 4096);
    let data = vec![0; usize::try_from(symbols.data().bytes).unwrap()];
    let data = OldData { initial: &data, current: &data };
    let _ = carry_over(symbols, symbols, data, None);
}

/// A small generator of numbers that are the same in each run.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        usize::try_from(self.0 >> 33).unwrap() % limit.max(1)
    }
}

#[test]
fn a_damaged_module_is_read_without_a_panic() {
    let Some((_folder, path)) = module() else {
        quietcore_skip::skip!("there is no gcc; install it");
        return;
    };
    let whole = std::fs::read(&path).unwrap();
    let linked = LinkedFile::parse(&whole).unwrap();
    let image = DataImage { address: 0x4000, bytes: 0x1000 };
    assert!(linked.initial_data(image).is_ok());
    let file = object::File::parse(&*whole).unwrap();
    let text = file.section_by_name(".text").unwrap().address();
    let ranges: Vec<(usize, usize)> = [".debug_info", ".debug_abbrev", ".debug_line"]
        .into_iter()
        .filter_map(|name| file.section_by_name(name)?.file_range())
        .map(|(start, bytes)| (usize::try_from(start).unwrap(), usize::try_from(bytes).unwrap()))
        .chain([(0, 1024)])
        .collect();
    let mut numbers = Numbers(7);
    for _ in 0..1500 {
        let mut damaged = whole.clone();
        let (start, length) = ranges[numbers.below(ranges.len())];
        for _ in 0..=numbers.below(6) {
            let at = start + numbers.below(length);
            damaged[at] = u8::try_from(numbers.below(256)).unwrap();
        }
        read_all(&damaged, image);
        let _ = symbolise::locate(&damaged, text + 4);
    }
}

#[test]
fn damaged_symbols_are_refused_or_harmless() {
    let Some((_folder, path)) = module() else {
        quietcore_skip::skip!("there is no gcc; install it");
        return;
    };
    let bytes = std::fs::read(&path).unwrap();
    let linked = LinkedFile::parse(&bytes).unwrap();
    let info = debug::read(&object::File::parse(&*bytes).unwrap()).unwrap();
    let image = DataImage { address: 0x4000, bytes: 0x1000 };
    let symbols = collect::symbols("d", &info, &linked, image, &HashMap::new(), None).unwrap();
    assert!(symbols.leaf_count() > 40);
    let whole = symbols.to_json();
    let mut numbers = Numbers(11);
    let mut read = 0;
    for _ in 0..3000 {
        let mut damaged = whole.clone();
        for _ in 0..=numbers.below(3) {
            let at = numbers.below(damaged.len());
            // Digits for digits: text that is no JSON any more would say little.
            if damaged[at].is_ascii_digit() {
                damaged[at] = b'0' + u8::try_from(numbers.below(10)).unwrap();
            }
        }
        if let Ok(symbols) = Symbols::from_json(&damaged) {
            read += 1;
            use_symbols(&symbols);
        }
    }
    assert!(read > 100, "{read} of the damaged files could be read");
}
