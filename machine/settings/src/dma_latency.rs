//! Keeping all CPUs out of idle states that take long to leave.
//!
//! While somebody holds `/dev/cpu_dma_latency` open with a value in it, the kernel uses no idle
//! state whose wake-up takes longer, in µs, on any CPU. With 0 the CPUs poll. Nothing has to be
//! undone: the kernel forgets the request when the file is closed, also when its holder dies.
//!
//! **It changes what is measured.** With the request a release finds its CPU awake; without it the
//! wake-up time of the deepest idle state (1 to some 100 µs) is part of every release latency. It
//! also costs power and heat, which can lower the clock, and takes the sibling's half of an SMT
//! core. So a run records whether the request was held, and a result holds only for machines that
//! run in the same way. In a virtual machine the host's idle states stay out of reach.

use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::FileExt;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use quietcore_host::Source;

const DEVICE: &str = "/dev/cpu_dma_latency";
const REMEDY: &str = "run as root, or let a udev rule give the device to a group";

/// Why no short wake-up can be had.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LatencyError {
    /// The kernel has no such control.
    #[error("`{path}` is not there; {remedy}")]
    Absent {
        /// The file of the control.
        path: String,
        /// The kernel option or hardware that provides it.
        remedy: String,
    },
    /// The kernel refused the request.
    #[error("`{path}`: {reason}; {remedy}")]
    Refused {
        /// The file of the control.
        path: String,
        /// The kernel's answer, in words.
        reason: String,
        /// The way to be granted it.
        remedy: String,
    },
    /// It was accepted and reads back as something else.
    #[error(
        "`{path}`: wrote {written}, read back {found}; the kernel or another program overrides it"
    )]
    NotEffective {
        /// The file of the control.
        path: String,
        /// The value that was written.
        written: i32,
        /// The value that it holds.
        found: i32,
    },
}

/// A request for short wake-ups that is in force.
pub trait HeldLatency: Send {
    /// The longest wake-up time that the kernel allows now, in µs.
    ///
    /// # Errors
    /// When it can't be read back, or is longer than asked for.
    fn check(&self) -> Result<i32, LatencyError>;
}

/// A machine on which such a request can be made.
pub trait LatencyControl {
    /// Stands for the request; dropping it ends the request.
    type Held: HeldLatency;

    /// Asks for wake-ups without any delay (0 µs) and reads the request back.
    ///
    /// # Errors
    /// When the device is not there, refuses, or reads back another value.
    fn hold(&self) -> Result<Self::Held, LatencyError>;
}

/// Requests on this machine.
#[derive(Clone, Copy, Debug, Default)]
pub struct LiveLatency;

impl LatencyControl for LiveLatency {
    type Held = DmaLatency;
    fn hold(&self) -> Result<DmaLatency, LatencyError> {
        DmaLatency::hold()
    }
}

/// The request on this machine, in force until it is dropped.
#[derive(Debug)]
pub struct DmaLatency {
    device: File,
}

impl DmaLatency {
    /// Keeps all CPUs of this machine awake until the result is dropped.
    ///
    /// # Errors
    /// As [`LatencyControl::hold`].
    pub fn hold() -> Result<Self, LatencyError> {
        Self::hold_in(&Source::live())
    }

    /// The same with the device below another root.
    ///
    /// # Errors
    /// As [`LatencyControl::hold`].
    pub fn hold_in(source: &Source) -> Result<Self, LatencyError> {
        let mut device = OpenOptions::new()
            .read(true)
            .write(true)
            .open(source.place(DEVICE))
            .map_err(|error| refused(&error))?;
        device.write_all(&0_i32.to_ne_bytes()).map_err(|error| refused(&error))?;
        let held = Self { device };
        held.check()?;
        Ok(held)
    }
}

impl HeldLatency for DmaLatency {
    fn check(&self) -> Result<i32, LatencyError> {
        let mut word = [0; 4];
        self.device.read_exact_at(&mut word, 0).map_err(|error| refused(&error))?;
        match i32::from_ne_bytes(word) {
            0 => Ok(0),
            found => Err(LatencyError::NotEffective { path: DEVICE.to_owned(), written: 0, found }),
        }
    }
}

