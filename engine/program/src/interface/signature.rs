//! The parameters of the entry points, from the debug information: which of them the glue has to
//! make.

use crate::build::lexing;
use crate::debug::{DebugInfo, EntryOffset, RawFunction, RawKind, RawMember, Stripped};
use crate::interface::InterfaceError;
use crate::place::Access;

/// Marks at the head of the files of generators.
const MARKS: [&str; 2] = ["Code generated for Simulink model", "Code generation for model"];

/// Remedy for a number that somebody's own function takes.
const UNGIVEN: &str = "a number that nothing gives it in each cycle; make it a global variable, \
                       which the site file can map and everybody can set, or a constant";

/// The argument that is passed for one parameter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Argument {
    /// The number of the rate.
    RateNumber,
    /// 1: "this is the first time".
    One,
    /// A variable that the glue makes.
    Instance { instance: Instance, passing: Passing },
}

/// The way in which a variable is passed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Passing {
    /// By its value; an array, which C passes by its address, too.
    Value,
    /// As a pointer to it.
    Address,
    /// By reference, as C++ does.
    Reference,
}

/// A variable that the glue makes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Instance {
    /// The name by which it is known: that of the parameter.
    pub(crate) name: String,
    /// Its type as C writes it.
    pub(crate) spelled: String,
    /// Number of elements, where it is an array.
    pub(crate) length: Option<u64>,
    /// The use of the variable in the model, if its type does not tell.
    pub(crate) access: Option<Access>,
    /// Entry of its type in the debug information.
    pub(crate) target: EntryOffset,
}

/// Which function the parameter belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    Initialize,
    Step,
    Terminate,
}

/// Reads the parameters of a function.
pub(super) fn arguments(
    info: &DebugInfo,
    headers: &[String],
    function: &RawFunction,
    role: Role,
) -> Result<Vec<Argument>, InterfaceError> {
    let parameters = function.parameters.iter();
    parameters
        .map(|(name, target)| {
            argument(info, headers, function, role, name, *target).map_err(|problem| {
                InterfaceError::Parameter {
                    function: function.name.clone(),
                    parameter: name.clone(),
                    problem,
                }
            })
        })
        .collect()
}

fn argument(
    info: &DebugInfo,
    headers: &[String],
    function: &RawFunction,
    role: Role,
    name: &str,
    target: EntryOffset,
) -> Result<Argument, String> {
    let passed = info.strip(target).ok_or("whose type is not described")?;
    let is_number = matches!(passed.raw.kind, RawKind::Base(_) | RawKind::Enumeration(_));
    match role {
        Role::Step if is_number && name.eq_ignore_ascii_case("tid") => {
            return Ok(Argument::RateNumber);
        }
        Role::Initialize if is_number && name == "firstTime" => return Ok(Argument::One),
        _ => {}
    }
    if name.is_empty() {
        return Err("a parameter without a name".to_owned());
    }
    let instance = |of: Stripped<'_>, length, access| -> Result<Instance, String> {
        let spelled = of.spelled().ok_or("whose type has no name")?;
        let name = name.to_owned();
        Ok(Instance { name, spelled, length, access, target: of.offset })
    };
    match &passed.raw.kind {
        RawKind::Base(_) | RawKind::Enumeration(_) => {
            if !is_generated(headers, passed.alias) {
                return Err(UNGIVEN.to_owned());
            }
            let instance = instance(passed, None, Some(Access::Input))?;
            Ok(Argument::Instance { instance, passing: Passing::Value })
        }
        RawKind::Structure { .. } => {
            let instance = instance(passed, None, None)?;
            Ok(Argument::Instance { instance, passing: Passing::Value })
        }
        RawKind::Pointer => {
            let pointee = passed.raw.target.and_then(|target| info.strip(target));
            let pointee = pointee.ok_or("an address of something that is not described")?;
            let by = if passed.raw.reference { Passing::Reference } else { Passing::Address };
            match &pointee.raw.kind {
                RawKind::Structure { members: Some(_), .. } => {
                    let instance = instance(pointee, None, None)?;
                    Ok(Argument::Instance { instance, passing: by })
                }
                RawKind::Base(_) | RawKind::Enumeration(_) => {
                    // The debug information knows an array as an address only; without its length
                    // the program would write beyond it.
                    let length = headers
                        .iter()
                        .find_map(|header| lexing::parameter_length(header, &function.name, name));
                    let access = if pointee.constant { Access::Input } else { Access::Output };
                    let instance = instance(pointee, length, Some(access))?;
                    let passing = if length.is_none() { by } else { Passing::Value };
                    Ok(Argument::Instance { instance, passing })
                }
                _ => Err("an address of something that cannot be made".to_owned()),
            }
        }
        _ => Err("which cannot be made".to_owned()),
    }
}

/// Returns `true` if a generator wrote the function that takes a number of this type: then the
/// number is an input of the model, and known by its name. Anybody else's may mean anything, such
/// as the time since the last step, and would be 0 for ever.
fn is_generated(headers: &[String], alias: &str) -> bool {
    let says_so = |text: &String| MARKS.iter().any(|mark| text.contains(mark));
    alias.ends_with("_T") || headers.iter().any(says_so)
}

/// The members of a structure, of what an address points to where it is one.
pub(super) fn members(info: &DebugInfo, target: EntryOffset) -> &[RawMember] {
    let Some(stripped) = info.strip(target) else {
        return &[];
    };
    match &stripped.raw.kind {
        RawKind::Structure { members: Some(members), .. } => members,
        RawKind::Pointer => {
            let pointee = stripped.raw.target.and_then(|target| info.strip(target));
            match pointee.map(|pointee| &pointee.raw.kind) {
                Some(RawKind::Structure { members: Some(members), .. }) => members,
                _ => &[],
            }
        }
        _ => &[],
    }
}

/// The type of a member, down a path of names.
pub(super) fn member_type(
    info: &DebugInfo,
    target: EntryOffset,
    path: &[&str],
) -> Option<EntryOffset> {
    path.iter().try_fold(target, |target, name| {
        let member = members(info, target).iter().find(|member| member.name == *name)?;
        Some(member.target)
    })
}
