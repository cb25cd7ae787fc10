//! The control memory of a guest under QEMU, from the host's side: host page and records, the
//! introduction, the post, the code of programs ([`quietcore_boot::devices`]).

use std::fs::File;
use std::sync::atomic::AtomicU64;

use quietcore_boot::devices::{
    ALIGNMENT, INTRODUCTION, INTRODUCTION_WORDS, Introduction, POST_OFFSET, RECORDS_PLACE,
};
use quietcore_boot::post::bytes_for;
use quietcore_boot::{
    CRASH_RECORD, CrashRecord, HOST_PAGE, HOST_TIME, HOST_TIME_WORDS, HostPage, HostTime, Moment,
    RECORD_BYTES,
};
use quietcore_microvm::slot::{Shared, SharedError};
use quietcore_units::ByteSize;

use crate::guest::POST_BYTES;

const WORD_BYTES: usize = size_of::<AtomicU64>();

/// The control memory, mapped for as long as this process lives.
#[derive(Clone, Copy, Debug)]
pub(super) struct Control {
    memory: &'static Shared,
    /// The bytes of a code slot.
    slot: u64,
}

impl Control {
    /// Makes the memory, with code slots of this size. It is not given back.
    ///
    /// # Errors
    /// When it can't be had.
    pub(super) fn create(slot: ByteSize) -> Result<Self, SharedError> {
        let slot = slot.get().next_multiple_of(ALIGNMENT);
        let bytes = (code_offset() + 2 * slot).next_power_of_two();
        let memory = Shared::create("quietcore-control", ByteSize::new(bytes))?;
        let control = Self { memory: Box::leak(Box::new(memory)), slot };
        control.introduction().begin([0, 1].map(|index| control.code_at(index)));
        Ok(control)
    }

    pub(super) fn file(&self) -> &File {
        self.memory.file()
    }

    /// Returns a code slot as memory of its own, of this size at most.
    ///
    /// # Errors
    /// When it can't be mapped.
    pub(super) fn code(&self, index: usize, size: ByteSize) -> Result<Shared, SharedError> {
        Shared::of_file(self.file(), self.code_at(index), size.get().min(self.slot))
    }

    fn code_at(&self, index: usize) -> u64 {
        code_offset() + index as u64 * self.slot
    }

    /// Returns the words of the post.
    pub(super) fn post(&self) -> &'static [AtomicU64] {
        self.words(POST_OFFSET, bytes_for(POST_BYTES) / WORD_BYTES)
    }

    pub(super) fn introduction(&self) -> Introduction<'static> {
        let words = self.words(INTRODUCTION, INTRODUCTION_WORDS);
        Introduction::new(words.try_into().expect("so many were asked for"))
    }

    /// Writes the host page, before the guest is welcome.
    ///
    /// # Errors
    /// Never: the memory is large enough.
    pub(super) fn write_page(&self, page: &HostPage) {
        let written = self.memory.write(HOST_PAGE - RECORDS_PLACE, &page.to_bytes());
        written.expect("the memory is larger");
    }

    /// Tells the guest the time, for one thread.
    pub(super) fn tell_time(&self, moment: Moment) {
        let words = self.words(HOST_TIME - RECORDS_PLACE, HOST_TIME_WORDS);
        HostTime::new([&words[0], &words[1], &words[2]]).tell(moment);
    }

    /// Returns the record of a crash that the guest has left.
    pub(super) fn crash_record(&self) -> Option<CrashRecord> {
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
pub(super) fn post_bytes() -> u64 {
    bytes_for(POST_BYTES) as u64
}
