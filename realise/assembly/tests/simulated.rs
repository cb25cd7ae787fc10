//! Devices of ESI files, simulated: a MainDevice brings them to OP as it would the devices.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use proptest::prelude::*;
use quietcore_assembly::{Catalogue, simulated};
use quietcore_clock::FakeClock;
use quietcore_esi::Device;
use quietcore_maindevice::{
    BringUpError, Expectation, Expected, Fieldbus, Identity, Object, StartUp, Synchronisation,
};
use quietcore_segment::{AlState, Options, Segment, SubDevice};
use quietcore_units::Nanos;
use quietcore_wire::SegmentWire;

const CYCLE: Nanos = Nanos::from_millis(1);
const EXAMPLE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/esi/quietcore.xml");

/// The device of a file with this content in its only `Device`.
fn device(attributes: &str, content: &str) -> Device {
    let text = format!(
        "<EtherCATInfo><Vendor><Id>7</Id></Vendor><Descriptions><Devices><Device {attributes}>\
         <Type ProductCode=\"9\" RevisionNo=\"1\">Box</Type>{content}</Device></Devices>\
         </Descriptions></EtherCATInfo>"
    );
    let mut esi = quietcore_esi::read(text.as_bytes()).unwrap();
    assert!(esi.left_out.is_empty(), "{:?}", esi.left_out);
    esi.devices.remove(0)
}

/// A PDO with these entries: index, subindex and bits.
fn pdo(kind: &str, attributes: &str, index: &str, entries: &[(u16, u8, u8)]) -> String {
    let entry = |(index, subindex, bits): &(u16, u8, u8)| {
        format!(
            "<Entry><Index>{index}</Index><SubIndex>{subindex}</SubIndex><BitLen>{bits}</BitLen>\
             <Name>e{subindex}</Name><DataType>UINT</DataType></Entry>"
        )
    };
    let entries: String = entries.iter().map(entry).collect();
    format!("<{kind} {attributes}><Index>{index}</Index><Name>p</Name>{entries}</{kind}>")
}

/// These devices in a line with a MainDevice that expects them, with this start-up for each.
fn bring_up(
    devices: &[&Device],
    start_up: &[StartUp],
    process_data: &[(usize, usize)],
) -> Result<Fieldbus<SegmentWire<FakeClock>>, BringUpError> {
    let line: Vec<SubDevice> = devices.iter().map(|it| simulated::subdevice(it).unwrap()).collect();
    let expected = |(device, process_data): (&&Device, &(usize, usize))| {
        let quietcore_esi::Identity { vendor, product, revision } = device.identity;
        Expected {
            name: device.type_name.clone(),
            identity: Some(Identity { vendor, product, revision: Some(revision), serial: None }),
            process_data: Some(*process_data),
            start_up: start_up.to_vec(),
            synchronisation: Synchronisation::Frame,
        }
    };
    let expected = devices.iter().zip(process_data).map(expected).collect();
    let clock = FakeClock::new(Nanos::from_secs(1), Nanos::new(500), []);
    clock.reserve(1 << 20);
    let wire = SegmentWire::with_clock(Segment::new(line, Options::default()), clock);
    let expectation = Expectation { static_sync_iterations: 50, ..Expectation::anything(CYCLE) };
    Fieldbus::bring_up(wire, &expectation.with(expected))
}

fn step(fieldbus: &mut Fieldbus<SegmentWire<FakeClock>>) {
    let release = quietcore_wire::Wire::now(fieldbus.wire());
    let outcome = fieldbus.cycle(release + Nanos::from_micros(200));
    assert_eq!(outcome.working_counter, outcome.expected);
    quietcore_clock::Clock::sleep_until(fieldbus.wire().clock(), release + CYCLE);
}

