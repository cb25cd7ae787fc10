//! The tables of the program on the hosted port, in its variants.

use quietcore_osek::configuration::{Checking, Class, Configuration};

use super::Variant;
use super::machine::{OnHost, SYSTEM};
use super::measurement::carry_out;
use crate::routines::Reading;
use crate::routines::program::{Stacks, isrs, other, tasks};

/// Stack sizes: each stack takes a signal's frame, too, and MainTask makes histograms between the
/// series.
const STACKS: Stacks = Stacks { main: 256 << 10, other: 32 << 10 };

/// The most tasks beside the four.
pub const OTHERS_MAX: u8 = 251;

/// Returns the tables of a variant of the program. They live as long as the process.
pub(super) fn tables<R: Reading>(variant: Variant) -> &'static Configuration<'static> {
    let others = variant.others.min(OTHERS_MAX);
    let mut tasks = tasks::<OnHost, R>(main_task::<R>, others, STACKS).to_vec();
    tasks.extend((0..others).map(|index| other::<OnHost>(index + 1, STACKS)));
    // There are 254 priorities, so with 255 tasks two of them share one.
    let many = tasks.iter().any(|task| task.priority == 255);
    for task in tasks.iter_mut().filter(|_| many) {
        task.priority = (task.priority - 1).max(1);
        task.running_level = task.priority;
    }
    Box::leak(Box::new(Configuration {
        class: if variant.others > 0 { Class::Ecc2 } else { Class::Ecc1 },
        checking: if variant.extended { Checking::Extended } else { Checking::Standard },
        accounting: variant.accounting,
        tasks: tasks.leak(),
        isrs: Box::leak(Box::new(isrs::<OnHost, R>())),
        ..Configuration::EMPTY
    }))
}

extern "C" fn main_task<R: Reading>() {
    carry_out::<R>();
    SYSTEM.shut_down(0);
}
