//! The shape walk: compares the file with the schema and keeps what fits.
//!
//! It knows nothing of sites. For every value it asks the schema what should be there and reports
//! unknown keys, missing keys, wrong types, unknown words, bad quantities and numbers out of range.
//! What is wrong is left out of the result, so that the checks of meaning see the rest: an element
//! of an array of tables becomes an empty table (later elements keep their index), any other array
//! with a wrong element is left out whole.
//!
//! The walk descends only where the schema does, so its depth is that of the schema.

use serde_json::{Map, Number, Value};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::reading::collector::Collector;
use crate::reading::format::Format;
use crate::reading::place::Path;
use crate::reading::schema::{example, expected, resolved, types, words};
use crate::words::{instead, list, nearest, quoted};

/// Walks the whole document and returns what fits the schema.
pub(crate) fn walk(root: &Value, collector: &mut Collector<'_, '_>) -> Value {
    let tree = collector.document.root();
    let mut walk = Walk { root, collector };
    walk.value(tree, root, &Path::top()).unwrap_or_else(|| Value::Object(Map::new()))
}

struct Walk<'w, 'd, 't> {
    root: &'w Value,
    collector: &'w mut Collector<'d, 't>,
}

impl<'w> Walk<'w, '_, '_> {
    fn value(
        &mut self,
        value: &Spanned<DeValue<'_>>,
        schema: &'w Value,
        path: &Path,
    ) -> Option<Value> {
        let outer = schema;
        let mut schema = resolved(self.root, schema);
        if let Some(choices) = schema.get("anyOf").and_then(Value::as_array) {
            let fitting = choices
                .iter()
                .map(|choice| resolved(self.root, choice))
                .find(|choice| fits(value.get_ref(), &types(choice)));
            match fitting {
                Some(choice) => schema = choice,
                None => return self.wrong_type(value.get_ref(), outer, path),
            }
        }
        if let Some(words) = words(schema) {
            return self.word(value.get_ref(), &words, outer, path);
        }
        if !fits(value.get_ref(), &types(schema)) {
            return self.wrong_type(value.get_ref(), outer, path);
        }
        match value.get_ref() {
            DeValue::Table(table) => Some(self.table(table, schema, path)),
            DeValue::Array(items) => self.array(items, schema, path),
            DeValue::String(text) => self.text(text, schema, path),
            DeValue::Integer(number) => {
                let whole = i128::from_str_radix(number.as_str(), number.radix()).ok();
                self.integer(whole, schema, path)
            }
            DeValue::Float(number) => self.real(number.as_str().parse().ok(), schema, path),
            DeValue::Boolean(truth) => Some(Value::Bool(*truth)),
            DeValue::Datetime(_) => self.wrong_type(value.get_ref(), outer, path),
        }
    }

    fn table(&mut self, table: &DeTable<'_>, schema: &'w Value, path: &Path) -> Value {
        let known = schema.get("properties").and_then(Value::as_object);
        let others = schema.get("additionalProperties").filter(|others| others.is_object());
        let limit = schema.get("maxProperties").and_then(Value::as_u64);
        let form = schema.pointer("/propertyNames/format").and_then(Value::as_str);
        let form = form.and_then(Format::named).unwrap_or(Format::Name);
        let mut kept = Map::new();
        for (key, value) in table.iter() {
            let key = key.get_ref().as_ref();
            let below = path.key(key);
            let schema = match (known.and_then(|known| known.get(key)), others) {
                (Some(schema), _) => schema,
                (None, Some(others)) => {
                    if !self.own_key(key, form, &below, kept.len(), limit) {
                        continue;
                    }
                    if form == Format::Variable && value.get_ref().is_table() {
                        self.collector.refuse_key(
                            &below,
                            "without quotes each part of the path becomes a table",
                            format!("write the whole path in quotes, such as `\"{key}.x\" = 0.0`"),
                        );
                        continue;
                    }
                    others
                }
                (None, None) => {
                    self.unknown_key(key, known, path);
                    continue;
                }
            };
            if let Some(value) = self.value(value, schema, &below) {
                kept.insert(key.to_owned(), value);
            }
        }
        self.missing_keys(table, schema, path);
        Value::Object(kept)
    }

    /// Checks a key that the user may choose, such as the name of a fieldbus.
    fn own_key(
        &mut self,
        key: &str,
        form: Format,
        path: &Path,
        count: usize,
        limit: Option<u64>,
    ) -> bool {
        if limit.is_some_and(|limit| count as u64 >= limit) {
            let limit = limit.unwrap_or_default();
            self.collector.refuse_key(
                path,
                format!("there are more than {limit} of them"),
                format!("{limit} are allowed at most"),
            );
            return false;
        }
        match form.read(key) {
            Ok(_) => true,
            Err((problem, remedy)) => {
                let what = match form {
                    Format::Name => "name",
                    Format::Channel => "channel",
                    _ => "path",
                };
                let problem = format!("{} isn't a good {what}: {problem}", quoted(key));
                self.collector.refuse_key(path, problem, remedy);
                false
            }
        }
    }

