//! The choices of the person at `top`, and the effect of keys. This module is pure.

use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};

use super::collect::{Pane, Snapshot};

/// The quantity that the histogram shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shown {
    Release,
    Execution,
    Response,
}

impl Shown {
    const ALL: [Self; 3] = [Self::Release, Self::Execution, Self::Response];

    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Release => "release latency",
            Self::Execution => "execution time",
            Self::Response => "response time",
        }
    }

    fn step(self, by: usize) -> Self {
        let at = Self::ALL.iter().position(|it| *it == self).unwrap_or(0);
        Self::ALL[(at + by) % Self::ALL.len()]
    }
}

/// The order in which partitions are listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sort {
    /// The order of the site file.
    File,
    /// The longest release latency first, in periods.
    Worst,
    /// The most misses and overruns first.
    Misses,
}

impl Sort {
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::File => "site file",
            Self::Worst => "worst ÷ period",
            Self::Misses => "missed + overruns",
        }
    }

    const fn next(self) -> Self {
        match self {
            Self::File => Self::Worst,
            Self::Worst => Self::Misses,
            Self::Misses => Self::File,
        }
    }
}

/// The choices that keys have made.
#[derive(Clone, Debug)]
pub(super) struct View {
    /// Name of the chosen partition; by name, since sorting must not change it.
    pub(super) chosen: Option<String>,
    pub(super) shown: Shown,
    pub(super) sort: Sort,
    /// `true` if colours are used.
    pub(super) color: bool,
}

/// The consequence of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Answer {
    End,
    Redraw,
    Nothing,
}

impl View {
    pub(super) fn new(color: bool) -> Self {
        Self { chosen: None, shown: Shown::Release, sort: Sort::File, color }
    }

    /// Returns the partitions in the order in which they are shown.
    pub(super) fn sorted<'s>(&self, snapshot: &'s Snapshot) -> Vec<&'s Pane> {
        let mut panes: Vec<&Pane> = snapshot.partitions.iter().collect();
        match self.sort {
            Sort::File => {}
            Sort::Worst => panes.sort_by(|a, b| in_periods(b).total_cmp(&in_periods(a))),
            Sort::Misses => panes.sort_by_key(|pane| {
                let state = &pane.state;
                std::cmp::Reverse(state.missed_cycles.saturating_add(state.overruns))
            }),
        }
        panes
    }

    /// Returns the index of the chosen partition among the sorted ones; 0 if none is chosen.
    pub(super) fn place(&self, panes: &[&Pane]) -> usize {
        let chosen = self.chosen.as_deref();
        panes.iter().position(|pane| Some(pane.state.name.as_str()) == chosen).unwrap_or(0)
    }

    /// Changes the choices as a key asks, and returns what is to be done.
    pub(super) fn press(&mut self, key: KeyEvent, snapshot: &Snapshot) -> Answer {
        if key.kind == KeyEventKind::Release {
            return Answer::Nothing;
        }
        let control = key.modifiers.contains(KeyModifiers::CONTROL);
        match key.code {
            KeyCode::Char('c') if control => return Answer::End,
            KeyCode::Char('q') | KeyCode::Esc => return Answer::End,
            KeyCode::Char('s') => self.sort = self.sort.next(),
            KeyCode::Right => self.shown = self.shown.step(1),
            KeyCode::Left => self.shown = self.shown.step(Shown::ALL.len() - 1),
            KeyCode::Up => self.choose(snapshot, |place, _| place.saturating_sub(1)),
            KeyCode::Down => self.choose(snapshot, |place, last| (place + 1).min(last)),
            KeyCode::Home => self.choose(snapshot, |_, _| 0),
            KeyCode::End => self.choose(snapshot, |_, last| last),
            _ => return Answer::Nothing,
        }
        Answer::Redraw
    }

    fn choose(&mut self, snapshot: &Snapshot, to: impl Fn(usize, usize) -> usize) {
        let panes = self.sorted(snapshot);
        let place = to(self.place(&panes), panes.len().saturating_sub(1));
        self.chosen = panes.get(place).map(|pane| pane.state.name.clone());
    }
}

fn in_periods(pane: &Pane) -> f64 {
    pane.state.release_max.as_secs_f64() / pane.state.period.as_secs_f64().max(1e-9)
}
