//! Accounts of jobs, budgets, and the time between activations.

use quietcore_units::KernelJob;

use super::*;
use crate::kernel::Budget;
use crate::status::Status;

/// The times of two tasks, of which the higher one preempts, and of an ISR, which is nobody's.
#[test]
fn a_job_is_charged_for_the_time_in_which_it_ran() {
    let tasks = [basic(1), extended(2)];
    let configuration = Configuration { tasks: &tasks, ..PLAIN };
    let mut kernel = started(&configuration);
    kernel.activate_task(0, 90).unwrap();
    settle_at(&mut kernel, 100);
    let interrupted = kernel.enter_isr(None, 110);
    kernel.activate_task(1, 113).unwrap();
    kernel.leave_isr(interrupted, 115);
    settle_at(&mut kernel, 120);
    kernel.wait_event(1).unwrap();
    let job = kernel.dispatch(150).and_then(|switch| switch.job);
    let waited = KernelJob {
        task: 1,
        waits: 1,
        released_ns: 113,
        started_ns: 120,
        finished_ns: 150,
        execution_ns: 30,
    };
    assert_eq!(job, Some(waited));
    kernel.set_event(1, 1, 160).unwrap();
    settle_at(&mut kernel, 165);
    kernel.terminate_task().unwrap();
    let job = kernel.dispatch(185).and_then(|switch| switch.job);
    let (released_ns, started_ns) = (160, 165);
    let finished_ns = 185;
    let ended =
        KernelJob { waits: 0, released_ns, started_ns, finished_ns, execution_ns: 20, ..waited };
    assert_eq!(job, Some(ended));
    kernel.terminate_task().unwrap();
    let job = kernel.dispatch(200).and_then(|switch| switch.job);
    let (released_ns, started_ns, finished_ns) = (90, 100, 200);
    // 100 to 110, 115 to 120, 150 to 165, 185 to 200.
    let execution_ns = 45;
    let preempted =
        KernelJob { task: 0, waits: 0, released_ns, started_ns, finished_ns, execution_ns };
    assert_eq!(job, Some(preempted));
}

/// Each activation has its own instant, though all are of one task.
#[test]
fn each_job_is_charged_from_its_own_release() {
    let tasks = [Task { activations: 3, ..basic(1) }];
    let configuration = Configuration { tasks: &tasks, ..PLAIN };
    let mut kernel = started(&configuration);
    for at_ns in [10, 20, 30] {
        kernel.activate_task(0, at_ns).unwrap();
    }
    settle_at(&mut kernel, 40);
    for (released_ns, now_ns) in [(10, 50), (20, 60), (30, 70)] {
        kernel.terminate_task().unwrap();
        let job = kernel.dispatch(now_ns).and_then(|switch| switch.job).unwrap();
        assert_eq!((job.released_ns, job.started_ns), (released_ns, now_ns - 10));
        assert_eq!(job.execution_ns, 10);
    }
}

#[test]
fn without_accounting_no_job_is_told() {
    let tasks = [at_start(basic(1))];
    let configuration = Configuration { tasks: &tasks, accounting: false, ..PLAIN };
    let mut kernel = started(&configuration);
    kernel.terminate_task().unwrap();
    assert_eq!(kernel.dispatch(50).and_then(|switch| switch.job), None);
}

#[test]
fn a_budget_runs_only_while_its_task_does() {
    let tasks = [at_start(Task { budget_ns: 100, ..extended(1) }), basic(2)];
    let configuration = Configuration { tasks: &tasks, ..PLAIN };
    let mut kernel = started(&configuration);
    assert_eq!(kernel.budget(30), Budget::Until(100));
    let interrupted = kernel.enter_isr(None, 40);
    kernel.activate_task(1, 40).unwrap();
    kernel.leave_isr(interrupted, 50);
    settle_at(&mut kernel, 50);
    assert_eq!(kernel.budget(1000), Budget::Unlimited, "that of the other task");
    kernel.terminate_task().unwrap();
    settle_at(&mut kernel, 1000);
    assert_eq!(kernel.budget(1000), Budget::Until(1060));
    assert_eq!(kernel.budget(1059), Budget::Until(1060));
    assert_eq!(kernel.budget(1060), Budget::Exhausted(0));
    kernel.wait_event(1).unwrap();
    settle_at(&mut kernel, 1059);
    kernel.set_event(0, 1, 2000).unwrap();
    settle_at(&mut kernel, 2000);
    assert_eq!(kernel.budget(2000), Budget::Until(2100), "after waiting it is a new job");
}

#[test]
fn activations_keep_their_distance() {
    let tasks = [Task { inter_arrival_ns: 100, activations: 5, ..basic(1) }];
    let configuration = Configuration { tasks: &tasks, ..PLAIN };
    let mut kernel = started(&configuration);
    let at = [0, 99, 100, 150, 199, 200].map(|at_ns| kernel.activate_task(0, at_ns));
    let early = Err(Status::ProtectionArrival);
    assert_eq!(at, [Ok(()), early, Ok(()), early, early, Ok(())], "refused ones don't count");
}

/// Nothing else may be a way around it: neither the start of the kernel, nor a chain to itself.
#[test]
fn the_first_activation_and_a_chain_count_for_the_distance() {
    let tasks = [at_start(Task { inter_arrival_ns: 100, ..basic(1) })];
    let configuration = Configuration { tasks: &tasks, ..PLAIN };
    let mut kernel = started(&configuration);
    assert_eq!(kernel.chain_task(0, 99), Err(Status::ProtectionArrival));
    assert_eq!(kernel.running(), Some(0));
    assert_eq!(kernel.chain_task(0, 100), Ok(()));
    settle_at(&mut kernel, 100);
    kernel.terminate_task().unwrap();
    settle_at(&mut kernel, 150);
    assert_eq!(kernel.activate_task(0, 199), Err(Status::ProtectionArrival));
    assert_eq!(kernel.activate_task(0, 200), Ok(()));
}

/// A partition's machine is away between two of its steps.
#[test]
fn the_time_in_which_the_machine_is_away_is_nobodys() {
    let tasks = [at_start(Task { budget_ns: 100, ..basic(1) })];
    let configuration = Configuration { tasks: &tasks, ..PLAIN };
    let mut kernel = started(&configuration);
    kernel.pause_account(30);
    kernel.resume_account(1000);
    assert_eq!(kernel.budget(1010), Budget::Until(1070));
    let interrupted = kernel.enter_isr(None, 1010);
    kernel.pause_account(1015);
    kernel.resume_account(2000);
    kernel.leave_isr(interrupted, 2005);
    kernel.terminate_task().unwrap();
    let job = kernel.dispatch(2015).and_then(|switch| switch.job);
    assert_eq!(job.map(|job| job.execution_ns), Some(30 + 10 + 10));
}
