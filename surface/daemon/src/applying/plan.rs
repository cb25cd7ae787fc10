//! The plan of a text: `quietcore plan --json`, in folders that are removed afterwards.

use std::sync::Arc;

use quietcore_api::v1;
use quietcore_programs::sites::SiteText;
use serde_json::Value;
use tokio::sync::OwnedSemaphorePermit;
use tonic::Status;

use super::command::{self, PLAN_TIME_MAX, Request};
use super::{Applying, refused};
use crate::failure::CallError;

/// The right to make a plan: one is made at a time.
#[derive(Debug)]
pub(crate) struct PlanTurn {
    _place: OwnedSemaphorePermit,
}

impl Applying {
    /// Waits for the turn to make a plan, which takes no place of other calls meanwhile.
    ///
    /// # Errors
    /// `UNAVAILABLE` as the daemon ends.
    pub(crate) async fn turn_to_plan(&self) -> Result<PlanTurn, Status> {
        let turn = Arc::clone(&self.planning).acquire_owned().await;
        turn.map(|_place| PlanTurn { _place }).map_err(|_| Status::unavailable("the daemon ends"))
    }

    /// Plans a text, within [`PLAN_TIME_MAX`].
    ///
    /// # Errors
    /// A program that was not sent; `FAILED_PRECONDITION` if there is no plan.
    pub(crate) fn plan(
        &self,
        text: &SiteText,
        _turn: PlanTurn,
    ) -> Result<v1::PlanSiteResponse, CallError> {
        let programs = self.received.programs()?;
        let staged = self.store()?.stage(text, &programs)?;
        let (file, state) = (staged.site_file(), staged.folder().join("state"));
        let request = Request {
            arguments: &["plan", "--json"],
            site_file: Some(&file),
            state: Some(&state),
            held: None,
            time_max: PLAN_TIME_MAX,
        };
        let ended = command::run(self.received.places(), staged.folder(), &request)?;
        let folder = format!("{}/", staged.folder().display());
        let without = |text: &str| text.replace(&folder, "");
        let document: Value = match serde_json::from_str(&without(&ended.output)) {
            Ok(document) => document,
            Err(_) => {
                let lines: Vec<String> = ended.lines.iter().map(|line| without(line)).collect();
                let remedy = "correct it and plan it again";
                return Err(refused(text.site(), &lines, remedy).into());
            }
        };
        Ok(v1::PlanSiteResponse {
            site: text.site().to_owned(),
            steps: sentences(&document, "steps"),
            monitored: sentences(&document, "monitored"),
            degraded: sentences(&document, "degraded"),
            refused: sentences(&document, "problems"),
            shared_cpus: sentences(&document, "shared_cpus"),
            document: document.to_string(),
        })
    }
}

/// Returns the sentences of a list in the document; of an entry with more, its text.
fn sentences(document: &Value, key: &str) -> Vec<String> {
    let entries = document[key].as_array().into_iter().flatten();
    let sentence = |entry: &Value| entry.as_str().or(entry["text"].as_str()).map(str::to_owned);
    entries.filter_map(sentence).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn sentences_are_those_of_the_document() {
        let document = json!({ "steps": ["a", "b"], "shared_cpus": [{ "cpu": 1, "text": "c" }] });
        assert_eq!(sentences(&document, "steps"), ["a", "b"]);
        assert_eq!(sentences(&document, "shared_cpus"), ["c"]);
        assert!(sentences(&document, "problems").is_empty());
    }
}
