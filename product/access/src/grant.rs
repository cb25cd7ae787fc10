//! Grants: the sites and partitions that a credential is for.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::name::is_name;

/// The most grants of a credential.
pub const GRANTS_MAX: usize = 64;
/// The longest name of a site or a partition, in bytes.
const PART_BYTES_MAX: usize = 64;

/// A site, or one of its partitions.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Grant {
    site: String,
    /// `None` for the whole site.
    partition: Option<String>,
}

/// The error of a text that is no grant.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{}` is no grant; write `SITE` or `SITE/PARTITION`", .0.escape_default())]
pub struct GrantError(String);

impl FromStr for Grant {
    type Err = GrantError;

    fn from_str(text: &str) -> Result<Self, GrantError> {
        let (site, partition) = match text.split_once('/') {
            Some((site, partition)) => (site, Some(partition)),
            None => (text, None),
        };
        let is_name = |text: &str| is_name(text, PART_BYTES_MAX);
        if !is_name(site) || !partition.is_none_or(is_name) {
            return Err(GrantError(text.to_owned()));
        }
        Ok(Self { site: site.to_owned(), partition: partition.map(str::to_owned) })
    }
}

impl TryFrom<String> for Grant {
    type Error = GrantError;

    fn try_from(text: String) -> Result<Self, GrantError> {
        text.parse()
    }
}

impl From<Grant> for String {
    fn from(grant: Grant) -> Self {
        grant.to_string()
    }
}

impl fmt::Display for Grant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.partition {
            Some(partition) => write!(f, "{}/{partition}", self.site),
            None => f.write_str(&self.site),
        }
    }
}

/// The grants of a credential. Without any it is for everything on the machine.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Grants(Vec<Grant>);

impl Grants {
    /// Takes these grants; none of them stands for everything.
    pub fn new(grants: Vec<Grant>) -> Self {
        Self(grants)
    }

    /// Returns the number of grants.
    pub fn count(&self) -> usize {
        self.0.len()
    }

    /// Returns `true` if everything on the machine is granted.
    pub fn is_everything(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns `true` if this partition is granted.
    pub fn has_partition(&self, site: &str, partition: &str) -> bool {
        let of = |own: &Option<String>| own.as_ref().is_none_or(|own| own == partition);
        self.is_everything()
            || self.0.iter().any(|grant| grant.site == site && of(&grant.partition))
    }

    /// Returns `true` if the site with all its partitions is granted.
    pub fn has_whole_site(&self, site: &str) -> bool {
        let whole = |grant: &Grant| grant.site == site && grant.partition.is_none();
        self.is_everything() || self.0.iter().any(whole)
    }

    /// Returns `true` if the site is granted, or at least one of its partitions.
    pub fn has_part_of(&self, site: &str) -> bool {
        self.is_everything() || self.0.iter().any(|grant| grant.site == site)
    }
}

impl fmt::Display for Grants {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_everything() {
            return f.pad("everything");
        }
        let grants: Vec<String> = self.0.iter().map(Grant::to_string).collect();
        f.pad(&grants.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grants(texts: &[&str]) -> Grants {
        Grants::new(texts.iter().map(|text| text.parse().expect("a grant")).collect())
    }

    #[test]
    fn a_partition_is_granted_by_itself_by_its_site_or_where_nothing_is_named() {
        let axis = grants(&["line/axis", "press"]);
        assert!(axis.has_partition("line", "axis") && axis.has_partition("press", "tank"));
        assert!(!axis.has_partition("line", "tank") && !axis.has_partition("other", "axis"));
        assert!(axis.has_part_of("line") && !axis.has_whole_site("line"));
        assert!(axis.has_whole_site("press") && !axis.has_part_of("other"));
        assert!(grants(&[]).has_partition("line", "tank") && grants(&[]).has_whole_site("line"));
    }

    #[test]
    fn a_grant_is_a_site_or_a_partition_of_one() {
        for good in ["line", "line/axis"] {
            assert_eq!(good.parse::<Grant>().map(|it| it.to_string()), Ok(good.to_owned()));
        }
        for bad in ["", "/", "line/", "/axis", "line/axis/x", "line/*", "../line", "line\n"] {
            assert!(bad.parse::<Grant>().is_err(), "{bad}");
        }
    }
}