#[test]
fn the_devices_of_the_example_reach_op_and_keep_their_outputs() {
    let types = ["QC-COUPLER", "qc-di8", "QC-DO8@0x00010000", "QC-AI4", "QC-AO4", "QC-SERVO"];
    let catalogue = Catalogue::read(&[EXAMPLE.to_owned()], types).unwrap();
    let devices = types.map(|name| catalogue.device(name).unwrap());
    let sizes = [(0, 0), (1, 0), (0, 1), (8, 0), (0, 8), (16, 16)];
    let mut fieldbus = bring_up(&devices, &[], &sizes).unwrap();
    assert!(fieldbus.all_in_op());
    fieldbus.outputs_mut(2)[0] = 0xA5;
    fieldbus.outputs_mut(5)[15] = 0x5A;
    step(&mut fieldbus);
    let line = fieldbus.wire().segment().subdevices();
    assert!(line.iter().all(|one| one.state() == AlState::Op));
    assert_eq!((line[2].outputs(), line[5].outputs()[15]), (&[0xA5][..], 0x5A));
}

/// Goal: terminals of 16 outputs, whose two SyncManagers lie in the controller's output register.
#[test]
fn process_data_in_several_syncmanagers_stay_apart() {
    let manager = |start: &str, control: &str, text: &str| {
        format!("<Sm StartAddress=\"{start}\" ControlByte=\"{control}\" Enable=\"1\">{text}</Sm>")
    };
    let content = [
        manager("#x0f00", "#x44", "Outputs"),
        manager("#x0f01", "#x44", "Outputs"),
        manager("#x1000", "#x00", "Inputs"),
        pdo("RxPdo", "Sm=\"0\"", "#x1600", &[(0x7000, 1, 3)]),
        pdo("RxPdo", "Sm=\"1\"", "#x1601", &[(0x7010, 1, 8)]),
        pdo("TxPdo", "Sm=\"2\"", "#x1a00", &[(0x6000, 1, 16)]),
    ];
    let device = device("Physics=\"KK\"", &content.concat());
    let mut fieldbus = bring_up(&[&device], &[], &[(2, 2)]).unwrap();
    fieldbus.outputs_mut(0).copy_from_slice(&[0x05, 0xC3]);
    step(&mut fieldbus);
    assert_eq!(fieldbus.wire().segment().subdevices()[0].outputs(), [0x05, 0xC3]);
}

/// Goal: devices whose SyncManagers of process data have a single buffer, as a mailbox has.
#[test]
fn process_data_in_a_single_buffer_are_exchanged_in_each_cycle() {
    let manager = |start: &str, control: &str, text: &str| {
        format!("<Sm StartAddress=\"{start}\" ControlByte=\"{control}\" Enable=\"1\">{text}</Sm>")
    };
    let content = [
        manager("#x1000", "#x26", "Outputs"),
        manager("#x1100", "#x22", "Inputs"),
        pdo("RxPdo", "Sm=\"0\"", "#x1600", &[(0x7000, 1, 16)]),
        pdo("TxPdo", "Sm=\"1\"", "#x1a00", &[(0x6000, 1, 16)]),
    ];
    let device = device("Physics=\"YY\"", &content.concat());
    let mut fieldbus = bring_up(&[&device], &[], &[(2, 2)]).unwrap();
    for value in 1..=5 {
        fieldbus.outputs_mut(0)[0] = value;
        step(&mut fieldbus);
        assert_eq!(fieldbus.wire().segment().subdevices()[0].outputs(), [value, 0]);
    }
}

/// A device with CoE and these PDOs; outputs lie at 0x1200, inputs at 0x1300.
fn with_mailbox(coe: &str, pdos: &str) -> Device {
    let content = format!(
        "<Fmmu>Outputs</Fmmu><Fmmu>Inputs</Fmmu><Fmmu>MBoxState</Fmmu>\
         <Sm DefaultSize=\"128\" StartAddress=\"#x1000\" ControlByte=\"#x26\" Enable=\"1\">MBoxOut\
         </Sm><Sm DefaultSize=\"128\" StartAddress=\"#x1080\" ControlByte=\"#x22\" Enable=\"1\">\
         MBoxIn</Sm><Sm StartAddress=\"#x1200\" ControlByte=\"#x64\" Enable=\"1\">Outputs</Sm>\
         <Sm StartAddress=\"#x1300\" ControlByte=\"#x20\" Enable=\"1\">Inputs</Sm>{pdos}\
         <Mailbox>{coe}</Mailbox><Dc><OpMode><Name>DC</Name></OpMode></Dc>"
    );
    device("Physics=\"YY\"", &content)
}

