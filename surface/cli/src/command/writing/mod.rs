//! Commands that write files for other programs: site files, units of other systems, images.

pub(super) mod export;
pub(super) mod guest;
pub(super) mod init;
