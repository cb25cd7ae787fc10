//! Random applications that are valid, and how they are written down.
//!
//! All decisions come from a list of numbers, zero where it is used up, so that a failing
//! application shrinks to a small one.

use std::fmt::Write as _;

/// A source of decisions.
#[derive(Debug)]
pub(crate) struct Choices<'n> {
    numbers: &'n [u32],
    at: usize,
}

impl<'n> Choices<'n> {
    pub(crate) fn new(numbers: &'n [u32]) -> Self {
        Self { numbers, at: 0 }
    }

    /// A number below `bound`, which is not zero.
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        let number = self.numbers.get(self.at).copied().unwrap_or(0);
        self.at += 1;
        number as usize % bound
    }

    pub(crate) fn is(&mut self) -> bool {
        self.below(2) == 1
    }

    /// Some of the numbers below `bound`.
    fn some(&mut self, bound: usize) -> Vec<usize> {
        (0..bound).filter(|_| self.below(3) == 1).collect()
    }
}

/// A task of an application.
#[derive(Clone, Debug)]
pub(crate) struct Task {
    pub(crate) priority: u32,
    pub(crate) non: bool,
    pub(crate) activations: u8,
    pub(crate) autostart: Option<Vec<usize>>,
    pub(crate) stack: Option<u32>,
    pub(crate) budget: Option<u64>,
    pub(crate) events: Vec<usize>,
    pub(crate) resources: Vec<usize>,
}

/// The kind of a resource: a standard one, another name of one, or an internal one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Property {
    Standard,
    Linked(usize),
    Internal,
}

/// An ISR of category 2.
#[derive(Clone, Debug)]
pub(crate) struct Isr {
    pub(crate) level: u8,
    pub(crate) resources: Vec<usize>,
}

/// The action of an alarm.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Action {
    Activate(usize),
    Set(usize, usize),
    Call(usize),
}

/// An alarm on the only counter.
#[derive(Clone, Debug)]
pub(crate) struct Alarm {
    pub(crate) action: Action,
    pub(crate) start: Option<(u32, u32)>,
}

/// The notification of a message.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Notification {
    Activate(usize),
    Set(usize, usize),
    Raise(usize),
}

/// An application drawn by chance.
#[derive(Clone, Debug)]
pub(crate) struct Application {
    pub(crate) modes: usize,
    pub(crate) hooks: [bool; 5],
    pub(crate) extended: bool,
    pub(crate) tasks: Vec<Task>,
    pub(crate) events: Vec<Option<u64>>,
    pub(crate) resources: Vec<Property>,
    pub(crate) isrs: Vec<Isr>,
    pub(crate) max_allowed: u32,
    pub(crate) min_cycle: u32,
    pub(crate) alarms: Vec<Alarm>,
    /// Offsets and activated task of the points of a schedule table.
    pub(crate) points: Vec<(u32, usize)>,
    pub(crate) messages: Vec<Notification>,
}

/// An application of these choices.
pub(crate) fn application(choices: &mut Choices<'_>) -> Application {
    let modes = choices.below(4);
    let events: Vec<_> =
        (0..choices.below(6)).map(|event| choices.is().then(|| 1 << (event * 7))).collect();
    let resources = resources(choices);
    let mut tasks: Vec<_> =
        (0..=choices.below(9)).map(|_| task(choices, modes, events.len(), &resources)).collect();
    let isrs: Vec<_> = (0..choices.below(4)).map(|_| isr(choices, &resources)).collect();
    // Whoever is linked to or from is used by somebody.
    let all = (0..resources.len()).filter(|one| resources[*one] != Property::Internal);
    tasks[0].resources = all.collect();
    if let Some(internal) = resources.iter().position(|it| *it == Property::Internal) {
        tasks[0].non = false;
        tasks[0].resources.push(internal);
    }
    let max_allowed = 100 + u32::try_from(choices.below(100_000)).unwrap();
    let min_cycle = 1 + u32::try_from(choices.below(5)).unwrap();
    let alarms = (0..choices.below(5)).map(|_| alarm(choices, &tasks, max_allowed, min_cycle));
    let alarms = alarms.collect();
    let points: Vec<_> = (0..choices.below(4))
        .map(|point| (u32::try_from(point * 10).unwrap(), choices.below(tasks.len())))
        .collect();
    let messages = (0..choices.below(4)).map(|_| notification(choices, &tasks, &isrs)).collect();
    Application {
        modes,
        hooks: [(); 5].map(|()| choices.is()),
        extended: choices.is(),
        points,
        tasks,
        events,
        resources,
        isrs,
        max_allowed,
        min_cycle,
        alarms,
        messages,
    }
}

/// At most one internal resource, the last; links lead to resources before them.
fn resources(choices: &mut Choices<'_>) -> Vec<Property> {
    let mut resources = Vec::new();
    for index in 0..choices.below(5) {
        let is_linked = index > 0 && choices.is();
        let to = if is_linked { Some(choices.below(index)) } else { None };
        resources.push(to.map_or(Property::Standard, Property::Linked));
    }
    if choices.is() {
        resources.push(Property::Internal);
    }
    resources
}

