//! `[[partition]]` and `[partition.vcr]` as written.

use quietcore_units::{BitCount, BitRate, ByteSize, CpuId, CpuSet, Nanos};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::backend::Backend;
use crate::raw::{RawMonitor, RawProgram, RawRestart};
use crate::reading::format;
use crate::site::{Accelerator, Criticality, DiskDevices, Firmware};

/// A partition: a reservation, the backend that realises it, and the program in it.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Partition")]
pub(crate) struct RawPartition {
    /// The name by which channels, the fieldbus and the command line refer to it.
    #[schemars(required, extend("format" = "quietcore-name"), example = &"axis")]
    pub(crate) name: Option<String>,
    /// The application class against which its timing is judged: a published one or one of your
    /// own.
    #[schemars(required, extend("format" = "quietcore-name"), example = &"motion-control")]
    pub(crate) class: Option<String>,
    /// Backend that realises the partition.
    #[schemars(extend("default" = "process"), example = &"process")]
    pub(crate) backend: Option<Backend>,
    /// Importance beside the other partitions: a partition that is late may shed those that are
    /// less critical.
    #[schemars(extend("default" = "medium"), example = &"high")]
    pub(crate) criticality: Option<Criticality>,
    /// The resources that are reserved for it.
    #[schemars(required)]
    pub(crate) vcr: Option<RawVcr>,
    /// The machine of a guest, where the backend leaves a choice.
    pub(crate) guest: Option<RawGuest>,
    /// The control program and its timing. Left out, the probe alone is released at the cycle of
    /// the class.
    pub(crate) program: Option<RawProgram>,
    /// Lateness that it is watched for while the site is up, and the reaction.
    pub(crate) monitor: Option<RawMonitor>,
}

/// The machine of a guest under QEMU or Xen.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Guest")]
pub(crate) struct RawGuest {
    /// The way in which the instructions of a guest of QEMU are run.
    #[schemars(extend("default" = "kvm"), example = &"kvm")]
    pub(crate) accelerator: Option<Accelerator>,
    /// The system in the guest, on which the program runs.
    #[schemars(extend("default" = "osek"), example = &"linux")]
    pub(crate) system: Option<GuestSystemWord>,
    /// The image that the guest starts from, relative to the site file: for `linux` the folder that
    /// `quietcore guest build` makes, for `disk` the file of a disk, raw or qcow2.
    #[schemars(example = &"guest-rt")]
    pub(crate) image: Option<String>,
    /// The firmware that starts a guest from its disk.
    #[schemars(extend("default" = "bios"), example = &"uefi")]
    pub(crate) firmware: Option<Firmware>,
    /// The devices of a guest with a disk: those of virtio, or plain ones for a system that has no
    /// drivers for these.
    #[schemars(extend("default" = "virtio"), example = &"plain")]
    pub(crate) devices: Option<DiskDevices>,
    /// The priority under `fifo` of the threads that run the processors of a guest with a disk.
    /// Left out, they have no real-time priority.
    #[schemars(range(min = 1, max = 99), example = 20)]
    pub(crate) priority: Option<u32>,
    /// `true` gives a guest with a disk a screen, which VNC shows on the socket `NAME.vnc` in the
    /// folder of the running site.
    #[schemars(extend("default" = false), example = true)]
    pub(crate) vnc: Option<bool>,
    /// The tap interface of the host that the network card of a guest with a disk is connected to.
    /// Left out, it has no network.
    #[schemars(extend("format" = "quietcore-interface"), example = &"tap0")]
    pub(crate) tap: Option<String>,
    /// The time that a guest with a disk gets to shut down when the site comes down; then it is
    /// switched off.
    #[serde(default)]
    #[schemars(
        schema_with = "format::duration",
        extend("x-minimum" = "1 s", "x-maximum" = "10 min", "default" = "30 s"),
        example = &"30 s"
    )]
    pub(crate) shutdown: Option<Nanos>,
    /// Restarts of a guest with a disk after a fault: QEMU has ended, and the guest did not shut
    /// down.
    #[schemars(example = serde_json::json!({ "limit": 5, "wait": "1 s" }))]
    pub(crate) restart: Option<RawRestart>,
}

/// The system in a guest.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(rename = "GuestSystem")]
pub(crate) enum GuestSystemWord {
    /// Our own kernel, with the program as an image of it.
    #[default]
    Osek,
    /// Linux from an `image`, with the program as a process on it.
    Linux,
    /// Any operating system, from its disk in an `image`; it runs no program of the site.
    Disk,
}

