//! The name of a group: whose it is, and what is owed for it.

/// Prefix of the names of our groups.
const PREFIX: &str = "quietcore-";
/// Text in a name in place of ways that are owed, if the group has none of its own.
const SHARED: &str = "s";

/// The content of a group's name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Name {
    /// The process that holds it, and when it began.
    pub(super) owner: (u32, u64),
    /// The ways that the default group gets back; `None` where it shares them with this group.
    pub(super) owed: Option<u64>,
    /// Name of the partition.
    pub(super) partition: String,
}

impl Name {
    /// As the group is called.
    pub(super) fn text(&self) -> String {
        let Self { owner: (process, began), owed, partition } = self;
        let owed = owed.map_or_else(|| SHARED.to_owned(), |ways| format!("{ways:x}"));
        format!("{PREFIX}{process}-{began}-{owed}-{partition}")
    }

    /// Parses a name; returns `None` if the group is not one of ours.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let mut parts = text.strip_prefix(PREFIX)?.splitn(4, '-');
        let owner = (parts.next()?.parse().ok()?, parts.next()?.parse().ok()?);
        let owed = match parts.next()? {
            SHARED => None,
            ways => Some(u64::from_str_radix(ways, 16).ok()?),
        };
        Some(Self { owner, owed, partition: parts.next()?.to_owned() })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn names_are_read_as_written(
            process: u32, began: u64, owed: Option<u64>, partition in "[a-z0-9-]{1,20}",
        ) {
            let name = Name { owner: (process, began), owed, partition };
            prop_assert_eq!(Name::parse(&name.text()), Some(name));
        }

        #[test]
        fn any_name_is_read_or_not(text in "(quietcore-)?[0-9a-fs-]{0,30}\\PC{0,10}") {
            let _ = Name::parse(&text);
        }
    }
}
