//! A folder of generated code, sent, built there and deployed.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use quietcore_api::convert::answer::{build_problems, build_remarks, deployed, harmless};
use quietcore_api::v1;
use quietcore_api::v1::program_service_client::ProgramServiceClient;
use quietcore_api::v1::upload_program_request::Content;
use quietcore_control::Deployed;
use tonic::Response;
use tonic::transport::Channel;

use crate::calls::{MESSAGE_BYTES_MAX, Remote};
use crate::error::RemoteError;

/// The most files that are sent, and folders below each other.
pub const FILES_MAX: usize = 10_000;
const DEPTH_MAX: usize = 16;
/// The most bytes of a folder that is sent.
pub const FOLDER_BYTES_MAX: u64 = 64 << 20;
/// Bytes of a file in one message.
const CHUNK_BYTES: usize = 256 << 10;
/// The longest upload, build, and deployment with its probation.
const LONGEST: Duration = Duration::from_secs(600);
/// The end of the names of folders that Embedded Coder makes.
const CODER_ENDING: &str = "_ert_rtw";

impl Remote {
    /// Sends a folder, builds it for a partition and deploys it there. `say` gets what the compiler
    /// says, line by line.
    ///
    /// # Errors
    /// [`RemoteError::Folder`] for one that can't be sent, [`RemoteError::Build`] if it does not
    /// compile; others as for all calls.
    pub fn deploy(
        &self,
        (site, partition): (&str, &str),
        folder: &Path,
        no_wait: bool,
        say: &mut dyn FnMut(&str),
    ) -> Result<Deployed, RemoteError> {
        let program = name_of(folder);
        let parts = parts_of(folder, &program)?;
        let asked = self.request(tokio_stream::iter(parts), LONGEST);
        let sent = self.wait(async { self.program_calls().upload_program(asked).await })?;
        let version = sent.version.unwrap_or_default().number;
        self.build((site, partition), (&program, version), say)?;
        let asked = v1::DeployProgramRequest {
            site: site.to_owned(),
            partition: partition.to_owned(),
            program,
            version,
            no_wait,
        };
        let asked = self.request(asked, LONGEST);
        let told = self.wait(async { self.program_calls().deploy_program(asked).await })?;
        Ok(deployed(told.deployed.unwrap_or_default())?)
    }

    fn build(
        &self,
        (site, partition): (&str, &str),
        (program, version): (&str, u64),
        say: &mut dyn FnMut(&str),
    ) -> Result<(), RemoteError> {
        let asked = v1::BuildProgramRequest {
            program: program.to_owned(),
            version,
            site: site.to_owned(),
            partition: partition.to_owned(),
        };
        let asked = self.request(asked, LONGEST);
        let outcome = self.wait(async {
            let mut stream = self.program_calls().build_program(asked).await?.into_inner();
            let mut last = v1::BuildOutcome::default();
            while let Some(message) = stream.message().await? {
                match message.content {
                    Some(v1::build_program_response::Content::Line(line)) => say(&harmless(line)),
                    Some(v1::build_program_response::Content::Outcome(outcome)) => last = outcome,
                    None => {}
                }
            }
            Ok(Response::new(last))
        })?;
        match outcome.succeeded {
            true => {
                let remarks = build_remarks(&outcome);
                remarks.iter().for_each(|remark| say(&format!("remark: {remark}")));
                Ok(())
            }
            false => Err(RemoteError::Build(build_problems(outcome))),
        }
    }

    fn program_calls(&self) -> ProgramServiceClient<Channel> {
        let calls = ProgramServiceClient::new(self.channel.clone());
        calls.max_decoding_message_size(MESSAGE_BYTES_MAX)
    }
}

/// Returns the name of a program: its folder's, without what a code generator adds.
fn name_of(folder: &Path) -> String {
    let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
    match name.strip_suffix(CODER_ENDING) {
        Some("") | None => name,
        Some(model) => model.to_owned(),
    }
}

