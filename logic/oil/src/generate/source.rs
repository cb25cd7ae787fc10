//! `os_cfg.c`: the tables that the kernel runs by, as `quietcore_osek.h` lays them out.
//!
//! ```text
//! quietcore_osek_configuration ──► tasks, ISRs, resources, counters, alarms
//!                              └─► schedule tables ──► expiry points ──► actions
//! ```

use quietcore_osek::configuration::{Checking, Kind, Scale};

use crate::check::class_word;
use crate::configuration::{Action, Configuration, Notification, Task};
use crate::generate::header::push;

/// The C source `os_cfg.c` of a configuration. It includes `quietcore_osek.h` and `os_cfg.h`. Where
/// there are messages, it wants their numbers as macros: `ComConf_ComSignal_NAME` of a signal or
/// queue, `ComConf_ComSignalGroup_NAME` of a group.
pub fn source(configuration: &Configuration) -> String {
    let mut text = format!(
        "/* The tables of the OSEK application `{}`. Generated from OIL; changes are lost. */\n\
         #include \"quietcore_osek.h\"\n\
         #include \"os_cfg.h\"\n",
        configuration.cpu
    );
    functions(&mut text, configuration);
    tasks(&mut text, configuration);
    isrs(&mut text, configuration);
    resources(&mut text, configuration);
    counters(&mut text, configuration);
    alarms(&mut text, configuration);
    schedule_tables(&mut text, configuration);
    messages(&mut text, configuration);
    whole(&mut text, configuration);
    text
}

/// Opens a table, or nothing where it would be empty, which C99 does not know.
fn table<'o, T>(
    text: &mut String,
    (title, structure, name): (&str, &str, &str),
    objects: &'o [T],
    entry: impl Fn(&'o T) -> String,
) {
    if objects.is_empty() {
        return;
    }
    push(
        text,
        format_args!(
            "\n/* {title}. */\n\
             static const struct quietcore_osek_{structure} quietcore_osek_{name}[] = {{\n"
        ),
    );
    for object in objects {
        text.push_str(&entry(object));
    }
    text.push_str("};\n");
}

/// Declares the functions that the program has to define.
fn functions(text: &mut String, configuration: &Configuration) {
    text.push_str(
        "\n/* What the program defines: TASK(x), ISR(x), ALARMCALLBACK(x) and hooks. */\n",
    );
    for task in &configuration.tasks {
        push(text, format_args!("void quietcore_osek_task_{}(void);\n", task.name));
    }
    for isr in &configuration.isrs {
        push(text, format_args!("void quietcore_osek_isr_{}(void);\n", isr.name));
    }
    for callback in configuration.callbacks() {
        push(text, format_args!("void quietcore_osek_callback_{callback}(void);\n"));
    }
    for (_, function, parameters) in hooks(configuration) {
        push(text, format_args!("void {function}({parameters});\n"));
    }
}

/// The hooks of the program: field, function, parameters.
fn hooks(configuration: &Configuration) -> Vec<(&'static str, &'static str, &'static str)> {
    let hooks = configuration.hooks;
    let all = [
        (hooks.startup, "startup", "StartupHook", "void"),
        (hooks.shutdown, "shutdown", "ShutdownHook", "uint8_t status"),
        (hooks.error, "error", "ErrorHook", "uint8_t status"),
        (hooks.pre_task, "pre_task", "PreTaskHook", "void"),
        (hooks.post_task, "post_task", "PostTaskHook", "void"),
    ];
    let present = all.into_iter().filter(|(is_there, ..)| *is_there);
    present.map(|(_, field, function, parameters)| (field, function, parameters)).collect()
}

fn tasks(text: &mut String, configuration: &Configuration) {
    table(text, ("Tasks", "task", "tasks"), &configuration.tasks, |task| {
        let mut entry = format!(
            "    [{name}] = {{\n        \
             .entry = quietcore_osek_task_{name},\n",
            name = task.name
        );
        if !task.events.is_empty() {
            push(&mut entry, format_args!("        .events = UINT64_C({:#x}),", task.event_mask));
            let names: Vec<_> =
                task.events.iter().map(|it| configuration.events[*it].name.as_str()).collect();
            push(&mut entry, format_args!(" /* {} */\n", names.join(", ")));
        }
        limits(&mut entry, task);
        autostart(&mut entry, configuration, task.autostart, "        ");
        push(&mut entry, format_args!("        .stack_bytes = {}u,\n", task.stack_bytes));
        push(&mut entry, format_args!("        .priority = {}u,\n", task.priority));
        push(&mut entry, format_args!("        .running_level = {}u,\n", task.running_level));
        push(&mut entry, format_args!("        .activations = {}u,\n", task.activations));
        let kind = match task.kind {
            Kind::Basic => "QUIETCORE_OSEK_BASIC",
            Kind::Extended => "QUIETCORE_OSEK_EXTENDED_TASK",
        };
        push(&mut entry, format_args!("        .kind = {kind},\n    }},\n"));
        entry
    });
    text.push_str("\nconst char *const quietcore_osek_task_names[] = {\n");
    for task in &configuration.tasks {
        push(text, format_args!("    [{name}] = \"{name}\",\n", name = task.name));
    }
    text.push_str("};\n");
}

