//! The clock board of kong2021, as a device: interrupts with a period, and how long ago the last
//! one was.
//!
//! ```text
//!  guest                    this process
//!  registers (ports) ─────► Registers ─► order ─┐          one exit each, and rarely
//!  page, read-only   ◄───── counter at raise ◄──┤ thread
//!  interrupt         ◄── KVM ◄── event file ◄───┘          no exit of this process
//! ```
//!
//! The register that counts 10 ns is the guest's own subtraction; see `quietcore_boot::board`.
// UNSAFETY: the library's event files are made of numbers of files.
#![expect(unsafe_code, reason = "an event file of another crate is made of a number")]

mod generator;
mod registers;
mod schedule;
mod shared;

use std::io;
use std::os::fd::{FromRawFd as _, IntoRawFd as _, OwnedFd};
use std::sync::{Arc, Mutex, PoisonError};

use quietcore_boot::board::{PAGE_BYTES, VECTOR};
use quietcore_boot::places::CLOCK_BOARD;
use quietcore_units::ByteSize;
use vmm_sys_util::eventfd::{EFD_CLOEXEC, EFD_NONBLOCK, EventFd};

pub use generator::Generator;
pub use registers::{Order, Registers, Written};
pub use schedule::Schedule;
pub use shared::BoardCounts;

use crate::machine::{Machine, MachineError};
use crate::processor::counter::Counter;
use crate::slot::{self, Access, SharedError};
use shared::Shared;

/// Why there is no board.
#[derive(Debug, thiserror::Error)]
pub enum BoardError {
    /// KVM refuses a part of it.
    #[error(transparent)]
    Machine(#[from] MachineError),
    /// There is no memory for its page.
    #[error(transparent)]
    Page(#[from] SharedError),
    /// There is no event file for its bell.
    #[error("no event file for the clock board can be had")]
    Bell(#[from] io::Error),
}

/// A clock board of a machine.
#[derive(Debug)]
pub struct Board {
    registers: Mutex<Registers>,
    shared: Arc<Shared>,
}

impl Board {
    /// Puts a board into a machine whose guest has this counter.
    ///
    /// # Errors
    /// [`BoardError`].
    pub fn new(machine: &mut Machine, counter: Counter) -> Result<Self, BoardError> {
        let page = slot::Shared::create("quietcore-board", ByteSize::new(PAGE_BYTES))?;
        let page = Arc::new(page);
        let bell = EventFd::new(EFD_NONBLOCK | EFD_CLOEXEC)?;
        let line = machine.line(VECTOR)?;
        machine.give("clock board", CLOCK_BOARD, Arc::clone(&page), Access::ReadOnly)?;
        let shared = Arc::new(Shared::new(page, counter, line, bell));
        Ok(Self { registers: Mutex::default(), shared })
    }

    /// Makes a board of another hypervisor's guest: its page is shared with that guest, whose
    /// counter is `counter`, and a write to `line`, an event file, raises its interrupt.
    ///
    /// # Errors
    /// There is no event file for its bell.
    pub fn over(page: slot::Shared, counter: Counter, line: OwnedFd) -> io::Result<Self> {
        let bell = EventFd::new(EFD_NONBLOCK | EFD_CLOEXEC)?;
        // SAFETY: the file is open and nobody else's.
        let line = unsafe { EventFd::from_raw_fd(line.into_raw_fd()) };
        let shared = Arc::new(Shared::new(Arc::new(page), counter, line, bell));
        Ok(Self { registers: Mutex::default(), shared })
    }

    /// Starts the thread that raises the interrupts. `prepare` runs in it first, to pin it and to
    /// ask for its policy.
    ///
    /// # Errors
    /// There is no thread.
    pub fn start(&self, prepare: impl FnOnce() + Send + 'static) -> io::Result<Generator> {
        Generator::start(Arc::clone(&self.shared), prepare)
    }

    /// The guest wrote to a port; returns whether that is the board's.
    pub fn write_port(&self, number: u16, data: &[u8]) -> bool {
        let mut registers = self.registers.lock().unwrap_or_else(PoisonError::into_inner);
        match registers.write(number, data) {
            Written::Foreign => false,
            Written::Refused => true,
            Written::Order(order) => {
                self.shared.give(order);
                true
            }
        }
    }

    /// The guest reads a port; returns whether that is the board's.
    pub fn read_port(&self, number: u16, data: &mut [u8]) -> bool {
        self.registers.lock().unwrap_or_else(PoisonError::into_inner).read(number, data)
    }

    /// Returns the counts so far.
    pub fn counts(&self) -> BoardCounts {
        self.shared.counts()
    }
}
