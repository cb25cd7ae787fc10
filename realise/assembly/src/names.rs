//! Names of the site file, looked up in the program and on the fieldbus.

use std::fmt;

use quietcore_program::place::Scalar;
use quietcore_program::retain::{RetainEntry, RetainLayout, Unfit};
use quietcore_program::{Access, Build, Memory, Pattern, VariableLocation};
use quietcore_scan::mapping::{Kind, Mapping};
use quietcore_scan::stage::Trigger;
use quietcore_site::{Fieldbus, KeyPosition, Literal, Partition, Remark, Site, Task};
use quietcore_units::{Causes, DataType};

use crate::bus::BusImage;

/// The most bytes that a partition may retain.
const RETAIN_BYTES_MAX: u32 = 1 << 20;
/// The most variables that a remark names.
const NAMED_MAX: usize = 3;

/// A name in the site file that leads nowhere.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NameProblem {
    /// Position of the name in the site file.
    pub place: KeyPosition,
    /// The problem, and its remedy.
    pub problem: String,
}

impl fmt::Display for NameProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, self.problem)
    }
}

/// Looks names up and collects the problems.
pub(super) struct Names<'a> {
    site: &'a Site,
    partition: &'a Partition,
    build: &'a Build,
    bus: &'a BusImage,
    problems: Vec<NameProblem>,
    remarks: Vec<Remark>,
}

impl<'a> Names<'a> {
    pub(super) fn new(
        site: &'a Site,
        partition: &'a Partition,
        build: &'a Build,
        bus: &'a BusImage,
    ) -> Self {
        Self { site, partition, build, bus, problems: Vec::new(), remarks: Vec::new() }
    }

    /// The remarks, or the problems if there is one.
    pub(super) fn finish(self) -> Result<Vec<Remark>, Vec<NameProblem>> {
        if self.problems.is_empty() { Ok(self.remarks) } else { Err(self.problems) }
    }

