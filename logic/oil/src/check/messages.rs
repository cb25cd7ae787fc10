//! Messages and their notifications (OSEK COM 3.0.3, 2.5).
//!
//! The build of the program checks that the partition receives what a message is called by: the
//! text alone knows no channel.

use crate::application::{self, Application};
use crate::check::events;
use crate::check::names::Names;
use crate::configuration::{Definition, Message, Notification};
use crate::problem::Collector;
use crate::schema::Kind;

/// Checks the messages and makes their table.
pub(super) fn messages(
    application: &Application,
    names: &Names,
    masks: &[u64],
    collector: &mut Collector,
) -> Vec<Message> {
    let mut messages = Vec::new();
    for message in &application.messages {
        let given = &message.notification;
        if let Some(notification) = notification(given, application, names, masks, collector) {
            messages.push(Message { name: message.name.text.clone(), notification });
        }
    }
    messages
}

/// Checks a notification. Returns `None` if a name in it was refused.
fn notification(
    given: &application::Notification,
    application: &Application,
    names: &Names,
    masks: &[u64],
    collector: &mut Collector,
) -> Option<Notification> {
    Some(match given {
        application::Notification::ActivateTask { task } => {
            Notification::ActivateTask(names.task(task)?)
        }
        application::Notification::SetEvent { task, event } => {
            let words = [task, event];
            let (task, event) =
                events::event_of_task(words, "NOTIFICATION", application, names, collector)?;
            Notification::SetEvent { task, event, mask: masks[event] }
        }
        application::Notification::RaiseIsr { isr } => {
            let number = names.isr(isr)?;
            if application.isrs[number].category == 1 && !names.have_lost(Kind::Isr) {
                let message = "an ISR of category 1, which the kernel does not know of; name one \
                               of category 2";
                collector.refuse_word(isr, message);
            }
            Notification::RaiseIsr(number)
        }
    })
}

/// The position of each message.
pub(super) fn places(application: &Application, collector: &Collector) -> Vec<Definition> {
    let names = application.messages.iter().map(|message| &message.name);
    names.map(|name| collector.definition(&name.text, name.place)).collect()
}
