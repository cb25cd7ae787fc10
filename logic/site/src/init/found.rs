//! A site file for a model that is there: what was found in its folder, and stubs for the rest.
//!
//! The file runs as it is, without a fieldbus. The one it might have stands below in comments, with
//! a channel of the simulated segment for each input and output: with the `#` taken away it is a
//! site file, too, and what remains is to name the SubDevices that there are.

use quietcore_record::class::{Class, catalogue};
use quietcore_units::Nanos;

use super::{COLUMNS, PROFILES, SCHEMA_LINE, can_be_planned, host, line, notation, remark, split};
use crate::init::Example;
use crate::machine::Machine;
use crate::read;

/// The most inputs, and the most outputs, that stubs are written for: more fill more pages than
/// anyone reads.
const STUBS_MAX: usize = 64;
/// The most parameters that are written where each is a variable of its own.
const RETAINED_MAX: usize = 8;
/// The period that is written where nothing says one.
const PERIOD_GUESSED: Nanos = Nanos::from_millis(10);

/// A scalar of a model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundVariable {
    /// Its path, such as `servo_U.position`.
    pub path: String,
    /// Its type, in words.
    pub type_name: String,
    /// It is a switch, which a digital channel carries.
    pub is_switch: bool,
    /// It is a number with a fraction, which `scale` makes of a count.
    pub is_float: bool,
}

/// A period that the code of a model states.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundPeriod {
    /// The period that was found.
    pub period: Nanos,
    /// The part of the code that states it, in words: "a remark in `servo.c`".
    pub place: String,
}

/// A model's folder, as far as a site file needs to know it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FoundModel {
    /// The folder, as the site file names it.
    pub folder: String,
    /// The name of the model, as its functions have it.
    pub name: String,
    /// Its name as it was asked for, where the folder holds several.
    pub model_name: Option<String>,
    /// The kind of program, in words: `generated C, model …`.
    pub taken_for: String,
    /// It is an OSEK program, whose kernel has a tick.
    pub is_osek: bool,
    /// Periods that the code states of each of its rates, the fastest rate first; of a rate
    /// the most trustworthy place first, and nothing where the code says nothing.
    pub periods: Vec<Vec<FoundPeriod>>,
    /// Variables that the model reads as inputs.
    pub inputs: Vec<FoundVariable>,
    /// Variables that the model writes as outputs.
    pub outputs: Vec<FoundVariable>,
    /// Its parameters that can be retained, as `NAME_P.*` where they are members of a structure.
    pub parameters: Vec<String>,
}

impl FoundModel {
    /// Returns a sentence for each rate whose period the code doesn't state, or states differently
    /// at two places.
    pub fn doubts(&self) -> Vec<String> {
        let all = self.periods.iter().enumerate();
        all.filter_map(|(index, stated)| self.doubt(index, stated)).collect()
    }

    fn doubt(&self, index: usize, stated: &[FoundPeriod]) -> Option<String> {
        let of = if self.periods.len() < 2 { String::new() } else { format!(" of rate {index}") };
        let Some(first) = stated.first() else {
            let guess = set(guessed(index));
            return Some(format!(
                "the code states no period{of} (no `Sample time`, no `Timing.stepSize0`); {guess} \
                 is a guess: write yours"
            ));
        };
        if stated.iter().all(|other| other.period == first.period) {
            return None;
        }
        let told = stated.iter().map(|it| format!("{} by {}", set(it.period.get()), it.place));
        let told: Vec<String> = told.collect();
        Some(format!("the code states several periods{of}: {}; which is yours?", told.join(", ")))
    }
}

/// The period in ns that is written for a rate where the code states none.
fn guessed(index: usize) -> u64 {
    PERIOD_GUESSED.get() * 10_u64.pow(u32::try_from(index).unwrap_or(0).min(9))
}

/// Writes a commented site file for a model that fits `machine`; it is called `file` in its own
/// comments.
pub fn init_found(machine: &Machine, model: &FoundModel, file: &str) -> String {
    let whole = write(machine, model, file, &PROFILES);
    let Ok(site) = read(file, whole.as_bytes(), &catalogue()) else {
        return whole;
    };
    let possible: Vec<_> =
        PROFILES.into_iter().filter(|profile| can_be_planned(&site, profile, machine)).collect();
    if possible.is_empty() { whole } else { write(machine, model, file, &possible) }
}

