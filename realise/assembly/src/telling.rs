//! Events of a partition in words, with the names that the program gives to places.

use quietcore_control::Severity;
use quietcore_exchange::{Happening, ShortText};
use quietcore_osek::names;
use quietcore_osek::status::Status;
use quietcore_program::{CodeLocation, symbolise};
use quietcore_record::record::KernelErrors;
use quietcore_units::Nanos;
use rustix::process::Signal;

use crate::{Staged, al_status};

/// An event for people.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EventMessage {
    /// Its kind, in a word.
    pub kind: &'static str,
    /// The weight of the event.
    pub severity: Severity,
    /// The event as a sentence.
    pub text: String,
}

/// Tells an event of task `task`.
pub fn tell(what: &Happening, task: &str, staged: &Staged) -> EventMessage {
    use Severity::{Fault, Information, Warning};
    let (kind, severity, text) = match *what {
        Happening::Overrun { response_ns, in_a_row } => (
            "overrun",
            Warning,
            format!(
                "task `{task}` took {} from its release, beyond its deadline, {in_a_row} in a row",
                Nanos::new(response_ns)
            ),
        ),
        Happening::WatchdogHit { elapsed_ns, during } => (
            "watchdog-hit",
            Warning,
            format!(
                "a cycle of task `{task}` took {}, beyond its watchdog time{}",
                Nanos::new(elapsed_ns),
                under_way(staged, during)
            ),
        ),
        Happening::WatchdogExpired { cycles, elapsed_ns, during } => (
            "watchdog",
            Fault,
            format!(
                "the watchdog of task `{task}` expired: {} {}{}",
                too_long(cycles),
                Nanos::new(elapsed_ns),
                under_way(staged, during)
            ),
        ),
        Happening::StoppedByOverrun { response_ns } => (
            "overrun-stop",
            Fault,
            format!(
                "task `{task}` was not done at its next release, after {}",
                Nanos::new(response_ns)
            ),
        ),
        Happening::Fault { signal, address, instruction, in_library, overflowed } => (
            "crash",
            Fault,
            format!(
                "the program crashed in task `{task}`: {}{} {}{}",
                overflow(staged, overflowed),
                signal_name(signal),
                location(Some(staged), instruction, in_library),
                accessed(signal, address)
            ),
        ),
        Happening::Looped { instruction, in_library } => (
            "loop",
            Fault,
            format!(
                "a step of task `{task}` did not return: it was {}",
                location(Some(staged), instruction, in_library)
            ),
        ),
        Happening::ModelError { status } => ("model-error", Fault, model_error(staged, &status)),
        Happening::SwapWaits { generation } => {
            let text = format!("build {generation} waits for a job of task `{task}` to end");
            ("swap-waits", Information, text)
        }
        Happening::KernelError { task: by, status, service } => {
            let task = by.map(|_| task);
            ("kernel-error", Warning, kernel_error(task, status, service))
        }
        _ => return tell_initialize(what, staged),
    };
    EventMessage { kind, severity, text }
}

/// Tells a fault in the `initialize` of a build, placed in the source if `staged` is that build;
/// and what is no fault of the program.
fn tell_initialize(what: &Happening, staged: &Staged) -> EventMessage {
    let own = |generation| (staged.stage.generation == generation).then_some(staged);
    let (kind, text) = match *what {
        Happening::InitializeCrashed { generation, signal, address, instruction, in_library } => (
            "crash",
            format!(
                "`initialize` of build {generation} crashed: {} {}{}",
                signal_name(signal),
                location(own(generation), instruction, in_library),
                accessed(signal, address)
            ),
        ),
        Happening::InitializeLooped { generation, limit_ns, instruction, in_library } => (
            "loop",
            format!(
                "`initialize` of build {generation} did not return within {}: it was {}",
                Nanos::new(limit_ns),
                location(own(generation), instruction, in_library)
            ),
        ),
        _ => return tell_rest(what, staged),
    };
    EventMessage { kind, severity: Severity::Fault, text }
}

/// Describes the error status of a model.
fn model_error(staged: &Staged, status: &ShortText) -> String {
    let model = &staged.build.interface.model;
    if status.is_empty() {
        return format!("the model `{model}` has set its error status, which is empty");
    }
    format!("the model `{model}` has set its error status: {status}")
}

/// Whose stack overflowed, in front of the rest; empty where none did.
fn overflow(staged: &Staged, task: Option<u32>) -> String {
    let kernel = staged.build.interface.kernel.as_ref();
    let name = kernel.zip(task).and_then(|(kernel, task)| kernel.tasks.get(task as usize));
    match (name, task) {
        (Some(name), _) => format!("the stack of task `{name}` overflowed, "),
        (None, Some(task)) => format!("the stack of task {task} overflowed, "),
        (None, None) => String::new(),
    }
}

