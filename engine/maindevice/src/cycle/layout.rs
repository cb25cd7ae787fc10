//! Cuts the process image into datagrams.
//!
//! ```text
//! image:     | in 0 | in 1 | in 2 | … | out 0 | out 2 | …
//! datagrams: |  LRW: 1 + 1 + …  |  LRW: 1 + 2 + 2 + …  |        at most 1452 bytes each
//! ```
//!
//! No datagram ends inside the data of a SubDevice, so that these are always of one instant; only
//! data longer than a datagram are cut. Each datagram knows the working counter that it must come
//! back with. Where a SubDevice does not know LRW, inputs are read with LRD and outputs written
//! with LWR.

use alloc::vec::Vec;
use core::ops::Range;

use crate::frame::{Command, DATA_BYTES_MAX, OVERHEAD};
use crate::subdevice::SubDevice;

/// Datagrams that share the first frame with process data: the time and the states.
const COMPANIONS: usize = 2 * OVERHEAD + 8 + 2;
/// The most process data in one datagram, in bytes.
pub(crate) const CHUNK_BYTES_MAX: usize = DATA_BYTES_MAX - COMPANIONS;

/// One datagram of process data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Chunk {
    pub(crate) command: Command,
    /// Its part of the image.
    pub(crate) image: Range<usize>,
    /// The working counter with which it comes back.
    pub(crate) expected: u16,
    /// The inputs within it, as parts of the image, neighbours joined.
    pub(crate) inputs: Vec<Range<usize>>,
}

/// The datagrams for these SubDevices.
pub(crate) fn chunks(subdevices: &[SubDevice]) -> Vec<Chunk> {
    let inputs = || subdevices.iter().map(SubDevice::inputs);
    let outputs = || subdevices.iter().map(SubDevice::outputs);
    let lrw = subdevices.iter().all(SubDevice::knows_lrw);
    let pieces = if lrw {
        cut(Command::Lrw, inputs().chain(outputs()))
    } else {
        let mut pieces = cut(Command::Lrd, inputs());
        pieces.extend(cut(Command::Lwr, outputs()));
        pieces
    };
    pieces.into_iter().map(|(command, image)| complete(subdevices, command, image)).collect()
}

/// Cuts what these parts cover between them.
fn cut(
    command: Command,
    parts: impl Iterator<Item = Range<usize>>,
) -> Vec<(Command, Range<usize>)> {
    let mut parts: Vec<_> = parts.filter(|part| !part.is_empty()).collect();
    parts.sort_by_key(|part| part.start);
    let mut cut: Vec<Range<usize>> = Vec::new();
    for mut part in parts {
        match cut.last_mut() {
            // A gap is carried along: one datagram more would cost more than a few bytes.
            Some(last) if part.end - last.start <= CHUNK_BYTES_MAX => {
                last.end = last.end.max(part.end);
                continue;
            }
            Some(last) => part.start = part.start.max(last.end),
            None => {}
        }
        while part.len() > CHUNK_BYTES_MAX {
            cut.push(part.start..part.start + CHUNK_BYTES_MAX);
            part.start += CHUNK_BYTES_MAX;
        }
        if !part.is_empty() {
            cut.push(part);
        }
    }
    cut.into_iter().map(|part| (command, part)).collect()
}

fn complete(subdevices: &[SubDevice], command: Command, image: Range<usize>) -> Chunk {
    let (reads, writes) = match command {
        Command::Lrd => (1, 0),
        Command::Lwr => (0, 1),
        _ => (1, 2),
    };
    let within = |part: &Range<usize>| {
        let common = part.start.max(image.start)..part.end.min(image.end);
        (!common.is_empty()).then_some(common)
    };
    let mut expected = 0;
    let mut inputs: Vec<Range<usize>> = Vec::new();
    for subdevice in subdevices {
        if within(&subdevice.outputs).is_some() {
            expected += writes;
        }
        let Some(part) = within(&subdevice.inputs).filter(|_| reads > 0) else { continue };
        expected += reads;
        match inputs.last_mut() {
            Some(last) if last.end == part.start => last.end = part.end,
            _ => inputs.push(part),
        }
    }
    Chunk { command, image, expected, inputs }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frame::register::FEATURE_NO_LRW;
    use proptest::prelude::*;

    /// SubDevices of these sizes, laid out as the bring-up does: all inputs, then all outputs.
    fn line(sizes: &[(usize, usize)]) -> Vec<SubDevice> {
        let mut next = 0;
        let mut place = |bytes: usize| {
            next += bytes;
            if bytes == 0 { 0..0 } else { next - bytes..next }
        };
        let inputs: Vec<_> = sizes.iter().map(|(bytes, _)| place(*bytes)).collect();
        let outputs: Vec<_> = sizes.iter().map(|(_, bytes)| place(*bytes)).collect();
        let ranges = inputs.into_iter().zip(outputs).enumerate();
        ranges
            .map(|(position, (inputs, outputs))| SubDevice::fake(position as u16, inputs, outputs))
            .collect()
    }

    #[test]
    fn what_fits_is_one_datagram() {
        let chunks = chunks(&line(&[(0, 0), (14, 16), (1, 0), (0, 1)]));
        let inputs = core::iter::once(0..15).collect();
        let expected = Chunk { command: Command::Lrw, image: 0..32, expected: 6, inputs };
        assert_eq!(chunks, [expected]);
        assert_eq!(super::chunks(&line(&[(0, 0)])), []);
    }

    #[test]
    fn one_that_does_not_know_lrw_changes_the_commands_of_all() {
        let mut line = line(&[(2, 4), (1, 0)]);
        line[1].features = FEATURE_NO_LRW;
        let chunks = chunks(&line);
        assert_eq!(chunks.len(), 2);
        assert_eq!((chunks[0].command, chunks[0].expected), (Command::Lrd, 2));
        assert_eq!((chunks[1].command, chunks[1].expected), (Command::Lwr, 1));
        assert_eq!(chunks[1].inputs, []);
    }

    proptest! {
        #[test]
        fn every_byte_travels_once_and_no_subdevice_is_cut(
            sizes in prop::collection::vec((0_usize..400, 0_usize..400), 0..20)
        ) {
            let line = line(&sizes);
            let chunks = chunks(&line);
            let bytes: usize = sizes.iter().map(|(inputs, outputs)| inputs + outputs).sum();
            prop_assert_eq!(chunks.iter().map(|chunk| chunk.image.len()).sum::<usize>(), bytes);
            prop_assert!(chunks.iter().all(|chunk| chunk.image.len() <= CHUNK_BYTES_MAX));
            prop_assert!(chunks.windows(2).all(|pair| pair[0].image.end == pair[1].image.start));
            let expected: u16 = line.iter().map(SubDevice::working_counter).sum();
            prop_assert_eq!(chunks.iter().map(|chunk| chunk.expected).sum::<u16>(), expected);
            for subdevice in &line {
                for part in [&subdevice.inputs, &subdevice.outputs] {
                    let whole = |chunk: &&Chunk| {
                        chunk.image.start <= part.start && part.end <= chunk.image.end
                    };
                    prop_assert!(part.is_empty() || chunks.iter().any(|chunk| whole(&chunk)));
                }
            }
        }
    }
}
