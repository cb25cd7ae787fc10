//! Answers of Xen's store, and the values of its keys, some of which a domain may write.

#![no_main]

use std::io::{self, Cursor, Read, Write};

use libfuzzer_sys::fuzz_target;
use quietcore_boot::xen::message::{Header, PAYLOAD_BYTES_MAX, kind};
use quietcore_boot::xen::{Announcement, number};
use quietcore_xen::{Store, StoreError};

/// A store that says what it was told to, whatever it is asked.
struct Told(Cursor<Vec<u8>>);

impl Read for Told {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        self.0.read(into)
    }
}

impl Write for Told {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn told(bytes: Vec<u8>) -> Store<Told> {
    Store::over(Told(Cursor::new(bytes)))
}

/// An answer to the first request.
fn answer(kind: u32, payload: &[u8]) -> Vec<u8> {
    let header = Header { kind, request: 1, bytes: payload.len() as u32 };
    [&header.to_bytes()[..], payload].concat()
}

fuzz_target!(|said: (Vec<u8>, Vec<u8>)| {
    let (raw, value) = said;
    let mut store = told(raw);
    for _ in 0..4 {
        if let Ok(read) = store.read("/a") {
            assert!(read.len() <= PAYLOAD_BYTES_MAX);
        }
    }
    match told(answer(kind::READ, &value)).read("/a") {
        Ok(read) => assert_eq!(read, value),
        Err(_) => assert!(value.len() > PAYLOAD_BYTES_MAX),
    }
    match told(answer(kind::ERROR, &value)).read("/a") {
        Err(StoreError::Refused { key, .. }) => assert_eq!(key, "/a"),
        refused => assert!(refused.is_err() && value.len() > PAYLOAD_BYTES_MAX),
    }
    if let Ok(names) = told(answer(kind::DIRECTORY, &value)).list("/a") {
        assert!(names.iter().all(|name| !name.is_empty()));
    }
    if let Some(announced) = Announcement::parse(&value) {
        assert_eq!(Announcement::parse(announced.to_string().as_bytes()), Some(announced));
        assert!(!announced.directories().is_empty());
    }
    if let Some(parsed) = number(&value) {
        assert!(value.len() >= parsed.to_string().len());
    }
});
