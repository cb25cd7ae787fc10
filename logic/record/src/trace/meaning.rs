//! The meaning of a variable's numbers, and the changes to it while it was recorded. The table has
//! neither: a plot that is drawn from a table alone shows plain numbers.

/// The most marks of a recording.
pub const MARKS_MAX: usize = 256;

/// The meaning of a variable's numbers.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Meaning {
    /// As numbers whose unit is not known.
    #[default]
    Plain,
    /// In this unit, such as `rad/s`.
    In(String),
    /// 0 is false, 1 is true.
    Level,
    /// Each number has a name; by number.
    Names(Vec<(i64, String)>),
}

/// A change of a variable by a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Deed {
    /// It was given a value once.
    Set,
    /// It is held at a value from then on.
    Forced,
    /// It was let go.
    Released,
}

/// Something that was done to a variable during a recording.
#[derive(Clone, Debug, PartialEq)]
pub struct Mark {
    /// Index of the variable in the recording.
    pub variable: usize,
    /// The cycle from which it acts.
    pub cycle: u64,
    /// The kind of change.
    pub deed: Deed,
    /// The value it was given, as it was written.
    pub value: Option<String>,
}
