//! The site file through its public functions: reading, planning, and the texts people see.

// `cfg(test)` always holds here; it tells the lints that helper functions belong to tests too.
#[cfg(test)]
mod fieldbus_rules;
#[cfg(test)]
mod host;
#[cfg(test)]
mod isolation;
#[cfg(test)]
mod limits;
#[cfg(test)]
mod monitors;
#[cfg(test)]
mod plans;
#[cfg(test)]
mod program_rules;
#[cfg(test)]
mod properties;
#[cfg(test)]
mod rules;
#[cfg(test)]
mod schemas;
#[cfg(test)]
mod sites;
#[cfg(test)]
mod stored;
#[cfg(test)]
mod support;
