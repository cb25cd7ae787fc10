//! The captures that come with the published `ethercrab` crate.

pub(crate) mod devices;

use pcap_file::pcapng::{Block, PcapNgReader};
use std::collections::HashMap;
use std::fmt;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Source address of a MainDevice's own frames.
const MAIN_DEVICE: [u8; 6] = [0x10; 6];
/// Ethernet header and EtherCAT header.
const HEADERS: usize = 16;

/// A capture as a list of frames.
pub(crate) struct Capture {
    pub(crate) name: String,
    pub(crate) frames: Vec<Frame>,
    /// The datagrams of all frames.
    pub(crate) exchanges: Vec<Exchange>,
}

/// A frame and its answer.
pub(crate) struct Frame {
    pub(crate) time_ns: u64,
    pub(crate) sent: Vec<u8>,
    pub(crate) returned: Vec<u8>,
}

/// A datagram as it was sent and as it came back.
pub(crate) struct Exchange {
    pub(crate) sent: Datagram,
    pub(crate) returned: Datagram,
}

/// One datagram of a captured frame.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Datagram {
    command: u8,
    address: u16,
    register: u16,
    pub(crate) data: Vec<u8>,
    pub(crate) counter: u16,
}

impl Exchange {
    pub(crate) fn address(&self) -> u16 {
        self.sent.address
    }

    pub(crate) fn register(&self) -> u16 {
        self.sent.register
    }

    /// Returns `true` for FPRD.
    pub(crate) fn is_read(&self) -> bool {
        self.sent.command == 4
    }

    /// Returns `true` for FPWR.
    pub(crate) fn is_write(&self) -> bool {
        self.sent.command == 5
    }

    pub(crate) fn is_logical(&self) -> bool {
        (10..=12).contains(&self.sent.command)
    }
}

impl fmt::Display for Exchange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let start = |data: &'_ [u8]| format!("{:02x?}", &data[..data.len().min(24)]);
        write!(
            f,
            "command {} to {:#06x} at {:#06x}, {} returned {}",
            self.sent.command,
            self.address(),
            self.register(),
            start(&self.sent.data),
            start(&self.returned.data)
        )
    }
}

/// The datagrams of a frame.
pub(crate) fn datagrams(frame: &[u8]) -> Vec<Datagram> {
    let word = |at: usize| u16::from_le_bytes([frame[at], frame[at + 1]]);
    let mut found = Vec::new();
    let mut at = HEADERS;
    loop {
        let length = word(at + 6);
        let data = at + 10;
        let end = data + usize::from(length & 0x07FF);
        found.push(Datagram {
            command: frame[at],
            address: word(at + 2),
            register: word(at + 4),
            data: frame[data..end].to_vec(),
            counter: word(end),
        });
        if length & 0x8000 == 0 {
            return found;
        }
        at = end + 2;
    }
}

/// The folder of the captures, or why there is none.
pub(crate) fn capture_folder() -> Result<PathBuf, String> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.toml");
    let output = Command::new(cargo)
        .args(["metadata", "--format-version", "1", "--offline"])
        // Without it, cargo wants the sources for all other platforms, too.
        .args(["--filter-platform", &format!("{}-unknown-linux-gnu", std::env::consts::ARCH)])
        .arg("--manifest-path")
        .arg(manifest)
        .output()
        .map_err(|error| format!("`cargo metadata` does not start: {error}"))?;
    let metadata: serde_json::Value = serde_json::from_slice(&output.stdout)
        .map_err(|_| "`cargo metadata` tells nothing".to_owned())?;
    let packages = metadata["packages"].as_array().cloned().unwrap_or_default();
    let manifest = packages
        .iter()
        .find(|package| package["name"] == "ethercrab")
        .and_then(|package| package["manifest_path"].as_str())
        .ok_or("the sources of `ethercrab` are not here")?;
    let folder = Path::new(manifest).with_file_name("tests");
    if folder.join("replay-dc.pcapng").is_file() {
        Ok(folder)
    } else {
        Err("the sources of `ethercrab` have no captures".to_owned())
    }
}

/// All captures of a folder, by name.
pub(crate) fn read_all(folder: &Path) -> Vec<Capture> {
    let mut paths: Vec<PathBuf> = std::fs::read_dir(folder)
        .expect("a folder")
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "pcapng"))
        .collect();
    paths.sort();
    paths.iter().map(|path| read(path)).collect()
}

/// Pairs each sent frame with the one that came back, by the first command and index.
fn read(path: &Path) -> Capture {
    let mut reader = PcapNgReader::new(File::open(path).expect("a file")).expect("a capture");
    let mut waiting: HashMap<(u8, u8), usize> = HashMap::new();
    let mut frames: Vec<Frame> = Vec::new();
    while let Some(block) = reader.next_block() {
        let Block::EnhancedPacket(packet) = block.expect("a sound block") else {
            continue;
        };
        let frame = packet.data.to_vec();
        let key = (frame[HEADERS], frame[HEADERS + 1]);
        if frame[6..12] == MAIN_DEVICE {
            waiting.insert(key, frames.len());
            let time_ns = packet.timestamp.as_nanos() as u64;
            frames.push(Frame { time_ns, sent: frame, returned: Vec::new() });
        } else if let Some(place) = waiting.remove(&key) {
            frames[place].returned = frame;
        }
    }
    // The last frame of a capture may have no answer.
    frames.retain(|frame| !frame.returned.is_empty());
    let exchanges = frames
        .iter()
        .flat_map(|frame| datagrams(&frame.sent).into_iter().zip(datagrams(&frame.returned)))
        .map(|(sent, returned)| Exchange { sent, returned })
        .collect();
    let name = path.file_stem().expect("a name").to_string_lossy().into_owned();
    Capture { name, frames, exchanges }
}
