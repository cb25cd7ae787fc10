//! From a silent wire to SubDevices in OP.
//!
//! ```text
//! ethercrab: addresses, identities, mailboxes, clocks ─► PRE-OP
//!     ours: compare with what is expected; start-up values
//! ethercrab: SyncManagers, FMMUs                        ─► process data mapped
//!     ours: read back, compare, SYNC0
//! ethercrab:                                            ─► SAFE-OP
//!     ours: cycles with process data and supervision    ─► OP
//! ```
//!
//! `ethercrab` ends with SAFE-OP: SubDevices want valid outputs before OP, so the last step is
//! taken with cycles running, by the same code that brings a SubDevice back later.
//!
//! Not for the real-time path: it allocates, and takes as long as the SubDevices do. A panic inside
//! `ethercrab`, which it answers some odd devices with, ends the bring-up and not the process (with
//! the feature `std`).

mod drive;
mod error;
mod guard;
mod talk;
mod time;

use alloc::borrow::ToOwned as _;
use alloc::boxed::Box;
use alloc::string::{String, ToString as _};
use alloc::vec::Vec;
use core::cell::Cell;
use core::future::Future;
use core::pin::{Pin, pin};
use core::time::Duration;

use ethercrab::subdevice_group::PreOpPdi;
use ethercrab::{
    DefaultLock, MainDevice, MainDeviceConfig, PduStorage, RetryBehaviour, SubDeviceGroup, Timeouts,
};
use quietcore_units::Nanos;
use quietcore_wire::Wire;

use crate::alarm::{Alarm, Alarms};
use crate::expectation::{
    Expectation, Identity, NamedIdentity, Synchronisation, compare, compare_process_data,
};
use crate::fieldbus::Fieldbus;
use crate::frame::register;
use crate::frame::{DATA_BYTES_MAX, Request};
use crate::mailbox::{Mailbox, counter_after};
use crate::state::AlState;
use crate::subdevice::{ClockSettings, IMAGE_BYTES_MAX, SubDevice, SyncSettings};
use crate::supervise;

use drive::{Ends, Stopped, drive};
pub use error::{BringUpError, Step};
use guard::Guard;
use talk::Talk;

/// SubDevices that are handled at most.
pub const SUBDEVICES_MAX: usize = 256;
/// Frames that `ethercrab` may have on their way.
const FRAMES: usize = 16;
/// The address that `ethercrab` gives the first SubDevice.
const FIRST_ADDRESS: u16 = 0x1000;
/// Time to the first SYNC0 when it is set up.
const SYNC_DELAY: Nanos = Nanos::from_millis(50);
/// Cycles that must be complete, with all SubDevices in OP, before the bring-up is done.
const GOOD_CYCLES: u32 = 3;

type Storage = PduStorage<FRAMES, { PduStorage::element_size(DATA_BYTES_MAX) }>;
type Group = SubDeviceGroup<SUBDEVICES_MAX, IMAGE_BYTES_MAX>;
type MappedGroup = SubDeviceGroup<SUBDEVICES_MAX, IMAGE_BYTES_MAX, DefaultLock, PreOpPdi>;

/// Cycles without a frame that the process data watchdogs let pass.
const WATCHDOG_CYCLES: u64 = 4;
/// The process data watchdog of power-up (ETG.1000.4: divider 2498, time 1000).
const WATCHDOG_OF_POWER_UP: Nanos = Nanos::from_millis(100);
/// The step of the watchdog's time with the divider of power-up.
const WATCHDOG_STEP: Nanos = Nanos::from_micros(100);

/// Brings all SubDevices to OP.
pub(crate) fn bring_up<W: Wire>(
    mut wire: W,
    expectation: &Expectation,
) -> Result<Fieldbus<W>, BringUpError> {
    let until = wire.now() + expectation.patience;
    let mut alarms = Alarms::default();
    let at = Cell::new(Step::ToPreOp);
    let configured = contained(|| configure(&mut wire, expectation, until, &mut alarms, &at));
    let subdevices = match configured {
        Ok(configured) => configured?,
        Err(panic) => return Err(failed(&mut wire, at.get(), panic, None)),
    };
    let mut fieldbus = Fieldbus::assemble(wire, subdevices);
    to_op(&mut fieldbus, expectation, until, &mut alarms)?;
    while let Some(alarm) = alarms.take() {
        fieldbus.raise(alarm);
    }
    Ok(fieldbus)
}

