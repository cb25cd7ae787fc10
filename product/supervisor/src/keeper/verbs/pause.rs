//! `pause` and `resume`: hold a program between two cycles, and let it go on.

use super::{ANSWER_MAX, nanos};
use crate::control::{ControlError, Paused, Refusal};
use crate::keeper::Kept;
use crate::keeper::incarnation::Incarnation;
use crate::keeper::request::Caller;

impl Kept {
    /// Holds the program, or lets it go on, and answers when that has happened.
    pub(super) fn pause(&mut self, life: &mut Incarnation<'_>, pause: bool, caller: Caller) {
        let was_paused = life.region.is_paused();
        let done = self.hold(life, pause);
        // The next client must see the new state.
        self.publish_life(life);
        if done.is_ok() && was_paused != pause {
            // The partition itself reports that it happened.
            let text = if pause { "to be paused" } else { "to go on" };
            self.note_asked_quietly("asked", text, None, &caller.by);
        }
        let has_fieldbus = self.setup.fieldbus.is_some();
        caller.answer(done.map(|()| Paused { is_paused: pause, was_paused, has_fieldbus }));
    }

    fn hold(&mut self, life: &Incarnation<'_>, pause: bool) -> Result<(), ControlError> {
        let place = &self.setup.partition.name.clone();
        self.refuse_shed()?;
        if pause && life.pending.is_some() {
            return Err(Refusal::BuildNeedsCycle.at(place));
        }
        life.region.request_pause(pause);
        let patience = ANSWER_MAX + self.period();
        let end = self.world.now() + patience;
        while life.region.is_paused() != pause {
            if self.world.now() >= end {
                // What was refused must not happen later.
                life.region.request_pause(!pause);
                return Err(Refusal::NotNoted { within: nanos(patience) }.at(place));
            }
            self.glance(life);
        }
        Ok(())
    }
}
