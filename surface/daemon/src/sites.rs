//! The way from a call to a site's supervisor and back.
//!
//! Requests to a site wait for its answer, so they run on threads of their own. A connection that
//! has served one is kept for the next.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use quietcore_supervisor::client::{Client, only_site};
use quietcore_supervisor::control::{Answer, Verb};
use quietcore_supervisor::places::Places;
use tokio::sync::Semaphore;
use tonic::Status;

use crate::caller::Caller;
use crate::failure::CallError;

/// The most calls to sites at once; a site takes twice as many clients.
pub const CALLS_MAX: usize = 16;
/// The most connections to sites that are kept while no call needs them.
const KEPT_MAX: usize = 8;

/// The sites of this user, as services reach them.
#[derive(Clone, Debug)]
pub(crate) struct Sites {
    places: Places,
    calls: Arc<Semaphore>,
    kept: Kept,
    stopping: Arc<AtomicBool>,
}

impl Sites {
    pub(crate) fn new(places: Places) -> Self {
        let calls = Arc::new(Semaphore::new(CALLS_MAX));
        Self { places, calls, kept: Kept::default(), stopping: Arc::default() }
    }

    /// Returns the folders in which sites are found.
    pub(crate) fn places(&self) -> &Places {
        &self.places
    }

    /// Lets all streams end.
    pub(crate) fn stop(&self) {
        self.stopping.store(true, Ordering::Relaxed);
    }

    /// Returns `true` when the daemon is about to end.
    pub(crate) fn is_stopping(&self) -> bool {
        self.stopping.load(Ordering::Relaxed)
    }

    /// Does something that waits, on a thread of its own.
    ///
    /// # Errors
    /// Those of what is done.
    pub(crate) async fn wait_for<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Places) -> Result<T, CallError> + Send + 'static,
    ) -> Result<T, Status> {
        let place = Arc::clone(&self.calls).acquire_owned().await;
        let place = place.map_err(|_| Status::unavailable("the daemon ends"))?;
        let places = self.places.clone();
        let done = tokio::task::spawn_blocking(move || {
            let _place = place;
            work(&places)
        });
        match done.await {
            Ok(done) => Ok(done?),
            Err(_) => Err(Status::internal("the call ended by a fault of the daemon")),
        }
    }

    /// Asks a site, the only one that runs if its name is empty, on behalf of the caller.
    ///
    /// # Errors
    /// Those of the connection and of what is asked.
    pub(crate) async fn ask<T: Send + 'static>(
        &self,
        site: String,
        caller: Caller,
        ask: impl FnOnce(&mut Client) -> Result<T, CallError> + Send + 'static,
    ) -> Result<T, Status> {
        let kept = self.kept.clone();
        let ask = move |places: &Places| {
            let mut client = kept.connect(places, &site, &caller)?;
            let answer = ask(&mut client)?;
            kept.keep(client);
            Ok(answer)
        };
        self.wait_for(ask).await
    }

    /// Returns the name of a site: of the only one that runs if none is given.
    ///
    /// # Errors
    /// As for [`connect`], if none is given.
    pub(crate) async fn named(&self, site: String, caller: &Caller) -> Result<String, Status> {
        if !site.is_empty() {
            return Ok(site);
        }
        let caller = caller.clone();
        self.wait_for(move |places| only_granted(places, &caller)).await
    }

    /// Asks a partition of a site on behalf of the caller, who names the type of the answer.
    ///
    /// # Errors
    /// Those of [`connect_to`] and of what is asked.
    pub(crate) async fn ask_of<A: TryFrom<Answer> + Send + 'static>(
        &self,
        (site, partition): (String, String),
        caller: Caller,
        verb: Verb,
    ) -> Result<A, Status> {
        let by = caller.clone();
        let ask = move |client: &mut Client| {
            by.check_partition(client.site(), &partition)?;
            Ok(client.ask(&partition, verb)?)
        };
        self.ask(site, caller, ask).await
    }
}

/// Connections to sites that no call needs now.
#[derive(Clone, Debug, Default)]
struct Kept(Arc<Mutex<Vec<Client>>>);

impl Kept {
    /// Connects to a site on behalf of a caller, as [`connect`] does, by a kept connection if there
    /// is one that the site still holds.
    fn connect(&self, places: &Places, site: &str, caller: &Caller) -> Result<Client, CallError> {
        let name = named_or_only(places, site, caller)?;
        match self.take(&name) {
            Some(client) => Ok(client.on_behalf_of(caller.introduction())),
            None => connect(places, &name, caller),
        }
    }