fn write(index: u16, subindex: u8, data: &[u8]) -> StartUp {
    StartUp { object: Object { index, subindex, complete: false }, data: data.to_vec() }
}

/// Goal: a choice of PDOs and the commands of the file are taken as the device would take them.
#[test]
fn pdos_are_assigned_and_commands_of_the_file_are_taken() {
    let pdos = [
        pdo("RxPdo", "Sm=\"2\"", "#x1600", &[(0x7000, 1, 16)]),
        pdo("RxPdo", "", "#x1601", &[(0x7000, 2, 32), (0x7000, 1, 16)]),
        pdo("TxPdo", "Sm=\"3\"", "#x1a00", &[(0x6000, 1, 16)]),
    ];
    let command = |object: &str, data: &str| {
        format!("<InitCmd><Transition>PS</Transition>{object}<Data>{data}</Data></InitCmd>")
    };
    let commands = [
        command("<Index>#x8000</Index><SubIndex>17</SubIndex>", "0102"),
        command("<Index>#x8001</Index>", "07"),
    ];
    let coe = format!("<CoE PdoAssign=\"1\" PdoConfig=\"1\">{}</CoE>", commands.concat());
    let device = with_mailbox(&coe, &pdos.concat());
    let start_up = [
        write(0x8000, 17, &[1, 2]),
        write(0x8001, 0, &[7]),
        write(0x1C12, 0, &[0]),
        write(0x1C12, 1, &0x1601_u16.to_le_bytes()),
        write(0x1C12, 0, &[1]),
    ];
    let mut fieldbus = bring_up(&[&device], &start_up, &[(2, 6)]).unwrap();
    fieldbus.outputs_mut(0).copy_from_slice(&[1, 2, 3, 4, 5, 6]);
    step(&mut fieldbus);
    let subdevice = &fieldbus.wire().segment().subdevices()[0];
    assert_eq!(subdevice.outputs(), [5, 6], "the entry of the default layout, from its new place");
    assert_eq!(subdevice.object(0x8000, 17), Some(&[1, 2][..]));
    assert_eq!(subdevice.object(0x8001, 0), Some(&[7][..]));

    let wrong = [write(0x8002, 0, &[7])];
    let error = bring_up(&[&device], &wrong, &[(2, 2)]).err().unwrap().to_string();
    assert!(error.contains("0x8002"), "{error}");
}

/// Goal: a device that has inputs alone, on the SyncManager that usually has outputs.
#[test]
fn pdos_are_assigned_by_the_object_of_their_syncmanager() {
    let pdos = [
        pdo("TxPdo", "Sm=\"2\"", "#x1a00", &[(0x6000, 1, 16)]),
        pdo("TxPdo", "", "#x1a01", &[(0x6000, 2, 32)]),
    ];
    let content = format!(
        "<Sm DefaultSize=\"128\" StartAddress=\"#x1000\" ControlByte=\"#x26\" Enable=\"1\">MBoxOut\
         </Sm><Sm DefaultSize=\"128\" StartAddress=\"#x1080\" ControlByte=\"#x22\" Enable=\"1\">\
         MBoxIn</Sm><Sm StartAddress=\"#x1100\" ControlByte=\"#x20\" Enable=\"1\">Inputs</Sm>\
         <Fmmu>Inputs</Fmmu>{}<Mailbox><CoE PdoAssign=\"1\"/></Mailbox>",
        pdos.concat()
    );
    let device = device("Physics=\"YY\"", &content);
    let choose = [
        write(0x1C12, 0, &[0]),
        write(0x1C12, 1, &0x1A01_u16.to_le_bytes()),
        write(0x1C12, 0, &[1]),
    ];
    bring_up(&[&device], &choose, &[(4, 0)]).unwrap();
}

