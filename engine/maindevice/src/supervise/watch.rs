//! The round of the supervision, and the search for a wrong working counter.
//!
//! For each SubDevice in turn: AL state; what lies in its mailbox; its error counters. While the
//! working counter of a cycle is wrong, instead: AL state, then its process data alone, read with
//! LRD and written with LWR. What those count tells whose data are missing. The outputs written are
//! those of the cycle itself.

use quietcore_units::Nanos;

use super::{Presence, Sight, Supervisor};
use crate::alarm::{Alarm, ErrorCounters};
use crate::cycle::Cycle;
use crate::frame::register;
use crate::frame::{Command, DATA_BYTES_MAX, Request};
use crate::mailbox::{Emergency, emergency_in};
use crate::state::AlStatus;
use crate::subdevice::SubDevice;

/// Time for which a working counter must be wrong before it is looked for: a change of state of a
/// SubDevice takes a few cycles to be seen.
const BOUNDS_OF_SEARCH: Nanos = Nanos::from_secs(1);

/// The question that is asked next.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Question {
    #[default]
    Status,
    Inputs,
    Outputs,
    MailboxStatus,
    Mailbox,
    Counters,
}

/// The search for whose working counter is wrong.
#[derive(Clone, Copy, Debug)]
struct Search {
    /// SubDevices still to be visited.
    left: usize,
    /// `true` once one of them was found.
    found: bool,
    /// It has been said that nobody was.
    told: bool,
    /// The next round begins at this instant.
    again: Nanos,
}

/// The position of the round through the SubDevices.
#[derive(Debug, Default)]
pub(super) struct Watch {
    at: usize,
    question: Question,
    /// The working counter of the inputs of the SubDevice at hand.
    inputs_counted: u16,
    search: Option<Search>,
}

/// The alarm for an emergency.
pub(crate) fn emergency(subdevice: u16, emergency: Emergency) -> Alarm {
    let Emergency { code, register, data } = emergency;
    Alarm::Emergency { subdevice, code, register, data }
}

impl Supervisor {
    /// Lets the watch ask something. Returns whether it did.
    pub(super) fn watch_ask(
        &mut self,
        sight: Sight,
        cycle: &mut Cycle,
        subdevices: &[SubDevice],
    ) -> bool {
        self.search(sight, subdevices.len());
        let Some(subdevice) = subdevices.get(self.watch.at) else { return false };
        let station = subdevice.address;
        let logical = |command, range: core::ops::Range<usize>| {
            let bytes = range.len().min(DATA_BYTES_MAX) as u16;
            Request::logical(command, range.start as u32, bytes)
        };
        let request = match (self.watch.question, &subdevice.mailbox) {
            (Question::Inputs, _) => logical(Command::Lrd, subdevice.inputs()),
            (Question::Outputs, _) => logical(Command::Lwr, subdevice.outputs()),
            (Question::MailboxStatus, Some(mailbox)) => mailbox.ask(station),
            (Question::Mailbox, Some(mailbox)) => mailbox.fetch(station),
            (Question::Counters, _) => {
                Request::read(station, register::ERROR_COUNTERS, register::ERROR_COUNTER_BYTES)
            }
            _ => {
                self.watch.question = Question::Status;
                Request::read(station, register::AL_STATUS, register::AL_STATUS_BYTES)
            }
        };
        cycle.take_along(request, |_| {});
        true
    }

    /// Begins or ends the search for a wrong working counter.
    fn search(&mut self, sight: Sight, count: usize) {
        let Sight { now, outcome, .. } = sight;
        let search = &mut self.watch.search;
        if outcome.is_complete() {
            if search.take().is_some() {
                self.health.iter_mut().for_each(|health| health.counter_told = false);
            }
        } else if !outcome.lost() {
            match search {
                None => {
                    let again = now + BOUNDS_OF_SEARCH;
                    *search = Some(Search { left: count, found: false, told: false, again });
                }
                Some(search) if search.left == 0 && now >= search.again => {
                    search.left = count;
                    search.again = now + BOUNDS_OF_SEARCH;
                }
                Some(_) => {}
            }
        }
    }

