//! The page of the papers, `docs/papers.md`, made from the list.

use std::fmt::Write as _;

use super::super::{Citation, papers};
use super::{Availability, Exhibit, exhibits};

const HEAD: &str = "\
<!-- Made by `QUIETCORE_STORE=1 cargo test -p quietcore-record the_page`; edit the list in \
logic/record/src/published/exhibit instead. -->

# The papers

Quietcore implements five papers. This page lists every table and every figure of theirs, the
commands that make its counterpart here, and what differs from the paper's method. Texts and tables
call the papers by author and year.

- `quietcore campaign queiroz2023` runs all commands of a paper within a time that you give, half
  an hour by default. It names what this machine can't do, and makes a page of the paper's tables
  and figures; `--plan` says what it would run.
- queiroz2023 and hofer2019 compare systems. These are partitions of one site file here, each
  measured alone (`alone = true` in `[campaign]`): a system that this machine has not is left out
  with the reason. Linux guests start from images that the campaign makes of Debian's kernels;
  `--accelerator tcg` emulates them where there is no KVM, and marks their times as not valid.
- Or type the commands in the root of the repository. They take as long as the papers measured;
  give a shorter `--duration` for a first look. Site files of the papers are in `examples/papers`.
- Rows that begin with the same command share its folder: `--out` never writes into one that is
  there.
- What a machine must have is said by `quietcore doctor`, and by `quietcore plan` for a site file.
  `--backend kvm` and `probe irq` need `/dev/kvm` and a processor that runs guests natively;
  where it interprets them, the timing is not valid and the record says so.
- **Not there yet** names what would be needed. Nothing is shown in its place.
- `compare FOLDER --with TABLE` puts a run beside a published table, and `probe exec SITE --with
  TABLE` a program's releases. Both take the names marked with `*`; the other tables have limits,
  conditions or ratios, and are refused with the reason.
- Published figures are of other machines at other times: a ratio to them compares systems, not
  settings.

`quietcore compare --tables` prints this list; with `--json` it has all published figures as well.
The numbers `000` to `004`, which earlier versions gave the papers, are still accepted.
";

/// Returns the page as Markdown.
pub fn page() -> String {
    let mut page = HEAD.to_owned();
    for citation in papers::ALL {
        of_paper(&mut page, citation);
    }
    page
}

fn of_paper(page: &mut String, citation: &Citation) {
    let own = || exhibits().iter().filter(|exhibit| exhibit.citation().key == citation.key);
    let whole = own().filter(|it| it.availability() == Availability::Whole).count();
    let partly = own().filter(|it| it.availability() == Availability::Partly).count();
    let line = citation.line();
    writeln!(
        page,
        "\n## {}\n\n{line}.\n\n{} tables and figures: {whole} have a counterpart, {partly} have \
         one in part, {} not yet.\n\n| name | subject | here | what differs |\n|---|---|---|---|",
        citation.key,
        own().count(),
        own().count() - whole - partly
    )
    .expect("writing to a string cannot fail");
    for exhibit in own() {
        page.push_str(&row(exhibit));
    }
}

fn row(exhibit: &Exhibit) -> String {
    let mark = if exhibit.stands_beside_runs() { " *" } else { "" };
    let mut here: Vec<String> =
        exhibit.commands.iter().map(|command| format!("`{command}`")).collect();
    here.extend(exhibit.missing.map(|missing| format!("**Not there yet:** {missing}")));
    let here = here.join("<br>");
    let differs = if exhibit.differs.is_empty() { "–" } else { exhibit.differs };
    format!("| `{}`{mark} | {} | {here} | {differs} |\n", exhibit.id, exhibit.title())
}
