//! A channel as a whole: how it is made, attached to, and taken apart.
//!
//! | word of the header | meaning |
//! |-------------------:|---------|
//! | 0 | magic, `QUIETCHN`, written last |
//! | 1 | version |
//! | 2 | layout hash |
//! | 3 | bytes of the channel |
//! | 4 | number of entries |
//!
// UNSAFETY: a channel is raw memory that other processes write too; the constructors turn it into
// references to atomics, which is sound whatever the other side does.
#![expect(unsafe_code, reason = "a channel is raw memory shared with other processes")]

use core::fmt;
use core::marker::PhantomData;
use core::ops::Deref;
use core::ptr::NonNull;

use crate::channel::group::{GroupReader, GroupWriter};
use crate::channel::message::{MESSAGE_HEADER_WORDS, Receiver, Sender};
use crate::channel::shape::{
    CHANNEL_BYTES_MAX, ChannelShapeError, ENTRY_WORDS, Entry, Walk, channel_bytes,
};
use crate::channel::signal::{SIGNAL_WORDS, SignalReader, SignalWriter};
use crate::primitive::latest::Latest;
use crate::primitive::words::WORD_BYTES;
use crate::primitive::{latest, queue};
use crate::region::{PAGE_BYTES, fnv};
use crate::sync::{Acquire, AtomicU64, Relaxed, Release};

const MAGIC: u64 = u64::from_le_bytes(*b"QUIETCHN");
/// Raised with every change of meaning.
pub(super) const VERSION: u64 = 2;
/// Changes with every change of layout.
pub(super) const LAYOUT_HASH: u64 = fnv(&[
    ENTRY_WORDS,
    SIGNAL_WORDS,
    MESSAGE_HEADER_WORDS,
    latest::HEADER_WORDS,
    latest::PLACES,
    queue::HEADER_WORDS,
    PAGE_BYTES as usize,
]);

/// Why memory can't be used as a channel. Each difference names both sides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChannelError {
    /// Not aligned to a page of 4096 bytes.
    Misaligned,
    /// Another size than its contents need.
    Size {
        /// Size of the memory, in bytes.
        is: usize,
        /// Bytes needed, or that the header says.
        needed: usize,
    },
    /// No channel, or one that is not complete yet.
    NoChannel {
        /// The word at the place of the magic number.
        found: u64,
    },
    /// Made by another version of Quietcore.
    OtherVersion {
        /// The version in the header.
        found: u64,
        /// The version of this program.
        own: u64,
    },
    /// The same version, but laid out differently.
    OtherLayout {
        /// The layout's hash in the header.
        found: u64,
        /// The hash of this program.
        own: u64,
    },
    /// The entries that it would carry are impossible.
    Shape(ChannelShapeError),
}

impl From<ChannelShapeError> for ChannelError {
    fn from(error: ChannelShapeError) -> Self {
        Self::Shape(error)
    }
}

impl fmt::Display for ChannelError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Misaligned => f.write_str("the channel is not aligned to a page"),
            Self::Size { is, needed } => {
                write!(f, "the channel has {is} bytes and its contents need {needed}")
            }
            Self::NoChannel { found } => {
                write!(f, "there is no channel here: magic {found:#018x}, expected {MAGIC:#018x}")
            }
            Self::OtherVersion { found, own } => write!(
                f,
                "the channel has version {found}, this program version {own}; use programs of one \
                 build"
            ),
            Self::OtherLayout { found, own } => write!(
                f,
                "the channel has layout {found:#018x}, this program layout {own:#018x}; use \
                 programs of one build"
            ),
            Self::Shape(error) => error.fmt(f),
        }
    }
}

impl core::error::Error for ChannelError {}

/// A mapped channel that is only read: signals and groups. The mapping may be read-only.
#[derive(Clone, Copy, Debug)]
pub struct ChannelView<'map> {
    words: &'map [AtomicU64],
    entry_count: usize,
}

impl<'map> ChannelView<'map> {
    /// Attaches to a channel that another party made.
    ///
    /// # Errors
    /// When the memory holds no channel, or one of another version, layout or size.
    ///
    /// # Safety
    /// `base` is mapped and readable for `size` bytes during `'map`, and nothing but atomic
    /// accesses reach it while it is.
    pub unsafe fn attach(base: NonNull<u8>, size: usize) -> Result<Self, ChannelError> {
        // SAFETY: as the caller promises.
        let words = unsafe { words_of(base, size) }?;
        let found = words[0].load(Acquire);
        if found != MAGIC {
            return Err(ChannelError::NoChannel { found });
        }
        let [_, version, layout, bytes, count] =
            core::array::from_fn(|index| words[index].load(Relaxed));
        if version != VERSION {
            return Err(ChannelError::OtherVersion { found: version, own: VERSION });
        }
        if layout != LAYOUT_HASH {
            return Err(ChannelError::OtherLayout { found: layout, own: LAYOUT_HASH });
        }
        let entry_count = usize::try_from(count).unwrap_or(usize::MAX);
        let view = Self { words, entry_count };
        let needed = view.check_entries()?;
        let said = usize::try_from(bytes).unwrap_or(usize::MAX);
        if said != needed || size < needed {
            return Err(ChannelError::Size { is: size.min(said), needed });
        }
        Ok(view)
    }

