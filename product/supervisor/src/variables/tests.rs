//! Changes of variables, and their effects.

use quietcore_program::place::Scalar::Number;
use quietcore_program::place::{Access, Scalar};
use quietcore_units::DataType::{F32, F64};

use super::*;

fn place(offset: u32, scalar: Scalar) -> VariableLocation {
    let (memory, access) = (Memory::Data, Access::Parameter);
    VariableLocation { memory, offset, scalar, access, bit: None, writable: true }
}

fn set(value: &str, allow_nan: bool) -> Change {
    let (kind, variable) = (ChangeKind::Set, "pid_P.Kp".to_owned());
    Change { kind, variable, value: Some(value.to_owned()), allow_nan }
}

fn resolved(offset: u32, value: &str) -> Resolved {
    let (change, place) = (set(value, true), place(offset, Number(F64)));
    let value = Some(encode(&change, &place).unwrap());
    Resolved { change, place, value }
}

#[test]
fn a_value_that_is_not_finite_is_taken_only_on_request() {
    let encoded =
        |scalar: Scalar, value: &str, allow_nan| encode(&set(value, allow_nan), &place(8, scalar));
    for value in ["nan", "-NaN", "inf", "-infinity"] {
        for scalar in [Number(F32), Number(F64)] {
            let refused = encoded(scalar.clone(), value, false).unwrap_err();
            assert_eq!(refused.kind, crate::control::ErrorKind::BadValue);
            let said = refused.to_string();
            assert!(said.starts_with(&format!("pid_P.Kp: `{value}` is no finite")), "{said}");
            assert!(said.contains("`--allow-nan`"), "{said}");
            assert!(encoded(scalar, value, true).is_ok());
        }
    }
    assert_eq!(encoded(Number(F64), "1e308", false).unwrap(), 1e308_f64.to_bits());
    let said = encoded(Number(F64), "1e400", true).unwrap_err().to_string();
    assert!(said.contains("does not fit type"), "{said}");
}

#[test]
fn an_effect_has_the_value_before_and_after_and_a_force_is_asked_for_before() {
    let group = [resolved(0, "3.5"), resolved(8, "4"), resolved(16, "5")];
    let force = Assignment { target: group[1].target(), value: 0 };
    let held = Some(vec![Held { force, before: 7.0_f64.to_bits() }]);
    let values = vec![Some(Value::Double(2.0)), Some(Value::Double(0.0)), None];
    let look = Look { values, held };
    let effects = look.effects(&group, |target| target.offset == 16);
    let told = |index: usize| {
        let Effect { old, new, without_effect, .. } = &effects[index];
        (old.as_deref(), new.as_deref(), *without_effect)
    };
    assert_eq!(told(0), (Some("2.0"), Some("3.5"), None));
    assert_eq!(told(1), (Some("0.0"), Some("4.0"), Some(WhyNoEffect::HeldByForce)));
    assert_eq!(told(2), (None, Some("5.0"), Some(WhyNoEffect::WrittenByFieldbus)));
    let kind = ChangeKind::Unforce;
    let release = Change { kind, value: None, ..group[1].change.clone() };
    let release = [Resolved { change: release, value: None, ..group[1].clone() }];
    let look = Look { values: vec![Some(Value::Double(0.0))], ..look };
    let effect = &look.effects(&release, |_| false)[0];
    assert_eq!((effect.old.as_deref(), effect.new.as_deref()), (Some("0.0"), Some("7.0")));
    assert_eq!(effect.without_effect, None);
}

/// Goal: what the program writes back is found; what goes on from its new value is not.
#[test]
fn a_value_that_is_as_before_was_written_by_the_program() {
    let group = [resolved(0, "3"), resolved(8, "3"), resolved(16, "1")];
    let look = |values: [f64; 3]| Look {
        values: values.into_iter().map(|value| Some(Value::Double(value))).collect(),
        held: Some(Vec::new()),
    };
    let before = look([1.0, 1.0, 1.0]);
    let mut effects = before.effects(&group, |_| false);
    let undone = before.undone(&group, &effects, &look([1.0, 4.0, 1.0]));
    assert_eq!(undone, [true, false, false], "the last was so before");
    add_undone(&mut effects, &undone);
    let why: Vec<_> = effects.iter().map(|effect| effect.without_effect).collect();
    assert_eq!(why, [Some(WhyNoEffect::WrittenByProgram), None, None]);
}

#[test]
fn the_changes_of_a_group_are_judged_one_after_another() {
    let with = |kind, value: &str| {
        let mut one = resolved(0, value);
        one.change.kind = kind;
        if kind == ChangeKind::Unforce {
            (one.change.value, one.value) = (None, None);
        }
        one
    };
    use ChangeKind::{Force, Set, Unforce};
    let look = Look { values: vec![Some(Value::Double(2.0)); 4], held: Some(Vec::new()) };
    let group = [with(Force, "9"), with(Set, "3"), with(Unforce, "0"), with(Set, "4")];
    let effects = look.effects(&group, |_| false);
    let why: Vec<_> = effects.iter().map(|effect| effect.without_effect).collect();
    assert_eq!(why, [None, Some(WhyNoEffect::HeldByForce), None, None]);
    assert_eq!(effects[2].new.as_deref(), effects[0].old.as_deref(), "as before the force");
}

#[test]
fn a_release_ends_the_force_of_its_own_place_alone() {
    let force = Assignment { target: Target::whole(0, 8), value: 1 };
    let look = |values| Look { values, held: Some(vec![Held { force, before: 7 }]) };
    let mut across = resolved(4, "1");
    (across.change.kind, across.change.value) = (ChangeKind::Unforce, None);
    across.value = None;
    let effects = look(vec![None]).effects(&[across], |_| false);
    assert_eq!(effects[0].without_effect, Some(WhyNoEffect::NotForced));
    assert_eq!(effects[0].new, None);
    let set = look(vec![None]).effects(&[resolved(4, "1")], |_| false);
    assert_eq!(set[0].without_effect, Some(WhyNoEffect::HeldByForce), "but it holds a part");
}

#[test]
fn targets_of_one_word_are_told_apart_by_their_bits() {
    let bits = |mask| Target { offset: 0, bytes: 2, mask };
    assert!(overlap(&bits(0b11), &bits(0b10)) && !overlap(&bits(0b01), &bits(0b10)));
    assert!(overlap(&Target::whole(0, 8), &bits(0b01)));
    assert!(!overlap(&Target::whole(8, 8), &bits(0b01)));
}