/// Begins to say how long cycles of a task took, so many in a row.
fn too_long(cycles: u64) -> String {
    match cycles {
        1 => "a cycle took".to_owned(),
        cycles => format!("{cycles} cycles in a row, the last took"),
    }
}

/// Which task of a kernel was under way at the end of a cycle, behind the rest; empty where none.
fn under_way(staged: &Staged, number: Option<u32>) -> String {
    let kernel = staged.build.interface.kernel.as_ref();
    // They stand behind the one task that drives them.
    let own = number.and_then(|number| usize::try_from(number).ok()?.checked_sub(1));
    let name = kernel.zip(own).and_then(|(kernel, own)| kernel.tasks.get(own));
    name.map(|name| format!("; task `{name}` was under way")).unwrap_or_default()
}

/// Describes one error of a kernel in the words of the standard. Numbers that are not known are
/// told as such.
pub fn kernel_errors(task: Option<&str>, status: u8, service: u8) -> KernelErrors {
    const LOST: [Status; 3] = [Status::Limit, Status::ProtectionTime, Status::ProtectionArrival];
    let name = names::of_status(status);
    KernelErrors {
        task: task.map(str::to_owned),
        status: name.map_or_else(|| format!("status {status}"), str::to_owned),
        service: match (names::of_service(service), service) {
            (Some(name), _) => Some(name.to_owned()),
            (None, 0) => None,
            (None, number) => Some(format!("service {number}")),
        },
        is_lost_work: LOST.iter().any(|lost| *lost as u8 == status),
        count: 1,
    }
}

/// Returns `true` if a kernel tells no error, but that it was shut down.
pub fn is_shut_down(service: u8) -> bool {
    names::of_service(service) == Some("ShutdownOS")
}

/// Describes an error of an OSEK program's kernel.
fn kernel_error(task: Option<&str>, status: u8, service: u8) -> String {
    if is_shut_down(service) {
        let by = task.map_or("the program".to_owned(), |task| format!("task `{task}`"));
        return format!("{by} shut the kernel down with status {status}");
    }
    let KernelErrors { status: what, service, .. } = kernel_errors(task, status, service);
    let service = service.map(|service| format!(" in {service}")).unwrap_or_default();
    let place = task.map_or("outside of any task".to_owned(), |task| format!("task `{task}`"));
    let meaning = names::meaning_of_status(status);
    let meaning = meaning.map(|meaning| format!(": {meaning}")).unwrap_or_default();
    format!("{place}: {what}{service}{meaning}")
}

/// Tells what is no fault of the program.
fn tell_rest(what: &Happening, staged: &Staged) -> EventMessage {
    use Severity::{Fault, Information, Warning};
    let name = |offset: u32| {
        staged.build.symbols.name_at(offset).unwrap_or_else(|| format!("the data at {offset}"))
    };
    let (kind, severity, text) = match *what {
        Happening::Started => ("started", Information, "the first cycle is about to come".into()),
        Happening::Paused => {
            ("paused", Information, "no cycle is run until `quietcore resume`".into())
        }
        Happening::Resumed { pause_ns } => {
            let text = format!("cycles are run again, after a pause of {}", Nanos::new(pause_ns));
            ("resumed", Information, text)
        }
        Happening::ForceApplied { target, .. } => {
            ("force", Information, format!("`{}` is held by force", name(target.offset)))
        }
        Happening::ForceReleased { target } => {
            ("unforce", Information, format!("`{}` is let go", name(target.offset)))
        }
        Happening::ForcesReleased { count } => {
            ("unforce", Information, format!("all forced variables are let go, {count} of them"))
        }
        Happening::Staged { .. } => ("staged", Information, what.to_string()),
        Happening::StageRefused { .. } => ("stage-refused", Warning, what.to_string()),
        Happening::Swapped { .. } => ("swapped", Information, what.to_string()),
        Happening::Reverted { .. } => ("reverted", Fault, what.to_string()),
        Happening::CommandRejected { .. } => ("command-rejected", Warning, what.to_string()),
        Happening::FieldbusLost { .. } => ("fieldbus-lost", Fault, what.to_string()),
        Happening::FieldbusRecovered { outage_ns } => (
            "fieldbus-recovered",
            Information,
            format!("the fieldbus answers again after {}", Nanos::new(outage_ns)),
        ),
        Happening::WorkingCounter { .. } => ("working-counter", Warning, what.to_string()),
        Happening::AlState { subdevice, state, code } => {
            ("al-state", Warning, al_status::state(subdevice, state, code))
        }
        Happening::SubDeviceAbsent { .. } => ("subdevice-lost", Warning, what.to_string()),
        Happening::SubDeviceForeign { .. } => ("subdevice-foreign", Warning, what.to_string()),
        Happening::SubDeviceRecovered { .. } => {
            ("subdevice-recovered", Information, what.to_string())
        }
        Happening::SubDeviceNotRecovered { subdevice, wanted, code } => {
            let text = al_status::not_reached(subdevice, wanted, code);
            ("subdevice-not-recovered", Warning, text)
        }
        Happening::ErrorCounters { .. } => ("error-counters", Information, what.to_string()),
        Happening::Emergency { .. } => ("emergency", Warning, what.to_string()),
        _ => ("other", Information, what.to_string()),
    };
    EventMessage { kind, severity, text }
}