/// Runs what may panic; the error is the panic's message.
#[cfg(feature = "std")]
fn contained<T>(run: impl FnOnce() -> T) -> Result<T, String> {
    std::panic::catch_unwind(std::panic::AssertUnwindSafe(run)).map_err(|payload| {
        let text = payload.downcast_ref::<String>().cloned();
        let text = text.or_else(|| payload.downcast_ref::<&str>().map(|text| (*text).to_owned()));
        alloc::format!("ethercrab panicked: {}", text.unwrap_or_default())
    })
}

/// Without the standard library a panic can't be caught.
#[cfg(not(feature = "std"))]
fn contained<T>(run: impl FnOnce() -> T) -> Result<T, String> {
    Ok(run())
}

/// Brings the SubDevices to SAFE-OP and reads back how they are set up. `at` tells the step, should
/// it panic.
fn configure(
    wire: &mut impl Wire,
    expectation: &Expectation,
    until: Nanos,
    alarms: &mut Alarms,
    at: &Cell<Step>,
) -> Result<Vec<SubDevice>, BringUpError> {
    count(wire)?;
    let storage = storage();
    let (tx, rx, pdu_loop) = storage.try_split().expect("the storage was made for this");
    let mut ends = Ends { tx, rx, guard: Guard::default() };
    let main = MainDevice::new(pdu_loop, timeouts(), config(expectation));
    let group = to_pre_op(wire, &mut ends, &main, until)?;
    let mut subdevices = describe(&group, &main);

    let found: Vec<NamedIdentity> =
        subdevices.iter().map(|one| (one.name.clone(), one.identity)).collect();
    let differences = compare(expectation, &found);
    if !differences.is_empty() {
        return Err(BringUpError::Different(differences));
    }
    expectation.name(&mut subdevices);
    start_up(&mut Talk::new(wire), &ends.guard, expectation, &mut subdevices, alarms)?;

    at.set(Step::Mapping);
    let group = map(wire, &mut ends, &main, group, until)?;
    let mut talk = Talk::new(wire);
    for subdevice in &mut subdevices {
        read_back(&mut talk, subdevice)?;
        switch_on(&mut talk, subdevice)?;
        if let (Some(mailbox), Some(counter)) =
            (&mut subdevice.mailbox, ends.guard.counter(subdevice.address))
        {
            mailbox.counter = counter;
        }
    }
    let differences = compare_process_data(expectation, &subdevices);
    if !differences.is_empty() {
        return Err(BringUpError::Different(differences));
    }
    extend_watchdogs(&mut talk, expectation, &mut subdevices)?;
    synchronise(&mut talk, expectation, &mut subdevices)?;

    at.set(Step::ToSafeOp);
    to_safe_op(wire, &mut ends, &main, group, until)?;
    for (station, emergency) in ends.guard.take_emergencies() {
        alarms.raise(supervise::emergency(station.wrapping_sub(FIRST_ADDRESS), emergency));
    }
    Ok(subdevices)
}

// The futures of `ethercrab` hold all SubDevices, some 200 KiB. Each is made and polled in a
// function of its own, so that the stack holds one of them at a time.

#[inline(never)]
fn storage() -> Box<Storage> {
    Box::new(PduStorage::new())
}

/// Addresses, identities, mailboxes and clocks; then PRE-OP.
#[inline(never)]
fn to_pre_op(
    wire: &mut impl Wire,
    ends: &mut Ends<'_>,
    main: &MainDevice<'_>,
    until: Nanos,
) -> Result<Box<Group>, BringUpError> {
    let init = pin!(main.init_single_group::<SUBDEVICES_MAX, IMAGE_BYTES_MAX>(time::now_ns));
    ended(wire, ends, Step::ToPreOp, init, until).map(Box::new)
}

/// SyncManagers and FMMUs of the process data.
#[inline(never)]
fn map(
    wire: &mut impl Wire,
    ends: &mut Ends<'_>,
    main: &MainDevice<'_>,
    group: Box<Group>,
    until: Nanos,
) -> Result<Box<MappedGroup>, BringUpError> {
    let mapping = pin!(group.into_pre_op_pdi(main));
    ended(wire, ends, Step::Mapping, mapping, until).map(Box::new)
}

/// Takes the SubDevices to SAFE-OP.
#[inline(never)]
fn to_safe_op(
    wire: &mut impl Wire,
    ends: &mut Ends<'_>,
    main: &MainDevice<'_>,
    group: Box<MappedGroup>,
    until: Nanos,
) -> Result<(), BringUpError> {
    let transition = pin!(group.into_safe_op(main));
    ended(wire, ends, Step::ToSafeOp, transition, until).map(|_| ())
}