    pub(super) fn watch_answered(
        &mut self,
        sight: Sight,
        answer: Option<(&[u8], u16)>,
        subdevices: &[SubDevice],
    ) {
        // A lost frame says nothing; the same is asked again.
        let Some((data, counter)) = answer else { return };
        let at = self.watch.at;
        let Some(subdevice) = subdevices.get(at) else { return };
        let searching = self.watch.search.is_some_and(|search| search.left > 0);
        let next = match self.watch.question {
            Question::Status if counter == 0 => {
                self.saw(at, Presence::Absent);
                if searching {
                    self.counted(sight, subdevice, 0);
                }
                None
            }
            Question::Status => {
                if let Some(status) = AlStatus::parse(data) {
                    self.saw(at, Presence::Present(status));
                }
                self.watch.inputs_counted = 0;
                self.after_status(searching, subdevice)
            }
            Question::Inputs => {
                self.watch.inputs_counted = counter;
                if subdevice.outputs.is_empty() {
                    self.counted(sight, subdevice, counter);
                    None
                } else {
                    Some(Question::Outputs)
                }
            }
            Question::Outputs => {
                let counted = counter.saturating_mul(2).saturating_add(self.watch.inputs_counted);
                self.counted(sight, subdevice, counted);
                None
            }
            Question::MailboxStatus => {
                let status = data.first().copied().unwrap_or_default();
                let full = counter > 0 && status & register::MAILBOX_FULL != 0;
                Some(if full { Question::Mailbox } else { Question::Counters })
            }
            Question::Mailbox => {
                if let Some(found) = emergency_in(data).filter(|_| counter > 0) {
                    self.alarms.raise(emergency(subdevice.position, found));
                }
                Some(Question::Counters)
            }
            Question::Counters => {
                if counter > 0 {
                    self.saw_counters(at, ErrorCounters::parse(data));
                }
                None
            }
        };
        match next {
            Some(question) => self.watch.question = question,
            None => {
                self.watch.question = Question::Status;
                self.watch.at = (at + 1) % subdevices.len();
            }
        }
    }

    fn after_status(&self, searching: bool, subdevice: &SubDevice) -> Option<Question> {
        if searching {
            return match (subdevice.inputs.is_empty(), subdevice.outputs.is_empty()) {
                (false, _) => Some(Question::Inputs),
                (true, false) => Some(Question::Outputs),
                // Without process data it cannot be at fault, and is not counted as visited.
                (true, true) => None,
            };
        }
        // A mailbox in which someone else waits for an answer is left alone.
        let mailbox = subdevice.mailbox.is_some() && !self.recovers(self.watch.at);
        Some(if mailbox { Question::MailboxStatus } else { Question::Counters })
    }

    /// Takes note of a SubDevice's presence and AL state.
    fn saw(&mut self, at: usize, presence: Presence) {
        let subdevice = at as u16;
        let recovering = self.recovers(at);
        let health = &mut self.health[at];
        let before = core::mem::replace(&mut health.presence, presence);
        // Who is being brought back passes through other states; the recovery tells its end.
        if recovering || before == presence {
            return;
        }
        let alarm = match presence {
            Presence::Unknown => return,
            Presence::Absent if health.down && before == Presence::Absent => return,
            Presence::Absent => Alarm::Absent { subdevice },
            Presence::Present(status) if status.is_op() => {
                if !core::mem::take(&mut health.down) {
                    return;
                }
                Alarm::Recovered { subdevice }
            }
            Presence::Present(status) => {
                Alarm::State { subdevice, found: status.state, code: status.code }
            }
        };
        health.down |= !matches!(alarm, Alarm::Recovered { .. });
        self.alarms.raise(alarm);
    }

    /// Takes note of what the process data of one SubDevice counted during a search.
    fn counted(&mut self, sight: Sight, subdevice: &SubDevice, found: u16) {
        let expected = subdevice.working_counter();
        let health = &mut self.health[usize::from(subdevice.position)];
        let wrong = found != expected;
        let tell = wrong && !health.counter_told;
        health.counter_told = wrong;
        if tell {
            let subdevice = Some(subdevice.position);
            self.alarms.raise(Alarm::WorkingCounter { subdevice, expected, found });
        }
        let Some(search) = &mut self.watch.search else { return };
        search.found |= wrong;
        search.left = search.left.saturating_sub(1);
        if search.left == 0 {
            let nobody = !core::mem::take(&mut search.found);
            if nobody && !search.told {
                search.told = true;
                let (expected, found) = (sight.outcome.expected, sight.outcome.working_counter);
                self.alarms.raise(Alarm::WorkingCounter { subdevice: None, expected, found });
            }
        }
    }

    fn saw_counters(&mut self, at: usize, counters: ErrorCounters) {
        let before = self.health[at].counters.replace(counters);
        // The first reading is where counting begins; all zero again is a device that was reset.
        if before.is_some_and(|before| before != counters) && counters != ErrorCounters::default() {
            self.alarms.raise(Alarm::ErrorCounters { subdevice: at as u16, counters });
        }
    }
}
