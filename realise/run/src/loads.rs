//! Loads beside partitions: there from before these begin until after they have ended.

use std::path::Path;

use quietcore_load::{Achieved, LoadError, LoadRequest, LoadSet};
use quietcore_settings::ReservedGroup;
use quietcore_units::{CpuSet, Nanos};

/// Time that all workers may take until they work.
const START_MAX: Nanos = Nanos::from_secs(10);

/// Loads that work; none where none are asked for.
#[derive(Debug)]
pub struct Loads(Option<LoadSet>);

impl Loads {
    /// Starts loads and waits until they work. `runtime` is `quietcore-runtime`. Workers that have
    /// CPUs of `reserved` only are let into the group that has these for itself.
    ///
    /// # Errors
    /// [`LoadError`]; then none is left running.
    pub fn start(
        runtime: &Path,
        requests: &[LoadRequest],
        (group, reserved): (Option<&ReservedGroup>, CpuSet),
    ) -> Result<Self, LoadError> {
        if requests.is_empty() {
            return Ok(Self(None));
        }
        let is_within = |cpus: CpuSet| cpus.without(&reserved).is_empty();
        let mut requests = requests.to_vec();
        for load in requests.iter_mut().filter(|load| load.cpus.is_some_and(is_within)) {
            load.entrance = group.map(ReservedGroup::entrance);
        }
        let mut set = LoadSet::start(runtime, &requests)?;
        set.wait_until_running(START_MAX)?;
        Ok(Self(Some(set)))
    }

    /// Measures what they achieved since they were last measured; empty where there are none.
    pub fn measure(&mut self) -> Vec<Achieved> {
        self.0.as_mut().map(LoadSet::measure).unwrap_or_default()
    }

    /// Ends all workers and waits for that.
    ///
    /// # Errors
    /// [`LoadError`] when a worker can't be ended.
    pub fn stop(self) -> Result<(), LoadError> {
        self.0.map_or(Ok(()), LoadSet::stop)
    }
}
