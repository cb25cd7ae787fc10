//! The reference of the site file, written from the schema so that it can't fall behind.

mod catalogues;

use serde_json::Value;

use crate::SITE_BYTES_MAX;
use crate::reading::place::Path;
use crate::reading::schema::{SCHEMA, expected, resolved, written};
use crate::reading::shape::tables;

/// The tables in the order in which one writes a site file; others follow.
const ORDER: [&str; 24] = [
    "",
    "[site]",
    "[host]",
    "[[partition]]",
    "[partition.vcr]",
    "[partition.vcr.cache]",
    "[partition.vcr.network]",
    "[partition.program]",
    "[[partition.program.task]]",
    "[partition.program.restart]",
    "[[channel]]",
    "[[channel.signals]]",
    "[fieldbus.NAME]",
    "[[fieldbus.NAME.subdevice]]",
    "[fieldbus.NAME.subdevice.identity]",
    "[[fieldbus.NAME.subdevice.startup]]",
    "[[fieldbus.NAME.map]]",
    "[[fieldbus.NAME.fault]]",
    "[campaign]",
    "[[profile]]",
    "[[profile.load]]",
    "[profile.neighbours]",
    "[[profile.neighbours.load]]",
    "[[class]]",
];

const HEAD: &str = "\
# The site file

One TOML file describes a machine, its partitions, the channels between them, the fieldbus and the
campaign that proves their timing. `quietcore init` writes one that fits your machine, `quietcore
plan` says what it would do, `quietcore schema` prints the JSON Schema for your editor.

This page is written from that schema; a test keeps the two together.

";

const NOTATION: &str = "
## Notation

- Names have lower-case letters, digits, `-` and `_`, begin with a letter or a digit and have at
  most 64 characters, so that they are safe as names of files.
- Durations, sizes, rates and amounts are texts with a number and a unit: `\"1 ms\"`, `\"64 MiB\"`,
  `\"100 Mbit/s\"`, `\"1 Mbit\"`. Units of time are ns, us, ms, s, min, h and d.
- CPUs are an array of numbers, `[0, 2]`, or the kernel's list notation, `\"0,2-5\"`.
- Variables of a program are named by their path in C, `servo_DW.filter[2]`. As a key, a path
  is in quotes: `\"servo_Y.torque\" = 0.0`.
- Entries of SubDevices are `SUBDEVICE.NAME` or `SUBDEVICE.0xINDEX:SUB`, as in the object
  dictionary.
";

const RULES: &str = "
## What must fit together

- A CPU has one owner: a partition or housekeeping. Partitions may share one only if each has a
  `budget`, and the budgets add up to 100 % at most.
- `wcet` ≤ `deadline` ≤ `period`; a fixed `early_wake` is shorter than the period.
- `priority` goes with policy `fifo`, `early_wake_share` with `early_wake = \"adaptive\"`; policy
  `deadline` needs `wcet`.
- Reactions to a fault, retained variables and tasks need a `model`. `substitute` goes with
  `on_fault = \"substitute\"`, and `wcet` ≤ `watchdog`.
- With tasks, `deadline`, `wcet` and `watchdog` are keys of the task; `period` is that of the
  fastest cyclic task. Each step function has one task. Cyclic tasks have a `period`, event and
  status tasks a `trigger`, freewheeling ones a `gap`; policy `deadline` serves cyclic tasks only.
- Priorities are rate-monotonic unless they are written; two tasks have the same one only if both
  say so.
- The `latency` of a class is at most its `cycle`.
- `survival` goes with `real_time = \"firm\"` and `quantile` with `real_time = \"soft\"`.
- `cache` has either `ways` or `colours`; a signal has either `initial` or `queue`.
- `from` and `to` of a channel are different partitions; a fieldbus names a partition that exists,
  and its `cycle` is the period of one of that partition's cyclic tasks.
- SubDevices of a simulated segment name their `device`, or have an `identity` by which they are
  found in the ESI files of the fieldbus's `esi`; `plant`, `fault` and `seed` are for
  simulated segments. A servo axis is behind a servo drive, the other plants behind terminals.
- `like` must not form a circle. A key that a class or profile leaves out is taken from the one that
  it is like; a class with figures of its own names their source.
- The campaign has a `duration` or a number of `cycles`, not both, and takes 31 days at most.
- All partitions run at the same time, the profiles one after the other.

## Profiles

| name | partition | load |
|------|-----------|------|
| `tp1` | not pinned | none |
| `tp2` | pinned | none |
| `tp3` | not pinned | 10 × `sqrt`, 10 × `malloc` of 64 MB, anywhere |
| `tp4` | pinned | the same, on the CPUs that no partition has |
| `tp5` | not pinned, on its own CPUs alone | the same, in each of two neighbours |
| `tp6` | pinned | the same, in each of two neighbours |

They are the test profiles of queiroz2023 (table 2). A neighbour is a partition of the kind of the
site's first one that runs loads: a process, a container, or for `kvm` and `qemu` a Linux guest of
QEMU, whose image `neighbour_image` names. As in the paper, core affinity (`tp6`) is that of the
measured task: the neighbours of both profiles float over the CPUs that no partition has. A profile
of your own may give each neighbour CPUs of its own: `neighbours = { count = 2, own_cpus = true }`.

`isolation` stands for the twelve profiles of the isolation matrix, the rows of table I of hofer2019
on one kernel. Their load is that of `tp3`, and their settings of the machine take the place of
`controls` in `[host]`:

