//! The probes that are started by hand, some of which a site's campaign can name too: one module
//! each, all of the same shape.
//!
//! | module | what |
//! |---|---|
//! | [`ethercat`] | round trips of frames |
//! | [`exec`] | programs of a site in their scan cycles |
//! | [`guest_latency`] | releases in a guest |
//! | [`irq`] | interrupts in a guest |
//! | [`latency`] | releases in a process or a container |
//! | [`memory`] | accesses to memory, alone and beside neighbours |
//! | [`osek`] | routines of the OSEK kernel, in a process or in a guest |
//! | `circumstances` | conditions and validity, for all of them |
//! | `guest` | the common part of the records of guests |
//! | `planned` | the probes of a site's campaign, measured under its settings |
//!
//! `of_partition` lists those that a campaign can name.
//!
//! ```text
//! checked request ─► Probe ─► prepare ─► measure ─► Record …
//!                                  loads, neighbours, progress, stop
//! ```
//!
//! Releases of a site's partitions are measured by [`measure`](crate::measure()), in a campaign
//! and by `latency` and `exec`.

mod circumstances;
pub mod ethercat;
pub mod exec;
mod guest;
pub mod guest_latency;
pub mod irq;
pub mod latency;
pub mod memory;
pub mod osek;
mod planned;

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};

use quietcore_backend::measuring::MeasuringError;
use quietcore_backend::process::Room;
use quietcore_backend::setting::BackendSetting;
use quietcore_host::Facts;
use quietcore_load::{LoadError, LoadRequest};
use quietcore_probe::guest::ProbeError as GuestError;
use quietcore_record::class::Class;
use quietcore_record::record::Record;
use quietcore_settings::ResctrlError;
use quietcore_site::{Backend, Partition, ProbeName, Site};
use quietcore_units::{CpuSet, Nanos};

use crate::measure::{Machine, MeasureError};
use crate::observer::Observer;
use crate::run::Run;

pub use planned::{PlannedProbe, probes};

/// The probability that measurements by hand are judged with; a campaign chooses its own.
pub const EXCEEDANCE: f64 = 1e-6;

/// The profiles of tasks that are kept on their CPUs, and of those that may move.
const PINNING: [&str; 2] = ["pinned", "unpinned"];

/// One kind of measurement, made from a checked request.
pub trait Probe {
    /// Returns its name, as the command line, site files and records have it.
    fn name(&self) -> &'static str;

    /// Returns the title of a measurement by hand in its evidence.
    fn title(&self) -> String {
        format!("probe {}", self.name())
    }

    /// Returns the partitions of its records, each with the CPUs that it is pinned to.
    fn pinned(&self) -> Vec<(&str, CpuSet)>;

    /// Returns the setting of the process in which it measures, or of its guest; those of its runs
    /// have their own.
    fn setting(&self) -> BackendSetting {
        BackendSetting::default()
    }

    /// Returns the runs by which it measures; empty where it measures in another way.
    fn runs(&self) -> &[Run] {
        &[]
    }

    /// Returns the run that has its neighbours, where these are partitions; no other partition is
    /// in it.
    fn beside(&self) -> Option<Run> {
        None
    }

    /// Returns the profiles of its records in their order, each with a description.
    fn profiles(&self, records: &[Record]) -> Vec<(String, String)>;

    /// Lists what this machine does not offer, and so is not measured.
    fn limits(&self) -> Vec<String> {
        Vec::new()
    }

    /// Returns what its records are judged by.
    fn terms(&self) -> ProbeTerms {
        ProbeTerms::default()
    }

    /// Returns `true` if its records pass what it looks for in them itself.
    fn is_passed(&self, _records: &[Record]) -> bool {
        true
    }

    /// Starts what may be refused, and measures what the length depends on, before anything of the
    /// evidence is written.
    ///
    /// # Errors
    /// Returns [`ProbeError`] when there is nothing to measure with.
    fn prepare(&mut self, _context: &mut ProbeContext<'_>) -> Result<(), ProbeError> {
        Ok(())
    }