fn limits(entry: &mut String, task: &Task) {
    if let Some(budget_ns) = task.budget_ns {
        push(entry, format_args!("        .budget_ns = UINT64_C({budget_ns}),\n"));
    }
    if let Some(inter_arrival_ns) = task.inter_arrival_ns {
        push(entry, format_args!("        .inter_arrival_ns = UINT64_C({inter_arrival_ns}),\n"));
    }
}

/// The line `.autostart`, where it starts by itself at all.
fn autostart(entry: &mut String, configuration: &Configuration, modes: u32, indent: &str) {
    let modes: Vec<_> = configuration.modes_of(modes).map(|mode| format!("1u << {mode}")).collect();
    if !modes.is_empty() {
        push(entry, format_args!("{indent}.autostart = {},\n", modes.join(" | ")));
    }
}

fn isrs(text: &mut String, configuration: &Configuration) {
    table(text, ("ISRs", "isr", "isrs"), &configuration.isrs, |isr| {
        format!(
            "    [{name}] = {{ .entry = quietcore_osek_isr_{name}, .source = {}u, .level = {}u, \
             .category = {}u }},\n",
            isr.source,
            isr.level,
            isr.category,
            name = isr.name
        )
    });
}

fn resources(text: &mut String, configuration: &Configuration) {
    table(text, ("Resources", "resource", "resources"), &configuration.resources, |resource| {
        let scale = match resource.scale {
            Scale::Task => "QUIETCORE_OSEK_TASK_LEVEL",
            Scale::Interrupt => "QUIETCORE_OSEK_INTERRUPT_LEVEL",
        };
        let (name, ceiling) = (&resource.name, resource.ceiling);
        format!("    [{name}] = {{ .scale = {scale}, .ceiling = {ceiling}u }},\n")
    });
}

fn counters(text: &mut String, configuration: &Configuration) {
    table(text, ("Counters", "counter", "counters"), &configuration.counters, |counter| {
        let mut entry = format!(
            "    [{}] = {{\n        \
             .max_allowed = {}u,\n        \
             .ticks_per_base = {}u,\n        \
             .min_cycle = {}u,\n",
            counter.name, counter.max_allowed, counter.ticks_per_base, counter.min_cycle
        );
        if let Some(tick_ns) = counter.tick_ns {
            push(
                &mut entry,
                format_args!("        .hardware = 1u,\n        .tick_ns = UINT64_C({tick_ns}),\n"),
            );
        }
        entry.push_str("    },\n");
        entry
    });
}

/// An action as an initialiser.
fn action(action: &Action, configuration: &Configuration) -> String {
    match action {
        Action::ActivateTask(task) => format!(
            "{{ .kind = QUIETCORE_OSEK_ACTIVATE_TASK, .object = {} }}",
            configuration.tasks[*task].name
        ),
        Action::SetEvent { task, event, .. } => format!(
            "{{ .kind = QUIETCORE_OSEK_SET_EVENT, .object = {}, .events = UINT64_C({:#x}) /* {} \
             */ }}",
            configuration.tasks[*task].name,
            configuration.events[*event].mask,
            configuration.events[*event].name
        ),
        Action::Callback(name) => format!(
            "{{ .kind = QUIETCORE_OSEK_CALLBACK, .callback = quietcore_osek_callback_{name} }}"
        ),
        Action::IncrementCounter(counter) => format!(
            "{{ .kind = QUIETCORE_OSEK_INCREMENT_COUNTER, .object = {} }}",
            configuration.counters[*counter].name
        ),
    }
}

fn alarms(text: &mut String, configuration: &Configuration) {
    table(text, ("Alarms", "alarm", "alarms"), &configuration.alarms, |alarm| {
        let mut entry = format!(
            "    [{}] = {{\n        .action = {},\n        .counter = {},\n",
            alarm.name,
            action(&alarm.action, configuration),
            configuration.counters[alarm.counter].name
        );
        if let Some(start) = &alarm.start {
            autostart(&mut entry, configuration, start.modes, "        ");
            push(&mut entry, format_args!("        .first = {}u,\n", start.first));
            push(&mut entry, format_args!("        .cycle = {}u,\n", start.cycle));
        }
        entry.push_str("    },\n");
        entry
    });
}

