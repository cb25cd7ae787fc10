//! The tree of resctrl (Linux, `Documentation/arch/x86/resctrl.rst`), live and in a fake.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::rc::Rc;
use std::thread;
use std::time::Duration;

use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;

use super::bandwidth::{ALL_PERCENT, Limits, Steps};
use super::masks::{Masks, Rules, is_possible};
use quietcore_host::process::began_at;
use quietcore_host::{Source, TEXT_LIMIT};

/// The folder at which resctrl is mounted.
pub(super) const RESCTRL: &str = "/sys/fs/resctrl";

/// Tries to lock the tree, and the time between.
const LOCK_TRIES: u32 = 100;
const LOCK_EVERY: Duration = Duration::from_millis(20);

/// Operations on the tree. Paths are below its root.
pub trait ResctrlTree {
    /// Keeps all others who follow the rule away, as long as it lives.
    type Lock;

    /// Waits until nobody else changes the tree, but not for ever.
    ///
    /// # Errors
    /// The tree is not there, or somebody else keeps it.
    fn lock(&self) -> io::Result<Self::Lock>;

    /// Keeps others from changing the tree, unless one does: then it is `None`.
    ///
    /// # Errors
    /// The tree is not there.
    fn try_lock(&self) -> io::Result<Option<Self::Lock>>;

    /// Reads a file of the tree.
    ///
    /// # Errors
    /// Those of the file.
    fn read(&self, path: &str) -> io::Result<String>;

    /// Writes a file of the tree with one system call.
    ///
    /// # Errors
    /// Those of the file, with the kernel's own words where it has some.
    fn write(&self, path: &str, text: &str) -> io::Result<()>;

    /// Makes an empty group.
    ///
    /// # Errors
    /// The processor tells no more of them apart.
    fn make(&self, group: &str) -> io::Result<()>;

    /// Removes a group; its threads go to the default one.
    ///
    /// # Errors
    /// There is none.
    fn remove(&self, group: &str) -> io::Result<()>;

    /// The groups that stand, but for the default one.
    ///
    /// # Errors
    /// The tree is not there.
    fn groups(&self) -> io::Result<Vec<String>>;

    /// Returns `true` if this process lives, and began at this instant, in the kernel's ticks.
    fn lives(&self, process: u32, began: u64) -> bool;
}

/// The tree of this machine.
#[derive(Clone, Debug)]
pub struct LiveTree {
    source: Source,
}

impl LiveTree {
    /// Makes a tree below this root.
    pub fn below(source: Source) -> Self {
        Self { source }
    }

    fn place(&self, path: &str) -> std::path::PathBuf {
        self.source.place(&format!("{RESCTRL}/{path}"))
    }

    /// The root of the tree. A kernel that knows resctrl has the folder, mounted or not.
    fn root(&self) -> io::Result<File> {
        fs::metadata(self.place("schemata"))?;
        File::open(self.place(""))
    }

    /// An error with what the kernel says of it, where it says something.
    fn told(&self, error: io::Error) -> io::Error {
        let said = self.read("info/last_cmd_status").unwrap_or_default();
        let said = said.trim();
        let said_nothing = said.is_empty() || said == "ok";
        if said_nothing { error } else { io::Error::new(error.kind(), said.to_owned()) }
    }
}

impl Default for LiveTree {
    fn default() -> Self {
        Self::below(Source::live())
    }
}

impl ResctrlTree for LiveTree {
    type Lock = File;

    fn lock(&self) -> io::Result<File> {
        let root = self.root()?;
        for _ in 0..LOCK_TRIES {
            match flock(&root, FlockOperation::NonBlockingLockExclusive) {
                Err(Errno::WOULDBLOCK) => thread::sleep(LOCK_EVERY),
                other => return Ok(other.map(|()| root)?),
            }
        }
        let waited = LOCK_EVERY * LOCK_TRIES;
        Err(io::Error::other(format!("another program has kept it locked for {waited:?}")))
    }

    fn try_lock(&self) -> io::Result<Option<File>> {
        let root = self.root()?;
        match flock(&root, FlockOperation::NonBlockingLockShared) {
            Err(Errno::WOULDBLOCK) => Ok(None),
            other => Ok(Some(other.map(|()| root)?)),
        }
    }

    fn read(&self, path: &str) -> io::Result<String> {
        let text = fs::read(self.place(path))?;
        let length = text.len().min(usize::try_from(TEXT_LIMIT).unwrap_or(usize::MAX));
        Ok(String::from_utf8_lossy(&text[..length]).into_owned())
    }

