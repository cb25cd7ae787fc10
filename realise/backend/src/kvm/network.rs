//! The network of a guest: a device, with the wire of its fieldbus behind it
//! ([`network`](crate::guest::network)).
//!
//! | wire | served by | the guest leaves its processor for |
//! |---|---|---|
//! | a simulated segment | the processor's own thread, at the guest's bell | this process, once a cycle |
//! | a network interface | a thread of this process, which KVM wakes | the kernel, once a cycle |

use std::sync::Arc;

use quietcore_microvm::machine::Machine;
use quietcore_microvm::net::{ADDRESS, Net, Service};
use quietcore_process::exchange::Exchange;
use quietcore_units::{Causes, Nanos, Scheduling};
use vmm_sys_util::eventfd::EventFd;

use crate::fieldbus::{FieldbusJob, InterfaceJob};
use crate::guest::network::{self, FieldbusLink, ServingNeeds};

/// The network of a guest, not served yet.
pub(super) struct Network {
    pub(super) net: Arc<Net>,
    /// Event that wakes the serving thread; `None` where the guest's processor serves the device.
    bell: Option<EventFd>,
    needs: ServingNeeds,
}

impl Network {
    /// Opens the wire of a fieldbus and puts a network device in front of it.
    ///
    /// # Errors
    /// When the wire or the device can't be had; in words.
    pub(super) fn open(
        job: &FieldbusJob,
        machine: &Machine,
        exchange: Arc<Exchange>,
    ) -> Result<Self, String> {
        let service = match &job.interface {
            // The segment answers within the call.
            InterfaceJob::Simulated { .. } => Service::AtBell { wait: Nanos::ZERO },
            InterfaceJob::Network { .. } | InterfaceJob::Card { .. } => {
                Service::Thread { spin: Nanos::ZERO }
            }
        };
        let link = Box::new(FieldbusLink::open(job, exchange)?);
        let memory = machine.memory().mapping().clone();
        let net = Net::new(memory, link, ADDRESS, service)
            .map_err(|error| format!("the guest's network: {}", Causes(&error)))?;
        let bell = match service {
            Service::AtBell { .. } => None,
            Service::Thread { .. } => Some(
                Net::bell(machine)
                    .map_err(|error| format!("the guest's network: {}", Causes(&error)))?,
            ),
        };
        let needs = ServingNeeds::of(&job.interface);
        Ok(Self { net: Arc::new(net), bell, needs })
    }

    /// Starts the thread that serves the device, where it needs one. `cpu` is the guest's CPU,
    /// `policy` that of its tasks.
    ///
    /// # Errors
    /// When the thread can't be started; in words.
    pub(super) fn start(self, cpu: Option<u32>, policy: Scheduling) -> Result<(), String> {
        let Self { net, bell: Some(bell), needs } = self else { return Ok(()) };
        network::start(needs, cpu, policy, move || net.serve(Some(&bell)))
    }
}