fn write(machine: &Machine, model: &FoundModel, file: &str, profiles: &[&str]) -> String {
    let (own, others) = split(machine);
    let name = safe_name(&model.name);
    let mut text = SCHEMA_LINE.to_owned();
    text.push_str(&remark(&format!("`{}` holds {}.", model.folder, model.taken_for)));
    text.push_str(&verbs(file));
    text.push_str(&format!("\n[site]\nschema = \"quietcore.site/1\"\nname = \"{name}\"\n\n"));
    text.push_str(&host(Example::Quickstart, &others));
    let stated = model.periods.first().and_then(|stated| stated.first());
    let period = stated.map_or(PERIOD_GUESSED, |stated| stated.period);
    let class = class_of(period);
    let judged = class.cycle_ns.map_or_else(String::new, |ns| format!(": {} cycles", set(ns)));
    text.push_str(&format!(
        "[[partition]]\nname = \"{name}\"\n{}backend = \"process\"\n\n[partition.vcr]\n{}\n",
        line(
            &format!("class = \"{}\"", class.name),
            &format!("what the timing is judged against{judged}")
        ),
        line(&format!("cpus = {}", notation(&std::iter::once(own).collect())), "a CPU of its own"),
    ));
    text.push_str(&program(model));
    let quoted: Vec<_> = profiles.iter().map(|profile| format!("\"{profile}\"")).collect();
    text.push_str(&format!(
        "[campaign]\n# tp1: not pinned, no load     tp3: not pinned, load anywhere\n# tp2: pinned, \
         no load         tp4: pinned, load on the other CPUs\nprofiles = [{}]\n{}{}\n",
        quoted.join(", "),
        line("duration = \"40 s\"", "each profile"),
        line("exceedance = 1e-2", "a first impression: fewer than 1 in 100 cycles")
    ));
    // At the end of the file, so that a whole part of it can be opened.
    text.push_str(&fieldbus(model, &name, period));
    text
}

/// Lists calls for the file, each with its reason behind it, or above it where a name is long.
fn verbs(file: &str) -> String {
    let calls = [
        ("plan", "what would be done, and whether it can be"),
        ("up", "run it; `quietcore top` shows how it does"),
        ("qualify", "judge its timing under load"),
    ];
    let calls = calls.map(|(verb, reason)| (format!("#   quietcore {verb} {file}"), reason));
    let width = calls.iter().map(|(call, _)| call.chars().count()).max().unwrap_or(0) + 2;
    let widest = calls.iter().map(|(_, reason)| width + reason.chars().count()).max();
    if widest.is_some_and(|widest| widest <= COLUMNS) {
        let lines = calls.iter().map(|(call, reason)| format!("{call:width$}{reason}\n"));
        return "#\n".to_owned() + &lines.collect::<String>();
    }
    calls.iter().map(|(call, reason)| format!("#\n# {reason}:\n{call}\n")).collect()
}

fn program(model: &FoundModel) -> String {
    let mut text = "[partition.program]\n".to_owned();
    let place = if model.folder.starts_with('/') {
        "the folder of its code"
    } else {
        "relative to this file"
    };
    text.push_str(&line(&format!("model = \"{}\"", model.folder), place));
    if let Some(name) = &model.model_name {
        text.push_str(&line(&format!("model_name = \"{name}\""), "of several in the folder"));
    }
    match model.periods.as_slice() {
        [] => text.push_str(&period(model, 0, &[])),
        [only] => text.push_str(&period(model, 0, only)),
        _ => {}
    }
    text.push_str(&line("priority = 80", "of SCHED_FIFO"));
    text.push_str(&line("early_wake = \"adaptive\"", "sleep to shortly before, then spin"));
    text.push_str(&line("on_fault = \"zero\"", "what the outputs become when it fails"));
    text.push_str(&retain(&model.parameters));
    text.push('\n');
    for (index, stated) in model.periods.iter().enumerate().filter(|_| model.periods.len() > 1) {
        text.push_str(&format!(
            "[[partition.program.task]]\nname = \"rate{index}\"\n{}\n",
            period(model, index, stated)
        ));
    }
    text
}

