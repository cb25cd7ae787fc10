//! A choice of PDOs and the process data that it gives.

use quietcore_esi::{Assignment, ChoiceError, Device, NumberKind};

use crate::support::{device, pdo};

const MANAGERS: &str = "<Sm>MBoxOut</Sm><Sm>MBoxIn</Sm><Sm>Outputs</Sm><Sm>Inputs</Sm>";
const COE: &str = "<Mailbox><CoE PdoAssign=\"true\"/></Mailbox>";

/// A device with two outputs that exclude each other, and three inputs, of which one is always
/// there and one must be chosen.
fn drive(coe: &str) -> Device {
    let pdos = [
        pdo("RxPdo", "Sm=\"2\"", 0x1600, "<Exclude>#x1601</Exclude>", &[16, 32]),
        pdo("RxPdo", "", 0x1601, "", &[16, 32, 16]),
        pdo("TxPdo", "Sm=\"3\" Mandatory=\"1\"", 0x1a00, "", &[16]),
        pdo("TxPdo", "Sm=\"3\"", 0x1a01, "", &[3]),
        pdo("TxPdo", "", 0x1a02, "", &[32]),
    ];
    device(&format!("{MANAGERS}{}{coe}", pdos.concat()))
}

fn bytes(device: &Device, chosen: Option<&[u16]>) -> Result<(u32, u32), ChoiceError> {
    device.process_data(chosen).map(|data| (data.input_bytes, data.output_bytes))
}

#[test]
fn without_a_choice_the_pdos_are_those_of_the_file() {
    let data = drive(COE).process_data(None).unwrap();
    assert_eq!((data.input_bytes, data.output_bytes), (3, 6));
    assert_eq!(
        data.assignments,
        [
            Assignment { object: 0x1c12, pdos: vec![0x1600] },
            Assignment { object: 0x1c13, pdos: vec![0x1a00, 0x1a01] },
        ]
    );
    let places: Vec<_> = data.inputs.iter().map(|it| (it.bit, it.entry.bits)).collect();
    assert_eq!(places, [(0, 16), (16, 3)]);
}

#[test]
fn chosen_pdos_lie_in_the_order_of_the_choice() {
    let data = drive(COE).process_data(Some(&[0x1a02, 0x1a00, 0x1601])).unwrap();
    assert_eq!((data.input_bytes, data.output_bytes), (6, 8));
    let places: Vec<_> = data.inputs.iter().map(|it| (it.entry.index, it.bit)).collect();
    assert_eq!(places, [(0x1a02, 0), (0x1a00, 32)]);
    assert_eq!(data.assignments[1], Assignment { object: 0x1c13, pdos: vec![0x1a02, 0x1a00] });
    // A direction without a PDO is assigned none, so that the device has none either.
    let data = drive(COE).process_data(Some(&[0x1a00])).unwrap();
    assert_eq!(data.assignments[0], Assignment { object: 0x1c12, pdos: vec![] });
}

#[test]
fn a_choice_that_the_device_can_not_take_is_refused() {
    let refused = |chosen: &[u16]| bytes(&drive(COE), Some(chosen)).unwrap_err().to_string();
    let known = "it has `0x1600`, `0x1601`, `0x1a00`, `0x1a01` and `0x1a02`";
    assert_eq!(refused(&[0x1a00, 0x1a09]), format!("it has no PDO 0x1a09; {known}"));
    assert_eq!(refused(&[0x1a00, 0x1a00]), "PDO 0x1a00 is chosen twice");
    let each_other = "PDO 0x1601 and PDO 0x1600 exclude each other";
    assert_eq!(refused(&[0x1a00, 0x1601, 0x1600]), each_other, "whichever of them says so");
    assert_eq!(refused(&[0x1600]), "PDO 0x1a00 (``) can't be left out");
    let fixed = "its PDOs can't be chosen: its ESI file offers no PDO assignment";
    let error = bytes(&drive(""), Some(&[0x1a00, 0x1601])).unwrap_err();
    assert_eq!(error.to_string(), fixed);
    for as_it_is in [[0x1600, 0x1a00, 0x1a01], [0x1a00, 0x1a01, 0x1600]] {
        assert_eq!(bytes(&drive(""), Some(&as_it_is)), Ok((3, 6)), "{as_it_is:x?}");
    }
}

