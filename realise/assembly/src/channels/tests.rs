//! Entries, numbers and names of channels.

use super::*;
use quietcore_record::class::catalogue;

fn site(channels: &str) -> Site {
    let partition = |name: &str, cpu: u32| {
        format!(
            "[[partition]]\nname = \"{name}\"\nclass = \"motion-control\"\n[partition.vcr]\n\
             cpus = [{cpu}]\n"
        )
    };
    let text = format!(
        "[site]\nname = \"cell\"\n{}{}{}{channels}",
        partition("hmi", 1),
        partition("axis", 2),
        partition("log", 3)
    );
    let site = quietcore_site::read("cell.toml", text.as_bytes(), &catalogue());
    site.unwrap_or_else(|error| panic!("{error}"))
}

const CELL: &str = r#"
[[channel]]
name = "set-point"
from = "hmi"
to = "axis"
signals = [
    { name = "speed", type = "f32", timeout = "100 ms", initial = 1.5 },
    { name = "code", type = "u16", queue = 12 },
    { name = "offset", type = "i8", timeout = "10 ms", initial = -2 },
    { name = "enabled", type = "bool", initial = true },
]

[[channel]]
name = "alarms"
from = "axis"
to = "log"
signals = [{ name = "code", type = "u64", queue = 64 }]

[[channel]]
name = "actual"
from = "axis"
to = "hmi"
signals = [{ name = "position", type = "f64" }]
"#;

#[test]
fn a_channel_is_its_group_and_then_its_queues() {
    let site = site(CELL);
    let timeout = Nanos::from_millis(10);
    let speed = u64::from(1.5_f32.to_bits());
    let expected = [
        ChannelEntry::Group { members: 3, timeout },
        ChannelEntry::Member { bytes: 4, initial: speed },
        ChannelEntry::Member { bytes: 1, initial: 0xfe },
        ChannelEntry::Member { bytes: 1, initial: 1 },
        ChannelEntry::Queue { message_bytes: 2, slots: 16 },
    ];
    assert_eq!(entries(&site.channels()[0]), expected);
    assert_eq!(places(&site.channels()[0]), [1, 4, 2, 3]);
    assert_eq!(entries(&site.channels()[1]), [ChannelEntry::Queue { message_bytes: 8, slots: 64 }]);
    assert_eq!(places(&site.channels()[1]), [0]);
}

#[test]
fn every_partition_counts_its_own_signals() {
    let site = site(CELL);
    let of_axis = [
        "ComConf_ComSignal_set_point_speed=0u",
        "ComConf_ComSignal_set_point_code=1u",
        "ComConf_ComSignal_set_point_offset=2u",
        "ComConf_ComSignal_set_point_enabled=3u",
        "ComConf_ComSignal_alarms_code=4u",
        "ComConf_ComSignal_actual_position=5u",
        "ComConf_ComSignalGroup_set_point=0u",
        "ComConf_ComSignalGroup_actual=1u",
    ];
    assert_eq!(defines(&site, "axis").unwrap(), of_axis);
    assert_eq!(defines(&site, "log").unwrap(), ["ComConf_ComSignal_alarms_code=0u"]);
    let carried = carried(&site, "axis");
    let named = |is_received| {
        let some = carried.iter().filter(move |it| it.is_received == is_received);
        some.map(|it| (it.name.as_str(), it.is_group)).collect::<Vec<_>>()
    };
    let received = [
        ("set_point_speed", false),
        ("set_point_code", false),
        ("set_point_offset", false),
        ("set_point_enabled", false),
        ("set_point", true),
    ];
    assert_eq!(named(true), received);
    let sent = [("alarms_code", false), ("actual_position", false), ("actual", true)];
    assert_eq!(named(false), sent);
    let jobs = jobs(&site, "axis");
    let told: Vec<_> = jobs.iter().map(|job| (job.name.as_str(), job.sends)).collect();
    assert_eq!(told, [("set-point", false), ("alarms", true), ("actual", true)]);
}

#[test]
fn two_names_for_one_macro_are_refused() {
    let twice = "[[channel]]\nname = \"a\"\nfrom = \"hmi\"\nto = \"axis\"\n\
                 signals = [{ name = \"b-c\", type = \"u8\" }]\n\
                 [[channel]]\nname = \"a-b\"\nfrom = \"hmi\"\nto = \"axis\"\n\
                 signals = [{ name = \"c\", type = \"u8\" }]\n";
    let refused = defines(&site(twice), "hmi").unwrap_err().to_string();
    assert_eq!(
        refused,
        "channels of partition `hmi`: `a.b-c` and `a-b.c` are both the macro \
         `ComConf_ComSignal_a_b_c`; rename one"
    );
    assert_eq!(defines(&site(twice), "log"), Ok(Vec::new()));
}
