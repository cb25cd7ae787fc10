//! The clock board of a guest of QEMU: its page in the control memory, and as its interrupt the
//! doorbell of that memory's device.
//!
//! ```text
//! thread of the host: counter ─► page ─► event file ─► ivshmem-doorbell ─► vector of the guest
//! guest: period, on and off ─► a word of the page, which is looked at now and then
//! ```

use quietcore_boot::board::{OrderWord, PAGE_BYTES, port};
use quietcore_boot::devices::BOARD_PLACE;
use quietcore_boot::{AddressRange, HostPage};
use quietcore_microvm::board::{Board, Generator};
use quietcore_microvm::processor::counter::Counter;
use quietcore_process::thread::prepare;
use quietcore_units::ThreadRequest;

use super::doorbell::Doorbell;
use crate::guest::control::Control;
use crate::guest::in_words;

/// A clock board that waits for the counter of its guest.
pub(super) struct BoardToCome {
    orders: OrderWord<'static>,
    request: ThreadRequest,
}

/// A clock board with the thread that raises its interrupts.
pub(super) struct ClockBoard {
    board: Board,
    orders: OrderWord<'static>,
    /// The orders that were carried out.
    carried_out: Option<(u32, u32)>,
    _generator: Generator,
}

impl BoardToCome {
    /// Begins the page, and enters it into the host page. `request` is for the board's thread.
    pub(super) fn new(control: &Control, page: &mut HostPage, request: ThreadRequest) -> Self {
        page.clock_board = AddressRange { address: BOARD_PLACE, bytes: PAGE_BYTES };
        Self { orders: control.begin_board(), request }
    }

    /// Starts the thread, for a guest with this counter.
    ///
    /// # Errors
    /// When the page, the thread or a file can't be had; in words.
    pub(super) fn start(
        self,
        control: &Control,
        doorbell: &Doorbell,
        counter: Counter,
    ) -> Result<ClockBoard, String> {
        let Self { orders, request } = self;
        let none = |error: std::io::Error| format!("no clock board: {error}");
        let line = doorbell.line().map_err(none)?;
        let board = Board::over(control.board().map_err(in_words)?, counter, line).map_err(none)?;
        // A refused setting only makes interrupts come late, which lengthens no response: the board
        // counts from the instant at which it raised one.
        let generator = board.start(move || drop(prepare(&request))).map_err(none)?;
        Ok(ClockBoard { board, orders, carried_out: None, _generator: generator })
    }
}

impl ClockBoard {
    /// Carries out the guest's orders since the last look. What the board refuses changes nothing.
    pub(super) fn look(&mut self) {
        let orders = self.orders.orders();
        if self.carried_out == orders {
            return;
        }
        self.carried_out = orders;
        if let Some((period, control)) = orders {
            self.board.write_port(port::PERIOD, &period.to_le_bytes());
            self.board.write_port(port::CONTROL, &control.to_le_bytes());
        }
    }

    /// Returns its interrupts so far, in words.
    pub(super) fn counts_in_words(&self) -> String {
        self.board.counts().to_string()
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use quietcore_boot::board::PERIOD_MIN;
    use quietcore_units::Scheduling;
    use rustix::io::read;

    use super::*;
    use crate::measuring::guest::NO_CODE;

    /// Goal: a guest that hears no port of its host has a board all the same: it is interrupted
    /// once it has switched the board on, and its page says when.
    #[test]
    fn a_guest_switches_its_board_on_by_a_word_of_memory() {
        let control = Control::create(NO_CODE).unwrap();
        let (doorbell, _end) = Doorbell::new(control.file()).unwrap();
        let mut page = HostPage::of_counter(1_000_000_000);
        let to_come = BoardToCome::new(&control, &mut page, ThreadRequest::new(Scheduling::Other));
        assert_eq!(page.clock_board.address, BOARD_PLACE);
        let guest = to_come.orders;
        let mut board = to_come.start(&control, &doorbell, Counter::new(1_000_000_000, 0)).unwrap();
        board.look();
        assert_eq!(board.counts_in_words(), "raised 0, of which lost 0, left out 0");
        // What is out of range is refused, as at the ports.
        guest.set_period(PERIOD_MIN - 1);
        board.look();
        guest.set_period(PERIOD_MIN);
        guest.switch(true);
        board.look();
        let (line, begun) = (doorbell.line().unwrap(), Instant::now());
        let mut called = [0; 8];
        while read(&line, &mut called).is_err() {
            assert!(begun.elapsed() < Duration::from_secs(30), "nothing is raised");
            std::thread::sleep(Duration::from_millis(1));
        }
        assert!(u64::from_ne_bytes(called) > 0);
        assert!(!board.counts_in_words().starts_with("raised 0,"));
    }
}
