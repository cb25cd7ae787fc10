//! Links and sessions: a link opens the page once, and makes a session of the browser.
//!
//! Decides by the time that it is given. Both are secrets of 256 bits; only their SHA-256 is kept,
//! and in memory alone: a new daemon knows none of them.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use sha2::{Digest as _, Sha256};

use crate::caller::Caller;

/// Time in which a link has to be opened.
pub const LINK_TIME: Duration = Duration::from_secs(5 * 60);
/// Links that wait to be opened; a further one takes the place of the oldest.
pub const LINKS_MAX: usize = 16;
/// Life of a session.
pub const SESSION_TIME: Duration = Duration::from_secs(12 * 60 * 60);
/// Sessions at once; a further one takes the place of the oldest.
pub const SESSIONS_MAX: usize = 64;

/// A secret that a browser shows, in the letters of a URL.
pub(crate) type Secret = String;
type Fingerprint = [u8; 32];

/// The links and sessions of a daemon.
#[derive(Debug, Default)]
pub(super) struct Sessions {
    links: Secrets,
    sessions: Secrets,
}

impl Sessions {
    /// Makes a link for a caller.
    ///
    /// # Errors
    /// When the kernel gives no random numbers.
    pub(super) fn link(
        &mut self,
        caller: Caller,
        now: Instant,
    ) -> Result<Secret, getrandom::Error> {
        self.links.add(caller, now, LINK_TIME, LINKS_MAX)
    }

    /// Takes a link and makes a session; `None` if the link was used, is too old, or is none.
    ///
    /// # Errors
    /// When the kernel gives no random numbers.
    pub(super) fn open(
        &mut self,
        link: &str,
        now: Instant,
    ) -> Result<Option<Secret>, getrandom::Error> {
        let Some(caller) = self.links.remove(link, now) else { return Ok(None) };
        self.sessions.add(caller, now, SESSION_TIME, SESSIONS_MAX).map(Some)
    }

    /// Returns the caller of a session that goes on.
    pub(super) fn caller(&self, session: &str, now: Instant) -> Option<&Caller> {
        self.sessions.get(session, now)
    }

    /// Ends a session, if there is such a one.
    pub(super) fn close(&mut self, session: &str) {
        self.sessions.forget(session);
    }
}

/// Secrets by their fingerprints, each with its owner and its end.
#[derive(Debug, Default)]
struct Secrets(HashMap<Fingerprint, (Caller, Instant)>);

impl Secrets {
    fn add(
        &mut self,
        caller: Caller,
        now: Instant,
        life: Duration,
        most: usize,
    ) -> Result<Secret, getrandom::Error> {
        self.0.retain(|_, (_, end)| now < *end);
        if self.0.len() >= most {
            let oldest = self.0.iter().min_by_key(|(_, (_, end))| *end).map(|(oldest, _)| *oldest);
            oldest.and_then(|oldest| self.0.remove(&oldest));
        }
        let mut bytes = [0; 32];
        getrandom::fill(&mut bytes)?;
        let secret: Secret = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        self.0.insert(fingerprint(&secret), (caller, now + life));
        Ok(secret)
    }

    fn get(&self, secret: &str, now: Instant) -> Option<&Caller> {
        let (caller, end) = self.0.get(&fingerprint(secret))?;
        (now < *end).then_some(caller)
    }

    fn remove(&mut self, secret: &str, now: Instant) -> Option<Caller> {
        let (caller, end) = self.0.remove(&fingerprint(secret))?;
        (now < end).then_some(caller)
    }

    fn forget(&mut self, secret: &str) {
        self.0.remove(&fingerprint(secret));
    }
}

/// Returns what a secret is found by. Whoever measures how long the search takes learns nothing of
/// a secret from it.
fn fingerprint(secret: &str) -> Fingerprint {
    Sha256::digest(secret.as_bytes()).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn caller() -> Caller {
        Caller::at_socket(Some(0), "a test").expect("root may always")
    }

    #[test]
    fn a_link_opens_once_and_in_time() {
        let now = Instant::now();
        let mut sessions = Sessions::default();
        let link = sessions.link(caller(), now).unwrap();
        let session = sessions.open(&link, now).unwrap().expect("the first time");
        assert_eq!(sessions.open(&link, now).unwrap(), None, "it is used up");
        assert_eq!(sessions.caller(&session, now), Some(&caller()));
        assert_eq!(sessions.caller(&link, now), None, "a link is no session");
        let late = sessions.link(caller(), now).unwrap();
        assert_eq!(sessions.open(&late, now + LINK_TIME).unwrap(), None, "too late");
    }

    #[test]
    fn a_session_ends_by_its_time_and_by_its_user() {
        let now = Instant::now();
        let mut sessions = Sessions::default();
        let [first, second] = [(); 2].map(|()| {
            let link = sessions.link(caller(), now).unwrap();
            sessions.open(&link, now).unwrap().unwrap()
        });
        sessions.close(&first);
        assert!(sessions.caller(&first, now).is_none());
        assert!(sessions.caller(&second, now).is_some(), "the other goes on");
        assert!(sessions.caller(&second, now + SESSION_TIME).is_none());
    }

    #[test]
    fn the_oldest_makes_room() {
        let now = Instant::now();
        let mut sessions = Sessions::default();
        let links: Vec<_> = (0..=LINKS_MAX as u64)
            .map(|s| sessions.link(caller(), now + Duration::from_secs(s)).unwrap())
            .collect();
        let later = now + Duration::from_secs(60);
        assert_eq!(sessions.open(&links[0], later).unwrap(), None);
        assert!(links[1..].iter().all(|link| sessions.open(link, later).unwrap().is_some()));
    }
}