    fn write(&self, path: &str, text: &str) -> io::Result<()> {
        // Not created: where there is no such file, this is no resctrl.
        let mut file = OpenOptions::new().write(true).open(self.place(path))?;
        file.write_all(text.as_bytes()).map_err(|error| self.told(error))
    }

    fn make(&self, group: &str) -> io::Result<()> {
        fs::create_dir(self.place(group)).map_err(|error| self.told(error))
    }

    fn remove(&self, group: &str) -> io::Result<()> {
        fs::remove_dir(self.place(group)).map_err(|error| self.told(error))
    }

    fn groups(&self) -> io::Result<Vec<String>> {
        let names = fs::read_dir(self.place(""))?
            .filter_map(|entry| entry.ok()?.file_name().into_string().ok());
        let is_group = |name: &String| self.place(&format!("{name}/schemata")).exists();
        let mut groups: Vec<String> = names.filter(is_group).collect();
        groups.sort();
        Ok(groups)
    }

    fn lives(&self, process: u32, began: u64) -> bool {
        began_at(&self.source, process) == Some(began)
    }
}

/// A tree without a machine, which follows the kernel's rules and fails where told to.
#[derive(Clone, Debug)]
pub struct FakeTree {
    state: Rc<RefCell<State>>,
}

#[derive(Debug)]
struct State {
    /// By name; the default group has none.
    groups: BTreeMap<String, Group>,
    rules: Rules,
    steps: Steps,
    /// The bandwidth that a new group may take.
    unlimited: u64,
    classes: usize,
    living: Vec<(u32, u64)>,
    /// Number of changes that are still made before one is refused.
    refuse_after: Option<usize>,
    /// `true` if that one is refused alone, and not all after it.
    refuses_one: bool,
    /// The kernel forgets what is written.
    forgets: bool,
}

#[derive(Clone, Debug, Default)]
struct Group {
    masks: Masks,
    limits: Limits,
    tasks: Vec<String>,
}

impl FakeTree {
    /// Two caches of 12 ways, the upper two of which devices fill too, and limits of the bandwidth
    /// in steps of 10 %; 4 groups at most.
    pub fn new() -> Self {
        Self::with("L3:0=fff;1=fff", ALL_PERCENT)
    }

    /// The same without a last-level cache that could be divided.
    pub fn of_bandwidth() -> Self {
        Self::with("", ALL_PERCENT)
    }

    /// The same where code and data are told apart.
    pub fn of_code_and_data() -> Self {
        Self::with("L3CODE:0=fff\nL3DATA:0=fff", ALL_PERCENT)
    }

    /// The same with limits of the bandwidth that are no percent.
    pub fn of_absolute_bandwidth() -> Self {
        Self::with("L3:0=fff;1=fff", 2048)
    }

    fn with(masks: &str, unlimited: u64) -> Self {
        let rules = Rules { full: 0xFFF, least: 1, devices: 0xC00, sparse: false };
        let limits = Limits::parse(&format!("MB:0={unlimited};1={unlimited}"));
        let tasks = vec!["1".to_owned()];
        let default = Group { masks: Masks::parse(masks), limits, tasks };
        Self {
            state: Rc::new(RefCell::new(State {
                groups: BTreeMap::from([(String::new(), default)]),
                rules,
                steps: Steps { least: 10, step: 10 },
                unlimited,
                classes: 4,
                living: Vec::new(),
                refuse_after: None,
                refuses_one: false,
                forgets: false,
            })),
        }
    }

    /// Says that this process lives, and when it began.
    pub fn live(&self, process: u32, began: u64) {
        self.state.borrow_mut().living.push((process, began));
    }

    /// Says that a process was killed.
    pub fn kill(&self, process: u32) {
        self.state.borrow_mut().living.retain(|(living, _)| *living != process);
    }

    /// Makes so many changes, and refuses the next one.
    pub fn refuse_after(&self, changes: Option<usize>) {
        self.state.borrow_mut().refuse_after = changes;
    }

    /// Makes so many changes, refuses the next one, and makes those after it.
    pub fn refuse_one(&self, after: usize) {
        let mut state = self.state.borrow_mut();
        (state.refuse_after, state.refuses_one) = (Some(after), true);
    }

    /// Has writes of masks do nothing, as if another program undid them.
    pub fn forget(&self) {
        self.state.borrow_mut().forgets = true;
    }

    /// The masks of a group; of the default one where the name is empty.
    pub fn masks(&self, group: &str) -> Option<String> {
        self.state.borrow().groups.get(group).map(|group| group.masks.to_string())
    }

