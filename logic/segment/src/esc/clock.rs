//! The distributed clock of a controller (ETG.1000.4, 6.8): local time, system time, control loop.
//!
//! ```text
//! segment time ── oscillator (drift) ──► local time ── control loop ──► + offset ──► system time
//!                                                          ▲
//!     time of the reference clock, written to 0x0910 ──────┘  minus the delay at 0x0928
//! ```
//!
//! A write to 0x0910 is compared with the own system time. A quarter of the difference is made up
//! at once, and a part of it corrects the rate, so that a clock with any oscillator within ±0.1 %
//! settles to a few nanoseconds. What one write may move is limited to a twentieth of the time
//! since the last one, because a real clock is steered by its rate and never jumps.
//!
//! SYNC0 pulses come at the start time and then each cycle of system time. A start time that has
//! passed already never comes, as in a real controller, whose comparison is for equality.

use crate::blueprint::ClockMaking;
use crate::esc::registers as r;

const PPB: i128 = 1_000_000_000;
/// The most that an oscillator can be off.
const DRIFT_MAX_PPB: i32 = 500_000_000;
/// The most by which the control loop corrects the rate, in parts per billion.
const RATE_MAX_PPB: i64 = 1_000_000;
/// Parts of a difference that one write makes up.
const PHASE_DIVISOR: i64 = 4;
/// Parts of a difference, as a rate, that one write corrects.
const RATE_DIVISOR: f64 = 64.0;
/// A write moves the phase by at most this part of the time since the last one.
const SLEW_DIVISOR: u64 = 20;
/// The filter of the shown difference averages over at most 2 to this many writes.
const FILTER_DEPTH_MAX: u8 = 12;

/// The clock of one SubDevice.
#[derive(Clone, Debug)]
pub(crate) struct Clock {
    /// Segment time and local time at the last change of rate.
    anchor_ns: u64,
    local_at_anchor_ns: u64,
    /// Error of the oscillator.
    drift_ppb: i64,
    /// Correction by the control loop.
    rate_ppb: i64,
    /// When 0x0910 was last written, in segment time.
    written_ns: Option<u64>,
    /// Filtered difference to the reference clock.
    difference_ns: i64,
    /// Segment time of arrival of the frame that latched 0x0918.
    received_ns: u64,
    /// The next SYNC0 pulse in system time; `None` when there is none to come.
    next_pulse: Option<u64>,
    cycle_ns: u32,
}

impl Clock {
    /// A clock that was powered up at `now_ns`.
    pub(crate) fn new(making: ClockMaking, now_ns: u64) -> Self {
        Self {
            anchor_ns: now_ns,
            local_at_anchor_ns: making.start_ns,
            drift_ppb: limited(making.drift_ppb),
            rate_ppb: 0,
            written_ns: None,
            difference_ns: 0,
            received_ns: now_ns,
            next_pulse: None,
            cycle_ns: 0,
        }
    }

    /// Local time at a segment time.
    pub(crate) fn local(&self, now_ns: u64) -> u64 {
        let ppb = self.drift_ppb + self.rate_ppb;
        let elapsed = now_ns.wrapping_sub(self.anchor_ns);
        let gained = if elapsed < 1 << 30 {
            // Two factors below 2³² have their product here; a division of 128 bits is slow, and
            // each frame needs one for each device.
            elapsed as i64 * ppb / PPB as i64
        } else {
            let elapsed = i128::from(now_ns) - i128::from(self.anchor_ns);
            (elapsed * i128::from(ppb) / PPB) as i64
        };
        // Wraps as the register does, after 584 years.
        self.local_at_anchor_ns.wrapping_add(elapsed).wrapping_add_signed(gained)
    }

    /// System time at a segment time.
    pub(crate) fn system(&self, memory: &[u8], now_ns: u64) -> u64 {
        self.local(now_ns).wrapping_add(r::get_u64(memory, r::SYSTEM_TIME_OFFSET))
    }

    /// Segment time of a system time, as the clock runs now.
    fn segment_time(&self, memory: &[u8], system: u64) -> u64 {
        let local = system.wrapping_sub(r::get_u64(memory, r::SYSTEM_TIME_OFFSET));
        let ahead = i128::from(local.wrapping_sub(self.local_at_anchor_ns) as i64);
        let rate = PPB + i128::from(self.drift_ppb + self.rate_ppb);
        let elapsed = ahead * PPB / rate;
        (i128::from(self.anchor_ns) + elapsed).clamp(0, i128::from(u64::MAX)) as u64
    }

    /// Continues from here with another rate.
    fn set_anchor(&mut self, now_ns: u64) {
        self.local_at_anchor_ns = self.local(now_ns);
        self.anchor_ns = now_ns;
    }

    /// Changes the error of the oscillator.
    pub(crate) fn set_drift(&mut self, drift_ppb: i32, now_ns: u64) {
        self.set_anchor(now_ns);
        self.drift_ppb = limited(drift_ppb);
    }

    /// Moves the local time at once; no real clock does.
    pub(crate) fn step(&mut self, by_ns: i64, now_ns: u64) {
        self.set_anchor(now_ns);
        self.local_at_anchor_ns = self.local_at_anchor_ns.wrapping_add_signed(by_ns);
    }

