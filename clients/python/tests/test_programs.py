"""Programs sent, built, deployed and rolled back, by the real daemon to a program that runs."""

import asyncio
import io
import shutil
import tarfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from conftest import HERE, PATIENCE_S, Ground

import quietcore
import quietcore.aio
from quietcore import deploy, programs
from quietcore.v1 import program_pb2 as pb

SOURCES = HERE / "site" / "oven"
TARGET = "oven_P.target"


def changed(folder: Path, old: str, new: str) -> Path:
    """Makes a copy of the oven's sources in which something else stands."""
    copy = folder / "oven_ert_rtw"
    shutil.copytree(SOURCES, copy, dirs_exist_ok=True)
    text = (SOURCES / "oven.c").read_text()
    assert old in text
    (copy / "oven.c").write_text(text.replace(old, new))
    return copy


def sent(path: Path) -> list[pb.UploadProgramRequest]:
    upload = programs.upload("oven", path)
    return [it for it in upload.requests() if isinstance(it, pb.UploadProgramRequest)]


def test_a_program_is_called_as_its_folder_without_the_generators_ending() -> None:
    names = [
        "models/servo_ert_rtw",
        "servo_grt_rtw/",
        "a/servo",
        "servo.tar.gz",
        "servo_ert_rtw.zip",
    ]
    assert {programs.program_name(it) for it in names} == {"servo"}


def test_a_folder_is_sent_file_by_file_without_hidden_ones(tmp_path: Path) -> None:
    files = {
        "b.c": b"x" * (programs.CHUNK_BYTES + 1),
        "a/a.h": b"",
        ".git/config": b"s",
        ".x": b"s",
    }
    for name, content in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(content)
    messages = sent(tmp_path)
    assert messages[0].begin.program == "oven"
    told = [it.file or len(it.chunk) for it in messages[1:]]
    assert told == ["a/a.h", "b.c", programs.CHUNK_BYTES, 1]


def test_an_archive_is_sent_as_it_is(tmp_path: Path) -> None:
    archive = tmp_path / "oven.zip"
    archive.write_bytes(b"PK")
    assert [it.chunk for it in sent(archive)[1:]] == [b"PK"]


def test_what_is_neither_folder_nor_archive_is_refused_here(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="no folder or archive"):
        programs.upload("oven", tmp_path / "nothing")
    with pytest.raises(ValueError, match="has no files"):
        programs.upload("oven", tmp_path)
    (tmp_path / "oven.c").write_text("")
    with pytest.raises(ValueError, match="no archive"):
        programs.upload("oven", tmp_path / "oven.c")


@pytest.fixture
def oven(ground: Ground) -> Iterator[quietcore.Partition]:
    with quietcore.connect(ground.address) as host:
        oven = host.partition("oven", site="bakery")
        oven.unforce_all()
        oven.write({TARGET: 180})
        yield oven


def test_a_program_is_sent_built_deployed_and_rolled_back(
    host: quietcore.Host, oven: quietcore.Partition, tmp_path: Path
) -> None:
    first = host.upload(changed(tmp_path, "> 40.0", "> 1000.0"))
    assert (first.program, first.files, first.last_build) == ("oven", 2, None)
    lines: list[str] = []
    built = oven.build("oven", say=lines.append)
    assert built.succeeded
    assert lines
    before = oven.state().generation
    one = oven.deploy("oven")
    assert (one.version, one.is_running) == (first.number, True), one
    assert one.generation > before
    assert "oven_P.target" not in one.not_carried
    second = host.upload(changed(tmp_path, "> 40.0", "> 2000.0"))
    assert second.number > first.number
    oven.build("oven", version=second.number)
    two = oven.deploy("oven", version=second.number)
    assert two.is_running, two
    versions = host.versions("oven")
    assert [it.number for it in versions][:2] == [second.number, first.number]
    assert versions[0].running_in == (("bakery", "oven"),)
    back = oven.roll_back()
    assert (back.version, back.is_running) == (first.number, True), back
    (program,) = (it for it in host.programs() if it.name == "oven")
    assert program.newest == second.number
    host.delete_version("oven", second.number)
    with pytest.raises(quietcore.QuietcoreError):
        host.delete_version("oven", first.number)
    assert "<table>" in host.versions("oven")._repr_html_()


def test_a_program_that_does_not_compile_is_an_error_with_its_place(
    host: quietcore.Host, oven: quietcore.Partition, tmp_path: Path
) -> None:
    version = host.upload(changed(tmp_path, "wanted = oven_U.ambient;", "wanted = ambient;"))
    with pytest.raises(quietcore.BuildError) as failed:
        oven.build("oven", version=version.number)
    (error,) = (it for it in failed.value.outcome.problems if it.is_error)
    assert error.file.endswith("oven.c")
    assert "ambient" in error.message
    assert error.line is not None
    assert "ambient" in str(failed.value)
    with pytest.raises(quietcore.QuietcoreError):
        oven.deploy("oven", version=version.number)


def test_an_archive_is_received_and_one_that_is_none_is_refused(
    host: quietcore.Host, tmp_path: Path
) -> None:
    archive = tmp_path / "oven.tar.gz"
    with tarfile.open(archive, "w:gz") as tar:
        tar.add(SOURCES, "oven")
    assert host.upload(archive).files == 2
    archive.write_bytes(b"not an archive")
    with pytest.raises(quietcore.InvalidRequestError):
        host.upload(archive)
    with tarfile.open(archive, "w:gz") as tar:
        outside = tarfile.TarInfo("../outside.c")
        tar.addfile(outside, io.BytesIO())
    with pytest.raises(quietcore.InvalidRequestError, match=r"\.\."):
        host.upload(archive)


def test_programs_by_asyncio(ground: Ground, tmp_path: Path) -> None:
    async def play() -> None:
        async with asyncio.timeout(PATIENCE_S), quietcore.aio.connect(ground.address) as host:
            oven = host.partition("oven", site="bakery")
            version = await host.upload(changed(tmp_path, "> 40.0", "> 3000.0"))
            lines: list[str] = []
            await oven.build("oven", version=version.number, say=lines.append)
            deployed = await oven.deploy("oven", version=version.number)
            assert deployed.is_running, deployed
            assert version.number in [it.number for it in await host.versions("oven")]
            assert (await oven.roll_back()).is_running

    asyncio.run(play())


def test_a_generators_hook_deploys_and_says_what_came_of_it(
    ground: Ground, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    line = ["--at", ground.address, "--partition", "oven"]
    assert deploy.main([*line, str(changed(tmp_path, "> 40.0", "> 4000.0"))]) == 0
    assert capsys.readouterr().out.startswith("oven: oven ")
    assert deploy.main([*line, str(changed(tmp_path, "oven_Y.warm", "oven_Y.worm"))]) == 1
    assert "worm" in capsys.readouterr().err
    assert deploy.main([*line, str(tmp_path / "nothing")]) == 2
    assert "no folder or archive" in capsys.readouterr().err
