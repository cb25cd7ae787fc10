//! From the bytes of a file to its devices.

use roxmltree::{Document, Node, ParsingOptions};

use crate::data_type::DataTypes;
use crate::device::{
    Device, Entry, Identity, InitCommand, OperationMode, Pdo, SyncManager, SyncManagerUse,
};
use crate::hardware::Hardware;
use crate::text::{FILE_BYTES_MAX, decoded, number, truth, words};

/// Most elements and texts of a file.
const NODES_MAX: u32 = 4_000_000;
/// Most attributes of an element: each is compared with the others.
const ATTRIBUTES_MAX: usize = 256;
/// Most namespaces of a file: each element is compared with all. ESI files have one or two.
const NAMESPACES_MAX: usize = 64;
/// Most PDOs of a device: all that the objects 0x1600 to 0x17FF and 0x1A00 to 0x1BFF describe.
const PDOS_MAX: usize = 1_024;
/// The number of English among the names of an element (a Windows language code).
const ENGLISH: u32 = 1033;

/// The devices of an ESI file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Esi {
    /// Its devices, in the order of the file.
    pub devices: Vec<Device>,
    /// The devices that can't be used.
    pub left_out: Vec<LeftOut>,
}

/// A device whose description can't be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeftOut {
    /// Vendor, and product code where it has one.
    pub product: (u32, Option<u32>),
    /// Its type; empty where it has none.
    pub type_name: String,
    /// The line of the file, from 1.
    pub line: u32,
    /// The problem, in words that follow the device.
    pub problem: String,
}

/// The reason why a file can't be used at all.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EsiError {
    /// It is larger than [`FILE_BYTES_MAX`].
    #[error("the file has more than {} MiB", FILE_BYTES_MAX >> 20)]
    TooLong,
    /// It is no XML, or uses what no ESI file needs.
    #[error("the file is no XML that can be read: {0}")]
    Xml(String),
    /// It is another kind of document.
    #[error("the file is no ESI file: it begins with `{root}`, and not with `EtherCATInfo`")]
    Other {
        /// The name of its first element.
        root: String,
    },
    /// An element has more attributes, or the file more namespaces, than any ESI file.
    #[error(
        "the file has an element of more than {ATTRIBUTES_MAX} attributes, or more than \
         {NAMESPACES_MAX} namespaces"
    )]
    Crowded,
    /// It does not say who made its devices.
    #[error("the file names no vendor: `Vendor/Id` is missing or no number")]
    NoVendor,
}

/// Reads an ESI file.
///
/// # Errors
/// [`EsiError`]: the file can't be used at all. A single device that can't is in
/// [`Esi::left_out`].
pub fn read(bytes: &[u8]) -> Result<Esi, EsiError> {
    if bytes.len() > FILE_BYTES_MAX {
        return Err(EsiError::TooLong);
    }
    let text = decoded(bytes);
    // No `<` is in an attribute, so that all those of an element are before the next one.
    let is_crowded = |part: &str| part.matches('=').nth(ATTRIBUTES_MAX).is_some();
    if text.split('<').any(is_crowded) || text.matches("xmlns").nth(NAMESPACES_MAX).is_some() {
        return Err(EsiError::Crowded);
    }
    // Entities could make a small file large, and need a document type, which no ESI file has.
    let options = ParsingOptions { allow_dtd: false, nodes_limit: NODES_MAX, ..Default::default() };
    let document = Document::parse_with_options(&text, options);
    let document = document.map_err(|error| EsiError::Xml(shortened(&error.to_string())))?;
    let root = document.root_element();
    if !is_called(root, "EtherCATInfo") {
        return Err(EsiError::Other { root: shortened(root.tag_name().name()) });
    }
    let vendor = child(root, "Vendor").ok_or(EsiError::NoVendor)?;
    let vendor_id = text_of(vendor, "Id").and_then(number).ok_or(EsiError::NoVendor)?;
    let mut esi = Esi::default();
    // Devices are in the order of the text, whose lines are counted once.
    let (mut line, mut counted) = (1, 0);
    let devices = child(root, "Descriptions").and_then(|it| child(it, "Devices"));
    for node in devices.into_iter().flat_map(|it| children(it, "Device")) {
        match device(node, vendor_id) {
            Ok(device) => esi.devices.push(device),
            Err((at, problem)) => {
                let start = at.range().start;
                line += text[counted..start].matches('\n').count() as u32;
                counted = start;
                let product = child(node, "Type").and_then(|it| it.attribute("ProductCode"));
                let product = (vendor_id, product.and_then(number));
                esi.left_out.push(LeftOut { product, type_name: type_name(node), line, problem });
            }
        }
    }
    Ok(esi)
}