/// Goal: the EEPROM of a device with many PDOs has room in the memory of MainDevices.
#[test]
fn pdos_that_no_eeprom_can_hold_are_read_through_the_mailbox() {
    let entries: Vec<_> = (1..=250).map(|subindex| (0x6000, subindex, 8)).collect();
    let of_index = |index: u16| {
        let attributes = if index == 0x1A00 { "Sm=\"3\"" } else { "" };
        pdo("TxPdo", attributes, &index.to_string(), &entries)
    };
    let pdos: String = (0x1A00..0x1A08).map(of_index).collect();
    let device = with_mailbox("<CoE/>", &pdos);
    assert!(simulated::subdevice(&device).unwrap().sii().len() <= 4096);
    bring_up(&[&device], &[], &[(250, 0)]).unwrap();
}

#[test]
fn a_device_that_can_not_be_simulated_is_refused_with_the_reason() {
    let coe = "<CoE/>";
    let many: Vec<_> = (0..=254).map(|subindex| (0x6000, subindex, 8)).collect();
    let outputs = pdo("RxPdo", "Sm=\"0\"", "#x1600", &[(0x7000, 1, 8)]);
    let wide = "<Sm StartAddress=\"#x0f00\" ControlByte=\"#x44\">Outputs</Sm>";
    let manager = "<Sm StartAddress=\"#xfff0\" ControlByte=\"#x44\">Outputs</Sm>";
    let command = |data: String| {
        format!(
            "<CoE><InitCmd><Transition>PS</Transition><Index>#x8000</Index><Data>{data}</Data>\
             </InitCmd></CoE>"
        )
    };
    let full: Vec<_> = (0..254).map(|subindex| (0x7000, subindex, 255)).collect();
    let of_index = |index: u16| pdo("RxPdo", "Sm=\"2\"", &index.to_string(), &full);
    let large: String = (0x1600..0x1602).map(of_index).collect();
    let long = pdo("RxPdo", "Sm=\"0\"", "#x1600", &[(0x7000, 1, 200)]);
    for (device, reason) in [
        (
            with_mailbox(coe, &pdo("RxPdo", "", "#x1a00", &[])),
            "PDO 0x1a00 has an index of no PDO of its direction",
        ),
        (
            with_mailbox(coe, &pdo("TxPdo", "", "#x1a00", &[]).repeat(2)),
            "PDO 0x1a00 is described twice",
        ),
        (
            with_mailbox(coe, &pdo("TxPdo", "", "#x1a00", &many)),
            "PDO 0x1a00 has more than 254 entries",
        ),
        (device("", &outputs), "its file does not have its SyncManagers"),
        (
            device("", &format!("<Sm>Outputs</Sm>{outputs}")),
            "its file does not have the place of a SyncManager",
        ),
        (
            device("", &format!("{manager}{long}")),
            "it has more than 60 KiB of memory in its SyncManagers",
        ),
        (
            device("", "<Sm StartAddress=\"#x0990\" Virtual=\"true\">Inputs</Sm>"),
            "it exchanges registers in place of memory (a SyncManager at 0x0990)",
        ),
        (
            device("", &format!("{wide}{long}")),
            "it has more than 4 bytes in the register of digital outputs",
        ),
        (
            with_mailbox(coe, &pdo("TxPdo", "Sm=\"2\"", "#x1a00", &[(0x6000, 1, 8)])),
            "it has no process data by default: no SyncManager of it can carry PDO 0x1a00",
        ),
        (device("", &manager.repeat(17)), "it has more than 16 SyncManagers or FMMUs"),
        (
            with_mailbox(&command("00".repeat((1 << 20) + 1)), ""),
            "it has more than 1 MiB of values to be written",
        ),
        (with_mailbox(coe, &large), "it has more than 8 191 bytes of inputs or of outputs"),
        (
            device("", "<Mailbox><CoE/></Mailbox>"),
            "its file does not have two SyncManagers of 16 bytes for its mailbox",
        ),
    ] {
        let refused = simulated::subdevice(&device).err().unwrap().to_string();
        assert_eq!(refused, reason);
    }
}

