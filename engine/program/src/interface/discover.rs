//! From entry points to everything that the glue must say.

use std::collections::{BTreeMap, BTreeSet};

use crate::build::{BuildError, lexing};
use crate::debug::{DebugInfo, EntryOffset, RawFunction, RawKind};
use crate::interface::glue::OBJECT;
use crate::interface::period::PeriodSearch;
use crate::interface::signature::{self, Argument, Instance, Role};
use crate::interface::{Entry, Interface, InterfaceError, Packaging, Rate, SourceText};

/// Addresses that a model structure holds, and the end of the name of what they point to.
const PACKED_MEMBERS: [(&str, &str); 8] = [
    ("defaultParam", "P"),
    ("inputs", "U"),
    ("outputs", "Y"),
    ("blockIO", "B"),
    ("dwork", "DW"),
    ("contStates", "X"),
    ("contStateDisabled", "XDis"),
    ("prevZCSigState", "PrevZCX"),
];

/// Contents of the folder beside the debug information.
#[derive(Debug)]
pub(crate) struct Surroundings {
    /// Name of the header that declares the entry points, relative to the folder; `None` where it
    /// is missing.
    pub(crate) header: Option<String>,
    /// Texts of all headers.
    pub(crate) headers: Vec<String>,
    /// The source files of the model.
    pub(crate) sources: Vec<SourceText>,
    /// The files with a `main`, which may hold the initial values of parameters.
    pub(crate) mains: Vec<SourceText>,
    /// Number of rates, where it was given.
    pub(crate) rates: Option<u32>,
}

/// A call of an entry point.
#[derive(Debug, Clone)]
pub(super) struct Call {
    pub(super) function: String,
    pub(super) arguments: Vec<Argument>,
    /// Variable that takes its result; `None` if it has none.
    pub(super) result: Option<Instance>,
    /// It is a `void (void)`.
    pub(super) is_plain: bool,
}

/// Everything that the glue must say.
#[derive(Debug)]
pub(crate) struct Discovery {
    pub(crate) interface: Interface,
    pub(crate) header: Option<String>,
    pub(super) initialize: Call,
    /// The calls of each rate.
    pub(super) rates: Vec<Vec<Call>>,
    pub(super) terminate: Option<Call>,
    /// The variables to make, each with the text of its initialiser where one was found.
    pub(crate) instances: Vec<(Instance, Option<String>)>,
    /// Addresses to store before the first call: where, and of what.
    pub(super) packed: Vec<(String, String)>,
    /// The model structure as an expression, where the model has one with an error status.
    pub(super) status: Option<Status>,
    /// Remarks for the user, as sentences.
    pub(crate) remarks: Vec<String>,
    /// The entry points by the names that the linker knows.
    pub(super) links: BTreeSet<String>,
}

/// Members of the model structure that hold the model's state.
#[derive(Debug, Clone)]
pub(super) struct Status {
    /// The structure as an expression of C.
    pub(super) model: String,
    pub(super) error_status: bool,
    pub(super) stop_requested: bool,
    pub(super) final_time: bool,
}

/// Reads the signatures of the entry points and decides what the glue makes and passes.
pub(crate) fn discover(
    info: &DebugInfo,
    entry: &Entry,
    around: &Surroundings,
) -> Result<Discovery, InterfaceError> {
    let mut calls = Calls { info, entry, around, instances: BTreeMap::new() };
    let initialize = calls.call(&entry.initialize, Role::Initialize)?;
    let mut rates = Vec::new();
    for functions in &entry.rates {
        let of_rate = functions.iter().map(|function| calls.call(function, Role::Step));
        rates.push(of_rate.collect::<Result<Vec<_>, _>>()?);
    }
    let terminate =
        entry.terminate.as_ref().map(|name| calls.call(name, Role::Terminate)).transpose()?;
    let mut instances: Vec<Instance> = calls.instances.into_values().collect();
    let model = find_model(info, entry, &instances);
    let rates = by_number(info, rates, model.as_ref(), around)?;
    let mut remarks = Vec::new();
    let packed = match &model {
        Some(Model { instance: true, expression, target }) => {
            let start = instances.len();
            let packed = pack(info, entry, expression, *target, &mut instances);
            // An instance that comes with the structure is named like the parameters beside it.
            instances[start..].sort_by(|one, other| one.name.cmp(&other.name));
            packed
        }
        _ => Vec::new(),
    };
    let packaging = match (&entry.class, &instances[..]) {
        (Some(_), _) => Packaging::Class,
        (None, []) => Packaging::Global,
        (None, _) => Packaging::Reusable,
    };
    let is_needed = !instances.is_empty() || entry.class.is_some() || entry.model.contains("::");
    if around.header.is_none() && is_needed {
        let header = format!("{}.h", entry.model);
        return Err(InterfaceError::HeaderMissing { header, function: entry.initialize.clone() });
    }
    let instances = with_initialisers(instances, around, &mut remarks);
    let status = model.filter(|_| around.header.is_some()).map(|model| status(info, &model));
    let interface = Interface {
        model: entry.model.clone(),
        language: entry.language,
        class: entry.class.clone(),
        packaging,
        rates: describe(&rates, entry, around),
        initialize: entry.initialize.clone(),
        terminate: entry.terminate.clone(),
        error_status: status.as_ref().is_some_and(|status| status.error_status),
        com: false,
        kernel: None,
    };
    let header = around.header.clone();
    Ok(Discovery {
        interface,
        header,
        initialize,
        rates,
        terminate,
        instances,
        packed,
        status,
        remarks,
        links: entry.functions(),
    })
}

