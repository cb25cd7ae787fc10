//! Backends by their own words: those that probes run in, those of neighbours, and all of them.

use std::fmt;
use std::path::PathBuf;
use std::sync::LazyLock;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueEnum};
use quietcore_site::{Accelerator, Backend, BackendDeclaration, NeighbourForm, ProgramForm};

use super::choice::{Choice, one_of};
use super::experiment::ACCELERATORS;

/// Backends that realise neighbours, which run loads.
pub(super) const NEIGHBOURS: &[Choice<NeighbourForm>] = &[
    ("process", NeighbourForm::Process, "Processes of the host"),
    ("container", NeighbourForm::Container, "A container"),
    ("qemu", NeighbourForm::LinuxGuest, "A Linux guest of QEMU"),
];

/// Options for neighbours that are Linux guests.
#[derive(Clone, Debug, Args)]
pub(crate) struct NeighbourGuests {
    /// Folder with the image of neighbours that are Linux guests; `quietcore guest build --out
    /// FOLDER` makes one
    #[arg(long, value_name = "FOLDER")]
    pub(crate) neighbour_image: Option<PathBuf>,
    /// Run the instructions of these guests in this way. An emulated one is slower at its load,
    /// and disturbs all the same
    #[arg(long, value_name = "WORD", value_parser = one_of(ACCELERATORS))]
    pub(crate) neighbour_accelerator: Option<Accelerator>,
}

/// A backend that the probe `latency` runs in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct ProbeBackend(Backend);

static ALL: LazyLock<Vec<ProbeBackend>> = LazyLock::new(|| {
    let probed = |backend: &Backend| backend.declaration().is_probed_by_hand;
    Backend::ALL.into_iter().filter(probed).map(ProbeBackend).collect()
});

impl ProbeBackend {
    fn declaration(self) -> &'static BackendDeclaration {
        self.0.declaration()
    }

    /// Returns `true` if the probe is an image for a guest.
    pub(crate) fn has_image(self) -> bool {
        self.declaration().program == ProgramForm::GuestImage
    }

    /// Returns `true` if the probe may spin from one release to the next.
    pub(crate) fn may_spin(self) -> bool {
        self.declaration().may_spin
    }
}

impl From<ProbeBackend> for Backend {
    fn from(backend: ProbeBackend) -> Self {
        backend.0
    }
}

impl ValueEnum for ProbeBackend {
    fn value_variants<'a>() -> &'a [Self] {
        &ALL
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        let BackendDeclaration { word, title, .. } = self.declaration();
        Some(PossibleValue::new(*word).help(*title))
    }
}

impl fmt::Display for ProbeBackend {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Takes the word of any backend.
pub(super) fn any_backend() -> impl TypedValueParser<Value = Backend> {
    backends_where(|_| true)
}

/// Takes the word of a backend in which the routines of our OSEK kernel are measured.
pub(super) fn backend_of_routines() -> impl TypedValueParser<Value = Backend> {
    backends_where(|it| it.measures_routines)
}

/// Takes the word of a backend in whose guests interrupts are measured: one with our OSEK kernel,
/// on a bare machine that the host can interrupt.
pub(super) fn backend_of_interrupts() -> impl TypedValueParser<Value = Backend> {
    backends_where(|it| it.measures_interrupts)
}

fn backends_where(
    wanted: fn(&BackendDeclaration) -> bool,
) -> impl TypedValueParser<Value = Backend> {
    let declarations = Backend::ALL.into_iter().map(Backend::declaration);
    let words = declarations.filter(|it| wanted(it)).map(|it| {
        let BackendDeclaration { word, title, .. } = it;
        PossibleValue::new(*word).help(*title)
    });
    PossibleValuesParser::new(words)
        .map(|given| Backend::by_name(&given).expect("no other word comes so far"))
}