    fn unknown_key(&mut self, key: &str, known: Option<&Map<String, Value>>, path: &Path) {
        if !self.collector.has_room() {
            return;
        }
        let here = if path.is_top() {
            "at the top of the file".to_owned()
        } else {
            format!("in `{}`", path.header(false))
        };
        let known: Vec<_> = known.into_iter().flat_map(Map::keys).map(String::as_str).collect();
        let remedy = match (nearest(key, known.iter().copied()), self.home_of(key, path)) {
            (Some(nearest), _) => format!("did you mean `{nearest}`?"),
            (None, Some(home)) => format!("it belongs in `{home}`"),
            (None, None) => format!("the keys there are {}", list(known)),
        };
        let place = self.collector.document.key_place(&path.key(key));
        let problem = format!("there is no key {} {here}", quoted(key));
        self.collector.push(place, problem, remedy);
    }

    /// The table that has such a key: the nearest one below `path`, else the only one there is.
    fn home_of(&self, key: &str, path: &Path) -> Option<String> {
        let mut homes: Vec<Path> = Vec::new();
        tables(self.root, self.root, &Path::top(), &mut |path, table| {
            if table["properties"].get(key).is_some() {
                homes.push(path.clone());
            }
        });
        let mut below: Vec<_> = homes.iter().filter(|home| home.is_below(path)).collect();
        below.sort_by_key(|home| home.depth());
        match (below.as_slice(), homes.as_slice()) {
            ([near, far, ..], _) if near.depth() < far.depth() => Some(near.header(false)),
            ([only], _) => Some(only.header(false)),
            ([], [only]) => Some(only.header(false)),
            _ => None,
        }
    }

    fn missing_keys(&mut self, table: &DeTable<'_>, schema: &'w Value, path: &Path) {
        let required = schema.get("required").and_then(Value::as_array);
        for key in required.into_iter().flatten().filter_map(Value::as_str) {
            if table.contains_key(key) {
                continue;
            }
            let schema = &schema["properties"][key];
            let below = path.key(key);
            let resolved = resolved(self.root, schema);
            let remedy = match (types(resolved).as_slice(), example(schema)) {
                (["object"], _) => format!("add a table `{}`", below.header(false)),
                (["array"], None) => format!("add a table `{}`", below.header(true)),
                (_, Some(example)) => format!("write for example `{key} = {example}`"),
                _ => format!("write {}", expected(self.root, schema)),
            };
            self.collector.refuse(&below, "this key is missing", remedy);
        }
    }