/// A problem, and the element that has it.
type Fault<'x> = (Node<'x, 'x>, String);

fn device<'x>(node: Node<'x, 'x>, vendor: u32) -> Result<Device, Fault<'x>> {
    let kind = child(node, "Type").ok_or_else(|| (node, "it has no `Type`".to_owned()))?;
    let product = kind.attribute("ProductCode").and_then(number);
    let product = product.ok_or_else(|| (kind, "it has no product code".to_owned()))?;
    let revision = kind.attribute("RevisionNo").map_or(Some(0), number);
    let revision = revision.ok_or_else(|| (kind, "its revision is no number".to_owned()))?;
    let types = DataTypes::of(node);
    let virtual_managers: Vec<_> = children(node, "Sm").map(is_virtual).collect();
    let (mut pdos, mut has_virtual_pdos) = (Vec::new(), false);
    for it in node.children() {
        let is_input = is_called(it, "TxPdo");
        if !is_input && !is_called(it, "RxPdo") {
            continue;
        }
        let pdo = pdo(it, is_input, &types)?;
        let manager = pdo.sync_manager.and_then(|at| virtual_managers.get(usize::from(at)));
        if pdos.len() == PDOS_MAX {
            return Err((it, format!("it has more than {PDOS_MAX} PDOs")));
        }
        has_virtual_pdos |= is_virtual(it) || manager == Some(&true);
        pdos.push(pdo);
    }
    let mailbox = child(node, "Mailbox");
    let coe = mailbox.and_then(|it| child(it, "CoE"));
    let managers = children(node, "Sm").map(|it| sync_manager(it, mailbox.is_some()));
    let clock = child(node, "Dc");
    Ok(Device {
        identity: Identity { vendor, product, revision },
        type_name: type_name(node),
        sync_managers: managers.collect(),
        pdos,
        assigns_pdos: coe.is_some_and(|it| truth(it.attribute("PdoAssign"))),
        init_commands: init_commands(coe)?,
        operation_modes: clock
            .into_iter()
            .flat_map(|it| children(it, "OpMode"))
            .map(mode)
            .collect(),
        is_modular: child(node, "Slots").is_some(),
        has_virtual_pdos,
        hardware: Hardware::of(node),
    })
}

/// Returns `true` if a SyncManager or a PDO is called virtual: registers are exchanged in place of
/// memory, such as the times of latches.
fn is_virtual(node: Node<'_, '_>) -> bool {
    truth(node.attribute("Virtual"))
}

fn type_name(device: Node<'_, '_>) -> String {
    shortened(child(device, "Type").and_then(|it| it.text()).unwrap_or_default())
}

