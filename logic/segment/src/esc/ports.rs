//! Ports of a controller: links, loops, receive times, error counters.
//!
//! In a line, port 0 leads to the MainDevice and port 1 to the next SubDevice.

use crate::esc::registers as r;
use crate::esc::registers::Span;
use crate::esc::{EVENT_DL_STATUS, Esc};

/// Ports 2 and 3 have no link, so their loops are closed.
const DL_OTHERS_CLOSED: u16 = 0x5000;
const DL_PORT0_UP: u16 = 0x0010 | 0x0200;
const DL_PORT1_UP: u16 = 0x0020 | 0x0800;
const DL_PORT1_CLOSED: u16 = 0x0400;

impl Esc {
    /// Shows whether there is a link behind this device; `round_trip_ns` is the time that a frame
    /// takes from port 0 over all that is behind to port 1.
    pub(crate) fn set_link(&mut self, round_trip_ns: Option<u64>) {
        self.round_trip_ns = round_trip_ns;
        let port1 = if round_trip_ns.is_some() { DL_PORT1_UP } else { DL_PORT1_CLOSED };
        let status = u16::from(self.dl_status) | DL_OTHERS_CLOSED | DL_PORT0_UP | port1;
        if status != r::get_u16(&self.memory, r::DL_STATUS) {
            r::put(&mut self.memory, r::DL_STATUS, &status.to_le_bytes());
            self.raise(EVENT_DL_STATUS);
        }
    }

    /// The time that a frame takes over all that is behind; `None` when there is nothing.
    pub(crate) fn round_trip_ns(&self) -> Option<u64> {
        self.round_trip_ns
    }

    /// Returns `true` if the MainDevice has closed the loop at port 1, so that nothing behind is
    /// reached.
    #[inline]
    pub(crate) fn is_port1_closed(&self) -> bool {
        self.memory[usize::from(r::DL_CONTROL) + 1] & 0x0C == 0x0C
    }

    /// Latches the receive times of both ports, in local time, of the frame that arrived at
    /// `now_ns`.
    pub(crate) fn latch_receive_times(&mut self, now_ns: u64) {
        let port0 = self.local(now_ns) as u32;
        r::put(&mut self.memory, r::RECEIVE_TIMES, &port0.to_le_bytes());
        if let Some(round_trip_ns) = self.round_trip_ns {
            let port1 = self.local(now_ns.saturating_add(round_trip_ns)) as u32;
            r::put(&mut self.memory, r::RECEIVE_TIMES + 4, &port1.to_le_bytes());
        }
        if let Some(clock) = &mut self.clock {
            clock.latch(now_ns);
        }
    }

    /// Local time; that of the segment where there is no clock.
    fn local(&self, now_ns: u64) -> u64 {
        self.clock.as_ref().map_or(now_ns, |clock| clock.local(now_ns))
    }

    /// Counts a frame that came back damaged at port 1; `forwarded` when a device behind saw it
    /// first.
    pub(crate) fn count_damaged(&mut self, forwarded: bool) {
        self.count(r::RX_ERRORS + 2);
        if forwarded {
            self.count(r::FORWARDED_ERRORS + 1);
        }
    }

    /// Counts a lost link at a port, 0 to 3.
    pub(crate) fn count_lost_link(&mut self, port: u16) {
        self.count(r::LOST_LINKS + port);
    }

    /// Error counters stop at 255 (ETG.1000.4, 6.2).
    fn count(&mut self, address: u16) {
        let counter = &mut self.memory[usize::from(address)];
        *counter = counter.saturating_add(1);
    }

    /// Counts an expiry of the watchdog of the process data.
    pub(crate) fn count_expiry(&mut self) {
        self.memory[usize::from(r::WATCHDOG_STATUS)] = 0;
        self.count(r::WATCHDOG_COUNTERS);
    }

    /// Writing to a group of counters clears the whole group.
    pub(crate) fn counters_written(&mut self, span: Span) {
        for (start, length) in [
            (r::RX_ERRORS, 8),
            (r::FORWARDED_ERRORS, 8),
            (r::LOST_LINKS, 4),
            (r::WATCHDOG_COUNTERS, 2),
        ] {
            if span.touches(start, length) {
                r::put(&mut self.memory, start, &[0; 8][..length]);
            }
        }
    }
}
