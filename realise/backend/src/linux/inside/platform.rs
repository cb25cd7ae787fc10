//! The host as its guest sees it, whatever runs that: shared memory, ports, and a way to say how it
//! ended.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::os::fd::OwnedFd;
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::Duration;

use quietcore_process::memory::DeviceMemory;

use super::qemu::Qemu;
use super::xen::Xen;

/// The file in which the kernel names the hypervisor below it, if that is Xen.
const HYPERVISOR: &str = "/sys/hypervisor/type";
/// Longest wait at the end for what was printed: others than the process may have its streams.
const LAST_WORDS_MAX: Duration = Duration::from_millis(500);

/// The host, as its guest sees it.
pub(super) trait Platform {
    /// Opens the ports, once.
    ///
    /// # Errors
    /// When there are none; in words.
    fn ports(&mut self) -> Result<Ports, String>;

    /// Returns shared memory by its number ([`quietcore_boot::devices`]).
    ///
    /// # Errors
    /// When the host shares none of this number; in words.
    fn shared(&mut self, number: usize) -> Result<(File, DeviceMemory), String>;

    /// Returns how the kernel has mapped shared memory where that makes it slow, in its words.
    fn slowness(&self, _memory: &DeviceMemory) -> Option<String> {
        None
    }

    /// Tells the host with which status the guest ends. May not return.
    fn tell_end(&mut self, status: u8);
}

/// The guest's ends of the ports.
pub(super) struct Ports {
    pub(super) orders: Box<dyn Read + Send>,
    /// Standard output of the partition's process.
    pub(super) printed: OwnedFd,
    /// Standard error of the partition's process.
    pub(super) remarks: OwnedFd,
    /// The threads that pass on what is written there, where it does not reach the host by itself.
    pub(super) pumps: Vec<Pump>,
}

/// A thread that passes on what comes through a pipe.
#[derive(Debug)]
pub(super) struct Pump {
    over: Receiver<()>,
}

impl Pump {
    /// Makes a pipe whose end goes to `output`; returns what is written to, as well.
    ///
    /// # Errors
    /// When the kernel refuses a pipe or a thread; in words.
    pub(super) fn start(
        mut output: impl Write + Send + 'static,
    ) -> Result<(Self, OwnedFd), String> {
        let refused = |error: io::Error| format!("no pipe: {error}");
        let (mut reader, writer) = io::pipe().map_err(refused)?;
        let (say, over) = mpsc::channel();
        let pass_on = move || {
            // It ends with what writes into it.
            let _ = io::copy(&mut reader, &mut output);
            let _ = say.send(());
        };
        thread::Builder::new().name("pump".to_owned()).spawn(pass_on).map_err(refused)?;
        Ok((Self { over }, writer.into()))
    }

    /// Waits until all is passed on, for a moment.
    pub(super) fn finish(self) {
        // What others keep open has no end.
        let _ = self.over.recv_timeout(LAST_WORDS_MAX);
    }
}

/// Finds out what runs this guest.
///
/// # Errors
/// When it can't be talked to; in words.
pub(super) fn find() -> Result<Box<dyn Platform>, String> {
    let name = fs::read_to_string(HYPERVISOR).unwrap_or_default();
    if name.trim() == "xen" { Ok(Box::new(Xen::begin()?)) } else { Ok(Box::new(Qemu)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_passed_on_before_the_end() {
        let (mut reader, writer) = io::pipe().unwrap();
        let (pump, input) = Pump::start(writer).unwrap();
        File::from(input).write_all(b"last words").unwrap();
        pump.finish();
        let mut text = String::new();
        reader.read_to_string(&mut text).unwrap();
        assert_eq!(text, "last words");
    }
}