fn timeouts() -> Timeouts {
    Timeouts {
        pdu: Duration::from_millis(100),
        eeprom: Duration::from_millis(500),
        wait_loop_delay: Duration::from_micros(100),
        mailbox_echo: Duration::from_millis(500),
        mailbox_response: Duration::from_millis(1_000),
        ..Timeouts::default()
    }
}

fn config(expectation: &Expectation) -> MainDeviceConfig {
    MainDeviceConfig {
        dc_static_sync_iterations: match expectation.has_sync0() {
            true => expectation.static_sync_iterations,
            false => 0,
        },
        retry_behaviour: RetryBehaviour::Count(10),
    }
}

/// Counts the SubDevices and refuses none and too many.
fn count(wire: &mut impl Wire) -> Result<u16, BringUpError> {
    match Talk::new(wire).ask(Request::read_all(register::TYPE, 1), &[])? {
        None | Some((_, 0)) => Err(BringUpError::NoSubDevices),
        Some((_, found)) if usize::from(found) > SUBDEVICES_MAX => {
            Err(BringUpError::TooMany { found, limit: SUBDEVICES_MAX })
        }
        Some((_, found)) => Ok(found),
    }
}

/// Runs one step of `ethercrab` to its end.
fn ended<T>(
    wire: &mut impl Wire,
    ends: &mut Ends<'_>,
    step: Step,
    future: Pin<&mut impl Future<Output = Result<T, ethercrab::error::Error>>>,
    until: Nanos,
) -> Result<T, BringUpError> {
    let target = if step == Step::ToSafeOp { AlState::SafeOp } else { AlState::PreOp };
    match drive(wire, ends, future, until) {
        Ok(Ok(output)) => Ok(output),
        Ok(Err(error)) => Err(failed(wire, step, error.to_string(), Some(target))),
        Err(Stopped::TooLate) => {
            Err(failed(wire, step, "it took too long".to_owned(), Some(target)))
        }
        Err(Stopped::Wire(error)) => Err(error.into()),
    }
}

/// The error of a step, with the SubDevices that are not where they should be.
fn failed(
    wire: &mut impl Wire,
    step: Step,
    cause: String,
    target: Option<AlState>,
) -> BringUpError {
    let Ok(count) = count(wire) else {
        return BringUpError::Failed { step, cause, suspects: Vec::new() };
    };
    let stations = (0..count).map(|position| FIRST_ADDRESS + position);
    let states = Talk::new(wire).states(stations).unwrap_or_default();
    let suspects = states.into_iter().enumerate().filter_map(|(position, status)| {
        let fine = status.is_some_and(|status| Some(status.state) == target && !status.error);
        (!fine && target.is_some()).then_some((position as u16, status))
    });
    BringUpError::Failed { step, cause, suspects: suspects.collect() }
}

/// Copies what `ethercrab` found out about the SubDevices.
fn describe(group: &Group, main: &MainDevice<'_>) -> Vec<SubDevice> {
    let one = |(position, found): (usize, ethercrab::SubDeviceRef<'_, &ethercrab::SubDevice>)| {
        let identity = found.identity();
        SubDevice {
            position: position as u16,
            address: found.configured_address(),
            name: found.name().to_owned(),
            identity: Identity {
                vendor: identity.vendor_id,
                product: identity.product_id,
                revision: Some(identity.revision),
                serial: Some(identity.serial),
            },
            features: 0,
            links: 0,
            managers: Vec::new(),
            fmmus: Vec::new(),
            mailbox: None,
            clock: None,
            start_up: Vec::new(),
            watchdog: None,
            inputs: 0..0,
            outputs: 0..0,
        }
    };
    group.iter(main).enumerate().map(one).collect()
}

/// Writes the start-up values.
fn start_up<W: Wire>(
    talk: &mut Talk<'_, W>,
    guard: &Guard,
    expectation: &Expectation,
    subdevices: &mut [SubDevice],
    alarms: &mut Alarms,
) -> Result<(), BringUpError> {
    for subdevice in subdevices {
        let Some(expected) = expectation.subdevice(usize::from(subdevice.position)) else {
            continue;
        };
        read_managers(talk, subdevice)?;
        if let Some(mailbox) = &mut subdevice.mailbox {
            // `ethercrab` goes on after its last counter, from 1 at first. It must not find its
            // number used by the message before: the device would take its own for a repetition.
            let last = guard.counter(subdevice.address);
            mailbox.counter = last.unwrap_or(mailbox.counter);
            mailbox.reserved = last.map_or(1, counter_after);
        }
        subdevice.start_up.clone_from(&expected.start_up);
        for value in &expected.start_up {
            let written = talk.download(subdevice, value.object, &value.data, alarms)?;
            written.map_err(|error| BringUpError::StartUp {
                position: subdevice.position,
                name: subdevice.name.clone(),
                object: value.object,
                error,
            })?;
        }
    }
    Ok(())
}

