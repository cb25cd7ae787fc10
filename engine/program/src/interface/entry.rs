//! Which model a folder holds, and its entry points by their names.

use std::collections::BTreeSet;

use crate::build::objects::Object;
use crate::interface::InterfaceError;
use quietcore_wording::{ALIKE_MAX, alike, list};

/// Most functions of one kind with a number.
const RATES_MAX: u32 = 64;

/// The entry points of a model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) model: String,
    pub(crate) initialize: String,
    pub(crate) terminate: Option<String>,
    /// The functions of each rate. One rate only where a function takes the rate's number.
    pub(crate) rates: Vec<Vec<String>>,
}

impl Entry {
    /// All functions.
    pub(crate) fn functions(&self) -> BTreeSet<String> {
        let rates = self.rates.iter().flatten();
        [&self.initialize].into_iter().chain(&self.terminate).chain(rates).cloned().collect()
    }
}

/// Finds the model: the one asked for, or the only one.
pub(crate) fn choose(objects: &[Object], wanted: Option<&str>) -> Result<Entry, InterfaceError> {
    let functions: BTreeSet<&str> =
        objects.iter().flat_map(|object| &object.functions).map(String::as_str).collect();
    let models: Vec<&str> = functions
        .iter()
        .filter_map(|name| name.strip_suffix("_initialize"))
        .filter(|model| !model.is_empty() && !rates(&functions, model).is_empty())
        .collect();
    let model = match wanted {
        Some(wanted) if models.contains(&wanted) => wanted,
        Some(wanted) if !models.is_empty() => {
            let mut names = alike(wanted, models.iter().copied());
            if names.is_empty() {
                names = models.iter().map(|name| (*name).to_owned()).collect();
            }
            return Err(InterfaceError::Unknown { wanted: wanted.to_owned(), names });
        }
        _ => only(objects, &models, &functions)?,
    };
    let terminate = format!("{model}_terminate");
    Ok(Entry {
        model: model.to_owned(),
        initialize: format!("{model}_initialize"),
        terminate: functions.contains(terminate.as_str()).then_some(terminate),
        rates: rates(&functions, model),
    })
}

/// The only model that no other one calls.
fn only<'a>(
    objects: &[Object],
    models: &[&'a str],
    functions: &BTreeSet<&str>,
) -> Result<&'a str, InterfaceError> {
    let called = |model: &str| {
        let initialize = format!("{model}_initialize");
        objects.iter().any(|object| object.needed.contains(&initialize))
    };
    let uncalled: Vec<&&str> = models.iter().filter(|model| !called(model)).collect();
    match (&uncalled[..], models) {
        ([model], _) => Ok(model),
        ([], [model]) => Ok(model),
        ([], []) => Err(InterfaceError::NoModel { hint: hint(functions) }),
        ([], several) => Err(several_models(several.iter())),
        (several, _) => Err(several_models(several.iter().copied())),
    }
}

fn several_models<'a>(names: impl Iterator<Item = &'a &'a str>) -> InterfaceError {
    InterfaceError::Several { names: names.map(|name| format!("`{name}`")).collect() }
}

/// What there is in place of a model.
fn hint(functions: &BTreeSet<&str>) -> String {
    if functions.contains("MdlOutputs") {
        return "; `MdlOutputs` belongs to the classic call interface, which the generator's \
                settings can switch off"
            .to_owned();
    }
    let starts: Vec<String> = functions
        .iter()
        .filter(|name| name.ends_with("_step") || name.ends_with("_initialize"))
        .take(ALIKE_MAX)
        .map(|name| (*name).to_owned())
        .collect();
    if starts.is_empty() { String::new() } else { format!("; there is {}", list(&starts)) }
}

/// The functions of each rate of a model; none where it is no model.
fn rates(functions: &BTreeSet<&str>, model: &str) -> Vec<Vec<String>> {
    let numbered = |kind: &str| -> Vec<Vec<String>> {
        let names = (0..RATES_MAX).map(|number| format!("{model}_{kind}{number}"));
        let names = names.filter(|name| functions.contains(name.as_str()));
        names.map(|name| vec![name]).collect()
    };
    let plain = |kind: &str| {
        let name = format!("{model}_{kind}");
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
        let update = functions_of_rate[0].replace("_output", "_update");
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
mod tests {
    use std::path::PathBuf;

    use super::*;
    use crate::build::compiler::Outcome;

    fn objects(files: &[(&[&str], &[&str])]) -> Vec<Object> {
        let set = |names: &[&str]| -> BTreeSet<String> {
            names.iter().map(|name| (*name).to_owned()).collect()
        };
        let object = |(functions, needed): &(&[&str], &[&str])| Object {
            name: String::new(),
            path: PathBuf::new(),
            outcome: Outcome { success: true, text: String::new() },
            functions: set(functions),
            defined: set(functions),
            needed: set(needed),
        };
        files.iter().map(object).collect()
    }

    fn rates_of(functions: &[&str]) -> Vec<String> {
        let entry = choose(&objects(&[(functions, &[])]), None).unwrap();
        entry.rates.iter().map(|functions| functions.join("+")).collect()
    }

    #[test]
    fn the_functions_of_each_rate_are_found() {
        assert_eq!(rates_of(&["a_initialize", "a_step"]), ["a_step"]);
        assert_eq!(
            rates_of(&["a_initialize", "a_step", "a_step0", "a_step2", "a_step3"]),
            ["a_step0", "a_step2", "a_step3"]
        );
        assert_eq!(
            rates_of(&["a_initialize", "a_output", "a_update", "a_terminate"]),
            ["a_output+a_update"]
        );
        assert_eq!(
            rates_of(&["a_initialize", "a_output0", "a_output1", "a_update0"]),
            ["a_output0+a_update0", "a_output1"]
        );
    }

    #[test]
    fn a_model_inside_of_another_is_not_meant() {
        let nested = objects(&[
            (&["top_initialize", "top_step"], &["inner_initialize", "inner_step"]),
            (&["inner_initialize", "inner_step"], &[]),
        ]);
        assert_eq!(choose(&nested, None).unwrap().model, "top");
        assert_eq!(choose(&nested, Some("inner")).unwrap().model, "inner");
    }

    #[test]
    fn several_models_or_none_are_an_error_that_names_them() {
        let text = |files: &[(&[&str], &[&str])], wanted| {
            choose(&objects(files), wanted).unwrap_err().to_string()
        };
        let two: &[(&[&str], &[&str])] =
            &[(&["a_initialize", "a_step"], &[]), (&["b_initialize", "b_step"], &[])];
        assert_eq!(
            text(two, None),
            "the folder holds several models: `a`, `b`; name the one to run"
        );
        assert_eq!(text(two, Some("c")), "there is no model `c` in the folder; there is a, b");
        let none = text(&[(&["servo_step", "initialize"], &[])], None);
        assert!(none.ends_with("; there is `servo_step`"), "{none}");
    }
}
