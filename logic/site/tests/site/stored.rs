//! Texts that people read or that others rely on, compared with their stored copies.

use crate::support::{assert_stored, machine, read_text, repository_file};
use quietcore_site::{Example, init, plan, reference, schema};

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
        assert_stored(&path, &init(&machine(2), example));
    }
}

#[test]
fn the_plan_of_the_quickstart_reads_well() {
    let site = read_text(&init(&machine(2), Example::Quickstart)).unwrap();
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
