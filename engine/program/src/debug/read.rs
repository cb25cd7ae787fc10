//! One pass over the entries of the debug information.

use std::collections::HashMap;

use gimli::{AttributeValue, DwTag, EndianSlice, LittleEndian};
use object::{Object as _, ObjectSection as _};

use crate::debug::{DebugInfo, EntryOffset, RawFunction, RawKind, RawMember, RawType, RawVariable};

/// Most entries that are read; large models have some 100 000.
const ENTRIES_MAX: usize = 8_000_000;

/// Longest name that is kept, in bytes; C compilers promise 63 characters.
const NAME_BYTES_MAX: usize = 256;

type Slice<'a> = EndianSlice<'a, LittleEndian>;
type Entry<'a> = gimli::DebuggingInformationEntry<Slice<'a>>;

/// Debug information that can't be read.
#[derive(Debug, thiserror::Error)]
pub(crate) enum DebugError {
    #[error("the debug information is damaged")]
    Damaged(#[from] gimli::Error),
    #[error("the debug information has more than {ENTRIES_MAX} entries")]
    TooLarge,
}

/// The sections of a module's debug information.
pub(crate) fn sections<'d>(file: &object::File<'d>) -> gimli::Dwarf<Slice<'d>> {
    let load = |id: gimli::SectionId| -> Result<Slice<'d>, std::convert::Infallible> {
        // Sections are written uncompressed, as the builder asks for; others are as good as
        // missing.
        let data = file.section_by_name(id.name()).and_then(|section| section.data().ok());
        Ok(EndianSlice::new(data.unwrap_or_default(), LittleEndian))
    };
    match gimli::Dwarf::load(load) {
        Ok(dwarf) => dwarf,
        Err(never) => match never {},
    }
}

/// Reads everything that the debug information of a linked file says.
pub(crate) fn read(file: &object::File<'_>) -> Result<DebugInfo, DebugError> {
    let dwarf = sections(file);
    let mut reader = Reader::default();
    let mut headers = dwarf.units();
    while let Some(header) = headers.next()? {
        let unit = dwarf.unit(header)?;
        reader.unit(&dwarf, &unit)?;
    }
    Ok(reader.finish())
}

/// An entry of a variable or function that others refer to for its name and type.
#[derive(Debug, Default, Clone)]
struct Named {
    name: String,
    linkage: String,
    target: Option<EntryOffset>,
    external: bool,
}

#[derive(Debug, Default)]
struct Reader {
    info: DebugInfo,
    entries: usize,
    declared: HashMap<EntryOffset, Named>,
    /// Variables whose name or type stands at another entry.
    borrowed: Vec<(usize, EntryOffset)>,
}

/// The entries around the present one.
#[derive(Debug)]
struct EnclosingEntry {
    depth: isize,
    tag: DwTag,
    offset: EntryOffset,
    /// Position in the list of functions, where it is one.
    function: Option<usize>,
    /// The classes and namespaces that C++ writes before the names in it; empty without any.
    scope: String,
}

/// One entry with all that is needed to read its attributes.
struct Context<'a, 'd> {
    dwarf: &'a gimli::Dwarf<Slice<'d>>,
    unit: &'a gimli::Unit<Slice<'d>>,
    entry: &'a Entry<'d>,
}

