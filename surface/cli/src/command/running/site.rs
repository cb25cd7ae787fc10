//! The choice of the running site that a command means.

pub(super) mod reached;

use std::path::{Path, PathBuf};

use quietcore_supervisor::client::{Address, Client, ClientError};
use quietcore_supervisor::places::{Places, RunningSite};

use crate::arguments::Of;
use crate::files;
use crate::status::Failure;

/// Connects to the site of a partition; returns the partition's name, too.
pub(super) fn of_partition(of: &Of) -> Result<(Client, String), Failure> {
    let places = Places::of_environment()?;
    let client = Client::connect_to(&places, &of.partition, of.site.as_deref())?;
    Ok((client, of.partition.partition.clone()))
}

/// Connects to the site of a channel, which is addressed as a partition is.
pub(super) fn of_channel(channel: &Address, site: Option<&str>) -> Result<Client, Failure> {
    let places = Places::of_environment()?;
    Ok(Client::connect(&places, channel.site.as_deref().or(site))?)
}

/// Connects to the site with this name or site file, or to the only one that runs.
pub(super) fn named(argument: Option<&str>) -> Result<Client, Failure> {
    let places = Places::of_environment()?;
    let running = places.running()?;
    let name = argument.map(|argument| name_of(&running, argument)).transpose()?;
    Ok(Client::connect(&places, name.as_deref())?)
}

/// Returns the named site, or all if none is named.
pub(super) fn all_or_named(argument: Option<&str>) -> Result<Vec<RunningSite>, Failure> {
    let places = Places::of_environment()?;
    let mut running = places.running()?;
    if let Some(argument) = argument {
        let name = name_of(&running, argument)?;
        if !running.iter().any(|site| site.name == name) {
            // Connecting says best what runs instead.
            Client::connect(&places, Some(&name))?;
        }
        running.retain(|site| site.name == name);
    }
    Ok(running)
}

/// Connects to a site that was found running; returns `None` if it has come down meanwhile.
pub(super) fn connect(site: &RunningSite) -> Result<Option<Client>, Failure> {
    match Client::connect(&Places::of_environment()?, Some(&site.name)) {
        Ok(client) => Ok(Some(client)),
        Err(ClientError::NothingRuns { .. } | ClientError::NotRunning { .. }) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// The site of a site file runs from another file, such as the original of a copied folder.
#[derive(Debug, thiserror::Error)]
#[error("site `{name}` runs from `{}`, not from `{asked}`; if it is meant, write `{name}`",
    file.display())]
struct OtherFile {
    name: String,
    file: PathBuf,
    asked: String,
}

/// Returns a name as it is; for a site file, the name of the site that runs it.
fn name_of(running: &[RunningSite], argument: &str) -> Result<String, OtherFile> {
    if running.iter().any(|site| site.name == argument) {
        return Ok(argument.to_owned());
    }
    let Ok(file) = Path::new(argument).canonicalize() else {
        return Ok(argument.to_owned());
    };
    let runs_it = |site: &&RunningSite| {
        site.description.as_ref().is_some_and(|described| described.site_file == file)
    };
    if let Some(site) = running.iter().find(runs_it) {
        return Ok(site.name.clone());
    }
    let same_name = files::read_site(&file).ok().and_then(|read| {
        let site = running.iter().find(|site| site.name == read.site.name())?;
        Some((site.name.clone(), site.description.as_ref()?.site_file.clone()))
    });
    match same_name {
        Some((name, file)) => Err(OtherFile { name, file, asked: argument.to_owned() }),
        None => Ok(argument.to_owned()),
    }
}
