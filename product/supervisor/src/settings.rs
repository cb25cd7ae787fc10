//! The machine's settings while a site is up: changed, watched, and put back when it comes down.
//! The site's CPUs are watched, too.

use std::io;

use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, SyncSender, sync_channel};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use quietcore_host::controls::{
    ChangeError, Changed, Controls, LiveSettings, ReservedGroup, Wanted,
};
use quietcore_site::Site as SiteFile;

use crate::control::Severity;
use crate::keeper::EventLog;

/// Time between two looks at the links.
const LINKS_EVERY: Duration = Duration::from_millis(200);
/// Looks at the links between two looks at the settings: 5 s.
const SETTINGS_EVERY: u32 = 25;

/// What events of the machine are of; partitions have names of their own.
pub(crate) const HOST: &str = "host";

/// Settings that can't be changed.
#[derive(Debug, thiserror::Error)]
pub enum SettingsError {
    /// The journal can't be written, or a reservation can't be made.
    #[error(transparent)]
    Change(#[from] ChangeError),
    /// There is no thread that watches them.
    #[error("the machine's settings can't be watched")]
    Watch(#[source] io::Error),
}

/// Settings that are changed, and a thread that watches them.
#[derive(Debug)]
pub(crate) struct Settings {
    /// Dropping it ends the thread.
    end: Option<SyncSender<()>>,
    watching: Option<JoinHandle<Vec<String>>>,
    group: Option<ReservedGroup>,
}

impl Settings {
    /// Changes what a site wants. What came of it is told as events.
    pub(crate) fn change(
        site: &SiteFile,
        controls: Option<&Controls<LiveSettings>>,
        events: &Arc<EventLog>,
    ) -> Result<Self, SettingsError> {
        let mut changed = Changed::begin(&Wanted::of(site), site.name(), controls)?;
        let found = changed.found();
        if !found.controls.is_empty() {
            events.note(HOST, "settings", Severity::Information, &found.controls);
        }
        for trouble in &found.troubles {
            events.note(HOST, "settings", Severity::Warning, trouble);
        }
        let group = changed.group();
        let (end, ended) = sync_channel::<()>(0);
        let events = Arc::clone(events);
        let watch = move || {
            let note = |drifts: &[String]| {
                for drift in drifts {
                    events.note(HOST, "drift", Severity::Warning, drift);
                }
            };
            let mut looks: u32 = 0;
            while ended.recv_timeout(LINKS_EVERY) == Err(RecvTimeoutError::Timeout) {
                note(changed.follow_links());
                looks = looks.wrapping_add(1);
                if looks.is_multiple_of(SETTINGS_EVERY) {
                    note(&changed.look());
                }
            }
            changed.end().1
        };
        let watching = thread::Builder::new().name("settings".to_owned()).spawn(watch);
        let watching = watching.map_err(SettingsError::Watch)?;
        Ok(Self { end: Some(end), watching: Some(watching), group })
    }

    /// The group that has the partitions' CPUs for itself.
    pub(crate) fn group(&self) -> Option<&ReservedGroup> {
        self.group.as_ref()
    }

    /// Puts the settings back. Returns what could not be.
    pub(crate) fn put_back(&mut self) -> Vec<String> {
        self.end = None;
        match self.watching.take().map(JoinHandle::join) {
            None => Vec::new(),
            Some(Ok(left)) => left,
            Some(Err(_)) => vec!["the thread that keeps the settings has failed".to_owned()],
        }
    }
}

impl Drop for Settings {
    fn drop(&mut self) {
        self.put_back();
    }
}