    /// Measures until it has ended or is told to stop. Everything that it started has ended when it
    /// returns.
    ///
    /// # Errors
    /// Returns [`ProbeError`] when there is nothing to make a record of.
    fn measure(&mut self, context: &mut ProbeContext<'_>) -> Result<Vec<Record>, ProbeError>;
}

/// The terms by which records of a probe are judged that is started by hand.
#[derive(Clone, Debug)]
pub struct ProbeTerms {
    /// SHA-256 of the site file; empty without one.
    pub site_sha256: String,
    /// The classes that judge its records; none of what is no release.
    pub classes: Vec<Class>,
    /// The probability that they are judged with.
    pub exceedance: f64,
    /// The class that each partition is held to; empty without a site file.
    pub declared: BTreeMap<String, String>,
}

impl Default for ProbeTerms {
    fn default() -> Self {
        Self {
            site_sha256: String::new(),
            classes: Vec::new(),
            exceedance: EXCEEDANCE,
            declared: BTreeMap::new(),
        }
    }
}

/// The surroundings of a measurement: machine, room, observer, and the flag that ends it.
pub struct ProbeContext<'a> {
    /// The common part of all measurements on this machine.
    pub machine: &'a Machine<'a>,
    /// The room in which the processes of its partition are started.
    pub room: Room,
    /// The observer that is told the progress.
    pub observer: &'a mut dyn Observer,
    /// Set when the measurement shall end.
    pub stop: &'a AtomicBool,
}

impl ProbeContext<'_> {
    /// Returns `true` once it shall end.
    pub fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }
}

/// The reasons why a probe measured nothing.
#[derive(Debug, thiserror::Error)]
pub enum ProbeError {
    /// A run of partitions yielded nothing.
    #[error(transparent)]
    Run(Box<MeasureError>),
    /// Loads or neighbours could not be brought up or ended.
    #[error(transparent)]
    Load(#[from] LoadError),
    /// The process that measures could not be had, or measured nothing.
    #[error(transparent)]
    Measuring(#[from] MeasuringError),
    /// The partition could not have ways of the cache of its own.
    #[error(transparent)]
    Ways(#[from] ResctrlError),
    /// The values that a guest left can't be used.
    #[error(transparent)]
    Guest(#[from] GuestError),
    /// The statistics or the answer that a partition left are no measurement.
    #[error("{0}")]
    Unreadable(String),
    /// It was told to stop before it had measured anything.
    #[error("stopped before anything was measured")]
    Stopped,
}

impl From<MeasureError> for ProbeError {
    fn from(error: MeasureError) -> Self {
        match error {
            MeasureError::Probe(error) => error,
            error => Self::Run(Box::new(error)),
        }
    }
}

/// A partition of a site that a probe measures.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Probed<'a> {
    /// The partition, of this site.
    pub(crate) partition: &'a Partition,
    pub(crate) site: &'a Site,
    pub(crate) facts: &'a Facts,
    /// The backend in which the probe measures, which may be another one than the partition's.
    pub(crate) backend: Backend,
    /// About the time for which it measures.
    pub(crate) length: Nanos,
    /// The loads beside it, which `memory` has of its own.
    pub(crate) loads: &'a [LoadRequest],
}

/// Makes the probe of a partition. This is the list of the probes that a site file can name.
fn of_partition(name: ProbeName, probed: &Probed<'_>) -> Box<dyn Probe> {
    match name {
        ProbeName::Memory => Box::new(memory::Memory::of_partition(probed)),
        ProbeName::Osek => Box::new(osek::Osek::of_partition(probed)),
        ProbeName::Irq => Box::new(irq::Irq::of_partition(probed)),
        ProbeName::Ethercat => Box::new(ethercat::Ethercat::of_partition(probed)),
    }
}

/// Returns the profiles of records that differ in whether the tasks may move.
fn profiles_of_pinning() -> Vec<(String, String)> {
    PINNING.map(|name| (name.to_owned(), String::new())).into()
}

/// Returns the records unless nothing was measured in any of them.
fn some_measured(
    records: Vec<Record>,
    context: &ProbeContext<'_>,
) -> Result<Vec<Record>, ProbeError> {
    if records.iter().any(|record| record.release.count() > 0) {
        return Ok(records);
    }
    Err(if context.is_stopped() { ProbeError::Stopped } else { MeasureError::Empty.into() })
}