/// The use of a SyncManager: as it says, else as the bits of its control register do (ETG.1000.4:
/// bits 0 and 1 are 2 for a single buffer, as mailboxes have; bits 2 and 3 are 1 where the
/// MainDevice writes).
fn sync_manager(node: Node<'_, '_>, has_mailbox: bool) -> SyncManager {
    let control = node.attribute("ControlByte").and_then(number);
    let is_mailbox = has_mailbox && control.is_some_and(|control| control & 3 == 2);
    let is_written = control.map(|control| (control >> 2) & 3 == 1);
    let said = node.text().unwrap_or_default().trim().to_ascii_lowercase();
    let usage = match (said.as_str(), is_mailbox, is_written == Some(true)) {
        ("mboxout", ..) => SyncManagerUse::MailboxOut,
        ("mboxin", ..) => SyncManagerUse::MailboxIn,
        ("outputs", ..) => SyncManagerUse::Outputs,
        ("inputs", ..) => SyncManagerUse::Inputs,
        (_, true, true) => SyncManagerUse::MailboxOut,
        (_, true, false) => SyncManagerUse::MailboxIn,
        (_, false, true) => SyncManagerUse::Outputs,
        (_, false, false) => SyncManagerUse::Inputs,
    };
    SyncManager { usage, is_written }
}

fn pdo<'x>(node: Node<'x, 'x>, is_input: bool, types: &DataTypes<'x>) -> Result<Pdo, Fault<'x>> {
    let index = address(node, "Index")?;
    let index = index.ok_or_else(|| (node, "a PDO of it has no `Index`".to_owned()))?;
    let sync_manager = node.attribute("Sm").map(str::trim).filter(|text| !text.is_empty());
    let sync_manager = sync_manager.map(|text| {
        let number = number(text).and_then(|number| u8::try_from(number).ok());
        number.ok_or_else(|| (node, format!("PDO {index:#06x} has a `Sm` that is no number")))
    });
    let excludes = children(node, "Exclude").take(PDOS_MAX).filter_map(|it| number(it.text()?));
    let entries = children(node, "Entry").map(|it| entry(it, index, types));
    Ok(Pdo {
        index,
        name: english_name(node),
        is_input,
        sync_manager: sync_manager.transpose()?,
        is_mandatory: truth(node.attribute("Mandatory")),
        excludes: excludes.filter_map(|index| u16::try_from(index).ok()).collect(),
        entries: entries.collect::<Result<_, _>>()?,
    })
}

fn entry<'x>(node: Node<'x, 'x>, pdo: u16, types: &DataTypes<'x>) -> Result<Entry, Fault<'x>> {
    let index = address(node, "Index")?.unwrap_or_default();
    let subindex = match text_of(node, "SubIndex") {
        None => Some(0),
        Some(text) => number(text).and_then(|number| u8::try_from(number).ok()),
    };
    let subindex = subindex
        .ok_or_else(|| (node, format!("an entry of PDO {pdo:#06x} has a wrong `SubIndex`")))?;
    let bits = text_of(node, "BitLen").and_then(number);
    let bits =
        bits.ok_or_else(|| (node, format!("entry {index:#06x}:{subindex} has no `BitLen`")))?;
    let type_name = text_of(node, "DataType").unwrap_or_default();
    Ok(Entry {
        index,
        subindex,
        bits,
        name: english_name(node),
        type_name: shortened(type_name),
        kind: types.kind(type_name, bits),
    })
}

/// The index of an object in an element of this name; `None` where there is none.
fn address<'x>(node: Node<'x, 'x>, name: &str) -> Result<Option<u16>, Fault<'x>> {
    let Some(text) = text_of(node, name) else { return Ok(None) };
    let index = number(text).and_then(|number| u16::try_from(number).ok());
    let wrong = || (node, format!("`{}` is no index of an object", shortened(text)));
    index.map(Some).ok_or_else(wrong)
}

