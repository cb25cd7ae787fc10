//! Names: what each is, and whether what refers to it means it.

use std::collections::{HashMap, HashSet};

use quietcore_osek::configuration::{
    ALARMS_MAX, COUNTERS_MAX, ISRS_MAX, MESSAGES_MAX, MODES_MAX, RESOURCES_MAX,
    SCHEDULE_TABLES_MAX, TASKS_MAX,
};

use crate::application::shaped::article;
use crate::application::{Action, Application, Autostart, Notification, Property};
use crate::check::words::taken;
use crate::problem::Collector;
use crate::schema::Kind;
use crate::text::place::{TextPosition, Word};
use quietcore_wording::meant;

/// The mode that there always is.
pub(crate) const DEFAULT_MODE: &str = "OSDEFAULTAPPMODE";
/// The resource that is the kernel's own.
pub(crate) const SCHEDULER_RESOURCE: &str = "RES_SCHEDULER";

/// The object that each name stands for.
#[derive(Debug)]
pub(super) struct Names {
    /// The kind of each object, and its place.
    objects: HashMap<String, (Kind, TextPosition)>,
    /// Names of several objects or of an object of no known kind, which are refused; a reference
    /// may mean any of them.
    unclear: HashSet<String>,
    /// The number of each object that is in the application's lists, by its kind.
    numbers: HashMap<(Kind, String), usize>,
    /// Kinds of which something was refused, so that not all is known of who uses what.
    lost: HashSet<Kind>,
    /// The application modes; the first one is the default.
    pub(super) modes: Vec<String>,
    scheduler_resource: bool,
}

impl Names {
    /// Collects the names of all objects, and refuses those that can't be used.
    pub(super) fn of(application: &Application, collector: &mut Collector) -> Self {
        let mut names = Self {
            objects: HashMap::new(),
            unclear: application.unknown.clone(),
            numbers: numbers(application),
            lost: application.lost.clone(),
            modes: Vec::new(),
            scheduler_resource: application.os.scheduler_resource,
        };
        let mut counts: HashMap<Kind, usize> = HashMap::new();
        let mut messages: HashMap<&str, TextPosition> = HashMap::new();
        for (kind, name) in &application.names {
            if *kind == Kind::Message {
                // No constant of the program, and called as the channels are.
                match messages.insert(&name.text, name.place) {
                    Some(first) => {
                        let first = collector.name(first, name.place);
                        let message = format!("the name of a message in {first} already");
                        collector.refuse_word(name, format!("{message}; leave one"));
                    }
                    None => count(&mut counts, *kind, name, collector),
                }
                continue;
            }
            let is_default = *kind == Kind::AppMode && name.text == DEFAULT_MODE;
            if *kind == Kind::Resource && name.text == SCHEDULER_RESOURCE {
                let message = "the kernel's own resource; leave it out, it is there with \
                               `USERESSCHEDULER = TRUE;`";
                collector.refuse_word(name, message);
                names.lost.insert(Kind::Resource);
            } else if let Some(taken) = taken(&name.text).filter(|_| !is_default) {
                collector.refuse_word(name, format!("{taken}; choose another name"));
            }
            if let Some((other, first)) = names.objects.get(name.text.as_str()) {
                let (other, first) = (article(other.noun()), collector.name(*first, name.place));
                let message = format!("the name of {other} in {first} already; choose another one");
                collector.refuse_word(name, message);
                names.unclear.insert(name.text.clone());
                continue;
            }
            names.objects.insert(name.text.clone(), (*kind, name.place));
            count(&mut counts, *kind, name, collector);
        }
        names.modes = modes(application);
        names
    }

    /// Refuses references to what does not exist or is something else.
    pub(super) fn check_references(
        &mut self,
        application: &Application,
        collector: &mut Collector,
    ) {
        for task in &application.tasks {
            self.check_all(Kind::Resource, &task.resources, collector);
            self.check_all(Kind::Event, &task.events, collector);
            self.check_autostart(task.autostart.as_ref(), collector);
        }
        for isr in &application.isrs {
            self.check_all(Kind::Resource, &isr.resources, collector);
            for resource in isr.resources.iter().filter(|it| it.text == SCHEDULER_RESOURCE) {
                let message = "only tasks use the scheduler as a resource; leave it out";
                collector.refuse_word(resource, message);
            }
        }
        for resource in &application.resources {
            if let Property::Linked(other) = &resource.property {
                self.check_all(Kind::Resource, std::slice::from_ref(other), collector);
            }
        }
        for alarm in &application.alarms {
            self.check(Kind::Counter, &alarm.counter, collector);
            self.check_action(&alarm.action, collector);
            self.check_autostart(alarm.start.as_ref().map(|start| &start.autostart), collector);
        }
        for table in &application.tables {
            self.check(Kind::Counter, &table.counter, collector);
            self.check_autostart(table.start.as_ref().map(|(autostart, _)| autostart), collector);
            for action in table.points.iter().flat_map(|point| &point.actions) {
                self.check_action(action, collector);
            }
        }
        for message in &application.messages {
            match &message.notification {
                Notification::ActivateTask { task } => self.check(Kind::Task, task, collector),
                Notification::SetEvent { task, event } => {
                    self.check(Kind::Task, task, collector);
                    self.check(Kind::Event, event, collector);
                }
                Notification::RaiseIsr { isr } => self.check(Kind::Isr, isr, collector),
            }
        }
    }