    /// Walks over all entries; the bytes that they need.
    fn check_entries(&self) -> Result<usize, ChannelShapeError> {
        let mut walk = Walk::new(self.entry_count)?;
        for index in 0..self.entry_count {
            let entry = self.entry(index).ok_or(ChannelShapeError::Kind { entry: index })?;
            walk.place(&entry)?;
        }
        walk.finish()
    }

    /// The number of entries.
    pub fn entry_count(&self) -> usize {
        self.entry_count
    }

    /// Entry `index`, as it stands in the table now; `None` beyond the last.
    pub fn entry(&self, index: usize) -> Option<Entry> {
        if index >= self.entry_count {
            return None;
        }
        let first = PAGE_BYTES as usize / WORD_BYTES + index * ENTRY_WORDS;
        Entry::load(self.words.get(first..first + ENTRY_WORDS)?)
    }

    /// The entry and its cell. The table is walked anew each time and every cell is looked for in
    /// the memory there is, so whoever changes the table gets wrong cells, and nothing else.
    fn cell(&self, index: usize) -> Option<(Entry, &'map [AtomicU64])> {
        let mut walk = Walk::new(self.entry_count).ok()?;
        for before in 0..index {
            walk.place(&self.entry(before)?).ok()?;
        }
        let entry = self.entry(index)?;
        let first = walk.place(&entry).ok()? / WORD_BYTES;
        let cell = self.words.get(first..first.checked_add(entry.cell_words())?)?;
        Some((entry, cell))
    }

    pub(crate) fn signal_cell(&self, index: usize) -> Option<Latest<'map>> {
        match self.cell(index)? {
            (Entry::Signal { .. }, cell) => Latest::new(cell, SIGNAL_WORDS),
            _ => None,
        }
    }

    pub(crate) fn group_cell(&self, index: usize) -> Option<Latest<'map>> {
        match self.cell(index)? {
            (Entry::Group { members, .. }, cell) => Latest::new(cell, 1 + usize::from(members)),
            _ => None,
        }
    }

    /// Receives signal `index`; `None` when that is no signal.
    pub fn signal_reader(&self, index: usize) -> Option<SignalReader<'map>> {
        match self.cell(index)? {
            (Entry::Signal { .. }, cell) => SignalReader::new(cell),
            _ => None,
        }
    }

    /// Receives group `index`; `None` when that is no group.
    pub fn group_reader(&self, index: usize) -> Option<GroupReader<'map>> {
        match self.cell(index)? {
            (Entry::Group { members, .. }, cell) => GroupReader::new(cell, members),
            _ => None,
        }
    }
}

/// A mapped channel that is read and written.
#[derive(Clone, Copy, Debug)]
pub struct Channel<'map> {
    view: ChannelView<'map>,
    writable: PhantomData<&'map AtomicU64>,
}

impl<'map> Deref for Channel<'map> {
    type Target = ChannelView<'map>;

    fn deref(&self) -> &ChannelView<'map> {
        &self.view
    }
}

impl<'map> Channel<'map> {
    /// Makes a channel of zeroed memory, with the initial values in it.
    ///
    /// # Errors
    /// When the memory is misaligned or too small, or an entry is impossible.
    ///
    /// # Safety
    /// `base` is mapped, readable and writable for `size` bytes during `'map`, and nothing but
    /// atomic accesses reach it while it is.
    pub unsafe fn initialise(
        base: NonNull<u8>,
        size: usize,
        entries: &[Entry],
    ) -> Result<Self, ChannelError> {
        let needed = channel_bytes(entries)?;
        if size < needed {
            return Err(ChannelError::Size { is: size, needed });
        }
        // SAFETY: as the caller promises.
        let words = unsafe { words_of(base, size) }?;
        let view = ChannelView { words, entry_count: entries.len() };
        let channel = Self { view, writable: PhantomData };
        channel.describe(entries, needed);
        channel.set_initial_values(entries);
        words[0].store(MAGIC, Release);
        Ok(channel)
    }

    /// Writes header and table, all but the magic number.
    fn describe(&self, entries: &[Entry], bytes: usize) {
        let words = self.view.words;
        let header = [VERSION, LAYOUT_HASH, bytes as u64, entries.len() as u64];
        for (place, word) in words[1..].iter().zip(header) {
            place.store(word, Relaxed);
        }
        let places = words[PAGE_BYTES as usize / WORD_BYTES..].chunks_exact(ENTRY_WORDS);
        for (place, entry) in places.zip(entries) {
            entry.store(place);
        }
    }

