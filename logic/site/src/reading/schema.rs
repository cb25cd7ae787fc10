//! The JSON Schema of the site file: for editors, for the reference, and for the shape walk.

use std::sync::LazyLock;

use schemars::generate::SchemaSettings;
use serde_json::Value;

use crate::raw::RawSite;
use crate::reading::format::{self, Format};

/// Number of `$ref` that may follow each other; ours have one.
const REFERENCES_MAX: usize = 8;

/// The JSON Schema (draft 2020-12) of the site file.
///
/// Three keywords are our own: `format` values that begin with `quietcore-`, and `x-minimum` and
/// `x-maximum` for quantities with units. Any validator may ignore them.
pub fn schema() -> Value {
    SCHEMA.clone()
}

/// The same, made once.
pub(crate) static SCHEMA: LazyLock<Value> = LazyLock::new(|| {
    let mut schema = SchemaSettings::draft2020_12()
        .into_generator()
        .into_root_schema_for::<RawSite>()
        .to_value();
    tidy(&mut schema);
    schema
});

/// Takes out what TOML does not have (null) and what only describes Rust's types, and adds the
/// patterns of the formats.
fn tidy(schema: &mut Value) {
    match schema {
        Value::Array(items) => items.iter_mut().for_each(tidy),
        Value::Object(keywords) => {
            if let Some(Value::Array(types)) = keywords.get_mut("type") {
                types.retain(|kind| kind != "null");
                if let [only] = types.as_slice() {
                    let only = only.clone();
                    keywords.insert("type".into(), only);
                }
            }
            if let Some(Value::Array(choices)) = keywords.get_mut("anyOf") {
                choices.retain(|choice| choice["type"] != "null");
                if let [Value::Object(only)] = choices.as_slice() {
                    let only = only.clone();
                    keywords.remove("anyOf");
                    keywords.extend(only);
                }
            }
            if keywords.get("default").is_some_and(Value::is_null) {
                keywords.remove("default");
            }
            let form = keywords.get("format").and_then(Value::as_str);
            match form.map(Format::named) {
                Some(Some(form)) => {
                    if let Some(pattern) = format::pattern(form) {
                        keywords.insert("pattern".into(), pattern.into());
                    }
                }
                // `uint32` and the like say nothing that the limits don't.
                Some(None) => drop(keywords.remove("format")),
                None => {}
            }
            keywords.values_mut().for_each(tidy);
        }
        _ => {}
    }
}

/// Follows `$ref` to the definition it names.
pub(crate) fn resolved<'s>(root: &'s Value, mut schema: &'s Value) -> &'s Value {
    for _ in 0..REFERENCES_MAX {
        let Some(reference) = schema.get("$ref").and_then(Value::as_str) else {
            break;
        };
        schema = root
            .pointer(reference.trim_start_matches('#'))
            .expect("the generator defines what it refers to");
    }
    schema
}

/// The words of an enumeration, if the schema is one.
pub(crate) fn words(schema: &Value) -> Option<Vec<&str>> {
    if let Some(words) = schema.get("enum").and_then(Value::as_array) {
        return words.iter().map(Value::as_str).collect();
    }
    let choices = schema.get("oneOf").and_then(Value::as_array)?;
    choices.iter().map(|choice| choice.get("const").and_then(Value::as_str)).collect()
}

/// The types that a schema without choices allows.
pub(crate) fn types(schema: &Value) -> Vec<&str> {
    match schema.get("type") {
        Some(Value::String(only)) => vec![only.as_str()],
        Some(Value::Array(several)) => several.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    }
}

/// Describes the expected value: `a duration with its unit, such as 1 ms`.
pub(crate) fn expected(root: &Value, schema: &Value) -> String {
    let schema = resolved(root, schema);
    if let Some(words) = words(schema) {
        return format!("one of {}", crate::words::list(words));
    }
    if let Some(choices) = schema.get("anyOf").and_then(Value::as_array) {
        let choices: Vec<_> = choices.iter().map(|choice| expected(root, choice)).collect();
        return choices.join(", or ");
    }
    let format = schema.get("format").and_then(Value::as_str).and_then(Format::named);
    if let Some(format) = format {
        return format.expected().to_owned();
    }
    let range = match (schema.get("minimum"), schema.get("maximum")) {
        (Some(from), Some(to)) => format!(" from {from} to {to}"),
        _ => String::new(),
    };
    let words: Vec<_> = types(schema)
        .into_iter()
        .map(|kind| match kind {
            "object" => "a table".to_owned(),
            "array" => match schema.get("items") {
                Some(items) if types(resolved(root, items)) == ["object"] => {
                    "an array of tables".to_owned()
                }
                Some(items) => format!("an array, each of it {}", expected(root, items)),
                None => "an array".to_owned(),
            },
            "string" => "a text in quotes".to_owned(),
            "integer" => format!("an integer{range}"),
            "number" => format!("a number{range}"),
            _ => "`true` or `false`".to_owned(),
        })
        .collect();
    words.join(" or ")
}

/// The first example of a schema as one would write it in TOML.
pub(crate) fn example(schema: &Value) -> Option<String> {
    let examples = schema.get("examples")?.as_array()?;
    examples.first().map(written)
}

/// A JSON value as one would write it in TOML.
pub(crate) fn written(value: &Value) -> String {
    match value {
        Value::Array(items) => {
            let items: Vec<_> = items.iter().map(written).collect();
            format!("[{}]", items.join(", "))
        }
        Value::Object(entries) => {
            let entries: Vec<_> = entries
                .iter()
                .map(|(key, value)| format!("{} = {}", written_key(key), written(value)))
                .collect();
            format!("{{ {} }}", entries.join(", "))
        }
        plain => plain.to_string(),
    }
}

/// A key, in quotes where TOML demands them.
fn written_key(key: &str) -> String {
    let bare = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    if !key.is_empty() && key.chars().all(bare) { key.to_owned() } else { format!("\"{key}\"") }
}
