//! OIL through its public functions: reading, refusing, generating.

// `cfg(test)` always holds here; it tells the lints that helper functions belong to tests too.
#[cfg(test)]
mod applications;
#[cfg(test)]
mod arbitrary;
#[cfg(test)]
mod documents;
#[cfg(test)]
mod foreign;
#[cfg(test)]
mod generated;
#[cfg(test)]
mod hostile;
#[cfg(test)]
mod includes;
#[cfg(test)]
mod meaning;
#[cfg(test)]
mod refusals;
#[cfg(test)]
mod round_trip;
#[cfg(test)]
mod support;
#[cfg(test)]
mod syntax;
