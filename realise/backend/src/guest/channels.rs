//! The channels of a guest: their memory files, and the addresses at which the guest has them.

use std::fs::File;

use quietcore_boot::AddressRange;
use quietcore_process::channel::ChannelMemory;
use quietcore_scan::process::job::ProgramJob;

use super::{delivery, in_words, translate};

/// The channels of a job, in its order.
#[derive(Debug)]
pub(crate) struct Channels {
    /// Memory files that this process was started with.
    pub(crate) files: Vec<File>,
    /// Addresses in the guest, whole pages each.
    pub(crate) places: Vec<AddressRange>,
}

impl Channels {
    /// Opens the channels of a job and gives each its addresses.
    ///
    /// # Errors
    /// When a file is not there, or is no channel; in words.
    pub(crate) fn open(job: &ProgramJob) -> Result<Self, String> {
        let open = |descriptor: i32| -> Result<File, String> {
            ChannelMemory::inherited(descriptor, None).map_err(in_words)?;
            delivery::inherited(descriptor).map_err(in_words)
        };
        let files = job.channels.iter().map(|channel| {
            open(channel.descriptor).map_err(|why| format!("channel `{}`: {why}", channel.name))
        });
        let files: Vec<File> = files.collect::<Result<_, _>>()?;
        let sizes = files.iter().map(|file| file.metadata().map(|it| it.len()));
        let sizes: Vec<u64> =
            sizes.collect::<Result<_, _>>().map_err(|error| format!("a channel: {error}"))?;
        Ok(Self { files, places: translate::channel_places(sizes) })
    }
}
