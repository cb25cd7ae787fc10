//! ESI files of a few lines, with only what a test is about.

use quietcore_esi::{Device, Esi, read};

/// An ESI file with these devices.
pub(crate) fn file(devices: &str) -> String {
    format!(
        "<?xml version=\"1.0\"?><EtherCATInfo><Vendor><Id>#x00000B1C</Id><Name>Ours</Name></Vendor>\
         <Descriptions><Devices>{devices}</Devices></Descriptions></EtherCATInfo>"
    )
}

#[track_caller]
pub(crate) fn esi(devices: &str) -> Esi {
    read(file(devices).as_bytes()).unwrap()
}

/// The one device with this content behind its type.
#[track_caller]
pub(crate) fn device(content: &str) -> Device {
    let mut esi = esi(&format!(
        "<Device><Type ProductCode=\"#x7\" RevisionNo=\"#x10\">BOX</Type>{content}</Device>"
    ));
    assert_eq!(esi.left_out, []);
    esi.devices.remove(0)
}

/// A PDO with entries of these bits, one a subindex.
pub(crate) fn pdo(kind: &str, attributes: &str, index: u16, inside: &str, bits: &[u32]) -> String {
    let entries = bits.iter().enumerate().map(|(at, bits)| {
        format!(
            "<Entry><Index>#x{index:x}</Index><SubIndex>{}</SubIndex><BitLen>{bits}</BitLen>\
             <Name>Value</Name><DataType>UDINT</DataType></Entry>",
            at + 1
        )
    });
    let entries: String = entries.collect();
    format!("<{kind} {attributes}><Index>#x{index:x}</Index>{inside}{entries}</{kind}>")
}
