//! Notifications of messages from outside of the machine (OSEK COM 3.0.3, 2.5).

use super::{Call, System};
use crate::configuration::{Message, Notification};
use crate::kernel::Arrival;
use crate::port::Port;
use crate::status::{Service, Status};

impl<P: Port> System<P> {
    /// Looks at all messages, and does the notification of each that has come. Under the lock, as a
    /// part of an ISR of category 2, at whose end the tasks are dispatched.
    ///
    /// A notification that is refused is told as an error of the task that it is for, once, and
    /// tried again at each look until it is done.
    pub(super) fn look_at_messages(&self) {
        let messages = self.cell.with(|kernel| kernel.configuration().messages);
        for (index, message) in messages.iter().enumerate() {
            let count = self.port.message_count(message);
            let arrival = self.cell.with(|kernel| kernel.look(index, count));
            if arrival == Arrival::Nothing {
                continue;
            }
            let result = self.notify(message);
            self.cell.with(|kernel| kernel.settle(index, result.is_ok()));
            if let (Err(status), Arrival::New) = (result, arrival) {
                self.fail_in(&call_of(message), status, Some(message.object));
            }
        }
    }

    /// Does the notification of a message that has come, or says why the kernel refuses it.
    fn notify(&self, message: &Message) -> Result<(), Status> {
        let (object, events) = (message.object, message.events);
        match message.notification {
            Notification::ActivateTask => {
                let at_ns = self.release_ns();
                self.cell.with(|kernel| kernel.activate_task(object, at_ns))
            }
            Notification::SetEvent => {
                let at_ns = self.release_ns();
                self.cell.with(|kernel| kernel.set_event(object, events, at_ns))
            }
            Notification::RaiseIsr => {
                self.port.pend_isr(object);
                Ok(())
            }
        }
    }
}

/// Returns the service call that a notification is instead of.
fn call_of(message: &Message) -> Call {
    match message.notification {
        Notification::SetEvent => {
            Call::new(Service::SetEvent, [u64::from(message.object), message.events, 0])
        }
        Notification::ActivateTask | Notification::RaiseIsr => {
            Call::of_one(Service::ActivateTask, message.object)
        }
    }
}
