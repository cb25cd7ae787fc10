//! Domains, by the numbers that Xen gives them.

/// The number of a domain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DomainId(pub u16);

impl DomainId {
    /// Returns the path of the domain's own keys in the store, and of one below it.
    pub fn path(self, key: &str) -> String {
        format!("/local/domain/{}/{key}", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_of_a_domain_are_below_its_number() {
        assert_eq!(DomainId(7).path("console/tty"), "/local/domain/7/console/tty");
    }
}
