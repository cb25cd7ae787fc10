//! The program `xl`, by which dom0 of Xen starts domains and looks at them.

use std::time::Duration;

use quietcore_host::Source;
use quietcore_host::facts::Virtualization;
use quietcore_settings::{Tool, ToolError};
use quietcore_units::CpuSet;
use quietcore_xen::{DomainId, Store};

use super::domain::DomainError;

/// The program, and the package of Debian that has it.
const XL: Tool = Tool { name: "xl", package: "xen-utils-common" };
/// The pool that dom0 is in.
const FIRST_POOL: &str = "Pool-0";
/// Longest time that it takes, on a machine that has much to do.
const XL_MAX: Duration = Duration::from_secs(30);

/// The program `xl`, where it is installed.
#[derive(Debug)]
pub(super) struct Xl {
    pub(super) path: String,
}

impl Xl {
    /// Finds the program in the path of programs.
    ///
    /// # Errors
    /// [`DomainError::NoXl`].
    pub(super) fn find() -> Result<Self, DomainError> {
        let path = Virtualization::find_xl(&Source::live()).get().cloned();
        Ok(Self { path: path.ok_or(DomainError::NoXl)? })
    }

    /// Lets a domain begin.
    ///
    /// # Errors
    /// [`DomainError`].
    pub(super) fn unpause(&self, domain: DomainId) -> Result<(), DomainError> {
        self.run(&["unpause", &domain.0.to_string()]).map(drop)
    }

    /// Checks that each processor of a domain runs on these CPUs and no others, where it was to.
    ///
    /// # Errors
    /// [`DomainError`].
    pub(super) fn check_affinity(
        &self,
        domain: DomainId,
        processors: &[Option<CpuSet>],
    ) -> Result<(), DomainError> {
        self.check_affinity_while(&|| true, domain, processors)
    }

    /// Does the same, and ends `xl` as soon as its answer is no longer `wanted`.
    ///
    /// # Errors
    /// [`DomainError`].
    pub(super) fn check_affinity_while(
        &self,
        wanted: &dyn Fn() -> bool,
        domain: DomainId,
        processors: &[Option<CpuSet>],
    ) -> Result<(), DomainError> {
        let list = self.run_while(wanted, &["vcpu-list", &domain.0.to_string()])?;
        for (number, asked) in processors.iter().enumerate() {
            let Some(asked) = asked else { continue };
            let found = hard_affinity(&list, number).unwrap_or("what it does not say");
            if found.parse() != Ok(*asked) {
                let found = found.to_owned();
                return Err(DomainError::Affinity { asked: asked.to_string(), found });
            }
        }
        Ok(())
    }

    /// Returns the name of the pool, other than dom0's, that has all CPUs of a domain's processors;
    /// `None` where there is none, or one of them may run on any CPU.
    pub(super) fn pool_of(&self, processors: &[Option<CpuSet>]) -> Option<String> {
        let cpus: Option<Vec<CpuSet>> = processors.iter().copied().collect();
        let cpus = cpus?.iter().fold(CpuSet::EMPTY, |all, cpus| all.union(cpus));
        pool_with(&self.run(&["cpupool-list", "-c"]).ok()?, cpus)
    }

    /// Returns how a domain has ended, in words; `None` while it has not.
    ///
    /// # Errors
    /// [`DomainError`] where `xl` can't be asked.
    pub(super) fn has_ended(&self, domain: DomainId) -> Result<Option<String>, DomainError> {
        match self.run(&["list", &domain.0.to_string()]) {
            Ok(list) => Ok(ended_state(&list).map(str::to_owned)),
            Err(DomainError::Xl(ToolError::Said(_))) => Ok(Some("it is gone".to_owned())),
            Err(error) => Err(error),
        }
    }

    /// Destroys a domain at once, whatever it does; its keys in the store go with it.
    ///
    /// # Errors
    /// [`DomainError`], also when there is none.
    pub(super) fn destroy(&self, domain: DomainId) -> Result<(), DomainError> {
        self.run(&["destroy", &domain.0.to_string()]).map(drop)
    }