    /// Latches the arrival of a frame that writes 0x0900.
    pub(crate) fn latch(&mut self, now_ns: u64) {
        self.received_ns = now_ns;
    }

    /// Brings the time registers up to date before they are read.
    pub(crate) fn show(&self, memory: &mut [u8], now_ns: u64) {
        let system = self.system(memory, now_ns);
        r::put(memory, r::SYSTEM_TIME, &system.to_le_bytes());
        let received = self.local(self.received_ns);
        r::put(memory, r::RECEIVE_TIME_UNIT, &received.to_le_bytes());
        let magnitude = self.difference_ns.unsigned_abs().min(0x7FFF_FFFF) as u32;
        // Bit 31 tells that the own time is behind the received one.
        let shown = magnitude | (u32::from(self.difference_ns < 0) << 31);
        r::put(memory, r::SYSTEM_TIME_DIFFERENCE, &shown.to_le_bytes());
        if let Some(pulse) = self.next_pulse {
            r::put(memory, r::SYNC_START_TIME, &pulse.to_le_bytes());
        }
    }

    /// Acts on a write to the registers of the clock. `written` is the value that was written to
    /// 0x0910, with its width in bytes.
    pub(crate) fn written(
        &mut self,
        span: r::Span,
        memory: &mut [u8],
        written: Option<(u64, usize)>,
        now_ns: u64,
    ) {
        if span.touches(r::SPEED_COUNTER_START, 2) {
            // Starts the control loop anew.
            self.set_anchor(now_ns);
            self.rate_ppb = 0;
            self.difference_ns = 0;
            self.written_ns = None;
        }
        if let Some((received, width)) = written {
            self.compare(received, width, memory, now_ns);
        }
        if span.touches(r::SYNC_ACTIVATION, 1) || span.touches(r::SYNC0_CYCLE, 4) {
            self.activate(memory, now_ns);
        }
    }

    /// One step of the control loop.
    fn compare(&mut self, received: u64, width: usize, memory: &[u8], now_ns: u64) {
        let delay = u64::from(r::get_u32(memory, r::SYSTEM_TIME_DELAY));
        let local = self.local(now_ns);
        let offset = r::get_u64(memory, r::SYSTEM_TIME_OFFSET);
        let own = local.wrapping_add(offset).wrapping_sub(delay);
        let error = if width >= 8 {
            own.wrapping_sub(received) as i64
        } else {
            i64::from((own as u32).wrapping_sub(received as u32) as i32)
        };
        let depth = memory[usize::from(r::DIFFERENCE_FILTER)].min(FILTER_DEPTH_MAX);
        self.difference_ns += error.saturating_sub(self.difference_ns) >> depth;
        let since = self.written_ns.map_or(0, |at| now_ns.saturating_sub(at));
        self.written_ns = Some(now_ns);
        let slew = (since / SLEW_DIVISOR).min(i64::MAX as u64) as i64;
        if slew == 0 {
            return;
        }
        let phase = (-(error / PHASE_DIVISOR)).clamp(-slew, slew);
        self.anchor_ns = now_ns;
        self.local_at_anchor_ns = local.wrapping_add_signed(phase);
        // A difference that cannot be made up soon says nothing about the rate.
        if error.abs() < slew {
            let rate = (error as f64 * 1e9 / since as f64 / RATE_DIVISOR) as i64;
            self.rate_ppb = (self.rate_ppb - rate).clamp(-RATE_MAX_PPB, RATE_MAX_PPB);
        }
    }

    /// Starts or stops the SYNC0 pulses from their registers.
    fn activate(&mut self, memory: &[u8], now_ns: u64) {
        let on = memory[usize::from(r::SYNC_ACTIVATION)] & 0x03 == 0x03;
        self.cycle_ns = r::get_u32(memory, r::SYNC0_CYCLE);
        let start = r::get_u64(memory, r::SYNC_START_TIME);
        let system = self.system(memory, now_ns);
        self.next_pulse = (on && start > system).then_some(start);
    }

    /// Returns `true` if SYNC0 pulses come or are to come.
    pub(crate) fn has_pulses(&self) -> bool {
        self.next_pulse.is_some()
    }

    /// Segment time of the next SYNC0 pulse.
    pub(crate) fn next_pulse_ns(&self, memory: &[u8]) -> Option<u64> {
        Some(self.segment_time(memory, self.next_pulse?))
    }

    /// Takes the pulses due by `now_ns`; true when there was one. Several that were due at once
    /// count as the last of them.
    pub(crate) fn take_pulses(&mut self, memory: &[u8], now_ns: u64) -> bool {
        let system = self.system(memory, now_ns);
        let Some(next) = self.next_pulse.filter(|next| *next <= system) else {
            return false;
        };
        let cycle = u64::from(self.cycle_ns);
        // Computed, not counted in a loop: the MainDevice chose the cycle.
        self.next_pulse = (system - next)
            .checked_div(cycle)
            .map(|passed| next.saturating_add((passed + 1).saturating_mul(cycle)));
        true
    }
}

