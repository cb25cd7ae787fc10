//! The ESI files that a site file names, and the devices of the fieldbus in them.

mod catalogue;
pub mod simulated;

use std::collections::BTreeSet;
use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use quietcore_esi::{Device, FILE_BYTES_MAX, InitCommand, LeftOut, ProcessData};
use quietcore_maindevice::SDO_BYTES_MAX;
use quietcore_segment::Blueprint;
use quietcore_site::{DeviceIdentity, Fieldbus, Interface, Site, SubDevice};
use quietcore_units::Causes;
use quietcore_wording::plural;

use crate::names::NameProblem;

pub use catalogue::{Catalogue, NotMeant};

/// Most ESI files of one fieldbus.
const FILES_MAX: usize = 2_000;
/// Most bytes of all of them: 1 GiB.
const BYTES_MAX: usize = 1 << 30;
/// Most files or devices that a message names.
const NAMED_MAX: usize = 4;
/// The objects that say which entries are exchanged: mappings of PDOs, and their assignment.
const PDO_OBJECTS: [std::ops::RangeInclusive<u16>; 3] =
    [0x1600..=0x17ff, 0x1a00..=0x1bff, 0x1c10..=0x1c2f];

/// A device of an ESI file with the PDOs that the site file chose.
#[derive(Clone, Debug)]
pub(crate) struct Described {
    pub(crate) device: Device,
    pub(crate) data: ProcessData,
    /// The making of its simulation; only on a simulated segment.
    pub(crate) simulated: Option<Blueprint>,
}

/// Finds the SubDevices of a fieldbus that are not built in, by position, in its ESI files.
/// Nothing is read where nothing is to be found.
pub(crate) fn described(
    site: &Site,
    fieldbus: &Fieldbus,
    site_folder: &Path,
) -> Result<Vec<Option<Described>>, Vec<NameProblem>> {
    let identity = |one: &SubDevice| one.identity.filter(|_| one.device.is_none());
    let identities = fieldbus.subdevices.iter().filter_map(identity);
    let products: BTreeSet<_> = identities.map(|one| (one.vendor, one.product)).collect();
    if fieldbus.esi.is_empty() || products.is_empty() {
        return Ok(Vec::new());
    }
    let problem = |key: String, problem: String| NameProblem {
        place: site.place(&format!("fieldbus.{}.{key}", fieldbus.name)),
        problem,
    };
    let is_wanted = |vendor, product: Option<u32>, _: &str| {
        product.is_some_and(|product| products.contains(&(vendor, product)))
    };
    let library = Library::read(&fieldbus.esi, site_folder, &is_wanted);
    let library = library.map_err(|(index, why)| vec![problem(format!("esi[{index}]"), why)])?;
    let is_simulated = fieldbus.interface == Interface::Simulated;
    let mut problems = Vec::new();
    let mut found = Vec::new();
    for (position, subdevice) in fieldbus.subdevices.iter().enumerate() {
        // A coupler need not be described where it is there: nothing of it is used.
        let is_used = is_simulated
            || subdevice.pdos.is_some()
            || fieldbus.map.iter().any(|mapping| mapping.subdevice == position);
        let identity = identity(subdevice).filter(|one| is_used || library.knows(*one));
        let described = identity.map(|identity| {
            let mut described = library.describe(subdevice, identity)?;
            if is_simulated {
                described.simulate(subdevice)?;
            }
            Ok::<_, (String, String)>(described)
        });
        found.push(described.transpose().unwrap_or_else(|(key, why)| {
            problems.push(problem(format!("subdevice.{}.{key}", subdevice.name), why));
            None
        }));
    }
    if problems.is_empty() { Ok(found) } else { Err(problems) }
}

impl Described {
    /// Adds the making of its simulation; the error has the key of the site file. It has the
    /// objects that the site file wants written. PDOs that are not exchanged are left out where
    /// nothing can choose them later: a terminal of many formats has thousands of entries.
    fn simulate(&mut self, subdevice: &SubDevice) -> Result<(), (String, String)> {
        let mut device = self.device.clone();
        if !device.init_commands.iter().any(|command| is_of_pdos(command.index)) {
            let assigned = self.data.assignments.iter().flat_map(|it| &it.pdos);
            let assigned: BTreeSet<_> = assigned.collect();
            device.pdos.retain(|pdo| assigned.contains(&pdo.index));
        }
        device.init_commands.extend(subdevice.startup.iter().map(|startup| InitCommand {
            is_early: false,
            index: startup.index,
            subindex: startup.sub,
            complete: false,
            data: vec![0; startup.value_type.bytes()],
        }));
        let blueprint = simulated::blueprint(&device, &self.data).map_err(|error| {
            let key = if subdevice.pdos.is_some() { "pdos" } else { "identity" };
            (key.to_owned(), format!("`{}` can't be simulated: {error}", device.type_name))
        });
        self.simulated = Some(blueprint?);
        Ok(())
    }
}

