//! The control memory of a guest whose host has no addresses of its choice, from the host's side:
//! host page and records, the introduction, the post, the code of programs
//! ([`quietcore_boot::devices`]).

use std::fs::File;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

use quietcore_boot::board::{BoardPage, OrderWord};
use quietcore_boot::devices::{
    ALIGNMENT, BOARD, END, INTRODUCTION, INTRODUCTION_WORDS, Introduction, POST_OFFSET,
    RECORDS_BYTES, RECORDS_PLACE,
};
use quietcore_boot::places::PAGE_BYTES;
use quietcore_boot::post::bytes_for;
use quietcore_boot::{
    CRASH_RECORD, CrashRecord, HOST_PAGE, HOST_TIME, HOST_TIME_WORDS, HostPage, HostTime, Moment,
    RECORD_BYTES,
};
use quietcore_microvm::slot::{Shared, SharedError};
use quietcore_units::ByteSize;

use super::POST_BYTES;

const WORD_BYTES: usize = size_of::<AtomicU64>();

/// The parts that every guest needs are on the pages of the records and the one behind them.
const _: () = assert!(END + 8 <= RECORDS_BYTES + PAGE_BYTES && INTRODUCTION >= RECORDS_BYTES);

/// The control memory, mapped for as long as this process lives.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Control {
    memory: &'static Shared,
    /// The bytes of a code slot.
    slot: u64,
}

impl Control {
    /// Makes the memory, with code slots of this size. It is not given back.
    ///
    /// # Errors
    /// When it can't be had.
    pub(crate) fn create(slot: ByteSize) -> Result<Self, SharedError> {
        let bytes = ByteSize::new(Self::bytes(slot).get().next_power_of_two());
        Ok(Self::of(Shared::create("quietcore-control", bytes)?, slot))
    }

    /// Returns the bytes that it needs for code slots of this size.
    pub(crate) fn bytes(slot: ByteSize) -> ByteSize {
        ByteSize::new(code_offset() + 2 * slot.get().next_multiple_of(ALIGNMENT))
    }

    /// Returns the bytes that it needs for a guest without post and code, whose job comes by a
    /// port.
    pub(crate) const fn bytes_without_post() -> ByteSize {
        ByteSize::new(RECORDS_BYTES + PAGE_BYTES)
    }

    /// Begins it in memory that is zero and has at least [`bytes`](Self::bytes), or no post. It is
    /// not given back.
    pub(crate) fn of(memory: Shared, slot: ByteSize) -> Self {
        let slot = slot.get().next_multiple_of(ALIGNMENT);
        let control = Self { memory: Box::leak(Box::new(memory)), slot };
        control.introduction().begin([0, 1].map(|index| control.code_at(index)));
        control
    }

    pub(crate) fn file(&self) -> &File {
        self.memory.file()
    }

    /// Returns a code slot as memory of its own, of this size at most.
    ///
    /// # Errors
    /// When it can't be mapped.
    pub(crate) fn code(&self, index: usize, size: ByteSize) -> Result<Shared, SharedError> {
        self.memory.part(self.code_at(index), size.get().min(self.slot))
    }

    fn code_at(&self, index: usize) -> u64 {
        code_offset() + index as u64 * self.slot
    }

    /// Returns the words of the post.
    pub(crate) fn post(&self) -> &'static [AtomicU64] {
        self.words(POST_OFFSET, bytes_for(POST_BYTES) / WORD_BYTES)
    }

    pub(crate) fn introduction(&self) -> Introduction<'static> {
        let words = self.words(INTRODUCTION, INTRODUCTION_WORDS);
        Introduction::new(words.try_into().expect("so many were asked for"))
    }

    /// Writes the host page, before the guest is welcome.
    ///
    /// # Errors
    /// Never: the memory is large enough.
    pub(crate) fn write_page(&self, page: &HostPage) {
        let written = self.memory.write(HOST_PAGE - RECORDS_PLACE, &page.to_bytes());
        written.expect("the memory is larger");
    }

    /// Returns the page of a clock board as memory of its own.
    ///
    /// # Errors
    /// When it can't be mapped.
    pub(crate) fn board(&self) -> Result<Shared, SharedError> {
        self.memory.part(BOARD, PAGE_BYTES)
    }

    /// Begins that page, before the guest looks for it. Returns the word of the guest's orders.
    pub(crate) fn begin_board(&self) -> OrderWord<'static> {
        let words = self.words(BOARD, OrderWord::INDEX + 1);
        BoardPage::new(words.first_chunk().expect("so many were asked for")).begin();
        OrderWord::new(&words[OrderWord::INDEX])
    }

    /// Tells the guest the time, for one thread.
    pub(crate) fn tell_time(&self, moment: Moment) {
        let words = self.words(HOST_TIME - RECORDS_PLACE, HOST_TIME_WORDS);
        HostTime::new([&words[0], &words[1], &words[2]]).tell(moment);
    }

    /// Returns the status that the guest has left at its end; `None` where it has left none that
    /// there is.
    pub(crate) fn status(&self) -> Option<u8> {
        let told = self.words(END, 1)[0].load(Relaxed);
        told.checked_sub(1).and_then(|status| u8::try_from(status).ok())
    }

    /// Returns the record of a crash that the guest has left.
    pub(crate) fn crash_record(&self) -> Option<CrashRecord> {
        let mut bytes = [0; RECORD_BYTES];
        self.memory.read(CRASH_RECORD - RECORDS_PLACE, &mut bytes).ok()?;
        CrashRecord::from_bytes(&bytes)
    }

    fn words(&self, offset: u64, count: usize) -> &'static [AtomicU64] {
        let first = offset as usize / WORD_BYTES;
        &self.memory.words()[first..first + count]
    }
}

/// The offset of the first code slot.
fn code_offset() -> u64 {
    POST_OFFSET + (bytes_for(POST_BYTES) as u64).next_multiple_of(ALIGNMENT)
}

/// Size of the post, in bytes, as the host page has it.
pub(crate) fn post_bytes() -> u64 {
    bytes_for(POST_BYTES) as u64
}