/// Reads the SyncManagers, and what they say about the mailbox.
fn read_managers<W: Wire>(
    talk: &mut Talk<'_, W>,
    subdevice: &mut SubDevice,
) -> Result<(), BringUpError> {
    let station = subdevice.address;
    let counts = talk.read(station, register::FMMU_COUNT, 2)?;
    let count = u16::from(counts.get(1).copied().unwrap_or_default().min(16));
    let bytes = count * register::SYNC_MANAGER_BYTES;
    let managers = talk.read(station, register::SYNC_MANAGER, bytes)?;
    let (managers, _) = managers.as_chunks::<8>();
    subdevice.managers = managers.to_vec();
    let counter = subdevice.mailbox.map_or(1, |mailbox| mailbox.counter);
    subdevice.mailbox = Mailbox::of(managers).map(|mailbox| Mailbox { counter, ..mailbox });
    Ok(())
}

/// Reads back how a SubDevice is set up.
fn read_back<W: Wire>(
    talk: &mut Talk<'_, W>,
    subdevice: &mut SubDevice,
) -> Result<(), BringUpError> {
    let station = subdevice.address;
    let word = |data: Vec<u8>| data.first_chunk().map_or(0, |word| u16::from_le_bytes(*word));
    subdevice.features = word(talk.read(station, register::FEATURES, 2)?);
    subdevice.links = word(talk.read(station, register::DL_STATUS, 2)?);
    read_managers(talk, subdevice)?;
    let counts = talk.read(station, register::FMMU_COUNT, 2)?;
    let count = u16::from(counts.first().copied().unwrap_or_default().min(16));
    let fmmus = talk.read(station, register::FMMU, count * register::FMMU_BYTES)?;
    subdevice.fmmus = fmmus.as_chunks::<16>().0.to_vec();
    (subdevice.inputs, subdevice.outputs) = SubDevice::mapped(&subdevice.fmmus);
    // The image becomes as large as they say.
    let end = subdevice.inputs.end.max(subdevice.outputs.end);
    if end > IMAGE_BYTES_MAX {
        let (position, name) = (subdevice.position, subdevice.name.clone());
        return Err(BringUpError::BeyondImage { position, name, end, limit: IMAGE_BYTES_MAX });
    }
    if subdevice.features & register::FEATURE_CLOCK != 0 {
        let delay = talk.read(station, register::SYSTEM_TIME_DELAY, 4)?;
        let delay_ns = delay.first_chunk().map_or(0, |delay| u32::from_le_bytes(*delay));
        subdevice.clock = Some(ClockSettings { delay_ns, sync: None });
    }
    Ok(())
}

/// Switches the SyncManagers on that carry process data. `ethercrab` leaves those off that are off
/// in the EEPROM, as those of devices are which have no process data at first.
fn switch_on<W: Wire>(
    talk: &mut Talk<'_, W>,
    subdevice: &mut SubDevice,
) -> Result<(), BringUpError> {
    let off: Vec<_> = subdevice.switched_off().collect();
    for (number, activation) in off {
        let registers = register::SYNC_MANAGER + register::SYNC_MANAGER_BYTES * number as u16;
        let activation = activation | 1;
        let register = registers + register::SYNC_MANAGER_ACTIVATE;
        talk.write(subdevice.address, register, &[activation])?;
        subdevice.managers[number][6] = activation;
    }
    Ok(())
}

