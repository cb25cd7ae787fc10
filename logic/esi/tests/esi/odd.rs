//! Files as vendors, generators and editors leave them.

use quietcore_esi::{InitCommand, SyncManagerUse, read};

use crate::support::{device, esi, file, pdo};

#[test]
fn a_device_that_can_not_be_used_leaves_the_others_of_its_file() {
    let good = "<Device><Type ProductCode=\"1\">GOOD</Type></Device>";
    for (bad, problem) in [
        ("<Device/>", "it has no `Type`"),
        ("<Device><Type>BAD</Type></Device>", "it has no product code"),
        ("<Device><Type ProductCode=\"x\">BAD</Type></Device>", "it has no product code"),
        (
            "<Device><Type ProductCode=\"1\" RevisionNo=\"1.2\">BAD</Type></Device>",
            "its revision is no number",
        ),
        (
            "<Device><Type ProductCode=\"1\">BAD</Type><TxPdo/></Device>",
            "a PDO of it has no `Index`",
        ),
        (
            "<Device><Type ProductCode=\"1\">BAD</Type><TxPdo Sm=\"a\"><Index>#x1a00</Index>\
             </TxPdo></Device>",
            "PDO 0x1a00 has a `Sm` that is no number",
        ),
        (
            "<Device><Type ProductCode=\"1\">BAD</Type><TxPdo><Index>#x1a000</Index></TxPdo>\
             </Device>",
            "`#x1a000` is no index of an object",
        ),
        (
            "<Device><Type ProductCode=\"1\">BAD</Type><TxPdo><Index>#x1a00</Index><Entry><Index>\
             #x6000</Index></Entry></TxPdo></Device>",
            "entry 0x6000:0 has no `BitLen`",
        ),
        (
            "<Device><Type ProductCode=\"1\">BAD</Type><TxPdo><Index>#x1a00</Index><Entry><Index>\
             #x6000</Index><SubIndex>256</SubIndex></Entry></TxPdo></Device>",
            "an entry of PDO 0x1a00 has a wrong `SubIndex`",
        ),
        (
            "<Device><Type ProductCode=\"1\">BAD</Type><Mailbox><CoE><InitCmd><Transition>PS\
             </Transition><Index>#x8000</Index><Data>123</Data></InitCmd></CoE></Mailbox></Device>",
            "the `InitCmd` of 0x8000 has a wrong value",
        ),
    ] {
        let esi = esi(&format!("\n\n{bad}\n{good}"));
        assert_eq!(esi.devices.len(), 1, "{bad}");
        let [left_out] = esi.left_out.as_slice() else { panic!("{bad}") };
        assert_eq!((left_out.problem.as_str(), left_out.line), (problem, 3), "{bad}");
    }
}

#[test]
fn a_file_that_is_none_says_what_it_is() {
    let refused = |bytes: &[u8]| read(bytes).unwrap_err().to_string();
    for (text, part) in [
        ("", "no XML that can be read"),
        ("vendor = 1", "no XML that can be read"),
        ("<EtherCATInfo>", "no XML that can be read"),
        ("<EtherCATConfig/>", "it begins with `EtherCATConfig`, and not with `EtherCATInfo`"),
        ("<EtherCATInfo/>", "names no vendor"),
        ("<EtherCATInfo><Vendor><Id>ACME</Id></Vendor></EtherCATInfo>", "names no vendor"),
    ] {
        assert!(refused(text.as_bytes()).contains(part), "{text}: {}", refused(text.as_bytes()));
    }
    assert!(refused(&[0; 100]).contains("no XML"));
}

#[test]
fn a_sync_manager_without_words_is_what_its_control_register_says() {
    let managers = "<Sm ControlByte=\"#x26\"/><Sm ControlByte=\"#x22\"/><Sm ControlByte=\"#x64\"/>\
                    <Sm ControlByte=\"#x20\"/><Sm ControlByte=\"#x26\">inputs</Sm>";
    let usages =
        |text: &str| -> Vec<_> { device(text).sync_managers.iter().map(|it| it.usage).collect() };
    use SyncManagerUse::{Inputs, MailboxIn, MailboxOut, Outputs};
    let with_mailbox = usages(&format!("{managers}<Mailbox/>"));
    assert_eq!(with_mailbox, [MailboxOut, MailboxIn, Outputs, Inputs, Inputs]);
    // Process data may have a single buffer, too.
    assert_eq!(usages(managers), [Outputs, Inputs, Outputs, Inputs, Inputs]);
}

