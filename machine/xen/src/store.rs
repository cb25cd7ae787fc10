//! Xen's store, through the socket of `xenstored`, or in another domain through its kernel. Whoever
//! asks in dom0 waits for some seconds at most.

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::unix::net::UnixStream;
use std::time::Duration;

use quietcore_boot::xen::message::{HEADER_BYTES, Header, kind};
use rustix::event::{PollFd, PollFlags, Timespec, poll};

const SOCKET: &str = "/run/xenstored/socket";
/// The store in a domain that is not dom0.
const DEVICE: &str = "/dev/xen/xenbus";
/// Longest wait for an answer.
const PATIENCE: Duration = Duration::from_secs(10);
/// Most events before an answer: more are no answer.
const EVENTS_MAX: usize = 1_000;
/// The store's name for the end of a domain, whichever it is.
const A_DOMAIN_ENDED: &str = "@releaseDomain";

/// Why the store was not understood.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// It can't be reached, or does not answer.
    #[error("Xen's store does not answer; is `xenstored` running?")]
    Silent(#[source] io::Error),
    /// It answers with something else.
    #[error("Xen's store answers what can't be understood")]
    Odd,
    /// It refuses a request.
    #[error("Xen's store refuses `{key}`: {why}")]
    Refused {
        /// The key that was asked for.
        key: String,
        /// Its own word, such as `ENOENT`.
        why: String,
    },
}

/// A connection to the store.
#[derive(Debug)]
pub struct Store<S = UnixStream> {
    stream: S,
    request: u32,
    /// `true` if an event came that nobody has asked after yet.
    has_event: bool,
}

impl Store {
    /// Connects to the store of this machine.
    ///
    /// # Errors
    /// [`StoreError::Silent`].
    pub fn connect() -> Result<Self, StoreError> {
        let stream = UnixStream::connect(SOCKET).map_err(StoreError::Silent)?;
        stream.set_read_timeout(Some(PATIENCE)).map_err(StoreError::Silent)?;
        stream.set_write_timeout(Some(PATIENCE)).map_err(StoreError::Silent)?;
        Ok(Self::over(stream))
    }

    /// Asks to be told when a domain ends; [`a_domain_has_ended`](Self::a_domain_has_ended) tells.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn watch_domains(&mut self) -> Result<(), StoreError> {
        let payload = format!("{A_DOMAIN_ENDED}\0ended\0");
        self.ask(kind::WATCH, A_DOMAIN_ENDED, payload.as_bytes()).map(drop)
    }

    /// Returns `true` if any domain has ended since the last call. Waits only for the rest of a
    /// message that has begun.
    ///
    /// # Errors
    /// [`StoreError`] when the store has gone; this connection is of no use then.
    pub fn a_domain_has_ended(&mut self) -> Result<bool, StoreError> {
        let mut polled = [PollFd::new(&self.stream, PollFlags::IN)];
        let is_waiting = poll(&mut polled, Some(&Timespec::default())) != Ok(0);
        if is_waiting {
            // What it says does not matter.
            let (header, _) = self.receive()?;
            self.has_event |= header.kind == kind::WATCH_EVENT;
        }
        Ok(std::mem::take(&mut self.has_event))
    }
}

impl Store<File> {
    /// Connects to the store in a domain that is not dom0, where keys are below its own path.
    ///
    /// # Errors
    /// [`StoreError::Silent`].
    pub fn in_domain() -> Result<Self, StoreError> {
        let opened = File::options().read(true).write(true).open(DEVICE);
        opened.map(Self::over).map_err(StoreError::Silent)
    }
}

impl<S: Read + Write> Store<S> {
    /// Speaks the store's protocol over any stream, such as a test's.
    pub fn over(stream: S) -> Self {
        Self { stream, request: 0, has_event: false }
    }

