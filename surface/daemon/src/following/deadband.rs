//! The changes of a value that are worth a message.

use std::hash::{Hash, Hasher};

use quietcore_program::Value;

/// The difference of a number from what was sent last up to which it is not sent again.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Deadband(f64);

/// It is never NaN.
impl Eq for Deadband {}

impl Hash for Deadband {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.to_bits().hash(state);
    }
}

impl Deadband {
    /// Takes a client's deadband; `None` if it is no difference: below zero, infinite or NaN.
    pub(crate) fn new(difference: f64) -> Option<Self> {
        // The sum makes zero of minus zero, which would be another one by its bits.
        (difference.is_finite() && difference >= 0.0).then_some(Self(difference + 0.0))
    }

    /// Returns `true` if `new` is to be sent after `old`.
    pub(crate) fn is_left(self, old: &Value, new: &Value) -> bool {
        match (number(old), number(new)) {
            (Some(before), Some(now)) if self.0 > 0.0 => (now - before).abs() > self.0,
            _ => !is_same(old, new),
        }
    }
}

/// Returns the number that a deadband applies to.
fn number(value: &Value) -> Option<f64> {
    match value {
        Value::Signed(_) | Value::Unsigned(_) | Value::Single(_) | Value::Double(_) => {
            value.as_f64().filter(|number| number.is_finite())
        }
        Value::Bool(_) | Value::Named { .. } | Value::Address(_) => None,
    }
}

/// Returns `true` if both are the same to the last bit, so that NaN is no change of NaN.
fn is_same(old: &Value, new: &Value) -> bool {
    match (old, new) {
        (Value::Single(old), Value::Single(new)) => old.to_bits() == new.to_bits(),
        (Value::Double(old), Value::Double(new)) => old.to_bits() == new.to_bits(),
        _ => old == new,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn band(difference: f64) -> Deadband {
        Deadband::new(difference).expect("a difference")
    }

    #[test]
    fn a_number_is_sent_when_it_has_left_the_band_around_what_was_sent() {
        let is_left = |old, new| band(0.5).is_left(&Value::Double(old), &Value::Double(new));
        assert!(!is_left(1.0, 1.5) && !is_left(1.0, 0.5));
        assert!(is_left(1.0, 1.6) && is_left(1.0, 0.4));
        assert!(band(2.0).is_left(&Value::Unsigned(1), &Value::Unsigned(4)));
        assert!(!band(2.0).is_left(&Value::Signed(-1), &Value::Signed(1)));
    }

    #[test]
    fn without_a_band_each_change_is_sent_and_nothing_else() {
        let is_left = |old, new| band(0.0).is_left(&Value::Double(old), &Value::Double(new));
        assert!(is_left(1.0, 1.0_f64.next_up()) && is_left(0.0, -0.0));
        assert!(!is_left(1.0, 1.0) && !is_left(f64::NAN, f64::NAN));
    }

    #[test]
    fn truth_values_names_and_nan_know_no_band() {
        let wide = band(1e9);
        assert!(wide.is_left(&Value::Bool(false), &Value::Bool(true)));
        let named = |value| Value::Named { value, name: None };
        assert!(wide.is_left(&named(1), &named(2)) && !wide.is_left(&named(1), &named(1)));
        let (nan, one) = (Value::Double(f64::NAN), Value::Double(1.0));
        assert!(wide.is_left(&one, &nan) && wide.is_left(&nan, &one) && !wide.is_left(&nan, &nan));
    }

    #[test]
    fn a_band_is_a_difference() {
        for none in [-0.1, f64::NAN, f64::INFINITY] {
            assert_eq!(Deadband::new(none), None);
        }
    }
}
