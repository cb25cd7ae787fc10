//! The process image of a fieldbus, and the places of its entries.

use quietcore_esi::{Assignment, InitCommand, NumberKind, OperationMode, PlacedEntry, ProcessData};
use quietcore_maindevice::{Object, StartUp};
use quietcore_scan::mapping::Kind;
use quietcore_segment::{Blueprint, Description, Entry as DeviceEntry};
use quietcore_site::{Entry, Fieldbus, SubDevice};
use quietcore_wording::{alike, folded, list};

use crate::esi::Described;
use crate::names::kind;

/// The most entries that a message names.
const NAMED_MAX: usize = 20;

/// The process image of a fieldbus: the SubDevices' inputs one after the other in the order of the
/// line, each from a whole byte on, and their outputs likewise.
#[derive(Clone, Debug, Default)]
pub struct BusImage {
    /// Bytes of all inputs.
    pub input_bytes: u32,
    /// Bytes of all outputs.
    pub output_bytes: u32,
    subdevices: Vec<OnBus>,
}

/// A SubDevice of the line.
#[derive(Clone, Debug)]
struct OnBus {
    name: String,
    known: Option<Known>,
    first_input: u32,
    first_output: u32,
}

/// The process data of a SubDevice, and the start-up that its vendor wants.
#[derive(Clone, Debug, Default)]
struct Known {
    /// The kind of device, for messages.
    device: String,
    entries: Vec<KnownEntry>,
    input_bytes: u32,
    output_bytes: u32,
    start_up: Vec<StartUp>,
    has_sync0: bool,
    /// The making of its simulation, where it is simulated and not built in.
    simulated: Option<Blueprint>,
    /// Parts of its ESI file that are not done.
    remarks: Vec<String>,
}

/// An entry, within the inputs or the outputs of its SubDevice.
#[derive(Clone, Debug)]
struct KnownEntry {
    is_input: bool,
    /// Name of its PDO; empty where entries have names enough of their own.
    pdo: String,
    name: String,
    object: (u16, u8),
    bit: u32,
    bits: u32,
    /// `None` for what is no number; the type then says what it is.
    kind: Option<Kind>,
    type_name: String,
}

/// The place of an entry in the image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) is_input: bool,
    /// Its first bit within the inputs or the outputs of its SubDevice.
    pub(crate) own_bit: u32,
    pub(crate) bit: u32,
    pub(crate) bits: u8,
    pub(crate) kind: Kind,
}

impl BusImage {
    /// The image of a fieldbus, as the descriptions of its SubDevices say: those of the built-in
    /// ones, and for the others those of their ESI files, by position.
    pub(crate) fn of(fieldbus: &Fieldbus, mut described: Vec<Option<Described>>) -> Self {
        let mut image = Self::default();
        described.resize_with(fieldbus.subdevices.len(), || None);
        for (subdevice, described) in fieldbus.subdevices.iter().zip(described) {
            let known = built_in(subdevice).or_else(|| described.map(Known::of_file));
            let (inputs, outputs) =
                known.as_ref().map_or((0, 0), |known| (known.input_bytes, known.output_bytes));
            image.subdevices.push(OnBus {
                name: subdevice.name.clone(),
                known,
                first_input: image.input_bytes,
                first_output: image.output_bytes,
            });
            image.input_bytes += inputs;
            image.output_bytes += outputs;
        }
        image
    }

    fn known(&self, position: usize) -> Option<&Known> {
        self.subdevices.get(position)?.known.as_ref()
    }

    /// The bytes that a SubDevice's inputs and outputs have. One of which nothing is known has no
    /// place for any.
    pub(crate) fn bytes_of(&self, position: usize) -> (usize, usize) {
        self.known(position)
            .map_or((0, 0), |known| (known.input_bytes as usize, known.output_bytes as usize))
    }

    /// The start-up values that a SubDevice's vendor wants, before those of the site file.
    pub(crate) fn start_up(&self, position: usize) -> &[StartUp] {
        self.known(position).map_or(&[], |known| &known.start_up)
    }

    /// Returns `true` if a SubDevice is made to be synchronised by its clock.
    pub(crate) fn has_sync0(&self, position: usize) -> bool {
        self.known(position).is_some_and(|known| known.has_sync0)
    }

    /// The making of a SubDevice's simulation, where it is simulated and not built in.
    pub(crate) fn simulated(&self, position: usize) -> Option<&Blueprint> {
        self.known(position)?.simulated.as_ref()
    }

    /// Parts of the ESI files that are not done, with the SubDevices' positions.
    pub(crate) fn remarks(&self) -> impl Iterator<Item = (usize, &str)> {
        let known = self.subdevices.iter().enumerate();
        known.flat_map(|(position, one)| {
            let remarks = one.known.iter().flat_map(|known| &known.remarks);
            remarks.map(move |remark| (position, remark.as_str()))
        })
    }

