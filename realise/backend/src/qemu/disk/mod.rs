//! Guests of QEMU that start from their disks: any operating system, without a program of the site.
//!
//! ```text
//! supervisor ─► quietcore-runtime partition ─► QEMU ─► firmware ─► the disk's system
//!                 │ monitor: threads of its processors ─► CPUs, policy; shutdown
//!                 │ rows of the exchange: a processor each, for the host to read back
//!                 └ standard output ◄──────────────────── serial console
//! ```
//!
//! Nothing else passes between both: the guest has no exchange, no clock of the host and no agent.
//! The process ends with QEMU. Told to stop, it asks the guest to shut down, as the button of a
//! machine does (ACPI), and ends QEMU where the guest has not in time.
//!
//! | module | content |
//! |---|---|
//! | `console` | the serial console as text |
//! | `firmware` | UEFI's program and variables |
//! | `host` | the surroundings of the partition's process |
//! | [`image`] | the image of a disk, looked at before it is used |
//! | `machine` | QEMU's command line |
//! | `setting` | the words of the site file about the guest, which are its job |

mod console;
mod firmware;
mod host;
pub mod image;
mod machine;
mod setting;

use std::io::{self, Write as _};
use std::process::ExitStatus;
use std::thread;
use std::time::{Duration, Instant};

use quietcore_exchange::{Recorder, Region, Shape, TaskState};
use quietcore_process::remark::remark;
use quietcore_process::setting as settings;
use quietcore_process::thread::{Prepared, prepare_other};
use quietcore_release::process::settings::{note_refused, number_of};
use quietcore_site::Accelerator;
use quietcore_units::{CpuId, CpuSet, Nanos, ThreadRequest};

use super::emulator::{Emulator, others};
use super::may_lock_much;
use super::monitor::{Monitor, MonitorError};
use crate::guest::in_words;
use console::ConsoleText;
use machine::command;
pub use setting::{DiskFolders, DiskSetting, DiskSettingError};

/// Time between two looks at QEMU.
const LOOK: Duration = Duration::from_millis(20);
/// Message of QEMU about an image that another one writes to.
const LOCKED: &str = "Failed to get \"write\" lock";

/// Returns the shape of the exchange of such a guest: a row for each of its processors.
pub fn disk_shape(setting: &DiskSetting) -> Shape {
    Shape::of_tasks(u32::try_from(setting.cpus.len()).unwrap_or(u32::MAX))
}

/// The end of a guest, as it is seen from outside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    /// The guest has shut itself down.
    Off,
    /// It was told to stop: it has shut down, or was switched off.
    Told {
        /// `true` if it has shut down in time.
        in_order: bool,
    },
    /// QEMU ended for another reason.
    Lost(ExitStatus),
    /// QEMU keeps the guest and does not run it any further.
    Stuck,
}

/// Runs a guest until it ends. To be called once, by the thread that ends last.
///
/// # Errors
/// The reason, in words, if it did not end in order.
pub(crate) fn run(setting: &DiskSetting, region: Region<'_>) -> Result<(), String> {
    let is_real = setting.accelerator == Accelerator::Kvm;
    let locked = settings::lock_memory().and_then(|()| may_lock_much());
    let memory_refused = locked.err().map(|error| number_of(&error));
    let (mut monitor, monitor_end) =
        Monitor::new().map_err(|error| format!("no monitor: {error}"))?;
    // Locked, the translations of an emulated processor would take a gigabyte.
    let command = command(setting, monitor_end, is_real && memory_refused.is_none())?;
    let cpus: CpuSet = setting.cpus.iter().filter_map(|cpu| CpuId::new(*cpu)).collect();
    let mut console = ConsoleText::default();
    let say = move |bytes: &[u8]| {
        // What this process's own output has no room for is lost, as it is for a program.
        let _ = io::stdout().write_all(&console.text(bytes)).and_then(|()| io::stdout().flush());
    };
    let elsewhere = others(&cpus);
    let mut emulator = Emulator::start(command, elsewhere, say)?;
    let threads = monitor.greet().and_then(|()| monitor.processor_threads(setting.cpus.len()));
    let threads = threads.map_err(|error| not_begun(&mut emulator, setting, error))?;
    let mut rows = settle(setting, region, &threads, memory_refused);
    emulator.lift(&cpus, setting.policy);
    monitor.resume().map_err(in_words)?;
    rows.iter_mut().for_each(|row| row.set_state(TaskState::Running));
    let end = wait(setting, region, &mut emulator, &mut monitor);
    emulator.end();
    let state = match end {
        End::Off => TaskState::Finished,
        End::Told { .. } => TaskState::Stopped,
        End::Lost(_) | End::Stuck => TaskState::Failed,
    };
    match end {
        End::Lost(status) => return Err(format!("QEMU ended unexpectedly: {status}")),
        End::Stuck => {
            return Err("QEMU has stopped the guest, which can't be run any further".to_owned());
        }
        End::Told { in_order: false } => remark(format_args!(
            "the guest did not shut down within {}, and was switched off",
            setting.shutdown
        )),
        End::Off | End::Told { in_order: true } => {}
    }
    rows.iter_mut().for_each(|row| row.set_state(state));
    Ok(())
}

/// Waits for the end of a guest, and asks it to shut down where it is told to stop.
fn wait(
    setting: &DiskSetting,
    region: Region<'_>,
    emulator: &mut Emulator,
    monitor: &mut Monitor,
) -> End {
    let mut told: Option<Instant> = None;
    loop {
        if let Some(status) = emulator.ended() {
            return match (told, status.success()) {
                (Some(_), _) => End::Told { in_order: status.success() },
                (None, true) => End::Off,
                (None, false) => End::Lost(status),
            };
        }
        if monitor.has_stopped() {
            return End::Stuck;
        }
        match told {
            None if region.stop_requested() => {
                told = Some(Instant::now());
                if let Err(error) = monitor.shut_down() {
                    remark(format_args!("the guest can't be asked to shut down: {error}"));
                    return End::Told { in_order: false };
                }
            }
            Some(since) if since.elapsed() >= Duration::from_nanos(setting.shutdown.get()) => {
                return End::Told { in_order: false };
            }
            _ => thread::sleep(LOOK),
        }
    }
}

/// Makes the threads of the guest's processors what the site asks for, and returns a row of the
/// exchange for each, in which the host finds its thread and what was refused.
fn settle<'r>(
    setting: &DiskSetting,
    region: Region<'r>,
    threads: &[u32],
    memory_refused: Option<i32>,
) -> Vec<Recorder<'r>> {
    let each = threads.iter().zip(&setting.cpus).zip(0..);
    let rows = each.filter_map(|((thread, cpu), row)| {
        let request = ThreadRequest::new(setting.policy).on(CpuId::new(*cpu));
        let prepared: Prepared = prepare_other(*thread, &request);
        let mut recorder = Recorder::new(region.task(row)?, Nanos::ZERO, 1);
        note_refused(&mut recorder, &prepared, Some(*cpu), memory_refused);
        recorder.set_thread_id(*thread);
        recorder.set_state(TaskState::Starting);
        Some(recorder)
    });
    rows.collect()
}

/// Ends QEMU, and says why it did not begin.
fn not_begun(emulator: &mut Emulator, setting: &DiskSetting, error: MonitorError) -> String {
    emulator.end();
    let said = emulator.said();
    if said.contains(LOCKED) {
        return format!(
            "`{}` is in use: another QEMU writes to it, and two systems would destroy it; end that \
             one, or give this partition a copy",
            setting.image.display()
        );
    }
    if said.is_empty() { in_words(error) } else { format!("QEMU did not begin: {said}") }
}