| name | partition | kept off its CPUs by controls | load |
|------|-----------|-------------------------------|------|
| `iso1`, `iso2` | not pinned | nothing | none; anywhere |
| `iso3`, `iso4` | pinned | nothing | none; anywhere |
| `iso5`, `iso6` | pinned | `interrupts`, `load-balance` | none; anywhere |
| `iso7`, `iso8` | pinned | `programs`, `kernel-threads`, `workqueues` | none; on the other CPUs |
| `iso9`, `iso10` | pinned | all five | none; on the other CPUs |
| `iso11`, `iso12` | as `iso9`, `iso10` | the same | the same |

The paper turns load balancing and interrupts off in the guest or on the host; one kernel has them
once, so the last two rows are measured like the two before them.

## What a PASS excludes

`exceedance` is a probability per cycle. Without a single exceedance in n cycles, 95 % confidence
excludes a probability of about 3/n: 1e-4 takes 29 956 cycles, 1e-6 takes 2 995 731.
";

/// The last chapter, on errors.
const ERRORS: &str = "
## Errors

All errors are shown at once, each with file, line, column and key, what is wrong and what would be
right:

```text
s.toml:9:8: `partition.b.program.wcet`: 2 ms is beyond the deadline of 1 ms; use the deadline at \
                     most
```
";

/// The reference of the site file in Markdown.
pub fn reference() -> String {
    let mut found: Vec<(String, &Value)> = Vec::new();
    tables(&SCHEMA, &SCHEMA, &Path::top(), &mut |path, table| {
        let header = if path.is_top() { String::new() } else { path.header(false) };
        found.push((header, table));
    });
    let rank = |header: &str| ORDER.iter().position(|known| *known == header);
    found.sort_by_key(|(header, _)| rank(header).unwrap_or(ORDER.len()));
    let mut text = HEAD.to_owned();
    let mebibytes = SITE_BYTES_MAX >> 20;
    text.push_str(&format!(
        "A file has at most {mebibytes} MiB, is UTF-8, and an unknown key is an error.\n"
    ));
    text.push_str(NOTATION);
    for (header, table) in found {
        section(&mut text, &header, table);
    }
    text.push_str(RULES);
    text.push_str(&catalogues::catalogues());
    text.push_str(ERRORS);
    text
}

/// The section of one table: its description and a row for each key.
fn section(text: &mut String, header: &str, table: &Value) {
    let title = match header {
        "" => "The top of the file".to_owned(),
        header => format!("`{header}`"),
    };
    let required: Vec<_> =
        table["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let keys = table["properties"].as_object().into_iter().flatten();
    let mut rows: Vec<_> = keys.map(|(key, schema)| (key.as_str(), schema)).collect();
    // What must be there stands first.
    rows.sort_by_key(|(key, _)| !required.contains(key));
    text.push_str(&format!(
        "\n## {title}\n\n{}\n\n| key | value | example | meaning \
         |\n|-----|-------|---------|---------|\n",
        on_one_line(table)
    ));
    for (key, schema) in &rows {
        let must = if required.contains(key) { ", **required**" } else { "" };
        let default = schema.get("default").map(written);
        let default = default.map_or(String::new(), |value| format!(" Default: `{value}`."));
        text.push_str(&format!(
            "| `{key}` | {}{must} | {} | {}{default} |\n",
            value_words(schema),
            examples(schema),
            on_one_line(schema),
        ));
    }
    for (key, schema) in rows {
        choices(text, key, schema);
    }
}

/// The choices of an enumeration, or of the words in an array, one a line.
fn choices(text: &mut String, key: &str, schema: &Value) {
    let schema = resolved(&SCHEMA, schema);
    let word = resolved(&SCHEMA, schema.get("items").unwrap_or(schema));
    let choices = word["oneOf"].as_array();
    for (index, choice) in choices.into_iter().flatten().enumerate() {
        if index == 0 {
            text.push_str(&format!("\nThe choices of `{key}`:\n\n"));
        }
        let word = choice["const"].as_str().unwrap_or_default();
        text.push_str(&format!("- `{word}`: {}\n", on_one_line(choice)));
    }
}

/// Describes the allowed values with their limits. Examples have a column of their own.
fn value_words(schema: &Value) -> String {
    let inner = resolved(&SCHEMA, schema);
    if inner["format"] == "quietcore-name" {
        return "a name".to_owned();
    }
    if inner["items"]["format"] == "quietcore-name" {
        return "an array of names".to_owned();
    }
    if inner["items"]["format"] == "quietcore-variables" {
        return "an array of paths of variables".to_owned();
    }
    if inner["anyOf"].is_array() {
        return "CPUs".to_owned();
    }
    if resolved(&SCHEMA, &inner["items"])["oneOf"].is_array() {
        return "an array of words".to_owned();
    }
    let limits = match (inner.get("x-minimum"), inner.get("x-maximum")) {
        (Some(Value::String(from)), Some(Value::String(to))) => format!(", {from} to {to}"),
        _ => String::new(),
    };
    let most = inner.get("maxItems").or(inner.get("maxProperties"));
    let most = most.map_or(String::new(), |most| format!(", at most {most}"));
    let expected = expected(&SCHEMA, schema);
    let expected = expected.split(" such as `").next().unwrap_or_default();
    let expected = expected.trim_end_matches(',').replace(" with its unit", "");
    format!("{expected}{limits}{most}")
}

fn examples(schema: &Value) -> String {
    let examples = schema["examples"].as_array().into_iter().flatten();
    let examples: Vec<_> = examples.map(|value| format!("`{}`", written(value))).collect();
    examples.join(", ")
}

/// The description of a schema, as one line for a table of Markdown.
fn on_one_line(schema: &Value) -> String {
    let description = schema["description"].as_str().unwrap_or_default();
    description.replace('\n', " ").replace('|', "\\|")
}