impl Discovery {
    /// The type of the class whose methods the entry points are, in the debug information of a
    /// linked file; `None` where they are functions.
    pub(crate) fn class_in(&self, info: &DebugInfo) -> Option<EntryOffset> {
        class_of(info, &self.links, self.interface.class.as_deref()?)
    }

    /// The error of the glue's compiler, or the reason for it.
    pub(crate) fn constructor_refused(&self, error: BuildError) -> BuildError {
        match (&self.interface.class, &error) {
            (Some(class), BuildError::Refused { text, .. })
                if text.contains("no matching function for call to")
                    || text.contains("use of deleted function") =>
            {
                InterfaceError::Constructor { class: class.clone() }.into()
            }
            _ => error,
        }
    }
}

/// The type of a class, by the objects that its methods are called on, or else by its name.
fn class_of(info: &DebugInfo, links: &BTreeSet<String>, class: &str) -> Option<EntryOffset> {
    let methods = info.functions.iter().filter(|it| links.iter().any(|link| it.is_linked_as(link)));
    let mut by_object = methods.filter_map(|method| {
        let pointer = info.strip(method.object?)?;
        info.strip(pointer.raw.target?).map(|class| class.offset)
    });
    let name = class.rsplit("::").next()?;
    let is_whole = |offset: &EntryOffset| !signature::members(info, *offset).is_empty();
    let of_name = info.types.iter().filter(|(_, raw)| {
        raw.name == name && matches!(raw.kind, RawKind::Structure { members: Some(_), .. })
    });
    by_object.find(is_whole).or_else(|| of_name.map(|(offset, _)| *offset).min())
}

struct Calls<'a> {
    info: &'a DebugInfo,
    entry: &'a Entry,
    around: &'a Surroundings,
    instances: BTreeMap<String, Instance>,
}

impl Calls<'_> {
    /// Reads one entry point. Parameters of one name are one variable in all of them.
    fn call(&mut self, name: &str, role: Role) -> Result<Call, InterfaceError> {
        let link = self.entry.link_name(name);
        let described = |function: &&RawFunction| function.is_linked_as(link);
        let function = self.info.functions.iter().find(described);
        let Some(function) = function else {
            let problem = "of which nothing is known: the function has no debug information";
            return Err(InterfaceError::Parameter {
                function: name.to_owned(),
                parameter: "…".to_owned(),
                problem: problem.to_owned(),
            });
        };
        let arguments = signature::arguments(self.info, &self.around.headers, function, role)?;
        let result = self.result(function);
        let made = arguments.iter().filter_map(|argument| match argument {
            Argument::Instance { instance, .. } => Some(instance),
            _ => None,
        });
        for instance in made.chain(&result) {
            let known = self.instances.entry(instance.name.clone()).or_insert(instance.clone());
            if known.spelled != instance.spelled {
                return Err(InterfaceError::Parameter {
                    function: name.to_owned(),
                    parameter: instance.name.clone(),
                    problem: format!(
                        "a `{}`, and elsewhere a `{}` of the same name",
                        instance.spelled, known.spelled
                    ),
                });
            }
            known.length = known.length.max(instance.length);
        }
        let is_plain = arguments.is_empty() && function.returns.is_none();
        Ok(Call { function: name.to_owned(), arguments, result, is_plain })
    }

    /// A number that a function returns is an output; anything else is dropped.
    fn result(&self, function: &RawFunction) -> Option<Instance> {
        let stripped = self.info.strip(function.returns?)?;
        let is_number = matches!(stripped.raw.kind, RawKind::Base(_) | RawKind::Enumeration(_));
        Some(Instance {
            name: format!("{}_result", function.name),
            spelled: stripped.spelled().filter(|_| is_number)?,
            length: None,
            access: Some(crate::place::Access::Output),
            target: stripped.offset,
        })
    }
}

/// The structure of the model, if there is one.
#[derive(Debug)]
struct Model {
    /// It as an expression of C.
    expression: String,
    /// Its type, or that of its address.
    target: EntryOffset,
    /// `true` if the glue makes it.
    instance: bool,
}