/// The commands of the ways to PRE-OP (`IP`), to be written as soon as that is reached, and from
/// there to SAFE-OP (`PS`). Those of other ways belong to process data that run.
fn init_commands<'x>(coe: Option<Node<'x, 'x>>) -> Result<Vec<InitCommand>, Fault<'x>> {
    let commands = coe.into_iter().flat_map(|it| children(it, "InitCmd"));
    let goes = |it: Node<'x, 'x>, way: &str| {
        children(it, "Transition").any(|it| it.text().is_some_and(|text| text.trim() == way))
    };
    let command = |(node, is_early): (Node<'x, 'x>, bool)| {
        let index = address(node, "Index")?.ok_or((node, "an `InitCmd` has no `Index`"));
        let index = index.map_err(|(node, problem)| (node, problem.to_owned()))?;
        let subindex = text_of(node, "SubIndex").and_then(number).unwrap_or_default();
        let wrong = || (node, format!("the `InitCmd` of {index:#06x} has a wrong value"));
        Ok(InitCommand {
            is_early,
            index,
            subindex: u8::try_from(subindex).map_err(|_| wrong())?,
            complete: truth(node.attribute("CompleteAccess")),
            data: bytes(text_of(node, "Data").unwrap_or_default()).ok_or_else(wrong)?,
        })
    };
    let ours = commands.filter_map(|it| {
        let is_early = goes(it, "IP");
        (is_early || goes(it, "PS")).then_some((it, is_early))
    });
    ours.map(command).collect()
}

/// The bytes of hexadecimal digits, two each (`xs:hexBinary`).
pub(crate) fn bytes(text: &str) -> Option<Vec<u8>> {
    let text: String = text.chars().filter(|c| !c.is_whitespace()).collect();
    let (pairs, rest) = text.as_bytes().as_chunks::<2>();
    let byte = |pair: &[u8; 2]| {
        let digits = pair.iter().all(u8::is_ascii_hexdigit);
        digits.then(|| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok()).flatten()
    };
    rest.is_empty().then(|| pairs.iter().map(byte).collect()).flatten()
}

fn mode(node: Node<'_, '_>) -> OperationMode {
    let assign_activate = text_of(node, "AssignActivate").and_then(number).unwrap_or_default();
    let cycle = child(node, "CycleTimeSync0");
    let factor = cycle.and_then(|it| it.attribute("Factor")).unwrap_or("1").trim();
    let is_zero = |text: &str| number(text) == Some(0);
    let is_usual = cycle.and_then(|it| it.text()).is_none_or(is_zero)
        && matches!(factor, "0" | "1" | "")
        && text_of(node, "ShiftTimeSync0").is_none_or(is_zero);
    OperationMode {
        name: english_name(node),
        assign_activate: assign_activate as u16,
        has_own_times: !is_usual,
        has_own_pdos: children(node, "Sm").any(|it| child(it, "Pdo").is_some()),
    }
}

/// The name of an element in English, else the first that it has.
fn english_name(node: Node<'_, '_>) -> String {
    let names = || children(node, "Name");
    let is_english = |it: &Node<'_, '_>| it.attribute("LcId").and_then(number) == Some(ENGLISH);
    let name = names().find(is_english).or_else(|| names().next());
    shortened(name.and_then(|it| it.text()).unwrap_or_default())
}

/// A name in one line, and no longer than people read.
fn shortened(text: &str) -> String {
    /// No name of a vendor is longer.
    const CHARS_MAX: usize = 200;
    words(text).chars().take(CHARS_MAX).collect()
}

fn is_called(node: Node<'_, '_>, name: &str) -> bool {
    // Some generators write `ID` for `Id`.
    node.is_element() && node.tag_name().name().eq_ignore_ascii_case(name)
}

/// The first child of this name.
pub(crate) fn child<'x>(node: Node<'x, 'x>, name: &str) -> Option<Node<'x, 'x>> {
    node.children().find(|it| is_called(*it, name))
}

/// All children of this name.
pub(crate) fn children<'x, 'n>(
    node: Node<'x, 'x>,
    name: &'n str,
) -> impl Iterator<Item = Node<'x, 'x>> + use<'x, 'n> {
    node.children().filter(move |it| is_called(*it, name))
}

/// The text of the first child of this name, without blanks around it.
pub(crate) fn text_of<'x>(node: Node<'x, 'x>, name: &str) -> Option<&'x str> {
    child(node, name)?.text().map(str::trim)
}
