//! The rules of a fieldbus: who drives it, what is on the line, what is mapped and what fails.

use quietcore_site::{Device, Entry, FaultEffect, Fieldbus, Initial, PlantKind};
use quietcore_units::{DataType, Nanos};

use crate::support::{self, accept, changed, expect_problem};

/// A good file that the rules are broken in.
const GOOD: &str = r#"
[site]
name = "s"
[[partition]]
name = "a"
class = "motion-control"
[partition.vcr]
cpus = [1]
[partition.program]
model = "models/servo"
period = "1 ms"
#P
[fieldbus.ec0]
partition = "a"
interface = "sim"
cycle = "1 ms"
#E
[[fieldbus.ec0.subdevice]]
name = "head"
device = "coupler"
#H
[[fieldbus.ec0.subdevice]]
name = "drive"
device = "servo-drive"
#D
[[fieldbus.ec0.map]]
variable = "servo_U.position"
entry = "drive.position_actual_value"
#M
[[fieldbus.ec0.fault]]
at = "2 s"
kind = "lost-frame"
#F
[campaign]
profiles = ["tp2"]
duration = "1 min"
exceedance = 1e-1
"#;

#[track_caller]
fn breaks(from: &str, to: &str, key: &str, part: &str) {
    expect_problem(&changed(GOOD, from, to), &format!("fieldbus.ec0.{key}"), part);
}

#[track_caller]
fn fieldbus(from: &str, to: &str) -> Fieldbus {
    accept(&changed(GOOD, from, to)).fieldbuses()[0].clone()
}

/// The good file with its fault replaced.
fn with_fault(fault: &str) -> String {
    changed(GOOD, "kind = \"lost-frame\"", fault)
}

#[test]
fn the_file_to_be_broken_is_good() {
    assert_eq!(support::remarks(GOOD), "");
    let fieldbus = fieldbus("#E", "");
    assert!(fieldbus.distributed_clocks);
    assert_eq!((fieldbus.lost_after, fieldbus.seed), (3, 1));
    assert_eq!(fieldbus.subdevices.len(), 2);
    let mapping = &fieldbus.map[0];
    assert_eq!((mapping.variable.as_str(), mapping.subdevice), ("servo_U.position", 1));
    assert_eq!(mapping.entry, Entry::Named("position_actual_value".to_owned()));
    let fault = fieldbus.faults[0];
    assert_eq!((fault.at, fault.duration), (Nanos::from_secs(2), None));
    assert_eq!(fault.what, FaultEffect::LostFrame { parts_per_million: 1_000_000 });
}

#[test]
fn its_cycle_is_that_of_a_cyclic_task() {
    breaks("cycle = \"1 ms\"", "cycle = \"2 ms\"", "cycle", "write `1 ms`, its period");
    let tasks = "[[partition.program.task]]\nname = \"fast\"\n[[partition.program.task]]\nname = \
                 \"slow\"\nperiod = \"10 ms\"";
    let text = changed(GOOD, "#P", tasks);
    accept(&text.replace("cycle = \"1 ms\"", "cycle = \"10 ms\""));
    let neither = text.replace("cycle = \"1 ms\"", "cycle = \"5 ms\"");
    expect_problem(&neither, "fieldbus.ec0.cycle", "one of its periods: 1 ms, 10 ms");
    // What is wrong in the partition is not blamed on the fieldbus.
    let wrong = changed(GOOD, "period = \"1 ms\"", "period = \"1\"");
    expect_problem(&wrong, "partition.a.program.period", "the unit is missing");
}

#[test]
fn mappings_need_a_program() {
    let text = GOOD.replace("model = \"models/servo\"\n", "");
    expect_problem(&text, "fieldbus.ec0.map", "so it has no variables");
}

#[test]
fn a_simulated_line_says_what_is_on_it() {
    breaks("device = \"servo-drive\"", "", "subdevice.drive.device", "must know what it is");
    breaks("\"servo-drive\"", "\"servo\"", "subdevice.drive.device", "did you mean");
    let third = "[[fieldbus.ec0.subdevice]]\nname = \"drive\"\ndevice = \"coupler\"";
    breaks("#D", third, "subdevice.drive.name", "there already");
    let empty = GOOD.split("[[fieldbus").next().unwrap().to_owned();
    assert!(support::remarks(&empty).contains("the simulated segment is empty"));
    let many: String = (0..201)
        .map(|at| format!("[[fieldbus.ec0.subdevice]]\nname = \"d{at}\"\ndevice = \"coupler\"\n"))
        .collect();
    expect_problem(&(empty + &many), "fieldbus.ec0.subdevice.d200", "200 are allowed");
}

