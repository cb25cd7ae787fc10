//! Domains whose owner was killed, and with it the keeper that would have ended them: found by
//! their names in Xen's store, and removed with their keys there. The kernel gives granted pages
//! back when nobody has them any more, which is then.
//!
//! ```text
//! quietcore.2711-90351-4026531836.axis      ours, the owner's process and when it began, partition
//! ```

use quietcore_host::Source;
use quietcore_host::process::ProcessName;
use quietcore_units::Causes;
use quietcore_xen::{DomainId, Store};

use super::xl::Xl;
use crate::rooms::Cleared;

/// The first part of the names of all domains of ours.
const OURS: &str = "quietcore";
/// Key below which each domain has its own keys, by its number.
const DOMAINS: &str = "/local/domain";

/// The name of a domain of ours.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct DomainName {
    /// The process that has it.
    owner: ProcessName,
    text: String,
}

impl DomainName {
    /// Returns a name for a partition of this process's.
    pub(super) fn of(partition: &str) -> Self {
        let owner = ProcessName::own(&Source::live());
        Self { owner, text: format!("{OURS}.{owner}.{partition}") }
    }

    /// Reads a name; `None` if it is none of ours.
    fn read(text: &str) -> Option<Self> {
        let mut parts = text.splitn(3, '.');
        let is_ours = parts.next() == Some(OURS);
        let owner = parts.next()?.parse().ok()?;
        parts.next()?;
        is_ours.then(|| Self { owner, text: text.to_owned() })
    }

    pub(super) fn text(&self) -> &str {
        &self.text
    }
}

/// Removes all domains of ours whose owner has ended, and their keys in Xen's store. Does nothing
/// where there is no store, as on a machine without Xen.
pub fn clear() -> Cleared {
    let mut cleared = Cleared::default();
    let Ok(mut store) = Store::connect() else { return cleared };
    let source = Source::live();
    for (domain, name) in ours(&mut store) {
        if name.owner.lives(&source) {
            continue;
        }
        match remove(&mut store, domain) {
            Ok(()) => cleared.gone.push(name.text),
            Err(why) => cleared.left.push(format!("the domain `{}` is left: {why}", name.text)),
        }
    }
    cleared
}

/// Removes the domain of this process's whose making was cut off, where the store knows it by then.
pub(super) fn clear_unfinished(name: &DomainName) {
    let Ok(mut store) = Store::connect() else { return };
    for (domain, _) in ours(&mut store).into_iter().filter(|(_, known)| known == name) {
        // What is left is found when this process has ended.
        let _ = remove(&mut store, domain);
    }
}

/// Lists the domains of ours that the store has keys of.
fn ours(store: &mut Store) -> Vec<(DomainId, DomainName)> {
    let numbers = store.list(DOMAINS).unwrap_or_default();
    let domains = numbers.iter().filter_map(|number| number.parse().ok().map(DomainId));
    let of_ours = domains.filter_map(|domain| {
        let name = store.read(&domain.path("name")).ok()?;
        Some((domain, DomainName::read(str::from_utf8(&name).ok()?)?))
    });
    of_ours.collect()
}

/// Destroys a domain, and removes what the store still has of it.
fn remove(store: &mut Store, domain: DomainId) -> Result<(), String> {
    let xl = Xl::find().map_err(|error| error.to_string())?;
    // Its end may have been cut off when it was almost over.
    if xl.knows(domain) {
        xl.destroy(domain).map_err(|error| Causes(&error).to_string())?;
    }
    for key in keys(store, domain) {
        // What `xl` has removed is not there any more.
        let _ = store.remove(&key);
    }
    if xl.knows(domain) { Err("Xen still has it".to_owned()) } else { Ok(()) }
}

/// Returns the keys of a domain outside of its own ones, and those.
fn keys(store: &mut Store, domain: DomainId) -> Vec<String> {
    let machine = store.read(&domain.path("vm")).unwrap_or_default();
    let machine = String::from_utf8_lossy(&machine).into_owned();
    // What a domain may have written there leads nowhere else.
    let is_one = |key: &String| key.strip_prefix("/vm/").is_some_and(|it| !it.contains('/'));
    let own = [format!("/libxl/{}", domain.0), format!("{DOMAINS}/{}", domain.0)];
    Some(machine).filter(is_one).into_iter().chain(own).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_domain_of_ours_is_known_by_its_name() {
        let own = DomainName::of("axis.x");
        assert_eq!(DomainName::read(&own.text), Some(own.clone()));
        assert!(own.owner.lives(&Source::live()) && own.text.ends_with(".axis.x"));
        for foreign in ["Domain-0", "quietcore", "quietcore.7-1", "quietcore.x.a", "other.7-1.a"] {
            assert_eq!(DomainName::read(foreign), None, "{foreign}");
        }
    }
}
