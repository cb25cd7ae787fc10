//! Which running site is meant.

use std::path::Path;

use quietcore_supervisor::client::{Client, ClientError};
use quietcore_supervisor::places::{Places, RunningSite};

use crate::arguments::Of;
use crate::status::Failure;

/// Connects to the site of a partition; the partition's name comes along.
pub(super) fn of_partition(of: &Of) -> Result<(Client, String), Failure> {
    let places = Places::of_environment()?;
    let client = Client::connect_to(&places, &of.partition, of.site.as_deref())?;
    Ok((client, of.partition.partition.clone()))
}

/// Connects to the site that is named, by its name or its file, or to the only one that runs.
pub(super) fn named(argument: Option<&str>) -> Result<Client, Failure> {
    let places = Places::of_environment()?;
    let running = places.running()?;
    let name = argument.map(|argument| name_of(&running, argument));
    Ok(Client::connect(&places, name.as_deref())?)
}

/// The sites that are meant: the one that is named, or all.
pub(super) fn all_or_named(argument: Option<&str>) -> Result<Vec<RunningSite>, Failure> {
    let places = Places::of_environment()?;
    let mut running = places.running()?;
    if let Some(argument) = argument {
        let name = name_of(&running, argument);
        if !running.iter().any(|site| site.name == name) {
            // Connecting says best what runs instead.
            Client::connect(&places, Some(&name))?;
        }
        running.retain(|site| site.name == name);
    }
    Ok(running)
}

/// Connects to a site that was found running; `None` when it has come down meanwhile.
pub(super) fn connect(site: &RunningSite) -> Result<Option<Client>, Failure> {
    match Client::connect(&Places::of_environment()?, Some(&site.name)) {
        Ok(client) => Ok(Some(client)),
        Err(ClientError::NothingRuns { .. } | ClientError::NotRunning { .. }) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// A name as it is; of a site file, the name of the site that runs it.
fn name_of(running: &[RunningSite], argument: &str) -> String {
    if running.iter().any(|site| site.name == argument) {
        return argument.to_owned();
    }
    let Ok(file) = Path::new(argument).canonicalize() else {
        return argument.to_owned();
    };
    let runs_it = |site: &&RunningSite| {
        site.description.as_ref().is_some_and(|described| described.site_file == file)
    };
    running.iter().find(runs_it).map_or_else(|| argument.to_owned(), |site| site.name.clone())
}
