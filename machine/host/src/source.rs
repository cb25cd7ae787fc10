//! Files of the kernel's trees, below a root of choice.
//!
//! Live, the root is `/`. A test lays out `proc/…` and `sys/…` in a temporary folder and reads that
//! instead: the same code, without the machine. Each read is bounded by [`TEXT_LIMIT`] and
//! [`ENTRY_LIMIT`]; nothing here writes.

use std::fmt::Display;
use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Read};
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::str::FromStr;

use crate::cpu_list::CpuList;
use crate::reading::Reading;

/// The most bytes read of one file.
pub const TEXT_LIMIT: u64 = 4 << 20;

/// The most entries read of one folder.
pub const ENTRY_LIMIT: usize = 65_536;

/// The root of the kernel's files: this machine's, or a copy.
#[derive(Clone, Debug)]
pub struct Source {
    root: PathBuf,
}

impl Source {
    /// Reads the files of this machine.
    pub fn live() -> Self {
        Self::below("/")
    }

    /// A copy of the trees below `root`.
    pub fn below(root: impl Into<PathBuf>) -> Self {
        Self { root: root.into() }
    }

    /// The place of the kernel's `path`, which starts with `/`.
    pub fn place(&self, path: &str) -> PathBuf {
        self.root.join(path.trim_start_matches('/'))
    }

    /// The bytes of a file.
    pub fn bytes(&self, path: &str) -> Reading<Vec<u8>> {
        // Not blocking: what claims to be a file may be a queue that waits for a writer.
        let file =
            OpenOptions::new().read(true).custom_flags(libc::O_NONBLOCK).open(self.place(path));
        let mut bytes = Vec::new();
        outcome(file.and_then(|file| file.take(TEXT_LIMIT).read_to_end(&mut bytes)), path)
            .map(|_| bytes)
    }

    /// The text of a file, without the white space around it.
    pub fn text(&self, path: &str) -> Reading<String> {
        self.bytes(path).map(|bytes| String::from_utf8_lossy(&bytes).trim().to_owned())
    }

    /// A value that a file holds as text.
    pub fn value<T: FromStr<Err: Display>>(&self, path: &str) -> Reading<T> {
        self.text(path).and_then(|text| parsed(&text, path))
    }

    /// The word in brackets of a list such as `always [madvise] never`.
    pub fn choice(&self, path: &str) -> Reading<String> {
        self.text(path).and_then(|text| {
            marked(&text).map_or_else(
                || Reading::Unreadable(format!("{path}: nothing is chosen in `{text}`")),
                |word| Reading::Read(word.to_owned()),
            )
        })
    }

    /// The words of a file.
    pub fn words(&self, path: &str) -> Reading<Vec<String>> {
        self.text(path).map(|text| text.split_whitespace().map(str::to_owned).collect())
    }

    /// A switch that a file holds as `0`/`1`, `N`/`Y` or `off`/`on`.
    pub fn switch(&self, path: &str) -> Reading<bool> {
        self.text(path).and_then(|text| match text.as_str() {
            "0" | "N" | "n" | "off" => Reading::Read(false),
            "1" | "Y" | "y" | "on" => Reading::Read(true),
            other => Reading::Unreadable(format!("{path}: `{other}` is neither 0 nor 1")),
        })
    }

    /// A file in the kernel's mask notation.
    pub fn mask(&self, path: &str) -> Reading<CpuList> {
        self.text(path).and_then(|text| {
            CpuList::from_mask(&text).map_err(|error| format!("{path}: {error}")).into()
        })
    }

    /// The names in a folder, sorted.
    pub fn entries(&self, path: &str) -> Reading<Vec<String>> {
        let entries = fs::read_dir(self.place(path));
        outcome(entries, path).map(|entries| {
            let mut names: Vec<String> = entries
                .take(ENTRY_LIMIT)
                .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
                .collect();
            names.sort();
            names
        })
    }

    /// The numbers of the entries `PREFIX0`, `PREFIX1` … of a folder, ascending.
    pub fn numbered(&self, path: &str, prefix: &str) -> Vec<u32> {
        let names = self.entries(path);
        let mut numbers: Vec<u32> = names
            .get()
            .into_iter()
            .flatten()
            .filter_map(|name| name.strip_prefix(prefix)?.parse().ok())
            .collect();
        numbers.sort_unstable();
        numbers
    }