fn schedule_tables(text: &mut String, configuration: &Configuration) {
    let rows = configuration.schedule();
    table(text, ("Actions of all expiry points", "action", "actions"), &rows.actions, |it| {
        format!("    {},\n", action(it, configuration))
    });
    let title = ("Expiry points of all schedule tables", "expiry_point", "expiry_points");
    table(text, title, &rows.points, |(point, first_action)| {
        format!(
            "    {{ .offset = {}u, .first_action = {first_action}u, .action_count = {}u }}, /* {} \
             */\n",
            point.offset,
            point.actions.len(),
            point.name
        )
    });
    let title = ("Schedule tables", "schedule_table", "schedule_tables");
    table(text, title, &rows.tables, |(table, first_point)| {
        let mut entry = format!(
            "    [{}] = {{\n        \
             .counter = {},\n        \
             .first_point = {first_point}u,\n        \
             .point_count = {}u,\n        \
             .repeating = {}u,\n        \
             .duration = {}u,\n",
            table.name,
            configuration.counters[table.counter].name,
            table.points.len(),
            u8::from(table.repeating),
            table.duration
        );
        autostart(&mut entry, configuration, table.autostart, "        ");
        push(&mut entry, format_args!("        .start = {}u,\n    }},\n", table.start));
        entry
    });
}

/// The messages. Their numbers are those of the partition's channels, as Com.h has them.
fn messages(text: &mut String, configuration: &Configuration) {
    for message in &configuration.messages {
        let name = &message.name;
        push(
            text,
            format_args!(
                "\n#if defined(ComConf_ComSignalGroup_{name})\n\
                 #define QUIETCORE_MESSAGE_{name} .number = ComConf_ComSignalGroup_{name}, \
                 .is_group = 1u\n\
                 #elif defined(ComConf_ComSignal_{name})\n\
                 #define QUIETCORE_MESSAGE_{name} .number = ComConf_ComSignal_{name}\n\
                 #else\n\
                 #error \"MESSAGE {name}: define ComConf_ComSignal_{name}, as the build for a \
                 partition of a site does\"\n\
                 #endif\n"
            ),
        );
    }
    table(text, ("Messages", "message", "messages"), &configuration.messages, |message| {
        let follows = match message.notification {
            Notification::ActivateTask(task) => {
                let task = &configuration.tasks[task].name;
                format!(".notification = QUIETCORE_OSEK_NOTIFY_TASK, .object = {task}")
            }
            Notification::SetEvent { task, event, mask } => format!(
                ".notification = QUIETCORE_OSEK_NOTIFY_EVENT, .object = {}, .events = \
                 UINT64_C({mask:#x}) /* {} */",
                configuration.tasks[task].name, configuration.events[event].name
            ),
            Notification::RaiseIsr(isr) => {
                let isr = &configuration.isrs[isr].name;
                format!(".notification = QUIETCORE_OSEK_NOTIFY_ISR, .object = {isr}")
            }
        };
        format!("    {{ QUIETCORE_MESSAGE_{}, {follows} }},\n", message.name)
    });
}

/// The structure that holds all tables.
fn whole(text: &mut String, configuration: &Configuration) {
    let checking = match configuration.checking {
        Checking::Standard => "QUIETCORE_OSEK_STANDARD",
        Checking::Extended => "QUIETCORE_OSEK_EXTENDED",
    };
    push(
        text,
        format_args!(
            "\nconst struct quietcore_osek_configuration quietcore_osek_configuration = {{\n    \
             .version = QUIETCORE_OSEK_VERSION,\n    \
             .conformance = QUIETCORE_OSEK_{},\n    \
             .checking = {checking},\n    \
             .accounting = {}u,\n    \
             .mode_count = {}u,\n",
            class_word(configuration.class),
            u8::from(configuration.accounting),
            configuration.modes.len()
        ),
    );
    for (field, function, _) in hooks(configuration) {
        push(text, format_args!("    .hooks.{field} = {function},\n"));
    }
    text.push_str("    .task_names = quietcore_osek_task_names,\n");
    let schedule = configuration.schedule();
    let counts = [
        ("task", configuration.tasks.len()),
        ("isr", configuration.isrs.len()),
        ("resource", configuration.resources.len()),
        ("counter", configuration.counters.len()),
        ("alarm", configuration.alarms.len()),
        ("schedule_table", schedule.tables.len()),
        ("expiry_point", schedule.points.len()),
        ("action", schedule.actions.len()),
        ("message", configuration.messages.len()),
    ];
    for (name, count) in counts.into_iter().filter(|(_, count)| *count > 0) {
        push(
            text,
            format_args!("    .{name}s = quietcore_osek_{name}s,\n    .{name}_count = {count}u,\n"),
        );
    }
    text.push_str("};\n");
}
