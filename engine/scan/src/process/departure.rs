//! A program that ends its thread or the process by itself, with `exit` or `pthread_exit`.
//!
//! Neither leaves a fault that could be caught. Both run what a thread has left to be run at its
//! end, which is where the task is named here that was under way; then the process ends, as the
//! others of its threads would wait for this one for ever.

use std::cell::{Cell, RefCell};
use std::string::{String, ToString as _};
use std::vec::Vec;

use quietcore_exchange::program_face::UnderWay;
use quietcore_process::guard;
use quietcore_process::remark::remark;

use crate::process::job::KernelTask;

/// The status of a process whose program ended it.
const ENDED_BY_PROGRAM: i32 = 4;

std::thread_local! {
    static DEPARTURE: RefCell<Option<Departure>> = const { RefCell::new(None) };
}

/// The message about a thread that ends inside of a step.
struct Departure {
    task: String,
    kernel_tasks: Vec<String>,
    /// The build whose step runs, where it is a kernel.
    under_way: Cell<Option<UnderWay>>,
}

/// Names `task` from now on, should the calling thread end inside of a step.
pub(crate) fn watch(task: &str, kernel_tasks: &[KernelTask]) {
    let kernel_tasks = kernel_tasks.iter().map(|task| task.name.clone()).collect();
    let departure = Departure { task: task.to_string(), kernel_tasks, under_way: Cell::new(None) };
    DEPARTURE.with_borrow_mut(|place| *place = Some(departure));
}

/// Notes that the calling thread is about to run the step of a kernel, or is back.
#[inline]
pub(crate) fn enter(under_way: Option<UnderWay>) {
    DEPARTURE.with(|place| {
        if let Ok(place) = place.try_borrow()
            && let Some(departure) = place.as_ref()
        {
            departure.under_way.set(under_way);
        }
    });
}

impl Departure {
    /// Returns the task that is under way: the kernel's, or the one whose thread this is.
    fn task(&self) -> &str {
        let under_way = self.under_way.get().map(|under_way| under_way());
        let own = under_way.and_then(|task| self.kernel_tasks.get(usize::try_from(task).ok()?));
        own.unwrap_or(&self.task)
    }
}

impl Drop for Departure {
    fn drop(&mut self) {
        if guard::is_inside() {
            let task = self.task();
            remark(format_args!("the program called `exit` or `pthread_exit` in task `{task}`"));
            guard::end_process(ENDED_BY_PROGRAM);
        }
    }
}
