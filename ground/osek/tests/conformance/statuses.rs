//! Each status of each service, with what leads to it.

use quietcore_osek::configuration::{Checking, Class};
use quietcore_osek::kernel::{CallLevel, TableStatus, TaskState};
use quietcore_osek::status::{Service, Status};

use crate::levels::{LOOKING, TASK_ISR};
use crate::stage::{Answer, Case, HIGHER_RUNS, SYSTEM, Scene, WAITER_RUNS};
use crate::world::{
    ACTOR, ALARM, CLASSES, COUNTER, EXTENDED_ACTOR, FOREIGN_TABLE, HARDWARE_COUNTER, HIGHER,
    ISR_RESOURCE, LOW_ISR_RESOURCE, LOW_RESOURCE, LOWER, MAX_ALLOWED, MIN_CYCLE, NOTHING,
    OTHER_RESOURCE, OTHER_TABLE, RESOURCE, SEVERAL, SUSPENDED_EXTENDED, TABLE, WAITER,
};

use std::sync::atomic::Ordering::Relaxed;

/// In which classes something exists.
#[derive(Clone, Copy)]
enum In {
    All,
    /// ECC1 and ECC2.
    Events,
    /// BCC2 and ECC2.
    Several,
}

impl In {
    fn holds(self, class: Class) -> bool {
        match self {
            Self::All => true,
            Self::Events => class.has_events(),
            Self::Several => class.has_several(),
        }
    }
}

/// Under which checking a status is promised.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Under {
    Both,
    Extended,
}

/// A status of a service.
struct Line {
    service: Service,
    when: &'static str,
    status: Option<Status>,
    under: Under,
    places: &'static [CallLevel],
    classes: In,
    scene: Scene,
}

const TASK: &[CallLevel] = &[CallLevel::Task];
const ISR2: &[CallLevel] = &[CallLevel::Isr2];

/// A line for both kinds of checking, in all classes.
fn line(
    service: Service,
    when: &'static str,
    status: impl Into<Option<Status>>,
    places: &'static [CallLevel],
    call: fn() -> Answer,
) -> Line {
    let (under, classes) = (Under::Both, In::All);
    Line { service, when, status: status.into(), under, places, classes, scene: Scene::of(call) }
}

impl Line {
    fn extended_status(self) -> Self {
        Self { under: Under::Extended, ..self }
    }

    fn only(self, classes: In) -> Self {
        Self { classes, ..self }
    }

    fn after(self, prepare: fn() -> Answer) -> Self {
        Self { scene: Scene { prepare, ..self.scene }, ..self }
    }

    fn then(self, look: fn() -> Result<(), &'static str>) -> Self {
        Self { scene: Scene { look, ..self.scene }, ..self }
    }

    fn ends(self) -> Self {
        Self { scene: Scene { ends: true, ..self.scene }, ..self }
    }

    fn in_extended_task(self) -> Self {
        Self { scene: Scene { extended: true, ..self.scene }, classes: In::Events, ..self }
    }
}

/// Returns `otherwise` as an error unless `holds`.
fn must(holds: bool, otherwise: &'static str) -> Result<(), &'static str> {
    if holds { Ok(()) } else { Err(otherwise) }
}

fn state_is(task: u8, state: TaskState) -> bool {
    SYSTEM.task_state(task) == Ok(state)
}

mod alarms;
pub(crate) mod interrupts;
mod resources_and_events;
mod tasks;

/// A case for each line, place, class and kind of checking.
pub(crate) fn cases() -> impl Iterator<Item = Case> {
    let lines = tasks::lines().into_iter();
    let lines = lines.chain(resources_and_events::lines()).chain(alarms::lines());
    let lines = lines.chain(interrupts::lines());
    lines.flat_map(|line| {
        let Line { service, when, status, under, places, classes, scene } = line;
        let all = CLASSES.into_iter().filter(move |class| classes.holds(*class));
        all.flat_map(move |class| {
            places.iter().flat_map(move |&place| {
                let checkings = [Checking::Standard, Checking::Extended];
                let checkings = checkings.into_iter().filter(move |checking| {
                    under == Under::Both || *checking == Checking::Extended
                });
                checkings.map(move |checking| Case {
                    service,
                    when,
                    place,
                    class,
                    checking,
                    status,
                    scene,
                })
            })
        })
    })
}
