//! `guest`: the system in a guest, and the keys that each system takes.

use quietcore_units::{Nanos, Scheduling};

use crate::check::program;
use crate::raw::{GuestSystemWord, RawGuest, RawPartition, RawProgram};
use crate::reading::collector::Collector;
use crate::reading::place::Path;
use crate::site::{DiskGuest, GuestSystem, Program, SHUTDOWN_DEFAULT};

/// Keys that only a guest from its disk takes.
const OF_A_DISK: [&str; 7] =
    ["firmware", "devices", "priority", "vnc", "tap", "shutdown", "restart"];
/// The time that stands for a cycle where a guest from its disk has a class without one.
const CYCLE_OF_NONE: Nanos = Nanos::from_secs(1);

/// Reads the system in a guest, and reports keys that say nothing about it. Linux and a disk have
/// an image, and nothing else has one.
pub(super) fn system(
    raw: &RawGuest,
    path: &Path,
    collector: &mut Collector<'_, '_>,
) -> Option<GuestSystem> {
    let word = raw.system.unwrap_or_default();
    if word != GuestSystemWord::Disk {
        for key in OF_A_DISK.map(|key| path.key(key)) {
            if collector.has(&key) {
                collector.refuse_key(
                    &key,
                    "only a guest that starts from its disk has it",
                    "write `system = \"disk\"` beside it, or take it out",
                );
            }
        }
    }
    match (word, &raw.image) {
        (GuestSystemWord::Osek, None) => Some(GuestSystem::Osek),
        (GuestSystemWord::Linux, Some(image)) => Some(GuestSystem::Linux { image: image.clone() }),
        (GuestSystemWord::Disk, Some(image)) => Some(GuestSystem::Disk(Box::new(DiskGuest {
            image: image.clone(),
            firmware: raw.firmware.unwrap_or_default(),
            devices: raw.devices.unwrap_or_default(),
            vnc: raw.vnc.unwrap_or_default(),
            tap: raw.tap.clone(),
            shutdown: raw.shutdown.unwrap_or(SHUTDOWN_DEFAULT),
        }))),
        (GuestSystemWord::Osek, Some(_)) => {
            collector.refuse(
                &path.key("image"),
                "only a Linux guest, or one with a disk, starts from an image",
                "write `system = \"linux\"` or `system = \"disk\"` beside it, or leave it out",
            );
            None
        }
        (GuestSystemWord::Linux, None) => {
            collector.refuse(
                path,
                "a Linux guest starts from an image, and none is named",
                "write `image = \"FOLDER\"`; `quietcore guest build --out FOLDER` makes one",
            );
            None
        }
        (GuestSystemWord::Disk, None) => {
            collector.refuse(
                path,
                "this guest starts from its disk, and no image of one is named",
                "write `image = \"FILE\"`, a raw or a qcow2 image",
            );
            None
        }
    }
}

/// Returns `true` if a partition is a guest that starts from its disk, right or wrong otherwise.
pub(super) fn is_from_disk(raw: &RawPartition) -> bool {
    let system = raw.guest.as_ref().and_then(|guest| guest.system);
    system == Some(GuestSystemWord::Disk)
}

/// Returns what stands for the program of a guest from its disk, which has none: priority and
/// restarts, under the names that they have in `guest`. `has_cycle` says that its class gives one.
pub(super) fn in_place_of_program(raw: &RawGuest, has_cycle: bool) -> RawProgram {
    let mut program = RawProgram { priority: raw.priority, ..RawProgram::default() };
    program.period = (!has_cycle).then_some(CYCLE_OF_NONE);
    program
}

/// Gives what stands for its program the restarts of the guest, and takes the priority away that
/// nobody has asked for.
pub(super) fn complete(program: &mut Program, raw: &RawGuest) {
    program.restart = program::restart(raw.restart.as_ref());
    if raw.priority.is_none() {
        program.scheduling = Scheduling::Other;
        program.tasks.iter_mut().for_each(|task| task.scheduling = Scheduling::Other);
    }
}

/// Reports a program, and a monitor of one, in a guest that runs none.
pub(super) fn no_program(path: &Path, collector: &mut Collector<'_, '_>) {
    let key = path.key("program");
    if collector.has(&key) {
        collector.refuse_key(
            &key,
            "a guest that starts from its disk runs no program of the site",
            "take it out; its priority and its restarts are keys of `guest`",
        );
    }
}
