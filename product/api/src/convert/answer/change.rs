//! The effects of changes of variables.

use quietcore_control::{Applied, Effect, WhyNoEffect};

use super::{UnknownValue, harmless};
use crate::convert::change;
use crate::v1;

/// Reads what came of a group of changes.
///
/// # Errors
/// [`UnknownValue`] for a kind of change or a reason that this version does not know.
pub fn applied(cycle: u64, effects: Vec<v1::Effect>) -> Result<Applied, UnknownValue> {
    let effects = effects.into_iter().map(effect).collect::<Result<_, _>>()?;
    Ok(Applied { cycle, effects })
}

fn effect(told: v1::Effect) -> Result<Effect, UnknownValue> {
    let without_effect = match v1::WhyNoEffect::try_from(told.without_effect) {
        Ok(v1::WhyNoEffect::Unspecified) => None,
        Ok(v1::WhyNoEffect::HeldByForce) => Some(WhyNoEffect::HeldByForce),
        Ok(v1::WhyNoEffect::WrittenByFieldbus) => Some(WhyNoEffect::WrittenByFieldbus),
        Ok(v1::WhyNoEffect::WrittenByProgram) => Some(WhyNoEffect::WrittenByProgram),
        Ok(v1::WhyNoEffect::NotForced) => Some(WhyNoEffect::NotForced),
        Err(_) => return Err(UnknownValue::of("a reason for no effect")),
    };
    let mut made = told.change.ok_or(UnknownValue::of("an effect without a change"))?;
    made.variable = harmless(made.variable);
    made.value = made.value.map(harmless);
    let change = change(made).map_err(|_| UnknownValue::of("a kind of change"))?;
    Ok(Effect { change, old: told.old.map(harmless), new: told.new.map(harmless), without_effect })
}

#[cfg(test)]
mod tests {
    use quietcore_control::{Change, ChangeKind};

    use super::*;

    #[test]
    fn what_came_of_changes_is_the_same_after_a_way_there_and_back() {
        let reasons = [
            None,
            Some(WhyNoEffect::HeldByForce),
            Some(WhyNoEffect::WrittenByFieldbus),
            Some(WhyNoEffect::WrittenByProgram),
            Some(WhyNoEffect::NotForced),
        ];
        let effects = reasons.map(|without_effect| Effect {
            change: Change {
                kind: ChangeKind::Unforce,
                variable: "servo_P.Kp".to_owned(),
                value: None,
                allow_nan: false,
            },
            old: Some("2.5".to_owned()),
            new: None,
            without_effect,
        });
        let own = Applied { cycle: 7, effects: effects.to_vec() };
        let sent = v1::WriteVariablesResponse::from(own.clone());
        assert_eq!(applied(sent.cycle, sent.effects), Ok(own));
    }

    #[test]
    fn a_reason_that_is_not_known_is_no_reason() {
        let told = v1::Effect { without_effect: 99, ..v1::Effect::default() };
        assert!(applied(1, vec![told]).is_err());
        assert!(applied(1, vec![v1::Effect::default()]).is_err(), "of no variable");
    }
}
