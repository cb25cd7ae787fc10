//! Plays a case: starts the kernel, prepares, makes the call from its call level, looks.
// UNSAFETY: makes the system.
#![expect(unsafe_code, reason = "who makes a system promises who uses it")]

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};

use quietcore_osek::configuration::{Checking, Class};
use quietcore_osek::kernel::CallLevel;
use quietcore_osek::port::hosted::Hosted;
use quietcore_osek::port::hosted::alone::start;
use quietcore_osek::status::{Service, Status};
use quietcore_osek::system::System;

use crate::statuses::interrupts::END;
use crate::world::{
    ACTOR, CALLING_ALARM, COUNTER, EXTENDED_ACTOR, HIGHER, ISR_SOURCE, LOWER, NOTHING,
    configuration,
};

/// The kernel under test.
// SAFETY: the cases call its services, and its machine's `raise` and `trigger`.
pub(crate) static SYSTEM: System<Hosted> = unsafe { System::new(Hosted::new()) };

/// The application mode of all cases.
pub(crate) const MODE: u8 = 1;

/// The answer of a call.
pub(crate) type Answer = Result<(), Status>;

/// The parts of a service's call in a case.
#[derive(Clone, Copy)]
pub(crate) struct Scene {
    /// Brings the kernel into the state that the case needs. Runs in the actor, before the call.
    pub(crate) prepare: fn() -> Answer,
    /// Makes the call under test.
    pub(crate) call: fn() -> Answer,
    /// Checks what must hold after it; an error says what does not. Runs in the actor.
    pub(crate) look: fn() -> Result<(), &'static str>,
    /// `true` if the call ends the actor when it succeeds; `look` runs in a hook then.
    pub(crate) ends: bool,
    /// `true` if the actor has to be an extended task.
    pub(crate) extended: bool,
}

/// Prepares nothing, which always succeeds.
pub(crate) fn nothing() -> Answer {
    Ok(())
}

/// Nothing to look at.
pub(crate) fn fine() -> Result<(), &'static str> {
    Ok(())
}

impl Scene {
    /// A call without more.
    pub(crate) const fn of(call: fn() -> Answer) -> Self {
        Self { prepare: nothing, call, look: fine, ends: false, extended: false }
    }
}

/// A case of the conformance test.
#[derive(Clone, Copy)]
pub(crate) struct Case {
    pub(crate) service: Service,
    /// The reason for the answer, as part of the name.
    pub(crate) when: &'static str,
    pub(crate) place: CallLevel,
    pub(crate) class: Class,
    pub(crate) checking: Checking,
    /// The status it must answer; none for `E_OK`.
    pub(crate) status: Option<Status>,
    pub(crate) scene: Scene,
}

impl Case {
    /// Its name, which says all of it.
    pub(crate) fn name(&self) -> String {
        let status = self.status.map_or("E_OK", status_name);
        let Self { service, when, place, class, checking, .. } = self;
        format!("{class:?}::{checking:?}::{service:?}::{place:?}::{status}::{when}")
    }
}

/// A status as the standard writes it.
pub(crate) fn status_name(status: Status) -> &'static str {
    match status {
        Status::Access => "E_OS_ACCESS",
        Status::CallLevel => "E_OS_CALLEVEL",
        Status::Id => "E_OS_ID",
        Status::Limit => "E_OS_LIMIT",
        Status::NoFunction => "E_OS_NOFUNC",
        Status::Resource => "E_OS_RESOURCE",
        Status::State => "E_OS_STATE",
        Status::Value => "E_OS_VALUE",
        Status::Service => "E_OS_SERVICEID",
        Status::DisabledInterrupts => "E_OS_DISABLEDINT",
        Status::MissingEnd => "E_OS_MISSINGEND",
        Status::StackFault => "E_OS_STACKFAULT",
        Status::ProtectionTime => "E_OS_PROTECTION_TIME",
        Status::ProtectionArrival => "E_OS_PROTECTION_ARRIVAL",
    }
}

/// Observations of the case that is played.
#[derive(Default)]
struct Seen {
    case: Option<Case>,
    answer: Option<Answer>,
    /// Error hooks called for the case's own call: the statuses, and the services they named.
    errors: Vec<(u8, u8)>,
    looked: Option<Result<(), &'static str>>,
    /// A fault of the case itself.
    broken: Option<&'static str>,
}

