//! The treatment of a program that is late or at fault, as the site file says it.
//!
//! The same types go from the site file to the thread that runs the task.

/// Treatment of releases that pass while a cycle is still running.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Overrun {
    /// They are skipped and counted; the next one comes on time.
    #[default]
    Skip,
    /// They are run one after the other without a pause until the program has caught up.
    CatchUp,
    /// The program is at fault.
    Stop,
}

/// Values of the outputs when the program is at fault.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum FaultReaction {
    /// They keep the values of the last good cycle.
    Hold,
    /// They become zero or `false`.
    #[default]
    Zero,
    /// They take the values in `substitute`.
    Substitute,
}
