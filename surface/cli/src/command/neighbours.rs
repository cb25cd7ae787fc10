//! The kinds of neighbours of an experiment or a probe: those that this machine can run.

use std::path::PathBuf;

use quietcore_backend::neighbour::NeighbourKind;
use quietcore_host::Facts;
use quietcore_site::{Accelerator, ContainerRuntime, NeighbourForm, Obstacle};
use quietcore_units::Causes;

/// The kinds of neighbours that are asked for, and what those need that aren't processes.
pub(super) struct Wanted<'a> {
    pub(super) forms: &'a [NeighbourForm],
    /// Folder with the image of Linux guests.
    pub(super) image: Option<PathBuf>,
    /// The way in which these run their instructions.
    pub(super) accelerator: Accelerator,
    /// The runtime of containers; `None` leaves the choice to the machine.
    pub(super) runtime: Option<ContainerRuntime>,
}

impl Wanted<'_> {
    /// Returns the kinds that this machine can run, each once, and the limits: why it can't run the
    /// others, and what is emulated. Starts nothing.
    pub(super) fn found(&self, facts: &Facts) -> (Vec<NeighbourKind>, Vec<String>) {
        let (mut kinds, mut limits) = (Vec::new(), Vec::new());
        for (index, form) in self.forms.iter().enumerate() {
            if self.forms[..index].contains(form) {
                continue;
            }
            let backend = form.backend();
            match self.kind(*form, facts) {
                Ok(kind) => {
                    limits.extend(self.is_emulated(*form).then(|| {
                        format!(
                            "neighbours of the backend `{backend}` are emulated: they use their \
                             CPUs as fully as others, and less of their load gets done"
                        )
                    }));
                    kinds.push(kind);
                }
                Err(why) => limits
                    .push(format!("neighbours of the backend `{backend}` are left out: {why}")),
            }
        }
        (kinds, limits)
    }

    fn is_emulated(&self, form: NeighbourForm) -> bool {
        form == NeighbourForm::LinuxGuest && self.accelerator == Accelerator::Tcg
    }

    fn kind(&self, form: NeighbourForm, facts: &Facts) -> Result<NeighbourKind, String> {
        let machine = facts.machine();
        let found = form.check(self.accelerator, self.runtime, &machine);
        found.map_err(|Obstacle { what, remedy }| {
            let can_emulate = form.check(Accelerator::Tcg, None, &machine).is_ok();
            let by_qemu = form == NeighbourForm::LinuxGuest && can_emulate;
            let emulate = if by_qemu { ", or give --neighbour-accelerator tcg" } else { "" };
            format!("{what}; {remedy}{emulate}")
        })?;
        if form == NeighbourForm::LinuxGuest && self.image.is_none() {
            return Err(
                "no image for Linux guests is named; give --neighbour-image FOLDER, which \
                        `quietcore guest build --out FOLDER` makes"
                    .to_owned(),
            );
        }
        let kind = NeighbourKind::new(form, self.accelerator, self.image.as_deref());
        kind.map_err(|error| Causes(&error).to_string())
    }
}
