//! Which model is found, by functions as a linker names them.

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
        outcome: Outcome { success: true, text: String::new(), printed: String::new() },
        functions: set(functions),
        links: BTreeMap::new(),
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
fn a_class_is_known_by_its_methods_and_called_like_its_model() {
    let mut class = objects(&[(&["Servo::Servo", "Servo::initialize", "Servo::step"], &[])]);
    class.extend(objects(&[(&["innerModelClass::initialize", "innerModelClass::step"], &[])]));
    let ctor = "_ZN15innerModelClassC1Ev".to_owned();
    class[0].needed.insert(ctor.clone());
    let constructor = "innerModelClass::innerModelClass".to_owned();
    class[1].links.insert(constructor, BTreeSet::from([ctor]));
    let entry = choose(&class, None).unwrap();
    assert_eq!((entry.model.as_str(), entry.class.as_deref()), ("Servo", Some("Servo")));
    assert_eq!(entry.rates, [["Servo::step"]]);
    let inner = choose(&class, Some("inner")).unwrap();
    assert_eq!(inner.class.as_deref(), Some("innerModelClass"));
    let spaced = objects(&[(&["plant::Servo::initialize", "plant::Servo::step0"], &[])]);
    assert_eq!(choose(&spaced, Some("plant::Servo")).unwrap().model, "Servo");
}

/// Goal: of an overloaded function the form without arguments is run, and none is guessed.
#[test]
fn the_form_without_arguments_is_run() {
    let step = |forms: &[&str]| {
        let mut class = objects(&[(&["a::Servo::initialize", "a::Servo::step"], &[])]);
        let forms = forms.iter().map(|form| (*form).to_owned()).collect();
        class[0].links.insert("a::Servo::step".to_owned(), forms);
        class[0].defined.clear();
        let entry = choose(&class, None).map_err(|error| error.to_string())?;
        Ok::<_, String>(entry.link_name("a::Servo::step").to_owned())
    };
    let (plain, real, whole) = ("_ZN1a5Servo4stepEv", "_ZN1a5Servo4stepEd", "_ZN1a5Servo4stepEi");
    assert_eq!(step(&[real, plain, whole]).as_deref(), Ok(plain));
    assert_eq!(step(&[real]).as_deref(), Ok(real), "there is no other");
    assert_eq!(
        step(&[real, whole]).unwrap_err(),
        "`a::Servo::step` is overloaded, and no form of it is without arguments: \
         `a::Servo::step(double)`, `a::Servo::step(int)`; leave one, or add one without \
         arguments, which is run then"
    );
    assert_eq!(
        step(&[plain, "_ZNK1a5Servo4stepEv"]).unwrap_err(),
        "`a::Servo::step` is overloaded, and 2 forms of it are without arguments: \
         `a::Servo::step()`, `a::Servo::step() const`; leave one of these"
    );
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
        "the folder holds several models: `a`, `b`; name the one to run, in the site file as \
         `model_name`"
    );
    assert_eq!(text(two, Some("c")), "there is no model `c` in the folder; there is a, b");
    // Classes of one name in several namespaces, and none, are told apart by them.
    let spaces: &[(&[&str], &[&str])] = &[
        (&["a::Servo::initialize", "a::Servo::step"], &[]),
        (&["b::Servo::initialize", "b::Servo::step"], &[]),
    ];
    for wanted in [None, Some("Servo")] {
        assert!(text(spaces, wanted).contains("models: `a::Servo`, `b::Servo`; name"));
    }
    let whole = objects(&[(&["Z::initialize", "Z::step", "A::Z::initialize", "A::Z::step"], &[])]);
    assert_eq!(choose(&whole, Some("Z")).unwrap().class.as_deref(), Some("Z"));
    assert_eq!(choose(&whole, Some("A::Z")).unwrap().class.as_deref(), Some("A::Z"));
    let none = text(&[(&["servo_step", "initialize"], &[])], None);
    assert!(none.contains("; there is `servo_step`: write a `NAME_initialize`"), "{none}");
}

/// Goal: whoever has the code of another generator learns which functions to call, and from where.
#[test]
fn entry_points_of_other_generators_are_named() {
    for (functions, named) in [
        (
            &["Operator1", "Operator1_init", "Operator1_reset", "kcg_copy_array"][..],
            "`Operator1`, `Operator1_init`, `Operator1_reset`",
        ),
        (
            &["comedi_end", "plantctl_end", "plantctl_init", "plantctl_isr"],
            "`plantctl_end`, `plantctl_init`, `plantctl_isr`",
        ),
        (&["mpc_fn", "mpc_fn_alloc_mem", "mpc_fn_n_in"], "`mpc_fn`"),
        (
            &["Line__controller_reset", "Line__controller_step"],
            "`Line__controller_reset`, `Line__controller_step`",
        ),
    ] {
        let text = choose(&objects(&[(functions, &[])]), None).unwrap_err().to_string();
        let end = "write a `NAME_initialize` and a `NAME_step`, with a NAME of your own, that take \
                   nothing and call them, in a file of the folder";
        assert!(text.ends_with(&format!("; there is {named}: {end}")), "{text}");
    }
    let text = choose(&objects(&[(&["helper"], &[])]), None).unwrap_err().to_string();
    assert!(text.ends_with("with `initialize` and `step`"), "{text}");
}
