//! The command line of a worker, written by the parent and read by the worker.

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

use quietcore_site::{LoadKind, UnknownLoadKind};
use quietcore_units::{ByteSize, CpuSet, UnitError};

/// Makes the helper program end at once; it is what the `fork` load executes.
pub(crate) const EXIT_AT_ONCE: &str = "--exit-at-once";

const KIND: &str = "--kind";
const BOARD: &str = "--board-fd";
const SLOT: &str = "--slot";
const SIZE: &str = "--size";
const FOLDER: &str = "--folder";
const CPUS: &str = "--cpus";
const ENTRANCE: &str = "--entrance";
const DIE_WITH_PARENT: &str = "--die-with-parent";

/// The arguments of one worker.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct WorkerArguments {
    pub(crate) kind: LoadKind,
    /// The number of the open descriptor of the board.
    pub(crate) board_descriptor: u32,
    /// The worker's slot on the board.
    pub(crate) slot: u32,
    /// In whole bytes on the command line.
    pub(crate) size: Option<ByteSize>,
    pub(crate) folder: Option<PathBuf>,
    /// `None` is anywhere.
    pub(crate) cpus: Option<CpuSet>,
    /// Of the control group that has these CPUs; `None` is that of the parent.
    pub(crate) entrance: Option<PathBuf>,
    /// `true` if the kernel shall kill the worker when the thread that started it ends.
    pub(crate) die_with_parent: bool,
}

