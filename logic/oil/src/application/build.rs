//! A tree made an application: every object compared with the schema, and its values taken out.
//!
//! An object that lacks something required is left out; its name is still known, so that those who
//! refer to it are not refused as well.

use std::collections::HashSet;

use crate::application::shaped::{Entry, Owner, Shaped, Typed, shape};
use crate::application::{
    Action, Alarm, AlarmStart, Application, Autostart, Counter, Event, Isr, Message, Notification,
    Os, Point, Property, Resource, Table, Task, declared,
};
use crate::problem::Collector;
use crate::schema::attributes::STACK_BYTES_DEFAULT;
use crate::schema::{Kind, REFUSED};
use crate::text::place::{Given, TextPosition, Word};
use crate::text::tree::{Object, Tree};
use quietcore_wording::meant;

/// The attributes of OS for hooks, and the names of those in C.
const HOOKS: [(&str, &str); 5] = [
    ("STARTUPHOOK", "StartupHook"),
    ("ERRORHOOK", "ErrorHook"),
    ("SHUTDOWNHOOK", "ShutdownHook"),
    ("PRETASKHOOK", "PreTaskHook"),
    ("POSTTASKHOOK", "PostTaskHook"),
];

/// Makes an application of a tree. What could not be made is told, and `None` where nothing can be
/// said about the rest.
pub(crate) fn application(tree: &Tree, collector: &mut Collector) -> Option<Application> {
    declared::check(&tree.declarations, collector);
    let mut application = Application {
        cpu: tree.cpu.clone()?,
        names: Vec::new(),
        lost: HashSet::new(),
        unknown: HashSet::new(),
        os: os(&Shaped::default()),
        hooks: Vec::new(),
        modes: Vec::new(),
        tasks: Vec::new(),
        isrs: Vec::new(),
        resources: Vec::new(),
        events: Vec::new(),
        counters: Vec::new(),
        alarms: Vec::new(),
        tables: Vec::new(),
        messages: Vec::new(),
    };
    let mut os_object: Option<&Object> = None;
    for object in &tree.objects {
        let Some(kind) = kind(object, collector) else {
            application.lost.extend(Kind::ALL);
            application.unknown.insert(object.name.text.clone());
            continue;
        };
        let what = format!("{} `{}`", object.kind.text, object.name.text);
        let owner = Owner {
            what: &what,
            kind: kind.word(),
            word: &object.name.text,
            place: object.name.place,
        };
        let declared = tree.declarations.of(kind.word());
        let before = collector.count();
        let shaped = shape(owner, &object.block, kind.attributes(), declared, collector);
        if collector.count() > before {
            application.lost.insert(kind);
        }
        if kind == Kind::Os {
            if let Some(first) = os_object {
                let first = collector.name(first.name.place, object.name.place);
                let message = format!("the second OS object, after that in {first}; leave one");
                collector.refuse_word(&object.name, message);
            }
            os_object = Some(object);
            application.os = os(&shaped);
            application.hooks = hooks(&shaped);
        } else {
            application.names.push((kind, object.name.clone()));
        }
        add(&mut application, kind, object.name.clone(), &shaped);
    }
    if os_object.is_none() {
        let is_definition = !collector.is_strict() && application.names.is_empty();
        let message = if is_definition {
            "no application: the CPU has no task and no OS object, as in a file that defines an \
             implementation; name the file of the application, which may include this one"
        } else {
            "the CPU has no OS object; write `OS name;` for all defaults"
        };
        collector.refuse_word(&application.cpu, message);
        application.lost.insert(Kind::Os);
        if is_definition {
            application.lost.insert(Kind::Task);
        }
    }
    Some(application)
}

/// The kind of an object; `None`, and told, for one that does not exist here.
fn kind(object: &Object, collector: &mut Collector) -> Option<Kind> {
    let word = &object.kind;
    let kind = Kind::of(&word.text);
    if kind.is_none() {
        let refused = REFUSED.iter().find(|(refused, _)| *refused == word.text);
        collector.refuse_with(word.place, &word.text, || match refused {
            Some((_, remedy)) => format!("not supported; {remedy}"),
            None => {
                let words = Kind::ALL.map(Kind::word);
                let otherwise = "objects are `OS`, `TASK`, `ALARM` and the like";
                format!("no kind of object; {}", meant(&word.text, words, otherwise))
            }
        });
    }
    kind
}

