//! Which model a folder holds, and its entry points by their names.

use std::collections::{BTreeMap, BTreeSet};

use crate::build::objects::{Object, written_whole};
use crate::interface::{InterfaceError, Language};
use quietcore_wording::{alike, list};

/// Most functions of one kind with a number.
const RATES_MAX: u32 = 64;

/// The end of a class's name that some releases add to the name of the model.
pub(crate) const CLASS_END: &str = "ModelClass";

/// Most functions that are named where there is no model.
const NAMED_MAX: usize = 5;

/// Last words of the names that other generators give to the function of a cycle.
const STEPS: [&str; 10] =
    ["step", "isr", "tick", "cycle", "run", "execute", "exec", "update", "loop", "compute"];

/// Those of their other entry points.
const OTHERS: [&str; 9] =
    ["initialize", "initialise", "init", "reset", "start", "setup", "fn", "end", "terminate"];

/// The entry points of a model. Functions are named as they are written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) model: String,
    /// The class whose methods they are, with its namespaces; `None` where they are functions.
    pub(crate) class: Option<String>,
    pub(crate) language: Language,
    pub(crate) initialize: String,
    pub(crate) terminate: Option<String>,
    /// The functions of each rate. One rate only where a function takes the rate's number.
    pub(crate) rates: Vec<Vec<String>>,
    /// The linker's names of the functions.
    links: BTreeMap<String, String>,
}

impl Entry {
    /// All functions, by the names that the linker knows.
    pub(crate) fn functions(&self) -> BTreeSet<String> {
        let rates = self.rates.iter().flatten();
        let all = [&self.initialize].into_iter().chain(&self.terminate).chain(rates);
        all.map(|name| self.link_name(name).to_owned()).collect()
    }

    /// The name that the linker knows a function by.
    pub(crate) fn link_name<'n>(&'n self, written: &'n str) -> &'n str {
        self.links.get(written).map_or(written, String::as_str)
    }
}

/// A model that a folder may be meant to run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Candidate<'n> {
    /// The name that its functions begin with, without the border `_` or `::`.
    name: &'n str,
    is_class: bool,
}

impl<'n> Candidate<'n> {
    fn of(initialize: &'n str) -> Option<Self> {
        let of = |end, is_class| {
            let name = initialize.strip_suffix(end)?;
            // Templates and what has no name are none.
            let is_name = !name.is_empty() && !name.contains(['<', '(', ' ']);
            is_name.then_some(Self { name, is_class })
        };
        of("::initialize", true).or_else(|| of("_initialize", false))
    }

    fn function(self, name: &str) -> String {
        format!("{}{}{name}", self.name, if self.is_class { "::" } else { "_" })
    }

    /// The class or function itself, without the namespaces around it.
    fn short(self) -> &'n str {
        self.name.rsplit("::").next().unwrap_or(self.name)
    }

    /// The name of the model.
    fn model(self) -> &'n str {
        let short = if self.is_class { self.short() } else { self.name };
        short.strip_suffix(CLASS_END).filter(|it| self.is_class && !it.is_empty()).unwrap_or(short)
    }

    fn is_called(self, wanted: &str) -> bool {
        [self.name, self.short(), self.model()].contains(&wanted)
    }

    /// Returns whether an object needs something of it that lies in another one.
    fn is_used(self, objects: &[Object]) -> bool {
        let initialize = self.function("initialize");
        let start = format!("{}::", self.name);
        let written = objects.iter().flat_map(|object| &object.links);
        let links: BTreeSet<String> = if self.is_class {
            let of_class = written.filter(|(written, _)| written.starts_with(&start));
            of_class.flat_map(|(_, links)| links.clone()).collect()
        } else {
            forms(objects, &initialize)
        };
        let is_other = |object: &&Object| !object.functions.contains(&initialize);
        objects.iter().filter(is_other).any(|object| !object.needed.is_disjoint(&links))
    }
}

