//! `[fieldbus.NAME]` with its SubDevices, mappings and faults as written.

use std::collections::BTreeMap;

use quietcore_units::Nanos;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::raw::{RawNumber, number};
use crate::reading::format;
use crate::site::{Device, FaultKind, PlantKind, SignalType};

/// A fieldbus segment, driven by one partition.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Fieldbus")]
pub(crate) struct RawFieldbus {
    /// The partition whose program is the MainDevice.
    #[schemars(required, extend("format" = "quietcore-name"), example = &"axis")]
    pub(crate) partition: Option<String>,
    /// The network interface, or `sim` for the built-in simulated segment.
    #[schemars(required, extend("format" = "quietcore-interface"), example = &"sim")]
    pub(crate) interface: Option<String>,
    /// The time between two frames.
    #[schemars(
        schema_with = "format::duration",
        extend("x-minimum" = "20 us", "x-maximum" = "10 s"),
        example = &"1 ms"
    )]
    pub(crate) cycle: Option<Nanos>,
    /// Whether the clocks of the SubDevices are synchronised (distributed clocks).
    #[schemars(extend("default" = true), example = true)]
    pub(crate) distributed_clocks: Option<bool>,
    /// After this many cycles in a row without an answer the segment counts as lost.
    #[schemars(range(min = 1, max = 1000), extend("default" = 3), example = 3)]
    pub(crate) lost: Option<u32>,
    /// What decides where probabilistic faults of the simulated segment strike; the same number
    /// gives the same run.
    #[schemars(
        range(min = 0, max = 9_223_372_036_854_775_807_u64),
        extend("default" = 1),
        example = 1
    )]
    pub(crate) seed: Option<u64>,
    /// The SubDevices, in the order of the line.
    #[schemars(length(min = 1, max = 200))]
    pub(crate) subdevice: Option<Vec<RawSubDevice>>,
    /// Which variables of the program are which entries of the process image.
    #[schemars(length(min = 1, max = 4096))]
    pub(crate) map: Option<Vec<RawMapping>>,
    /// What goes wrong on the simulated segment, to see how the program and the MainDevice recover.
    #[schemars(length(min = 1, max = 64))]
    pub(crate) fault: Option<Vec<RawFault>>,
}

/// A SubDevice of the line.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "SubDevice")]
pub(crate) struct RawSubDevice {
    /// The name of the SubDevice, unique on its fieldbus.
    #[schemars(required, extend("format" = "quietcore-name"), example = &"drive")]
    pub(crate) name: Option<String>,
    /// Which built-in SubDevice it is: what the simulated segment puts there, and what the names
    /// of its entries are.
    #[schemars(example = &"servo-drive")]
    pub(crate) device: Option<Device>,
    /// What must be found there; a line with something else is not started.
    #[schemars(example = serde_json::json!({ "vendor": 2, "product": 72_100_946 }))]
    pub(crate) identity: Option<RawDeviceIdentity>,
    /// What is written to its object dictionary before it leaves PRE-OP, in this order.
    #[schemars(
        length(min = 1, max = 256),
        example = serde_json::json!([{ "index": 24672, "sub": 0, "type": "i8", "value": 10 }])
    )]
    pub(crate) startup: Option<Vec<RawStartup>>,
    /// Which simulated plant is behind it. Each drive has an axis of its own; a terminal shares the
    /// plant of that kind that is nearest before it on the line.
    #[schemars(example = &"servo-axis")]
    pub(crate) plant: Option<PlantKind>,
    /// Which channels of a terminal are which signals of its plant. A drive is connected by itself.
    #[serde(default)]
    #[schemars(
        schema_with = "connections",
        example = serde_json::json!({ "input_1": "speed", "input_2": "power" })
    )]
    pub(crate) connect: Option<BTreeMap<String, String>>,
}

fn connections(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
    schemars::json_schema!({
        "type": "object",
        "propertyNames": { "format": "quietcore-name" },
        "additionalProperties": { "type": "string", "format": "quietcore-name" },
        "maxProperties": 8,
    })
}