    /// Refuses references of an object to others of a kind, and notes that some were refused.
    fn check_all(&mut self, kind: Kind, references: &[Word], collector: &mut Collector) {
        let mut seen: HashMap<&str, TextPosition> = HashMap::new();
        for reference in references {
            let before = collector.count();
            self.check(kind, reference, collector);
            if collector.count() > before {
                self.lost.insert(kind);
            }
            if let Some(first) = seen.insert(&reference.text, reference.place) {
                let first = collector.name(first, reference.place);
                let message = format!("given twice; the first one is in {first}");
                collector.refuse_word(reference, message);
            }
        }
    }

    fn check(&self, kind: Kind, reference: &Word, collector: &mut Collector) {
        let name = reference.text.as_str();
        if kind == Kind::AppMode
            && (name == DEFAULT_MODE || self.modes.iter().any(|mode| mode == name))
        {
            return;
        }
        if kind == Kind::Resource && name == SCHEDULER_RESOURCE {
            if !self.scheduler_resource {
                let message = "there is none with `USERESSCHEDULER = FALSE;`; write `TRUE`";
                collector.refuse_word(reference, message);
            }
            return;
        }
        match self.objects.get(name) {
            _ if self.unclear.contains(name) => {}
            Some((found, _)) if *found == kind => {}
            Some((found, place)) => {
                let place = collector.name(*place, reference.place);
                let (found, wanted) = (article(found.noun()), article(kind.noun()));
                let message = format!("{found}, see {place}; name {wanted} here");
                collector.refuse_word(reference, message);
            }
            None => collector.refuse_with(reference.place, name, || {
                let objects = self.objects.iter().filter(|(_, (found, _))| *found == kind);
                let mut known: Vec<_> = objects.map(|(name, _)| name.as_str()).collect();
                known.sort_unstable();
                let needs_more = kind.attributes().iter().any(|it| it.presence.is_required());
                let block = if needs_more { " { … }" } else { "" };
                let otherwise = format!("write `{} {name}{block};`", kind.word());
                let hint = meant(name, known, otherwise);
                format!("there is no {} of this name; {hint}", kind.noun())
            }),
        }
    }

    fn check_action(&self, action: &Action, collector: &mut Collector) {
        match action {
            Action::ActivateTask { task } => self.check(Kind::Task, task, collector),
            Action::SetEvent { task, event } => {
                self.check(Kind::Task, task, collector);
                self.check(Kind::Event, event, collector);
            }
            Action::IncrementCounter { counter } => self.check(Kind::Counter, counter, collector),
            Action::Callback { name } => self.check_callback(name, collector),
        }
    }

    fn check_callback(&self, name: &Word, collector: &mut Collector) {
        let mut characters = name.text.chars();
        let is_identifier = characters.next().is_some_and(|it| it.is_ascii_alphabetic())
            && characters.all(|it| it.is_ascii_alphanumeric() || it == '_');
        if !is_identifier || name.text.len() > crate::text::lexeme::WORD_BYTES_MAX {
            let message = "no name of a C function; write a letter, then letters, digits and `_`";
            collector.refuse(name.place, &format!("\"{}\"", name.text), message);
        } else if let Some(taken) = taken(&name.text) {
            collector.refuse_word(name, format!("{taken}; choose another name"));
        }
    }

    fn check_autostart(&mut self, autostart: Option<&Autostart>, collector: &mut Collector) {
        let Some(autostart) = autostart else {
            return;
        };
        self.check_all(Kind::AppMode, &autostart.modes, collector);
        if autostart.modes.is_empty() && self.modes.len() > 1 {
            let modes = self.modes[0].as_str();
            let message = format!(
                "there are {} application modes; say in which, like `TRUE {{ APPMODE = {modes}; \
                 }}`",
                self.modes.len()
            );
            collector.refuse_word(&autostart.word, message);
        }
    }

