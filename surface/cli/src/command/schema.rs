//! `quietcore schema`

use crate::arguments::{Schema, SchemaKind};
use crate::status::{Failure, Status};

pub(super) fn run(request: &Schema) -> Result<Status, Failure> {
    let schema = match request.document {
        SchemaKind::Site => quietcore_site::schema(),
        SchemaKind::Evidence => quietcore_record::document::schema(),
    };
    super::print_json(&schema)?;
    Ok(Status::Done)
}