    /// Gives a key a value.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn write(&mut self, key: &str, value: &str) -> Result<(), StoreError> {
        self.ask(kind::WRITE, key, format!("{key}\0{value}").as_bytes()).map(drop)
    }

    /// Returns the value of a key.
    ///
    /// # Errors
    /// [`StoreError`], also when there is no such key.
    pub fn read(&mut self, key: &str) -> Result<Vec<u8>, StoreError> {
        self.ask(kind::READ, key, format!("{key}\0").as_bytes())
    }

    /// Returns the names of the keys right below one.
    ///
    /// # Errors
    /// [`StoreError`], also when there is no such key.
    pub fn list(&mut self, key: &str) -> Result<Vec<String>, StoreError> {
        let names = self.ask(kind::DIRECTORY, key, format!("{key}\0").as_bytes())?;
        let names = names.split(|byte| *byte == 0).filter(|name| !name.is_empty());
        Ok(names.map(|name| String::from_utf8_lossy(name).into_owned()).collect())
    }

    /// Removes a key, with all that is below it.
    ///
    /// # Errors
    /// [`StoreError`], also when there is no such key.
    pub fn remove(&mut self, key: &str) -> Result<(), StoreError> {
        self.ask(kind::REMOVE, key, format!("{key}\0").as_bytes()).map(drop)
    }

    fn ask(&mut self, kind: u32, key: &str, payload: &[u8]) -> Result<Vec<u8>, StoreError> {
        self.request = self.request.wrapping_add(1);
        let bytes = u32::try_from(payload.len()).map_err(|_| StoreError::Odd)?;
        let header = Header { kind, request: self.request, bytes };
        let message = [&header.to_bytes()[..], payload].concat();
        self.stream.write_all(&message).map_err(StoreError::Silent)?;
        for _ in 0..EVENTS_MAX {
            let (header, payload) = self.receive()?;
            match header.kind {
                kind::WATCH_EVENT => self.has_event = true,
                _ if header.request != self.request => return Err(StoreError::Odd),
                kind::ERROR => {
                    let why = String::from_utf8_lossy(&payload);
                    let why = why.trim_end_matches('\0').to_owned();
                    return Err(StoreError::Refused { key: key.to_owned(), why });
                }
                answered if answered == kind => return Ok(payload),
                _ => return Err(StoreError::Odd),
            }
        }
        Err(StoreError::Odd)
    }

    fn receive(&mut self) -> Result<(Header, Vec<u8>), StoreError> {
        let mut bytes = [0; HEADER_BYTES];
        self.stream.read_exact(&mut bytes).map_err(StoreError::Silent)?;
        let header = Header::from_bytes(&bytes).ok_or(StoreError::Odd)?;
        let mut payload = vec![0; header.bytes as usize];
        self.stream.read_exact(&mut payload).map_err(StoreError::Silent)?;
        Ok((header, payload))
    }
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    /// A store that says what it was told to, whatever it is asked.
    struct Told {
        answers: Cursor<Vec<u8>>,
        asked: Vec<u8>,
    }

    impl Read for Told {
        fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
            self.answers.read(into)
        }
    }

    impl Write for Told {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.asked.write(bytes)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    fn told(answers: Vec<u8>) -> Store<Told> {
        Store::over(Told { answers: Cursor::new(answers), asked: Vec::new() })
    }

    fn message(kind: u32, request: u32, payload: &[u8]) -> Vec<u8> {
        let header = Header { kind, request, bytes: payload.len() as u32 };
        [&header.to_bytes()[..], payload].concat()
    }

    #[test]
    fn a_key_is_written_and_read_by_messages_of_the_protocol() {
        let answers = [message(kind::WRITE, 1, b"OK\0"), message(kind::READ, 2, b"7 8")];
        let mut store = told(answers.concat());
        store.write("/a", "7 8").unwrap();
        assert_eq!(store.read("/a").unwrap(), b"7 8");
        let asked = [message(kind::WRITE, 1, b"/a\x007 8"), message(kind::READ, 2, b"/a\0")];
        assert_eq!(store.stream.asked, asked.concat());
    }

    #[test]
    fn names_below_a_key_are_listed_and_a_key_is_removed() {
        let answers = [message(kind::DIRECTORY, 1, b"0\x007\0"), message(kind::REMOVE, 2, b"OK\0")];
        let mut store = told(answers.concat());
        assert_eq!(store.list("/local/domain").unwrap(), ["0", "7"]);
        store.remove("/local/domain/7").unwrap();
        assert!(store.stream.asked.ends_with(&message(kind::REMOVE, 2, b"/local/domain/7\0")));
    }

    #[test]
    fn an_event_before_an_answer_is_kept() {
        let event = message(kind::WATCH_EVENT, 0, b"@releaseDomain\0ended\0");
        let mut store = told([event, message(kind::READ, 1, b"x")].concat());
        assert_eq!(store.read("/a").unwrap(), b"x");
        assert!(store.has_event);
    }

    #[test]
    fn the_end_of_a_domain_is_told_apart_from_the_end_of_the_store() {
        let (own, mut other) = UnixStream::pair().unwrap();
        let mut store = Store::over(own);
        assert!(!store.a_domain_has_ended().unwrap());
        other.write_all(&message(kind::WATCH_EVENT, 0, b"@releaseDomain\0ended\0")).unwrap();
        assert!(store.a_domain_has_ended().unwrap());
        assert!(!store.a_domain_has_ended().unwrap(), "told once");
        drop(other);
        let gone = store.a_domain_has_ended().unwrap_err().to_string();
        assert_eq!(gone, "Xen's store does not answer; is `xenstored` running?");
    }

    #[test]
    fn a_refusal_names_the_key_and_an_odd_answer_is_none() {
        let refused = told(message(kind::ERROR, 1, b"ENOENT\0")).read("/a").unwrap_err();
        assert_eq!(refused.to_string(), "Xen's store refuses `/a`: ENOENT");
        for odd in [message(kind::WRITE, 1, b"x"), message(kind::READ, 2, b"x")] {
            assert!(matches!(told(odd).read("/a"), Err(StoreError::Odd)));
        }
        let events = message(kind::WATCH_EVENT, 0, b"").repeat(EVENTS_MAX + 1);
        assert!(matches!(told(events).read("/a"), Err(StoreError::Odd)));
        assert!(matches!(told(Vec::new()).read("/a"), Err(StoreError::Silent(_))));
    }

    proptest! {
        #[test]
        fn whatever_the_store_says_is_read_or_refused(bytes in vec(any::<u8>(), 0..200)) {
            let _ = told(bytes).read("/a");
        }
    }
}