/// Reads a folder into the messages of an upload.
fn parts_of(folder: &Path, program: &str) -> Result<Vec<v1::UploadProgramRequest>, RemoteError> {
    let message = |content| v1::UploadProgramRequest { content: Some(content) };
    let begin = v1::UploadBegin { program: program.to_owned() };
    let mut parts = vec![message(Content::Begin(begin))];
    let mut bytes = 0;
    for path in files_of(folder)? {
        let relative = path.strip_prefix(folder).unwrap_or(&path);
        let named = relative.to_str().ok_or_else(|| refuse(&path, "its name is not UTF-8"))?;
        bytes += path.metadata().map_err(|error| refuse(&path, error))?.len();
        if bytes > FOLDER_BYTES_MAX {
            return Err(refuse(folder, "it has more than 64 MiB; send the generated code alone"));
        }
        let content = fs::read(&path).map_err(|error| refuse(&path, error))?;
        parts.push(message(Content::File(named.to_owned())));
        let chunks = content.chunks(CHUNK_BYTES).map(|chunk| Content::Chunk(chunk.to_vec()));
        parts.extend(chunks.map(message));
    }
    Ok(parts)
}

/// Returns the files of a folder, in an order that is the same each time.
fn files_of(folder: &Path) -> Result<Vec<PathBuf>, RemoteError> {
    let (mut files, mut folders) = (Vec::new(), vec![(folder.to_owned(), 0)]);
    while let Some((next, depth)) = folders.pop() {
        for entry in fs::read_dir(&next).map_err(|error| refuse(&next, error))? {
            let entry = entry.map_err(|error| refuse(&next, error))?;
            let kind = entry.file_type().map_err(|error| refuse(&next, error))?;
            let is_hidden = entry.file_name().as_encoded_bytes().starts_with(b".");
            match (kind.is_dir(), kind.is_file()) {
                _ if is_hidden => {}
                (true, _) if depth == DEPTH_MAX => {
                    return Err(refuse(&entry.path(), "it lies too deep to be sent"));
                }
                (true, _) => folders.push((entry.path(), depth + 1)),
                (_, true) => files.push(entry.path()),
                _ => return Err(refuse(&entry.path(), "it is no file; put the file in its place")),
            }
        }
        if files.len() > FILES_MAX {
            return Err(refuse(folder, "it has more than 10 000 files; name the program's folder"));
        }
    }
    files.sort();
    Ok(files)
}

fn refuse(path: &Path, why: impl std::fmt::Display) -> RemoteError {
    RemoteError::Folder { path: path.to_owned(), why: why.to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_has_the_name_of_its_folder() {
        for (folder, name) in
            [("models/servo", "servo"), ("/x/servo_ert_rtw", "servo"), ("_ert_rtw", "_ert_rtw")]
        {
            assert_eq!(name_of(Path::new(folder)), name);
        }
    }

    #[test]
    fn a_folder_is_sent_by_name_in_order_and_links_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("sub")).unwrap();
        fs::write(folder.path().join("b.c"), "int b;").unwrap();
        fs::write(folder.path().join("sub/a.c"), vec![b'x'; CHUNK_BYTES + 1]).unwrap();
        fs::write(folder.path().join(".hidden"), "").unwrap();
        let told: Vec<_> = parts_of(folder.path(), "servo")
            .unwrap()
            .into_iter()
            .map(|part| match part.content.unwrap() {
                Content::Begin(begin) => begin.program,
                Content::File(name) => name,
                Content::Chunk(bytes) => bytes.len().to_string(),
            })
            .collect();
        assert_eq!(told, ["servo", "b.c", "6", "sub/a.c", "262144", "1"]);
        std::os::unix::fs::symlink("/etc/shadow", folder.path().join("c.c")).unwrap();
        assert!(matches!(parts_of(folder.path(), "servo"), Err(RemoteError::Folder { .. })));
    }
}