impl Reader {
    fn unit<'d>(
        &mut self,
        dwarf: &gimli::Dwarf<Slice<'d>>,
        unit: &gimli::Unit<Slice<'d>>,
    ) -> Result<(), DebugError> {
        let name = unit.name.map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let name = name.trim_start_matches("./").to_owned();
        let mut around: Vec<EnclosingEntry> = Vec::new();
        let mut is_cpp = false;
        let mut cursor = unit.entries();
        while let Some(entry) = cursor.next_dfs()? {
            self.entries += 1;
            if self.entries > ENTRIES_MAX {
                return Err(DebugError::TooLarge);
            }
            while around.last().is_some_and(|outer| outer.depth >= entry.depth()) {
                around.pop();
            }
            let context = Context { dwarf, unit, entry };
            is_cpp |= around.is_empty() && context.is_cpp();
            let function = self.entry(&context, &name, &around);
            if entry.has_children() {
                let (depth, tag) = (entry.depth(), entry.tag());
                let scope = if is_cpp { context.scope(&around) } else { String::new() };
                around.push(EnclosingEntry {
                    depth,
                    tag,
                    offset: context.offset(),
                    function,
                    scope,
                });
            }
        }
        Ok(())
    }

    /// Takes one entry; the answer is its position in the list of functions, where it is one.
    fn entry(
        &mut self,
        context: &Context<'_, '_>,
        unit: &str,
        around: &[EnclosingEntry],
    ) -> Option<usize> {
        match context.entry.tag() {
            gimli::DW_TAG_variable => self.variable(context, unit, around),
            gimli::DW_TAG_subprogram => return self.function(context),
            gimli::DW_TAG_formal_parameter => {
                let target = context.reference(gimli::DW_AT_type)?;
                let function = self.info.functions.get_mut(around.last()?.function?)?;
                if context.flag(gimli::DW_AT_artificial) {
                    function.object = Some(target);
                    return None;
                }
                function.parameters.push((context.name(), target));
            }
            // A class that another one begins with has no name: its members are the other's, too.
            gimli::DW_TAG_member | gimli::DW_TAG_inheritance => self.member(context, around),
            gimli::DW_TAG_enumerator => {
                let value = context.signed(gimli::DW_AT_const_value)?;
                let outer = self.info.types.get_mut(&around.last()?.offset)?;
                if let RawKind::Enumeration(values) = &mut outer.kind {
                    values.push((context.name(), value));
                }
            }
            gimli::DW_TAG_subrange_type => {
                let length = match context.unsigned(gimli::DW_AT_count) {
                    Some(count) => count,
                    None => context.upper_bound().map_or(0, |bound| bound.saturating_add(1)),
                };
                let outer = self.info.types.get_mut(&around.last()?.offset)?;
                if let RawKind::Array(lengths) = &mut outer.kind {
                    lengths.push(length);
                }
            }
            tag => {
                if let Some(kind) = type_kind(tag, context) {
                    let raw = RawType {
                        kind,
                        name: context.name(),
                        scope: around.last().map(|outer| outer.scope.clone()).unwrap_or_default(),
                        bytes: context.unsigned(gimli::DW_AT_byte_size),
                        target: context.reference(gimli::DW_AT_type),
                        reference: matches!(
                            tag,
                            gimli::DW_TAG_reference_type | gimli::DW_TAG_rvalue_reference_type
                        ),
                    };
                    self.info.types.insert(context.offset(), raw);
                }
            }
        }
        None
    }

    fn member(&mut self, context: &Context<'_, '_>, around: &[EnclosingEntry]) {
        let Some(target) = context.reference(gimli::DW_AT_type) else {
            return;
        };
        // What the compiler adds to a class, such as the address of its virtual functions.
        if context.flag(gimli::DW_AT_artificial) {
            return;
        }
        let Some(outer) = around.last().and_then(|outer| self.info.types.get_mut(&outer.offset))
        else {
            return;
        };
        let RawKind::Structure { members: Some(members), .. } = &mut outer.kind else {
            return;
        };
        let width = context.unsigned(gimli::DW_AT_bit_size);
        let first = context.unsigned(gimli::DW_AT_data_bit_offset);
        members.push(RawMember {
            name: context.name(),
            target,
            offset: context.unsigned(gimli::DW_AT_data_member_location).unwrap_or(0),
            bits: width.map(|width| (first.unwrap_or(0), width)),
        });
    }

    fn variable(&mut self, context: &Context<'_, '_>, unit: &str, around: &[EnclosingEntry]) {
        let named = context.named();
        let Some(address) = context.static_address() else {
            self.declared.insert(context.offset(), named);
            return;
        };
        let function = around
            .iter()
            .rev()
            .find(|outer| outer.tag == gimli::DW_TAG_subprogram)
            .map(|outer| outer.function.map_or_else(String::new, |at| self.function_name(at)));
        let origin = context.origin();
        if let Some(origin) = origin {
            self.borrowed.push((self.info.variables.len(), origin));
        }
        self.info.variables.push(RawVariable {
            name: named.name,
            function,
            unit: unit.to_owned(),
            external: named.external,
            // Entries of offset 0 are headers and never types: it stands for "not known".
            target: named.target.unwrap_or(0),
            address,
        });
    }

    fn function(&mut self, context: &Context<'_, '_>) -> Option<usize> {
        let mut named = context.named();
        if let Some(origin) = context.origin().and_then(|origin| self.declared.get(&origin)) {
            named.name.clone_from(&origin.name);
            if named.linkage.is_empty() {
                named.linkage.clone_from(&origin.linkage);
            }
            named.external |= origin.external;
            named.target = named.target.or(origin.target);
        }
        self.declared.insert(context.offset(), named.clone());
        if context.flag(gimli::DW_AT_declaration) {
            return None;
        }
        self.info.functions.push(RawFunction {
            name: named.name,
            linkage: named.linkage,
            object: None,
            external: named.external,
            returns: named.target,
            parameters: Vec::new(),
        });
        Some(self.info.functions.len() - 1)
    }

    fn function_name(&self, at: usize) -> String {
        self.info.functions.get(at).map(|function| function.name.clone()).unwrap_or_default()
    }

    /// Fills in names and types that stand at other entries.
    fn finish(mut self) -> DebugInfo {
        for (at, origin) in self.borrowed {
            let variable = &mut self.info.variables[at];
            if let Some(origin) = self.declared.get(&origin) {
                if variable.name.is_empty() {
                    variable.name.clone_from(&origin.name);
                }
                if variable.target == 0 {
                    variable.target = origin.target.unwrap_or(0);
                }
                variable.external |= origin.external;
            }
        }
        self.info.variables.retain(|variable| !variable.name.is_empty() && variable.target != 0);
        self.info.functions.retain(|function| !function.name.is_empty());
        self.info
    }
}