fn add(application: &mut Application, kind: Kind, name: Word, shaped: &Shaped) {
    match kind {
        Kind::Os => {}
        Kind::AppMode => application.modes.push(name),
        Kind::Task => application.tasks.extend(task(name, shaped)),
        Kind::Isr => application.isrs.extend(isr(name, shaped)),
        Kind::Resource => application.resources.extend(resource(name, shaped)),
        Kind::Event => {
            application.events.push(Event { name, mask: shaped.number("MASK") });
        }
        Kind::Counter => application.counters.extend(counter(name, shaped)),
        Kind::Alarm => application.alarms.extend(alarm(name, shaped)),
        Kind::ScheduleTable => application.tables.extend(table(name, shaped)),
        Kind::Message => application.messages.extend(message(name, shaped)),
    }
}

fn os(shaped: &Shaped) -> Os {
    let is = |word| shaped.truth(word).unwrap_or(false);
    Os {
        is_extended_status: shaped.choice("STATUS").is_none_or(|it| it.value == "EXTENDED"),
        startup_hook: is("STARTUPHOOK"),
        error_hook: is("ERRORHOOK"),
        shutdown_hook: is("SHUTDOWNHOOK"),
        pre_task_hook: is("PRETASKHOOK"),
        post_task_hook: is("POSTTASKHOOK"),
        service_id: is("USEGETSERVICEID"),
        parameter_access: is("USEPARAMETERACCESS"),
        scheduler_resource: shaped.truth("USERESSCHEDULER").unwrap_or(true),
        class: shaped.choice("CLASS").filter(|class| class.value != "AUTO"),
        accounting: is("ACCOUNTING"),
    }
}

/// The hooks that are switched on, by their names in C.
fn hooks(shaped: &Shaped) -> Vec<(&'static str, TextPosition)> {
    let hooks = HOOKS.iter().filter(|(word, _)| shaped.truth(word) == Some(true));
    hooks.filter_map(|(word, function)| Some((*function, shaped.one(word)?.token.place))).collect()
}

fn task(name: Word, shaped: &Shaped) -> Option<Task> {
    let one = || Given { value: 1, word: name.clone() };
    let schedule = shaped.choice("SCHEDULE").filter(|schedule| schedule.value == "NON");
    let stack = || Given { value: STACK_BYTES_DEFAULT, word: name.clone() };
    Some(Task {
        priority: narrow(shaped.number("PRIORITY")?),
        not_preemptable: schedule.map(|schedule| schedule.word),
        activations: shaped.number("ACTIVATION").map_or_else(one, narrow),
        autostart: shaped.one("AUTOSTART").and_then(autostart),
        resources: shaped.names("RESOURCE"),
        events: shaped.names("EVENT"),
        stack_bytes: shaped.number("STACK").map_or_else(stack, narrow),
        budget_ns: shaped.number("BUDGET"),
        inter_arrival_ns: shaped.number("INTERARRIVAL"),
        name,
    })
}

fn autostart(entry: &Entry) -> Option<Autostart> {
    (entry.value == Typed::Truth(true))
        .then(|| Autostart { word: entry.token.clone(), modes: entry.block.names("APPMODE") })
}

fn isr(name: Word, shaped: &Shaped) -> Option<Isr> {
    Some(Isr {
        name,
        category: narrow(shaped.number("CATEGORY")?).value,
        level: narrow(shaped.number("PRIORITY")?),
        source: narrow(shaped.number("SOURCE")?),
        resources: shaped.names("RESOURCE"),
    })
}

fn resource(name: Word, shaped: &Shaped) -> Option<Resource> {
    let property = match shaped.one("RESOURCEPROPERTY") {
        Some(entry) if entry.value == Typed::Choice("LINKED") => {
            Property::Linked(entry.block.one("LINKEDRESOURCE")?.token.clone())
        }
        Some(entry) if entry.value == Typed::Choice("INTERNAL") => Property::Internal,
        _ => Property::Standard,
    };
    Some(Resource { name, property })
}