    /// Returns `true` if Xen knows the domain, and where `xl` can't be asked.
    pub(super) fn knows(&self, domain: DomainId) -> bool {
        let list = self.run(&["list", &domain.0.to_string()]);
        !matches!(list, Err(DomainError::Xl(ToolError::Said(_))))
    }

    /// Runs it and returns what it prints. Does nothing where Xen's store does not answer, for
    /// which it would wait without end.
    fn run(&self, arguments: &[&str]) -> Result<String, DomainError> {
        self.run_while(&|| true, arguments)
    }

    fn run_while(
        &self,
        wanted: &dyn Fn() -> bool,
        arguments: &[&str],
    ) -> Result<String, DomainError> {
        Store::connect()?;
        Ok(XL.run_while(wanted, XL_MAX, arguments)?)
    }
}

/// Returns the name of the pool, other than dom0's, that has these CPUs, of a list with a line of
/// titles: name, CPUs.
fn pool_with(list: &str, cpus: CpuSet) -> Option<String> {
    let pools = list.lines().skip(1).filter_map(|line| line.trim().split_once(char::is_whitespace));
    let has_all = |(_, of_pool): &(&str, &str)| {
        let of_pool = of_pool.trim().parse::<CpuSet>();
        of_pool.is_ok_and(|of_pool| cpus.without(&of_pool).is_empty())
    };
    let mut own = pools.filter(has_all).filter(|(name, _)| *name != FIRST_POOL);
    own.next().map(|(name, _)| name.to_owned())
}

/// Returns the CPUs that a processor may run on, of a list with a line of titles: name, number,
/// processor, CPU, state, time, CPUs, `/` …
fn hard_affinity(list: &str, processor: usize) -> Option<&str> {
    list.lines().nth(1 + processor)?.split_whitespace().nth(6)
}

/// Returns the state of the domain in a list with a line of titles, if it has ended: name, number,
/// memory, processors, state; `-` for each that it is not of running, blocked, paused, shut down,
/// crashed, dying.
fn ended_state(list: &str) -> Option<&'static str> {
    let state = list.lines().nth(1)?.split_whitespace().nth(4)?;
    let is = |letter: char| state.contains(letter);
    match () {
        () if is('c') => Some("it crashed"),
        () if is('s') => Some("it shut down"),
        () if is('d') => Some("it is dying"),
        () => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The lists are those of Xen 4.17 in the lab.
    #[test]
    fn lists_of_xl_are_read() {
        let list = "Name                                ID  VCPU   CPU State   Time(s) Affinity\n\
                    quietcore.7.axis                     1     0    1   ---       0.0  1 / all\n\
                    quietcore.7.axis                     1     1    3   ---       0.0  3 / all\n";
        assert_eq!([0, 1, 2].map(|it| hard_affinity(list, it)), [Some("1"), Some("3"), None]);
        assert_eq!(hard_affinity("nonsense", 0), None);
        let list = |state: &str| {
            format!("Name    ID   Mem VCPUs\tState\tTime(s)\nquietcore.7.axis 1 16 1 {state} 0.0\n")
        };
        let ended = |state: &str| ended_state(&list(state));
        assert_eq!([ended("r-----"), ended("--p---"), ended("------")], [None; 3]);
        assert_eq!(ended("---s--"), Some("it shut down"));
        assert_eq!(ended("---sc-"), Some("it crashed"));
        assert_eq!(ended("---s-d"), Some("it shut down"));
        assert_eq!(ended_state(""), None);
        let pools = "Name               CPU list\nPool-0             0,1\nquietcore-2.3      2,3\n";
        let pool = |cpus: &str| pool_with(pools, cpus.parse().unwrap());
        assert_eq!(pool("2,3").as_deref(), Some("quietcore-2.3"));
        assert_eq!(pool("3").as_deref(), Some("quietcore-2.3"), "one with more than these");
        assert_eq!([pool("0"), pool("1,2"), pool("7")], [None, None, None]);
        assert_eq!(pool_with("", CpuSet::EMPTY), None);
    }
}