#[test]
fn plants_stand_behind_what_can_move_them() {
    let drive = &fieldbus("#D", "plant = \"servo-axis\"").subdevices[1];
    assert_eq!((drive.device, drive.plant), (Some(Device::ServoDrive), Some(PlantKind::ServoAxis)));
    breaks("#D", "plant = \"tank\"", "subdevice.drive.plant", "put it behind terminals");
    breaks("#H", "plant = \"servo-axis\"", "subdevice.head.plant", "can't be behind a `coupler`");
    breaks("#D", "plant = \"pump\"", "subdevice.drive.plant", "write one of `servo-axis`");
    let connected = "plant = \"servo-axis\"\nconnect = { torque = \"torque\" }";
    breaks("#D", connected, "subdevice.drive.connect", "connected to its axis by itself");
    let nothing = "connect = { torque = \"torque\" }";
    breaks("#D", nothing, "subdevice.drive.connect", "nothing to connect");
}

/// A terminal behind the drive, as it stands in the file.
fn terminal(name: &str, device: &str, rest: &str) -> String {
    format!("#D\n[[fieldbus.ec0.subdevice]]\nname = \"{name}\"\ndevice = \"{device}\"\n{rest}\n")
}

#[test]
fn channels_of_terminals_are_connected_to_signals_of_their_plant() {
    let both =
        terminal("out", "analog-output-4", "plant = \"tank\"\nconnect = { output_1 = \"pump\" }")
            + &terminal(
                "in",
                "analog-input-4",
                "plant = \"tank\"\nconnect = { input_2 = \"level\" }",
            );
    let line = fieldbus("#D", &both);
    assert_eq!(line.subdevices[2].connect[0].signal, "pump");
    let [tank] = &line.plants()[..] else { panic!("{:?}", line.plants()) };
    assert_eq!((tank.kind, tank.subdevices.as_slice()), (PlantKind::Tank, &[2, 3][..]));
    let broken = |device: &str, rest: &str, key: &str, part: &str| {
        let text = terminal("t", device, rest);
        breaks("#D", &text, &format!("subdevice.t.{key}"), part);
    };
    broken("analog-input-4", "plant = \"tank\"", "connect", "which channel is which signal");
    broken("analog-input-4", "plant = \"tank\"\nconnect = {}", "connect", "input_1 = \"level\"");
    // The example is one of that terminal, not of any.
    broken("analog-output-4", "plant = \"tank\"", "connect", "output_1 = \"pump\"");
    broken("digital-input-8", "plant = \"tank\"", "connect", "input_1 = \"full\"");
    broken("digital-output-8", "plant = \"steam-turbine\"", "connect", "output_1 = \"trip\"");
    let with = |wire: &str| format!("plant = \"tank\"\nconnect = {{ {wire} }}");
    let at = "connect.input_5";
    broken("analog-input-4", &with("input_5 = \"level\""), at, "no channel `input_5`");
    let at = "connect.input_1";
    broken("analog-input-4", &with("input_1 = \"levle\""), at, "did you mean `level`?");
    broken("analog-input-4", &with("input_1 = \"pump\""), at, "a `tank` has no sensor `pump`");
    let switch = "plant = \"servo-axis\"\nconnect = { input_1 = \"reference_switch\" }";
    broken("digital-input-8", switch, "plant", "no drive with a `servo-axis` is before it");
    let twice = terminal("one", "analog-output-4", &with("output_1 = \"pump\""))
        + &terminal("two", "analog-output-4", &with("output_3 = \"pump\""));
    breaks("#D", &twice, "subdevice.two.connect.output_3", "is moved by `output_1`");
}

#[test]
fn each_drive_has_an_axis_of_its_own_and_terminals_see_the_nearest_one() {
    let switch = "plant = \"servo-axis\"\nconnect = { input_1 = \"reference_switch\" }";
    let text = "plant = \"servo-axis\"\n".to_owned()
        + &terminal("first", "digital-input-8", switch)
        + &terminal("second", "servo-drive", "plant = \"servo-axis\"")
        + &terminal("third", "digital-input-8", switch);
    let plants = fieldbus("#D", &text).plants();
    let positions: Vec<_> = plants.iter().map(|plant| plant.subdevices.clone()).collect();
    assert_eq!(positions, [vec![1, 2], vec![3, 4]]);
}

