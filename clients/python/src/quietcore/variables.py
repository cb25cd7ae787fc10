"""Variables of running programs: listed, read, changed and followed."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from typing import Literal, NamedTuple, TypeAlias

from quietcore.calls import Call, Stream
from quietcore.display import Figure, Listing, count, table
from quietcore.errors import NoEffectWarning
from quietcore.v1 import variable_pb2 as pb
from quietcore.values import Enumerated, Value, Writable, as_text, of_message, shown

_SERVICE = "quietcore.v1.VariableService"

INTERVAL_S = 0.1
"""Time between two samples where nothing is said, in seconds."""

ChangeKind: TypeAlias = Literal["set", "force", "unforce"]

_KINDS: dict[ChangeKind, pb.ChangeKind] = {
    "set": pb.CHANGE_KIND_SET,
    "force": pb.CHANGE_KIND_FORCE,
    "unforce": pb.CHANGE_KIND_UNFORCE,
}


@dataclass(frozen=True, slots=True)
class Variable:
    """A variable of a program."""

    path: str
    """Its path, such as `"servo_P.Kp"`."""
    type: str
    """Its type, such as `"f64"` or the name of an enumeration."""
    role: str
    """Its part in the model: `"parameter"`, `"input"`, `"output"`, `"state"` or `"other"`."""
    writable: bool
    """True if it can be set and forced."""

    def __str__(self) -> str:
        return f"{self.path}: {self.type}, {self.role}"


class Variables(Listing[Variable]):
    """The variables of a program.

    Attributes:
        generation: number of the build whose variables these are.
    """

    _columns = (
        ("variable", lambda it: it.path),
        ("type", lambda it: it.type),
        ("role", lambda it: it.role),
        ("can be set", lambda it: "yes" if it.writable else "no"),
    )

    def __init__(self, variables: Iterable[Variable] = (), generation: int = 0):
        super().__init__(variables)
        self.generation = generation


class Values(Mapping[str, Value]):
    """Values by path, all of one reading.

    Attributes:
        cycle: cycle of the fastest task after which they were read.
        generation: number of the build that runs.
        consistent: True if all values are of one instant between two cycles.
        silent: True if no cycle has come for a while.
        forced: paths of the variables that are held by force.
        variables: the variables by path, with type and role.
    """

    def __init__(
        self,
        values: Mapping[str, Value],
        *,
        variables: Mapping[str, Variable],
        forced: frozenset[str],
        reading: pb.Reading,
    ):
        self._values = values
        self.variables = variables
        self.forced = forced
        self.cycle = reading.cycle
        self.generation = reading.generation
        self.consistent = reading.consistent
        self.silent = reading.silent

    def __getitem__(self, path: str) -> Value:
        return self._values[path]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of cycle {self.cycle}: {dict(self._values)!r}>"

    def __str__(self) -> str:
        return "\n".join(
            f"{path} = {shown(value)}{' (forced)' if path in self.forced else ''}"
            for path, value in self._values.items()
        )

    def _repr_html_(self) -> str:
        remarks = [
            *([] if self.consistent else ["not of one instant"]),
            *(["no cycle has come for a while"] if self.silent else []),
        ]
        caption = "; ".join([f"Cycle {count(self.cycle)}, build {self.generation}", *remarks])
        rows = (
            (path, _cell(value), it.type, it.role, "forced" if path in self.forced else "")
            for path, value in self._values.items()
            for it in [self.variables[path]]
        )
        return table(caption, ("variable", "value", "type", "role", ""), rows)


class Sample(Values):
    """Values while they are followed: all that were asked for, not only those that have changed.

    Attributes:
        changed: paths of those that were sent with this sample.
        read_at_ns: when they were read, in nanoseconds since 1970, UTC.
        left_out: samples that were left out before this one because the client was slow. No change
            is lost by that: this sample has all that differs from the last one.
    """

    def __init__(
        self,
        values: Mapping[str, Value],
        *,
        variables: Mapping[str, Variable],
        forced: frozenset[str],
        changed: tuple[str, ...],
        sample: pb.Sample,
    ):
        super().__init__(values, variables=variables, forced=forced, reading=sample.reading)
        self.changed = changed
        self.read_at_ns = sample.read_at_ns
        self.left_out = sample.left_out

    @property
    def at(self) -> datetime:
        """When the values were read, in UTC, to the microsecond."""
        seconds, rest_ns = divmod(self.read_at_ns, 1_000_000_000)
        return datetime.fromtimestamp(seconds, UTC).replace(microsecond=rest_ns // 1000)


class SampleReader:
    """Reads a subscription: the list of its variables, then what has changed of them.

    Attributes:
        variables: the variables that are followed, by path.
        left_out: samples that were left out so far.
    """

    def __init__(self) -> None:
        self.variables: dict[str, Variable] = {}
        self.left_out = 0
        self._paths: tuple[str, ...] = ()
        self._values: dict[str, Value] = {}
        self._forced: frozenset[str] = frozenset()

    def take(self, message: pb.SubscribeVariablesResponse) -> Sample | None:
        """Returns the sample in a message; `None` for a list, whose values come with the next."""
        if message.WhichOneof("content") != "sample":
            self.variables = {it.path: _variable(it) for it in message.variables.variables}
            self._paths = tuple(self.variables)
            self._values = {}
            return None
        sample = message.sample
        changed = tuple(self._paths[index] for index in sample.indices)
        told = dict(zip(changed, map(of_message, sample.values), strict=True))
        # A copy: samples that were given out do not change.
        self._values = {**self._values, **told}
        if sample.forced_changed:
            self._forced = frozenset(self._paths[index] for index in sample.forced)
        self.left_out += sample.left_out
        return Sample(
            self._values,
            variables=self.variables,
            forced=self._forced,
            changed=changed,
            sample=sample,
        )


@dataclass(frozen=True, slots=True)
class Change:
    """A change of one variable; several are made together in one group.

    >>> Change.set("servo_P.Kp", 3.5), Change.unforce("servo_U.enable")
    (Change('set', 'servo_P.Kp', '3.5'), Change('unforce', 'servo_U.enable', None))
    """

    kind: ChangeKind
    variable: str
    value: str | None
    """The value as a person writes it; `None` where a forced variable is let go."""
    allow_nan: bool = False

    @classmethod
    def set(cls, variable: str, value: Writable, *, allow_nan: bool = False) -> Change:
        """Gives the variable the value once; NaN and infinite values only with `allow_nan`."""
        return cls("set", variable, as_text(value), allow_nan)

    @classmethod
    def force(cls, variable: str, value: Writable, *, allow_nan: bool = False) -> Change:
        """Holds the variable at the value until it is let go, whoever sets it meanwhile."""
        return cls("force", variable, as_text(value), allow_nan)

    @classmethod
    def unforce(cls, variable: str) -> Change:
        """Lets a forced variable go."""
        return cls("unforce", variable, None)

    def __repr__(self) -> str:
        return f"Change({self.kind!r}, {self.variable!r}, {self.value!r})"


class WhyNoEffect(StrEnum):
    """The reason why a change has no effect on its variable, with what would help."""

    HELD_BY_FORCE = "it is held by a force; force it to the value, or let it go before"
    WRITTEN_BY_FIELDBUS = "the fieldbus writes it before each step; force it"
    WRITTEN_BY_PROGRAM = "the program writes it in each cycle; force it"
    NOT_FORCED = "it was not forced"
    UNKNOWN = "for a reason that this version does not know"


@dataclass(frozen=True, slots=True)
class Effect:
    """A change of one variable, and what came of it."""

    change: Change
    old: str | None
    """The value right before; `None` where it could not be read."""
    new: str | None
    """The value that the change gives; `None` where that is not known."""
    without_effect: WhyNoEffect | None
    """The reason if it has none."""

    def __str__(self) -> str:
        what = f"{self.change.variable} {_DONE[self.change.kind]}"
        if self.without_effect is not None:
            return f"{what} without effect: {self.without_effect}"
        return f"{what} from {_shown(self.old)} to {_shown(self.new)}"


_DONE: dict[ChangeKind, str] = {"set": "set", "force": "forced", "unforce": "let go"}


class Applied(Listing[Effect]):
    """A group of changes that was made between two cycles, in their order.

    Attributes:
        cycle: the first cycle that saw the changes.
    """

    _columns = (
        ("variable", lambda it: it.change.variable),
        ("change", lambda it: _DONE[it.change.kind]),
        ("from", lambda it: _shown(it.old)),
        ("to", lambda it: _shown(it.new)),
        ("", lambda it: it.without_effect or ""),
    )

    def __init__(self, effects: Iterable[Effect] = (), cycle: int = 0):
        super().__init__(effects)
        self.cycle = cycle

    def _caption(self) -> str:
        return f"In force from cycle {count(self.cycle)}"

    def warn(self, stacklevel: int) -> Applied:
        """Warns of changes without effect, as of the caller `stacklevel` frames above."""
        for effect in self:
            if effect.without_effect is not None:
                warnings.warn(str(effect), NoEffectWarning, stacklevel=stacklevel + 1)
        return self


@dataclass(frozen=True, slots=True)
class AppliedChange:
    """A change of a variable that some client has made."""

    sequence: int
    """Its number in the life of the site, from 0."""
    partition: str
    cycle: int
    """The cycle from which it acts."""
    by: str
    """Who made it, as in `"anna in terminal pts/3 (quietcore set)"`."""
    effect: Effect

    def __str__(self) -> str:
        return f"cycle {count(self.cycle)} {self.partition}: {self.effect}, by {self.by}"


class AppliedChanges(Listing[AppliedChange]):
    """Changes of variables of a site, in order; the oldest are forgotten.

    Attributes:
        next: the number of the next one.
    """

    _columns = (
        ("partition", lambda it: it.partition),
        ("cycle", lambda it: it.cycle),
        ("change", lambda it: it.effect),
        ("by", lambda it: it.by),
    )

    def __init__(self, changes: Iterable[AppliedChange] = (), next_number: int = 0):
        super().__init__(changes)
        self.next = next_number

    def _caption(self) -> str:
        return "Changes of variables"


class Page(NamedTuple):
    """A part of the variables of a program."""

    variables: tuple[Variable, ...]
    generation: int
    next_token: str
    """The token of the next page; empty after the last one."""


def list_variables(
    site: str, partition: str, pattern: str, token: str
) -> Call[pb.ListVariablesResponse, Page]:
    """Lists a page of the variables that a pattern chooses; all for an empty one."""
    request = pb.ListVariablesRequest(
        site=site, partition=partition, pattern=pattern, page_token=token
    )
    return Call(
        f"{_SERVICE}/ListVariables",
        request,
        pb.ListVariablesResponse,
        lambda answer: Page(
            tuple(map(_variable, answer.variables)), answer.generation, answer.next_page_token
        ),
    )


def read(
    site: str, partition: str, patterns: tuple[str, ...]
) -> Call[pb.ReadVariablesResponse, Values]:
    """Reads variables of one instant between two cycles."""
    request = pb.ReadVariablesRequest(site=site, partition=partition, patterns=patterns)
    return Call(f"{_SERVICE}/ReadVariables", request, pb.ReadVariablesResponse, _values)


def change(
    site: str, partition: str, changes: tuple[Change, ...], *, confirm: bool
) -> Call[pb.WriteVariablesResponse, Applied]:
    """Makes a group of changes before one and the same cycle."""
    request = pb.WriteVariablesRequest(
        site=site, partition=partition, changes=map(_change_message, changes), confirm=confirm
    )
    return Call(
        f"{_SERVICE}/WriteVariables",
        request,
        pb.WriteVariablesResponse,
        lambda answer: Applied(map(_effect, answer.effects), answer.cycle),
    )


def sets(values: Mapping[str, Writable], *, allow_nan: bool) -> tuple[Change, ...]:
    """Sets each variable to its value."""
    return tuple(Change.set(path, value, allow_nan=allow_nan) for path, value in values.items())


def forces(values: Mapping[str, Writable], *, allow_nan: bool) -> tuple[Change, ...]:
    """Forces each variable to its value."""
    return tuple(Change.force(path, value, allow_nan=allow_nan) for path, value in values.items())


def as_before(values: Values) -> tuple[Change, ...]:
    """Gives variables the forces that they had when `values` were read, and no others."""
    return tuple(
        Change.force(path, value, allow_nan=True) if path in values.forced else Change.unforce(path)
        for path, value in values.items()
    )


def unforce_all(site: str, partition: str) -> Call[pb.UnforceAllResponse, Applied]:
    """Lets all forced variables go."""
    return Call(
        f"{_SERVICE}/UnforceAll",
        pb.UnforceAllRequest(site=site, partition=partition),
        pb.UnforceAllResponse,
        lambda answer: Applied(map(_effect, answer.effects), answer.cycle),
    )


def list_changes(site: str, since: int) -> Call[pb.ListChangesResponse, AppliedChanges]:
    """Lists the changes that clients have made lately."""
    return Call(
        f"{_SERVICE}/ListChanges",
        pb.ListChangesRequest(site=site, since=since),
        pb.ListChangesResponse,
        lambda answer: AppliedChanges(map(_applied, answer.changes), answer.next),
    )


def subscribe(
    site: str, partition: str, patterns: tuple[str, ...], interval: float, deadband: float
) -> tuple[Stream[pb.SubscribeVariablesResponse, Sample], SampleReader]:
    """Follows variables; `interval` in seconds."""
    request = pb.SubscribeVariablesRequest(
        site=site,
        partition=partition,
        patterns=patterns,
        # Not 0, which the daemon would take for its own default.
        interval_us=max(1, round(interval * 1e6)),
        deadband=deadband,
    )
    reader = SampleReader()
    path = f"{_SERVICE}/SubscribeVariables"
    return Stream(path, request, pb.SubscribeVariablesResponse, reader), reader


def the_only_one(values: Values, path: str) -> Value:
    """Returns the value of the one variable that `path` names.

    Raises:
        ValueError: if it is a pattern that chooses several.
    """
    if len(values) != 1:
        raise ValueError(f"`{path}` chooses {len(values)} variables; read them with `read`")
    return next(iter(values.values()))


def _variable(it: pb.Variable) -> Variable:
    return Variable(it.path, it.type, it.role, it.writable)


def _values(answer: pb.ReadVariablesResponse) -> Values:
    rows = answer.variables
    return Values(
        {it.variable.path: of_message(it.value) for it in rows},
        variables={it.variable.path: _variable(it.variable) for it in rows},
        forced=frozenset(it.variable.path for it in rows if it.forced),
        reading=answer.reading,
    )


def _change_message(it: Change) -> pb.Change:
    return pb.Change(
        kind=_KINDS[it.kind], variable=it.variable, value=it.value, allow_nan=it.allow_nan
    )


def _effect(it: pb.Effect) -> Effect:
    kind = next(kind for kind, number in _KINDS.items() if number == it.change.kind)
    value = it.change.value if it.change.HasField("value") else None
    return Effect(
        Change(kind, it.change.variable, value, it.change.allow_nan),
        it.old if it.HasField("old") else None,
        it.new if it.HasField("new") else None,
        _why(it.without_effect),
    )


def _why(number: pb.WhyNoEffect) -> WhyNoEffect | None:
    if number == pb.WHY_NO_EFFECT_UNSPECIFIED:
        return None
    try:
        return WhyNoEffect[pb.WhyNoEffect.Name(number).removeprefix("WHY_NO_EFFECT_")]
    except (KeyError, ValueError):
        return WhyNoEffect.UNKNOWN


def _applied(it: pb.AppliedChange) -> AppliedChange:
    return AppliedChange(it.sequence, it.partition, it.cycle, it.by, _effect(it.effect))


def _cell(value: Value) -> str:
    is_number = isinstance(value, int | float) and not isinstance(value, bool | Enumerated)
    return Figure(shown(value)) if is_number else shown(value)


def _shown(value: str | None) -> str:
    return "?" if value is None else value
