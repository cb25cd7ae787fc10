//! `[host]` as written.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, de};

use crate::raw::RawCpus;
use crate::site::{ContainerRuntime, Control};

/// The machine's own CPUs, and its settings that may be changed.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Host")]
pub(crate) struct RawHost {
    /// The CPUs for everything that is not a partition, as numbers or in list notation. Left out:
    /// every online CPU that no partition claims. An empty list accepts that no CPU is kept apart.
    #[schemars(extend("examples" = [[0], "0,2-5"]))]
    pub(crate) housekeeping: Option<RawCpus>,
    /// Settings of the machine that are changed while the site runs, so that the partitions' CPUs
    /// are quiet, and put back when it comes down. Left out: nothing. It needs root.
    #[schemars(length(max = 16), extend("examples" = [["standard"], ["interrupts", "governor"]]))]
    pub(crate) controls: Option<Vec<RawControl>>,
    /// Program that runs partitions of the backend `container`. Left out: the first that works
    /// here.
    #[schemars(example = &"runc")]
    pub(crate) container_runtime: Option<ContainerRuntime>,
}

/// A word in the list of controls: one of them, or several.
#[derive(Debug)]
pub(crate) struct RawControl(pub(crate) Vec<Control>);

/// The words that stand for several.
const GROUPS: [(&str, &[Control], &str); 2] = [
    (
        "standard",
        &Control::STANDARD,
        "All controls that take nothing from others: all but `load-balance`, `programs`, \
         `siblings` and `throttling`.",
    ),
    ("all", &Control::ALL, "All controls."),
];

impl<'de> Deserialize<'de> for RawControl {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let word = Cow::<'_, str>::deserialize(deserializer)?;
        if let Some((_, controls, _)) = GROUPS.iter().find(|(name, ..)| *name == word) {
            return Ok(Self(controls.to_vec()));
        }
        let control = Control::ALL.into_iter().find(|control| control.name() == word);
        control.map(|it| Self(vec![it])).ok_or_else(|| de::Error::custom("no control"))
    }
}

impl JsonSchema for RawControl {
    fn schema_name() -> Cow<'static, str> {
        "Control".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let single = Control::json_schema(generator).to_value();
        let single = single["oneOf"].as_array().cloned().unwrap_or_default();
        let groups = GROUPS.map(|(name, _, description)| {
            serde_json::json!({ "type": "string", "const": name, "description": description })
        });
        let words: Vec<_> = groups.into_iter().chain(single).collect();
        json_schema!({ "description": "Something of the machine that is changed.", "oneOf": words })
    }
}