/// Returns `true` if an object says which entries are exchanged.
fn is_of_pdos(index: u16) -> bool {
    PDO_OBJECTS.iter().any(|objects| objects.contains(&index))
}

/// Says if a device of this vendor, product code and type is wanted.
type IsWanted<'a> = &'a dyn Fn(u32, Option<u32>, &str) -> bool;

/// The wanted devices of ESI files.
#[derive(Debug, Default)]
pub(crate) struct Library {
    pub(crate) devices: Vec<(PathBuf, Device)>,
    /// Devices of them that can't be used.
    pub(crate) left_out: Vec<(PathBuf, LeftOut)>,
    /// The types of all devices of the files.
    pub(crate) types: BTreeSet<String>,
    /// Files of folders that are no ESI files that can be read, with the reason.
    pub(crate) unreadable: Vec<String>,
    /// Files that were read, and devices in them.
    counts: (usize, usize),
    bytes: usize,
}

impl Library {
    /// Reads the wanted devices of files. A file that is named must be an ESI file; a folder may
    /// hold others. The error has the position of the path.
    pub(crate) fn read(
        paths: &[String],
        folder: &Path,
        is_wanted: IsWanted<'_>,
    ) -> Result<Self, (usize, String)> {
        let mut library = Self::default();
        for (index, written) in paths.iter().enumerate() {
            let path = folder.join(written);
            let fail = |problem: String| (index, problem);
            let is_folder = path.is_dir();
            let files = if is_folder { xml_files(&path) } else { Ok(vec![path]) };
            let files = files.map_err(|why| fail(format!("`{written}`: {why}")))?;
            if files.is_empty() {
                return Err(fail(format!("the folder `{written}` has no `.xml` file")));
            }
            if library.counts.0 + library.unreadable.len() + files.len() > FILES_MAX {
                return Err(fail(format!("these are more than {FILES_MAX} files")));
            }
            for file in files {
                match library.add(&file, is_wanted) {
                    Err(why) if is_folder => {
                        library.unreadable.push(format!("`{}`: {why}", file.display()));
                    }
                    read => read.map_err(|why| fail(format!("`{written}`: {why}")))?,
                }
                if library.bytes > BYTES_MAX {
                    return Err(fail(format!("these are more than {} MiB", BYTES_MAX >> 20)));
                }
            }
        }
        Ok(library)
    }

    /// Adds the wanted devices of a file.
    fn add(&mut self, file: &Path, is_wanted: IsWanted<'_>) -> Result<(), String> {
        let bytes = read(file)?;
        self.bytes += bytes.len();
        let esi = quietcore_esi::read(&bytes).map_err(|error| Causes(&error).to_string())?;
        self.counts.0 += 1;
        self.counts.1 += esi.devices.len();
        for device in esi.devices {
            self.types.insert(device.type_name.clone());
            if is_wanted(device.identity.vendor, Some(device.identity.product), &device.type_name) {
                self.devices.push((file.to_owned(), device));
            }
        }
        let left_out = esi.left_out.into_iter().filter(|it| {
            let (vendor, product) = it.product;
            is_wanted(vendor, product, &it.type_name)
        });
        self.left_out.extend(left_out.map(|it| (file.to_owned(), it)));
        Ok(())
    }

    fn knows(&self, identity: DeviceIdentity) -> bool {
        let product = (identity.vendor, identity.product);
        self.devices.iter().any(|(_, one)| (one.identity.vendor, one.identity.product) == product)
    }

    /// The device of a SubDevice with its choice of PDOs; the error has the key of the site file.
    fn describe(
        &self,
        subdevice: &SubDevice,
        identity: DeviceIdentity,
    ) -> Result<Described, (String, String)> {
        let device = self.find(identity).map_err(|why| ("identity".to_owned(), why))?;
        let name = &device.type_name;
        let data = device.process_data(subdevice.pdos.as_deref());
        let data = data.map_err(|error| ("pdos".to_owned(), format!("`{name}`: {error}")))?;
        let long = device.init_commands.iter().find(|it| it.data.len() > SDO_BYTES_MAX);
        if let Some(long) = long {
            let (index, bytes) = (long.index, long.data.len());
            let why = format!(
                "`{name}`: its ESI file wants {bytes} bytes written to {index:#06x}; at most \
                 {SDO_BYTES_MAX} are"
            );
            return Err(("identity".to_owned(), why));
        }
        if let Some(at) = subdevice.startup.iter().position(|it| is_of_pdos(it.index)) {
            let why = format!(
                "{:#06x} says which entries are exchanged, and names would be looked up in others; \
                 choose `pdos`",
                subdevice.startup[at].index
            );
            return Err((format!("startup[{at}].index"), why));
        }
        Ok(Described { device: device.clone(), data, simulated: None })
    }

