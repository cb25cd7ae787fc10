//! The calls of the contract: the role that each needs, and whether it changes anything.
//!
//! The gate asks for the role, and the audit trail has each call that changes something. Tests
//! compare the table with the contract and make each call, so that none can be added without a
//! decision.

use quietcore_access::Role;

/// The effect of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// It changes nothing, and leaves no entry.
    Reads,
    /// It changes something: intention and outcome are in the audit trail.
    Changes,
}

/// The calls of `quietcore.v1` by service and name, each with the least role that may make it.
#[rustfmt::skip]
pub const CALLS: &[(&str, Role, Effect)] = &[
    ("AuditService/ListEntries",           Role::Viewer,   Effect::Reads),
    ("HostService/ExamineHost",            Role::Viewer,   Effect::Reads),
    ("HostService/GetHost",                Role::Viewer,   Effect::Reads),
    ("HostService/ListCpus",               Role::Viewer,   Effect::Reads),
    ("PageService/CreateLink",             Role::Viewer,   Effect::Changes),
    ("PartitionService/GetTiming",         Role::Viewer,   Effect::Reads),
    ("PartitionService/ListPartitions",    Role::Viewer,   Effect::Reads),
    ("PartitionService/PausePartition",    Role::Operator, Effect::Changes),
    ("PartitionService/RestartPartition",  Role::Operator, Effect::Changes),
    ("PartitionService/ResumePartition",   Role::Operator, Effect::Changes),
    ("ProgramService/BuildProgram",        Role::Engineer, Effect::Changes),
    ("ProgramService/DeleteVersion",       Role::Engineer, Effect::Changes),
    ("ProgramService/DeployProgram",       Role::Engineer, Effect::Changes),
    ("ProgramService/ListPrograms",        Role::Viewer,   Effect::Reads),
    ("ProgramService/ListVersions",        Role::Viewer,   Effect::Reads),
    ("ProgramService/RollBackProgram",     Role::Engineer, Effect::Changes),
    ("ProgramService/UploadProgram",       Role::Engineer, Effect::Changes),
    ("QualificationService/CancelRun",     Role::Engineer, Effect::Changes),
    ("QualificationService/FetchFile",     Role::Viewer,   Effect::Reads),
    ("QualificationService/GetRun",        Role::Viewer,   Effect::Reads),
    ("QualificationService/ListRuns",      Role::Viewer,   Effect::Reads),
    ("QualificationService/ListVerdicts",  Role::Viewer,   Effect::Reads),
    ("QualificationService/StartRun",      Role::Engineer, Effect::Changes),
    ("QualificationService/WatchRun",      Role::Viewer,   Effect::Reads),
    ("SiteService/ApplySite",              Role::Engineer, Effect::Changes),
    ("SiteService/GetSite",                Role::Viewer,   Effect::Reads),
    ("SiteService/ListSiteVersions",       Role::Viewer,   Effect::Reads),
    ("SiteService/ListSites",              Role::Viewer,   Effect::Reads),
    ("SiteService/PlanSite",               Role::Viewer,   Effect::Reads),
    ("SiteService/UndoSite",               Role::Engineer, Effect::Changes),
    ("SiteService/ValidateSite",           Role::Viewer,   Effect::Reads),
    ("SiteService/WatchEvents",            Role::Viewer,   Effect::Reads),
    ("TraceService/DeleteTrace",           Role::Operator, Effect::Changes),
    ("TraceService/FetchTrace",            Role::Viewer,   Effect::Reads),
    ("TraceService/GetTrace",              Role::Viewer,   Effect::Reads),
    ("TraceService/ListTraces",            Role::Viewer,   Effect::Reads),
    ("TraceService/StartTrace",            Role::Operator, Effect::Changes),
    ("TraceService/StopTrace",             Role::Operator, Effect::Changes),
    ("VariableService/ListChanges",        Role::Viewer,   Effect::Reads),
    ("VariableService/ListVariables",      Role::Viewer,   Effect::Reads),
    ("VariableService/ReadVariables",      Role::Viewer,   Effect::Reads),
    ("VariableService/SubscribeVariables", Role::Viewer,   Effect::Reads),
    ("VariableService/UnforceAll",         Role::Operator, Effect::Changes),
    ("VariableService/WriteVariables",     Role::Operator, Effect::Changes),
];

/// Services whose calls anybody at the local socket may make; over the network they need a viewer.
const ABOUT_THE_DAEMON: [&str; 2] = ["/grpc.health.v1.Health/", "/grpc.reflection."];
/// Path of our calls, up to the service.
const PACKAGE: &str = "/quietcore.v1.";

/// Returns `true` for calls about the daemon itself: its health, and the contract.
pub(crate) fn is_about_the_daemon(path: &str) -> bool {
    ABOUT_THE_DAEMON.iter().any(|service| path.starts_with(service))
}

/// Returns the role that a call needs, by its path; the highest one for a call that has no row.
pub(crate) fn role(path: &str) -> Role {
    if is_about_the_daemon(path) {
        return Role::Viewer;
    }
    let call = path.strip_prefix(PACKAGE);
    let row = call.and_then(|call| CALLS.iter().find(|(known, ..)| *known == call));
    row.map_or(Role::Admin, |(_, role, _)| *role)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_without_a_row_needs_the_highest_role() {
        assert_eq!(role("/quietcore.v1.VariableService/WriteVariables"), Role::Operator);
        assert_eq!(role("/grpc.health.v1.Health/Check"), Role::Viewer);
        for path in ["/quietcore.v1.VariableService/Erase", "/other.v1.SiteService/ListSites", "/"]
        {
            assert_eq!(role(path), Role::Admin, "{path}");
        }
    }
}
