//! SubDevices that are known by their ESI files: entries, start-up, and what is refused.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs;
use std::process::Command;

use quietcore_assembly::{Assembly, AssemblyError, Workshop};
use quietcore_backend::fieldbus::FieldbusJob;
use quietcore_backend::fieldbus::wire::HostBus;
use quietcore_clock::{Clock as _, Monotonic};
use quietcore_exchange::Shape;
use quietcore_maindevice::{Object, Synchronisation};
use quietcore_process::exchange::Exchange;
use quietcore_record::class::catalogue;
use quietcore_scan::program::Fieldbus as _;
use quietcore_skip::skip;
use quietcore_units::Nanos;

const PROGRAM: &str = "int axis_U, axis_Y;\nvoid axis_initialize(void) { axis_Y = 0; }\n\
                       void axis_step(void) { axis_Y = axis_U; }\n";
const FILE: &str = include_str!("../../../examples/esi/quietcore.xml");

/// A site file whose SubDevice has these keys, and whose variables are these entries of it.
fn site(fieldbus: &str, subdevice: &str, input: &str, output: &str) -> String {
    let map = |variable: &str, entry: &str| {
        format!("[[fieldbus.ec0.map]]\nvariable = \"{variable}\"\nentry = \"box.{entry}\"\n")
    };
    format!(
        "[site]\nname = \"press\"\n[[partition]]\nname = \"axis\"\nclass = \"process-control\"\n\
         [partition.vcr]\ncpus = [1]\n[partition.program]\nmodel = \"axis\"\nperiod = \"10 ms\"\n\
         [fieldbus.ec0]\npartition = \"axis\"\ninterface = \"eth9\"\ncycle = \"10 ms\"\n\
         {fieldbus}\n\
         [[fieldbus.ec0.subdevice]]\nname = \"box\"\n{subdevice}\n{}{}",
        map("axis_U", input),
        map("axis_Y", output)
    )
}

