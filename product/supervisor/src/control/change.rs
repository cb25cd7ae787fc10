//! Changes of variables: how one is asked for, checked against its variable, and reported.

use quietcore_program::{Encoded, Place, Value, ValueError};
use serde::{Deserialize, Serialize};

use super::{ControlError, ErrorKind};

/// A change of a variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ChangeKind {
    /// Give it the value once.
    Set,
    /// Hold it at the value.
    Force,
    /// Let it go.
    Unforce,
}

/// A change of one variable.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Change {
    /// The kind of change.
    pub kind: ChangeKind,
    /// Its path, such as `servo_P.Kp`.
    pub variable: String,
    /// The value as a person writes it; none to let a forced variable go.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<String>,
    /// Allows NaN and infinite values. A controller carries such a value into its state,
    /// and a retained one survives restarts, so it is taken only where it was asked for.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub allow_nan: bool,
}

impl Change {
    /// The value as the command ring carries it to the variable at `place`.
    ///
    /// # Errors
    /// [`ControlError`] when there is no value, it doesn't fit the variable, or it is not finite
    /// and [`allow_nan`](Self::allow_nan) is off.
    pub(crate) fn encode(&self, place: &Place) -> Result<Encoded, ControlError> {
        let refused = |what: String, remedy: String| {
            ControlError::new(ErrorKind::BadValue, &self.variable, what, remedy)
        };
        let Some(text) = &self.value else {
            let remedy = format!("write it as {}=VALUE", self.variable);
            return Err(refused("there is no value".to_owned(), remedy));
        };
        let bad = |error: ValueError| refused(error.to_string(), String::new());
        let value = Value::parse(text, &place.scalar).map_err(bad)?;
        let is_finite = value.as_f64().is_none_or(f64::is_finite);
        if !is_finite && !self.allow_nan {
            let what = format!("`{text}` is no finite number, and the program would go on with it");
            return Err(refused(what, "if that is meant, add `--allow-nan`".to_owned()));
        }
        place.encode(&value).map_err(bad)
    }
}

/// A change that a client has made, and that acts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AppliedChange {
    /// Its number in the life of the site, from 0.
    pub sequence: u64,
    /// The partition.
    pub partition: String,
    /// The cycle from which it acts.
    pub cycle: u64,
    /// The change; `None` where all forced variables were let go.
    pub change: Option<Change>,
}

/// A group of changes was applied.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Applied {
    /// The first cycle that saw it.
    pub cycle: u64,
    /// Variables that were set, and that the fieldbus writes before each step: to set them has no
    /// effect.
    #[serde(default)]
    pub overwritten: Vec<String>,
}

#[cfg(test)]
mod tests {
    use quietcore_program::{Access, Memory, Scalar};

    use super::*;

    fn encoded(scalar: Scalar, value: &str, allow_nan: bool) -> Result<u64, ControlError> {
        let (memory, access) = (Memory::Data, Access::Parameter);
        let place = Place { memory, offset: 8, scalar, access, bit: None, writable: true };
        let (kind, variable) = (ChangeKind::Set, "pid_P.Kp".to_owned());
        let change = Change { kind, variable, value: Some(value.to_owned()), allow_nan };
        change.encode(&place).map(|encoded| encoded.value)
    }

    #[test]
    fn a_value_that_is_not_finite_is_taken_only_on_request() {
        for value in ["nan", "-NaN", "inf", "-infinity"] {
            for scalar in [Scalar::F32, Scalar::F64] {
                let refused = encoded(scalar.clone(), value, false).unwrap_err();
                assert_eq!(refused.kind, ErrorKind::BadValue);
                let said = refused.to_string();
                assert!(said.starts_with(&format!("pid_P.Kp: `{value}` is no finite")), "{said}");
                assert!(said.contains("`--allow-nan`"), "{said}");
                assert!(encoded(scalar, value, true).is_ok());
            }
        }
        assert_eq!(encoded(Scalar::F64, "1e308", false).unwrap(), 1e308_f64.to_bits());
        let said = encoded(Scalar::F64, "1e400", true).unwrap_err().to_string();
        assert!(said.contains("does not fit type"), "{said}");
    }
}