    /// Takes a connection to the site out; those that have ended are dropped.
    fn take(&self, site: &str) -> Option<Client> {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.retain(Client::is_connected);
        let at = kept.iter().rposition(|client| client.site() == site)?;
        Some(kept.remove(at))
    }

    /// Keeps a connection on which all that was asked has been answered.
    fn keep(&self, client: Client) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.len() == KEPT_MAX {
            kept.remove(0);
        }
        kept.push(client);
    }
}

/// Connects to a site on behalf of a caller, to whom some of it has to be granted. An empty name
/// stands for the only one that runs, of those that are granted.
///
/// # Errors
/// `PERMISSION_DENIED` before anything is told of a site that is not granted; those of the
/// connection.
pub(crate) fn connect(places: &Places, site: &str, caller: &Caller) -> Result<Client, CallError> {
    let name = named_or_only(places, site, caller)?;
    Ok(Client::connect(places, Some(&name))?.on_behalf_of(caller.introduction()))
}

/// Returns the name of a site that is granted to the caller in part at least.
fn named_or_only(places: &Places, site: &str, caller: &Caller) -> Result<String, CallError> {
    if site.is_empty() {
        return only_granted(places, caller);
    }
    caller.check_site(site)?;
    Ok(site.to_owned())
}

/// Connects to the site of a partition, which has to be granted to the caller.
///
/// # Errors
/// Those of [`connect`]; `PERMISSION_DENIED` for another partition.
pub(crate) fn connect_to(
    places: &Places,
    (site, partition): (&str, &str),
    caller: &Caller,
) -> Result<Client, CallError> {
    let client = connect(places, site, caller)?;
    caller.check_partition(client.site(), partition)?;
    Ok(client)
}

/// Returns the only site that runs of those that are granted in part at least.
fn only_granted(places: &Places, caller: &Caller) -> Result<String, CallError> {
    if caller.grants().is_everything() {
        return Ok(only_site(places)?);
    }
    let running = places.running()?.into_iter().map(|site| site.name);
    let mut granted = running.filter(|name| caller.grants().has_part_of(name));
    match (granted.next(), granted.next()) {
        (Some(only), None) => Ok(only),
        _ => {
            Err(CallError::Argument(format!("site: name one; granted to you: {}", caller.grants())))
        }
    }
}

#[cfg(test)]
mod tests {
    use quietcore_supervisor::control::Applied;
    use quietcore_supervisor::fake::FakeSite;
    use quietcore_supervisor::places::Claim;
    use quietcore_supervisor::server::{Limits, Server};
    use rustix::process::geteuid;
    use tempfile::TempDir;

    use super::*;

    struct Fixture {
        site: Arc<FakeSite>,
        sites: Sites,
        _folder: TempDir,
    }

    fn fixture() -> Fixture {
        let folder = TempDir::new().expect("a folder");
        let places = Places::new(folder.path().join("run"), folder.path().join("state"));
        Fixture { site: Arc::new(FakeSite::new()), sites: Sites::new(places), _folder: folder }
    }

    impl Fixture {
        /// Serves the site, to one client at a time.
        fn serve(&self) -> (Server, Claim) {
            let claim = Claim::take(self.sites.places(), "line").expect("the site is free");
            let (listener, site) = (claim.listen().expect("a socket"), Arc::clone(&self.site));
            let limits = Limits { clients: 1, ..Limits::default() };
            (Server::start(listener, "line", site, limits).expect("threads"), claim)
        }

        async fn ask_as(&self, agent: &str) -> Result<Applied, Status> {
            let caller = Caller::at_socket(Some(geteuid().as_raw()), agent)?;
            self.sites.ask_of((String::new(), "axis".to_owned()), caller, Verb::UnforceAll).await
        }
    }

    #[tokio::test]
    async fn calls_of_several_callers_share_a_connection_and_each_is_introduced() {
        let fixture = fixture();
        let _served = fixture.serve();
        for agent in ["first/1", "second/2", "first/1"] {
            fixture.ask_as(agent).await.expect("it answers");
            let by = fixture.site.state().by.clone().expect("somebody has asked");
            assert!(format!("{by:?}").contains(agent), "{by:?}");
        }
    }

    #[tokio::test]
    async fn a_connection_to_a_site_that_has_ended_is_not_used_for_the_next() {
        let fixture = fixture();
        for _life in 0..3 {
            let served = fixture.serve();
            fixture.ask_as("").await.expect("it answers");
            drop(served);
            assert!(fixture.ask_as("").await.is_err(), "nobody answers");
        }
    }
}
