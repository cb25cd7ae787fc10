"""Calls over the network to the real daemon, with what `quietcore auth` hands out."""

import asyncio
import socket
from collections.abc import Iterator
from typing import NamedTuple

import pytest
from conftest import Ground, wait_until

import quietcore
import quietcore.aio

OFFSET = "oven_P.offset"


class Remote(NamedTuple):
    """A site and a daemon that listens to the network, and what was handed out for it."""

    ground: Ground
    address: str
    token: str

    def folder(self, name: str) -> str:
        return str(self.ground.folder / name)


@pytest.fixture(scope="module")
def remote(built: None) -> Iterator[Remote]:
    ground = Ground()
    try:
        with socket.create_server(("127.0.0.1", 0)) as free:
            address = f"127.0.0.1:{free.getsockname()[1]}"
        ground.quietcore("auth", "init", "--address", "127.0.0.1")
        for name, role in (("anna", "operator"), ("vera", "viewer"), ("hob", "operator")):
            grant = ["--grant", "bakery/hob"] if name == "hob" else []
            out = str(ground.folder / name)
            ground.quietcore("auth", "issue", name, "--role", role, "--out", out, *grant)
        token = ground.quietcore("auth", "token", "dashboard", "--role", "viewer", "--hours", "1")
        ground.start(daemon=["--listen", address])
        yield Remote(ground, address, token.strip().splitlines()[-1])
    finally:
        ground.end()


def test_an_operator_writes_and_the_site_hears_who(remote: Remote) -> None:
    with quietcore.connect(remote.address, access=remote.folder("anna")) as host:
        oven = host.partition("oven", site="bakery")
        oven.write({OFFSET: 3})
        assert oven.value(OFFSET) == 3
        assert "anna" in host.site("bakery").changes()[-1].by


def test_a_viewer_sees_everything_and_changes_nothing(remote: Remote) -> None:
    with quietcore.connect(remote.address, access=remote.folder("vera")) as host:
        oven = host.partition("oven", site="bakery")
        before = oven.value(OFFSET)
        with pytest.raises(quietcore.AccessError, match="operator"):
            oven.write({OFFSET: 4})
        assert next(oven.watch(OFFSET))[OFFSET] == before


def test_a_token_does_in_place_of_a_certificate(remote: Remote) -> None:
    authority = remote.folder("anna/authority.pem")
    with quietcore.connect(remote.address, token=remote.token, authority=authority) as host:
        assert host.partition("oven").state().name == "oven"
        with pytest.raises(quietcore.AccessError):
            host.partition("oven").restart()
    with pytest.raises(quietcore.AccessError):
        quietcore.connect(remote.address, token="quietcore_none", authority=authority)


def test_a_grant_is_for_its_partition_alone(remote: Remote) -> None:
    with quietcore.connect(remote.address, access=remote.folder("hob")) as host:
        oven = host.partition("oven", site="bakery")
        with pytest.raises(quietcore.QuietcoreError):
            oven.read(OFFSET)


def test_asyncio_reaches_another_machine_as_well(remote: Remote) -> None:
    async def play() -> None:
        folder = remote.folder("anna")
        async with quietcore.aio.connect(remote.address, access=folder) as host:
            assert (await host.partition("oven").state()).name == "oven"

    asyncio.run(play())


def test_who_is_revoked_is_refused_at_the_next_call(remote: Remote) -> None:
    with quietcore.connect(remote.address, access=remote.folder("vera")) as host:
        watch = host.partition("oven").watch("oven_DW.cycles", interval=0.01)
        next(watch)
        remote.ground.quietcore("auth", "revoke", "vera")

        def is_refused() -> bool:
            try:
                host.sites()
            except quietcore.AccessError:
                return True
            return False

        wait_until(is_refused, "she is refused")
        with pytest.raises(quietcore.QuietcoreError):
            for _ in watch:
                pass