    /// The place of an entry in the image.
    pub(crate) fn find(&self, position: usize, entry: &Entry) -> Result<Place, String> {
        let on_bus = self.subdevices.get(position).ok_or("there is no such SubDevice")?;
        let Some(known) = &on_bus.known else {
            return Err(format!(
                "the entries of `{}` are not known; give its `device`, or its `identity` and the \
                 fieldbus's `esi`",
                on_bus.name
            ));
        };
        let found = known.find(entry)?;
        let first = if found.is_input { on_bus.first_input } else { on_bus.first_output };
        let number = found.kind.zip(u8::try_from(found.bits).ok());
        let (kind, bits) = number.ok_or_else(|| {
            format!(
                "`{}` is a {} of {} bits, and no number of 64 bits at most that can be mapped",
                found.name, found.type_name, found.bits
            )
        })?;
        let (is_input, own_bit) = (found.is_input, found.bit);
        Ok(Place { is_input, own_bit, bit: first * 8 + own_bit, bits, kind })
    }
}

/// Describes a built-in SubDevice.
fn built_in(subdevice: &SubDevice) -> Option<Known> {
    let device = subdevice.device?;
    let Description { name, inputs, outputs, input_bytes, output_bytes, .. } =
        quietcore_segment::describe(device.name()).ok()?;
    let entries = |entries: Vec<DeviceEntry>, is_input| {
        entries.into_iter().map(move |entry| KnownEntry {
            is_input,
            pdo: String::new(),
            name: entry.name.into_owned(),
            object: (entry.index, entry.subindex),
            bit: entry.bit_offset.into(),
            bits: entry.data_type.bits() as u32,
            kind: Some(kind(entry.data_type)),
            type_name: entry.data_type.to_string(),
        })
    };
    Some(Known {
        device: name.into_owned(),
        entries: entries(inputs, true).chain(entries(outputs, false)).collect(),
        input_bytes: input_bytes.into(),
        output_bytes: output_bytes.into(),
        // A drive alone has a clock of its own, of the devices that are built in.
        has_sync0: device == quietcore_site::Device::ServoDrive,
        start_up: Vec::new(),
        simulated: None,
        remarks: Vec::new(),
    })
}

impl Known {
    /// Describes a device by its ESI file, with the PDOs that were chosen.
    fn of_file(described: Described) -> Self {
        let Described { device, data, simulated } = described;
        let start_up = start_up(&device, &data);
        let ProcessData { inputs, outputs, input_bytes, output_bytes, .. } = data;
        let entries = |entries: Vec<PlacedEntry>, is_input| {
            entries.into_iter().map(move |PlacedEntry { pdo, entry, bit }| KnownEntry {
                is_input,
                pdo,
                name: entry.name,
                object: (entry.index, entry.subindex),
                bit,
                bits: entry.bits,
                kind: entry.kind.map(kind_of_file),
                type_name: entry.type_name,
            })
        };
        // The first is the default, but SYNC1 is not made here.
        let modes = &device.operation_modes;
        let mode = modes.iter().find(|mode| !mode.has_sync1()).or(modes.first());
        let remarks = remarks(&device, mode);
        Self {
            entries: entries(inputs, true).chain(entries(outputs, false)).collect(),
            input_bytes,
            output_bytes,
            start_up,
            simulated,
            remarks,
            has_sync0: mode.is_some_and(OperationMode::has_sync0),
            device: device.type_name,
        }
    }

    /// The one entry that is meant. Of a name, letters' case and the signs between words do not
    /// count where no entry has it as it is written.
    fn find(&self, wanted: &Entry) -> Result<&KnownEntry, String> {
        let with = |is_meant: &dyn Fn(&KnownEntry) -> bool| -> Vec<&KnownEntry> {
            self.entries.iter().filter(|one| is_meant(one)).collect()
        };
        let found = match wanted {
            Entry::Object { index, sub } => with(&|one| one.object == (*index, *sub)),
            Entry::Named(name) => {
                let exact = with(&|one| one.name == *name || one.full_name() == *name);
                let name = folded(name);
                match exact.is_empty() {
                    true => {
                        with(&|one| folded(&one.name) == name || folded(&one.full_name()) == name)
                    }
                    false => exact,
                }
            }
        };
        match found.as_slice() {
            [] => Err(format!("a `{}` has no such entry; {}", self.device, self.offer(wanted))),
            [only] => Ok(only),
            several => Err(format!(
                "{} entries of a `{}` are meant by that; write one of {}",
                several.len(),
                self.device,
                list(several.iter().take(NAMED_MAX).map(|one| self.unique_name(one)))
            )),
        }
    }

