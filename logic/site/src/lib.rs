//! The site file: parsed, checked with all errors at once, and turned into a plan.
//!
//! ```text
//! bytes ──► text ──► TOML tree ──► RawSite ──► Site ──────────► Plan
//!        limits   syntax      shape,       meaning    what this
//!                             by schema               machine can do
//! ```
//!
//! - [`read`] takes the bytes of a site file and returns a [`Site`], or every [`Problem`] in it
//!   with file, line, column and key.
//! - [`plan()`] decides for a [`Machine`] what would be done, step by step, before anything is
//!   touched, or says all that stands against it.
//! - [`export()`] writes the files by which systemd, Podman and Kubernetes run a site, and
//!   domains of libvirt for its guests.
//! - A [`Backend`] declares what it can and needs, and everything asks that.
//! - [`init`] writes a site file that fits a machine; [`schema`] and [`reference()`] describe the
//!   notation for editors and for people.
//!
//! The crate is pure: no I/O, no clock, no thread. Bounds: a file has at most [`SITE_BYTES_MAX`]
//! bytes, 256 partitions, 1024 channels, 256 classes and 64 profiles of its own, and
//! [`PROBLEMS_MAX`] problems are listed.

#![forbid(unsafe_code)]

mod backend;
mod check;
mod export;
mod init;
mod machine;
mod plan;
mod problem;
mod raw;
mod read;
mod reading;
mod reference;
mod site;
mod variant;
mod words;

pub use backend::{
    Backend, BackendDeclaration, GUEST_MEMORY_DEFAULT, HostRequirement, MemoryForm, ProgramForm,
};
pub use export::{
    ExportError, ExportKind, ExportMachine, ExportPaths, ExportedFile, NoDomain, export,
};
pub use init::{
    Example, FoundModel, FoundPeriod, FoundVariable, Model, ModelFile, SCHEMA_LINE, UnknownExample,
    init, init_found,
};
pub use machine::{CacheWays, Machine, Obstacle, PageColoursError};
pub use plan::{
    Degradation, LeftOut, Monitored, Plan, Refusal, Step, TaskStart, Turns, plan, plan_run,
    plan_turns, turns,
};
pub use problem::{KeyPosition, PROBLEMS_MAX, Problem, Problems, Remark};
pub use raw::Policy;
pub use read::read;
pub use reading::SITE_BYTES_MAX;
pub use reading::schema::schema;
pub use reference::reference;
pub use site::{
    Accelerator, CAMPAIGN_MAX, CYCLES_MAX, Cache, Campaign, Channel, ChannelEnd, ContainerRuntime,
    Control, Criticality, DURATION_MAX, DURATION_MIN, Device, DeviceIdentity, DiskDevices,
    DiskGuest, Entry, Fault, FaultEffect, FaultKind, Fieldbus, Firmware, GivenCard, GuestSystem,
    Initial, Interface, Length, Literal, Load, LoadKind, LoadPlace, Mapping, Monitor,
    NEIGHBOUR_WORKERS_MAX, NEIGHBOURS_MAX, NeighbourForm, NeighbourPlaces, Neighbours, Network,
    OWN_MEMORY, OverrideError, Partition, PlantKind, PlantOnLine, ProbeName, Profile, Program,
    ProgramKind, RESTART_LIMIT_DEFAULT, RESTART_QUIET, RESTART_WAIT_DEFAULT, RESTART_WAIT_MAX,
    Reaction, Release, Restart, SHED_PERIOD_MIN, Scheduling, Shedding, Signal, SignalKind, Site,
    Startup, SubDevice, Substitute, Task, Traffic, UnknownLoadKind, Vcr, WATCHDOG_FREEWHEELING,
    WORKERS_MAX, Wire, real_time_share,
};
pub use variant::{BackendChange, with_accelerator};