    /// The modes in which something starts by itself, a bit each. References are checked.
    pub(super) fn modes_of(&self, autostart: Option<&Autostart>) -> u32 {
        let Some(autostart) = autostart else {
            return 0;
        };
        if autostart.modes.is_empty() {
            return 1;
        }
        let numbers = autostart.modes.iter().map(|mode| {
            let number = self.modes.iter().position(|known| *known == mode.text);
            // `OSDEFAULTAPPMODE` is the first one, whatever its name.
            number.unwrap_or(0)
        });
        numbers.fold(0, |modes, number| modes | 1 << number)
    }

    fn number(&self, kind: Kind, reference: &Word) -> Option<usize> {
        self.numbers.get(&(kind, reference.text.clone())).copied()
    }

    /// Returns `true` if an object of this kind, or one that refers to it, was refused.
    pub(super) fn have_lost(&self, kind: Kind) -> bool {
        self.lost.contains(&kind)
    }

    /// Gives counters other numbers: `numbers` by those that they have.
    pub(super) fn renumber_counters(&mut self, numbers: &[usize]) {
        for ((kind, _), number) in &mut self.numbers {
            if *kind == Kind::Counter {
                *number = numbers[*number];
            }
        }
    }

    /// The number of a task; `None` where the reference or the task is refused.
    pub(super) fn task(&self, reference: &Word) -> Option<usize> {
        self.number(Kind::Task, reference)
    }

    /// The number of an event; `None` where the reference or the event is refused.
    pub(super) fn event(&self, reference: &Word) -> Option<usize> {
        self.number(Kind::Event, reference)
    }

    /// The number of an ISR; `None` where the reference or the ISR is refused.
    pub(super) fn isr(&self, reference: &Word) -> Option<usize> {
        self.number(Kind::Isr, reference)
    }

    /// The number of a counter; `None` where the reference or the counter is refused.
    pub(super) fn counter(&self, reference: &Word) -> Option<usize> {
        self.number(Kind::Counter, reference)
    }

    /// The number of a resource as it was written down; `None` for the kernel's own, too.
    pub(super) fn resource(&self, reference: &Word) -> Option<usize> {
        self.number(Kind::Resource, reference).filter(|_| reference.text != SCHEDULER_RESOURCE)
    }
}

/// Counts an object, and refuses the first one too many.
fn count(counts: &mut HashMap<Kind, usize>, kind: Kind, name: &Word, collector: &mut Collector) {
    let count = counts.entry(kind).or_default();
    *count += 1;
    if *count == most(kind) + 1 {
        let message = format!("one too many: {} of its kind are the most", most(kind));
        collector.refuse_word(name, message);
    }
}

/// The numbers of the objects that others refer to, the first of each name.
fn numbers(application: &Application) -> HashMap<(Kind, String), usize> {
    let tasks = application.tasks.iter().map(|task| (Kind::Task, &task.name));
    let events = application.events.iter().map(|event| (Kind::Event, &event.name));
    let counters = application.counters.iter().map(|counter| (Kind::Counter, &counter.name));
    let resources = application.resources.iter().map(|it| (Kind::Resource, &it.name));
    let mut numbers = HashMap::new();
    let isrs = application.isrs.iter().map(|isr| (Kind::Isr, &isr.name));
    let lists = tasks.enumerate().chain(events.enumerate()).chain(isrs.enumerate());
    for (number, (kind, name)) in lists.chain(counters.enumerate()).chain(resources.enumerate()) {
        numbers.entry((kind, name.text.clone())).or_insert(number);
    }
    numbers
}

/// The names of the modes, the default first: `OSDEFAULTAPPMODE` where it is one of them or the
/// only one, else the first one.
fn modes(application: &Application) -> Vec<String> {
    let mut modes: Vec<_> = application.modes.iter().map(|mode| mode.text.clone()).collect();
    // More are refused.
    modes.truncate(MODES_MAX);
    match modes.iter().position(|mode| mode == DEFAULT_MODE) {
        Some(default) => modes[..=default].rotate_right(1),
        None if modes.is_empty() => modes.push(DEFAULT_MODE.to_owned()),
        None => {}
    }
    modes
}

/// Most objects of a kind.
const fn most(kind: Kind) -> usize {
    match kind {
        Kind::Os => 1,
        Kind::AppMode => MODES_MAX,
        Kind::Task => TASKS_MAX,
        Kind::Isr => ISRS_MAX,
        // One is the kernel's own.
        Kind::Resource => RESOURCES_MAX - 1,
        // Events are no table of the kernel; each task has 64 at most.
        Kind::Event => TASKS_MAX * 64,
        Kind::Counter => COUNTERS_MAX,
        Kind::Alarm => ALARMS_MAX,
        Kind::ScheduleTable => SCHEDULE_TABLES_MAX,
        Kind::Message => MESSAGES_MAX,
    }
}
