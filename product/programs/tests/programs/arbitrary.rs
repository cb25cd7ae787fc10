//! Nothing that a stranger sends makes the store panic, or leaves anything elsewhere.

use proptest::prelude::*;

use crate::ground::{gz, tar, zip};
use crate::hostile::{send_archive, send_site};

const SITE: &str = r#"
[site]
name = "line"

[[partition]]
name = "axis"
class = "motion-control"

[partition.vcr]
cpus = [1]

[partition.program]
model = "servo@3"
period = "1 ms"
"#;

/// Archives of each kind, which are accepted as they are.
fn archives() -> [Vec<u8>; 3] {
    let kind = tar::EntryType::Regular;
    let plain = tar(&[("servo.h", kind, b"\n"), ("src/servo.c", kind, b"void step(void) {}\n")]);
    [gz(&plain), plain, zip(&[("servo.h", b"\n"), ("src/servo.c", b"void step(void) {}\n")])]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn changed_archives_are_kept_or_refused_whole(
        which in 0..3_usize,
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..12),
        end in any::<prop::sample::Index>(),
        is_cut in any::<bool>(),
    ) {
        let mut archive = archives()[which].clone();
        for (at, byte) in changes {
            let at = at.index(archive.len());
            archive[at] = byte;
        }
        if is_cut {
            archive.truncate(end.index(archive.len()));
        }
        send_archive(&archive);
    }

    #[test]
    fn changed_texts_of_sites_are_read_or_refused(
        changes in prop::collection::vec(
            (any::<prop::sample::Index>(), 0..6_usize, "[a-z@/\\.\"\\[\\]= \n]{0,6}"),
            0..4,
        ),
    ) {
        let mut text: Vec<char> = SITE.chars().collect();
        for (at, gone, come) in changes {
            let start = at.index(text.len() + 1);
            let end = (start + gone).min(text.len());
            text.splice(start..end, come.chars());
        }
        send_site(&text.into_iter().collect::<String>());
    }
}
