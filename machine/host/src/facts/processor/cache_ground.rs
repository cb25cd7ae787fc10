//! The facts that dividing the last-level cache by page colours needs beforehand.
//!
//! A part of the facts that is read in no time: whoever makes a guest asks again, when the facts
//! are long read by somebody else.

use quietcore_site::PageColoursError;

use crate::attempts::{Attempts, Live};
use crate::facts::{CacheDomain, Caches, Facts};
use crate::reading::Reading;
use crate::source::Source;

/// The right to see physical addresses.
const CAP_SYS_ADMIN: u64 = 21;

/// The caches, and whether addresses mean anything to them.
#[derive(Clone, Debug, PartialEq)]
pub struct CacheGround {
    /// The hypervisor below this kernel; absent on the bare machine.
    pub hypervisor: Reading<String>,
    /// The last-level cache; `None` if none is known.
    pub last_level: Option<CacheDomain>,
    /// The cache for data before it.
    pub before_last: Option<CacheDomain>,
}

impl CacheGround {
    /// That of this machine.
    pub fn read() -> Self {
        Self::read_from(&Source::live(), &Live)
    }

    /// That of the machine that `source` and `attempts` show.
    pub fn read_from(source: &Source, attempts: &impl Attempts) -> Self {
        let hypervisor = crate::facts::hypervisor(source, attempts);
        Self::of(hypervisor, crate::facts::cache_domains(source))
    }

    fn of(hypervisor: Reading<String>, domains: Vec<CacheDomain>) -> Self {
        let level = |domain: &CacheDomain| domain.level.get().copied().unwrap_or_default();
        let mut for_data: Vec<CacheDomain> = domains
            .into_iter()
            .filter(|domain| domain.kind.get().is_some_and(|kind| kind != "Instruction"))
            .collect();
        // The last one first; of several at one level, the first.
        for_data.sort_by_key(|domain| std::cmp::Reverse(level(domain)));
        for_data.dedup_by_key(|domain| level(domain));
        let mut for_data = for_data.into_iter();
        Self { hypervisor, last_level: for_data.next(), before_last: for_data.next() }
    }

    /// Returns the upper bound of the page colours that the shape of the cache allows: a power of
    /// two from 2.
    ///
    /// # Errors
    /// All of [`PageColoursError`], except `NotPermitted`.
    pub fn colours_at_most(&self) -> Result<u32, PageColoursError> {
        match &self.hypervisor {
            Reading::Absent => {}
            Reading::Read(name) => {
                return Err(PageColoursError::VirtualMachine { hypervisor: name.clone() });
            }
            Reading::Unreadable(why) => {
                return Err(PageColoursError::HypervisorUnknown { reason: why.clone() });
            }
        }
        let cache = self.last_level.as_ref().ok_or(PageColoursError::NoCache)?;
        let colours = cache.page_colours().unwrap_or_default();
        // What is no power of two is slices, whose hash is no colour.
        let colours = colours & colours.wrapping_neg();
        match u32::try_from(colours) {
            Ok(colours @ 2..) => Ok(colours),
            _ => Err(PageColoursError::OneColour),
        }
    }
}

impl Facts {
    /// Returns [`CacheGround::colours_at_most`] if this process may read physical addresses.
    ///
    /// # Errors
    /// All of [`PageColoursError`].
    pub fn page_colours(&self) -> Result<u32, PageColoursError> {
        let hypervisor =
            match (&self.virtualization.hypervisor, &self.virtualization.hypervisor_type) {
                (Reading::Absent, Reading::Read(name)) => Reading::Read(name.clone()),
                (known, _) => known.clone(),
            };
        let Caches { domains, .. } = &self.caches;
        let colours = CacheGround::of(hypervisor, domains.clone()).colours_at_most()?;
        let sees = self.limits.capabilities.get().is_some_and(|all| all & 1 << CAP_SYS_ADMIN != 0);
        if sees { Ok(colours) } else { Err(PageColoursError::NotPermitted) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machines::Machine;

    fn domain(level: u32, kind: &str, sets: u64, ways: u32) -> CacheDomain {
        CacheDomain {
            level: Reading::Read(level),
            kind: Reading::Read(kind.to_owned()),
            size_bytes: Reading::Read(sets * u64::from(ways) * 64),
            ways: Reading::Read(ways),
            sets: Reading::Read(sets),
            line_bytes: Reading::Read(64),
            id: Reading::Read(0),
            shared: "0-3".parse().unwrap(),
        }
    }

    fn domains(last_sets: u64) -> Vec<CacheDomain> {
        vec![
            domain(1, "Data", 64, 8),
            domain(1, "Instruction", 64, 8),
            domain(2, "Unified", 1024, 8),
            domain(2, "Unified", 1024, 8),
            domain(3, "Unified", last_sets, 16),
        ]
    }

    #[test]
    fn the_last_two_caches_are_those_that_count() {
        let ground = CacheGround::of(Reading::Absent, domains(8192));
        let sets = |cache: &Option<CacheDomain>| cache.as_ref().unwrap().sets.get().copied();
        assert_eq!((sets(&ground.last_level), sets(&ground.before_last)), (Some(8192), Some(1024)));
        assert_eq!(ground.colours_at_most(), Ok(128));
        let sliced = CacheGround::of(Reading::Absent, domains(12 * 1024));
        assert_eq!(sliced.colours_at_most(), Ok(64));
    }

    #[test]
    fn why_there_are_no_colours_is_told() {
        let told = |hypervisor, sets| {
            CacheGround::of(hypervisor, domains(sets)).colours_at_most().unwrap_err().to_string()
        };
        assert!(told(Reading::Read("TCGTCGTCG".to_owned()), 8192).contains("(TCGTCGTCG)"));
        assert!(told(Reading::Unreadable("no CPUID".to_owned()), 8192).contains("no CPUID"));
        assert!(told(Reading::Absent, 64).contains("of one colour"));
        assert!(CacheGround::of(Reading::Absent, Vec::new()).colours_at_most().is_err());
    }

    #[test]
    fn facts_say_it_to_plans() {
        let mut facts = Machine::tuned().facts();
        facts.caches.domains = domains(8192);
        facts.virtualization.hypervisor = Reading::Absent;
        facts.limits.capabilities = Reading::Read(u64::MAX);
        assert_eq!(facts.machine().page_colours, Ok(128));
        facts.limits.capabilities = Reading::Read(0);
        assert!(facts.machine().page_colours.unwrap_err().to_string().contains("CAP_SYS_ADMIN"));
        facts.virtualization.hypervisor_type = Reading::Read("xen".to_owned());
        assert!(facts.machine().page_colours.unwrap_err().to_string().contains("(xen)"));
    }

    #[test]
    fn this_machine_has_colours_or_says_why_not() {
        match CacheGround::read().colours_at_most() {
            Ok(colours) => assert!(colours.is_power_of_two()),
            Err(error) => {
                let why = error.to_string();
                quietcore_skip::record("this_machine_has_colours_or_says_why_not", &why);
            }
        }
    }
}
