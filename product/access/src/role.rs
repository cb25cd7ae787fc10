//! Roles: each may do what those before it may, and more.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// The permission of a caller. Roles are ordered: a later one includes the earlier ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// Sees everything and changes nothing.
    Viewer,
    /// Sets and forces variables; pauses, resumes and restarts programs.
    Operator,
    /// Uploads, builds and deploys programs; applies sites.
    Engineer,
    /// Hands out access, and does all else.
    Admin,
}

impl Role {
    /// All roles, from the least.
    pub const ALL: [Self; 4] = [Self::Viewer, Self::Operator, Self::Engineer, Self::Admin];

    /// Returns `true` if this role may do what `needed` may.
    pub fn includes(self, needed: Self) -> bool {
        self >= needed
    }

    /// Returns the word of the role on the command line and in files.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Viewer => "viewer",
            Self::Operator => "operator",
            Self::Engineer => "engineer",
            Self::Admin => "admin",
        }
    }
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.word())
    }
}

/// The error of a word that names no role.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no role; use viewer, operator, engineer or admin")]
pub struct RoleError(String);

impl FromStr for Role {
    type Err = RoleError;

    fn from_str(text: &str) -> Result<Self, RoleError> {
        let known = Self::ALL.into_iter().find(|role| role.word() == text);
        known.ok_or_else(|| RoleError(text.escape_default().to_string()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_role_includes_those_before_it_and_none_after() {
        for (at, role) in Role::ALL.into_iter().enumerate() {
            assert_eq!(role.to_string().parse(), Ok(role));
            for (other_at, other) in Role::ALL.into_iter().enumerate() {
                assert_eq!(role.includes(other), at >= other_at, "{role} and {other}");
            }
        }
        assert!("root".parse::<Role>().is_err());
    }
}