/// Finds the model: the one asked for, or the only one.
pub(crate) fn choose(objects: &[Object], wanted: Option<&str>) -> Result<Entry, InterfaceError> {
    let functions: BTreeSet<&str> =
        objects.iter().flat_map(|object| &object.functions).map(String::as_str).collect();
    let models: Vec<Candidate<'_>> = functions
        .iter()
        .filter_map(|name| Candidate::of(name))
        .filter(|model| !rates(&functions, *model).is_empty())
        .collect();
    let model = match wanted {
        Some(wanted) if !models.is_empty() => named(wanted, &models)?,
        _ => only(objects, &models, &functions)?,
    };
    let terminate = Some(model.function("terminate"));
    let initialize = model.function("initialize");
    let is_cpp = objects.iter().any(|it| it.is_cpp() && it.functions.contains(&initialize));
    let mut entry = Entry {
        model: model.model().to_owned(),
        class: model.is_class.then(|| model.name.to_owned()),
        language: if is_cpp { Language::Cpp } else { Language::C },
        initialize,
        terminate: terminate.filter(|name| functions.contains(name.as_str())),
        rates: rates(&functions, model),
        links: BTreeMap::new(),
    };
    let written = [&entry.initialize].into_iter().chain(&entry.terminate);
    for name in written.chain(entry.rates.iter().flatten()) {
        entry.links.insert(name.clone(), form_to_run(objects, name)?);
    }
    Ok(entry)
}

/// The linker's names of all forms of a function: several where it is overloaded.
fn forms(objects: &[Object], written: &str) -> BTreeSet<String> {
    let of_cpp = objects.iter().filter_map(|object| object.links.get(written)).flatten();
    let of_c = objects.iter().filter_map(|object| object.defined.get(written));
    of_cpp.chain(of_c).cloned().collect()
}

/// The linker's name of the form of a function that is run: the only one, or of several the one
/// that takes nothing.
fn form_to_run(objects: &[Object], written: &str) -> Result<String, InterfaceError> {
    let forms = forms(objects, written);
    // The linker knows no parameters of a function of C: it may well take nothing.
    let takes_nothing = |form: &&String| {
        let whole = written_whole(form);
        whole == **form || whole.trim_end_matches(" const").ends_with("()")
    };
    let plain: Vec<&String> = forms.iter().filter(takes_nothing).collect();
    match (forms.first(), &plain[..]) {
        (None, _) => Ok(written.to_owned()),
        (Some(only), _) if forms.len() == 1 => Ok(only.clone()),
        (Some(_), [plain]) => Ok((*plain).clone()),
        (Some(_), plain) => Err(InterfaceError::Overloaded {
            function: written.to_owned(),
            without_arguments: plain.len(),
            forms: forms.iter().map(|form| format!("`{}`", written_whole(form))).collect(),
        }),
    }
}

/// The model of a name: the one that is called exactly so, or the only one that may be.
fn named<'n>(wanted: &str, models: &[Candidate<'n>]) -> Result<Candidate<'n>, InterfaceError> {
    let exact = models.iter().find(|model| model.name == wanted);
    let called: Vec<_> = models.iter().filter(|model| model.is_called(wanted)).collect();
    match (exact, &called[..]) {
        (Some(model), _) => Ok(*model),
        (None, [model]) => Ok(**model),
        (None, []) => Err(unknown(wanted, models)),
        (None, several) => Err(several_models(several)),
    }
}

fn unknown(wanted: &str, models: &[Candidate<'_>]) -> InterfaceError {
    let mut names = alike(wanted, models.iter().map(|model| model.model()));
    if names.is_empty() {
        names = models.iter().map(|model| model.model().to_owned()).collect();
    }
    InterfaceError::Unknown { wanted: wanted.to_owned(), names }
}

/// The only model that no other one calls.
fn only<'a>(
    objects: &[Object],
    models: &[Candidate<'a>],
    functions: &BTreeSet<&str>,
) -> Result<Candidate<'a>, InterfaceError> {
    let unused: Vec<&Candidate<'a>> =
        models.iter().filter(|model| !model.is_used(objects)).collect();
    match (&unused[..], models) {
        ([model], _) => Ok(**model),
        ([], [model]) => Ok(*model),
        ([], []) => Err(InterfaceError::NoModel { hint: hint(functions) }),
        ([], several) => Err(several_models(&several.iter().collect::<Vec<_>>())),
        (several, _) => Err(several_models(several)),
    }
}

