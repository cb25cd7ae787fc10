//! The end of a domain, seen from outside: by the status that its guest leaves, or by Xen's word
//! where that comes to an end without one.
//!
//! Xen's store tells when any domain ends, and `xl` which. The store may be killed, or started anew
//! without what was in it. The domain needs neither: it goes on, its end is seen by its status
//! alone, and the store is looked for again and again.
//!
//! ```text
//! store tells of an end ──► xl list          store has gone ──► connect, once in RETRY ──► xl list
//! ```

use std::fmt;
use std::time::{Duration, Instant};

use quietcore_process::remark::remark;
use quietcore_xen::{DomainId, Store, StoreError};

use super::xl::Xl;
use crate::guest::control::Control;

/// Time between two tries to reach a store that has gone.
const RETRY: Duration = Duration::from_secs(1);

/// The end of a guest, as it is seen from outside.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// The guest has left a status.
    Told(u8),
    /// It has left none; Xen's words.
    Seen(String),
}

impl fmt::Display for End {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Told(status) => write!(f, "it ended with status {status}"),
            Self::Seen(words) => f.write_str(words),
        }
    }
}

/// Looks for the end of a domain.
#[derive(Debug)]
pub(super) struct EndWatch {
    xl: Xl,
    domain: DomainId,
    store: StoreWatch,
    question: Question,
}

impl EndWatch {
    /// Begins to look, with a connection that is told of domains that end.
    pub(super) fn new(xl: Xl, domain: DomainId, store: Store) -> Self {
        let store = StoreWatch { store: Some(store), tried: Instant::now() };
        Self { xl, domain, store, question: Question::default() }
    }

    /// Returns how the guest has ended; `None` while it has not.
    pub(super) fn look(&mut self, control: &Control) -> Option<End> {
        if let Some(status) = control.status() {
            return Some(End::Told(status));
        }
        let now = Instant::now();
        if self.store.may_have_ended(now, watched_store) {
            self.question.raise(now);
        }
        let seen = self.question.ask(now, || self.xl.has_ended(self.domain))?;
        // It may have left one while `xl` looked.
        Some(control.status().map_or(End::Seen(seen), End::Told))
    }
}

/// The question whether the domain has ended, which stands until `xl` has answered it.
#[derive(Debug, Default)]
struct Question {
    /// Instant from which it is asked; `None` while it does not stand.
    due: Option<Instant>,
    /// The end that `xl` has seen, which remains the answer.
    end: Option<String>,
}

impl Question {
    fn raise(&mut self, now: Instant) {
        self.due.get_or_insert(now);
    }

    /// Returns the end that `xl` has seen, if the question is due, which stands on where `xl` can't
    /// answer.
    fn ask<E>(
        &mut self,
        now: Instant,
        xl: impl FnOnce() -> Result<Option<String>, E>,
    ) -> Option<String> {
        if self.end.is_none() && self.due.is_some_and(|due| due <= now) {
            let answer = xl();
            self.due = answer.is_err().then(|| now + RETRY);
            self.end = answer.ok().flatten();
        }
        self.end.clone()
    }
}

/// Connects to the store, which tells from then on that domains end.
pub(super) fn watched_store() -> Result<Store, StoreError> {
    let mut store = Store::connect()?;
    store.watch_domains()?;
    Ok(store)
}

/// The connection to the store, which may go and come back.
#[derive(Debug)]
struct StoreWatch {
    store: Option<Store>,
    /// Instant at which the store was last looked for, or seen to have gone.
    tried: Instant,
}

impl StoreWatch {
    /// Returns `true` if some domain may have ended since the last call. Tries `connect` where the
    /// store has gone.
    fn may_have_ended(
        &mut self,
        now: Instant,
        connect: impl FnOnce() -> Result<Store, StoreError>,
    ) -> bool {
        match self.store.as_mut().map(Store::a_domain_has_ended) {
            Some(Ok(has_ended)) => has_ended,
            Some(Err(gone)) => {
                remark(format_args!("{gone}; the domain goes on without"));
                (self.store, self.tried) = (None, now);
                false
            }
            None if now.saturating_duration_since(self.tried) < RETRY => false,
            None => {
                (self.store, self.tried) = (connect().ok(), now);
                if self.store.is_some() {
                    remark(format_args!("Xen's store answers again"));
                }
                self.store.is_some()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io;
    use std::os::unix::net::UnixStream;

    use super::*;

    #[test]
    fn an_end_that_xl_could_not_confirm_is_asked_for_again() {
        let begun = Instant::now();
        let mut question = Question::default();
        let no_question = || -> Result<Option<String>, ()> { panic!("nobody asks now") };
        assert_eq!(question.ask(begun, no_question), None);
        question.raise(begun);
        assert_eq!(question.ask(begun, || Err(())), None, "no answer");
        question.raise(begun);
        assert_eq!(question.ask(begun + RETRY / 2, no_question), None, "not at once");
        let not_ended = || Ok::<_, ()>(None);
        assert_eq!(question.ask(begun + RETRY, not_ended), None, "another domain's end");
        assert_eq!(question.ask(begun + RETRY * 9, no_question), None, "answered");
        question.raise(begun + RETRY * 9);
        let gone = || Ok::<_, ()>(Some("it is gone".to_owned()));
        assert_eq!(question.ask(begun + RETRY * 9, gone).as_deref(), Some("it is gone"));
        let still = question.ask(begun + RETRY * 9, no_question);
        assert_eq!(still.as_deref(), Some("it is gone"), "an end is not forgotten");
    }

    /// Goal: a store that has gone is looked for now and then, and a domain that ended meanwhile is
    /// found when it is back. Method: one end of a pair of sockets is the store.
    #[test]
    fn a_store_that_went_is_looked_for_and_what_was_missed_is_seen() {
        let (own, other) = UnixStream::pair().unwrap();
        let begun = Instant::now();
        let mut watch = StoreWatch { store: Some(Store::over(own)), tried: begun };
        let no_try = || -> Result<Store, StoreError> { panic!("nobody looks for it now") };
        let refused = || Err(StoreError::Silent(io::ErrorKind::ConnectionRefused.into()));
        assert!(!watch.may_have_ended(begun, no_try), "it is there and says nothing");
        drop(other);
        let gone = begun + RETRY * 5;
        assert!(!watch.may_have_ended(gone, no_try), "nobody is known to have ended");
        assert!(!watch.may_have_ended(gone + RETRY / 2, no_try));
        assert!(!watch.may_have_ended(gone + RETRY, refused));
        assert!(!watch.may_have_ended(gone + RETRY, no_try), "not twice");
        let (own, _other) = UnixStream::pair().unwrap();
        assert!(watch.may_have_ended(gone + RETRY * 2, || Ok(Store::over(own))), "looked at once");
        assert!(!watch.may_have_ended(gone + RETRY * 2, no_try));
    }
}