    /// Returns the limits of a group's bandwidth.
    pub fn limits(&self, group: &str) -> Option<String> {
        self.state.borrow().groups.get(group).map(|group| group.limits.to_string())
    }

    fn change(&self) -> io::Result<()> {
        let mut state = self.state.borrow_mut();
        match &mut state.refuse_after {
            Some(0) => {
                if state.refuses_one {
                    state.refuse_after = None;
                }
                return Err(io::Error::from_raw_os_error(libc::EACCES));
            }
            Some(left) => *left -= 1,
            None => {}
        }
        Ok(())
    }
}

impl Default for FakeTree {
    fn default() -> Self {
        Self::new()
    }
}

impl ResctrlTree for FakeTree {
    type Lock = ();

    fn lock(&self) -> io::Result<()> {
        Ok(())
    }

    fn try_lock(&self) -> io::Result<Option<()>> {
        Ok(Some(()))
    }

    fn read(&self, path: &str) -> io::Result<String> {
        let state = self.state.borrow();
        let Rules { full, least, devices, .. } = state.rules;
        let found = match path {
            "info/L3/cbm_mask" => Some(format!("{full:x}\n")),
            "info/L3/min_cbm_bits" => Some(format!("{least}\n")),
            "info/L3/shareable_bits" => Some(format!("{devices:x}\n")),
            "info/MB/min_bandwidth" => Some(format!("{}\n", state.steps.least)),
            "info/MB/bandwidth_gran" => Some(format!("{}\n", state.steps.step)),
            "info/MB/thread_throttle_mode" => Some("max\n".to_owned()),
            _ => {
                let (group, file) = path.rsplit_once('/').unwrap_or(("", path));
                state.groups.get(group).and_then(|group| match file {
                    "schemata" => Some(format!("    {}{}", group.limits, group.masks)),
                    "tasks" => Some(group.tasks.join("\n")),
                    _ => None,
                })
            }
        };
        found.ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    fn write(&self, path: &str, text: &str) -> io::Result<()> {
        self.change()?;
        let mut state = self.state.borrow_mut();
        let (rules, forgets) = (state.rules, state.forgets);
        let (steps, unlimited) = (state.steps, state.unlimited);
        let (name, file) = path.rsplit_once('/').unwrap_or(("", path));
        let (masks, limits) = (Masks::parse(text), Limits::parse(text));
        let is_limit = |limit: u64| limit >= steps.least && limit <= unlimited;
        if file == "schemata" && !limits.all().all(is_limit) {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        if file == "schemata" && masks.all().any(|mask| !is_possible(mask, rules)) {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        if file == "tasks" {
            let task = text.trim().to_owned();
            state.groups.values_mut().for_each(|group| group.tasks.retain(|one| *one != task));
        }
        let group = state.groups.get_mut(name).ok_or(io::ErrorKind::NotFound)?;
        match file {
            "schemata" if forgets => {}
            "schemata" if limits.is_empty() => group.masks = masks,
            "schemata" => group.limits = limits.map(|limit| steps.next(limit)),
            "tasks" => group.tasks.push(text.trim().to_owned()),
            _ => return Err(io::ErrorKind::NotFound.into()),
        }
        Ok(())
    }

    fn make(&self, group: &str) -> io::Result<()> {
        self.change()?;
        let mut state = self.state.borrow_mut();
        if state.groups.contains_key(group) {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        if state.groups.len() == state.classes {
            return Err(io::Error::from_raw_os_error(libc::ENOSPC));
        }
        let (full, unlimited) = (state.rules.full, state.unlimited);
        let masks = state.groups[""].masks.map(|_| full);
        let limits = state.groups[""].limits.all_at(unlimited);
        state.groups.insert(group.to_owned(), Group { masks, limits, tasks: Vec::new() });
        Ok(())
    }

    fn remove(&self, group: &str) -> io::Result<()> {
        self.change()?;
        let mut state = self.state.borrow_mut();
        let removed = state.groups.remove(group).ok_or(io::ErrorKind::NotFound)?;
        let default = state.groups.get_mut("").ok_or(io::ErrorKind::NotFound)?;
        default.tasks.extend(removed.tasks);
        Ok(())
    }

    fn groups(&self) -> io::Result<Vec<String>> {
        let state = self.state.borrow();
        Ok(state.groups.keys().filter(|name| !name.is_empty()).cloned().collect())
    }

    fn lives(&self, process: u32, began: u64) -> bool {
        self.state.borrow().living.contains(&(process, began))
    }
}