/// The period of a rate, with what the code states of it.
fn period(model: &FoundModel, index: usize, stated: &[FoundPeriod]) -> String {
    let written = stated.first().map_or_else(|| guessed(index), |first| first.period.get());
    let setting = format!("period = \"{}\"", set(written));
    match (model.doubt(index, stated), stated.first()) {
        (None, Some(_)) if model.is_osek => line(&setting, "the tick of its kernel"),
        (None, Some(first)) => line(&setting, &format!("as {} says", first.place)),
        (Some(doubt), Some(first)) => {
            remark(&sentence(&doubt)) + &line(&setting, &format!("as {} says", first.place))
        }
        (doubt, None) => remark(&sentence(&doubt.unwrap_or_default())) + &line(&setting, "a guess"),
    }
}

/// A sentence that begins with a capital letter and ends with a stop.
fn sentence(text: &str) -> String {
    let mut rest = text.chars();
    let first = rest.next().map(|first| first.to_ascii_uppercase());
    let end = if text.ends_with('?') { "" } else { "." };
    first.into_iter().chain(rest).collect::<String>() + end
}

fn retain(parameters: &[String]) -> String {
    let shown = &parameters[..parameters.len().min(RETAINED_MAX)];
    if shown.is_empty() {
        return String::new();
    }
    let quoted: Vec<_> = shown.iter().map(|it| format!("\"{it}\"")).collect();
    let comment = match parameters.len() - shown.len() {
        0 => "kept when it starts again".to_owned(),
        more => format!("kept when it starts again; there are {more} more"),
    };
    let setting = format!("retain = [{}]", quoted.join(", "));
    if setting.chars().count() <= COLUMNS {
        return line(&setting, &comment);
    }
    let lines: String = quoted.iter().map(|it| format!("    {it},\n")).collect();
    format!("{}{lines}]\n", line("retain = [", &comment))
}

/// The head of the stubs, which are all that follows.
const STUBS_REMARK: &str = "What the program reads and writes. Without a fieldbus its inputs keep \
    their values, which `quietcore set` and `force` change. Take the first `#` of each line below \
    away, to the end of this file, and each is connected to a channel of a simulated line; then \
    name the SubDevices that you have. docs/site-file.md lists those that can be simulated, with \
    their plants.";

/// The line of SubDevices, and the channel of each variable, in comments.
fn fieldbus(model: &FoundModel, partition: &str, cycle: Nanos) -> String {
    if model.inputs.is_empty() && model.outputs.is_empty() {
        return "# The model has no inputs and outputs (`NAME_U`, `NAME_Y`). Any other global\n# \
                variable can be mapped to a fieldbus as well.\n\n"
            .to_owned();
    }
    let mut stub = format!(
        "[fieldbus.ec0]\npartition = \"{partition}\"\n{}cycle = \"{}\"\n\n{}name = \
         \"head\"\ndevice = \"coupler\"\n",
        line("interface = \"sim\"", "or a network interface"),
        set(cycle.get()),
        line("[[fieldbus.ec0.subdevice]]", "in the order of the line"),
    );
    let mut maps = String::new();
    for (variables, way) in [(&model.inputs, "input"), (&model.outputs, "output")] {
        for is_switch in [false, true] {
            let chosen = variables.iter().take(STUBS_MAX).filter(|it| it.is_switch == is_switch);
            let chosen: Vec<_> = chosen.collect();
            let (kind, channels) = if is_switch { ("digital", 8) } else { ("analog", 4) };
            for (number, part) in chosen.chunks(channels).enumerate() {
                let device = format!("{kind}-{way}-{}", number + 1);
                stub.push_str(&format!(
                    "\n[[fieldbus.ec0.subdevice]]\nname = \"{device}\"\ndevice = \
                     \"{kind}-{way}-{channels}\"\n"
                ));
                for (channel, variable) in part.iter().enumerate() {
                    maps.push_str(&map(variable, &format!("{device}.{way}_{}", channel + 1), way));
                }
            }
        }
        if variables.len() > STUBS_MAX {
            let more = variables.len() - STUBS_MAX;
            maps.push_str(&format!("\n# {more} {way}s more are not written here.\n"));
        }
    }
    stub.push_str(&maps);
    remark(STUBS_REMARK) + "#\n" + &commented(&stub)
}

