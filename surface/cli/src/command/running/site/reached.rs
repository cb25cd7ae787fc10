//! A running site, on this machine or behind a daemon: the same questions, and the same answers.

use std::path::PathBuf;

use quietcore_remote::Remote;
use quietcore_supervisor::ControlError;
use quietcore_supervisor::client::{Address, Client};
use quietcore_supervisor::control::{Answer, EventLine, Partitions, Verb};
use quietcore_supervisor::places::{Places, RunningSite, SiteDescription, StartedBy};

use super::super::site;
use crate::arguments::Of;
use crate::command::distance::Reach;
use crate::status::Failure;

/// A site that answers.
#[derive(Debug)]
pub(in crate::command::running) enum Reached {
    /// By its socket on this machine.
    Here(Client),
    /// By the daemon of its machine.
    There {
        /// The connection to the daemon.
        remote: Remote,
        /// Name of the site.
        site: String,
    },
}

impl Reached {
    /// Reaches the site of a partition; returns the partition's name, too.
    pub(in crate::command::running) fn of_partition(
        reach: &Reach,
        of: &Of,
    ) -> Result<(Self, String), Failure> {
        let Some(remote) = reach.remote()? else {
            let (client, partition) = site::of_partition(of)?;
            return Ok((Self::Here(client), partition));
        };
        let Address { site, partition } = &of.partition;
        let reached = Self::there(remote, site.as_deref().or(of.site.as_deref()))?;
        Ok((reached, partition.clone()))
    }

    /// Reaches a site behind a daemon by its name; the only one that runs without one.
    pub(in crate::command::running) fn there(
        remote: Remote,
        named: Option<&str>,
    ) -> Result<Self, Failure> {
        let site = match named {
            Some(name) => name.to_owned(),
            None => match &remote.sites()?[..] {
                [only] => only.name.clone(),
                // The daemon says best what runs, and what to do.
                _ => {
                    remote.partitions("")?;
                    String::new()
                }
            },
        };
        Ok(Self::There { remote, site })
    }

    /// Returns the name of the site.
    pub(in crate::command::running) fn site(&self) -> &str {
        match self {
            Self::Here(client) => client.site(),
            Self::There { site, .. } => site,
        }
    }

    /// Asks a partition; the caller names the type of the answer.
    pub(in crate::command::running) fn ask<A: TryFrom<Answer>>(
        &mut self,
        partition: &str,
        verb: Verb,
    ) -> Result<A, Failure> {
        match self {
            Self::Here(client) => Ok(client.ask(partition, verb)?),
            Self::There { remote, site } => {
                let answer = remote.ask(site, partition, verb)?;
                let other = || Failure::new("quietcore: the daemon answers something else");
                A::try_from(answer).map_err(|_| other())
            }
        }
    }

    /// Returns events from number `since` on, but not necessarily all of them.
    pub(in crate::command::running) fn events(
        &mut self,
        since: u64,
    ) -> Result<Vec<EventLine>, Failure> {
        match self {
            Self::Here(client) => Ok(client.events(since)?),
            Self::There { remote, site } => Ok(remote.events(site, since)?),
        }
    }

    /// Refuses a partition that the site does not have.
    pub(in crate::command::running) fn check_partition(
        &mut self,
        partition: &str,
    ) -> Result<(), Failure> {
        let partitions = match self {
            Self::Here(client) => client.list()?,
            Self::There { remote, site } => remote.partitions(site)?.partitions,
        };
        let names = || partitions.iter().map(|partition| partition.name.as_str());
        match names().any(|name| name == partition) {
            true => Ok(()),
            false => Err(ControlError::no_partition(partition, names()).into()),
        }
    }

    /// Returns `true` while the site runs.
    pub(in crate::command::running) fn is_up(&self) -> Result<bool, Failure> {
        Ok(match self {
            Self::Here(client) => {
                let running = Places::of_environment()?.running()?;
                running.iter().any(|site| site.name == client.site())
            }
            Self::There { remote, site } => remote.sites()?.iter().any(|it| it.name == *site),
        })
    }
}

/// Returns the sites that run with the states of their partitions: all, or the one that is named.
pub(in crate::command::running) fn sites(
    reach: &Reach,
    named: Option<&str>,
) -> Result<Vec<(RunningSite, Partitions)>, Failure> {
    let mut sites = Vec::new();
    let Some(remote) = reach.remote()? else {
        for running in site::all_or_named(named)? {
            if let Some(mut client) = site::connect(&running)? {
                sites.push((running, client.partitions()?));
            }
        }
        return Ok(sites);
    };
    let running = remote.sites()?;
    if let Some(name) = named.filter(|name| !running.iter().any(|it| it.name == **name)) {
        // The daemon says best what runs instead.
        remote.partitions(name)?;
    }
    for site in running.into_iter().filter(|it| named.is_none_or(|name| it.name == name)) {
        let state = remote.partitions(&site.name)?;
        let name = site.name.clone();
        let started_by = site.starter.map(|by| StartedBy {
            user: by.user,
            login: by.login,
            folder: by.folder.map(PathBuf::from),
            terminal: by.terminal,
            session: by.session,
            command: by.command,
            service: by.service,
        });
        let description = (site.pid > 0).then(|| SiteDescription {
            schema: String::new(),
            site: site.name,
            pid: site.pid,
            site_file: site.site_file.into(),
            started_at: site.started_at,
            started_by,
            partitions: site.partitions,
            quietcore_version: site.quietcore_version,
        });
        sites.push((RunningSite { name, socket: PathBuf::new(), description }, state));
    }
    Ok(sites)
}
