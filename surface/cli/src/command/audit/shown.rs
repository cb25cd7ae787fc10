//! Entries as rows: an intention and its outcome are one.

use std::collections::HashMap;

use quietcore_audit::{Entry, Kind};
use serde_json::{Map, Value};

use super::verification::moment;
use crate::table::Table;

/// Parts of a request that its call says already.
const SAID_BY_CALL: [&str; 1] = ["request"];

/// The rows of a list.
#[derive(Debug, Default)]
pub(super) struct Rows {
    rows: Vec<(Entry, Option<Entry>)>,
    /// Place of each intention, by its number.
    places: HashMap<u64, usize>,
}

impl Rows {
    /// Takes the next entry.
    pub(super) fn take(&mut self, entry: Entry) {
        match entry.of.and_then(|of| self.places.get(&of)) {
            Some(place) => self.rows[*place].1 = Some(entry),
            None => {
                if entry.kind == Kind::Intended {
                    self.places.insert(entry.number, self.rows.len());
                }
                self.rows.push((entry, None));
            }
        }
    }

    /// Returns the list in at most `columns`.
    pub(super) fn text(&self, columns: usize) -> String {
        let mut table = Table::new(&[">no", "time", "who", "where", "what"]);
        for (entry, outcome) in &self.rows {
            let what = match entry.kind {
                Kind::Intended => change(entry, outcome.as_ref()),
                Kind::Done | Kind::Refused => change(entry, Some(entry)),
                Kind::Began => format!("the trail begins: {}", named(&entry.what, &[])),
                Kind::Pruned => format!("older entries were removed: {}", named(&entry.what, &[])),
            };
            table.row([
                entry.number.to_string(),
                moment(entry.instant.at),
                who(entry),
                place(entry),
                what,
            ]);
        }
        if table.is_empty() { String::new() } else { table.lines_within(columns).join("\n") + "\n" }
    }
}

fn who(entry: &Entry) -> String {
    let name = entry.who.certificate.as_ref().unwrap_or(&entry.who.user);
    match &entry.who.role {
        Some(role) => format!("{name} ({role})"),
        None => name.clone(),
    }
}

fn place(entry: &Entry) -> String {
    match (entry.site.as_str(), entry.partition.as_str()) {
        (site, "") => site.to_owned(),
        (site, partition) => format!("{site}/{partition}"),
    }
}

/// Describes a change and what came of it.
fn change(entry: &Entry, outcome: Option<&Entry>) -> String {
    let call = entry.call.rsplit('/').next().unwrap_or_default();
    let asked = match entry.what.get("changes").and_then(Value::as_array) {
        Some(changes) => joined(changes, asked_change),
        None => named(&entry.what, &SAID_BY_CALL),
    };
    let effects = |done: &Entry| done.what.get("effects").and_then(Value::as_array).cloned();
    let (what, end) = match outcome {
        None => (asked, "unknown: it is under way, or the daemon was killed".to_owned()),
        Some(outcome) => match &outcome.refusal {
            Some(refusal) => (asked, format!("refused: {}", refusal.sentence)),
            None => match effects(outcome) {
                Some(effects) => (joined(&effects, effect), "done".to_owned()),
                None => (asked, "done".to_owned()),
            },
        },
    };
    let what = if what.is_empty() { what } else { format!(" {what}") };
    format!("{call}{what}: {end}")
}

fn joined(values: &[Value], one: impl Fn(&Value) -> String) -> String {
    values.iter().map(one).collect::<Vec<_>>().join(", ")
}

fn asked_change(change: &Value) -> String {
    let value = change.get("value").map(|value| format!(" = {}", plain(value)));
    let (kind, variable) = (plain(&change["kind"]), plain(&change["variable"]));
    format!("{kind} {variable}{}", value.unwrap_or_default())
}

fn effect(effect: &Value) -> String {
    let change = &effect["change"];
    let told = |value: &Value| if value.is_null() { "?".to_owned() } else { plain(value) };
    let without = match effect.get("without_effect") {
        None | Some(Value::Null) => String::new(),
        Some(why) => format!(" without effect ({})", plain(why)),
    };
    let (kind, variable) = (plain(&change["kind"]), plain(&change["variable"]));
    format!("{kind} {variable} {} → {}{without}", told(&effect["old"]), told(&effect["new"]))
}

/// Returns the members of details by name, but for those that need not be said.
fn named(what: &Value, but: &[&str]) -> String {
    let none = Map::new();
    let members = what.as_object().unwrap_or(&none).iter();
    let said = members.filter(|(name, value)| !but.contains(&name.as_str()) && !value.is_null());
    let told = |(name, value): (&String, &Value)| match name.as_str() {
        "reason" => plain(value),
        name => format!("{} {}", name.replace('_', " "), plain(value)),
    };
    said.map(told).collect::<Vec<_>>().join(", ")
}

/// Returns a text without its quotes, and other values as JSON.
fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;
    use quietcore_audit::{Instant, NO_HASH, Refusal, Who};
    use serde_json::json;

    fn entry(number: u64, kind: Kind, what: Value) -> Entry {
        let at = "2026-11-27T20:15:03.25Z".parse().unwrap();
        Entry {
            number,
            previous: NO_HASH.to_owned(),
            instant: Instant { at, boot: String::new(), since_boot_us: 0 },
            kind,
            of: None,
            who: Who { user: "anna".to_owned(), ..Who::default() },
            call: "VariableService/WriteVariables".to_owned(),
            site: "line".to_owned(),
            partition: "axis".to_owned(),
            what,
            refusal: None,
        }
    }

    #[test]
    fn an_intention_and_its_outcome_are_one_row() {
        let mut rows = Rows::default();
        let change = json!({"kind": "set", "variable": "P.Kp", "value": "3.5"});
        let write = json!({"request": "write", "changes": [change], "confirm": false});
        let effects = json!([
            {"change": change, "old": "2.0", "new": "3.5"},
            {"change": {"kind": "unforce", "variable": "U.x"}, "old": null, "new": "1",
                "without_effect": "not-forced"}]);
        for number in 2..5 {
            rows.take(entry(number, Kind::Intended, write.clone()));
        }
        let done = json!({"cycle": 7, "effects": effects});
        rows.take(Entry { of: Some(3), ..entry(5, Kind::Done, done) });
        let refusal = Some(Refusal { kind: "BUSY".into(), sentence: "axis: wait\n".into() });
        rows.take(Entry { of: Some(2), refusal, ..entry(6, Kind::Refused, Value::Null) });
        let restart = json!({"request": "restart", "how": "cold"});
        let call = "PartitionService/RestartPartition".to_owned();
        rows.take(Entry { call, ..entry(7, Kind::Intended, restart) });
        let lines = rows.text(200);
        let what: Vec<&str> =
            lines.lines().skip(1).map(|line| line.split_once("axis  ").unwrap().1).collect();
        assert_eq!(
            what,
            [
                "WriteVariables set P.Kp = 3.5: refused: axis: wait",
                "WriteVariables set P.Kp 2.0 → 3.5, unforce U.x ? → 1 without effect \
                 (not-forced): done",
                "WriteVariables set P.Kp = 3.5: unknown: it is under way, or the daemon was killed",
                "RestartPartition how cold: unknown: it is under way, or the daemon was killed",
            ]
        );
        assert!(lines.starts_with("no  time "), "{lines}");
        assert!(lines.contains("\n 2  2026-11-27T20:15:03Z  anna  line/axis  "), "{lines}");
    }
}
