//! Writing a file, forcing it to the device, and reading it back from there.
//!
//! The file has no name from the beginning, so nothing is left of it when the worker ends, however
//! it ends. Its size bounds what the load takes. After forcing, the pages are given up, so that
//! reading asks the device again (where the file system follows the advice).

use std::convert::Infallible;
use std::hint::black_box;
use std::io::{Read, Seek, Write};
use std::path::Path;

use rustix::fs::{Advice, fadvise};

use crate::board::Beat;
use crate::work::random::Random;
use crate::work::{WorkError, allocate};

/// Bytes that are written or read between two signs of progress.
const CHUNK: usize = 256 << 10;

pub(super) fn run(
    folder: &Path,
    size: usize,
    beat: &mut Beat<'_>,
) -> Result<Infallible, WorkError> {
    let attempted = format!("make a file in `{}`", folder.display());
    let mut file = tempfile::tempfile_in(folder).map_err(WorkError::refused(&attempted))?;
    // Random, so that a device that compresses has nothing to gain.
    let mut random = Random::new();
    let mut chunk = allocate(size.min(CHUNK), 0_u8)?;
    for bytes in chunk.chunks_mut(8) {
        bytes.copy_from_slice(&random.next().to_le_bytes()[..bytes.len()]);
    }
    beat.start();
    loop {
        // Other content in each round, so that nothing is written twice the same.
        chunk.rotate_left(1);
        file.rewind().map_err(WorkError::refused("rewind"))?;
        for length in lengths(size) {
            let written = file.write_all(&chunk[..length]);
            written.map_err(WorkError::refused("write to the file"))?;
            beat.add(0, length as u64);
        }
        let forced = file.sync_all();
        forced.map_err(WorkError::refused("force the file to the device"))?;
        fadvise(&file, 0, None, Advice::DontNeed).map_err(WorkError::refused("give up pages"))?;
        file.rewind().map_err(WorkError::refused("rewind"))?;
        for length in lengths(size) {
            let read = file.read_exact(&mut chunk[..length]);
            read.map_err(WorkError::refused("read the file"))?;
            black_box(&mut chunk);
            beat.add(0, length as u64);
        }
        beat.add(1, 0);
    }
}

/// The lengths of the chunks that make up `size`.
fn lengths(size: usize) -> impl Iterator<Item = usize> {
    (0..size).step_by(CHUNK).map(move |offset| CHUNK.min(size - offset))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_chunks_make_up_the_size() {
        for size in [1, CHUNK - 1, CHUNK, CHUNK + 1, 5 * CHUNK + 7] {
            assert_eq!(lengths(size).sum::<usize>(), size);
            assert!(lengths(size).all(|length| length <= CHUNK && length > 0));
        }
    }
}