/// The partition of a site file in a folder with these ESI files; `None` where nothing can be built
/// here.
fn assembled(files: &[(&str, &str)], text: &str) -> Option<Result<Assembly, String>> {
    if !Command::new("gcc").arg("--version").output().is_ok_and(|answer| answer.status.success()) {
        skip!("there is no gcc; install it");
        return None;
    }
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files.iter().chain(&[("axis/axis.c", PROGRAM)]) {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    let site = quietcore_site::read("press.toml", text.as_bytes(), &catalogue());
    let site = site.unwrap_or_else(|error| panic!("{error}"));
    let workshop = Workshop {
        site_folder: folder.path().to_owned(),
        build_folder: folder.path().join("builds"),
    };
    let assembly = workshop.assemble(&site, &site.partitions()[0]);
    let told =
        |error: AssemblyError| error.to_string().replace(&*folder.path().to_string_lossy(), "");
    Some(assembly.map_err(told))
}

const DRIVE: &str = "identity = { vendor = 0xb1c, product = 6 }";
const ESI: &str = "esi = [\"esi\"]";

/// Goal: the same places in the process image, whether a device is built in or read.
#[test]
fn entries_of_an_esi_file_are_where_those_of_the_device_are() {
    let files = [("esi/a.xml", FILE), ("esi/readme.txt", "no XML")];
    let built_in = site("", "device = \"servo-drive\"", "position_actual_value", "target_torque");
    let Some(built_in) = assembled(&files, &built_in) else { return };
    let built_in = built_in.unwrap();
    for (input, output) in [
        ("Position actual value", "Target torque"),
        ("position_actual_value", "target_torque"),
        ("Drive inputs.Position actual value", "Drive outputs.Target torque"),
        ("0x6064:0", "0x6071:0"),
    ] {
        let read = assembled(&files, &site(ESI, DRIVE, input, output)).unwrap().unwrap();
        assert_eq!(read.first.stage.inputs, built_in.first.stage.inputs, "{input}");
        assert_eq!(read.first.stage.outputs, built_in.first.stage.outputs, "{output}");
        let expected = [&read, &built_in].map(|one| {
            let one = &one.fieldbus.as_ref().unwrap().bus.subdevices[0];
            (one.process_data, one.synchronisation)
        });
        assert_eq!(expected[0], expected[1]);
        assert_eq!(expected[0], (Some((16, 16)), Synchronisation::Sync0));
    }
    let frames =
        site("esi = [\"esi/a.xml\"]\ndistributed_clocks = false", DRIVE, "0x6064:0", "0x6071:0");
    let frames = assembled(&files, &frames).unwrap().unwrap().fieldbus.unwrap();
    assert_eq!(frames.bus.subdevices[0].synchronisation, Synchronisation::Frame);
}

/// Goal: the PDOs that names were looked up in are those that the device exchanges.
#[test]
fn pdos_are_assigned_before_what_the_vendor_and_the_site_want_written() {
    let command = "<CoE SdoInfo=\"1\" PdoAssign=\"1\" CompleteAccess=\"1\"><InitCmd><Transition>PS\
                   </Transition><Index>#x6072</Index><SubIndex>0</SubIndex><Data>3402</Data>\
                   </InitCmd></CoE>";
    let file = FILE.replace("<CoE SdoInfo=\"1\" PdoAssign=\"1\" CompleteAccess=\"1\"/>", command);
    let own = "startup = [{ index = 0x6060, type = \"i8\", value = 10 }]";
    let text = site(ESI, &format!("{DRIVE}\n{own}"), "0x6064:0", "0x6071:0");
    let Some(assembly) = assembled(&[("esi/a.xml", &file)], &text) else { return };
    let fieldbus = assembly.unwrap().fieldbus.unwrap();
    let written: Vec<_> = fieldbus.bus.subdevices[0]
        .start_up
        .iter()
        .map(|one| {
            let Object { index, subindex, complete } = one.object;
            assert!(!complete);
            (index, subindex, one.data.as_slice())
        })
        .collect();
    assert_eq!(
        written,
        [
            (0x1c12, 0, &[0][..]),
            (0x1c12, 1, &[0x00, 0x16]),
            (0x1c12, 0, &[1]),
            (0x1c13, 0, &[0]),
            (0x1c13, 1, &[0x00, 0x1a]),
            (0x1c13, 0, &[1]),
            (0x6072, 0, &[0x34, 0x02]),
            (0x6060, 0, &[10]),
        ]
    );
}

#[track_caller]
fn refused(files: &[(&str, &str)], text: &str, parts: &[&str]) {
    let Some(assembly) = assembled(files, text) else { return };
    let Err(problem) = assembly else { panic!("it is accepted") };
    for part in parts {
        assert!(problem.contains(part), "{problem}\nlacks: {part}");
    }
}

#[test]
fn names_that_the_esi_file_does_not_have_are_refused_with_those_that_it_has() {
    let files = [("esi/a.xml", FILE)];
    let map = |input: &str| site(ESI, DRIVE, input, "Target torque");
    let wrong = map("Position");
    refused(
        &files,
        &wrong,
        &[
            "press.toml:21:9: `fieldbus.ec0.map[0].entry`",
            "a `QC-SERVO` has no such entry; it has `Statusword`, ",
        ],
    );
    refused(&files, &map("0x6063:0"), &["a `QC-SERVO` has no such entry"]);
    let twice =
        FILE.replace("<Name>Velocity actual value</Name>", "<Name>Position actual value</Name>");
    let ambiguous =
        "2 entries of a `QC-SERVO` are meant by that; write one of `0x6064:0`, `0x606c:0`";
    refused(&[("esi/a.xml", &twice)], &map("Position actual value"), &[ambiguous]);
    let text = FILE.replace(
        "<BitLen>32</BitLen>\n            <Name>Position actual value</Name>\n            \
         <DataType>DINT</DataType>",
        "<BitLen>32</BitLen>\n            <Name>Position actual value</Name>\n            \
         <DataType>STRING(4)</DataType>",
    );
    let no_number = "`Position actual value` is a STRING(4) of 32 bits, and no number";
    refused(&[("esi/a.xml", &text)], &map("Position actual value"), &[no_number]);
}

#[test]
fn a_device_that_no_esi_file_has_is_refused_with_what_was_read() {
    let text = |esi: &str, subdevice: &str| site(esi, subdevice, "0x6064:0", "0x6071:0");
    let files = [("esi/a.xml", FILE), ("esi/b.XML", "<a>")];
    let other = "identity = { vendor = 0xb1c, product = 7 }";
    let nothing = "subdevice.box.identity`: no ESI file has product 0x00000007 of vendor \
                   0x00000b1c that can be used; read 1 file with 6 devices; not usable: \
                   `/esi/b.XML`: the file is no XML";
    refused(&files, &text(ESI, other), &[nothing]);
    let revision = "identity = { vendor = 0xb1c, product = 6, revision = 2 }";
    let known = "have the device, and not its revision 0x00000002; they have 0x00010000";
    refused(&files, &text(ESI, revision), &[known]);
    let gone = "esi[0]`: `gone`: No such file or directory";
    refused(&files, &text("esi = [\"gone\"]", DRIVE), &[gone]);
    refused(&files, &text("esi = [\"axis\"]", DRIVE), &["the folder `axis` has no `.xml` file"]);
    refused(
        &files,
        &text("esi = [\"esi/b.XML\"]", DRIVE),
        &["esi[0]`: `esi/b.XML`: the file is no XML"],
    );
    let chosen = format!("{DRIVE}\npdos = [0x1601]");
    refused(
        &files,
        &text(ESI, &chosen),
        &["subdevice.box.pdos`: `QC-SERVO`: it has no PDO 0x1601"],
    );
    // A coupler that the files do not have does no harm, as long as it has no process data.
    let coupler = "[[fieldbus.ec0.subdevice]]\nname = \"head\"\nidentity = { vendor = 2, product = \
                   1 }\n[[fieldbus.ec0.map]]\nvariable = \"axis_U\"";
    let line = text(ESI, DRIVE).replacen("[[fieldbus.ec0.map]]\nvariable = \"axis_U\"", coupler, 1);
    let Some(assembly) = assembled(&files, &line) else { return };
    let subdevices = assembly.unwrap().fieldbus.unwrap().bus.subdevices;
    assert_eq!(subdevices[1].process_data, Some((0, 0)));
    // A copy does no harm; another description of the same device does.
    let copies = [("esi/a.xml", FILE), ("esi/b.xml", FILE)];
    let Some(copied) = assembled(&copies, &text(ESI, DRIVE)) else { return };
    assert!(copied.is_ok());
    let changed = FILE.replace("#x60B2", "#x60B1");
    let both = "`/esi/a.xml` and `/esi/b.xml` describe the device differently";
    refused(&[copies[0], ("esi/b.xml", &changed)], &text(ESI, DRIVE), &[both]);
}

#[test]
fn revisions_that_differ_are_refused_where_the_site_file_names_none() {
    let later = FILE.replace("#x00010000", "#x00020000");
    let differing = later.replace("<Index>#x6064</Index>", "<Index>#x6063</Index>");
    let any = site(ESI, DRIVE, "0x6064:0", "0x6071:0");
    let Some(alike) = assembled(&[("esi/a.xml", FILE), ("esi/b.xml", &later)], &any) else {
        return;
    };
    assert!(alike.is_ok());
    let files = [("esi/a.xml", FILE), ("esi/b.xml", &differing)];
    let both = "the revisions of the device differ; add the `revision` that it has: 0x00010000 \
                (`QC-SERVO`), 0x00020000 (`QC-SERVO`)";
    refused(&files, &any, &[both]);
    for (revision, input) in [("0x10000", "0x6064:0"), ("0x20000", "0x6063:0")] {
        let drive = format!("identity = {{ vendor = 0xb1c, product = 6, revision = {revision} }}");
        assert!(assembled(&files, &site(ESI, &drive, input, "0x6071:0")).unwrap().is_ok());
    }
}

/// Goal: no name leads to another entry than the one that is meant.
#[test]
fn an_entry_that_is_there_twice_is_named_with_its_pdo_or_by_its_object() {
    let map = |input: &str| site(ESI, DRIVE, input, "Target torque");
    // The controlword is shown back: its object is an input and an output.
    let shown_back = FILE.replace("#x603F", "#x6040").replace("Error code", "Controlword");
    let files = [("esi/a.xml", shown_back.as_str())];
    let both = "2 entries of a `QC-SERVO` are meant by that; write one of `Drive \
                inputs.Controlword`, `Drive outputs.Controlword`";
    refused(&files, &map("0x6040:0"), &[both]);
    refused(&files, &map("controlword"), &[both]);
    let Some(one) = assembled(&files, &map("Drive inputs.Controlword")) else { return };
    assert_eq!(one.unwrap().first.stage.inputs[0].bit, 112);
    // What stands between words does not count, and what stands behind them does.
    let signs = FILE.replace("Error code", "Limit+");
    let limit = map("limit");
    refused(&[("esi/a.xml", &signs)], &limit, &["no such entry; it has", "`Limit+`"]);
}

#[test]
fn what_would_exchange_other_entries_is_refused() {
    let startup = |index: &str| {
        let own = format!("startup = [{{ index = {index}, type = \"u8\", value = 0 }}]");
        site(ESI, &format!("{DRIVE}\n{own}"), "0x6064:0", "0x6071:0")
    };
    let files = [("esi/a.xml", FILE)];
    let refusal = "subdevice.box.startup[0].index`: 0x1c12 says which entries are exchanged";
    refused(&files, &startup("0x1c12"), &[refusal]);
    refused(&files, &startup("0x1a00"), &["choose `pdos`"]);
    // The vendor's own assignment gives way to the choice.
    let command = "<CoE PdoAssign=\"1\"><InitCmd><Transition>PS</Transition><Index>#x1c12</Index>\
                   <SubIndex>0</SubIndex><Data>00</Data></InitCmd></CoE>";
    let file = FILE.replace("<CoE SdoInfo=\"1\" PdoAssign=\"1\" CompleteAccess=\"1\"/>", command);
    let text = site(ESI, DRIVE, "0x6064:0", "0x6071:0");
    let Some(assembly) = assembled(&[("esi/a.xml", &file)], &text) else { return };
    let expected = assembly.unwrap().fieldbus.unwrap().bus.subdevices.remove(0);
    assert_eq!(expected.start_up.len(), 6);
    let long = command
        .replace("#x1c12", "#x8000")
        .replace("00</Data>", &format!("{}</Data>", "00".repeat(1025)));
    let file = FILE.replace("<CoE SdoInfo=\"1\" PdoAssign=\"1\" CompleteAccess=\"1\"/>", &long);
    refused(
        &[("esi/a.xml", &file)],
        &text,
        &["wants 1025 bytes written to 0x8000; at most 1024 are"],
    );
}

/// A site whose segment is simulated: analogue outputs and inputs of an ESI file, with a tank.
fn simulated(outputs: &str, inputs: &str) -> String {
    let drive = "identity = { vendor = 0xb1c, product = 5 }\nplant = \"tank\"\n";
    let text = site(ESI, &format!("{drive}{outputs}"), "Output 1", "Output 1");
    let gauges = [
        "[[fieldbus.ec0.subdevice]]\nname = \"gauges\"\nplant = \"tank\"\n",
        "identity = { vendor = 0xb1c, product = 4 }\n",
        inputs,
        "\n[[fieldbus.ec0.map]]",
    ];
    text.replace("\"eth9\"", "\"sim\"")
        .replacen("[[fieldbus.ec0.map]]", &gauges.concat(), 1)
        .replacen("box.Output 1", "gauges.Input 1", 1)
}

/// Goal: a site file of other people's devices runs without them, and their entries move a plant.
/// Method: PDOs in another order than that of the file; the file wants an entry written that is in
/// none of them, and the site an object that no PDO has, and one that PDOs have in part.
#[test]
fn devices_of_esi_files_are_simulated_with_a_plant_behind_their_entries() {
    let command = "<CoE PdoAssign=\"1\"><InitCmd><Transition>PS</Transition><Index>#x6020</Index>\
                   <SubIndex>17</SubIndex><Data>0000</Data></InitCmd></CoE>";
    let coe = "<CoE SdoInfo=\"1\" PdoAssign=\"1\" CompleteAccess=\"1\"/>";
    let (before, after) = FILE.split_once(coe).unwrap();
    let file = [before, command, after].concat();
    let files = [("esi/a.xml", &*file)];
    let text = simulated(
        "connect = { \"Output 1\" = \"pump\" }",
        "pdos = [0x1a01, 0x1a00]\n\
         startup = [{ index = 0x8000, sub = 1, type = \"u16\", value = 3 },\n\
         { index = 0x6010, sub = 18, type = \"u8\", value = 3 }]\n\
         connect = { \"Channel 1.Input 1\" = \"pump_speed\", \"0x6010:17\" = \"level\" }",
    );
    let Some(assembly) = assembled(&files, &text) else { return };
    let job = assembly.unwrap().fieldbus.unwrap();
    let line = serde_json::to_string(&job).unwrap();
    let job: FieldbusJob = serde_json::from_str(&line).unwrap();

    let exchange = Exchange::create(&Shape {
        input_bytes: 4,
        output_bytes: 8,
        event_slots: 64,
        ..Shape::of_tasks(1)
    });
    let exchange = exchange.unwrap();
    let region = exchange.region();
    let mut events = region.event_writer(0).unwrap();
    let mut bus = HostBus::bring_up(&job, region).unwrap();
    let end = Monotonic.now() + Nanos::from_secs(30);
    let speed = |bus: &HostBus<'_>| i16::from_le_bytes([bus.inputs()[2], bus.inputs()[3]]);
    let mut cycle = 0;
    while speed(&bus) < 300 && Monotonic.now() < end {
        bus.outputs()[..2].copy_from_slice(&30_000_i16.to_le_bytes());
        bus.exchange(cycle, Monotonic.now(), &mut events);
        cycle += 1;
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    assert!(speed(&bus) >= 300, "a hundredth of the full speed: {}", speed(&bus));
}

#[test]
fn wires_that_cannot_be_drawn_are_refused_with_their_places() {
    let files = [("esi/a.xml", FILE)];
    let connect = |outputs: &str| {
        simulated(&format!("connect = {{ {outputs} }}"), "connect = { \"Input 1\" = \"level\" }")
    };
    let key = "`fieldbus.ec0.subdevice.box.connect`: ";
    let refused = |outputs: &str, part: &str| refused(&files, &connect(outputs), &[key, part]);
    refused(
        "\"Output 1\" = \"level\"",
        "`Output 1` is an output, and a `tank` has no actuator `level`; it has `pump`",
    );
    refused(
        "\"Outptu 1\" = \"pump\"",
        "`Outptu 1`: a `QC-AO4` has no such entry; it has `Output 1`",
    );
    refused(
        "\"Output 1\" = \"pump\", \"Output 2\" = \"pump\"",
        "`pump` is moved by `box.Output 1` already; connect it once",
    );
    refused(
        "\"Output 1\" = \"pump\", \"Channel 1.Output 1\" = \"outlet\"",
        "are one entry; connect it once",
    );
}

/// Goal: a device that can't be simulated is told before anything starts.
#[test]
fn a_device_that_cannot_be_simulated_is_refused() {
    let text =
        simulated("connect = { \"Output 1\" = \"pump\" }", "connect = { \"Input 1\" = \"level\" }");
    let file = FILE.replace("StartAddress=\"#x1400\"", "StartAddress=\"#x0990\"");
    let why = "can't be simulated: it exchanges registers in place of memory (a SyncManager at \
               0x0990)";
    refused(&[("esi/a.xml", &file)], &text, &["fieldbus.ec0.subdevice.box.identity", why]);
    let odd = FILE.replace("<BitLen>16</BitLen>", "<BitLen>24</BitLen>");
    let odd = odd.replace("<DataType>INT</DataType>", "<DataType>INT24</DataType>");
    let why = "`Output 1` has 24 bits, and a plant is behind numbers of 8, 16, 32 or 64 bits";
    refused(&[("esi/a.xml", &odd)], &text, &[why]);
    let unknown = text.replace("product = 4 }", "product = 99 }");
    refused(&[("esi/a.xml", FILE)], &unknown, &["no ESI file has product 0x00000063"]);
}

#[test]
fn what_can_be_had_in_part_only_is_remarked() {
    let file = FILE
        .replace("#x0300", "#x0730")
        .replace("<AssignActivate>#x0000", "<AssignActivate>#x0700")
        .replace("<Dc>", "<Slots/><Dc>");
    let text = site(ESI, DRIVE, "0x6064:0", "0x6071:0");
    let Some(assembly) = assembled(&[("esi/a.xml", &file)], &text) else { return };
    let assembly = assembly.unwrap();
    let remarks: Vec<_> = assembly.first.remarks.iter().map(|it| it.remark.as_str()).collect();
    assert!(remarks[0].starts_with("a `QC-SERVO` takes modules in slots"), "{remarks:?}");
    assert_eq!(
        remarks[1],
        "the mode `DC` of a `QC-SERVO` wants SYNC1, which is not made: SYNC0 alone is"
    );
    assert_eq!(remarks.len(), 2);
    let expected = &assembly.fieldbus.unwrap().bus.subdevices[0];
    assert_eq!(expected.synchronisation, Synchronisation::Sync0);
}
