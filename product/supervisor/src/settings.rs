//! The machine's settings while a site is up: changed, watched, and put back when it comes down.
//! The site's CPUs are watched, too.

use std::io;

use std::sync::mpsc::{RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use quietcore_run::HeldSettings;
use quietcore_settings::{ChangeError, Controls, LiveSettings, RequestedSettings, ReservedGroup};
use quietcore_site::Site as SiteFile;

use crate::control::Severity;
use crate::keeper::EventLog;

/// Time between two looks at the links.
const LINKS_EVERY: Duration = Duration::from_millis(200);

/// Name under which events of the machine are told; no partition has it.
pub(crate) const HOST: &str = "host";

/// The error of settings that can't be changed.
#[derive(Debug, thiserror::Error)]
pub enum SettingsError {
    /// The journal can't be written, or a reservation can't be made.
    #[error(transparent)]
    Change(#[from] ChangeError),
    /// No thread can be started to watch them.
    #[error("the machine's settings can't be watched")]
    Watch(#[source] io::Error),
}

/// Settings that are changed, and a thread that watches them.
#[derive(Debug)]
pub(crate) struct Settings {
    /// Sender whose drop ends the thread.
    end: Option<SyncSender<()>>,
    watching: Option<JoinHandle<Vec<String>>>,
    group: Option<ReservedGroup>,
    drift: HostDrift,
}

/// The settings of the machine that were not as they were set at the last look, for all who ask.
#[derive(Clone, Debug, Default)]
pub(crate) struct HostDrift {
    seen: Arc<Mutex<Vec<String>>>,
}

impl HostDrift {
    /// Lists them, a sentence each.
    pub(crate) fn now(&self) -> Vec<String> {
        self.lock().clone()
    }

    fn lock(&self) -> MutexGuard<'_, Vec<String>> {
        // The list remains usable even if a thread panicked while it held the lock.
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Settings {
    /// Makes the changes that a site asks for. Their outcome is reported as events.
    pub(crate) fn change(
        site: &SiteFile,
        controls: Option<&Controls<LiveSettings>>,
        events: &Arc<EventLog>,
    ) -> Result<Self, SettingsError> {
        let requested = RequestedSettings::of(site);
        let mut held = HeldSettings::change(&requested, site.name(), controls, LINKS_EVERY)?;
        let found = held.found();
        if !found.controls.is_empty() {
            events.note(HOST, "settings", Severity::Information, &found.controls);
        }
        for trouble in &found.troubles {
            events.note(HOST, "settings", Severity::Warning, &trouble.to_string());
        }
        let group = held.group();
        let (end, ended) = sync_channel::<()>(0);
        let events = Arc::clone(events);
        let drift = HostDrift::default();
        let seen = drift.clone();
        let watch = move || {
            while ended.recv_timeout(LINKS_EVERY) == Err(RecvTimeoutError::Timeout) {
                let looked = held.poll();
                for drift in &looked.drifts {
                    events.note(HOST, "drift", Severity::Warning, &drift.to_string());
                }
                if let Some(drifting) = looked.drifting {
                    *seen.lock() = drifting;
                }
            }
            held.put_back().1
        };
        let watching = thread::Builder::new().name("settings".to_owned()).spawn(watch);
        let watching = watching.map_err(SettingsError::Watch)?;
        Ok(Self { end: Some(end), watching: Some(watching), group, drift })
    }

    /// Returns the group that has the partitions' CPUs for itself.
    pub(crate) fn group(&self) -> Option<&ReservedGroup> {
        self.group.as_ref()
    }

    /// Returns a handle of the differences, which the thread keeps up to date.
    pub(crate) fn drift(&self) -> HostDrift {
        self.drift.clone()
    }

    /// Puts the settings back. Returns a message for each that could not be.
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
