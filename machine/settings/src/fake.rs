//! Settings of no machine, which fail where told to.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use std::time::Duration;

use super::setting::{Setting, SettingError, Settings};
use quietcore_host::process::ProcessName;

/// Settings of no machine. Clones are the same machine, seen by another process each.
#[derive(Clone, Debug)]
pub struct FakeSettings {
    state: Rc<RefCell<State>>,
    own: ProcessName,
}

#[derive(Debug)]
struct State {
    values: BTreeMap<Setting, String>,
    boot: u32,
    living: BTreeSet<u32>,
    /// Settings whose writes fail.
    refusing: BTreeSet<Setting>,
    /// Settings whose writes do nothing.
    ignoring: BTreeSet<Setting>,
    /// Settings that show the value before for so many readings after a write.
    lagging: BTreeMap<Setting, usize>,
    /// The value before, for so many readings more.
    shown: BTreeMap<Setting, (String, usize)>,
    /// Changes that are still made before a process is killed.
    killed_after: Option<usize>,
}

impl FakeSettings {
    /// A machine with these settings, seen by process 1.
    pub fn new(values: impl IntoIterator<Item = (Setting, String)>) -> Self {
        let state = State {
            values: values.into_iter().collect(),
            boot: 1,
            living: BTreeSet::from([1]),
            refusing: BTreeSet::new(),
            ignoring: BTreeSet::new(),
            lagging: BTreeMap::new(),
            shown: BTreeMap::new(),
            killed_after: None,
        };
        Self {
            state: Rc::new(RefCell::new(state)),
            own: ProcessName { process: 1, began: 1, namespace: None },
        }
    }

    /// The same machine, seen by a process that begins now.
    pub fn seen_by(&self, process: u32) -> Self {
        self.state.borrow_mut().living.insert(process);
        Self {
            state: Rc::clone(&self.state),
            own: ProcessName { process, began: 1, namespace: None },
        }
    }

    /// Says that a process is gone.
    pub fn kill(&self, process: u32) {
        self.state.borrow_mut().living.remove(&process);
    }

    /// Kills the process that reads or writes after so many times more: its call panics.
    pub fn kill_after(&self, times: Option<usize>) {
        self.state.borrow_mut().killed_after = times;
    }

    /// Has writes of a setting fail, or not.
    pub fn refuse(&self, setting: &Setting, refuses: bool) {
        let mut state = self.state.borrow_mut();
        if refuses {
            state.refusing.insert(setting.clone());
        } else {
            state.refusing.remove(setting);
        }
    }

    /// Has writes of a setting do nothing.
    pub fn ignore(&self, setting: &Setting) {
        self.state.borrow_mut().ignoring.insert(setting.clone());
    }

    /// Has a setting show the value before for so many readings after each write.
    pub fn lag(&self, setting: &Setting, readings: usize) {
        self.state.borrow_mut().lagging.insert(setting.clone(), readings);
    }

    /// Starts the machine anew, with these values.
    pub fn reboot(&self, values: impl IntoIterator<Item = (Setting, String)>) {
        let mut state = self.state.borrow_mut();
        state.boot += 1;
        state.living.clear();
        state.values = values.into_iter().collect();
    }

    /// Returns the values of all settings.
    pub fn values(&self) -> BTreeMap<Setting, String> {
        self.state.borrow().values.clone()
    }

    /// Changes a setting, as another program would; `None` takes it away.
    pub fn put(&self, setting: &Setting, value: Option<&str>) {
        let mut state = self.state.borrow_mut();
        match value {
            Some(value) => state.values.insert(setting.clone(), value.to_owned()),
            None => state.values.remove(setting),
        };
    }
}

impl State {
    fn live_on(&mut self, own: ProcessName) {
        if let Some(times) = &mut self.killed_after {
            if *times == 0 {
                self.killed_after = None;
                self.living.remove(&own.process);
                panic!("process {} is killed", own.process);
            }
            *times -= 1;
        }
    }
}

impl Settings for FakeSettings {
    fn read(&self, setting: &Setting) -> Result<String, SettingError> {
        let mut state = self.state.borrow_mut();
        state.live_on(self.own);
        if let Some((before, readings @ 1..)) = state.shown.get_mut(setting) {
            *readings -= 1;
            return Ok(before.clone());
        }
        state.values.get(setting).cloned().ok_or(SettingError::Gone)
    }

    fn write(&self, setting: &Setting, value: &str) -> Result<(), SettingError> {
        let mut state = self.state.borrow_mut();
        state.live_on(self.own);
        if state.refusing.contains(setting) {
            return Err(SettingError::Refused("permission denied".to_owned()));
        }
        if state.ignoring.contains(setting) && state.values.contains_key(setting) {
            return Ok(());
        }
        let place = state.values.get_mut(setting).ok_or(SettingError::Gone)?;
        let before = std::mem::replace(place, value.to_owned());
        if let Some(readings) = state.lagging.get(setting).copied() {
            state.shown.insert(setting.clone(), (before, readings));
        }
        Ok(())
    }

    fn pause(&self, _: Duration) {}

    fn boot(&self) -> String {
        self.state.borrow().boot.to_string()
    }

    fn own(&self) -> ProcessName {
        self.own
    }

    fn lives(&self, process: &ProcessName) -> bool {
        self.state.borrow().living.contains(&process.process)
    }
}