    pub(super) fn partition(&self) -> &'a Partition {
        self.partition
    }

    pub(super) fn build(&self) -> &'a Build {
        self.build
    }

    pub(super) fn problem(&mut self, key: &str, problem: String) {
        self.problems.push(NameProblem { place: self.site.place(key), problem });
    }

    /// A variable of the program's data.
    fn variable(&mut self, key: &str, path: &str) -> Option<VariableLocation> {
        match self.build.symbols.resolve(path) {
            Err(error) => {
                self.problem(key, error.to_string());
                None
            }
            Ok(place) if place.memory != Memory::Data => {
                self.problem(key, format!("`{path}` is a constant"));
                None
            }
            Ok(place) => Some(place),
        }
    }

    /// The connections to the fieldbus: inputs, and outputs with their variables.
    pub(super) fn mappings(&mut self) -> (Vec<Mapping>, Vec<(String, Mapping)>) {
        let (mut inputs, mut outputs) = (Vec::new(), Vec::new());
        let of_us = |fieldbus: &&Fieldbus| fieldbus.partition == self.partition.name;
        let site = self.site;
        for fieldbus in site.fieldbuses().iter().filter(of_us) {
            for (position, remark) in self.bus.remarks() {
                let name = &fieldbus.subdevices[position].name;
                let key = format!("fieldbus.{}.subdevice.{name}", fieldbus.name);
                self.remarks.push(Remark { place: site.place(&key), remark: remark.to_owned() });
            }
            for (index, line) in fieldbus.map.iter().enumerate() {
                let key = format!("fieldbus.{}.map[{index}]", fieldbus.name);
                let entry = self.bus.find(line.subdevice, &line.entry);
                let entry = entry.map_err(|why| self.problem(&format!("{key}.entry"), why)).ok();
                let variable_key = format!("{key}.variable");
                let variable = self.variable(&variable_key, &line.variable);
                let (Some(entry), Some(variable)) = (entry, variable) else { continue };
                let Some((kind_of_variable, bytes)) = number(&variable) else {
                    let what = format!("`{}` is no number that can be mapped", line.variable);
                    self.problem(&variable_key, what);
                    continue;
                };
                if entry.is_input && variable.access == Access::Output {
                    self.problem(&variable_key, written_twice(&line.variable));
                    continue;
                }
                let mapping = Mapping {
                    bit: entry.bit,
                    bits: entry.bits,
                    kind: entry.kind,
                    offset: variable.offset,
                    bytes,
                    variable: kind_of_variable,
                    scale: line.scale,
                    shift: line.offset,
                };
                if entry.is_input {
                    inputs.push(mapping);
                } else {
                    outputs.push((line.variable.clone(), mapping));
                }
            }
        }
        (inputs, outputs)
    }

    /// Remarks channels of a program that calls none of their functions.
    pub(super) fn channels(&mut self) {
        if self.build.interface.com {
            return;
        }
        let name = &self.partition.name;
        for channel in self.site.channels() {
            let verb = match (channel.from.is(name), channel.to.is(name)) {
                (true, _) => "sends nothing",
                (false, true) => "receives nothing",
                (false, false) => continue,
            };
            let remark =
                format!("the program of `{name}` {verb} on it: it calls no function of `Com.h`");
            let place = self.site.place(&format!("channel.{}", channel.name));
            self.remarks.push(Remark { place, remark });
        }
    }

    /// The values that outputs take in fault, by their number.
    pub(super) fn substitutes(&mut self, outputs: &[(String, Mapping)]) -> Vec<(u32, f64)> {
        let key = format!("partition.{}.program.substitute", self.partition.name);
        let mut found = Vec::new();
        for substitute in &self.partition.program.substitutes {
            let number = outputs.iter().position(|(path, _)| *path == substitute.variable);
            match number {
                Some(number) => found.push((number as u32, real(substitute.value))),
                None => self.problem(
                    &key,
                    format!("`{}` is mapped to no output of a fieldbus", substitute.variable),
                ),
            }
        }
        found
    }

    /// The triggers of the tasks, in their order.
    pub(super) fn triggers(&mut self, tasks: &[&Task]) -> Vec<Option<Trigger>> {
        let mut triggers = Vec::new();
        for task in tasks {
            let name = &self.partition.name;
            let key = format!("partition.{name}.program.task.{}.trigger", task.name);
            triggers.push(task.release.trigger.as_ref().and_then(|path| {
                let place = self.variable(&key, path)?;
                Some(Trigger { offset: place.offset, bytes: place.bytes() as u8 })
            }));
        }
        triggers
    }

    /// The retained variables. What a line of the site file chooses beside them and can't be
    /// retained is remarked.
    pub(super) fn retained(&mut self) -> Vec<RetainEntry> {
        let partition = &self.partition.name;
        let mut patterns = Vec::new();
        let mut keys = Vec::new();
        for (index, text) in self.partition.program.retain.iter().enumerate() {
            let key = format!("partition.{partition}.program.retain[{index}]");
            match Pattern::parse(text) {
                Ok(pattern) => {
                    patterns.push(pattern);
                    keys.push(key);
                }
                Err(error) => self.problem(&key, error.to_string()),
            }
        }
        match RetainLayout::new(&self.build.symbols, &patterns, RETAIN_BYTES_MAX) {
            Ok(layout) => {
                for unfit in layout.left_out.chunk_by(|one, next| one.chosen == next.chosen) {
                    let place = self.site.place(&keys[unfit[0].chosen]);
                    self.remarks.push(Remark { place, remark: not_retained(unfit) });
                }
                layout.entries
            }
            Err(errors) => {
                for (number, error) in errors {
                    self.problem(&keys[number], Causes(&error).to_string());
                }
                Vec::new()
            }
        }
    }
}

/// Says why an input of the fieldbus can't go into an output of the program.
fn written_twice(variable: &str) -> String {
    format!(
        "`{variable}` is an output of the program, and the entry is an input of the fieldbus: both \
         would write it in each cycle; map the entry to an input of the program"
    )
}

/// Says what of a pattern starts anew after each restart.
fn not_retained(unfit: &[Unfit]) -> String {
    let named = unfit.iter().take(NAMED_MAX);
    let named: Vec<_> = named.map(|it| format!("`{}` ({})", it.path, it.why)).collect();
    let more = match unfit.len() - named.len() {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!(
        "{}{more} can't be retained and will begin anew after a restart; to retain such a value \
         make it a variable of whole bytes",
        named.join(", ")
    )
}

/// Returns the kind of number of a variable and its size in bytes; `None` if it can't be mapped.
fn number(place: &VariableLocation) -> Option<(Kind, u8)> {
    if place.bit.is_some() || !place.writable {
        return None;
    }
    let kind = match &place.scalar {
        Scalar::Number(data_type) => kind(*data_type),
        Scalar::Enum(enumeration) if enumeration.signed => Kind::Signed,
        Scalar::Enum(_) => Kind::Unsigned,
        Scalar::Address => return None,
    };
    Some((kind, place.bytes() as u8))
}

pub(crate) fn kind(data_type: DataType) -> Kind {
    match data_type {
        DataType::Bool => Kind::Bool,
        DataType::F32 | DataType::F64 => Kind::Float,
        _ if data_type.is_signed() => Kind::Signed,
        _ => Kind::Unsigned,
    }
}

fn real(value: Literal) -> f64 {
    match value {
        Literal::Truth(truth) => f64::from(u8::from(truth)),
        Literal::Whole(whole) => whole as f64,
        Literal::Real(real) => real,
    }
}
