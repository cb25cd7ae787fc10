//! Counters, and what is going to expire on them.
//!
//! Each counter has a list of nodes by their expiry. A node is an alarm, or a schedule table with
//! its next expiry point. Time on a counter is its number of ticks since the start, which never
//! wraps around; its value is what the standard's services speak of.
//!
//! ```text
//! counter 0: ─► alarm 3 at 1000 ─► table 0 at 1000 ─► alarm 1 at 1010
//!                                  equal expiries: in the order in which they were set
//! ```

use crate::configuration::{ALARMS_MAX, COUNTERS_MAX, Configuration, SCHEDULE_TABLES_MAX};

const NODES: usize = ALARMS_MAX + SCHEDULE_TABLES_MAX;
const END: u16 = u16::MAX;

/// Index of a node, below the number of all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct NodeId(u16);

/// The object that a node belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Of {
    Alarm(usize),
    Table(usize),
}

impl NodeId {
    /// Callers pass indices of the tables, which are as short as this.
    pub(super) const fn alarm(alarm: usize) -> Self {
        Self(alarm as u16)
    }

    pub(super) const fn table(table: usize) -> Self {
        Self((ALARMS_MAX + table) as u16)
    }

    pub(super) fn of(self) -> Of {
        let index = usize::from(self.0);
        match index.checked_sub(ALARMS_MAX) {
            None => Of::Alarm(index),
            Some(table) => Of::Table(table),
        }
    }
}

#[derive(Clone, Copy, Debug)]
struct Node {
    expiry: u64,
    next: u16,
    is_set: bool,
}

#[derive(Clone, Copy, Debug)]
struct CounterState {
    ticks: u64,
    value: u32,
    max_allowed: u32,
    first: u16,
}

/// All counters with their nodes.
#[derive(Debug)]
#[cfg_attr(test, derive(Clone))]
pub(super) struct Timeline {
    counters: [CounterState; COUNTERS_MAX],
    nodes: [Node; NODES],
}

impl Timeline {
    pub(super) const fn new() -> Self {
        let counter = CounterState { ticks: 0, value: 0, max_allowed: 0, first: END };
        Self {
            counters: [counter; COUNTERS_MAX],
            nodes: [Node { expiry: 0, next: END, is_set: false }; NODES],
        }
    }

    pub(super) fn reset(&mut self, configuration: &Configuration<'_>) {
        for (state, counter) in self.counters.iter_mut().zip(configuration.counters) {
            let max_allowed = counter.max_allowed;
            *state = CounterState { ticks: 0, value: 0, max_allowed, first: END };
        }
        self.nodes.fill(Node { expiry: 0, next: END, is_set: false });
    }

    /// The value of a counter.
    pub(super) fn value(&self, counter: usize) -> u32 {
        self.counters[counter].value
    }

    /// The ticks of a counter since the start.
    pub(super) fn ticks(&self, counter: usize) -> u64 {
        self.counters[counter].ticks
    }

    /// Ticks until a counter has this value again; a whole round where it has it now.
    pub(super) fn ticks_until(&self, counter: usize, value: u32) -> u64 {
        let state = &self.counters[counter];
        let round = u64::from(state.max_allowed) + 1;
        match (u64::from(value) + round - u64::from(state.value)) % round {
            0 => round,
            ticks => ticks,
        }
    }

    /// Ticks to the next expiry of a counter, at least one: what expires now was taken before.
    pub(super) fn until_expiry(&self, counter: usize) -> u64 {
        let state = &self.counters[counter];
        match self.nodes.get(usize::from(state.first)) {
            Some(node) => node.expiry.saturating_sub(state.ticks).max(1),
            None => u64::MAX,
        }
    }

    /// Advances a counter, not beyond its next expiry.
    pub(super) fn advance(&mut self, counter: usize, ticks: u32) {
        let state = &mut self.counters[counter];
        state.ticks += u64::from(ticks);
        let round = u64::from(state.max_allowed) + 1;
        state.value = ((u64::from(state.value) + u64::from(ticks)) % round) as u32;
    }

    /// Takes a node that expires now.
    pub(super) fn take_due(&mut self, counter: usize) -> Option<NodeId> {
        let state = &mut self.counters[counter];
        let first = state.first;
        let node = self.nodes.get_mut(usize::from(first))?;
        if node.expiry > state.ticks {
            return None;
        }
        node.is_set = false;
        state.first = node.next;
        Some(NodeId(first))
    }

    /// Ticks until a node expires; `None` where it is not set.
    pub(super) fn remaining(&self, counter: usize, node: NodeId) -> Option<u64> {
        let node = &self.nodes[usize::from(node.0)];
        node.is_set.then(|| node.expiry.saturating_sub(self.counters[counter].ticks))
    }