/// Describes the position of an instruction in the words of the source; as a number where the build
/// is not at hand.
fn location(staged: Option<&Staged>, instruction: u64, in_library: bool) -> String {
    const IN_LIBRARY: &str = "inside of a library that it called";
    let found = staged.and_then(|staged| symbolise(&staged.build.module, instruction));
    match found.map(in_source) {
        Some(place) if in_library => format!("{IN_LIBRARY} {place}"),
        Some(place) => place,
        None if in_library => IN_LIBRARY.to_owned(),
        None => format!("at {instruction:#x}"),
    }
}

/// Describes a position in the source, behind what happened there.
fn in_source(found: CodeLocation) -> String {
    let place = match (found.file, found.line) {
        (Some(file), Some(line)) => format!(" ({file}:{line})"),
        (Some(file), None) => format!(" ({file})"),
        _ => String::new(),
    };
    format!("in {}{place}", function(&found.function))
}

/// A function as its program writes it: those of an OSEK program are `TASK(x)` and the like.
fn function(name: &str) -> String {
    let of_kernel = [("task", "TASK"), ("isr", "ISR"), ("callback", "ALARMCALLBACK")];
    let written = of_kernel.iter().find_map(|(kind, written)| {
        let object = name.strip_prefix("quietcore_osek_")?.strip_prefix(kind)?.strip_prefix('_')?;
        Some(format!("`{written}({object})`"))
    });
    written.unwrap_or_else(|| format!("`{name}`"))
}

/// The name of a signal that a program may die of.
/// The address that was accessed. Of other signals what stands in its place is the instruction, or
/// who sent it.
fn accessed(signal: u32, address: u64) -> String {
    match named(signal) {
        Some(Signal::SEGV | Signal::BUS) => format!(", at address {address:#x}"),
        _ => String::new(),
    }
}

fn named(signal: u32) -> Option<Signal> {
    i32::try_from(signal).ok().and_then(Signal::from_named_raw)
}

fn signal_name(signal: u32) -> String {
    match named(signal) {
        Some(Signal::SEGV) => "SIGSEGV".to_owned(),
        Some(Signal::BUS) => "SIGBUS".to_owned(),
        Some(Signal::FPE) => "SIGFPE".to_owned(),
        Some(Signal::ILL) => "SIGILL".to_owned(),
        Some(Signal::ABORT) => "SIGABRT".to_owned(),
        Some(Signal::TRAP) => "SIGTRAP".to_owned(),
        _ => format!("signal {signal}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_of_a_kernel_names_task_status_and_service() {
        assert_eq!(
            kernel_error(Some("Supervise"), 4, 1),
            "task `Supervise`: E_OS_LIMIT in ActivateTask: too many activations"
        );
        assert_eq!(
            kernel_error(None, 12, 0),
            "outside of any task: E_OS_STACKFAULT: the task's stack overflowed"
        );
        assert_eq!(kernel_error(None, 77, 99), "outside of any task: status 77 in service 99");
    }

    #[test]
    fn an_address_is_told_where_one_was_accessed() {
        assert_eq!(accessed(11, 8), ", at address 0x8");
        assert_eq!(accessed(11, 0), ", at address 0x0");
        assert_eq!(accessed(7, 0x1000), ", at address 0x1000");
        // SIGABRT has its sender there, SIGFPE the instruction, which is told already.
        assert_eq!([6, 8, 77].map(|signal| accessed(signal, 12)), [""; 3]);
    }

    #[test]
    fn functions_of_an_osek_program_are_named_as_it_writes_them() {
        assert_eq!(function("quietcore_osek_task_Drive"), "`TASK(Drive)`");
        assert_eq!(function("quietcore_osek_callback_a_b"), "`ALARMCALLBACK(a_b)`");
        assert_eq!(function("quietcore_osek_step"), "`quietcore_osek_step`");
        assert_eq!(function("moveBelt"), "`moveBelt`");
    }
}
