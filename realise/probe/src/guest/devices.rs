//! The devices of a probe's guest beside memory: a console, an end, a rest, a clock board, and a
//! network.

use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use quietcore_boot::places::NET;
use quietcore_boot::port;
use quietcore_microvm::board::Board;
use quietcore_microvm::bus::{After, Bus};
use quietcore_microvm::net::{Net, REGISTER_BYTES};

use crate::routines::series::REST;

/// The most bytes that are kept of what a guest writes to its console.
const SAID_BYTES_MAX: usize = 16 << 10;

/// The devices of a probe's guest beside memory.
pub(super) struct Devices {
    pub(super) board: Option<Board>,
    network: Option<Net>,
    said: Mutex<Vec<u8>>,
}

impl Devices {
    pub(super) fn new(board: Option<Board>, network: Option<Net>) -> Self {
        Self { board, network, said: Mutex::default() }
    }

    /// Returns the network device whose register is at an address, with the register's offset.
    fn network_at(&self, address: u64) -> Option<(&Net, u64)> {
        let offset = address.checked_sub(NET).filter(|offset| *offset < REGISTER_BYTES)?;
        Some((self.network.as_ref()?, offset))
    }

    pub(super) fn said(&self) -> String {
        let said = self.said.lock().unwrap_or_else(PoisonError::into_inner);
        String::from_utf8_lossy(&said).into_owned()
    }
}

impl Bus for Devices {
    fn write_port(&self, number: u16, data: &[u8]) -> After {
        match number {
            port::CONSOLE => {
                let mut said = self.said.lock().unwrap_or_else(PoisonError::into_inner);
                let room = SAID_BYTES_MAX - said.len();
                said.extend_from_slice(&data[..data.len().min(room)]);
            }
            port::REST => thread::sleep(Duration::from_nanos(REST.get())),
            port::END => return After::End(u32::from(data.first().copied().unwrap_or(0))),
            _ => {
                if let Some(board) = &self.board {
                    board.write_port(number, data);
                }
            }
        }
        After::GoOn
    }

    fn read_port(&self, number: u16, data: &mut [u8]) {
        if let Some(board) = &self.board {
            board.read_port(number, data);
        }
    }

    fn write_address(&self, address: u64, data: &[u8]) -> After {
        if let Some((network, offset)) = self.network_at(address) {
            network.write(offset, data);
        }
        After::GoOn
    }

    fn read_address(&self, address: u64, data: &mut [u8]) {
        if let Some((network, offset)) = self.network_at(address) {
            network.read(offset, data);
        }
    }
}
