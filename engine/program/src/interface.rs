//! The functions that a program is run by.
//!
//! Generators name and pack them in many ways; the glue that is generated here makes them all look
//! alike.
//!
//! | form | functions |
//! |---|---|
//! | one rate | `NAME_step()` |
//! | a function a rate | `NAME_step0()`, `NAME_step1()`, …; numbers may be missing |
//! | the rate as a number | `NAME_step(tid)` |
//! | two halves | `NAME_output()` and `NAME_update()`, each of them in any form above |
//!
//! In C++ these are also methods of a class, `Servo::initialize()` and `Servo::step()`; the glue
//! makes one object of it, whose members are the program's variables.
//!
//! Data are global, or the model structure and perhaps inputs and outputs are passed to each
//! function. What is passed is made by the glue, under the names of the parameters; so
//! `servo_U.position` names an input in both cases.

mod discover;
mod entry;
mod glue;
mod period;
mod signature;

use std::fmt;

use quietcore_wording::plural;
use serde::{Deserialize, Serialize};

pub(crate) use discover::{Discovery, Surroundings, discover};
pub(crate) use entry::{CLASS_END, Entry, choose};
pub(crate) use glue::{INSTANCE_PREFIX, OBJECT_NAME, SERVICES_NAME, glue};
pub(crate) use period::SourceText;
pub use period::{PeriodPlace, PeriodStatement};

/// The way in which the generator packed the model's data.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Packaging {
    /// Global variables; the functions take nothing or the number of a rate.
    Global,
    /// The model structure, or inputs and outputs, are passed to the functions.
    Reusable,
    /// They are members of a class.
    Class,
}

/// The language that the functions are written in.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Language {
    /// The language C, without `++`.
    #[default]
    C,
    /// C++, of which one class may be the program.
    Cpp,
}

impl fmt::Display for Language {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::C => "C",
            Self::Cpp => "C++",
        })
    }
}

/// The calls that run at one rate.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rate {
    /// The functions, in the order of calls.
    pub functions: Vec<String>,
    /// The period in nanoseconds, where the code states one: that of the most trustworthy place.
    pub period_ns: Option<u64>,
    /// Periods that the code states, the most trustworthy place first.
    #[serde(default)]
    pub stated: Vec<PeriodStatement>,
}

/// The functions that a program is run by, and what is known of them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Interface {
    /// Name of the model.
    pub model: String,
    /// The language of its functions.
    #[serde(default)]
    pub language: Language,
    /// The class whose methods they are, with its namespaces; `None` where they are functions.
    #[serde(default)]
    pub class: Option<String>,
    /// The way in which its data are packed.
    pub packaging: Packaging,
    /// The calls at each rate; the first is the fastest. Never empty.
    pub rates: Vec<Rate>,
    /// The function that comes first.
    pub initialize: String,
    /// The function that comes last, where there is one.
    pub terminate: Option<String>,
    /// `true` if the model keeps an error status.
    pub error_status: bool,
    /// `true` if it sends or receives signals through `Com.h`.
    pub com: bool,
    /// Facts about its kernel, if it is an OSEK program.
    #[serde(default)]
    pub kernel: Option<KernelInterface>,
}

/// The kernel of an OSEK program, as its OIL file describes it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct KernelInterface {
    /// That file, relative to the folder.
    pub oil: String,
    /// The first of its hardware counters, whose ticks are all the same; `None` where it has none.
    pub counter: Option<KernelCounter>,
    /// The names of its tasks, in the kernel's order. Never empty.
    pub tasks: Vec<String>,
}

/// A hardware counter of an OSEK program.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct KernelCounter {
    /// Its name in the OIL file.
    pub name: String,
    /// The time of one tick, in ns.
    pub tick_ns: u64,
}

/// A folder whose functions can't be run.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InterfaceError {
    /// There is no model.
    #[error(
        "no model was found: there is no `NAME_initialize` with a `NAME_step` or \
         `NAME_output`, and no class with `initialize` and `step`{hint}"
    )]
    NoModel {
        /// Other contents of the folder; empty, or a remark.
        hint: String,
    },
    /// The folder holds several models, and none is chosen.
    #[error(
        "the folder holds several models: {}; name the one to run, in the site file as \
         `model_name`",
        names.join(", ")
    )]
    Several {
        /// The names of the models.
        names: Vec<String>,
    },
    /// The one asked for is not there.
    #[error("there is no model `{wanted}` in the folder; there is {}", names.join(", "))]
    Unknown {
        /// The name asked for.
        wanted: String,
        /// The names that are there.
        names: Vec<String>,
    },
    /// It is not known which form of a function of C++ is to be run.
    #[error("`{function}` is overloaded, and {}", overloaded(*without_arguments, forms))]
    Overloaded {
        /// Name of the function.
        function: String,
        /// Number of its forms that take nothing; never 1.
        without_arguments: usize,
        /// Its forms, with the types of their parameters.
        forms: Vec<String>,
    },
    /// The number of rates is not known.
    #[error(
        "`{function}` takes the number of a rate, but nothing says how many there are; give the \
         number of rates"
    )]
    RatesUnknown {
        /// Name of the step function.
        function: String,
    },
    /// The number of rates is known to be another.
    #[error("the model has {found} rate{} and not {wanted}", plural(u64::from(*found)))]
    RatesDiffer {
        /// Number of rates in the site file.
        wanted: u32,
        /// Number of rates in the code.
        found: u32,
    },
    /// A parameter is of a kind that can't be provided.
    #[error("`{function}` takes `{parameter}`, {problem}")]
    Parameter {
        /// Name of the function.
        function: String,
        /// Name of its parameter.
        parameter: String,
        /// The problem, as the rest of a sentence.
        problem: String,
    },
    /// A type is not as wide as its name says.
    #[error(
        "`{name}` has {found} bytes instead of {promised}; the code was generated for another \
         processor: choose x86-64 as its hardware, or portable word sizes"
    )]
    Width {
        /// Name of the type.
        name: String,
        /// The width that its name promises, in bytes.
        promised: u64,
        /// The width that it has, in bytes.
        found: u64,
    },
    /// An object of the class can't be made.
    #[error(
        "an object of the class `{class}` is made from something that only its surroundings have \
         (its constructor takes parameters, as for message ports and services); generate the model \
         without them"
    )]
    Constructor {
        /// Name of the class.
        class: String,
    },
    /// The header that declares the functions is missing.
    #[error("the header `{header}` is missing, which declares what `{function}` takes")]
    HeaderMissing {
        /// Name of the header.
        header: String,
        /// Name of the function.
        function: String,
    },
}

fn overloaded(without_arguments: usize, forms: &[String]) -> String {
    let forms = forms.join(", ");
    if without_arguments == 0 {
        return format!(
            "no form of it is without arguments: {forms}; leave one, or add one without \
             arguments, which is run then"
        );
    }
    format!("{without_arguments} forms of it are without arguments: {forms}; leave one of these")
}
