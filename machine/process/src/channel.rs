//! The memory of a channel between partitions.
//!
//! The host makes a sealed memory file for each channel, fills in what it carries, and passes the
//! file to the partitions that take part. Monitors map it for reading only.
//!
// UNSAFETY: mapping a file is unsafe because others may change or shorten it. Changing is what it
// is for, and all access is atomic; shortening is prevented by a seal, without which mapping is
// refused.
#![expect(unsafe_code, reason = "memory shared with other processes is mapped here")]

use std::fs::{File, OpenOptions};
use std::io;

use quietcore_exchange::channel::{Channel, ChannelError, ChannelView, Entry, channel_bytes};

use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;

pub use self::host_end::{HostEnd, HostEndError};
use crate::memory::{DeviceMemory, MemoryError, MemorySource, SharedMemory};

mod host_end;

/// The least size of a channel's file.
const PAGE_BYTES: usize = 4096;

/// Why a channel could not be made or mapped.
#[derive(Debug, thiserror::Error)]
pub enum ChannelMemoryError {
    /// There is no memory for it.
    #[error(transparent)]
    Memory(#[from] MemoryError),
    /// The memory holds no channel of this build, or there can be no such channel.
    #[error(transparent)]
    Channel(#[from] ChannelError),
}

/// A mapped channel and the file behind it.
#[derive(Debug)]
pub struct ChannelMemory {
    /// Valid as long as `memory` lives; given out only with the life of `self`.
    channel: Channel<'static>,
    memory: SharedMemory,
    /// The entries that it was made with; empty if another process made it.
    entries: Vec<Entry>,
}

impl ChannelMemory {
    /// Makes a channel that carries `entries`, with their initial values in it. Its file has a
    /// power of two of bytes, a page at least, so that a guest can have it as a device's memory.
    ///
    /// # Errors
    /// When an entry is impossible or there is no memory.
    pub fn create(entries: &[Entry]) -> Result<Self, ChannelMemoryError> {
        let bytes = channel_bytes(entries).map_err(ChannelError::from)?;
        let bytes = bytes.next_power_of_two().max(PAGE_BYTES);
        let memory = SharedMemory::create("quietcore-channel", bytes)?;
        // SAFETY: `memory` is mapped readable and writable for its length, stays so as long as
        // `self` lives, beyond which no channel is given out, and is reached through channels only;
        // the seal keeps the file from shrinking under it.
        let channel = unsafe { Channel::initialise(memory.base(), memory.bytes(), entries) }?;
        Ok(Self { channel, memory, entries: entries.to_vec() })
    }

    /// Makes a channel, as [`create`](Self::create) does, in memory of a device that is zero and
    /// that nobody uses yet.
    ///
    /// # Errors
    /// As for [`create`](Self::create), or when that memory is too small or no device's.
    pub fn create_in_device(
        entries: &[Entry],
        file: File,
        device: DeviceMemory,
    ) -> Result<Self, ChannelMemoryError> {
        let memory = SharedMemory::take(&MemorySource::new(file, Some(device)))?;
        // SAFETY: as in `create`; a device's memory can't shrink.
        let channel = unsafe { Channel::initialise(memory.base(), memory.bytes(), entries) }?;
        Ok(Self { channel, memory, entries: entries.to_vec() })
    }

    /// Puts the description of a channel that was made here right, where a partition has
    /// overwritten it; returns whether one had.
    pub fn mend(&self) -> bool {
        !self.entries.is_empty() && self.channel.mend(&self.entries)
    }

    /// Maps a channel that another process made.
    ///
    /// # Errors
    /// When the file isn't sealed, can't be mapped, or holds no channel of this build.
    pub fn open(file: File) -> Result<Self, ChannelMemoryError> {
        Self::of_source(&file.into())
    }

    fn of_source(source: &MemorySource) -> Result<Self, ChannelMemoryError> {
        let memory = SharedMemory::open(source)?;
        // SAFETY: as in `create`; a device's memory can't shrink.
        let channel = unsafe { Channel::attach(memory.base(), memory.bytes()) }?;
        Ok(Self { channel, memory, entries: Vec::new() })
    }

    /// Maps the channel behind a descriptor that this process was started with: of a memory file,
    /// or of a device where the channel is a `device`'s memory. The descriptor stays open.
    ///
    /// # Errors
    /// As for [`open`](Self::open), or when there is no such descriptor.
    pub fn inherited(
        descriptor: i32,
        device: Option<DeviceMemory>,
    ) -> Result<Self, ChannelMemoryError> {
        let own = format!("/proc/self/fd/{descriptor}");
        let file = OpenOptions::new().read(true).write(true).open(own);
        Self::of_source(&MemorySource::new(file.map_err(MemoryError::Unmapped)?, device))
    }

    /// The channel in it.
    pub fn channel(&self) -> Channel<'_> {
        self.channel
    }

    /// Another handle of the file, to be passed to a partition.
    ///
    /// # Errors
    /// When the process has no file descriptors left.
    pub fn file(&self) -> io::Result<File> {
        self.memory.file()
    }

    /// Opens the file anew, locked for the one program of the host that is an end of the channel;
    /// `None` while another program has it. The kernel frees it when the last copy of this file is
    /// closed and unmapped, however its holder ended.
    ///
    /// # Errors
    /// When the process has no file descriptors left, or `/proc` is not mounted.
    pub fn claimed_file(&self) -> io::Result<Option<File>> {
        let file = self.memory.reopened()?;
        match flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => Ok(Some(file)),
            Err(Errno::WOULDBLOCK) => Ok(None),
            Err(errno) => Err(errno.into()),
        }
    }