/// Why a command line is not that of a worker.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ArgumentError {
    /// An option that a worker doesn't have.
    #[error(
        "`{0}` is not known; known are {KIND}, {BOARD}, {SLOT}, {SIZE}, {FOLDER}, {CPUS}, \
         {ENTRANCE} and {DIE_WITH_PARENT}, which is how the parent of a load calls this program"
    )]
    Unknown(String),
    /// An option that needs a value and is the last word.
    #[error("`{0}` has no value")]
    NoValue(&'static str),
    /// An option that was given twice.
    #[error("`{0}` was given twice")]
    Twice(&'static str),
    /// An option that must be there.
    #[error("`{0}` is missing; loads are started by their parent, not by hand")]
    Missing(&'static str),
    /// A value that is not a number in the range of the option.
    #[error("`{option}`: `{value}` is not a number that it can take")]
    NotANumber {
        /// Name of the option.
        option: &'static str,
        /// The value that was given.
        value: String,
    },
    /// No such kind of load.
    #[error(transparent)]
    Kind(#[from] UnknownLoadKind),
    /// A value that is not a list of CPUs.
    #[error("`{CPUS}`: {0}")]
    Cpus(UnitError),
}

/// The words as they were found.
#[derive(Default)]
struct Words {
    kind: Option<OsString>,
    board: Option<OsString>,
    slot: Option<OsString>,
    size: Option<OsString>,
    folder: Option<OsString>,
    cpus: Option<OsString>,
    entrance: Option<OsString>,
    die_with_parent: bool,
}

impl WorkerArguments {
    /// The command line, with the word `load` in front.
    pub(crate) fn command_line(&self) -> Vec<OsString> {
        let mut words: Vec<OsString> = vec!["load".into()];
        let mut option = |name: &str, value: OsString| words.extend([name.into(), value]);
        option(KIND, self.kind.name().into());
        option(BOARD, self.board_descriptor.to_string().into());
        option(SLOT, self.slot.to_string().into());
        if let Some(size) = self.size {
            option(SIZE, size.get().to_string().into());
        }
        if let Some(folder) = &self.folder {
            option(FOLDER, folder.into());
        }
        if let Some(cpus) = self.cpus {
            option(CPUS, cpus.to_string().into());
        }
        if let Some(entrance) = &self.entrance {
            option(ENTRANCE, entrance.into());
        }
        if self.die_with_parent {
            words.push(DIE_WITH_PARENT.into());
        }
        words
    }

    /// Reads what follows the word `load`; `None` is the wish to end at once.
    ///
    /// # Errors
    /// The first thing that is wrong: the writer is our own parent process.
    pub(crate) fn parse(
        arguments: impl IntoIterator<Item = OsString>,
    ) -> Result<Option<Self>, ArgumentError> {
        let mut words = Words::default();
        let mut arguments = arguments.into_iter();
        while let Some(option) = arguments.next() {
            if option == EXIT_AT_ONCE {
                return Ok(None);
            }
            if option == DIE_WITH_PARENT {
                words.die_with_parent = true;
                continue;
            }
            let (name, place) = words.place_of(&option)?;
            let value = arguments.next().ok_or(ArgumentError::NoValue(name))?;
            if place.replace(value).is_some() {
                return Err(ArgumentError::Twice(name));
            }
        }
        words.check().map(Some)
    }
}

impl Words {
    fn place_of(
        &mut self,
        option: &OsStr,
    ) -> Result<(&'static str, &mut Option<OsString>), ArgumentError> {
        match option.to_str() {
            Some(KIND) => Ok((KIND, &mut self.kind)),
            Some(BOARD) => Ok((BOARD, &mut self.board)),
            Some(SLOT) => Ok((SLOT, &mut self.slot)),
            Some(SIZE) => Ok((SIZE, &mut self.size)),
            Some(FOLDER) => Ok((FOLDER, &mut self.folder)),
            Some(CPUS) => Ok((CPUS, &mut self.cpus)),
            Some(ENTRANCE) => Ok((ENTRANCE, &mut self.entrance)),
            _ => Err(ArgumentError::Unknown(option.display().to_string())),
        }
    }

    fn check(self) -> Result<WorkerArguments, ArgumentError> {
        let kind = required(KIND, self.kind)?;
        let size = match self.size {
            None => None,
            Some(text) => Some(ByteSize::new(number(SIZE, &text)?)),
        };
        let cpus = match self.cpus {
            None => None,
            Some(text) => Some(text.to_string_lossy().parse().map_err(ArgumentError::Cpus)?),
        };
        Ok(WorkerArguments {
            kind: kind.to_string_lossy().parse::<LoadKind>()?,
            board_descriptor: number(BOARD, &required(BOARD, self.board)?)?,
            slot: number(SLOT, &required(SLOT, self.slot)?)?,
            size,
            folder: self.folder.map(PathBuf::from),
            cpus,
            entrance: self.entrance.map(PathBuf::from),
            die_with_parent: self.die_with_parent,
        })
    }
}

fn required(option: &'static str, value: Option<OsString>) -> Result<OsString, ArgumentError> {
    value.ok_or(ArgumentError::Missing(option))
}

fn number<T: std::str::FromStr>(option: &'static str, text: &OsStr) -> Result<T, ArgumentError> {
    let text = text.to_string_lossy();
    text.parse().map_err(|_| ArgumentError::NotANumber { option, value: text.into_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use quietcore_units::CpuId;
    use std::os::unix::ffi::OsStringExt;

    fn parse(line: &str) -> Result<Option<WorkerArguments>, ArgumentError> {
        WorkerArguments::parse(line.split_whitespace().map(OsString::from))
    }

    #[test]
    fn a_wrong_command_line_is_refused_with_the_reason() {
        for (line, text) in [
            ("", "`--kind` is missing; loads are started by their parent, not by hand"),
            ("--kind", "`--kind` has no value"),
            ("--kind sqrt --kind sqrt", "`--kind` was given twice"),
            (
                "--kind sqrt --board-fd 3",
                "`--slot` is missing; loads are started by their parent, not by hand",
            ),
            (
                "--kind sqrt --board-fd -3 --slot 1",
                "`--board-fd`: `-3` is not a number that it can take",
            ),
            (
                "--kind sqrt --board-fd 3 --slot 1 --size 1k",
                "`--size`: `1k` is not a number that it can take",
            ),
            (
                "--kind sqrt --board-fd 3 --slot 1 --cpus 1-x",
                "`--cpus`: it does not start with a positive decimal number",
            ),
        ] {
            assert_eq!(parse(line).unwrap_err().to_string(), text, "{line}");
        }
        assert!(matches!(parse("--kind spin --board-fd 3 --slot 1"), Err(ArgumentError::Kind(_))));
        assert!(matches!(parse("--help"), Err(ArgumentError::Unknown(_))));
    }

    #[test]
    fn the_forked_program_ends_at_once() {
        assert_eq!(parse("--exit-at-once"), Ok(None));
    }

    proptest! {
        #[test]
        fn every_command_line_is_read_back(
            kind in 0..LoadKind::ALL.len(),
            board_descriptor in any::<u32>(),
            slot in any::<u32>(),
            size in any::<Option<u64>>(),
            folder in any::<Option<Vec<u8>>>(),
            numbers in proptest::option::of(proptest::collection::vec(0_u32..1024, 1..8)),
            entrance in any::<Option<Vec<u8>>>(),
            die_with_parent in any::<bool>(),
        ) {
            let arguments = WorkerArguments {
                kind: LoadKind::ALL[kind],
                board_descriptor,
                slot,
                size: size.map(ByteSize::new),
                folder: folder.map(|bytes| OsString::from_vec(bytes).into()),
                cpus: numbers.map(|numbers| numbers.into_iter().filter_map(CpuId::new).collect()),
                entrance: entrance.map(|bytes| OsString::from_vec(bytes).into()),
                die_with_parent,
            };
            let mut words = arguments.command_line();
            prop_assert_eq!(words.remove(0), "load");
            prop_assert_eq!(WorkerArguments::parse(words), Ok(Some(arguments)));
        }

        #[test]
        fn reading_never_panics(
            words in proptest::collection::vec("(--[a-z-]{1,10}|.{0,8})", 0..8),
        ) {
            let _ = WorkerArguments::parse(words.into_iter().map(OsString::from));
        }
    }
}