fn counter(name: Word, shaped: &Shaped) -> Option<Counter> {
    let one = || Given { value: 1, word: name.clone() };
    let ticks_per_base = shaped.number("TICKSPERBASE").map_or_else(one, narrow);
    let hardware = shaped.choice("TYPE");
    Some(Counter {
        max_allowed: narrow(shaped.number("MAXALLOWEDVALUE")?).value,
        ticks_per_base: ticks_per_base.value,
        min_cycle: shaped.number("MINCYCLE").map_or_else(one, narrow),
        hardware: hardware.map(|it| Given { value: it.value == "HARDWARE", word: it.word }),
        tick_ns: shaped.number("NANOSECONDSPERTICK"),
        name,
    })
}

fn action(entry: &Entry) -> Option<Action> {
    let name = |word| entry.block.one(word).map(|entry| entry.token.clone());
    match entry.value {
        Typed::Choice("ACTIVATETASK") => Some(Action::ActivateTask { task: name("TASK")? }),
        Typed::Choice("SETEVENT") => {
            Some(Action::SetEvent { task: name("TASK")?, event: name("EVENT")? })
        }
        Typed::Choice("ALARMCALLBACK") => {
            Some(Action::Callback { name: name("ALARMCALLBACKNAME")? })
        }
        Typed::Choice("INCREMENTCOUNTER") => {
            Some(Action::IncrementCounter { counter: name("COUNTER")? })
        }
        _ => None,
    }
}

fn alarm(name: Word, shaped: &Shaped) -> Option<Alarm> {
    let start = match shaped.one("AUTOSTART") {
        Some(entry) if entry.value == Typed::Truth(true) => Some(AlarmStart {
            autostart: autostart(entry)?,
            first: narrow(entry.block.number("ALARMTIME")?),
            cycle: entry.block.number("CYCLETIME").map(narrow),
        }),
        _ => None,
    };
    let counter = shaped.one("COUNTER")?.token.clone();
    Some(Alarm { name, counter, action: action(shaped.one("ACTION")?)?, start })
}

fn table(name: Word, shaped: &Shaped) -> Option<Table> {
    let start = shaped.one("AUTOSTART").and_then(|entry| {
        let start = entry.block.number("START").map_or(1, |start| narrow(start).value);
        Some((autostart(entry)?, start))
    });
    Some(Table {
        name,
        counter: shaped.one("COUNTER")?.token.clone(),
        duration: narrow(shaped.number("DURATION")?),
        repeating: shaped.truth("REPEATING").unwrap_or(false),
        start,
        points: shaped.all("EXPIRYPOINT").map(point).collect::<Option<_>>()?,
    })
}

fn message(name: Word, shaped: &Shaped) -> Option<Message> {
    let entry = shaped.one("NOTIFICATION")?;
    let of = |word| entry.block.one(word).map(|entry| entry.token.clone());
    let notification = match entry.value {
        Typed::Choice("ACTIVATETASK") => Notification::ActivateTask { task: of("TASK")? },
        Typed::Choice("SETEVENT") => {
            Notification::SetEvent { task: of("TASK")?, event: of("EVENT")? }
        }
        Typed::Choice("ISR") => Notification::RaiseIsr { isr: of("ISR")? },
        _ => return None,
    };
    Some(Message { name, notification })
}

fn point(entry: &Entry) -> Option<Point> {
    Some(Point {
        name: entry.token.clone(),
        offset: narrow(entry.block.number("OFFSET")?),
        actions: entry.block.all("ACTION").map(action).collect::<Option<_>>()?,
    })
}

/// A number as the type that its range in the schema fits into.
fn narrow<T: TryFrom<u64>>(given: Given<u64>) -> Given<T> {
    let Ok(value) = T::try_from(given.value) else {
        unreachable!("the schema's range fits into the type");
    };
    Given { value, word: given.word }
}