    /// A handle of the file that allows reading only, for monitors.
    ///
    /// # Errors
    /// When the process has no file descriptors left, or `/proc` is not mounted.
    pub fn read_only_file(&self) -> io::Result<File> {
        self.memory.read_only_file()
    }
}

/// A channel mapped for reading only, as monitors have it.
#[derive(Debug)]
pub struct ChannelMonitor {
    /// Valid as long as `_memory` lives; given out only with the life of `self`.
    view: ChannelView<'static>,
    _memory: SharedMemory,
}

impl ChannelMonitor {
    /// Maps a channel that another process made, for reading only.
    ///
    /// # Errors
    /// When the file isn't sealed, can't be mapped, or holds no channel of this build.
    pub fn open(file: File) -> Result<Self, ChannelMemoryError> {
        let memory = SharedMemory::open_read_only(&file.into())?;
        // SAFETY: `memory` is mapped readable for its length and stays so as long as `self` lives,
        // beyond which no view is given out; a view only reads, by atomics.
        let view = unsafe { ChannelView::attach(memory.base(), memory.bytes()) }?;
        Ok(Self { view, _memory: memory })
    }

    /// Returns a view of the channel.
    pub fn view(&self) -> ChannelView<'_> {
        self.view
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use quietcore_exchange::channel::{ChannelShapeError, Timeouts};
    use quietcore_units::Nanos;

    const SPEED: Entry = Entry::Signal {
        bytes: 8,
        initial: 5,
        timeouts: Timeouts { first: Nanos::ZERO, next: Nanos::ZERO },
    };

    #[test]
    fn two_partitions_and_a_monitor_share_a_channel() {
        let host = ChannelMemory::create(&[SPEED]).unwrap();
        let partition = ChannelMemory::open(host.file().unwrap()).unwrap();
        let monitor = ChannelMonitor::open(host.read_only_file().unwrap()).unwrap();
        let mut reader = monitor.view().signal_reader(0).unwrap();
        assert_eq!(reader.receive().unwrap().value, 5);
        partition.channel().signal_writer(0).unwrap().send(Nanos::new(9), 77);
        let received = reader.receive().unwrap();
        assert_eq!((received.value, received.count, received.sent), (77, 1, Nanos::new(9)));
    }

    #[test]
    fn a_channel_that_was_overwritten_is_attached_to_again_once_it_is_mended() {
        use std::os::unix::fs::FileExt as _;
        let host = ChannelMemory::create(&[SPEED]).unwrap();
        host.channel().signal_writer(0).unwrap().send(Nanos::new(9), 77);
        assert!(!host.mend(), "nothing is wrong with it");
        for place in [0, 8, 16, 24, 32, 4096, 4104] {
            host.file().unwrap().write_all_at(&[0xA5; 4], place).unwrap();
            assert!(host.mend(), "{place}");
            let partition = ChannelMemory::open(host.file().unwrap()).unwrap();
            let mut reader = partition.channel().signal_reader(0).unwrap();
            assert_eq!(reader.receive().unwrap().value, 77, "what was sent stays");
        }
    }

    #[test]
    fn a_channel_is_found_by_the_number_of_its_descriptor() {
        use std::os::fd::AsRawFd as _;
        let host = ChannelMemory::create(&[SPEED]).unwrap();
        let file = host.file().unwrap();
        let partition = ChannelMemory::inherited(file.as_raw_fd(), None).unwrap();
        partition.channel().signal_writer(0).unwrap().send(Nanos::new(9), 77);
        let mut reader = host.channel().view().signal_reader(0).unwrap();
        assert_eq!(reader.receive().unwrap().value, 77);
        assert!(matches!(
            ChannelMemory::inherited(i32::MAX, None),
            Err(ChannelMemoryError::Memory(MemoryError::Unmapped(_)))
        ));
    }

    #[test]
    fn what_is_no_channel_is_refused() {
        assert!(matches!(
            ChannelMemory::create(&[]),
            Err(ChannelMemoryError::Channel(ChannelError::Shape(ChannelShapeError::EntryCount {
                is: 0
            })))
        ));
        let plain = File::open("/proc/self/stat").unwrap();
        assert!(matches!(
            ChannelMemory::open(plain),
            Err(ChannelMemoryError::Memory(MemoryError::NotSealed))
        ));
    }
}