#[test]
fn the_words_of_the_file_are_those_of_the_segment() {
    let schema = quietcore_site::schema();
    let words = |name: &str| -> Vec<String> {
        let choices = schema["$defs"][name]["oneOf"].as_array().unwrap();
        choices.iter().map(|one| one["const"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(words("Device"), quietcore_segment::device::NAMES);
    assert_eq!(words("PlantKind"), quietcore_segment::plant::PLANT_NAMES);
}

#[test]
fn an_entry_has_one_writer() {
    let second = |variable: &str, entry: &str| {
        format!("[[fieldbus.ec0.map]]\nvariable = \"{variable}\"\nentry = \"{entry}\"\n")
    };
    let input = second("servo_U.position", "drive.velocity_actual_value");
    breaks("#M", &input, "map[1].variable", "another input already, on line 26");
    let outputs = second("servo_Y.a", "drive.controlword") + &second("servo_Y.b", "drive.0x6040:0");
    breaks("#M", &outputs, "map[2].entry", "another variable already, on line 29");
    // One input for two variables, and one variable for two outputs, are what they say.
    let copies = second("servo_U.copy", "drive.position_actual_value")
        + &second("servo_Y.a", "drive.target_torque")
        + &second("servo_Y.a", "drive.torque_offset");
    assert_eq!(fieldbus("#M", &copies).map.len(), 4);
    let entry = "\"drive.position_actual_value\"";
    let near = "did you mean `position_actual_value`?";
    breaks(entry, "\"drive.position_actual\"", "map[0].entry", near);
    breaks(entry, "\"drive.0x6063:0\"", "map[0].entry", "no entry `0x6063:0`");
}

#[test]
fn identities_and_start_up_values_fit_their_types() {
    let with = "identity = { vendor = 0x2, product = 0xffffffff }\n\
                startup = [{ index = 0x6060, type \
                = \"i8\", value = -3 }, { index = 0x60c2, sub = 1, type = \"f32\", value = 1 }]";
    let drive = &fieldbus("#D", with).subdevices[1];
    let identity = drive.identity.unwrap();
    assert_eq!((identity.vendor, identity.product, identity.revision), (2, u32::MAX, None));
    let first = drive.startup[0];
    assert_eq!((first.index, first.sub, first.value_type), (0x6060, 0, DataType::I8));
    assert_eq!(first.value, Initial::Whole(-3));
    assert_eq!(drive.startup[1].value, Initial::Real(1.0));
    let key = "subdevice.drive";
    breaks("#D", "identity = { vendor = 2 }", &format!("{key}.identity.product"), "missing");
    let wide = "identity = { vendor = 2, product = 0x100000000 }";
    breaks("#D", wide, &format!("{key}.identity.product"), "from 0 to 4294967295");
    let startup = |entry: &str| format!("startup = [{{ {entry} }}]");
    let at = |name: &str| format!("{key}.startup[0].{name}");
    let value = "index = 0x6060, type = \"i8\", value = 128";
    breaks("#D", &startup(value), &at("value"), "write an integer from -128 to 127");
    let index = "index = 0x100, type = \"i8\", value = 1";
    breaks("#D", &startup(index), &at("index"), "from 4096 to 65535");
    breaks("#D", &startup("index = 0x6060, type = \"i8\""), &at("value"), "this key is missing");
    let head = startup("index = 0x6060, type = \"i8\", value = 1");
    breaks("#H", &head, "subdevice.head.startup", "has no object dictionary");
}

#[test]
fn mappings_lead_from_variables_to_entries() {
    let map = fieldbus("#M", "scale = 0.5\noffset = -1").map;
    assert!((map[0].to_variable(8.0) - 3.0).abs() < 1e-12);
    assert!((map[0].to_entry(3.0) - 8.0).abs() < 1e-12);
    let entry = "\"drive.position_actual_value\"";
    let object = fieldbus(entry, "\"drive.0x6064:0\"").map[0].entry.clone();
    assert_eq!(object, Entry::Object { index: 0x6064, sub: 0 });
    assert_eq!(object.to_string(), "0x6064:0");
    let key = "map[0].entry";
    breaks(entry, "\"drvie.position\"", key, "did you mean `drive`?");
    breaks(entry, "\"drive\"", key, "no `.` between SubDevice and entry");
    breaks(entry, "\"drive.0x6064\"", key, "no address such as `0x6064:0`");
    breaks(entry, "\"head.x\"", key, "is a coupler");
    breaks("\"servo_U.position\"", "\"servo_U.*\"", "map[0].variable", "no name of C");
    breaks("#M", "scale = 0", "map[0].scale", "loses the value");
    breaks("#M", "scale = nan", "map[0].scale", "isn't finite");
    breaks("#M", "offset = -inf", "map[0].offset", "isn't finite");
    let twice = "[[fieldbus.ec0.map]]\nvariable = \"servo_U.position\"\nentry = \
                 \"drive.position_actual_value\"";
    breaks("#M", twice, "map[1].variable", "already, on line 26");
}

#[test]
fn on_a_network_interface_nothing_is_simulated() {
    let text = changed(GOOD, "\"sim\"", "\"eth0\"");
    expect_problem(&text, "fieldbus.ec0.fault", "this is a network interface");
    let start = text.find("[[fieldbus.ec0.fault]]").unwrap();
    let end = text.find("[campaign]").unwrap();
    let text = format!("{}{}", &text[..start], &text[end..]);
    accept(&text);
    let plant = text.replace("#D", "plant = \"servo-axis\"");
    expect_problem(&plant, "fieldbus.ec0.subdevice.drive.plant", "a network interface");
    expect_problem(&text.replace("#E", "seed = 5"), "fieldbus.ec0.seed", "a network interface");
    let none = changed(&text, "[[fieldbus.ec0.subdevice]]", "[[fieldbus.ec0.subdevize]]");
    assert!(support::read_text(&none).unwrap_err().to_string().contains("did you mean"));
}

/// The good file on a network interface, with a drive that is not built in.
fn of_another_vendor() -> String {
    let text = changed(GOOD, "\"sim\"", "\"eth0\"");
    let (before, rest) = text.split_once("[[fieldbus.ec0.fault]]").unwrap();
    let (_, after) = rest.split_once("[campaign]").unwrap();
    format!("{before}[campaign]{after}").replace("device = \"servo-drive\"\n", "#I\n")
}

#[test]
fn a_subdevice_of_another_vendor_has_an_esi_file_and_an_identity() {
    let identity = "identity = { vendor = 2, product = 7 }";
    let text = of_another_vendor();
    let entry = "fieldbus.ec0.map[0].entry";
    // Neither a name nor an address says where an entry is.
    let address = text.replace("drive.position_actual_value", "drive.0x6064:0");
    for text in [&text, &address] {
        expect_problem(text, entry, "it has no `device`, and the fieldbus no `esi`");
        let without = text.replace("#E", "esi = [\"esi\"]");
        expect_problem(&without, entry, "add `identity = {");
        let whole = without.replace("#I", identity);
        assert_eq!(accept(&whole).fieldbuses()[0].esi, ["esi"]);
    }
    let text = text.replace("#E", "esi = [\"esi\", \"/opt/acme.xml\"]").replace("#I", identity);
    let named = |name: &str| text.replace("position_actual_value", name);
    for name in ["Position actual value", "Channel 1.Output", "Wörter", "0 V"] {
        let site = accept(&named(name));
        assert_eq!(site.fieldbuses()[0].map[0].entry, Entry::Named(name.to_owned()));
    }
    expect_problem(&named(" x"), entry, "a blank is before");
    expect_problem(&named("a\\tb"), entry, "a character that an entry can't have");
    expect_problem(&named(&"x".repeat(402)), entry, "too long for an entry");
    let site = accept(&text.replace("#D", "pdos = [0x1600, 0x1a01]"));
    let chosen = site.fieldbuses()[0].subdevices[1].pdos.as_deref();
    assert_eq!(chosen, Some(&[0x1600, 0x1a01][..]));
}

#[test]
fn a_choice_of_pdos_needs_an_esi_file() {
    let pdos = "fieldbus.ec0.subdevice.drive.pdos";
    let text = of_another_vendor().replace("#D", "pdos = [0x1600]");
    expect_problem(&text, pdos, "its PDOs are not known");
    let text = text.replace("#E", "esi = [\"esi\"]");
    expect_problem(&text, pdos, "no `identity` by which it is found");
    breaks("#D", "pdos = [0x1600]", "subdevice.drive.pdos", "a `servo-drive` is built in");
    let text = text.replace("#I", "identity = { vendor = 2, product = 7 }");
    accept(&text);
    expect_problem(&text.replace("[0x1600]", "[]"), pdos, "at least one");
    let zero = text.replace("[0x1600]", "[0]");
    expect_problem(&zero, "fieldbus.ec0.subdevice.drive.pdos[0]", "from 1 to 65535");
}

#[test]
fn a_simulated_subdevice_has_a_device_or_an_esi_file_and_an_identity() {
    let drive = "fieldbus.ec0.subdevice.drive";
    let device = format!("{drive}.device");
    let text = changed(GOOD, "device = \"servo-drive\"\n", "#I\n");
    expect_problem(&text, &device, "name the ESI file of its vendor in the fieldbus's `esi`");
    let text = text.replace("#E", "esi = [\"esi\"]");
    expect_problem(&text, &device, "must know what it is: it has no `identity` by which");
    let text = text.replace("#I", "identity = { vendor = 2, product = 7 }");
    assert_eq!(accept(&text).fieldbuses()[0].subdevices[1].device, None);
    accept(&text.replace("#D", "pdos = [0x1600]"));

    let with = |keys: &str| text.replace("#D", keys);
    let wrong = with("plant = \"servo-axis\"\ndevice = \"servo-drvie\"");
    let told = support::read_text(&wrong).unwrap_err().to_string();
    assert!(told.contains("did you mean `servo-drive`") && !told.contains("ESI file"), "{told}");
    let connect = format!("{drive}.connect");
    expect_problem(
        &with("plant = \"servo-axis\""),
        &format!("{drive}.plant"),
        "the terminals that share its axis are built in",
    );
    expect_problem(&with("plant = \"tank\""), &connect, "nothing says which entry is which signal");
    let tank = |wire: &str| with(&format!("plant = \"tank\"\nconnect = {{ {wire} }}"));
    expect_problem(&tank("x = \"levl\""), &format!("{connect}.x"), "did you mean `level`");
    expect_problem(&tank("\" x\" = \"level\""), &format!("{connect}. x"), "a blank is before");
    let site = accept(&tank("\"Channel 1.Value\" = \"level\", \"0x7000:1\" = \"pump\""));
    let wires = &site.fieldbuses()[0].subdevices[1].connect;
    let object = Entry::Object { index: 0x7000, sub: 1 };
    let channels = wires.iter().map(|wire| (wire.channel.clone(), wire.signal.as_str()));
    let named = Entry::Named("Channel 1.Value".to_owned());
    assert_eq!(channels.collect::<Vec<_>>(), [(object, "pump"), (named, "level")]);
}

#[test]
fn faults_strike_where_and_as_long_as_they_can() {
    let fault = |text: &str| accept(&with_fault(text)).fieldbuses()[0].faults[0];
    let late = fault("kind = \"late-frame\"\ndelay = \"2 ms\"\nduration = \"1 s\"\nchance = 0.1");
    let delay = Nanos::from_millis(2);
    assert_eq!(late.what, FaultEffect::LateFrame { parts_per_million: 100_000, delay });
    let power = fault("kind = \"power-cycle\"\nsubdevice = \"drive\"");
    assert_eq!(power.what, FaultEffect::PowerCycle { subdevice: 1 });
    assert_eq!(power.duration, Some(Nanos::from_millis(500)));
    let drop = fault("kind = \"state-drop\"\nsubdevice = \"drive\"");
    assert_eq!(drop.what, FaultEffect::StateDrop { subdevice: 1, code: 0x1b });
    let counter = fault("kind = \"working-counter\"\nsubdevice = \"head\"");
    assert_eq!(counter.what, FaultEffect::WorkingCounter { subdevice: 0, change: -1 });
    let broken = |text: &str, name: &str, part: &str| {
        expect_problem(&with_fault(text), &format!("fieldbus.ec0.fault[0].{name}"), part);
    };
    broken("kind = \"unplug\"", "subdevice", "strikes one SubDevice");
    broken("kind = \"unplug\"\nsubdevice = \"driv\"", "subdevice", "did you mean `drive`?");
    broken("kind = \"lost-frame\"\nsubdevice = \"drive\"", "subdevice", "has no `subdevice`");
    broken("kind = \"late-frame\"", "delay", "needs the `delay`");
    broken("kind = \"lost-frame\"\ndelay = \"1 ms\"", "delay", "has no `delay`");
    broken("kind = \"lost-frame\"\nchance = 0.5", "chance", "one frame is meant");
    broken("kind = \"lost-frame\"\nduration = \"1 s\"\nchance = 2", "chance", "from 1e-9 to 1");
    let drop = "kind = \"state-drop\"\nsubdevice = \"drive\"\n";
    broken(&format!("{drop}duration = \"1 s\""), "duration", "has no `duration`");
    let counter = "kind = \"working-counter\"\nsubdevice = \"drive\"\n";
    broken(&format!("{counter}change = 0"), "change", "changes nothing");
    broken(&format!("{counter}code = 1"), "code", "has no `code`");
    broken("kind = \"explode\"", "kind", "write one of");
    breaks("at = \"2 s\"\n", "", "fault[0].at", "this key is missing");
    breaks("#E", "lost = 0", "lost", "from 1 to 1000");
}