static SEEN: Mutex<Option<Seen>> = Mutex::new(None);
/// `true` while the case's call is being made, so that error hooks are its own.
static CALLING: AtomicBool = AtomicBool::new(false);
/// `true` once the case is prepared, so that hooks are called for its trigger.
static PREPARED: AtomicBool = AtomicBool::new(false);
/// Counts the runs of the actor.
static ACTOR_RUNS: AtomicU32 = AtomicU32::new(0);
/// Counts the runs of the higher task.
pub(crate) static HIGHER_RUNS: AtomicU32 = AtomicU32::new(0);
/// Counts how often the waiter went on after its event.
pub(crate) static WAITER_RUNS: AtomicU32 = AtomicU32::new(0);

/// Counts the runs of the ISRs of category 1 and 2 that cases raise to see if they come.
pub(crate) static CATEGORY_1_RUNS: AtomicU32 = AtomicU32::new(0);
pub(crate) static CATEGORY_2_RUNS: AtomicU32 = AtomicU32::new(0);

/// Looks at what was seen, or adds to it; never across a call into the kernel.
fn seen<R>(look: impl FnOnce(&mut Seen) -> R) -> R {
    let mut seen = SEEN.lock().unwrap_or_else(PoisonError::into_inner);
    look(seen.get_or_insert_default())
}

fn case() -> Case {
    seen(|seen| seen.case).expect("a case is being played")
}

/// Plays a case from its start to `ShutdownOS`.
///
/// # Errors
/// What was not as the case says.
pub(crate) fn play(case: &Case) -> Result<(), String> {
    seen(|seen| *seen = Seen { case: Some(*case), ..Seen::default() });
    let counts = [&ACTOR_RUNS, &HIGHER_RUNS, &WAITER_RUNS, &CATEGORY_1_RUNS, &CATEGORY_2_RUNS];
    for count in counts {
        count.store(0, Relaxed);
    }
    CALLING.store(false, Relaxed);
    PREPARED.store(false, Relaxed);
    let end = start(&SYSTEM, configuration(case.class, case.checking), MODE)
        .map_err(|error| error.to_string())?;
    let expected_end = if case.service == Service::ShutdownOs { END } else { 0 };
    if end != expected_end {
        return Err(format!("it was shut down with {end} instead of {expected_end}"));
    }
    let seen = seen(std::mem::take);
    if let Some(broken) = seen.broken {
        return Err(broken.into());
    }
    let answer = seen.answer.ok_or("the call was never made")?;
    let expected = case.status.map_or(Ok(()), Err);
    if answer != expected {
        return Err(format!("it answered {answer:?} instead of {expected:?}"));
    }
    let told: Vec<(u8, u8)> = match case.status {
        // An error hook is not called for what the error hook calls.
        Some(status) if case.place != CallLevel::ErrorHook => {
            vec![(status as u8, case.service as u8)]
        }
        _ => Vec::new(),
    };
    if seen.errors != told {
        return Err(format!("the error hook was told {:?} instead of {told:?}", seen.errors));
    }
    match seen.looked {
        Some(Ok(())) => Ok(()),
        Some(Err(problem)) => Err(problem.into()),
        None => Err("what came after the call was never looked at".into()),
    }
}

/// Makes the case's call, once.
fn make_call() {
    let too_early = !PREPARED.load(Relaxed) && case().place != CallLevel::StartupHook;
    if too_early || seen(|seen| seen.answer.is_some()) {
        return;
    }
    let scene = case().scene;
    // A call that ends its task does not come back to tell.
    seen(|seen| seen.answer = Some(Ok(())));
    CALLING.store(true, Relaxed);
    let answer = (scene.call)();
    CALLING.store(false, Relaxed);
    seen(|seen| seen.answer = Some(answer));
    if scene.ends && answer.is_ok() {
        seen(|seen| seen.broken = Some("the call came back although the task had to end"));
    }
}

/// Looks at what came of the call, and ends the case.
fn finish() -> ! {
    if case().place == CallLevel::ShutdownHook {
        // The call is yet to come.
        seen(|seen| seen.looked = Some(Ok(())));
    } else {
        let looked = (case().scene.look)();
        seen(|seen| seen.looked = Some(looked));
    }
    SYSTEM.shut_down(0);
    unreachable!("a case runs inside of the machine");
}

/// Says that the case's call ends the kernel.
pub(crate) fn will_end() {
    seen(|seen| seen.looked = Some(Ok(())));
}

