//! The board's control registers. What a guest writes to them is checked; nothing else follows.

use quietcore_boot::board::{PERIOD_MAX, PERIOD_MIN, control, port};

/// The orders for the board.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Order {
    /// Time between two interrupts, in units of 10 ns.
    pub period: u32,
    /// Answers a guest's accesses. Nothing that it asks or tells can be trusted.
    pub on: bool,
}

/// The registers as the guest has written them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Registers {
    order: Order,
    refused: bool,
}

impl Default for Registers {
    /// As after a reset: off, with the longest period.
    fn default() -> Self {
        Self { order: Order { period: PERIOD_MAX, on: false }, refused: false }
    }
}

/// The effect of a write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Written {
    /// The port is none of the board's.
    Foreign,
    /// The value was refused, and nothing changed.
    Refused,
    /// This holds from now on.
    Order(Order),
}

impl Registers {
    /// The guest wrote to a port: 32 bits, or it is refused.
    pub fn write(&mut self, number: u16, data: &[u8]) -> Written {
        let value = <[u8; 4]>::try_from(data).ok().map(u32::from_le_bytes);
        let order = match (number, value) {
            (port::PERIOD, Some(period @ PERIOD_MIN..=PERIOD_MAX)) => {
                Some(Order { period, ..self.order })
            }
            (port::CONTROL, Some(value)) if value & !control::ON == 0 => {
                Some(Order { on: value == control::ON, ..self.order })
            }
            (port::PERIOD | port::CONTROL, _) => None,
            _ => return Written::Foreign,
        };
        self.refused = order.is_none();
        order.map_or(Written::Refused, |order| {
            self.order = order;
            Written::Order(order)
        })
    }

    /// The guest reads a port; returns whether it is the board's. What is not 32 bits wide stays
    /// as it is.
    pub fn read(&self, number: u16, data: &mut [u8]) -> bool {
        let value = match number {
            port::PERIOD => self.order.period,
            port::CONTROL => {
                let on = if self.order.on { control::ON } else { 0 };
                on | if self.refused { control::REFUSED } else { 0 }
            }
            _ => return false,
        };
        if let Ok(data) = <&mut [u8; 4]>::try_from(data) {
            *data = value.to_le_bytes();
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    fn read(registers: &Registers, number: u16) -> u32 {
        let mut data = [0xFF; 4];
        assert!(registers.read(number, &mut data));
        u32::from_le_bytes(data)
    }

    #[test]
    fn a_board_is_off_until_it_is_told_its_period_and_to_go() {
        let mut registers = Registers::default();
        assert_eq!(read(&registers, port::CONTROL), 0);
        let period = 1_000_000_u32;
        let off = Order { period, on: false };
        assert_eq!(registers.write(port::PERIOD, &period.to_le_bytes()), Written::Order(off));
        let on = Order { period, on: true };
        assert_eq!(registers.write(port::CONTROL, &1_u32.to_le_bytes()), Written::Order(on));
        assert_eq!((read(&registers, port::PERIOD), read(&registers, port::CONTROL)), (period, 1));
    }

    #[test]
    fn what_is_out_of_range_is_refused_and_said_until_the_next_write() {
        let mut registers = Registers::default();
        for value in [0, PERIOD_MIN - 1, PERIOD_MAX + 1, u32::MAX] {
            assert_eq!(registers.write(port::PERIOD, &value.to_le_bytes()), Written::Refused);
            assert_eq!(read(&registers, port::PERIOD), PERIOD_MAX);
            assert_eq!(read(&registers, port::CONTROL), control::REFUSED);
        }
        assert_eq!(registers.write(port::CONTROL, &2_u32.to_le_bytes()), Written::Refused);
        for data in [&[1][..], &[1, 0], &[1, 0, 0, 0, 1, 0, 0, 0]] {
            assert_eq!(registers.write(port::CONTROL, data), Written::Refused, "{data:?}");
        }
        assert!(matches!(registers.write(port::CONTROL, &[0; 4]), Written::Order(_)));
        assert_eq!(read(&registers, port::CONTROL), 0);
    }

    #[test]
    fn other_ports_are_not_the_boards() {
        let mut registers = Registers::default();
        assert_eq!(registers.write(port::PERIOD + 1, &[0; 4]), Written::Foreign);
        assert!(!registers.read(port::CONTROL + 4, &mut [0; 4]));
    }

    proptest! {
        #[test]
        fn whatever_is_written_the_order_stays_within_its_limits(
            writes in vec((0x51F_u16..0x529, vec(any::<u8>(), 0..9)), 0..64),
        ) {
            let mut registers = Registers::default();
            for (number, data) in writes {
                let before = registers;
                match registers.write(number, &data) {
                    Written::Order(order) => {
                        prop_assert!((PERIOD_MIN..=PERIOD_MAX).contains(&order.period));
                        prop_assert_eq!(order, registers.order);
                    }
                    Written::Refused => prop_assert_eq!(registers.order, before.order),
                    Written::Foreign => prop_assert_eq!(registers, before),
                }
                let mut data = data;
                registers.read(number, &mut data);
            }
        }
    }
}