/// The virtual computational resource: CPU, memory, cache and network reserved for a partition.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Vcr")]
pub(crate) struct RawVcr {
    /// The CPUs of the partition, as numbers or in list notation. A program uses the first of them,
    /// the probe all. Two partitions may name the same CPU only if both have a `budget`.
    #[schemars(required, extend("examples" = [[1], "2-3"]))]
    pub(crate) cpus: Option<RawCpus>,
    /// The share of each of its CPUs in percent, where CPUs are shared. The kernel gives its tasks
    /// that much run time in each period and no more (SCHED_DEADLINE): equal parts, or each its
    /// `wcet` under `policy = "deadline"`.
    #[schemars(range(min = 1, max = 100), example = 40)]
    pub(crate) budget: Option<u32>,
    /// Memory for the program, locked and written beforehand. In a process and in a container it is
    /// the heap, which may exceed it by 32 MiB at most; in a guest it is all but the program's
    /// data. Left out: as much as is needed, without limit.
    #[serde(default)]
    #[schemars(
        schema_with = "format::size",
        extend("x-minimum" = "1 MiB", "x-maximum" = "16 TiB"),
        example = &"64 MiB"
    )]
    pub(crate) memory: Option<ByteSize>,
    /// A part of the last-level cache of its own.
    #[schemars(example = serde_json::json!({ "ways": 4 }))]
    pub(crate) cache: Option<RawCache>,
    /// The largest share of the memory's bandwidth that it takes, in percent (memory bandwidth
    /// allocation, MBA). It protects the others from this partition: set it for partitions that
    /// disturb.
    #[schemars(range(min = 1, max = 100), example = 40)]
    pub(crate) memory_bandwidth: Option<u32>,
    /// A part of the network's bandwidth: a limit of what the partition sends on the interface of
    /// its fieldbus, which nobody else may have set up. It needs root, and `tc` on the host.
    #[schemars(example = serde_json::json!({ "rate": "100 Mbit/s", "burst": "1 Mbit" }))]
    pub(crate) network: Option<RawNetwork>,
}

/// A part of the last-level cache: either ways (cache allocation by the CPU) or colours (page
/// colouring by the backend).
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Cache")]
pub(crate) struct RawCache {
    /// Number of ways of the last-level cache.
    #[schemars(range(min = 1, max = 64), example = 4)]
    pub(crate) ways: Option<u32>,
    /// Page colours, in list notation.
    #[schemars(extend("format" = "quietcore-number-list"), example = &"0-5")]
    pub(crate) colours: Option<String>,
}

/// A part of the network's bandwidth: what the partition may send on the interface of its fieldbus.
/// A frame that would wait longer than 50 ms is dropped.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Network")]
pub(crate) struct RawNetwork {
    /// Sustained rate at which it may send.
    #[schemars(
        schema_with = "format::bit_rate",
        extend("x-minimum" = "1 kbit/s", "x-maximum" = "1000 Gbit/s"),
        example = &"100 Mbit/s"
    )]
    pub(crate) rate: Option<BitRate>,
    /// Amount that may pass at once after a pause; a whole frame at least. Left out: the amount
    /// that the rate carries in 1 ms, two frames at least.
    #[serde(default)]
    #[schemars(
        schema_with = "format::bit_count",
        extend("x-minimum" = "1 bit", "x-maximum" = "1000 Gbit"),
        example = &"1 Mbit"
    )]
    pub(crate) burst: Option<BitCount>,
}

/// CPUs as an array of numbers or in the kernel's list notation.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(try_from = "CpuNotation")]
pub(crate) struct RawCpus(pub(crate) CpuSet);

/// CPUs as an array of numbers or in list notation.
#[derive(Deserialize, JsonSchema)]
#[serde(untagged)]
enum CpuNotation {
    /// Numbers of CPUs, from 0 to 1023.
    Numbers(#[schemars(length(max = 1024), inner(range(max = 1023)))] Vec<u32>),
    /// List notation, such as `0,2-5`.
    List(#[schemars(extend("format" = "quietcore-cpu-list"))] String),
}

impl TryFrom<CpuNotation> for RawCpus {
    type Error = String;

    fn try_from(notation: CpuNotation) -> Result<Self, String> {
        match notation {
            CpuNotation::Numbers(numbers) => numbers
                .into_iter()
                .map(|number| CpuId::new(number).ok_or(format!("CPU {number} is too large")))
                .collect::<Result<_, _>>()
                .map(Self),
            CpuNotation::List(list) => list.parse().map(Self).map_err(|error| error.to_string()),
        }
    }
}

impl JsonSchema for RawCpus {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Cpus".into()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        CpuNotation::json_schema(generator)
    }
}