    /// The entries that there are, or those like the wanted one where there are many.
    fn offer(&self, wanted: &Entry) -> String {
        let names: Vec<_> = self.entries.iter().map(|one| self.unique_name(one)).collect();
        if names.is_empty() {
            return "it has no inputs or outputs".to_owned();
        }
        if names.len() <= NAMED_MAX {
            return format!("it has {}", list(names));
        }
        let like = match wanted {
            Entry::Named(name) => alike(name, names.iter().map(String::as_str)),
            Entry::Object { .. } => Vec::new(),
        };
        if like.is_empty() {
            format!("it has {} …, {} in all", list(&names[..NAMED_MAX]), names.len())
        } else {
            format!("it has {} entries, such as {}", names.len(), list(like))
        }
    }

    /// The shortest name that means this entry alone; where none does, its object.
    fn unique_name(&self, entry: &KnownEntry) -> String {
        let is_unique = |name: &dyn Fn(&KnownEntry) -> String| {
            let own = name(entry);
            self.entries.iter().filter(|other| name(other) == own).count() == 1
        };
        if !entry.name.is_empty() && is_unique(&|one| one.name.clone()) {
            entry.name.clone()
        } else if !entry.name.is_empty() && is_unique(&KnownEntry::full_name) {
            entry.full_name()
        } else {
            let (index, subindex) = entry.object;
            format!("{index:#06x}:{subindex}")
        }
    }
}

impl KnownEntry {
    fn full_name(&self) -> String {
        match self.pdo.as_str() {
            "" => self.name.clone(),
            pdo => format!("{pdo}.{}", self.name),
        }
    }
}

fn kind_of_file(kind: NumberKind) -> Kind {
    match kind {
        NumberKind::Bool => Kind::Bool,
        NumberKind::Unsigned => Kind::Unsigned,
        NumberKind::Signed => Kind::Signed,
        NumberKind::Float => Kind::Float,
    }
}

/// Parts of an ESI file that are not done, with the mode of synchronisation that is taken.
fn remarks(device: &quietcore_esi::Device, mode: Option<&OperationMode>) -> Vec<String> {
    let name = &device.type_name;
    let mut remarks = Vec::new();
    let mut remark = |text: String| remarks.push(text);
    if device.is_modular {
        remark(format!(
            "a `{name}` takes modules in slots, whose inputs and outputs are not known: only those \
             of the device itself are"
        ));
    }
    if device.has_virtual_pdos {
        remark(format!(
            "a `{name}` has virtual PDOs; whether it exchanges them is seen as the sizes are \
             compared on the wire"
        ));
    }
    let Some(mode) = mode else { return remarks };
    let of_mode = format!("the mode `{}` of a `{name}`", mode.name);
    let default = device.operation_modes.first().filter(|default| *default != mode);
    if let Some(default) = default {
        remark(format!("{of_mode} is taken, and not `{}`, which wants SYNC1", default.name));
    }
    if mode.has_sync1() {
        remark(format!("{of_mode} wants SYNC1, which is not made: SYNC0 alone is"));
    }
    if mode.has_sync0() && mode.has_own_times {
        remark(format!("{of_mode} gives SYNC0 a time of its own; it has the fieldbus's cycle"));
    }
    if mode.has_own_pdos {
        remark(format!("{of_mode} has PDOs of its own; choose them as its `pdos`"));
    }
    remarks
}

/// The objects to write in PRE-OP: the early commands of the ESI file, the PDO assignment by which
/// the entries were looked up, and the other commands. One that assigns PDOs would assign others.
fn start_up(device: &quietcore_esi::Device, data: &ProcessData) -> Vec<StartUp> {
    let commands = |is_early: bool| {
        let is_ours = move |it: &&InitCommand| {
            let assigns = (0x1c10..=0x1c2f).contains(&it.index);
            it.is_early == is_early && !(device.assigns_pdos && assigns)
        };
        device.init_commands.iter().filter(is_ours).map(|it| StartUp {
            object: Object { index: it.index, subindex: it.subindex, complete: it.complete },
            data: it.data.clone(),
        })
    };
    let assignments = data.assignments.iter().filter(|_| device.assigns_pdos);
    commands(true).chain(assignments.flat_map(assign)).chain(commands(false)).collect()
}

/// The writes that assign PDOs. The list is emptied first, since it can't be changed while it is in
/// force (ETG.1000.6).
fn assign(assignment: &Assignment) -> Vec<StartUp> {
    let write = |subindex: u8, data: Vec<u8>| StartUp {
        object: Object { index: assignment.object, subindex, complete: false },
        data,
    };
    let pdos = assignment.pdos.iter().zip(1..=u8::MAX);
    let count = assignment.pdos.len() as u8;
    let mut writes = vec![write(0, vec![0])];
    writes.extend(pdos.map(|(pdo, subindex)| write(subindex, pdo.to_le_bytes().to_vec())));
    writes.push(write(0, vec![count]));
    writes
}