    /// The last part of what a link points to; for a device's `driver` that is the driver's name.
    pub fn link_name(&self, path: &str) -> Reading<String> {
        outcome(fs::read_link(self.place(path)), path).map(|target| {
            target.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned())
        })
    }

    /// The path of a program among those of the system.
    pub fn program(&self, name: &str) -> Reading<String> {
        const FOLDERS: [&str; 4] = ["/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin"];
        let candidates = FOLDERS.map(|folder| format!("{folder}/{name}"));
        let found = candidates.into_iter().find(|path| self.exists(path) == Reading::Read(true));
        found.map_or(Reading::Absent, Reading::Read)
    }

    /// Looks for a file or folder. Unreadable if a folder on the way may not be searched.
    pub fn exists(&self, path: &str) -> Reading<bool> {
        match fs::metadata(self.place(path)) {
            Ok(_) => Reading::Read(true),
            Err(error) if is_absence(&error) => Reading::Read(false),
            Err(error) => Reading::Unreadable(reason(path, &error)),
        }
    }

    /// Reads as present if this process may open the file for reading and writing. Opens and closes
    /// it.
    pub fn opens(&self, path: &str) -> Reading<()> {
        outcome(
            OpenOptions::new()
                .read(true)
                .write(true)
                .custom_flags(libc::O_NONBLOCK)
                .open(self.place(path)),
            path,
        )
        .map(drop)
    }

    /// Reads as present if whoever listens at a socket takes a connection. Closes it at once.
    pub fn connects(&self, path: &str) -> Reading<()> {
        outcome(UnixStream::connect(self.place(path)), path).map(drop)
    }

    /// The 64-bit word at an offset of a file; a model-specific register is read so.
    pub fn word_at(&self, path: &str, offset: u64) -> Reading<u64> {
        let mut word = [0; 8];
        let file = File::open(self.place(path));
        outcome(file.and_then(|file| file.read_exact_at(&mut word, offset)), path)
            .map(|()| u64::from_ne_bytes(word))
    }

    /// Returns the target of a link, whole.
    pub fn link(&self, path: &str) -> Option<PathBuf> {
        fs::read_link(self.place(path)).ok()
    }
}

/// The word in brackets, or in parentheses, which some kernel files use.
pub fn marked(text: &str) -> Option<&str> {
    text.split_whitespace().find_map(|word| {
        word.strip_prefix('[')
            .and_then(|word| word.strip_suffix(']'))
            .or_else(|| word.strip_prefix('(')?.strip_suffix(')'))
    })
}

/// Reads a value from text that came from `path`.
pub(crate) fn parsed<T: FromStr<Err: Display>>(text: &str, path: &str) -> Reading<T> {
    text.parse().map_err(|error| format!("{path}: `{text}`: {error}")).into()
}

fn outcome<T>(result: io::Result<T>, path: &str) -> Reading<T> {
    match result {
        Ok(value) => Reading::Read(value),
        Err(error) if is_absence(&error) => Reading::Absent,
        Err(error) => Reading::Unreadable(reason(path, &error)),
    }
}

fn is_absence(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory)
}

fn reason(path: &str, error: &io::Error) -> String {
    match error.kind() {
        ErrorKind::PermissionDenied => format!("{path}: permission denied for this user"),
        _ => format!("{path}: {}", crate::error_text(error)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn tree(files: &[(&str, &str)]) -> (tempfile::TempDir, Source) {
        let folder = tempfile::tempdir().unwrap();
        for (path, text) in files {
            let place = folder.path().join(path);
            fs::create_dir_all(place.parent().unwrap()).unwrap();
            fs::write(place, text).unwrap();
        }
        let source = Source::below(folder.path());
        (folder, source)
    }

    #[test]
    fn empty_absent_and_unreadable_files_are_told_apart() {
        let (_folder, source) = tree(&[("proc/empty", "\n"), ("sys/folder/file", "1")]);
        assert_eq!(source.text("/proc/empty"), Reading::Read(String::new()));
        assert_eq!(source.text("/proc/none"), Reading::Absent);
        // Reading a folder fails for everyone, root included.
        assert!(source.text("/sys/folder").unreadable().is_some());
        assert_eq!(source.exists("/proc/none"), Reading::Read(false));
    }

    #[test]
    fn values_are_read_and_nonsense_says_where_it_stands() {
        let (_folder, source) = tree(&[
            ("sys/number", "1000000\n"),
            ("sys/word", "many"),
            ("sys/choice", "always [madvise] never"),
            ("sys/preempt", "none voluntary (full) lazy"),
            ("sys/mask", "00000000,00000003\n"),
            ("sys/cpu/cpu0/x", ""),
            ("sys/cpu/cpu10/x", ""),
            ("sys/cpu/cpuidle/x", ""),
        ]);
        assert_eq!(source.value("/sys/number"), Reading::Read(1_000_000_u64));
        let error = source.value::<u64>("/sys/word");
        assert!(error.unreadable().unwrap().starts_with("/sys/word: `many`"));
        assert_eq!(source.choice("/sys/choice"), Reading::Read("madvise".into()));
        assert_eq!(source.choice("/sys/preempt"), Reading::Read("full".into()));
        assert_eq!(source.mask("/sys/mask"), Reading::Read("0-1".parse().unwrap()));
        assert_eq!(source.numbered("/sys/cpu", "cpu"), [0, 10]);
        assert!(source.switch("/sys/word").unreadable().is_some());
    }

    #[test]
    fn words_are_read_at_their_offset_and_short_files_are_unreadable() {
        let (folder, source) = tree(&[("dev/cpu/0/msr", "")]);
        let mut bytes = vec![0; 0x34];
        bytes.extend(7_u64.to_ne_bytes());
        fs::write(folder.path().join("dev/cpu/0/msr"), bytes).unwrap();
        assert_eq!(source.word_at("/dev/cpu/0/msr", 0x34), Reading::Read(7));
        assert!(source.word_at("/dev/cpu/0/msr", 0x40).unreadable().is_some());
    }

    proptest! {
        #[test]
        fn the_marked_word_is_found_among_any_others(
            before in "[a-z ]{0,20}", word in "[a-z]{1,8}", after in "[a-z ]{0,20}",
        ) {
            let text = format!("{before} [{word}] {after}");
            prop_assert_eq!(marked(&text), Some(word.as_str()));
        }
    }
}