    /// The device of this identity. Several descriptions must agree in all that is used of them:
    /// those of several files, and without a revision those of all revisions.
    fn find(&self, wanted: DeviceIdentity) -> Result<&Device, String> {
        let DeviceIdentity { vendor, product, revision, .. } = wanted;
        let left_out = self.left_out.iter().filter(|(_, it)| it.product == (vendor, Some(product)));
        let left_out: Vec<_> = left_out.map(told).collect();
        let of_product = self
            .devices
            .iter()
            .filter(|(_, one)| (one.identity.vendor, one.identity.product) == (vendor, product));
        let of_product: Vec<_> = of_product.collect();
        if of_product.is_empty() {
            let (files, devices) = self.counts;
            return Err(format!(
                "no ESI file has product {product:#010x} of vendor {vendor:#010x} that can be \
                 used; read {files} file{} with {devices} device{}{}",
                plural(files as u64),
                plural(devices as u64),
                unusable(&[left_out, self.unreadable.clone()].concat())
            ));
        }
        let is_meant =
            |it: &&&(PathBuf, Device)| revision.is_none_or(|one| one == it.1.identity.revision);
        let meant: Vec<_> = of_product.iter().filter(is_meant).collect();
        let Some((first, others)) = meant.split_first() else {
            return Err(format!(
                "the ESI files have the device, and not its revision {:#010x}; they have {}{}",
                revision.unwrap_or_default(),
                revisions(of_product.iter().map(|it| &it.1)),
                unusable(&left_out)
            ));
        };
        let Some((other, device)) =
            others.iter().find(|it| !it.1.is_used_as(&first.1)).map(|it| (&it.0, &it.1))
        else {
            return Ok(&first.1);
        };
        Err(if device.identity.revision != first.1.identity.revision {
            format!(
                "the revisions of the device differ; add the `revision` that it has: {}",
                revisions(meant.iter().map(|it| &it.1))
            )
        } else if *other == first.0 {
            format!(
                "`{}` describes the device as `{}` and as `{}`, which differ",
                other.display(),
                first.1.type_name,
                device.type_name
            )
        } else {
            format!(
                "`{}` and `{}` describe the device differently; name in `esi` the one that is \
                 right",
                first.0.display(),
                other.display()
            )
        })
    }
}

/// A device that can't be used, with its place and the problem.
pub(crate) fn told((file, left_out): &(PathBuf, LeftOut)) -> String {
    let LeftOut { type_name, line, problem, .. } = left_out;
    format!("`{}`, line {line}: `{type_name}`: {problem}", file.display())
}

/// Revisions with the types that they belong to.
fn revisions<'d>(devices: impl Iterator<Item = &'d Device>) -> String {
    let all: BTreeSet<_> =
        devices.map(|it| (it.identity.revision, it.type_name.as_str())).collect();
    let named = all.iter().take(NAMED_MAX * NAMED_MAX);
    let named: Vec<_> = named.map(|(one, name)| format!("{one:#010x} (`{name}`)")).collect();
    let more = if all.len() > named.len() { " …" } else { "" };
    format!("{}{more}", named.join(", "))
}

/// The part of a message about what can't be used; empty where that is nothing.
pub(crate) fn unusable(all: &[String]) -> String {
    if all.is_empty() {
        return String::new();
    }
    let shown = &all[..all.len().min(NAMED_MAX)];
    let more = match all.len() - shown.len() {
        0 => String::new(),
        more => format!("; and {more} more"),
    };
    format!("; not usable: {}{more}", shown.join("; "))
}

/// The `.xml` files of a folder, by name.
fn xml_files(folder: &Path) -> Result<Vec<PathBuf>, String> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).map_err(|error| error.to_string())? {
        let path = entry.map_err(|error| error.to_string())?.path();
        let is_xml = path.extension().is_some_and(|it| it.eq_ignore_ascii_case("xml"));
        if is_xml && path.is_file() {
            files.push(path);
        }
    }
    files.sort_unstable();
    Ok(files)
}

/// The bytes of a file; one more than an ESI file may have, where it is longer.
fn read(file: &Path) -> Result<Vec<u8>, String> {
    // A pipe or a device would be waited for, or never end.
    let metadata = fs::metadata(file).map_err(|error| error.to_string())?;
    if !metadata.is_file() {
        return Err("it is no file".to_owned());
    }
    let open = fs::File::open(file).map_err(|error| error.to_string())?;
    let mut bytes = Vec::new();
    let read = open.take(FILE_BYTES_MAX as u64 + 1).read_to_end(&mut bytes);
    read.map_err(|error| error.to_string())?;
    Ok(bytes)
}
