//! The backend of a probe that measures in a process or in a guest of ours.

use quietcore_site::{Accelerator, Backend, Machine, Obstacle, ProgramForm};

/// Returns `true` if our kernel runs in a guest of this backend.
pub(super) fn is_in_guest(backend: Backend) -> bool {
    backend.declaration().program == ProgramForm::GuestImage
}

/// Returns the accelerator of a request, and adds to `problems` what keeps this machine from
/// measuring in the backend that is asked for.
pub(super) fn accelerator_of(
    backend: Backend,
    accelerator: Option<Accelerator>,
    machine: &Machine,
    problems: &mut Vec<String>,
) -> Accelerator {
    if accelerator.is_some() && !backend.declaration().has_guest_choice {
        let having = Backend::words_where(|it| it.has_guest_choice).join(" or ");
        problems.push(format!(
            "--accelerator: the backend `{backend}` leaves no choice; leave it out, or choose \
             --backend {having}"
        ));
    }
    let accelerator = accelerator.unwrap_or_default();
    // Our own monitor says itself what it lacks; what it measures where KVM interprets is marked.
    if backend != Backend::OF_PROBES_IN_GUESTS
        && let Err(Obstacle { what, remedy }) = backend.check(accelerator, machine)
    {
        problems.push(format!("--backend {backend}: {what}; {remedy}"));
    }
    accelerator
}
