//! `[fieldbus.NAME]` with its SubDevices, mappings and faults as written.

use std::collections::BTreeMap;

use quietcore_units::{DataType, Nanos};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::raw::{RawNumber, number};
use crate::reading::format;
use crate::site::{Device, FaultKind, PlantKind};

/// A fieldbus segment, driven by one partition.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Fieldbus")]
pub(crate) struct RawFieldbus {
    /// The partition whose program is the MainDevice.
    #[schemars(required, extend("format" = "quietcore-name"), example = &"axis")]
    pub(crate) partition: Option<String>,
    /// The network interface, `sim` for the built-in simulated segment, or the PCI address of a
    /// network card that the partition's guest gets and drives itself (Intel 82574L, I210, I211).
    #[schemars(
        required,
        extend("format" = "quietcore-fieldbus-interface"),
        example = &"sim", example = &"0000:03:00.0"
    )]
    pub(crate) interface: Option<String>,
    /// The time between two frames.
    #[schemars(
        schema_with = "format::duration",
        extend("x-minimum" = "20 us", "x-maximum" = "10 s"),
        example = &"1 ms"
    )]
    pub(crate) cycle: Option<Nanos>,
    /// `true` synchronises the clocks of the SubDevices (distributed clocks).
    #[schemars(extend("default" = true), example = true)]
    pub(crate) distributed_clocks: Option<bool>,
    /// After this many cycles in a row without an answer the segment counts as lost.
    #[schemars(range(min = 1, max = 1000), extend("default" = 3), example = 3)]
    pub(crate) lost: Option<u32>,
    /// Seed of the probabilistic faults of the simulated segment; the same number gives the same
    /// run.
    #[schemars(
        range(min = 0, max = 9_223_372_036_854_775_807_u64),
        extend("default" = 1),
        example = 1
    )]
    pub(crate) seed: Option<u64>,
    /// ESI files of the SubDevices' vendors (ETG.2000), or folders of them, relative to the site
    /// file. From them come the entries of a SubDevice without a `device`, by its `identity`, and
    /// on the simulated segment the SubDevice itself.
    #[schemars(
        length(min = 1, max = 64),
        extend("items" = { "type": "string", "format": "quietcore-path" }),
        extend("examples" = [["esi"]])
    )]
    pub(crate) esi: Option<Vec<String>>,
    /// The SubDevices, in the order of the line.
    #[schemars(length(min = 1, max = 200))]
    pub(crate) subdevice: Option<Vec<RawSubDevice>>,
    /// Variables of the program, each with its entry of the process image.
    #[schemars(length(min = 1, max = 4096))]
    pub(crate) map: Option<Vec<RawMapping>>,
    /// Faults of the simulated segment, to see how the program and the MainDevice recover.
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
    /// Built-in SubDevice: it decides what the simulated segment puts there, and the names of the
    /// entries.
    #[schemars(example = &"servo-drive")]
    pub(crate) device: Option<Device>,
    /// Identity that the SubDevice must have; a line with another one is not started.
    #[schemars(example = serde_json::json!({ "vendor": 2, "product": 72_100_946 }))]
    pub(crate) identity: Option<RawDeviceIdentity>,
    /// PDOs that it exchanges, by their indices in its ESI file (TOML allows `0x1a00`), in this
    /// order. Left out: those that the ESI file assigns.
    #[schemars(
        length(min = 1, max = 256),
        extend("items" = { "type": "integer", "minimum": 1, "maximum": 65535 }),
        extend("examples" = [[5632, 6656]])
    )]
    pub(crate) pdos: Option<Vec<u16>>,
    /// Values written to its object dictionary before it leaves PRE-OP, in this order.
    #[schemars(
        length(min = 1, max = 256),
        example = serde_json::json!([{ "index": 24672, "sub": 0, "type": "i8", "value": 10 }])
    )]
    pub(crate) startup: Option<Vec<RawStartup>>,
    /// Simulated plant behind it. Each drive has an axis of its own; a terminal shares the plant of
    /// that kind that is nearest before it on the line.
    #[schemars(example = &"servo-axis")]
    pub(crate) plant: Option<PlantKind>,
    /// Channels of a terminal, each with its signal of the plant; of a device of an ESI file its
    /// entries, named as in `map`. A drive is connected by itself.
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
        "propertyNames": { "format": "quietcore-channel" },
        "additionalProperties": { "type": "string", "format": "quietcore-name" },
        "maxProperties": 64,
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
    /// Product code by the vendor.
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
    /// Sub-index of the object.
    #[schemars(range(min = 0, max = 255), extend("default" = 0), example = 0)]
    pub(crate) sub: Option<u8>,
    /// The type of the value, which decides how many bytes are written.
    #[serde(rename = "type")]
    #[schemars(required, example = &"i8")]
    pub(crate) value_type: Option<DataType>,
    /// Value that is written.
    #[schemars(schema_with = "number", example = 10)]
    pub(crate) value: Option<RawNumber>,
}

/// A variable of the program and its entry of the process image.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Mapping")]
pub(crate) struct RawMapping {
    /// The variable of the program.
    #[schemars(required, extend("format" = "quietcore-variable"), example = &"servo_U.position")]
    pub(crate) variable: Option<String>,
    /// SubDevice and entry: by name, or by index and sub-index in the object dictionary. Names are
    /// those of the ESI file, `PDO.ENTRY` where several PDOs have one. The entry decides whether it
    /// is an input or an output of the program.
    #[schemars(
        required,
        extend("format" = "quietcore-entry"),
        example = &"drive.position_actual_value", example = &"drive.0x6064:0",
        example = &"valves.Channel 1.Output"
    )]
    pub(crate) entry: Option<String>,
    /// An input is entry × scale + offset, an output (variable − offset) ÷ scale; not 0.
    #[schemars(extend("default" = 1.0), example = 0.001)]
    pub(crate) scale: Option<f64>,
    /// Offset of the value; see `scale`.
    #[schemars(extend("default" = 0.0), example = -273.15)]
    pub(crate) offset: Option<f64>,
}

/// A fault of the simulated segment.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Fault")]
pub(crate) struct RawFault {
    /// Time of the fault, counted from the first cycle in OP.
    #[schemars(
        schema_with = "format::duration",
        extend("x-minimum" = "0 s", "x-maximum" = "7 d"),
        example = &"2 s"
    )]
    pub(crate) at: Option<Nanos>,
    /// Kind of fault to inject.
    #[schemars(required, example = &"unplug")]
    pub(crate) kind: Option<FaultKind>,
    /// SubDevice that the fault is at; not for faults of whole frames.
    #[schemars(extend("format" = "quietcore-name"), example = &"drive")]
    pub(crate) subdevice: Option<String>,
    /// Time for which the fault lasts. Left out: one frame for faults of frames, half a second for
    /// a loss of power, otherwise until the end.
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
    /// Delay of the frame; for `late-frame`.
    #[serde(default)]
    #[schemars(
        schema_with = "format::duration",
        extend("x-minimum" = "1 us", "x-maximum" = "10 s"),
        example = &"2 ms"
    )]
    pub(crate) delay: Option<Nanos>,
    /// Number added to the working counter; for `working-counter`.
    #[schemars(range(min = -1000, max = 1000), extend("default" = -1), example = -1)]
    pub(crate) change: Option<i16>,
    /// The code that it comes with: AL status code of a `state-drop` (left out: 27, the watchdog of
    /// the outputs), error code of an `emergency` (left out: 4096, a general error).
    #[schemars(range(min = 0, max = 65535), example = 27)]
    pub(crate) code: Option<u16>,
}