/// Returns the kind of type that an entry describes; `None` when it describes none.
fn type_kind(tag: DwTag, context: &Context<'_, '_>) -> Option<RawKind> {
    Some(match tag {
        gimli::DW_TAG_base_type => match context.attribute(gimli::DW_AT_encoding) {
            Some(AttributeValue::Encoding(encoding)) => RawKind::Base(encoding),
            _ => RawKind::Other,
        },
        gimli::DW_TAG_typedef => RawKind::Typedef,
        gimli::DW_TAG_const_type => RawKind::Constant,
        gimli::DW_TAG_volatile_type | gimli::DW_TAG_restrict_type | gimli::DW_TAG_atomic_type => {
            RawKind::Qualifier
        }
        gimli::DW_TAG_pointer_type
        | gimli::DW_TAG_reference_type
        | gimli::DW_TAG_rvalue_reference_type => RawKind::Pointer,
        gimli::DW_TAG_structure_type | gimli::DW_TAG_class_type | gimli::DW_TAG_union_type => {
            RawKind::Structure {
                union: tag == gimli::DW_TAG_union_type,
                members: (!context.flag(gimli::DW_AT_declaration)).then(Vec::new),
            }
        }
        gimli::DW_TAG_enumeration_type => RawKind::Enumeration(Vec::new()),
        gimli::DW_TAG_array_type => RawKind::Array(Vec::new()),
        gimli::DW_TAG_subroutine_type | gimli::DW_TAG_unspecified_type => RawKind::Other,
        _ => return None,
    })
}

