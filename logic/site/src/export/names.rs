//! Names of images and pods, made from the name of a site.

/// The longest label that Kubernetes takes (RFC 1123).
const LABEL_MAX: usize = 63;

/// A name as Kubernetes takes them: small letters, digits and `-`, at most 63 (RFC 1123).
pub(super) fn dns_label(name: &str) -> String {
    dashed(name).take(LABEL_MAX).collect::<String>().trim_matches('-').to_owned()
}

/// The name of an image: `name` where a reference may be so called, else the same with `-` for
/// each other character than small letters and digits.
pub(super) fn image(name: &str) -> String {
    if is_reference(name) {
        return name.to_owned();
    }
    dashed(name).collect::<String>().trim_matches('-').to_owned()
}

fn dashed(name: &str) -> impl Iterator<Item = char> {
    let is_plain = |it: char| it.is_ascii_lowercase() || it.is_ascii_digit();
    name.chars().map(move |it| {
        let small = it.to_ascii_lowercase();
        if is_plain(small) { small } else { '-' }
    })
}

/// Returns `true` if a path component of a reference may be so called: small letters and digits
/// with one `.`, one or two `_`, or any number of `-` between two of them (OCI distribution
/// specification, "Pulling manifests").
fn is_reference(name: &str) -> bool {
    let is_separator = |it: char| matches!(it, '.' | '_' | '-');
    let mut plain = name.split(is_separator);
    let ends = !name.starts_with(is_separator) && !name.ends_with(is_separator);
    let is_plain = |it: char| it.is_ascii_lowercase() || it.is_ascii_digit();
    let mut separators = name.split(is_plain).filter(|it| !it.is_empty());
    let is_one = |it: &str| matches!(it, "." | "_" | "__") || it.chars().all(|one| one == '-');
    ends && plain.all(|it| it.chars().all(is_plain)) && separators.all(is_one)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_name_becomes_a_label() {
        assert_eq!(dns_label("quietcore-Press_line.2"), "quietcore-press-line-2");
        assert_eq!(dns_label(&format!("quietcore-{}-", "x".repeat(52))).len(), 62);
    }

    #[test]
    fn a_name_that_is_no_reference_is_mended() {
        for (name, expected) in [
            ("quietcore-press_line", "quietcore-press_line"),
            ("quietcore-a__b.c--d", "quietcore-a__b.c--d"),
            ("quietcore-a-_b", "quietcore-a--b"),
            ("quietcore-a___b", "quietcore-a---b"),
            ("quietcore-x-", "quietcore-x"),
            ("quietcore-x_", "quietcore-x"),
            ("quietcore-_x", "quietcore--x"),
        ] {
            assert_eq!(image(name), expected);
        }
    }

    proptest! {
        #[test]
        fn every_site_has_an_image(site in "[a-z0-9._-]{1,64}") {
            let name = format!("quietcore-{site}");
            let image = image(&name);
            prop_assert!(is_reference(&image), "{}", image);
            prop_assert_eq!(image == name, is_reference(&name));
        }
    }
}
