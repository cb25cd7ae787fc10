//! The conditions under which a worker works, set by itself before the work thread starts.
//!
//! A worker is started by a process that may run in real time, with its own niceness, timer slack,
//! affinity and ignored signals, and inherits all of them. A load must be the same whoever starts
//! it, so each is set and read back.
//!
// UNSAFETY: the system calls for the scheduling policy and for signals have no safe face.

#![expect(
    unsafe_code,
    reason = "the system calls for the policy and for signals have no safe face"
)]

use std::fs;
use std::io;
use std::num::NonZeroU64;
use std::path::Path;

use quietcore_units::{CPU_LIMIT, CpuId, CpuSet};
use rustix::process::{Pid, getpriority_process, setpriority_process};
use rustix::thread::{current_timer_slack, set_current_timer_slack};

use super::error::BeginError;
use crate::affinity;

/// The timer slack that the kernel gives ordinary threads. A parent that measures has set 1 ns for
/// itself.
const TIMER_SLACK_NS: NonZeroU64 = NonZeroU64::new(50_000).expect("50 000 is not 0");

/// The score with which the kernel takes a process first when memory runs out.
const OOM_SCORE: &str = "1000";

/// Sets everything for the calling thread and those it will start.
///
/// # Errors
/// The first setting that could not be made.
pub(super) fn set_up(cpus: Option<&CpuSet>, entrance: Option<&Path>) -> Result<(), BeginError> {
    reset_policy().map_err(BeginError::refused("leave the inherited policy"))?;
    reset_niceness()?;
    notice_ended_children().map_err(BeginError::refused("reset SIGCHLD"))?;
    let slack = set_current_timer_slack(Some(TIMER_SLACK_NS))
        .and_then(|()| current_timer_slack())
        .map_err(BeginError::refused("set the timer slack"))?;
    if slack != TIMER_SLACK_NS.get() {
        return Err(BeginError::TimerSlack { found: slack, asked: TIMER_SLACK_NS.get() });
    }
    if let Some(entrance) = entrance {
        enter(entrance)?;
    }
    match cpus {
        Some(cpus) => bind_exactly(cpus)?,
        None => bind_anywhere()?,
    }
    offer_to_the_oom_killer();
    Ok(())
}

fn reset_policy() -> io::Result<()> {
    let parameters = libc::sched_param { sched_priority: 0 };
    // SAFETY: the pointer is to a valid structure that lives over the call, which only reads it.
    let result = unsafe { libc::sched_setscheduler(0, libc::SCHED_OTHER, &raw const parameters) };
    if result == -1 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: takes no pointer and changes nothing.
    match unsafe { libc::sched_getscheduler(0) } {
        -1 => Err(io::Error::last_os_error()),
        libc::SCHED_OTHER => Ok(()),
        policy => Err(io::Error::other(format!("the policy is still {policy}"))),
    }
}

/// An ignored SIGCHLD passes through `exec`, and then nobody can wait for what `fork` starts.
fn notice_ended_children() -> io::Result<()> {
    // SAFETY: the default action is no handler of ours, so no code of ours runs in a signal.
    let previous = unsafe { libc::signal(libc::SIGCHLD, libc::SIG_DFL) };
    if previous == libc::SIG_ERR {
        return Err(io::Error::last_os_error());
    }
    Ok(())
}

fn reset_niceness() -> Result<(), BeginError> {
    let read = || getpriority_process(None).map_err(BeginError::refused("read the niceness"));
    let inherited = read()?;
    if inherited == 0 {
        return Ok(());
    }
    if let Err(error) = setpriority_process(None, 0) {
        return Err(BeginError::Niceness { inherited, cause: error.into() });
    }
    match read()? {
        0 => Ok(()),
        nice => Err(BeginError::NicenessStays(nice)),
    }
}

/// Enters a control group. In the group's file, 0 stands for the process that writes it.
fn enter(entrance: &Path) -> Result<(), BeginError> {
    fs::write(entrance, "0")
        .map_err(|cause| BeginError::ControlGroup { entrance: entrance.to_owned(), cause })
}

fn bind_exactly(cpus: &CpuSet) -> Result<(), BeginError> {
    let asked = || Box::new(*cpus);
    let bound =
        affinity::bind(cpus).map_err(|cause| BeginError::NotBound { asked: asked(), cause })?;
    if bound == *cpus {
        Ok(())
    } else {
        Err(BeginError::OtherCpus { asked: asked(), bound: Box::new(bound) })
    }
}

/// The parent may be bound to a few CPUs; anywhere is where a process of this system starts out,
/// which leaves out CPUs isolated at boot. Where the first process can't be asked, or may run on
/// none of our CPUs, it is all that the kernel allows.
fn bind_anywhere() -> Result<(), BeginError> {
    if let Ok(cpus) = affinity::read(Some(Pid::INIT))
        && affinity::bind(&cpus).is_ok()
    {
        return Ok(());
    }
    let all: CpuSet = (0..CPU_LIMIT).filter_map(CpuId::new).collect();
    affinity::bind(&all).map(drop).map_err(BeginError::refused("release the inherited cpus"))
}

/// Not being able to is a remark only: the load is as strong without it, and the total was checked.
fn offer_to_the_oom_killer() {
    const FILE: &str = "/proc/self/oom_score_adj";
    let outcome = fs::write(FILE, OOM_SCORE).and_then(|()| fs::read_to_string(FILE));
    match outcome {
        Ok(score) if score.trim() == OOM_SCORE => {}
        Ok(score) => eprintln!("`{FILE}` is still {}", score.trim()),
        Err(error) => eprintln!(
            "could not write `{FILE}`: {error}; if memory runs out, the kernel may not take the \
             load first"
        ),
    }
}