/// Switches SYNC0 on where it is asked for.
fn synchronise<W: Wire>(
    talk: &mut Talk<'_, W>,
    expectation: &Expectation,
    subdevices: &mut [SubDevice],
) -> Result<(), BringUpError> {
    let Some(reference) = subdevices.iter().find(|one| one.has_clock()).map(|one| one.address)
    else {
        let wants = |one: &&SubDevice| wants_sync0(expectation, one);
        return subdevices.iter().find(wants).map_or(Ok(()), |one| Err(no_clock(one)));
    };
    let time = talk.read(reference, register::SYSTEM_TIME, 8)?;
    let time_ns = time.first_chunk().map_or(0, |time| u64::from_le_bytes(*time));
    let period_ns = u32::try_from(expectation.cycle.get()).unwrap_or(u32::MAX);
    let grid = u64::from(period_ns.max(1));
    let from_ns = time_ns.saturating_add(SYNC_DELAY.get());
    let shift_ns = expectation.sync0_shift.get() % grid;
    // A start that has passed begins nothing.
    let start_ns = from_ns.checked_next_multiple_of(grid).unwrap_or(from_ns);
    let start_ns = start_ns.saturating_add(shift_ns);
    for subdevice in subdevices.iter_mut().filter(|one| wants_sync0(expectation, one)) {
        let Some(clock) = &mut subdevice.clock else { return Err(no_clock(subdevice)) };
        // Cyclic operation and SYNC0 (ETG.1000.4, table 61).
        clock.sync = Some(SyncSettings { activation: 0b011, start_ns, period_ns, second_ns: 0 });
        let mut number = 0;
        while let Some((register, data)) = supervise::sync_write(subdevice, number, start_ns) {
            talk.write(subdevice.address, register, data.as_slice())?;
            number += 1;
        }
    }
    Ok(())
}

/// Lets the process data watchdogs outlast [`WATCHDOG_CYCLES`] cycles, where those of power-up
/// (100 ms) do not. One that is shorter than a cycle would take the outputs away in each.
fn extend_watchdogs<W: Wire>(
    talk: &mut Talk<'_, W>,
    expectation: &Expectation,
    subdevices: &mut [SubDevice],
) -> Result<(), BringUpError> {
    let wanted = expectation.cycle * WATCHDOG_CYCLES;
    if wanted <= WATCHDOG_OF_POWER_UP {
        return Ok(());
    }
    let steps = wanted.get().div_ceil(WATCHDOG_STEP.get());
    let steps = u16::try_from(steps).unwrap_or(u16::MAX);
    for subdevice in subdevices.iter_mut().filter(|one| !one.outputs.is_empty()) {
        subdevice.watchdog = Some(steps);
        talk.write(subdevice.address, register::PROCESS_DATA_WATCHDOG, &steps.to_le_bytes())?;
    }
    Ok(())
}

fn wants_sync0(expectation: &Expectation, subdevice: &SubDevice) -> bool {
    expectation
        .subdevice(usize::from(subdevice.position))
        .is_some_and(|expected| expected.synchronisation == Synchronisation::Sync0)
}

fn no_clock(subdevice: &SubDevice) -> BringUpError {
    BringUpError::NoClock { position: subdevice.position, name: subdevice.name.clone() }
}

/// Runs cycles until all SubDevices are in OP and their process data complete. On the way nothing
/// is where it should be; of what is raised only what the SubDevices said goes to `alarms`.
fn to_op<W: Wire>(
    fieldbus: &mut Fieldbus<W>,
    expectation: &Expectation,
    until: Nanos,
    alarms: &mut Alarms,
) -> Result<(), BringUpError> {
    let starts = fieldbus.subdevices().iter().filter_map(|one| one.clock?.sync);
    let sync_start = starts.map(|sync| Nanos::new(sync.start_ns)).max();
    let mut asked = false;
    let mut good = 0;
    let mut next = fieldbus.wire().now();
    while good < GOOD_CYCLES {
        let now = fieldbus.wire().now();
        if now > until {
            return Err(fieldbus.not_in_op(expectation.patience));
        }
        next = (next + expectation.cycle).max(now);
        let outcome = fieldbus.cycle(next);
        // A device may refuse OP as long as SYNC0 does not come.
        let dc_time = outcome.dc_time.or(sync_start);
        if asked {
            fieldbus.supervise();
        } else if dc_time >= sync_start {
            fieldbus.request_all(AlState::Op);
            asked = true;
        }
        while let Some(alarm) = fieldbus.take_alarm() {
            if matches!(alarm, Alarm::Emergency { .. }) {
                alarms.raise(alarm);
            }
        }
        let complete = outcome.is_complete() && fieldbus.all_in_op();
        good = if complete { good + 1 } else { 0 };
        fieldbus.idle_until(next)?;
    }
    Ok(())
}

#[cfg(all(test, feature = "std"))]
mod tests {
    use super::*;

    #[test]
    fn a_panic_becomes_its_message() {
        assert_eq!(contained(|| 1), Ok(1));
        let error = contained(|| assert_eq!(1 + 1, 3, "sum")).unwrap_err();
        assert!(error.starts_with("ethercrab panicked: assertion"), "{error}");
        assert_eq!(contained(|| panic!("why")), Err::<(), _>("ethercrab panicked: why".to_owned()));
    }
}
