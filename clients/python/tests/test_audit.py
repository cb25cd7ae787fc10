"""The audit trail of what this client changes."""

import asyncio
import hashlib

import pytest
from conftest import Ground

import quietcore
import quietcore.aio
from quietcore import audit

OFFSET = "oven_P.offset"


def test_a_change_is_in_the_trail_with_who_and_what(
    host: quietcore.Host, oven: quietcore.Partition
) -> None:
    begin = host.audit(limit=10**6).next
    oven.write({OFFSET: 21})
    intended, done = host.audit(since=begin, partition="oven")
    assert (intended.kind, done.kind) == ("intended", "done")
    assert done.of == intended.number
    assert intended.call == "VariableService/WriteVariables"
    assert intended.who.program.startswith("quietcore-python/")
    assert "21" in str(done.what)
    for entry in (intended, done):
        assert hashlib.sha256(entry.text.encode()).hexdigest() == entry.hash
    with pytest.raises(quietcore.InvalidRequestError) as error:
        oven.write({OFFSET: "much"})
    refused = host.audit(since=begin)[-1]
    assert (refused.kind, refused.refusal) == ("refused", str(error.value))
    assert len(host.audit(since=begin, partition="hob")) == 0
    assert "<table>" in host.audit()._repr_html_()


def test_a_limit_says_where_it_goes_on(host: quietcore.Host, oven: quietcore.Partition) -> None:
    first = host.audit(limit=1)
    assert (len(first), first.at_end) == (1, False)
    rest = host.audit(since=first.next, limit=10**6)
    assert rest[0].number == first[0].number + 1
    assert rest.at_end


def test_the_trail_by_asyncio(ground: Ground) -> None:
    async def play() -> None:
        async with quietcore.aio.connect(ground.address) as host:
            assert (await host.audit(limit=1))[0].kind is quietcore.AuditKind.BEGAN

    asyncio.run(play())


def test_pages_are_asked_for_until_there_are_enough() -> None:
    from quietcore.v1 import audit_pb2 as pb

    def page(*numbers: int, at_end: bool) -> audit.AuditTrail:
        entries = [pb.AuditEntry(number=it, at="2026-11-27T22:00:00Z") for it in numbers]
        answer = pb.ListEntriesResponse(entries=entries, next=numbers[-1] + 1, at_end=at_end)
        return audit.list_entries(0, wanted).read(answer)

    wanted = audit.Wanted("", "", "")
    collected = audit.Collected(3, wanted, 3)
    for given in (page(3, 4, at_end=False), page(5, 6, at_end=False)):
        assert collected.next_call() is not None
        collected.add(given)
    assert collected.next_call() is None
    trail = collected.trail()
    assert [it.number for it in trail] == [3, 4, 5]
    assert (trail.next, trail.at_end) == (6, False)