impl Context<'_, '_> {
    fn attribute(&self, name: gimli::DwAt) -> Option<AttributeValue<Slice<'_>>> {
        self.entry.attr_value(name)
    }

    /// Offset of the entry in the whole section, the way references across units count.
    fn offset(&self) -> EntryOffset {
        self.unit.header.debug_info_offset().map_or(0, |unit| unit.0) + self.entry.offset().0
    }

    fn name(&self) -> String {
        self.text(gimli::DW_AT_name)
    }

    fn text(&self, name: gimli::DwAt) -> String {
        let value = self.entry.attr_value(name);
        let text = value.and_then(|value| self.dwarf.attr_string(self.unit, value).ok());
        let text = text.map(|text| text.to_string_lossy().into_owned()).unwrap_or_default();
        if text.len() > NAME_BYTES_MAX { String::new() } else { text }
    }

    /// Returns whether the entry is that of a source file in C++.
    fn is_cpp(&self) -> bool {
        let language = self.attribute(gimli::DW_AT_language);
        let Some(AttributeValue::Language(language)) = language else { return false };
        [
            gimli::DW_LANG_C_plus_plus,
            gimli::DW_LANG_C_plus_plus_03,
            gimli::DW_LANG_C_plus_plus_11,
            gimli::DW_LANG_C_plus_plus_14,
            gimli::DW_LANG_C_plus_plus_17,
            gimli::DW_LANG_C_plus_plus_20,
        ]
        .contains(&language)
    }

    /// Returns what C++ writes before the names inside of this entry.
    fn scope(&self, around: &[EnclosingEntry]) -> String {
        let is_named = matches!(
            self.entry.tag(),
            gimli::DW_TAG_namespace
                | gimli::DW_TAG_class_type
                | gimli::DW_TAG_structure_type
                | gimli::DW_TAG_union_type
        );
        let name = self.name();
        if !is_named || name.is_empty() {
            return String::new();
        }
        let outer = around.last().map(|outer| outer.scope.as_str()).unwrap_or_default();
        format!("{outer}{name}::")
    }

    fn named(&self) -> Named {
        Named {
            name: self.name(),
            linkage: self.text(gimli::DW_AT_linkage_name),
            target: self.reference(gimli::DW_AT_type),
            external: self.flag(gimli::DW_AT_external),
        }
    }

    fn reference(&self, name: gimli::DwAt) -> Option<EntryOffset> {
        match self.attribute(name)? {
            AttributeValue::UnitRef(offset) => {
                self.unit.header.debug_info_offset()?.0.checked_add(offset.0)
            }
            AttributeValue::DebugInfoRef(offset) => Some(offset.0),
            _ => None,
        }
    }

    /// The entry that this one completes.
    fn origin(&self) -> Option<EntryOffset> {
        self.reference(gimli::DW_AT_specification)
            .or_else(|| self.reference(gimli::DW_AT_abstract_origin))
    }

    fn unsigned(&self, name: gimli::DwAt) -> Option<u64> {
        self.attribute(name)?.udata_value()
    }

    /// The last index of a dimension. The bound of an empty one is -1: its length is 0.
    fn upper_bound(&self) -> Option<u64> {
        let value = self.attribute(gimli::DW_AT_upper_bound)?;
        if value.sdata_value() == Some(-1) { None } else { value.udata_value() }
    }

    fn signed(&self, name: gimli::DwAt) -> Option<i64> {
        let value = self.attribute(name)?;
        match value {
            AttributeValue::Udata(value) => Some(value.cast_signed()),
            _ => value.sdata_value().or_else(|| value.udata_value().map(u64::cast_signed)),
        }
    }

    fn flag(&self, name: gimli::DwAt) -> bool {
        matches!(self.attribute(name), Some(AttributeValue::Flag(true)))
    }

    /// The address of a variable that has one all the time.
    fn static_address(&self) -> Option<u64> {
        let AttributeValue::Exprloc(expression) = self.attribute(gimli::DW_AT_location)? else {
            return None;
        };
        let mut operations = expression.operations(self.unit.encoding());
        let address = match operations.next().ok()?? {
            gimli::Operation::Address { address } => address,
            gimli::Operation::AddressIndex { index } => {
                self.dwarf.address(self.unit, index).ok()?
            }
            _ => return None,
        };
        // Anything after the address would make it a value and not a place.
        operations.next().ok()?.is_none().then_some(address)
    }
}