#[test]
fn a_sync_manager_that_says_another_direction_than_its_register_carries_both() {
    let managers = "<Sm ControlByte=\"#x44\">Outputs</Sm><Sm ControlByte=\"#x0\">Outputs</Sm>";
    let pdos =
        [pdo("RxPdo", "Sm=\"0\"", 0x1600, "", &[8]), pdo("TxPdo", "Sm=\"1\"", 0x1a00, "", &[16])];
    let data = device(&format!("{managers}{}", pdos.concat())).process_data(None).unwrap();
    assert_eq!((data.input_bytes, data.output_bytes), (2, 1));
}

#[test]
fn names_are_english_where_there_are_several() {
    let name = |names: &str| device(&pdo("TxPdo", "", 0x1a00, names, &[])).pdos[0].name.clone();
    let german = "<Name LcId=\"1031\">Antrieb</Name>";
    let english = "<Name LcId=\"1033\"><![CDATA[Servo\n drive]]></Name>";
    assert_eq!(name(&format!("{german}{english}")), "Servo drive");
    assert_eq!(name(german), "Antrieb");
    assert_eq!(name(""), "");
}

#[test]
fn commands_for_pre_op_are_kept_in_their_order() {
    let command = |way: &str, attributes: &str, content: &str| {
        format!("<InitCmd {attributes}><Transition>{way}</Transition>{content}</InitCmd>")
    };
    let commands = [
        command("PS", "", "<Index>#x8000</Index><SubIndex>#x12</SubIndex><Data>0A 0b</Data>"),
        command("IP", "", "<Index>#x8001</Index><Data>01</Data>"),
        command("SO", "", "<Index>#x8003</Index><Data>01</Data>"),
        command("PS", "CompleteAccess=\"1\"", "<Index>32770</Index><Data>0200</Data>"),
    ];
    let coe = format!("<Mailbox><CoE>{}</CoE></Mailbox>", commands.concat());
    let expected = |is_early, index, subindex, complete, data: &[u8]| InitCommand {
        is_early,
        index,
        subindex,
        complete,
        data: data.to_vec(),
    };
    assert_eq!(
        device(&coe).init_commands,
        [
            expected(false, 0x8000, 18, false, &[10, 11]),
            expected(true, 0x8001, 0, false, &[1]),
            expected(false, 0x8002, 0, true, &[2, 0])
        ]
    );
}

#[test]
fn virtual_pdos_are_there_and_known_as_such() {
    let managers = "<Sm>Inputs</Sm><Sm Virtual=\"true\">Inputs</Sm>";
    let pdos =
        [pdo("TxPdo", "Sm=\"0\"", 0x1a00, "", &[8]), pdo("TxPdo", "Sm=\"1\"", 0x1a01, "", &[64])];
    let device = device(&format!("{managers}{}", pdos.concat()));
    assert!(device.has_virtual_pdos);
    assert_eq!(device.process_data(None).unwrap().input_bytes, 9);
}

#[test]
fn a_mode_says_what_it_asks_beyond_sync0() {
    let mode = |content: &str| {
        let clock = format!(
            "<Dc><OpMode><Name>DC</Name><AssignActivate>#x300</AssignActivate>{content}</OpMode>\
             </Dc>"
        );
        let mode = device(&clock).operation_modes.remove(0);
        (mode.has_own_times, mode.has_own_pdos)
    };
    assert_eq!(mode(""), (false, false));
    assert_eq!(mode("<CycleTimeSync0 Factor=\"1\">0</CycleTimeSync0>"), (false, false));
    assert_eq!(mode("<CycleTimeSync0 Factor=\"-2\">0</CycleTimeSync0>"), (true, false));
    assert_eq!(mode("<CycleTimeSync0>250000</CycleTimeSync0>"), (true, false));
    assert_eq!(mode("<ShiftTimeSync0>-600000</ShiftTimeSync0>"), (true, false));
    assert_eq!(mode("<Sm No=\"3\"><Pdo>#x1a02</Pdo></Sm>"), (false, true));
}

#[test]
fn odd_spellings_are_read() {
    let text = file("<Device><Type ProductCode=\"0001\" RevisionNo=\"0x2\"> BOX\n</Type></Device>");
    let text = text.replace("<Id>#x00000B1C</Id>", "<ID> 2844 </ID>");
    let esi = read(text.as_bytes()).unwrap();
    let device = &esi.devices[0];
    assert_eq!((device.identity.vendor, device.identity.product), (2844, 1));
    assert_eq!((device.identity.revision, device.type_name.as_str()), (2, "BOX"));
    let empty = crate::support::device(&pdo("TxPdo", "Sm=\" \"", 0x1a00, "", &[8]));
    assert_eq!(empty.pdos[0].sync_manager, None);
}
