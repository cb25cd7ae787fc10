//! When the board raises its interrupts. Pure.
//!
//! Instants are absolute, so that one that comes late moves no later one. Where whole periods have
//! passed, the interrupts of these are left out, and counted: an interrupt line has no memory.

use quietcore_boot::board::UNIT_NS;

use super::registers::Order;

/// The instants of a board that was told what to do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Schedule {
    order: Option<Order>,
    /// Number of times that the board was switched on or off by then.
    switchings: u32,
    next_ns: u64,
    left_out: u64,
}

impl Schedule {
    /// Takes an order over, which may be the one in force; the board was switched on or off so
    /// often before it. A board that is switched on, or gets another period, raises its next
    /// interrupt a period from now. Returns whether it was switched meanwhile: it may have been off
    /// and on again.
    pub fn follow(&mut self, order: Order, switchings: u32, now_ns: u64) -> bool {
        let is_switched = self.order.is_none() || self.switchings != switchings;
        if is_switched || self.order != Some(order) {
            self.order = Some(order);
            self.switchings = switchings;
            self.next_ns = now_ns.saturating_add(period_ns(order));
        }
        is_switched
    }

    /// When the next interrupt is due; `None` where the board is off.
    pub fn next_ns(&self) -> Option<u64> {
        self.order.filter(|order| order.on).map(|_| self.next_ns)
    }

    /// Says that the interrupt was raised at `now_ns`, at which it was due.
    pub fn raised(&mut self, now_ns: u64) {
        let Some(order) = self.order else { return };
        let period_ns = period_ns(order);
        // Computed, not counted in a loop: the guest chose the period.
        let passed = now_ns.saturating_sub(self.next_ns) / period_ns;
        self.left_out += passed;
        self.next_ns = self.next_ns.saturating_add((passed + 1).saturating_mul(period_ns));
    }

    /// Interrupts that were left out, because the period of each was over when it was its turn.
    pub fn left_out(&self) -> u64 {
        self.left_out
    }
}

fn period_ns(order: Order) -> u64 {
    u64::from(order.period.max(1)) * UNIT_NS
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const ON: Order = Order { period: 1_000, on: true };

    #[test]
    fn a_board_that_is_off_raises_nothing() {
        let mut schedule = Schedule::default();
        assert_eq!(schedule.next_ns(), None);
        schedule.follow(Order { on: false, ..ON }, 0, 5);
        assert_eq!(schedule.next_ns(), None);
        assert!(schedule.follow(ON, 1, 50), "it is switched on");
        assert_eq!(schedule.next_ns(), Some(10_050));
    }

    #[test]
    fn the_same_order_again_moves_nothing_and_another_period_begins_anew() {
        let mut schedule = Schedule::default();
        schedule.follow(ON, 1, 0);
        assert!(!schedule.follow(ON, 1, 9_000));
        assert_eq!(schedule.next_ns(), Some(10_000));
        assert!(!schedule.follow(Order { period: 2_000, on: true }, 1, 9_000));
        assert_eq!(schedule.next_ns(), Some(29_000));
    }

    #[test]
    fn a_board_that_was_off_and_on_again_begins_anew_though_nobody_saw_it_off() {
        let mut schedule = Schedule::default();
        schedule.follow(ON, 1, 0);
        assert!(schedule.follow(ON, 3, 9_000));
        assert_eq!(schedule.next_ns(), Some(19_000));
    }

    #[test]
    fn periods_that_passed_are_left_out_and_counted() {
        let mut schedule = Schedule::default();
        schedule.follow(ON, 1, 0);
        schedule.raised(10_400);
        assert_eq!((schedule.next_ns(), schedule.left_out()), (Some(20_000), 0));
        schedule.raised(55_000);
        assert_eq!((schedule.next_ns(), schedule.left_out()), (Some(60_000), 3));
    }

    proptest! {
        #[test]
        fn the_next_one_is_in_the_future_and_on_the_grid(
            period in 1_000_u32..=100_000_000, start in 0_u64..1 << 40, late in 0_u64..1 << 45,
        ) {
            let mut schedule = Schedule::default();
            schedule.follow(Order { period, on: true }, 1, start);
            let first = schedule.next_ns().expect("it is on");
            let now = first + late;
            schedule.raised(now);
            let next = schedule.next_ns().expect("it is on");
            prop_assert!(next > now);
            prop_assert_eq!((next - first) % (u64::from(period) * UNIT_NS), 0);
        }
    }
}