/// The identity of a SubDevice, as in its EEPROM. TOML allows hexadecimal numbers: `0x44c2c52`.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "DeviceIdentity")]
pub(crate) struct RawDeviceIdentity {
    /// The number of the vendor.
    #[schemars(required, range(min = 0, max = 4_294_967_295_u32), example = 2)]
    pub(crate) vendor: Option<u32>,
    /// The product code.
    #[schemars(required, range(min = 0, max = 4_294_967_295_u32), example = 72_100_946)]
    pub(crate) product: Option<u32>,
    /// The revision. Left out: any.
    #[schemars(range(min = 0, max = 4_294_967_295_u32), example = 1_114_112)]
    pub(crate) revision: Option<u32>,
}

/// One object that is written at start-up.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Startup")]
pub(crate) struct RawStartup {
    /// The index in the object dictionary; TOML allows `0x6060`.
    #[schemars(required, range(min = 4096, max = 65535), example = 24672)]
    pub(crate) index: Option<u16>,
    /// The sub-index.
    #[schemars(range(min = 0, max = 255), extend("default" = 0), example = 0)]
    pub(crate) sub: Option<u8>,
    /// The type of the value, which decides how many bytes are written.
    #[serde(rename = "type")]
    #[schemars(required, example = &"i8")]
    pub(crate) value_type: Option<SignalType>,
    /// The value.
    #[schemars(schema_with = "number", example = 10)]
    pub(crate) value: Option<RawNumber>,
}

/// One variable of the program and the entry of the process image that it is.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Mapping")]
pub(crate) struct RawMapping {
    /// The variable of the program.
    #[schemars(required, extend("format" = "quietcore-variable"), example = &"servo_U.position")]
    pub(crate) variable: Option<String>,
    /// SubDevice and entry: by name, or by index and sub-index in the object dictionary. The entry
    /// decides whether it is an input or an output of the program.
    #[schemars(
        required,
        extend("format" = "quietcore-entry"),
        example = &"drive.position_actual_value", example = &"drive.0x6064:0"
    )]
    pub(crate) entry: Option<String>,
    /// An input is entry × scale + offset, an output (variable − offset) ÷ scale; not 0.
    #[schemars(extend("default" = 1.0), example = 0.001)]
    pub(crate) scale: Option<f64>,
    /// See `scale`.
    #[schemars(extend("default" = 0.0), example = -273.15)]
    pub(crate) offset: Option<f64>,
}

/// Something that goes wrong on the simulated segment.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Fault")]
pub(crate) struct RawFault {
    /// When, counted from the first cycle in OP.
    #[schemars(
        schema_with = "format::duration",
        extend("x-minimum" = "0 s", "x-maximum" = "7 d"),
        example = &"2 s"
    )]
    pub(crate) at: Option<Nanos>,
    /// What.
    #[schemars(required, example = &"unplug")]
    pub(crate) kind: Option<FaultKind>,
    /// Where; not for faults of whole frames.
    #[schemars(extend("format" = "quietcore-name"), example = &"drive")]
    pub(crate) subdevice: Option<String>,
    /// How long. Left out: for one frame where frames are meant, for half a second where power is
    /// off, else to the end.
    #[serde(default)]
    #[schemars(
        schema_with = "format::duration",
        extend("x-minimum" = "1 us", "x-maximum" = "7 d"),
        example = &"500 ms"
    )]
    pub(crate) duration: Option<Nanos>,
    /// The probability for each frame within that time, for faults of whole frames.
    #[schemars(range(min = 1e-9, max = 1), extend("default" = 1.0), example = 0.01)]
    pub(crate) chance: Option<f64>,
    /// How late the frame is; for `late-frame`.
    #[serde(default)]
    #[schemars(
        schema_with = "format::duration",
        extend("x-minimum" = "1 us", "x-maximum" = "10 s"),
        example = &"2 ms"
    )]
    pub(crate) delay: Option<Nanos>,
    /// What is added to the working counter; for `working-counter`.
    #[schemars(range(min = -1000, max = 1000), extend("default" = -1), example = -1)]
    pub(crate) change: Option<i16>,
    /// The code that it comes with: AL status code of a `state-drop` (left out: 27, the watchdog of
    /// the outputs), error code of an `emergency` (left out: 4096, a general error).
    #[schemars(range(min = 0, max = 65535), example = 27)]
    pub(crate) code: Option<u16>,
}