    /// Returns `true` while header and table still describe the channel as it was made.
    fn is_described(&self, entries: &[Entry], bytes: usize) -> bool {
        let words = self.view.words;
        let header = [MAGIC, VERSION, LAYOUT_HASH, bytes as u64, entries.len() as u64];
        let head_stands = words.iter().zip(header).all(|(place, word)| place.load(Relaxed) == word);
        head_stands
            && (0..entries.len()).all(|index| self.entry(index).as_ref() == entries.get(index))
    }

    /// Puts header and table right where a partition has overwritten them, so that others can
    /// attach again; what was sent stays as it is. For whoever made the channel, with the entries
    /// that it was made with. Returns whether there was anything to be put right.
    pub fn mend(&self, entries: &[Entry]) -> bool {
        let Ok(bytes) = channel_bytes(entries) else { return false };
        if self.is_described(entries, bytes) {
            return false;
        }
        self.describe(entries, bytes);
        self.view.words[0].store(MAGIC, Release);
        true
    }

    fn set_initial_values(&self, entries: &[Entry]) {
        for (index, entry) in entries.iter().enumerate() {
            match *entry {
                Entry::Signal { initial, .. } => {
                    if let Some(mut signal) = self.signal_writer(index) {
                        signal.set_initial(initial);
                    }
                }
                Entry::Group { members, .. } => {
                    let Some(mut group) = self.group_writer(index) else {
                        continue;
                    };
                    for (member, entry) in (0..members).zip(&entries[index + 1..]) {
                        if let Entry::Member { initial, .. } = entry {
                            group.set(member, *initial);
                        }
                    }
                    group.set_initial();
                }
                Entry::Member { .. } | Entry::Queue { .. } => {}
            }
        }
    }

    /// Attaches to a channel that another party made.
    ///
    /// # Errors
    /// When the memory holds no channel, or one of another version, layout or size.
    ///
    /// # Safety
    /// As for [`initialise`](Self::initialise).
    pub unsafe fn attach(base: NonNull<u8>, size: usize) -> Result<Self, ChannelError> {
        // SAFETY: the caller promises more.
        let view = unsafe { ChannelView::attach(base, size) }?;
        Ok(Self { view, writable: PhantomData })
    }

    /// Returns all its memory.
    pub(super) fn words(&self) -> &'map [AtomicU64] {
        self.view.words
    }

    /// The same channel for those who only read.
    pub fn view(&self) -> ChannelView<'map> {
        self.view
    }

    /// Sends signal `index`; `None` when that is no signal. For one partition, once.
    pub fn signal_writer(&self, index: usize) -> Option<SignalWriter<'map>> {
        match self.view.cell(index)? {
            (Entry::Signal { bytes, .. }, cell) => SignalWriter::resume(cell, bytes),
            _ => None,
        }
    }

    /// Sends group `index`; `None` when that is no group. For one partition, once.
    pub fn group_writer(&self, index: usize) -> Option<GroupWriter<'map>> {
        match self.view.cell(index)? {
            (Entry::Group { members, .. }, cell) => GroupWriter::resume(cell, members),
            _ => None,
        }
    }

    /// Sends into queue `index`; `None` when that is no queue. For one partition, once.
    pub fn sender(&self, index: usize) -> Option<Sender<'map>> {
        match self.view.cell(index)? {
            (Entry::Queue { message_bytes, .. }, cell) => Sender::resume(cell, message_bytes),
            _ => None,
        }
    }

    /// Receives from queue `index`; `None` when that is no queue. For one partition, once.
    pub fn receiver(&self, index: usize) -> Option<Receiver<'map>> {
        match self.view.cell(index)? {
            (Entry::Queue { message_bytes, .. }, cell) => Receiver::resume(cell, message_bytes),
            _ => None,
        }
    }
}

/// The words of a channel's memory.
///
/// # Safety
/// As for [`ChannelView::attach`].
unsafe fn words_of<'map>(
    base: NonNull<u8>,
    size: usize,
) -> Result<&'map [AtomicU64], ChannelError> {
    assert!(size_of::<AtomicU64>() == WORD_BYTES, "loom's atomics don't lie in shared memory");
    let page = PAGE_BYTES as usize;
    if !base.as_ptr().addr().is_multiple_of(page) {
        return Err(ChannelError::Misaligned);
    }
    // More than a channel can have is never looked at.
    let bytes = size.min(CHANNEL_BYTES_MAX);
    if bytes < 2 * page {
        return Err(ChannelError::Size { is: size, needed: 2 * page });
    }
    // SAFETY: aligned to a page, as checked; mapped for `'map`, as the caller promises; all bit
    // patterns are valid atomics, and no exclusive reference to them is ever made.
    Ok(unsafe { core::slice::from_raw_parts(base.cast().as_ptr(), bytes / WORD_BYTES) })
}