/// Returns `true` if a type, or what it points to, is a model structure.
fn is_model(info: &DebugInfo, target: EntryOffset) -> bool {
    let Some(mut stripped) = info.strip(target) else {
        return false;
    };
    if matches!(stripped.raw.kind, RawKind::Pointer) {
        let Some(pointee) = stripped.raw.target.and_then(|target| info.strip(target)) else {
            return false;
        };
        stripped = pointee;
    }
    let named = stripped.alias.starts_with("RT_MODEL") || stripped.raw.name.starts_with("tag_RTM");
    named || signature::members(info, stripped.offset).iter().any(|it| it.name == "errorStatus")
}

fn find_model(info: &DebugInfo, entry: &Entry, instances: &[Instance]) -> Option<Model> {
    if let Some(instance) = instances.iter().find(|instance| is_model(info, instance.target)) {
        let expression = instance_name(&instance.name);
        return Some(Model { expression, target: instance.target, instance: true });
    }
    if let Some(class) = &entry.class {
        return model_in_class(info, entry, class);
    }
    let model = &entry.model;
    let names =
        [format!("{model}_M"), "rtM".to_owned(), format!("{model}_rtM"), format!("{model}_M_")];
    names.iter().find_map(|name| {
        let of_name = |it: &&crate::debug::RawVariable| it.name == *name && it.external;
        let variable = info.variables.iter().find(of_name)?;
        let stripped = info.strip(variable.target)?;
        let is_address = matches!(stripped.raw.kind, RawKind::Pointer);
        let expression = if is_address { format!("(*{name})") } else { name.clone() };
        is_model(info, variable.target).then_some(Model {
            expression,
            target: variable.target,
            instance: false,
        })
    })
}

/// The model structure that is a member of the class.
fn model_in_class(info: &DebugInfo, entry: &Entry, class: &str) -> Option<Model> {
    let class = class_of(info, &entry.functions(), class)?;
    let member = signature::members(info, class).iter().find(|it| is_model(info, it.target))?;
    let stripped = info.strip(member.target)?;
    let is_address = matches!(stripped.raw.kind, RawKind::Pointer);
    let expression = format!("{OBJECT}.{}", member.name);
    let expression = if is_address { format!("(*{expression})") } else { expression };
    Some(Model { expression, target: member.target, instance: false })
}

/// Makes one call a rate of a function that takes the number of the rate.
fn by_number(
    info: &DebugInfo,
    mut rates: Vec<Vec<Call>>,
    model: Option<&Model>,
    around: &Surroundings,
) -> Result<Vec<Vec<Call>>, InterfaceError> {
    let takes_number = |call: &Call| call.arguments.contains(&Argument::RateNumber);
    let numbered = rates.iter().flatten().find(|call| takes_number(call)).cloned();
    let mut found = u32::try_from(rates.len()).unwrap_or(u32::MAX);
    if let (Some(call), [calls]) = (numbered, &rates[..]) {
        let counted = model.and_then(|model| task_counters(info, model.target));
        let unknown = || InterfaceError::RatesUnknown { function: call.function.clone() };
        found = counted.or(around.rates).ok_or_else(unknown)?;
        let calls = calls.clone();
        rates = (0..found).map(|_| calls.clone()).collect();
    }
    match around.rates {
        Some(wanted) if wanted != found => Err(InterfaceError::RatesDiffer { wanted, found }),
        _ => Ok(rates),
    }
}

/// Number of rates that the model structure counts: the length of `Timing.TaskCounters.TID`.
fn task_counters(info: &DebugInfo, model: EntryOffset) -> Option<u32> {
    let counters = signature::member_type(info, model, &["Timing", "TaskCounters", "TID"])?;
    match &info.strip(counters)?.raw.kind {
        RawKind::Array(lengths) => {
            u32::try_from(*lengths.first()?).ok().filter(|count| (1..=64).contains(count))
        }
        _ => None,
    }
}

