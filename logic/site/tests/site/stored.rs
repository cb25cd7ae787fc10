//! Texts that people read or that others rely on, compared with their stored copies.

mod domains;
mod exports;

use crate::support::{assert_stored, machine, read_text, repository_file};
use quietcore_site::{Example, SCHEMA_LINE, init, plan, reference, schema};

#[test]
fn a_file_with_many_errors_shows_all_of_them() {
    let path = repository_file("logic/site/tests/stored/many-errors.toml");
    let text = std::fs::read_to_string(path).unwrap();
    let problems = read_text(&text).unwrap_err();
    let shown = format!("{problems}\n");
    assert_stored("logic/site/tests/stored/many-errors.txt", &shown);
}

#[test]
fn errors_of_syntax_show_their_places() {
    let path = repository_file("logic/site/tests/stored/syntax-errors.toml");
    let text = std::fs::read_to_string(path).unwrap();
    let problems = read_text(&text).unwrap_err();
    let shown = format!("{problems}\n");
    assert_stored("logic/site/tests/stored/syntax-errors.txt", &shown);
}

#[test]
fn the_examples_are_what_init_writes_for_two_cpus() {
    for example in Example::ALL {
        let path = format!("examples/{}.toml", example.name());
        // A new site file has its model beside it; those of this project are one folder up.
        let file = format!("{}.toml", example.name());
        let text = init(&machine(2), example, &file);
        let schema = "#:schema ../docs/site-file.schema.json\n";
        let text = schema.to_owned() + text.strip_prefix(SCHEMA_LINE).unwrap();
        let text = match example.model().map(|model| model.folder) {
            None => text,
            // The comment behind it keeps its column.
            Some(folder) => text.replace(&format!("\"{folder}\"   "), &format!("\"../{folder}\"")),
        };
        assert_stored(&path, &text);
    }
}

/// Goal: the program alone can write the model that its example needs, whole.
/// Method: compare what is in the program with the folders of the project.
#[test]
fn the_models_of_the_examples_are_in_the_program() {
    for model in Example::ALL.iter().filter_map(|example| example.model()) {
        let folder = repository_file(model.folder);
        let mut names: Vec<_> = std::fs::read_dir(&folder)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .filter(|name| [".c", ".h", ".oil"].iter().any(|end| name.ends_with(end)))
            .collect();
        names.sort();
        let own: Vec<_> = model.files.iter().map(|file| file.name).collect();
        assert_eq!(own, names, "{}", model.folder);
        for file in model.files {
            assert_eq!(file.text, std::fs::read_to_string(folder.join(file.name)).unwrap());
        }
    }
}

/// Goal: the site files of the examples name variables that their programs have.
/// Method: look for each part of a path as a word of the header. The build says it for certain.
#[test]
fn the_variables_of_the_examples_are_those_of_their_models() {
    for example in Example::ALL {
        let Some(model) = example.model() else { continue };
        let site = read_text(&init(&machine(2), example, "site.toml")).unwrap();
        let program = &site.partitions()[0].program;
        assert_eq!(program.model.as_deref(), Some(model.folder));
        let mut variables = program.retain.clone();
        let maps = site.fieldbuses().iter().flat_map(|bus| &bus.map);
        variables.extend(maps.map(|one| one.variable.clone()));
        variables.extend(program.substitutes.iter().map(|one| one.variable.clone()));
        assert!(variables.len() > 2);
        let header: String = model
            .files
            .iter()
            .filter(|file| file.name.ends_with(".h"))
            .map(|file| file.text)
            .collect();
        let words: Vec<_> =
            header.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').collect();
        for part in variables.iter().flat_map(|path| path.split('.')).filter(|part| *part != "*") {
            assert!(words.contains(&part), "{}: {part}", example.name());
        }
    }
}

#[test]
fn the_plan_of_the_quickstart_reads_well() {
    let site = read_text(&init(&machine(2), Example::Quickstart, "site.toml")).unwrap();
    let plan = plan(&site, &machine(2)).unwrap();
    let mut shown: String = plan.steps.iter().map(|step| format!("{step}\n")).collect();
    shown.push_str(&format!("expected: {}\n", plan.expected));
    for degradation in &plan.degraded {
        shown.push_str(&format!("{degradation}\n"));
    }
    assert_stored("logic/site/tests/stored/quickstart-plan.txt", &shown);
}

#[test]
fn the_plan_of_the_press_line_is_refused_with_every_reason() {
    let text = std::fs::read_to_string(repository_file("examples/press-line.toml")).unwrap();
    let site = read_text(&text).unwrap();
    let refusals = plan(&site, &machine(2)).unwrap_err();
    let shown: String = refusals.iter().map(|refusal| format!("{refusal}\n")).collect();
    assert_stored("logic/site/tests/stored/press-line-refusals.txt", &shown);
}

#[test]
fn the_published_schema_and_the_reference_are_up_to_date() {
    let schema = serde_json::to_string_pretty(&schema()).unwrap();
    assert_stored("docs/site-file.schema.json", &format!("{schema}\n"));
    assert_stored("docs/site-file.md", &reference());
}
