//! The settings that a task's thread asks of the kernel, and the place of a refusal.
//!
//! A setting that the kernel refuses is written into the exchange and the run goes on: the host
//! decides what such a record is worth.

use std::io;

use quietcore_exchange::Recorder;
use quietcore_process::remark::remark;
use quietcore_process::snare::{Laid, SnareJob};
use quietcore_process::thread::{self, Prepared};
use quietcore_units::{Causes, CpuId, Scheduling, ThreadRequest, ThreadSetting};

/// The number that stands for an error without one.
const NO_ERROR_NUMBER: i32 = i32::MAX;

/// Returns the number of an error as it stands in the exchange.
pub fn number_of(error: &io::Error) -> i32 {
    error.raw_os_error().unwrap_or(NO_ERROR_NUMBER)
}

/// Makes the calling thread what is asked for, and writes what is refused into its row, as is
/// `memory_refused`, the number of the error with which the process's memory could not be locked.
/// Returns the CPU that the thread is pinned to.
pub fn prepare(
    recorder: &mut Recorder<'_>,
    cpu: Option<u32>,
    scheduling: Scheduling,
    memory_refused: Option<i32>,
) -> Option<u32> {
    let request = ThreadRequest::new(scheduling).on(cpu.and_then(CpuId::new));
    let prepared = thread::prepare(&request);
    note_refused(recorder, &prepared, cpu, memory_refused);
    let is_pinned = prepared.refusal(ThreadSetting::Affinity).is_none();
    request.cpu().filter(|_| is_pinned).map(CpuId::get)
}

/// Writes what was refused into the row of a task that shall run on `cpu`; one that can't exist is
/// refused here.
pub fn note_refused(
    recorder: &mut Recorder<'_>,
    prepared: &Prepared,
    cpu: Option<u32>,
    memory_refused: Option<i32>,
) {
    if let Some(errno) = memory_refused {
        recorder.refuse(ThreadSetting::MemoryLock, errno);
    }
    if cpu.is_some_and(|cpu| CpuId::new(cpu).is_none()) {
        recorder.refuse(ThreadSetting::Affinity, NO_ERROR_NUMBER);
    }
    for (setting, error) in prepared.refused() {
        recorder.refuse(*setting, number_of(error));
    }
}

/// Takes over the snare that the host has laid. Tells of one that can't be had, and returns `None`.
pub fn take_over(job: &SnareJob) -> Option<Laid> {
    Laid::take_over(job)
        .map_err(|error| remark(format_args!("quietcore-runtime: snare: {}", Causes(&error))))
        .ok()
}
