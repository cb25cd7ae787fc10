//! The parcels by which a Linux guest gets its files, its job and orders: a line of JSON that says
//! what comes, then the bytes.

use std::io::{self, BufRead, Read as _, Write};
use std::path::PathBuf;

use quietcore_process::module::MODULE_BYTES_MAX;
use quietcore_scan::process::job::LINE_BYTES_MAX;
use serde::{Deserialize, Serialize};

/// The most bytes of a parcel's first line.
const HEAD_BYTES_MAX: u64 = 8 << 10;

/// A parcel from the host to the guest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Parcel {
    /// The host's threads of the guest's processors.
    Begin { threads: Vec<u32> },
    /// A file that the guest puts where the host has it.
    File { path: PathBuf, content: Vec<u8> },
    /// A line for the partition's process: the job comes first, orders follow.
    Line(Vec<u8>),
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
enum Head {
    Begin { threads: Vec<u32> },
    File { path: PathBuf, bytes: u64 },
    Line { bytes: u64 },
}

impl Parcel {
    /// Writes its first line and its bytes.
    ///
    /// # Errors
    /// When nobody takes it any more.
    pub(super) fn write(&self, output: &mut impl Write) -> io::Result<()> {
        let (head, content) = match self {
            Self::Begin { threads } => (Head::Begin { threads: threads.clone() }, &Vec::new()),
            Self::File { path, content } => {
                let bytes = content.len() as u64;
                (Head::File { path: path.clone(), bytes }, content)
            }
            Self::Line(content) => (Head::Line { bytes: content.len() as u64 }, content),
        };
        let mut line = serde_json::to_vec(&head)?;
        line.push(b'\n');
        output.write_all(&line)?;
        output.write_all(content)
    }

    /// Reads the next one; `None` where no more come.
    ///
    /// # Errors
    /// When what comes is no parcel, or is too long.
    pub(super) fn read(input: &mut impl BufRead) -> io::Result<Option<Self>> {
        let refused = |why: &str| io::Error::new(io::ErrorKind::InvalidData, why.to_owned());
        let mut line = Vec::new();
        input.take(HEAD_BYTES_MAX).read_until(b'\n', &mut line)?;
        if line.is_empty() {
            return Ok(None);
        }
        let head: Head = serde_json::from_slice(&line)?;
        let (bytes, most) = match &head {
            Head::Begin { .. } => (0, 0),
            Head::File { bytes, .. } => (*bytes, MODULE_BYTES_MAX),
            Head::Line { bytes } => (*bytes, LINE_BYTES_MAX as u64),
        };
        if bytes > most {
            return Err(refused("a parcel is too long"));
        }
        let mut content = Vec::new();
        input.take(bytes).read_to_end(&mut content)?;
        if content.len() as u64 != bytes {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        Ok(Some(match head {
            Head::Begin { threads } => Self::Begin { threads },
            Head::File { path, .. } => Self::File { path, content },
            Head::Line { .. } => Self::Line(content),
        }))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn parcels_arrive_as_they_were_sent() {
        let sent = [
            Parcel::Begin { threads: vec![41, 42] },
            Parcel::File { path: "/b/m.so".into(), content: b"\x7fELF\nmore".to_vec() },
            Parcel::Line(b"{\"a\":1}\n".to_vec()),
            Parcel::Line(Vec::new()),
        ];
        let mut bytes = Vec::new();
        sent.iter().for_each(|parcel| parcel.write(&mut bytes).unwrap());
        let mut input = &bytes[..];
        for parcel in sent {
            assert_eq!(Parcel::read(&mut input).unwrap(), Some(parcel));
        }
        assert_eq!(Parcel::read(&mut input).unwrap(), None);
    }

    #[test]
    fn what_is_no_parcel_is_refused() {
        for text in [
            "no JSON\n",
            "{\"line\":{\"bytes\":9}}\nshort",
            "{\"line\":{\"bytes\":99999999999}}\n",
            "{\"file\":{\"path\":\"/x\",\"bytes\":1,\"mode\":7}}\nx",
        ] {
            assert!(Parcel::read(&mut text.as_bytes()).is_err(), "{text}");
        }
    }

    proptest! {
        #[test]
        fn no_bytes_break_the_reader(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
            let _ = Parcel::read(&mut &bytes[..]);
        }
    }
}
