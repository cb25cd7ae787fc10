//! The devices of a probe's guest beside memory: a console, an end, a rest, and a clock board.

use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use quietcore_boot::port;
use quietcore_microvm::board::Board;
use quietcore_microvm::bus::{After, Bus};

use crate::routines::series::REST;

/// The most bytes that are kept of what a guest writes to its console.
const SAID_BYTES_MAX: usize = 16 << 10;

/// The devices of a probe's guest beside memory.
#[derive(Debug)]
pub(super) struct Devices {
    pub(super) board: Option<Board>,
    said: Mutex<Vec<u8>>,
}

impl Devices {
    pub(super) fn new(board: Option<Board>) -> Self {
        Self { board, said: Mutex::default() }
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

    fn write_address(&self, _: u64, _: &[u8]) -> After {
        After::GoOn
    }

    fn read_address(&self, _: u64, _: &mut [u8]) {}
}