    fn array(
        &mut self,
        items: &[Spanned<DeValue<'_>>],
        schema: &'w Value,
        path: &Path,
    ) -> Option<Value> {
        let limit = |name| schema.get(name).and_then(Value::as_u64).map(|limit| limit as usize);
        let shortest = limit("minItems").unwrap_or(0);
        let longest = limit("maxItems").unwrap_or(usize::MAX);
        if items.len() < shortest {
            self.collector.refuse(path, "the array is empty", "write at least one element");
            return None;
        }
        if items.len() > longest {
            self.collector.refuse(
                &path.index(longest),
                format!("there are {} elements", items.len()),
                format!("{longest} are allowed at most"),
            );
        }
        let of = &schema["items"];
        let of_tables = types(resolved(self.root, of)) == ["object"];
        let mut whole = true;
        let mut kept = Vec::new();
        for (index, item) in items.iter().take(longest).enumerate() {
            match self.value(item, of, &path.index(index)) {
                Some(value) => kept.push(value),
                None if of_tables => kept.push(Value::Object(Map::new())),
                None => whole = false,
            }
        }
        whole.then_some(Value::Array(kept))
    }

    fn text(&mut self, text: &str, schema: &'w Value, path: &Path) -> Option<Value> {
        let format = schema.get("format").and_then(Value::as_str).and_then(Format::named);
        let Some(format) = format else {
            return Some(Value::String(text.to_owned()));
        };
        let magnitude = match format.read(text) {
            Ok(magnitude) => magnitude,
            Err((problem, remedy)) => {
                let problem = format!("{} can't be read: {problem}", quoted(text));
                self.collector.refuse(path, problem, remedy);
                return None;
            }
        };
        let bound = |name: &str| {
            let text = schema.get(name).and_then(Value::as_str)?;
            let value = format.read(text).expect("the bounds in the schema can be read");
            Some((value?, text))
        };
        if let (Some(magnitude), Some((least, from)), Some((most, to))) =
            (magnitude, bound("x-minimum"), bound("x-maximum"))
            && !(least..=most).contains(&magnitude)
        {
            let side = if magnitude < least { "less" } else { "more" };
            self.collector.refuse(
                path,
                format!("{} is {side} than is allowed", quoted(text)),
                format!("write {from} to {to}"),
            );
            return None;
        }
        Some(Value::String(text.to_owned()))
    }

    fn word(
        &mut self,
        value: &DeValue<'_>,
        words: &[&str],
        schema: &Value,
        path: &Path,
    ) -> Option<Value> {
        let Some(text) = value.as_str() else {
            return self.wrong_type(value, schema, path);
        };
        if words.contains(&text) {
            return Some(Value::String(text.to_owned()));
        }
        let known = words.iter().copied();
        let problem = match nearest(text, known.clone()) {
            Some(_) => format!("{} isn't one of {}", quoted(text), list(known.clone())),
            None => format!("{} has no meaning here", quoted(text)),
        };
        self.collector.refuse(path, problem, instead(text, known));
        None
    }

    fn integer(&mut self, number: Option<i128>, schema: &Value, path: &Path) -> Option<Value> {
        let types = types(schema);
        if !types.contains(&"integer") {
            return self.real(number.map(|number| number as f64), schema, path);
        }
        let Some(whole) = number.and_then(|number| i64::try_from(number).ok()) else {
            let remedy = format!("write {}", expected(self.root, schema));
            self.collector.refuse(path, "the number is too large", remedy);
            return None;
        };
        self.within(whole as f64, schema, path)?;
        Some(Value::Number(whole.into()))
    }

    fn real(&mut self, number: Option<f64>, schema: &Value, path: &Path) -> Option<Value> {
        let Some(number) = number.filter(|number| number.is_finite()) else {
            let remedy = format!("write {}", expected(self.root, schema));
            self.collector.refuse(path, "the number isn't finite", remedy);
            return None;
        };
        self.within(number, schema, path)?;
        Number::from_f64(number).map(Value::Number)
    }

    fn within(&mut self, number: f64, schema: &Value, path: &Path) -> Option<()> {
        let bound = |name| schema.get(name).and_then(Value::as_f64);
        let least = bound("minimum").unwrap_or(f64::NEG_INFINITY);
        let most = bound("maximum").unwrap_or(f64::INFINITY);
        if (least..=most).contains(&number) {
            return Some(());
        }
        let side = if number < least { "less" } else { "more" };
        let remedy = format!("write {}", expected(self.root, schema));
        self.collector.refuse(path, format!("{number} is {side} than is allowed"), remedy);
        None
    }

    fn wrong_type(&mut self, value: &DeValue<'_>, schema: &Value, path: &Path) -> Option<Value> {
        let found = match value {
            DeValue::String(text) => format!("the text {}", quoted(text)),
            DeValue::Integer(number) => format!("the integer {number}"),
            DeValue::Float(number) => format!("the number {number}"),
            DeValue::Boolean(truth) => format!("`{truth}`"),
            DeValue::Datetime(_) => "a date or time".to_owned(),
            DeValue::Array(_) => "an array".to_owned(),
            DeValue::Table(_) => "a table".to_owned(),
        };
        let inner = resolved(self.root, schema);
        let wanted = expected(self.root, schema);
        let remedy = match (types(inner).as_slice(), value) {
            (["array"], DeValue::Table(_)) => {
                format!("write its header as `{}`", path.header(true))
            }
            _ => match example(schema) {
                Some(example) => {
                    // The forms of texts name an example themselves, without the quotes.
                    let wanted = wanted.split(" such as `").next().unwrap_or_default();
                    let wanted = wanted.trim_end_matches(',');
                    format!("write {wanted}, for example `{example}`")
                }
                None => format!("write {wanted}"),
            },
        };
        self.collector.refuse(path, format!("this is {found}"), remedy);
        None
    }
}

/// Returns `true` if a value is of one of the types; an integer is a number as well.
fn fits(value: &DeValue<'_>, types: &[&str]) -> bool {
    let has = |name| types.contains(&name);
    match value {
        DeValue::String(_) => has("string"),
        DeValue::Integer(_) => has("integer") || has("number"),
        DeValue::Float(_) => has("number"),
        DeValue::Boolean(_) => has("boolean"),
        DeValue::Array(_) => has("array"),
        DeValue::Table(_) => has("object"),
        DeValue::Datetime(_) => false,
    }
}

/// Calls `each` with every table that the schema describes.
pub(crate) fn tables<'s>(
    root: &'s Value,
    schema: &'s Value,
    path: &Path,
    each: &mut impl FnMut(&Path, &'s Value),
) {
    let schema = resolved(root, schema);
    if let Some(items) = schema.get("items") {
        tables(root, items, &path.index(0), each);
    }
    if let Some(others) = schema.get("additionalProperties").filter(|others| others.is_object()) {
        tables(root, others, &path.key("NAME"), each);
    }
    if let Some(properties) = schema.get("properties").and_then(Value::as_object) {
        each(path, schema);
        for (key, below) in properties {
            tables(root, below, &path.key(key), each);
        }
    }
}
