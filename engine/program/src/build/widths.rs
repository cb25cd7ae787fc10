//! Code that was generated for a processor with other word sizes.
//!
//! Generated code checks the widths of C's types and stops the compiler where they differ. On small
//! processors and on Windows `long` has 32 bits, here it has 64; nearly no generated code uses it,
//! yet all of it checks. So for code that expects 32 bits the check is told that they are there;
//! what matters is checked on the result instead: that every type with a width in its name has that
//! width.

use crate::debug::DebugInfo;
use crate::interface::InterfaceError;

/// Replaces the limits of `long` by those that the code expects.
pub(super) const SHORT_LONG_HEADER: &str = "\
#include <limits.h>
#undef LONG_MAX
#undef LONG_MIN
#undef ULONG_MAX
#define LONG_MAX 0x7FFFFFFFL
#define LONG_MIN (-0x7FFFFFFFL - 1L)
#define ULONG_MAX 0xFFFFFFFFUL
";

/// The remark for the user.
pub(super) const SHORT_LONG_REMARK: &str = "the code was generated for a processor whose `long` \
     has 32 bits; here it has 64, and the types with a width in their names were checked instead";

/// Widths that names promise, in bytes.
const PROMISED: [(&str, u64); 14] = [
    ("int8_T", 1),
    ("uint8_T", 1),
    ("int16_T", 2),
    ("uint16_T", 2),
    ("int32_T", 4),
    ("uint32_T", 4),
    ("int64_T", 8),
    ("uint64_T", 8),
    ("real32_T", 4),
    ("real64_T", 8),
    ("real_T", 8),
    ("time_T", 8),
    ("boolean_T", 1),
    ("char_T", 1),
];

/// Returns `true` if a text checks that `long` has 32 bits: `#if ( ULONG_MAX != (0xFFFFFFFFU) )`.
pub(super) fn expects_short_long(text: &str) -> bool {
    let skipped = |character: char| character.is_whitespace() || "(!=".contains(character);
    text.split("ULONG_MAX").skip(1).any(|rest| {
        let number = rest.trim_start_matches(skipped);
        let compared = rest[..rest.len() - number.len()].contains("!=");
        let digits = number.strip_prefix("0xFFFFFFFF").or(number.strip_prefix("0xffffffff"));
        compared
            && digits.is_some_and(|rest| !rest.starts_with(|next: char| next.is_ascii_hexdigit()))
    })
}

/// Checks that every type with a width in its name has that width.
pub(super) fn check(info: &DebugInfo) -> Result<(), InterfaceError> {
    for (offset, raw) in &info.types {
        let promised = PROMISED.iter().find(|(name, _)| raw.name == *name);
        let found = info.strip(*offset).and_then(|stripped| stripped.raw.bytes);
        if let (Some((name, promised)), Some(found)) = (promised, found)
            && *promised != found
        {
            let (name, promised) = ((*name).to_owned(), *promised);
            return Err(InterfaceError::Width { name, promised, found });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_check_for_32_bits_is_known_by_its_number() {
        assert!(expects_short_long(
            "#if ( ULONG_MAX != (0xFFFFFFFFU) ) || ( LONG_MAX != (0x7FFFFFFF) )"
        ));
        assert!(expects_short_long("#if ULONG_MAX!=0xFFFFFFFFUL"));
        assert!(!expects_short_long("#if ( ULONG_MAX != (0xFFFFFFFFFFFFFFFFUL) )"));
        assert!(!expects_short_long("x = ULONG_MAX - 0xFFFFFFFF;"));
        assert!(!expects_short_long("ULONG_MAX"));
    }
}
