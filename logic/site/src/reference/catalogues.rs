//! The names that a site file can use, as tables: backends, classes, SubDevices, plants and the
//! parts of a model folder. All but the last are made from what the checks themselves look at.

use quietcore_record::class::{Class, JitterDefinition, catalogue};
use quietcore_segment::device::NAMES;
use quietcore_segment::plant::{self, PLANT_NAMES, PlantSignal};
use quietcore_segment::{Description, Entry};
use quietcore_units::{DataType, Nanos};

use crate::backend::{Backend, HostRequirement, MemoryForm, ProgramForm};
use crate::words::exact_size;

/// Text of an empty cell.
const NONE: &str = "–";

/// The chapters, in their order.
pub(super) fn catalogues() -> String {
    [backends(), classes(), subdevices(), plants(), MODEL.to_owned()].concat()
}

fn backends() -> String {
    let mut text = "
## What a backend can

`plan` refuses what a backend can't do.

| backend | it needs | a program is | `memory` is | `budget` | `cache` | `early_wake` | no `model` |
|---------|----------|--------------|-------------|----------|---------|--------------|------------|
"
    .to_owned();
    for backend in Backend::ALL.map(Backend::declaration) {
        let requires = match backend.requires {
            HostRequirement::Nothing => NONE,
            HostRequirement::ContainerRuntime => "a container runtime",
            HostRequirement::Kvm => "`/dev/kvm`, and a processor that runs guests",
            HostRequirement::Qemu => "`qemu-system-x86_64`, and what `kvm` needs but for `tcg`",
            HostRequirement::Xen => "dom0 of Xen with `xl`",
        };
        let program = match backend.program {
            ProgramForm::Module => "a module, its tasks threads of Linux",
            ProgramForm::GuestImage => "an image, its tasks the guest's own",
            ProgramForm::Nothing => NONE,
        };
        let memory = match &backend.memory {
            MemoryForm::Heap => "the program's heap".to_owned(),
            MemoryForm::Own { range, default } => {
                let [least, most, default] =
                    [range.start(), range.end(), default].map(|it| exact_size(*it));
                format!("all that it has, {least} to {most}; left out: {default}")
            }
        };
        let either = |is: bool, yes, no| if is { yes } else { no };
        text.push_str(&format!(
            "| `{}` | {requires} | {program} | {memory} | {} | {} | {} | {} |\n",
            backend.word,
            either(backend.enforces_budget, "yes", NONE),
            match (backend.has_memory_share, backend.has_colours) {
                (true, true) => "`ways` or `colours`",
                (true, false) => "`ways`",
                (false, _) => NONE,
            },
            either(backend.may_spin, "all, `spin` with one task", "all but `spin`"),
            either(backend.runs_probe, "the probe runs", NONE),
        ));
    }
    text
}

fn classes() -> String {
    let mut text = "
## Published classes

The names that `class` takes, beside those of `[[class]]`. All are hard: a single miss is a FAIL.
Where a source gives no largest latency, it is a tenth of the cycle; a jitter is compared as
`jitter_definition` says, by default as `whiskers`.

| name | what it is | cycle | latency, at most | jitter, at most | source |
|------|------------|------:|-----------------:|----------------:|--------|
"
    .to_owned();
    for class in catalogue() {
        let time = |ns: Option<u64>| ns.map_or_else(|| NONE.to_owned(), set_time);
        text.push_str(&format!(
            "| `{}` | {} | {} | {} | {} | {} |\n",
            class.name,
            class.title,
            time(class.cycle_ns),
            time(class.latency_limit_ns()),
            jitter(&class),
            class.source
        ));
    }
    text
}

fn jitter(class: &Class) -> String {
    let Some(jitter_ns) = class.jitter_ns else { return NONE.to_owned() };
    let how = match class.jitter_definition {
        JitterDefinition::Whiskers => "",
        JitterDefinition::PeakToPeak => ", peak to peak",
        JitterDefinition::Successive => ", successive",
    };
    format!("{}{how}", set_time(jitter_ns))
}

/// A time that somebody chose, without the digits of a measured one.
fn set_time(ns: u64) -> String {
    let text = Nanos::new(ns).to_string().replace('\u{a0}', " ");
    match text.split_once(' ') {
        Some((number, unit)) if number.contains('.') => {
            format!("{} {unit}", number.trim_end_matches('0').trim_end_matches('.'))
        }
        _ => text,
    }
}

fn subdevices() -> String {
    let mut text = "
## SubDevices of the simulated segment

The names that `device` takes, with the entries that `map` can name as `SUBDEVICE.ENTRY`. An input
is what the program reads, an output what it writes. A SubDevice of another vendor has the entries
of its ESI file, by their names or objects; see [SubDevices of any vendor](subdevices.md).

| device | entry | object | direction | type | one count is |
|--------|-------|--------|-----------|------|--------------|
"
    .to_owned();
    for name in NAMES {
        let Ok(device) = quietcore_segment::describe(name) else { continue };
        if device.inputs.is_empty() && device.outputs.is_empty() {
            text.push_str(&format!("| `{name}` | none: it only begins the line | | | | |\n"));
        }
        for (direction, entries) in [("input", &device.inputs), ("output", &device.outputs)] {
            entries.iter().for_each(|entry| text.push_str(&entry_row(&device, direction, entry)));
        }
    }
    text
}

