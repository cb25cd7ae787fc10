//! Events in words, as a person reads them.

use core::fmt;

use quietcore_units::Nanos;

use crate::events::kind::Happening;

/// Cycles that a change of builds cost, behind the rest.
struct Lost(u64);

impl fmt::Display for Lost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            0 => f.write_str(", no cycle lost"),
            1 => f.write_str(", 1 cycle lost"),
            lost => write!(f, ", {lost} cycles lost"),
        }
    }
}

/// Begins to say where a fault was.
const fn within(is_in_library: bool) -> &'static str {
    if is_in_library { "in a library called at" } else { "at" }
}

impl fmt::Display for Happening {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Started => f.write_str("started"),
            Self::Paused => f.write_str("paused"),
            Self::Resumed { pause_ns } => write!(f, "goes on after {pause_ns} ns"),
            Self::Overrun { response_ns, in_a_row } => {
                write!(
                    f,
                    "overrun: {response_ns} ns from release to completion, {in_a_row} in a row"
                )
            }
            Self::WatchdogHit { elapsed_ns, .. } => {
                write!(f, "watchdog: the job had taken {elapsed_ns} ns")
            }
            Self::Fault { signal, address, instruction, in_library, overflowed } => {
                let at = within(*in_library);
                write!(f, "fault: signal {signal} {at} {instruction:#x}, address {address:#x}")?;
                match overflowed {
                    Some(task) => write!(f, ", beyond the stack of task {task}"),
                    None => Ok(()),
                }
            }
            Self::Looped { instruction, in_library } => {
                let at = within(*in_library);
                write!(f, "fault: a step did not return, it was {at} {instruction:#x}")
            }
            Self::WatchdogExpired { cycles, elapsed_ns, .. } => {
                write!(
                    f,
                    "watchdog: fault after {cycles} cycles in a row, the last {elapsed_ns} ns"
                )
            }
            Self::StoppedByOverrun { response_ns } => {
                write!(f, "stopped: {response_ns} ns from release to completion")
            }
            Self::SwapWaits { generation } => {
                write!(f, "build {generation} waits for a job to end")
            }
            Self::Staged { generation } => write!(f, "build {generation} is staged"),
            Self::StageRefused { generation } => write!(f, "build {generation} is refused"),
            Self::ModelError { status } => {
                write!(f, "the program has set its error status: {status}")
            }
            Self::Swapped { generation, gap_cycles, .. } => {
                write!(f, "build {generation} runs{}", Lost(*gap_cycles))
            }
            Self::Reverted { generation, gap_cycles } => {
                write!(f, "back to build {generation}{}", Lost(*gap_cycles))
            }
            Self::CommandRejected { ticket, index, why } => {
                write!(f, "commands {ticket} refused at number {index}: {why}")
            }
            Self::ForceApplied { target, value } => {
                write!(f, "forced: {} bytes at {} to {value:#x}", target.bytes, target.offset)
            }
            Self::ForceReleased { target } => {
                write!(f, "released: {} bytes at {}", target.bytes, target.offset)
            }
            Self::ForcesReleased { count } => write!(f, "released: {count} variables"),
            Self::KernelError { task: Some(task), status, service } => {
                write!(f, "kernel: status {status} in service {service}, task {task}")
            }
            Self::KernelError { task: None, status, service } => {
                write!(f, "kernel: status {status} in service {service}, no task")
            }
            other => other.fmt_initialize(f),
        }
    }
}

impl Happening {
    fn fmt_initialize(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::InitializeCrashed { generation, signal, address, instruction, in_library } => {
                let at = within(*in_library);
                write!(
                    f,
                    "`initialize` of build {generation} crashed: signal {signal} \
                     {at} {instruction:#x}, address {address:#x}"
                )
            }
            Self::InitializeLooped { generation, limit_ns, instruction, in_library } => {
                let (limit, at) = (Nanos::new(*limit_ns), within(*in_library));
                write!(
                    f,
                    "`initialize` of build {generation} did not return within {limit}: \
                     it was {at} {instruction:#x}"
                )
            }
            of_fieldbus => of_fieldbus.fmt_fieldbus(f),
        }
    }

    fn fmt_fieldbus(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::SubDeviceAbsent { subdevice } => {
                write!(f, "SubDevice {subdevice} does not answer")
            }
            Self::SubDeviceForeign { subdevice, vendor, product } => write!(
                f,
                "another device stands in the place of SubDevice {subdevice}: vendor {vendor:#x}, \
                 product {product:#x}"
            ),
            Self::SubDeviceRecovered { subdevice } => {
                write!(f, "SubDevice {subdevice} is in OP again")
            }
            Self::SubDeviceNotRecovered { subdevice, wanted, code } => write!(
                f,
                "SubDevice {subdevice} did not reach state {wanted:#04x}, code {code:#06x}; it is \
                 tried again"
            ),
            Self::ErrorCounters { subdevice, invalid_frames, lost_links } => write!(
                f,
                "SubDevice {subdevice} has counted {invalid_frames} damaged frames and \
                 {lost_links} lost links"
            ),
            Self::FieldbusLost { frames } => write!(f, "fieldbus lost: {frames} frames in a row"),
            Self::FieldbusRecovered { outage_ns } => {
                write!(f, "fieldbus back after {outage_ns} ns")
            }
            Self::WorkingCounter { subdevice: Some(subdevice), expected, found } => {
                write!(f, "working counter {found} instead of {expected}, SubDevice {subdevice}")
            }
            Self::WorkingCounter { subdevice: None, expected, found } => {
                write!(f, "working counter {found} instead of {expected}")
            }
            Self::AlState { subdevice, state, code } => {
                write!(f, "SubDevice {subdevice} is in state {state:#04x}, code {code:#06x}")
            }
            Self::Emergency { subdevice, code, register, data } => write!(
                f,
                "SubDevice {subdevice} reports emergency {code:#06x}, register {register:#04x}, \
                 data {data:#012x}"
            ),
            Self::Unknown { kind, .. } => write!(f, "event of unknown kind {kind}"),
            // What concerns the program was written by the caller.
            other => write!(f, "event {}", other.encode().0),
        }
    }
}
