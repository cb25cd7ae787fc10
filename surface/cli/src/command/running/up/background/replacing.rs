//! `quietcore up --detach --replace`: one site in place of another of its name.
//!
//! All that can be found out beforehand is, programs are built, and only then does the site that
//! runs come down. If the new one does not come up all the same, that one comes back.

use std::path::PathBuf;

use quietcore_site::Site as SiteFile;
use quietcore_supervisor::client::Client;
use quietcore_supervisor::places::{Places, RunningSite};

use crate::arguments::Up;
use crate::command;
use crate::programs;
use crate::status::Failure;

/// The site that runs can't be replaced.
#[derive(Debug, thiserror::Error)]
#[error(
    "site `{site}` does not tell its file, so that it could not come back; end it with `quietcore \
     down {site}` first"
)]
struct NoWayBack {
    site: String,
}

/// Checks that a site can come up, then brings down the one of its name; returns the file of that.
pub(super) fn make_way(
    request: &Up,
    site: &SiteFile,
    running: RunningSite,
) -> Result<PathBuf, Failure> {
    let RunningSite { name, description, .. } = running;
    let Some(before) = description.map(|description| description.site_file) else {
        return Err(NoWayBack { site: name }.into());
    };
    command::plan::make_run(site, &super::super::facts_for(site))?;
    let checked = programs::check(site, &request.site)?;
    if !checked.problems.is_empty() {
        return Err(Failure::new(checked.problems.join("\n")));
    }
    Client::connect(&Places::of_environment()?, Some(&name))?.down()?;
    crate::terminal::say(format_args!("{name}: down, to be replaced"));
    Ok(before)
}

/// Brings up the site that ran before; returns the failure of the new one with what came of that.
pub(super) fn bring_back(
    before: PathBuf,
    name: &str,
    places: &Places,
    failure: &Failure,
) -> Failure {
    let path = before.display().to_string();
    let again = Up {
        site: before,
        detach: true,
        replace: false,
        duration: None,
        until_stopped: false,
        cold: false,
        origin: false,
        detached: false,
    };
    match super::bring_up(&again, name, places) {
        Ok(_) => Failure::new(format_args!("{failure}\nquietcore: `{path}` runs again")),
        Err(second) => Failure::new(format_args!(
            "{failure}\n{second}\nquietcore: `{path}` did not come up again; look at its output, \
             then bring it up with `quietcore up {path}`"
        )),
    }
}
