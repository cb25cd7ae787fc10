//! `AuditService`: the audit trail by pages, read beside the thread that writes it.

use quietcore_api::v1::audit_service_server::AuditService;
use quietcore_api::v1::{
    AuditAuthor, AuditEntry, AuditKind, AuditRefusal, ListEntriesRequest, ListEntriesResponse,
};
use quietcore_audit::{Entry, Kind, Reader, Row};
use quietcore_supervisor::places::Places;
use tonic::{Request, Response, Status};

use crate::audit;
use crate::caller::Caller;
use crate::failure::CallError;
use crate::sites::Sites;

/// Entries that a page looks at where nothing is said, and the most.
const PAGE_DEFAULT: u32 = 100;
const PAGE_MAX: u32 = 1000;
/// Bytes of entries after which a page ends.
const PAGE_BYTES: usize = 1 << 20;

/// Answers calls about the audit trail; they ask no site.
#[derive(Debug)]
pub(crate) struct AuditCalls {
    sites: Sites,
}

impl AuditCalls {
    pub(crate) fn new(sites: &Sites) -> Self {
        Self { sites: sites.clone() }
    }
}

#[tonic::async_trait]
impl AuditService for AuditCalls {
    async fn list_entries(
        &self,
        request: Request<ListEntriesRequest>,
    ) -> Result<Response<ListEntriesResponse>, Status> {
        let caller = Caller::of(&request)?;
        if !caller.grants().is_everything() {
            let told = "the audit trail is of the whole machine; it is for those alone to whom all \
                        of it is granted";
            return Err(Status::permission_denied(told));
        }
        let asked = request.into_inner();
        let page = self.sites.wait_for(move |places| page(places, &asked)).await?;
        Ok(Response::new(page))
    }
}

fn page(places: &Places, asked: &ListEntriesRequest) -> Result<ListEntriesResponse, CallError> {
    let mut page = ListEntriesResponse { entries: Vec::new(), next: asked.since, at_end: true };
    let Some(path) = audit::file(places) else { return Ok(page) };
    let size = match asked.page_size {
        0 => PAGE_DEFAULT,
        size => size.min(PAGE_MAX),
    };
    let (mut looked_at, mut bytes) = (0, 0);
    Reader::open(&path)?.for_each(asked.since, |row| {
        if looked_at == size || bytes > PAGE_BYTES {
            page.at_end = false;
            return false;
        }
        looked_at += 1;
        page.next = row.number.saturating_add(1);
        if let Some(entry) = row.entry().filter(|entry| is_wanted(entry, asked)) {
            bytes += row.text.len();
            page.entries.push(told(entry, row));
        }
        true
    })?;
    Ok(page)
}

fn is_wanted(entry: &Entry, asked: &ListEntriesRequest) -> bool {
    let is = |wanted: &str, found: &str| wanted.is_empty() || wanted == found;
    is(&asked.site, &entry.site)
        && is(&asked.partition, &entry.partition)
        && is(&asked.call, &entry.call)
        && (asked.who.is_empty() || entry.who.is(&asked.who))
}

fn told(entry: Entry, row: Row) -> AuditEntry {
    let kind = match entry.kind {
        Kind::Began => AuditKind::Began,
        Kind::Intended => AuditKind::Intended,
        Kind::Done => AuditKind::Done,
        Kind::Refused => AuditKind::Refused,
        Kind::Pruned => AuditKind::Pruned,
    };
    AuditEntry {
        number: entry.number,
        at: entry.instant.at.to_string(),
        kind: kind.into(),
        of: entry.of.unwrap_or_default(),
        who: Some(AuditAuthor {
            user: entry.who.user,
            program: entry.who.program,
            via: entry.who.via,
            certificate: entry.who.certificate.unwrap_or_default(),
            role: entry.who.role.unwrap_or_default(),
        }),
        call: entry.call,
        site: entry.site,
        partition: entry.partition,
        what: entry.what.to_string(),
        refusal: entry
            .refusal
            .map(|refusal| AuditRefusal { kind: refusal.kind, sentence: refusal.sentence }),
        text: row.text,
        hash: row.hash,
    }
}