/// An oscillator is off by less than half its rate, so that no clock stands still or goes back.
fn limited(drift_ppb: i32) -> i64 {
    i64::from(drift_ppb.clamp(-DRIFT_MAX_PPB, DRIFT_MAX_PPB))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn clock(drift_ppb: i32) -> (Clock, Vec<u8>) {
        (Clock::new(ClockMaking { drift_ppb, start_ns: 77 }, 0), vec![0; 0x1000])
    }

    fn write_time(clock: &mut Clock, memory: &mut [u8], time: u64, now_ns: u64) {
        clock.written(r::Span::new(r::SYSTEM_TIME, 8), memory, Some((time, 8)), now_ns);
    }

    #[test]
    fn local_time_runs_at_the_rate_of_its_oscillator() {
        let (clock, _) = clock(20_000);
        assert_eq!(clock.local(1_000_000_000), 77 + 1_000_020_000);
    }

    proptest! {
        #[test]
        fn local_time_is_that_of_exact_numbers(
            anchor_ns: u64,
            apart in prop_oneof![-10_i64..1 << 31, any::<i64>()],
            drift_ppb in -DRIFT_MAX_PPB..=DRIFT_MAX_PPB,
            rate_ppb in -RATE_MAX_PPB..=RATE_MAX_PPB,
        ) {
            let making = ClockMaking { drift_ppb, start_ns: 77 };
            let clock = Clock { rate_ppb, ..Clock::new(making, anchor_ns) };
            let now_ns = anchor_ns.wrapping_add_signed(apart);
            let elapsed = i128::from(now_ns) - i128::from(anchor_ns);
            let gained = elapsed * i128::from(i64::from(drift_ppb) + rate_ppb) / PPB;
            prop_assert_eq!(clock.local(now_ns), (77 + elapsed + gained) as u64);
        }
    }

    /// Goal: whatever its oscillator, a clock follows the reference clock within nanoseconds.
    /// Method: the time of a perfect reference is written each millisecond, offset set beforehand.
    #[test]
    fn the_control_loop_follows_the_reference_clock() {
        for drift_ppb in [-100_000, -20_000, 0, 3_000, 100_000] {
            let (mut clock, mut memory) = clock(drift_ppb);
            let mut worst = 0;
            for cycle in 1..4_000_u64 {
                let now_ns = cycle * 1_000_000;
                write_time(&mut clock, &mut memory, now_ns, now_ns);
                if cycle > 2_000 {
                    let error =
                        clock.system(&memory, now_ns + 999_999) as i64 - (now_ns + 999_999) as i64;
                    worst = worst.max(error.abs());
                }
            }
            assert!(worst < 20, "drift {drift_ppb} ppb: {worst} ns");
        }
    }

    #[test]
    fn the_shown_difference_is_sign_and_magnitude() {
        let (mut clock, mut memory) = clock(0);
        write_time(&mut clock, &mut memory, 1_000, 0);
        clock.show(&mut memory, 0);
        assert_eq!(r::get_u32(&memory, r::SYSTEM_TIME_DIFFERENCE), 0x8000_0000 | (1_000 - 77));
    }

    #[test]
    fn the_shown_difference_is_filtered_over_writes() {
        let (mut clock, mut memory) = clock(0);
        memory[usize::from(r::DIFFERENCE_FILTER)] = 2;
        for shown in [250, 250 + 188] {
            write_time(&mut clock, &mut memory, 1_077, 0);
            clock.show(&mut memory, 0);
            assert_eq!(r::get_u32(&memory, r::SYSTEM_TIME_DIFFERENCE), 0x8000_0000 | shown);
        }
    }

    #[test]
    fn pulses_come_at_the_start_time_and_each_cycle() {
        let (mut clock, mut memory) = clock(0);
        r::put(&mut memory, r::SYNC_START_TIME, &10_077_u64.to_le_bytes());
        r::put(&mut memory, r::SYNC0_CYCLE, &1_000_u32.to_le_bytes());
        r::put(&mut memory, r::SYNC_ACTIVATION, &[3]);
        clock.written(r::Span::new(r::SYNC_ACTIVATION, 1), &mut memory, None, 0);
        assert_eq!(clock.next_pulse_ns(&memory), Some(10_000));
        assert!(!clock.take_pulses(&memory, 9_999));
        assert!(clock.take_pulses(&memory, 10_000));
        assert_eq!(clock.next_pulse_ns(&memory), Some(11_000));
        assert!(clock.take_pulses(&memory, 15_500), "five at once");
        assert_eq!(clock.next_pulse_ns(&memory), Some(16_000));
    }

    #[test]
    fn a_start_time_that_has_passed_never_comes() {
        let (mut clock, mut memory) = clock(0);
        r::put(&mut memory, r::SYNC_START_TIME, &50_u64.to_le_bytes());
        r::put(&mut memory, r::SYNC0_CYCLE, &1_000_u32.to_le_bytes());
        r::put(&mut memory, r::SYNC_ACTIVATION, &[3]);
        clock.written(r::Span::new(r::SYNC_ACTIVATION, 1), &mut memory, None, 100);
        assert!(!clock.has_pulses());
    }
}