fn map(variable: &FoundVariable, entry: &str, way: &str) -> String {
    let setting = format!("variable = \"{}\"", variable.path);
    let mut text = format!(
        "\n[[fieldbus.ec0.map]]\n{}entry = \"{entry}\"\n",
        line(&setting, &format!("{way}, {}", variable.type_name))
    );
    if variable.is_float && !variable.is_switch {
        text.push_str(&line("scale = 3.0518509e-4", "10 V at 32 767: one count in your unit"));
    }
    text
}

/// Each line as a comment.
fn commented(text: &str) -> String {
    let lines = text.lines().map(|line| format!("# {line}").trim_end().to_owned() + "\n");
    lines.collect()
}

/// The class whose cycle is nearest to a period, and not shorter.
fn class_of(period: Nanos) -> Class {
    let names = ["high-speed-io", "motion-control", "fast-control-loop", "process-control"];
    let all = catalogue();
    let fits = |name: &str| {
        let class = all.iter().find(|class| class.name == name);
        class.filter(|class| class.cycle_ns.is_some_and(|cycle| cycle >= period.get()))
    };
    let found = names.iter().find_map(|name| fits(name));
    let slowest = || all.iter().find(|class| class.name == "slow-control");
    found.or_else(slowest).cloned().expect("the catalogue has these classes")
}

/// A time as a site file has it.
fn set(ns: u64) -> String {
    [("s", 1_000_000_000), ("ms", 1_000_000), ("us", 1_000)]
        .into_iter()
        .find(|(_, unit)| ns >= *unit && ns.is_multiple_of(*unit))
        .map_or_else(|| format!("{ns} ns"), |(name, unit)| format!("{} {name}", ns / unit))
}

/// A model's name as one that a site file takes.
fn safe_name(name: &str) -> String {
    let safe: String = name
        .chars()
        .map(|c| c.to_ascii_lowercase())
        .map(|c| if c.is_ascii_alphanumeric() || "-_".contains(c) { c } else { '-' })
        .take(64)
        .collect();
    let safe = safe.trim_start_matches(['-', '_']);
    if safe.is_empty() { "program".to_owned() } else { safe.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_and_names_are_as_a_site_file_takes_them() {
        assert_eq!((set(1_000_000).as_str(), set(2_500_000).as_str()), ("1 ms", "2500 us"));
        assert_eq!((safe_name("_PID v2").as_str(), safe_name("").as_str()), ("pid-v2", "program"));
    }

    #[test]
    fn a_class_is_never_faster_than_the_period() {
        let name = |period: Nanos| class_of(period).name;
        assert_eq!(name(Nanos::from_millis(1)), "motion-control");
        assert_eq!(name(Nanos::from_millis(2)), "fast-control-loop");
        assert_eq!(name(Nanos::from_micros(50)), "high-speed-io");
        assert_eq!(name(Nanos::from_secs(1)), "slow-control");
    }

    #[test]
    fn stubs_end_at_their_bound_and_tell_how_many_more_there_are() {
        let inputs = (0..STUBS_MAX + 3).map(|number| FoundVariable {
            path: format!("model_U.in_{number}"),
            type_name: "a switch".to_owned(),
            is_switch: true,
            is_float: false,
        });
        let model = FoundModel { inputs: inputs.collect(), ..FoundModel::default() };
        let stubs = fieldbus(&model, "axis", Nanos::from_millis(1));
        assert_eq!(stubs.matches("[[fieldbus.ec0.map]]").count(), STUBS_MAX);
        assert!(stubs.contains("# # 3 inputs more are not written here.\n"), "{stubs}");
    }
}