fn task(choices: &mut Choices<'_>, modes: usize, events: usize, resources: &[Property]) -> Task {
    let non = choices.is();
    let events = if choices.is() { choices.some(events) } else { Vec::new() };
    let mut used = choices.some(resources.len());
    used.retain(|resource| !(non && resources[*resource] == Property::Internal));
    let autostart = choices.is().then(|| {
        let mut modes = if modes > 1 { choices.some(modes) } else { Vec::new() };
        if modes.is_empty() {
            modes.push(0);
        }
        modes
    });
    Task {
        priority: [0, 1, 2, 3, 10, 1000, u32::MAX][choices.below(7)],
        non,
        activations: if events.is_empty() {
            1 + u8::try_from(choices.below(3)).unwrap()
        } else {
            1
        },
        autostart,
        stack: choices.is().then(|| 4096 + u32::try_from(choices.below(10_000)).unwrap()),
        budget: choices.is().then(|| 1 + choices.below(1_000_000) as u64),
        events,
        resources: used,
    }
}

fn isr(choices: &mut Choices<'_>, resources: &[Property]) -> Isr {
    let mut used = choices.some(resources.len());
    used.retain(|resource| resources[*resource] != Property::Internal);
    Isr { level: 1 + u8::try_from(choices.below(62)).unwrap(), resources: used }
}

fn alarm(choices: &mut Choices<'_>, tasks: &[Task], max: u32, min: u32) -> Alarm {
    let task = choices.below(tasks.len());
    let action = match choices.below(3) {
        1 if !tasks[task].events.is_empty() => {
            let event = choices.below(tasks[task].events.len());
            Action::Set(task, tasks[task].events[event])
        }
        2 => Action::Call(choices.below(2)),
        _ => Action::Activate(task),
    };
    let start = choices.is().then(|| {
        let first = u32::try_from(choices.below(max as usize + 1)).unwrap();
        let cycle = min + u32::try_from(choices.below((max - min) as usize + 1)).unwrap();
        (first, if choices.is() { cycle } else { 0 })
    });
    Alarm { action, start }
}

fn notification(choices: &mut Choices<'_>, tasks: &[Task], isrs: &[Isr]) -> Notification {
    let task = choices.below(tasks.len());
    match choices.below(3) {
        1 if !tasks[task].events.is_empty() => {
            let event = choices.below(tasks[task].events.len());
            Notification::Set(task, tasks[task].events[event])
        }
        2 if !isrs.is_empty() => Notification::Raise(choices.below(isrs.len())),
        _ => Notification::Activate(task),
    }
}

/// Writes an application as OIL: with remarks, white space, numbers and order as the choices say.
/// Objects of one kind keep their order.
pub(crate) fn write(application: &Application, choices: &mut Choices<'_>) -> String {
    let tasks = application.tasks.iter().enumerate();
    let tasks = tasks.map(|(index, task)| task_text(index, task, application.modes, choices));
    let mut kinds: Vec<String> = vec![tasks.collect()];
    kinds.push((0..application.modes).map(|mode| format!("APPMODE m{mode} ; ")).collect());
    let events = application.events.iter().enumerate().map(|(index, mask)| {
        let mask = mask.map_or("AUTO".to_owned(), |mask| number(mask, choices));
        format!("EVENT e{index} {{ MASK = {mask} ; }} ; ")
    });
    kinds.push(events.collect());
    kinds.push(application.resources.iter().enumerate().map(resource_text).collect());
    let isrs = application.isrs.iter().enumerate().map(|(index, isr)| {
        let (level, resources) = (isr.level, list("RESOURCE", "r", &isr.resources));
        format!(
            "ISR i{index} {{ CATEGORY = 2 ; PRIORITY = {level} ; SOURCE = {index} ; \
             {resources} }} ; "
        )
    });
    kinds.push(isrs.collect());
    kinds.push(clocks(application, choices).concat());
    kinds.push(application.messages.iter().enumerate().map(message_text).collect());
    let first = choices.below(kinds.len());
    kinds.rotate_left(first);
    let text = format!("{}{}}} ; ", os_text(application), kinds.concat());
    spaced(&text, choices)
}

/// Messages may be called as other objects are.
fn message_text((index, message): (usize, &Notification)) -> String {
    let follows = match message {
        Notification::Activate(task) => format!("ACTIVATETASK {{ TASK = t{task} ; }}"),
        Notification::Set(task, event) => {
            format!("SETEVENT {{ TASK = t{task} ; EVENT = e{event} ; }}")
        }
        Notification::Raise(isr) => format!("ISR {{ ISR = i{isr} ; }}"),
    };
    format!("MESSAGE t{index} {{ NOTIFICATION = {follows} ; }} ; ")
}