fn refused(error: &io::Error) -> LatencyError {
    let path = DEVICE.to_owned();
    match error.kind() {
        ErrorKind::NotFound => LatencyError::Absent {
            path,
            remedy: "it needs a kernel with CONFIG_CPU_IDLE, and in a container the host's /dev"
                .to_owned(),
        },
        _ => LatencyError::Refused {
            path,
            reason: quietcore_host::error_text(error),
            remedy: REMEDY.to_owned(),
        },
    }
}

/// Requests on no machine: counts those in force, or refuses with the error given.
#[derive(Clone, Debug, Default)]
pub struct FakeLatency {
    /// The answer to every request, when it shall fail.
    pub refuse: Option<LatencyError>,
    /// The answer to every check, when the request shall get lost.
    pub lose: Option<LatencyError>,
    in_force: Arc<AtomicUsize>,
}

impl FakeLatency {
    /// The number of requests in force.
    pub fn in_force(&self) -> usize {
        self.in_force.load(Ordering::Relaxed)
    }
}

impl LatencyControl for FakeLatency {
    type Held = FakeHeld;
    fn hold(&self) -> Result<FakeHeld, LatencyError> {
        if let Some(error) = &self.refuse {
            return Err(error.clone());
        }
        self.in_force.fetch_add(1, Ordering::Relaxed);
        Ok(FakeHeld { lose: self.lose.clone(), in_force: Arc::clone(&self.in_force) })
    }
}

/// A request on no machine.
#[derive(Debug)]
pub struct FakeHeld {
    lose: Option<LatencyError>,
    in_force: Arc<AtomicUsize>,
}

impl HeldLatency for FakeHeld {
    fn check(&self) -> Result<i32, LatencyError> {
        self.lose.clone().map_or(Ok(0), Err)
    }
}

impl Drop for FakeHeld {
    fn drop(&mut self) {
        self.in_force.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_request_is_written_read_back_and_noticed_when_overridden() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("dev")).unwrap();
        let device = folder.path().join("dev/cpu_dma_latency");
        fs::write(&device, 2_000_000_000_i32.to_ne_bytes()).unwrap();
        let held = DmaLatency::hold_in(&Source::below(folder.path())).unwrap();
        assert_eq!(fs::read(&device).unwrap(), [0; 4]);
        assert_eq!(held.check(), Ok(0));
        fs::write(&device, 7_i32.to_ne_bytes()).unwrap();
        assert_eq!(
            held.check().unwrap_err().to_string(),
            "`/dev/cpu_dma_latency`: wrote 0, read back 7; the kernel or another program \
             overrides it"
        );
    }

    #[test]
    fn a_device_that_is_not_there_says_what_provides_it() {
        let folder = tempfile::tempdir().unwrap();
        let error = DmaLatency::hold_in(&Source::below(folder.path())).unwrap_err();
        assert!(matches!(&error, LatencyError::Absent { .. }), "{error}");
        assert!(error.to_string().contains("CONFIG_CPU_IDLE"), "{error}");
    }

    #[test]
    fn the_fake_counts_what_is_held_and_fails_where_told_to() {
        let mut fake = FakeLatency::default();
        let held = fake.hold().unwrap();
        assert_eq!((fake.in_force(), held.check()), (1, Ok(0)));
        drop(held);
        assert_eq!(fake.in_force(), 0);
        let lost = LatencyError::NotEffective { path: DEVICE.to_owned(), written: 0, found: 5 };
        fake.lose = Some(lost.clone());
        assert_eq!(fake.hold().unwrap().check(), Err(lost.clone()));
        fake.refuse = Some(lost.clone());
        assert_eq!(fake.hold().unwrap_err(), lost);
    }

    #[test]
    fn this_machine_grants_it_or_says_why_not() {
        match DmaLatency::hold() {
            Ok(held) => assert_eq!(held.check(), Ok(0)),
            Err(error) => {
                quietcore_skip::record(
                    "this_machine_grants_it_or_says_why_not",
                    &error.to_string(),
                );
            }
        }
    }
}
