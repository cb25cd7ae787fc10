//! `quietcore verify`

use quietcore_evidence::{Evidence, Signature, Statement, VerificationKey, pages_not_there};
use quietcore_record::ageing::Change;
use quietcore_record::verdict::Verdict;
use serde::Serialize;

use super::ageing::{Here, expired_line};
use crate::arguments::Verify;
use crate::command;
use crate::finish;
use crate::status::{Failure, Status};

/// Number of digits of a key's name that people compare.
const ID_DIGITS: usize = 16;

/// The result of a verification, as `--json` prints it.
#[derive(Serialize)]
struct Finding {
    schema: &'static str,
    /// `true` if the folder is as the given key signed it, and nothing contradicts it.
    genuine: bool,
    signature: Standing,
    /// The key that signed it; `None` if none did.
    keyid: Option<String>,
    /// The verdict that follows from the records.
    verdict: Verdict,
    /// The changes of this machine by which its verdicts have expired; absent without one, and for
    /// evidence of other machines.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    expired_by: Vec<Change>,
    /// Pages that were signed and are missing. They say nothing of their own: `quietcore report`
    /// makes them from the rest.
    not_there: Vec<String>,
    /// Problems of the folder, in words.
    problems: Vec<String>,
}

/// The state of a folder's signature, given a key.
#[derive(Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
enum Standing {
    /// Signed by the given key.
    Valid,
    /// Signed by another key.
    OtherKey,
    /// Signed, but no key is known to check it by.
    UnknownKey,
    /// The folder has no signature.
    Unsigned,
    /// The signature does not hold.
    Broken,
}

pub(in crate::command) fn run(request: &Verify) -> Result<Status, Failure> {
    if request.print_key {
        command::print(&finish::machine_key()?.verification_key().to_pem())?;
        return Ok(Status::Done);
    }
    let folder = request.folder.as_ref().expect("clap asks for the folder without --print-key");
    let asked = match &request.key {
        Some(path) => Some(VerificationKey::read(path)?),
        None => finish::own_key(),
    };
    let evidence = finish::read(folder)?;
    let mut problems = finish::problems(&evidence);
    problems.extend(finish::stale(folder, &evidence, asked.as_ref()));
    let signature = standing(&evidence.signature, asked.as_ref());
    let finding = Finding {
        schema: "quietcore.verification/1",
        genuine: signature == Standing::Valid && problems.is_empty(),
        signature,
        keyid: signed_by(&evidence.signature).map(VerificationKey::id),
        verdict: evidence.declared_verdict(),
        expired_by: Here::new().expiring(&evidence),
        not_there: statement(&evidence.signature)
            .map(|statement| pages_not_there(folder, statement))
            .unwrap_or_default(),
        problems,
    };
    if request.json {
        command::print_json(&finding)?;
    } else {
        command::print(&words(&finding, &evidence, request.key.is_some()))?;
    }
    Ok(if finding.genuine { Status::Done } else { Status::NotPassed })
}

fn standing(signature: &Signature, asked: Option<&VerificationKey>) -> Standing {
    match (signature, asked) {
        (Signature::Unsigned, _) => Standing::Unsigned,
        (Signature::Broken(_), _) => Standing::Broken,
        (Signature::Signed { .. }, None) => Standing::UnknownKey,
        (Signature::Signed { key, .. }, Some(asked)) if key == asked => Standing::Valid,
        (Signature::Signed { .. }, Some(_)) => Standing::OtherKey,
    }
}

fn signed_by(signature: &Signature) -> Option<&VerificationKey> {
    match signature {
        Signature::Signed { key, .. } => Some(key),
        Signature::Unsigned | Signature::Broken(_) => None,
    }
}

fn statement(signature: &Signature) -> Option<&Statement> {
    match signature {
        Signature::Signed { statement, .. } => Some(statement),
        Signature::Unsigned | Signature::Broken(_) => None,
    }
}

/// Returns the answer first, then the verdict, then the problems.
fn words(finding: &Finding, evidence: &Evidence, key_given: bool) -> String {
    let visible = crate::terminal::visible;
    let keyid = finding.keyid.as_deref().map(short).unwrap_or_default();
    let of_whom = if key_given { "the key given" } else { "this machine's key" };
    let answer = match finding.signature {
        Standing::Valid if finding.genuine => {
            format!("genuine: as it was signed by {of_whom}, {keyid}")
        }
        Standing::Valid => format!("NOT genuine: signed by {of_whom}, {keyid}, and contradicted"),
        Standing::OtherKey => format!(
            "NOT proven genuine: signed by key {keyid}, which is not {of_whom}; give the one of \
             the machine that has written it with --key"
        ),
        Standing::UnknownKey => format!(
            "NOT proven genuine: signed by key {keyid}, and this machine has none; give the one \
             of the machine that has written it with --key"
        ),
        Standing::Unsigned => "NOT proven genuine: it is not signed".to_owned(),
        Standing::Broken => "NOT genuine: its signature does not hold".to_owned(),
    };
    let mut text = format!("{answer}\n");
    let name = visible(&evidence.manifest.name);
    let started_at = visible(&evidence.manifest.started_at);
    text.push_str(&format!("{}: {name}, {started_at}\n", finding.verdict));
    if !finding.expired_by.is_empty() {
        text.push_str(&format!("{}\n", expired_line(finding.expired_by.iter())));
    }
    if let Some(statement) = statement(&evidence.signature) {
        let files = statement.subject.len() - finding.not_there.len();
        text.push_str(&format!("{files} files are as they were signed\n"));
        for page in &finding.not_there {
            let page = visible(page);
            text.push_str(&format!("{page} is not there; `quietcore report` makes it anew\n"));
        }
    }
    for problem in &finding.problems {
        text.push_str(&format!("! {}\n", visible(problem)));
    }
    text
}

/// Returns a line about a folder's signature.
pub(super) fn line(signature: &Signature) -> String {
    let Some(key) = signed_by(signature) else {
        return match signature {
            Signature::Broken(_) => "signature: does not hold".to_owned(),
            Signature::Unsigned | Signature::Signed { .. } => "signature: none".to_owned(),
        };
    };
    let id = key.id();
    if finish::own_key().as_ref() == Some(key) {
        return format!("signature: of this machine, key {}", short(&id));
    }
    format!(
        "signature: of another machine or user, key {}; `quietcore verify FOLDER --key FILE` says \
         whether it is the one that you know",
        short(&id)
    )
}

fn short(id: &str) -> String {
    id.chars().take(ID_DIGITS).collect()
}
