//! From the upload of a program to its first cycle in a partition that runs.

use std::fs;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use quietcore_api::v1::build_program_response::Content as Built;
use quietcore_api::v1::program_service_client::ProgramServiceClient;
use quietcore_api::v1::upload_program_request::Content as Part;
use quietcore_api::v1::{
    BuildProgramRequest, DeployProgramRequest, UploadBegin, UploadProgramRequest,
};
use tonic::transport::Channel;

use crate::findings::{Findings, Goal};
use crate::site::Stand;

use super::Request;
use super::process::Served;

/// Time after which a program has passed its probation, and the next one may come.
const PROBATION: Duration = Duration::from_millis(1_500);
/// The longest way to the first cycle, in ms.
const GOAL: Goal = Goal::AtMost(2_000.0);
/// The longest way without the compiler, in ms.
const GOAL_WITHOUT_COMPILER: Goal = Goal::AtMost(300.0);

const SITE: &str = "\
[site]
name = \"bench-upload\"

[[partition]]
name = \"axis\"
class = \"motion-control\"

[partition.vcr]
cpus = [CPU]

[partition.program]
model = \"servo\"
period = \"1 ms\"
priority = 90
watchdog = \"500 us\"
sensitivity = 100
";

/// The files of a program: names and contents.
type Files = Vec<(String, Vec<u8>)>;

/// Uploads a program that is new each time, which is compiled, and the one before, which is not.
pub(super) fn measure(
    request: &Request,
    rounds: usize,
    findings: &mut Findings,
) -> Result<(), String> {
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    let files = read(&request.model)?;
    let file = folder.path().join("site.toml");
    let model = folder.path().join("servo");
    let written = fs::create_dir_all(&model)
        .and_then(|()| files.iter().try_for_each(|(name, text)| fs::write(model.join(name), text)))
        .and_then(|()| fs::write(&file, SITE.replace("CPU", &request.cpu.to_string())));
    written.map_err(|error| format!("{}: {error}", folder.path().display()))?;
    let stand = Stand::new(&file, folder)?;
    let _life = stand.up()?;
    let served = Served::start(stand.places())?;
    let mut service = ProgramServiceClient::new(served.channel());
    let (mut whole, mut compiled_before) = (Vec::new(), Vec::new());
    let mut way = |files: &Files| -> Result<f64, String> {
        let begun = Instant::now();
        served.wait(first_cycle(&mut service, files))?;
        let took = begun.elapsed().as_secs_f64() * 1e3;
        thread::sleep(PROBATION);
        Ok(took)
    };
    let mut before = marked(&files, "first");
    way(&before)?;
    for round in 0..rounds {
        let new = marked(&files, &round.to_string());
        whole.push(way(&new)?);
        compiled_before.push(way(&before)?);
        before = new;
    }
    findings.goal("upload to first cycle", "ms", &whole, GOAL);
    let name = "upload to first cycle, compiled before";
    findings.goal(name, "ms", &compiled_before, GOAL_WITHOUT_COMPILER);
    findings.remark(
        "upload, build in the sandbox, deploy with online change; to the answer that comes when \
         the first cycle has run",
    );
    Ok(())
}

/// Returns the same program with another comment in each source file, which the builder does not
/// know yet.
fn marked(files: &Files, mark: &str) -> Files {
    let mut marked = files.clone();
    let sources = marked.iter_mut().filter(|(name, _)| name.ends_with(".c"));
    sources.for_each(|(_, text)| text.extend_from_slice(format!("\n/* {mark} */\n").as_bytes()));
    marked
}

/// Reads the files of a folder.
fn read(folder: &Path) -> Result<Files, String> {
    let entries = fs::read_dir(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let file = |entry: std::io::Result<fs::DirEntry>| -> std::io::Result<_> {
        let entry = entry?;
        Ok((entry.file_name().to_string_lossy().into_owned(), fs::read(entry.path())?))
    };
    entries.map(|entry| file(entry).map_err(|error| error.to_string())).collect()
}

/// Uploads, builds and deploys a program.
async fn first_cycle(
    service: &mut ProgramServiceClient<Channel>,
    files: &Files,
) -> Result<(), String> {
    let program = "servo".to_owned();
    let begin = Part::Begin(UploadBegin { program: program.clone() });
    let parts =
        files.iter().flat_map(|(name, text)| [Part::File(name.clone()), Part::Chunk(text.clone())]);
    let parts: Vec<_> = std::iter::once(begin)
        .chain(parts)
        .map(|content| UploadProgramRequest { content: Some(content) })
        .collect();
    let told = |status: tonic::Status| status.message().to_owned();
    service.upload_program(tokio_stream::iter(parts)).await.map_err(told)?;
    let request = BuildProgramRequest {
        program: program.clone(),
        partition: "axis".to_owned(),
        ..BuildProgramRequest::default()
    };
    let mut lines = service.build_program(request).await.map_err(told)?.into_inner();
    let mut outcome = None;
    while let Some(message) = lines.message().await.map_err(told)? {
        if let Some(Built::Outcome(built)) = message.content {
            outcome = Some(built);
        }
    }
    match outcome {
        Some(built) if built.succeeded => {}
        other => return Err(format!("it could not be built: {other:?}")),
    }
    let request = DeployProgramRequest {
        program,
        partition: "axis".to_owned(),
        no_wait: true,
        ..DeployProgramRequest::default()
    };
    service.deploy_program(request).await.map_err(told)?;
    Ok(())
}