/// Prepares the case and makes its call from where it has to be.
fn perform() {
    let case = case();
    if case.place != CallLevel::StartupHook && (case.scene.prepare)().is_err() {
        seen(|seen| seen.broken = Some("the case could not be prepared"));
    }
    PREPARED.store(true, Relaxed);
    let triggered = match case.place {
        CallLevel::Task => {
            make_call();
            Ok(())
        }
        CallLevel::Isr2 => {
            SYSTEM.port().trigger(ISR_SOURCE);
            Ok(())
        }
        CallLevel::ErrorHook => match SYSTEM.task_state(NOTHING) {
            Err(Status::Id) => Ok(()),
            _ => Err(Status::Id),
        },
        CallLevel::PreTaskHook | CallLevel::PostTaskHook => SYSTEM.activate_task(HIGHER),
        CallLevel::AlarmCallback => SYSTEM
            .set_relative_alarm(CALLING_ALARM, 1, 0)
            .and_then(|()| SYSTEM.increment_counter(COUNTER)),
        CallLevel::StartupHook | CallLevel::ShutdownHook | CallLevel::Outside => Ok(()),
    };
    if triggered.is_err() {
        seen(|seen| seen.broken = Some("the case could not be brought to its call level"));
    }
}

/// The task that the case is about. Where that has to be an extended one, it starts it.
pub(crate) extern "C" fn actor() {
    let again = ACTOR_RUNS.fetch_add(1, Relaxed) > 0;
    let scene = case().scene;
    if again {
        finish();
    }
    if scene.extended {
        if SYSTEM.activate_task(EXTENDED_ACTOR).is_err() {
            seen(|seen| seen.broken = Some("the extended actor could not be activated"));
        }
        finish();
    }
    if scene.ends && SYSTEM.activate_task(LOWER).is_err() {
        seen(|seen| seen.broken = Some("the task that looks could not be activated"));
    }
    perform();
    finish();
}

pub(crate) extern "C" fn extended_actor() {
    perform();
    end();
}

pub(crate) extern "C" fn higher() {
    HIGHER_RUNS.fetch_add(1, Relaxed);
    end();
}

/// Runs when the actor is over; looks then, where the actor could not.
pub(crate) extern "C" fn bystander() {
    if SYSTEM.task_id() == Ok(Some(LOWER)) && case().scene.ends {
        finish();
    }
    end();
}

pub(crate) extern "C" fn waiter() {
    if SYSTEM.wait_event(0b01).is_err() {
        seen(|seen| seen.broken = Some("the waiter could not wait"));
    }
    WAITER_RUNS.fetch_add(1, Relaxed);
    end();
}

fn end() {
    let _ = SYSTEM.terminate_task();
    seen(|seen| seen.broken = Some("a task could not end"));
}

pub(crate) extern "C" fn isr() {
    if case().place == CallLevel::Isr2 {
        make_call();
    }
}

pub(crate) extern "C" fn category_1() {
    CATEGORY_1_RUNS.fetch_add(1, Relaxed);
}

pub(crate) extern "C" fn category_2() {
    CATEGORY_2_RUNS.fetch_add(1, Relaxed);
}

pub(crate) extern "C" fn callback() {
    if case().place == CallLevel::AlarmCallback {
        make_call();
    }
}

pub(crate) extern "C" fn startup_hook() {
    if case().place == CallLevel::StartupHook {
        make_call();
    }
}

pub(crate) extern "C" fn shutdown_hook(_: u8) {
    if case().place == CallLevel::ShutdownHook {
        make_call();
    }
}

pub(crate) extern "C" fn error_hook(status: u8) {
    if CALLING.load(Relaxed) {
        let service = SYSTEM.error_service();
        seen(|seen| seen.errors.push((status, service)));
    } else if case().place == CallLevel::ErrorHook {
        make_call();
    }
}

pub(crate) extern "C" fn pre_task_hook() {
    let enters_higher = SYSTEM.task_id() == Ok(Some(HIGHER));
    if case().place == CallLevel::PreTaskHook && enters_higher {
        make_call();
    }
}

pub(crate) extern "C" fn post_task_hook() {
    let leaves = matches!(SYSTEM.task_id(), Ok(Some(ACTOR | EXTENDED_ACTOR)));
    if case().place == CallLevel::PostTaskHook && leaves {
        make_call();
    }
}

/// From where the case's call is made.
pub(crate) fn place() -> CallLevel {
    case().place
}
