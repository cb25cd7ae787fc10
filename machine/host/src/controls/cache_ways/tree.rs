//! The tree of resctrl (Linux, `Documentation/arch/x86/resctrl.rst`), live and in a fake.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::rc::Rc;

use rustix::fs::{FlockOperation, flock};

use super::masks::{Masks, Rules, is_possible};
use crate::controls::process::began_at;
use crate::source::{Source, TEXT_LIMIT};

/// Where resctrl is mounted.
pub(super) const RESCTRL: &str = "/sys/fs/resctrl";

/// What is done to the tree. Paths are below its root.
pub trait ResctrlTree {
    /// What keeps all others who follow the rule away, as long as it lives.
    type Lock;

    /// Waits until nobody else changes the tree.
    ///
    /// # Errors
    /// The tree is not there, or can't be locked.
    fn lock(&self) -> io::Result<Self::Lock>;

    /// Reads a file.
    ///
    /// # Errors
    /// Those of the file.
    fn read(&self, path: &str) -> io::Result<String>;

    /// Writes a file.
    ///
    /// # Errors
    /// Those of the file, with the kernel's own words where it has some.
    fn write(&self, path: &str, text: &str) -> io::Result<()>;

    /// Makes a group.
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

    /// Whether this process lives, and began at this instant, in the kernel's ticks.
    fn lives(&self, process: u32, began: u64) -> bool;
}

/// The tree of this machine.
#[derive(Clone, Debug)]
pub struct LiveTree {
    source: Source,
}

impl LiveTree {
    /// Below this root.
    pub fn below(source: Source) -> Self {
        Self { source }
    }

    fn place(&self, path: &str) -> std::path::PathBuf {
        self.source.place(&format!("{RESCTRL}/{path}"))
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
        let root = File::open(self.place(""))?;
        flock(&root, FlockOperation::LockExclusive)?;
        Ok(root)
    }

    fn read(&self, path: &str) -> io::Result<String> {
        let text = fs::read(self.place(path))?;
        let length = text.len().min(usize::try_from(TEXT_LIMIT).unwrap_or(usize::MAX));
        Ok(String::from_utf8_lossy(&text[..length]).into_owned())
    }

    fn write(&self, path: &str, text: &str) -> io::Result<()> {
        // Not created: where there is no such file, this is no resctrl.
        let mut file = OpenOptions::new().write(true).open(self.place(path))?;
        file.write_all(text.as_bytes()).map_err(|error| {
            let said = self.read("info/last_cmd_status").unwrap_or_default();
            let said = said.trim();
            let said_nothing = said.is_empty() || said == "ok";
            if said_nothing { error } else { io::Error::new(error.kind(), said.to_owned()) }
        })
    }

    fn make(&self, group: &str) -> io::Result<()> {
        fs::create_dir(self.place(group))
    }

    fn remove(&self, group: &str) -> io::Result<()> {
        fs::remove_dir(self.place(group))
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
    classes: usize,
    living: Vec<(u32, u64)>,
    /// How many changes are still made before one is refused.
    refuse_after: Option<usize>,
    /// The kernel forgets what is written.
    forgets: bool,
}

#[derive(Clone, Debug, Default)]
struct Group {
    masks: Masks,
    tasks: Vec<String>,
}

impl FakeTree {
    /// Two caches of 12 ways, the upper two of which devices fill too; 4 groups at most.
    pub fn new() -> Self {
        let rules = Rules { full: 0xFFF, least: 1, devices: 0xC00, sparse: false };
        let default = Group { masks: Masks::parse("L3:0=fff;1=fff"), tasks: vec!["1".to_owned()] };
        Self {
            state: Rc::new(RefCell::new(State {
                groups: BTreeMap::from([(String::new(), default)]),
                rules,
                classes: 4,
                living: Vec::new(),
                refuse_after: None,
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

    /// Has writes of masks do nothing, as if another program undid them.
    pub fn forget(&self) {
        self.state.borrow_mut().forgets = true;
    }

    /// The masks of a group; of the default one where the name is empty.
    pub fn masks(&self, group: &str) -> Option<String> {
        self.state.borrow().groups.get(group).map(|group| group.masks.to_string())
    }

    fn change(&self) -> io::Result<()> {
        match &mut self.state.borrow_mut().refuse_after {
            Some(0) => return Err(io::Error::from_raw_os_error(libc::EACCES)),
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

    fn read(&self, path: &str) -> io::Result<String> {
        let state = self.state.borrow();
        let Rules { full, least, devices, .. } = state.rules;
        let found = match path {
            "info/L3/cbm_mask" => Some(format!("{full:x}\n")),
            "info/L3/min_cbm_bits" => Some(format!("{least}\n")),
            "info/L3/shareable_bits" => Some(format!("{devices:x}\n")),
            _ => {
                let (group, file) = path.rsplit_once('/').unwrap_or(("", path));
                state.groups.get(group).and_then(|group| match file {
                    "schemata" => Some(format!("    MB:0=100;1=100\n{}", group.masks)),
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
        let (name, file) = path.rsplit_once('/').unwrap_or(("", path));
        let masks = Masks::parse(text);
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
            "schemata" => group.masks = masks,
            "tasks" => group.tasks.push(text.trim().to_owned()),
            _ => return Err(io::ErrorKind::NotFound.into()),
        }
        Ok(())
    }

    fn make(&self, group: &str) -> io::Result<()> {
        self.change()?;
        let mut state = self.state.borrow_mut();
        if state.groups.len() == state.classes {
            return Err(io::Error::from_raw_os_error(libc::ENOSPC));
        }
        let full = state.rules.full;
        let masks = state.groups[""].masks.map(|_| full);
        state.groups.insert(group.to_owned(), Group { masks, tasks: Vec::new() });
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