#[test]
fn more_pdos_than_a_list_has_subindices_are_refused() {
    let with = |count: u16| {
        let pdos = (0..count).map(|at| pdo("TxPdo", "Sm=\"3\"", 0x1a00 + at, "", &[]));
        device(&format!("{MANAGERS}{}{COE}", pdos.collect::<String>())).process_data(None)
    };
    assert_eq!(with(254).unwrap().assignments[0].pdos.len(), 254);
    assert_eq!(with(255), Err(ChoiceError::TooMany));
}

#[test]
fn a_device_without_sync_managers_is_assigned_its_pdos_all_the_same() {
    let pdos =
        [pdo("RxPdo", "Sm=\"2\"", 0x1600, "", &[8]), pdo("RxPdo", "Sm=\"2\"", 0x1601, "", &[8])];
    let data = device(&format!("{}{COE}", pdos.concat()));
    let data = data.process_data(Some(&[0x1601, 0x1600])).unwrap();
    assert_eq!(data.assignments, [Assignment { object: 0x1c12, pdos: vec![0x1601, 0x1600] }]);
}

#[test]
fn each_sync_manager_begins_with_a_whole_byte() {
    let managers = "<Sm>Inputs</Sm><Sm>Outputs</Sm><Sm>Inputs</Sm>";
    let pdos = [
        pdo("TxPdo", "Sm=\"2\"", 0x1a10, "", &[8]),
        pdo("TxPdo", "Sm=\"0\"", 0x1a00, "", &[1, 2]),
        pdo("RxPdo", "Sm=\"1\"", 0x1600, "", &[12]),
    ];
    let data = device(&format!("{managers}{}", pdos.concat())).process_data(None).unwrap();
    let places: Vec<_> = data.inputs.iter().map(|it| (it.entry.index, it.bit)).collect();
    assert_eq!(places, [(0x1a00, 0), (0x1a00, 1), (0x1a10, 8)]);
    assert_eq!((data.input_bytes, data.output_bytes), (2, 2));
}

#[test]
fn a_pdo_without_a_sync_manager_of_its_direction_is_refused() {
    let wrong = device(&format!("<Sm>Inputs</Sm>{}", pdo("RxPdo", "Sm=\"0\"", 0x1600, "", &[8])));
    assert_eq!(wrong.process_data(None), Err(ChoiceError::NoSyncManager { index: 0x1600 }));
    // Devices of few words name none at all.
    let none = device(&pdo("RxPdo", "Sm=\"2\"", 0x1600, "", &[8]));
    assert_eq!(bytes(&none, None), Ok((0, 1)));
}

#[test]
fn of_two_that_exclude_each_other_the_first_is_the_default() {
    let pdos = [
        pdo("TxPdo", "Sm=\"0\"", 0x1a00, "", &[8]),
        pdo("TxPdo", "Sm=\"0\"", 0x1a01, "<Exclude>#x1A00</Exclude>", &[32]),
    ];
    assert_eq!(bytes(&device(&format!("<Sm>Inputs</Sm>{}", pdos.concat())), None), Ok((1, 0)));
}

#[test]
fn padding_has_a_size_and_no_name() {
    let padding = "<Entry><Index>#x0</Index><BitLen>5</BitLen></Entry>";
    let pdo = format!(
        "<Sm>Inputs</Sm><TxPdo Sm=\"0\"><Index>#x1a00</Index>{padding}<Entry><Index>#x6000\
         </Index><SubIndex>#x11</SubIndex><BitLen>3</BitLen><Name>Steps</Name><DataType>BIT3\
         </DataType></Entry></TxPdo>"
    );
    let data = device(&pdo).process_data(None).unwrap();
    let [entry] = data.inputs.as_slice() else { panic!("{data:?}") };
    assert_eq!((entry.bit, entry.entry.subindex, data.input_bytes), (5, 17, 1));
    assert_eq!(entry.entry.kind, Some(NumberKind::Unsigned));
}