/// Names each model so that it can be asked for: with its namespaces where others share its name.
fn several_models(models: &[&Candidate<'_>]) -> InterfaceError {
    let is_shared = |name: &str| models.iter().filter(|model| model.is_called(name)).count() > 1;
    let name = |model: &&Candidate<'_>| {
        let name = if is_shared(model.model()) { model.name } else { model.model() };
        format!("`{name}`")
    };
    InterfaceError::Several { names: models.iter().map(name).collect() }
}

/// Describes what there is in place of a model.
fn hint(functions: &BTreeSet<&str>) -> String {
    if functions.contains("MdlOutputs") {
        return "; `MdlOutputs` belongs to the classic call interface, which the generator's \
                settings can switch off"
            .to_owned();
    }
    let named = otherwise_named(functions);
    if named.is_empty() {
        return String::new();
    }
    format!(
        "; there is {}: write a `NAME_initialize` and a `NAME_step`, with a NAME of your own, that \
         take nothing and call them, in a file of the folder",
        list(&named)
    )
}

/// Functions that may be the entry points of a program of another generator, by the last words of
/// their names: of the program that has the most of them, if any with one for each cycle.
fn otherwise_named<'n>(functions: &BTreeSet<&'n str>) -> Vec<&'n str> {
    let mut of_programs: BTreeMap<&str, (bool, Vec<&str>)> = BTreeMap::new();
    for name in functions {
        let Some((program, word)) = name.trim_end_matches('_').rsplit_once('_') else { continue };
        let word = word.to_ascii_lowercase();
        let is_step = STEPS.contains(&word.as_str());
        if is_step || OTHERS.contains(&word.as_str()) {
            let (has_step, named) = of_programs.entry(program.trim_end_matches('_')).or_default();
            *has_step |= is_step;
            named.push(name);
        }
    }
    for (program, (has_step, named)) in &mut of_programs {
        // The step may have the name of the program alone.
        if let Some(step) = functions.get(program) {
            *has_step = true;
            named.insert(0, step);
        }
    }
    let most = of_programs.into_values().max_by_key(|(has_step, all)| (*has_step, all.len()));
    let (_, mut named) = most.unwrap_or_default();
    named.truncate(NAMED_MAX);
    named
}

/// The functions of each rate of a model; none where it is no model.
fn rates(functions: &BTreeSet<&str>, model: Candidate<'_>) -> Vec<Vec<String>> {
    let numbered = |kind: &str| -> Vec<Vec<String>> {
        let names = (0..RATES_MAX).map(|number| model.function(&format!("{kind}{number}")));
        let names = names.filter(|name| functions.contains(name.as_str()));
        names.map(|name| vec![name]).collect()
    };
    let plain = |kind: &str| {
        let name = model.function(kind);
        functions.contains(name.as_str()).then_some(name)
    };
    let steps = numbered("step");
    if !steps.is_empty() {
        return steps;
    }
    if let Some(step) = plain("step") {
        return vec![vec![step]];
    }
    let mut outputs = numbered("output");
    for functions_of_rate in &mut outputs {
        let name = &functions_of_rate[0];
        let number = name.strip_prefix(&model.function("output")).unwrap_or_default();
        let update = model.function(&format!("update{number}"));
        if functions.contains(update.as_str()) {
            functions_of_rate.push(update);
        }
    }
    if !outputs.is_empty() {
        return outputs;
    }
    plain("output")
        .map(|output| [output].into_iter().chain(plain("update")).collect())
        .into_iter()
        .collect()
}

#[cfg(test)]
mod tests;