fn resource_text((index, property): (usize, &Property)) -> String {
    match property {
        Property::Standard => format!("RESOURCE r{index} ; "),
        Property::Internal => {
            format!("RESOURCE r{index} {{ RESOURCEPROPERTY = INTERNAL ; }} ; ")
        }
        Property::Linked(to) => format!(
            "RESOURCE r{index} {{ RESOURCEPROPERTY = LINKED {{ LINKEDRESOURCE = r{to} ; }} ; }} ; "
        ),
    }
}

fn os_text(application: &Application) -> String {
    let mut text = "OIL_VERSION = \"2.5\" ; CPU random { OS k { ACCOUNTING = TRUE ; ".to_owned();
    let words = ["STARTUPHOOK", "SHUTDOWNHOOK", "ERRORHOOK", "PRETASKHOOK", "POSTTASKHOOK"];
    for (word, is_there) in words.iter().zip(application.hooks) {
        let value = if is_there { "TRUE" } else { "FALSE" };
        write!(text, "{word} = {value} ; ").unwrap();
    }
    let status = if application.extended { "EXTENDED" } else { "STANDARD" };
    write!(text, "STATUS = {status} ; }} ; ").unwrap();
    text
}

fn list(word: &str, name: &str, numbers: &[usize]) -> String {
    numbers.iter().map(|number| format!("{word} = {name}{number} ; ")).collect()
}

fn task_text(index: usize, task: &Task, modes: usize, choices: &mut Choices<'_>) -> String {
    let mut parts = vec![format!("PRIORITY = {} ; ", number(u64::from(task.priority), choices))];
    if task.non || choices.is() {
        parts.push(format!("SCHEDULE = {} ; ", if task.non { "NON" } else { "FULL" }));
    }
    if task.activations > 1 || choices.is() {
        parts.push(format!("ACTIVATION = {} ; ", task.activations));
    }
    if let Some(started) = &task.autostart {
        let modes = if modes > 0 { list("APPMODE", "m", started) } else { String::new() };
        parts.push(format!("AUTOSTART = TRUE {{ {modes}}} ; "));
    }
    parts.extend(task.stack.map(|stack| format!("STACK = {stack} ; ")));
    parts.extend(task.budget.map(|budget| format!("BUDGET = {budget} : \"ns\" ; ")));
    parts.push(list("EVENT", "e", &task.events));
    parts.push(list("RESOURCE", "r", &task.resources));
    let first = choices.below(parts.len());
    parts.rotate_left(first);
    format!("TASK t{index} {{ {} }} : \"a \\\" task\" ; ", parts.concat())
}

fn clocks(application: &Application, choices: &mut Choices<'_>) -> Vec<String> {
    let mut objects = vec![format!(
        "COUNTER c0 {{ MAXALLOWEDVALUE = {} ; MINCYCLE = {} ; NANOSECONDSPERTICK = 1000000 ; }} ; ",
        number(u64::from(application.max_allowed), choices),
        application.min_cycle
    )];
    for (index, alarm) in application.alarms.iter().enumerate() {
        let action = match alarm.action {
            Action::Activate(task) => format!("ACTIVATETASK {{ TASK = t{task} ; }}"),
            Action::Set(task, event) => {
                format!("SETEVENT {{ EVENT = e{event} ; TASK = t{task} ; }}")
            }
            Action::Call(function) => {
                format!("ALARMCALLBACK {{ ALARMCALLBACKNAME = \"f{function}\" ; }}")
            }
        };
        let mode = if application.modes > 0 { "APPMODE = m0 ; " } else { "" };
        let start = alarm.start.map_or("FALSE".to_owned(), |(first, cycle)| {
            format!("TRUE {{ ALARMTIME = {first} ; {mode}CYCLETIME = {cycle} ; }}")
        });
        objects.push(format!(
            "ALARM a{index} {{ ACTION = {action} ; AUTOSTART = {start} ; COUNTER = c0 ; }} ; "
        ));
    }
    if !application.points.is_empty() {
        let mut table = "SCHEDULETABLE s0 { COUNTER = c0 ; DURATION = 60 ; ".to_owned();
        for (offset, task) in &application.points {
            write!(
                table,
                "EXPIRYPOINT = p{offset} {{ OFFSET = {offset} ; \
                 ACTION = ACTIVATETASK {{ TASK = t{task} ; }} ; }} ; "
            )
            .unwrap();
        }
        table.push_str("} ; ");
        objects.push(table);
    }
    objects
}

fn number(number: u64, choices: &mut Choices<'_>) -> String {
    if choices.is() { format!("{number:#x}") } else { number.to_string() }
}

/// Single spaces made other ones; inside of strings there is only one that must stay.
fn spaced(text: &str, choices: &mut Choices<'_>) -> String {
    let mut spaced = String::new();
    for part in text.split_inclusive(' ') {
        spaced.push_str(part.trim_end_matches(' '));
        let is_in_string = part.starts_with("\"a") || part.starts_with("\\\"");
        spaced.push_str(if is_in_string {
            " "
        } else {
            [" ", "\n", "\t/* ; } */ ", " // {\r\n", "\r\n\r\n"][choices.below(5)]
        });
    }
    spaced
}