/// Which addresses the model structure wants to hold, and the variables for them.
fn pack(
    info: &DebugInfo,
    entry: &Entry,
    model: &str,
    target: EntryOffset,
    instances: &mut Vec<Instance>,
) -> Vec<(String, String)> {
    let mut packed = Vec::new();
    let is_short = instances.iter().any(|instance| instance.name == "rtM");
    for (within, path) in [("", target)]
        .into_iter()
        .chain(signature::member_type(info, target, &["ModelData"]).map(|it| ("ModelData.", it)))
    {
        for (member, end) in PACKED_MEMBERS {
            let Some(pointed) = pointed_structure(info, path, member, end, entry) else {
                continue;
            };
            let (spelled, pointed) = pointed;
            let same = |instance: &&Instance| instance.spelled == spelled;
            let of_type = |it: &&crate::debug::RawVariable| {
                it.external
                    && info.strip(it.target).is_some_and(|it| {
                        it.spelled().as_deref() == Some(&spelled)
                            && !matches!(it.raw.kind, RawKind::Pointer)
                    })
            };
            let source = if let Some(instance) = instances.iter().find(same) {
                instance_name(&instance.name)
            } else if let Some(variable) = info.variables.iter().find(of_type) {
                variable.name.clone()
            } else {
                let name =
                    if is_short { format!("rt{end}") } else { format!("{}_{end}", entry.model) };
                let source = instance_name(&name);
                instances.push(Instance {
                    name,
                    spelled,
                    length: None,
                    access: None,
                    target: pointed,
                });
                source
            };
            packed.push((format!("{model}.{within}{member}"), source));
        }
    }
    packed
}

/// The structure that a member of the model structure points to: its spelling and its entry.
fn pointed_structure(
    info: &DebugInfo,
    model: EntryOffset,
    member: &str,
    end: &str,
    entry: &Entry,
) -> Option<(String, EntryOffset)> {
    let stripped = info.strip(signature::member_type(info, model, &[member])?)?;
    if !matches!(stripped.raw.kind, RawKind::Pointer) {
        return None;
    }
    let pointee = stripped.raw.target.and_then(|target| info.strip(target));
    if let Some(pointee) = pointee
        && matches!(pointee.raw.kind, RawKind::Structure { members: Some(_), .. })
    {
        return Some((pointee.spelled()?, pointee.offset));
    }
    // Continuous states are known by the address of their first number; their structure by its
    // name.
    let names =
        [format!("{end}_{}_T", entry.model), format!("{end}_{}", entry.model), end.to_owned()];
    let mut named = info
        .types
        .iter()
        .filter(|(_, raw)| matches!(raw.kind, RawKind::Typedef) && names.contains(&raw.name));
    let (offset, _) = named.next()?;
    let structure = info.strip(*offset)?;
    let is_structure = matches!(structure.raw.kind, RawKind::Structure { members: Some(_), .. });
    is_structure.then_some((structure.spelled()?, structure.offset))
}

/// The initial values of parameters that a generator leaves in its example of a `main`.
fn with_initialisers(
    instances: Vec<Instance>,
    around: &Surroundings,
    remarks: &mut Vec<String>,
) -> Vec<(Instance, Option<String>)> {
    let with_text = instances.into_iter().map(|instance| {
        let text = around
            .mains
            .iter()
            .find_map(|main| lexing::initialiser_of(&main.text, &instance.spelled));
        let is_parameter = crate::place::Access::of_root(&instance.name, &instance.spelled)
            == crate::place::Access::Parameter;
        if is_parameter && text.is_none() && instance.access.is_none() {
            remarks.push(format!(
                "the folder holds no initial values of `{}`: its parameters start as 0",
                instance.name
            ));
        }
        (instance, text.map(str::to_owned))
    });
    with_text.collect()
}

fn status(info: &DebugInfo, model: &Model) -> Status {
    let has = |path: &[&str]| signature::member_type(info, model.target, path).is_some();
    Status {
        model: model.expression.clone(),
        error_status: has(&["errorStatus"]),
        stop_requested: has(&["Timing", "stopRequestedFlag"]),
        final_time: has(&["Timing", "tFinal"]),
    }
}

fn describe(rates: &[Vec<Call>], entry: &Entry, around: &Surroundings) -> Vec<Rate> {
    let search = PeriodSearch {
        sources: &around.sources,
        mains: &around.mains,
        model: entry.model.rsplit("::").next().unwrap_or(&entry.model),
        initialize: unspaced(&entry.initialize),
    };
    let rate = |(index, calls): (usize, &Vec<Call>)| {
        // A function that takes the rate's number is that of all rates.
        let own = calls.iter().filter(|call| !call.arguments.contains(&Argument::RateNumber));
        let own: Vec<&str> = own.map(|call| unspaced(&call.function)).collect();
        let stated = search.of_rate(&own, index == 0);
        Rate {
            functions: calls.iter().map(|call| call.function.clone()).collect(),
            period_ns: stated.first().map(|first| first.period_ns),
            stated,
        }
    };
    rates.iter().enumerate().map(rate).collect()
}

/// A function without the namespaces around it, as a source file writes it inside of them: a method
/// keeps its class.
fn unspaced(function: &str) -> &str {
    let mut borders = function.rmatch_indices("::").map(|(at, _)| at + 2);
    borders.nth(1).map_or(function, |at| &function[at..])
}

/// The name of a variable of the glue's, as C knows it.
pub(super) fn instance_name(name: &str) -> String {
    format!("{}{name}", super::INSTANCE_PREFIX)
}
