//! Versions that are deployed, and the way back.
//!
//! A site knows what it runs by a hash of its build, whoever deployed it. So the daemon says that a
//! version runs only where the site tells the hash that it had when it was deployed.

use std::collections::HashMap;

use quietcore_programs::{DeployPlace, Deployment, DeploymentOutcome, Version};
use quietcore_supervisor::client::{Client, ClientError};
use quietcore_supervisor::control::{DeployPatience, Deployed, PartitionState, Probation, Verb};
use quietcore_supervisor::places::Places;

use super::{Received, authorship};
use crate::caller::Caller;
use crate::failure::CallError;
use crate::sites::{connect, connect_to};

/// A look at what sites run now; each is asked once.
pub(crate) struct Live<'a> {
    places: &'a Places,
    caller: &'a Caller,
    sites: HashMap<String, Option<Vec<PartitionState>>>,
}

impl<'a> Live<'a> {
    pub(crate) fn new(places: &'a Places, caller: &'a Caller) -> Self {
        Self { places, caller, sites: HashMap::new() }
    }

    /// Returns whether a partition runs what was deployed to it; `None` where its site does not
    /// answer.
    pub(crate) fn runs(&mut self, deployment: &Deployment) -> Option<bool> {
        let DeployPlace { site, partition } = &deployment.place;
        if !self.sites.contains_key(site) {
            let states = match connect(self.places, site, self.caller) {
                Ok(mut client) => client.list().ok(),
                Err(CallError::Client(
                    ClientError::NothingRuns { .. } | ClientError::NotRunning { .. },
                )) => Some(Vec::new()),
                Err(_) => None,
            };
            self.sites.insert(site.clone(), states);
        }
        let states = self.sites.get(site)?.as_ref()?;
        let state = states.iter().find(|state| state.name == *partition);
        Some(state.is_some_and(|state| deployment.hash.as_ref() == Some(&state.model_hash)))
    }
}

/// Deploys a version to a partition.
///
/// # Errors
/// Those of the site, in its own words, and of the index.
pub(crate) fn deploy(
    received: &Received,
    caller: &Caller,
    place: &DeployPlace,
    version: &Version,
    patience: DeployPatience,
) -> Result<Deployed, CallError> {
    let place = &named(received, caller, place)?;
    // Here, where it is off the partitions' CPUs; if it fails, the site says so itself.
    let _ = received.build(version, Some(place), caller, None);
    let programs = received.programs()?;
    let mut client = connect(&received.places, &place.site, caller)?;
    let id = programs.begin_deployment(version, place, &authorship(caller))?;
    let verb = Verb::deploy(programs.folder(version), patience);
    let asked = client.ask_hearing::<Deployed>(&place.partition, verb, &mut |_| {});
    let outcome = match &asked {
        Ok(Deployed { probation: Probation::Passed | Probation::Running { .. }, .. }) => {
            DeploymentOutcome::Ran
        }
        _ => DeploymentOutcome::Failed,
    };
    let hash = match outcome {
        DeploymentOutcome::Ran => running_hash(&mut client, &place.partition),
        _ => None,
    };
    programs.end_deployment(id, outcome, hash.as_deref())?;
    Ok(asked?)
}

/// Returns a partition with the name of its site, if it is granted to the caller.
fn named(
    received: &Received,
    caller: &Caller,
    place: &DeployPlace,
) -> Result<DeployPlace, CallError> {
    let DeployPlace { site, partition } = place;
    let client = connect_to(&received.places, (site, partition), caller)?;
    Ok(DeployPlace { site: client.site().to_owned(), partition: partition.clone() })
}

fn running_hash(client: &mut Client, partition: &str) -> Option<String> {
    let states = client.list().ok()?;
    states.into_iter().find(|state| state.name == partition).map(|state| state.model_hash)
}

/// Deploys the version that ran before the one that does.
///
/// # Errors
/// `FAILED_PRECONDITION` if nothing was deployed before, or something else runs; others as
/// [`deploy`].
pub(crate) fn roll_back(
    received: &Received,
    caller: &Caller,
    place: &DeployPlace,
    patience: DeployPatience,
) -> Result<(Version, Deployed), CallError> {
    let place = named(received, caller, place)?;
    let (last, before) = received.programs()?.before(&place)?;
    if Live::new(&received.places, caller).runs(&last) != Some(true) {
        return Err(CallError::NotNow(format!(
            "partition `{}` does not run version {} of `{}`, which was deployed last; deploy the \
             version that it should run",
            place.partition, last.number, last.program
        )));
    }
    let deployed = deploy(received, caller, &place, &before, patience)?;
    Ok((before, deployed))
}