    /// Sets a node that is not set, behind those with the same expiry.
    pub(super) fn insert(&mut self, counter: usize, node: NodeId, expiry: u64) {
        let mut before = None;
        let mut next = self.counters[counter].first;
        while let Some(other) = self.nodes.get(usize::from(next))
            && other.expiry <= expiry
        {
            before = Some(usize::from(next));
            next = other.next;
        }
        self.nodes[usize::from(node.0)] = Node { expiry, next, is_set: true };
        *self.link(counter, before) = node.0;
    }

    /// Takes a node out. `false` where it was not set.
    pub(super) fn remove(&mut self, counter: usize, node: NodeId) -> bool {
        if !self.nodes[usize::from(node.0)].is_set {
            return false;
        }
        let mut before = None;
        let mut at = self.counters[counter].first;
        while at != node.0 && at != END {
            before = Some(usize::from(at));
            at = self.nodes[usize::from(at)].next;
        }
        assert!(at == node.0, "a node that is set is in the list of its counter");
        let removed = &mut self.nodes[usize::from(node.0)];
        removed.is_set = false;
        let next = removed.next;
        *self.link(counter, before) = next;
        true
    }

    fn link(&mut self, counter: usize, before: Option<usize>) -> &mut u16 {
        match before {
            Some(before) => &mut self.nodes[before].next,
            None => &mut self.counters[counter].first,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::configuration::Counter;

    const COUNTER: Counter =
        Counter { max_allowed: 9, ticks_per_base: 1, min_cycle: 1, hardware: true, tick_ns: 1 };

    fn timeline(max_allowed: u32) -> Timeline {
        let counters = [Counter { max_allowed, ..COUNTER }];
        let mut timeline = Timeline::new();
        timeline.reset(&Configuration { counters: &counters, ..Configuration::EMPTY });
        timeline
    }

    fn alarm(index: usize) -> NodeId {
        NodeId::alarm(index)
    }

    #[test]
    fn what_expires_comes_in_the_order_of_time_then_of_setting() {
        let mut timeline = timeline(9);
        timeline.insert(0, alarm(2), 5);
        timeline.insert(0, alarm(0), 3);
        timeline.insert(0, NodeId::table(0), 5);
        timeline.insert(0, alarm(1), 5);
        assert_eq!(timeline.until_expiry(0), 3);
        timeline.advance(0, 3);
        assert_eq!(timeline.take_due(0), Some(alarm(0)));
        assert_eq!(timeline.take_due(0), None);
        timeline.advance(0, 2);
        let taken = [(); 4].map(|()| timeline.take_due(0));
        assert_eq!(taken, [Some(alarm(2)), Some(NodeId::table(0)), Some(alarm(1)), None]);
    }

    /// First, middle and last, so that each kind of link is mended.
    #[test]
    fn what_is_removed_does_not_expire() {
        for removed in 0..3 {
            let mut timeline = timeline(9);
            for index in 0..3 {
                timeline.insert(0, alarm(index), 1 + index as u64);
            }
            assert!(timeline.remove(0, alarm(removed)));
            assert!(!timeline.remove(0, alarm(removed)), "it is removed already");
            assert_eq!(timeline.remaining(0, alarm(removed)), None);
            timeline.advance(0, 3);
            let left = (0..3).filter(|index| *index != removed);
            for index in left {
                assert_eq!(timeline.take_due(0), Some(alarm(index)));
            }
            assert_eq!(timeline.take_due(0), None);
        }
    }

    #[test]
    fn a_value_is_reached_after_a_whole_round_where_it_is_now() {
        let mut timeline = timeline(9);
        timeline.advance(0, 24);
        assert_eq!((timeline.value(0), timeline.ticks(0)), (4, 24));
        assert_eq!(timeline.ticks_until(0, 4), 10);
        assert_eq!(timeline.ticks_until(0, 5), 1);
        assert_eq!(timeline.ticks_until(0, 3), 9);
        assert_eq!(timeline.ticks_until(0, 0), 6);
    }

    /// A counter of 32 bits goes around while an alarm is set; its time does not.
    #[test]
    fn the_widest_counter_wraps_around_and_its_time_does_not() {
        let mut timeline = timeline(u32::MAX);
        timeline.advance(0, u32::MAX);
        assert_eq!(timeline.value(0), u32::MAX);
        assert_eq!(timeline.ticks_until(0, u32::MAX), 1 << 32);
        timeline.insert(0, alarm(0), timeline.ticks(0) + (1 << 32));
        timeline.advance(0, u32::MAX);
        assert_eq!(timeline.value(0), u32::MAX - 1);
        assert_eq!(timeline.remaining(0, alarm(0)), Some(1));
        assert_eq!(timeline.take_due(0), None);
        timeline.advance(0, 1);
        assert_eq!(timeline.take_due(0), Some(alarm(0)));
        assert_eq!(timeline.ticks(0), 2 * u64::from(u32::MAX) + 1);
    }
}
