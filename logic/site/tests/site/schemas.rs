//! The published JSON Schema: an independent validator agrees with what [`read`] accepts.

use proptest::prelude::*;
use quietcore_site::{Example, init, read, schema};
use serde_json::Value;

use crate::support::{machine, repository_file};

fn as_json(text: &str) -> Value {
    let table: toml::Table = text.parse().unwrap();
    serde_json::to_value(table).unwrap()
}

#[test]
fn the_schema_accepts_the_examples() {
    let validator = jsonschema::validator_for(&schema()).unwrap();
    let mut texts: Vec<_> =
        Example::ALL.map(|example| init(&machine(2), example, "site.toml")).into();
    let press_line = repository_file("examples/press-line.toml");
    texts.push(std::fs::read_to_string(press_line).unwrap());
    for text in texts {
        let errors: Vec<_> =
            validator.iter_errors(&as_json(&text)).map(|e| e.to_string()).collect();
        assert!(errors.is_empty(), "{errors:?}\n{text}");
    }
}

#[test]
fn the_schema_refuses_what_has_the_wrong_shape() {
    let validator = jsonschema::validator_for(&schema()).unwrap();
    let good = init(&machine(2), Example::Quickstart, "site.toml");
    for (from, to) in [
        ("\"1 ms\"", "\"1 parsec\""),
        ("\"1 ms\"", "5"),
        ("name = \"axis\"", "name = \"Axis\""),
        ("class = ", "clas = "),
        ("backend = \"process\"", "backend = \"docker\""),
        ("priority = 90", "priority = 100"),
        ("\"adaptive\"", "\"sometimes\""),
        ("cpus = [1]", "cpus = [5000]"),
        ("exceedance = 1e-4", "exceedance = 2.0"),
    ] {
        let bad = good.replacen(from, to, 1);
        assert_ne!(bad, good, "{from}");
        assert!(!validator.is_valid(&as_json(&bad)), "{to}");
        assert!(read("f", bad.as_bytes(), &quietcore_record::class::catalogue()).is_err(), "{to}");
    }
}

proptest! {
    /// An editor must not mark as wrong what `read` accepts.
    #[test]
    fn what_is_read_is_accepted_by_the_schema(
        line in 0_usize..240,
        value in "(\"[0-9, .-]{0,6} ?(ms|us|s|h|MiB|kB|Mbit/s|bit)?\"|[0-9]{1,3}|\\[[0-9]?\\])",
    ) {
        thread_local! {
            static VALIDATOR: jsonschema::Validator =
                jsonschema::validator_for(&schema()).unwrap();
        }
        let press_line = std::fs::read_to_string(repository_file("examples/press-line.toml"));
        let lines: Vec<_> = press_line
            .unwrap()
            .lines()
            .enumerate()
            .map(|(index, old)| match old.split_once(" = ") {
                Some((key, _)) if index == line => format!("{key} = {value}"),
                _ => old.to_owned(),
            })
            .collect();
        let text = lines.join("\n");
        if read("f", text.as_bytes(), &quietcore_record::class::catalogue()).is_ok() {
            let json = as_json(&text);
            let valid = VALIDATOR.with(|validator| validator.is_valid(&json));
            prop_assert!(valid, "{}", value);
        }
    }
}

#[test]
fn every_key_has_a_description_and_no_name_of_a_rust_type_shows() {
    fn walk(schema: &Value, path: &str, missing: &mut Vec<String>) {
        for (name, property) in schema["properties"].as_object().into_iter().flatten() {
            let description = property["description"].as_str().unwrap_or_default();
            if description.is_empty() || description.contains("[`") {
                missing.push(format!("{path}.{name}"));
            }
        }
        match schema {
            Value::Object(entries) => {
                for (key, below) in entries {
                    walk(below, &format!("{path}/{key}"), missing);
                }
            }
            Value::Array(items) => items.iter().for_each(|below| walk(below, path, missing)),
            _ => {}
        }
    }
    let schema = schema();
    let mut missing = Vec::new();
    walk(&schema, "", &mut missing);
    assert!(missing.is_empty(), "{missing:?}");
    let names: Vec<_> = schema["$defs"].as_object().unwrap().keys().collect();
    assert!(names.iter().all(|name| !name.starts_with("Raw")), "{names:?}");
    assert!(!schema.to_string().contains("null"), "TOML has no null");
}