#[test]
fn a_device_with_one_place_for_two_things_is_refused() {
    let managers =
        "<Sm StartAddress=\"#x1000\">Outputs</Sm><Sm StartAddress=\"#x1001\">Outputs</Sm>";
    let outputs = pdo("RxPdo", "Sm=\"0\"", "#x1600", &[(0x7000, 1, 16)]);
    let others = pdo("RxPdo", "Sm=\"1\"", "#x1601", &[(0x7001, 1, 8)]);
    let overlap = device("", &format!("{managers}{outputs}{others}"));
    let itself = pdo("TxPdo", "Sm=\"3\"", "#x1a00", &[(0x1A00, 1, 8)]);
    for (device, reason) in [
        (overlap, "its SyncManagers at 0x1000 and 0x1001 overlap"),
        (with_mailbox("<CoE/>", &itself), "PDO 0x1a00 has an entry that is a PDO itself"),
    ] {
        assert_eq!(simulated::subdevice(&device).err().unwrap().to_string(), reason);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Goal: no file makes a simulation panic, whatever a MainDevice does with it.
    /// Method: the example's file, with some numbers replaced, brought up as far as it goes.
    #[test]
    fn a_damaged_file_is_simulated_or_refused(
        changes in prop::collection::vec((0_usize..4_000, any::<u32>(), any::<bool>()), 1..8),
        device in 0_usize..6,
        size in 0_usize..20,
    ) {
        let mut text = std::fs::read_to_string(EXAMPLE).unwrap();
        for (at, number, is_small) in changes {
            let is_number = |at: &usize| {
                let before = &text.as_bytes()[*at - 1];
                b"x>\"".contains(before) && text.as_bytes()[*at].is_ascii_hexdigit()
            };
            let numbers: Vec<_> = (1..text.len()).filter(is_number).collect();
            let at = numbers[at % numbers.len()];
            let is_hexadecimal = text.as_bytes()[at - 1] == b'x';
            let digits = text[at..].find(|c: char| !c.is_ascii_hexdigit()).unwrap();
            let number = if is_small { number % 0x100 } else { number % 0x2_0000 };
            let number = if is_hexadecimal { format!("{number:x}") } else { number.to_string() };
            text.replace_range(at..at + digits, &number);
        }
        let Ok(esi) = quietcore_esi::read(text.as_bytes()) else { return Ok(()) };
        let Some(device) = esi.devices.get(device) else { return Ok(()) };
        if simulated::subdevice(device).is_ok() {
            let start_up = [write(0x1C13, 0, &[0]), write(0x1C13, 1, &[0, 0x1A])];
            for start_up in [&start_up[..], &[]] {
                if let Ok(mut fieldbus) = bring_up(&[device], start_up, &[(size, size)]) {
                    step(&mut fieldbus);
                }
            }
        }
    }
}

#[test]
fn a_type_that_is_not_there_is_told_with_those_that_are() {
    let said = |esi: &str, name: &str| {
        let catalogue = Catalogue::read(&[esi.to_owned()], [name]);
        let device = |it: Catalogue| it.device(name).cloned().map_err(|why| why.to_string());
        let said = catalogue.and_then(device).unwrap_err();
        said.replace(EXAMPLE, "FILE").replace(env!("CARGO_MANIFEST_DIR"), "HERE")
    };
    assert_eq!(
        said(EXAMPLE, "QC-DI16"),
        "the ESI files have no device `QC-DI16` that can be used; they have 6 types, such as \
         `QC-AI4`, `QC-AO4`, `QC-COUPLER`, `QC-DI8`, `QC-DO8` or `QC-SERVO`"
    );
    assert_eq!(
        said(EXAMPLE, "QC-DI8@0x2"),
        "`QC-DI8` has no revision 0x00000002; it has `0x00010000`"
    );
    let here = concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml");
    assert!(said(here, "x").starts_with("`HERE/Cargo.toml`: the file is no XML"));
    assert!(said("/no/such", "x").starts_with("`/no/such`: No such file"));
}