fn entry_row(device: &Description, direction: &str, entry: &Entry) -> String {
    // A channel of a terminal counts over the range of its connector.
    let connector = device.signals.iter().find(|signal| signal.name == entry.name);
    let count = match connector {
        _ if !entry.unit.is_empty() => entry.unit.to_string(),
        Some(signal) if entry.data_type != DataType::Bool => {
            format!("{} {} / 32 767", signal.maximum, signal.unit)
        }
        _ => NONE.to_owned(),
    };
    format!(
        "| `{}` | `{}` | `0x{:04X}:{}` | {direction} | {} | {count} |\n",
        device.name,
        entry.name,
        entry.index,
        entry.subindex,
        type_name(entry.data_type)
    )
}

const fn type_name(data_type: DataType) -> &'static str {
    if matches!(data_type, DataType::Bool) { "bit" } else { data_type.name() }
}

fn plants() -> String {
    let mut text = "
## Plants behind the simulated segment

The names that `plant` takes, with the signals that `connect` can name. An actuator is behind an
output channel, a sensor behind an input channel; a servo drive is connected to its axis by itself.
Behind a terminal of 10 V, and behind an entry of a device of an ESI file, one raw count is the
value in the last column, which is the `scale` of a `map` whose variable is in the signal's unit;
the raw range is what the terminal then shows.

| plant | signal | kind | range | raw range | scale | meaning |
|-------|--------|------|-------|-----------|------:|---------|
"
    .to_owned();
    for name in PLANT_NAMES {
        let Some(plant) = plant::by_name(name) else { continue };
        let connections = plant.connections();
        for (kind, signals) in
            [("actuator", connections.actuators), ("sensor", connections.sensors)]
        {
            signals.iter().for_each(|it| text.push_str(&signal_row(name, kind, it)));
        }
    }
    text
}

fn signal_row(plant: &str, kind: &str, signal: &PlantSignal) -> String {
    let is_switch = signal.unit.is_empty() && signal.maximum == 1.0;
    let unit = match signal.unit {
        "" | "1" => String::new(),
        unit => format!(" {unit}"),
    };
    let range = if is_switch {
        "off, on".to_owned()
    } else {
        format!("{} to {}{unit}", rounded(signal.minimum), rounded(signal.maximum))
    };
    let raw = |value: f64| (value / signal.per_count).round();
    let (raw, scale) = if is_switch {
        ("0, 1".to_owned(), NONE.to_owned())
    } else {
        (format!("{} to {}", raw(signal.minimum), raw(signal.maximum)), scale(signal.per_count))
    };
    format!(
        "| `{plant}` | `{}` | {kind} | {range} | {raw} | {scale} | {} |\n",
        signal.name, signal.meaning
    )
}

/// A limit in two decimals at most.
fn rounded(value: f64) -> f64 {
    (value * 100.0).round() / 100.0
}

/// A scale as a site file takes it.
fn scale(value: f64) -> String {
    if value < 1e-3 { format!("{value:e}") } else { value.to_string() }
}

const MODEL: &str = "
## What a model folder holds

`model` names a folder of C or C++ as Simulink Embedded Coder writes it, or written by hand in the
same style. `quietcore init --model FOLDER` writes a first site file for what it finds in one.

| what | where | needed |
|------|-------|--------|
| `NAME_initialize(void)` | any `.c` of the folder | yes: it gives the model its name |
| `NAME_step(void)` | any `.c` of the folder | yes; or `NAME_step0`, `NAME_step1`, … a \
                      function a rate, or `NAME_step(int_T tid)`, or `NAME_output` with \
                      `NAME_update` |
| `NAME_terminate(void)` | any `.c` of the folder | no |
| `NAME_U`, a structure | a global variable | no: the inputs, as `NAME_U.position` |
| `NAME_Y`, a structure | a global variable | no: the outputs |
| `NAME_P`, a structure | a global variable | no: the parameters that `set` and `retain` name |
| `NAME_B`, `NAME_DW` | global variables | no: signals and states, to be watched and retained |
| `NAME_step(void) /* Sample time: [0.001s, 0.0s] */` | a comment before the function's \
                      body | no: the period that `init` writes; so do `Timing.stepSize0 = 0.001`, \
                      such a comment in the body, and that of an example `main` on its timer |
| a class with `initialize` and `step` | C++ in place of these functions, not in a guest | no: \
                      its members are the variables, as `NAME_U.position` |
| headers | the folder itself | all that the sources include; \
                      `rtwtypes.h` is added where it is missing |
| an OIL file | the folder itself | only for an OSEK program |

Any other global variable can be watched, set and mapped as well. Files that no function needs are
left out, and `plan` says so.

Only the folder itself is read. A link in it, or a header that a source names as `../shared/cfg.h`,
is not: put a copy into the folder. Headers of the system, and those that a source includes by their
whole path, are read where they lie, and a change of one gives another build. A file that `.incbin`
reads, and a new header that would be found before the one that was read, are not noticed. A program
that was uploaded is compiled with the headers of the system alone.

Other generators name their functions otherwise: `NAME_init`, `NAME_reset`, `NAME_isr`, `NAME_tick`.
A file of your own in the folder calls them under the names above, with a NAME that is not taken,
and passes what they take. Include their header, or declare them: the result of a function that is
not declared is taken for an `int`.

```c
#include \"tank.h\"

struct { double level; } plant_U;
struct { double valve; } plant_Y;

void plant_initialize(void) { tank_init(); }
void plant_step(void) { plant_Y.valve = tank_tick(plant_U.level); }
void plant_terminate(void) { tank_end(); }
```
";
