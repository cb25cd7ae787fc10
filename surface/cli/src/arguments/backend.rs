//! Backends by their own words: those that a probe runs in, and all of them.

use std::fmt;
use std::sync::LazyLock;

use clap::ValueEnum;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use quietcore_site::{Backend, BackendDeclaration, ProgramForm};

/// A backend that a probe runs in.
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

    /// Returns `true` if its process is started by a container runtime.
    pub(crate) fn is_container(self) -> bool {
        self.declaration().in_container()
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
    let words = Backend::ALL.map(|backend| {
        let BackendDeclaration { word, title, .. } = backend.declaration();
        PossibleValue::new(*word).help(*title)
    });
    PossibleValuesParser::new(words)
        .map(|given| Backend::by_name(&given).expect("no other word comes so far"))
}
