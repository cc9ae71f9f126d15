"""The arguments of a task: JSON in the store, values of the annotated types in the function.

What a person passes to `app.schedule` is written as JSON and read back by the annotations at once, so a wrong argument
is told at registration. What a worker passes to the function is read from the stored payload in the same way.

Reading is strict: "5" is no int and 1 is no bool; unknown fields of a dataclass are refused. Dates and times,
durations, UUIDs, decimals, paths, enums and sets are written as JSON knows them.
"""

from __future__ import annotations

import copy
import inspect
import json
import types
import typing
from collections.abc import Callable, Mapping, Sequence
from datetime import date, time, timedelta
from decimal import Decimal
from enum import Enum
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, Final
from uuid import UUID

from detent.domain.errors import DetentError, SpecError, quoted

if TYPE_CHECKING:
    from pydantic import TypeAdapter, ValidationError

_UNCHANGING: Final = (
    str, int, float, bytes, bool, type(None), date, time, timedelta, UUID, Decimal, PurePath, Enum,
)  # fmt: skip
"""Values that one firing can't change under another: they are read once."""
_GIVEN_BY_NAME: Final = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)


class TaskError(DetentError):
    """A function can't be a task, or can't be called with these arguments."""

    code = "task"


class Arguments:
    """The parameters of a function that a payload fills, by name; `skipped` of them come first and are filled by us."""

    def __init__(self, function: Callable[..., Any], name: str, *, skipped: int = 0) -> None:
        self._name = name
        every = list(inspect.signature(function).parameters.values())[skipped:]
        for parameter in every:
            if parameter.kind is parameter.POSITIONAL_ONLY and parameter.default is parameter.empty:
                raise TaskError(
                    f"{name} has an argument that can't be given by name, {parameter.name}: take away the /"
                )
        self._signature = inspect.Signature([one for one in every if one.kind is not one.POSITIONAL_ONLY])
        named = {one.name: one for one in every if one.kind in _GIVEN_BY_NAME}
        others = [one for one in every if one.kind is one.VAR_KEYWORD]
        self.names: Final = frozenset(named)
        self._readers = {key: _reader(function, name, parameter) for key, parameter in named.items()}
        self._other = _reader(function, name, others[0]) if others else None

    def written(self, given: Mapping[str, object]) -> dict[str, object]:
        """As JSON knows them. Refuses what the function can't be called with."""
        self._refuse_wrong_names(given)
        payload = {key: _jsonable(key, value) for key, value in given.items()}
        self.read(payload)
        return payload

    def read(self, payload: Mapping[str, object]) -> dict[str, Any]:
        """The values for one call."""
        self._refuse_wrong_names(payload)
        return {key: self._read_one(key, value) for key, value in payload.items()}

    def _read_one(self, key: str, value: object) -> Any:
        reader = self._readers.get(key, self._other)
        return copy.deepcopy(value) if reader is None else reader(f"payload/{key}", value)

    def _refuse_wrong_names(self, given: Mapping[str, object]) -> None:
        try:
            self._signature.bind(**given)
        except TypeError as error:
            raise TaskError(f"{self._name} can't be called with these arguments: {error}") from None


def unchanging(values: Mapping[str, object]) -> bool:
    """Whether calls may share these values."""
    return all(isinstance(value, _UNCHANGING) for value in values.values())


def hint_of(function: Callable[..., Any], parameter: inspect.Parameter) -> Any:
    """The type that a parameter is annotated with. Each is looked up by itself, as far as it can be at run time."""
    if parameter.annotation is parameter.empty:
        return Any
    asked = types.SimpleNamespace(__annotations__={parameter.name: parameter.annotation})
    home = inspect.unwrap(function)
    known = getattr(home, "__globals__", {})
    return typing.get_type_hints(asked, known, include_extras=True)[parameter.name]


def _reader(
    function: Callable[..., Any], name: str, parameter: inspect.Parameter
) -> Callable[[str, object], Any] | None:
    """None if anything will do."""
    try:
        hint = hint_of(function, parameter)
    except (NameError, AttributeError, TypeError, SyntaxError) as error:
        raise TaskError(
            f"{name}: the type of its argument {parameter.name} can't be found at run time ({error}): "
            "define it in the module, and import it outside TYPE_CHECKING"
        ) from None
    return None if hint in (Any, object) else _reader_of(hint, f"{name}: its argument {parameter.name}")


def _reader_of(hint: Any, whose: str) -> Callable[[str, object], Any]:
    # Loaded by apps whose tasks have arguments, and by nobody else: it takes its time.
    from pydantic import ConfigDict, PydanticUserError, TypeAdapter, ValidationError  # noqa: PLC0415

    try:  # in a tuple, for a type that stands alone takes no configuration from us
        adapter: TypeAdapter[Any] = TypeAdapter(tuple[hint], config=ConfigDict(extra="forbid", strict=True))
    except PydanticUserError as error:
        raise TaskError(f"{whose} has a type that no JSON can be read as: {_first_line(error)}") from None

    def read(field: str, value: object) -> Any:
        try:
            return adapter.validate_json(_text(field, [value]))[0]
        except ValidationError as error:
            raise _wrong(field, error) from None

    return read


def _wrong(field: str, error: ValidationError) -> SpecError:
    first, *more = error.errors(include_url=False, include_context=False)
    place = "/".join([field, *(str(part) for part in first["loc"][1:])])
    message = first["msg"][:1].lower() + first["msg"][1:]
    if first["type"] not in ("missing", "unexpected_keyword_argument", "extra_forbidden"):
        message += f", not {_shown(first['input'])}"
    if more:
        message += f" (and {len(more)} more)"
    return SpecError(message, code="bad_argument", field=place)


def _shown(value: object) -> str:
    return quoted(value) if isinstance(value, str) else quoted(repr(value))[1:-1]


def _jsonable(key: str, value: object) -> object:
    if value is None or type(value) in (str, int, float, bool):
        return value
    from pydantic_core import PydanticSerializationError, to_jsonable_python  # noqa: PLC0415

    try:
        return to_jsonable_python(value)
    except (PydanticSerializationError, ValueError, TypeError, RecursionError) as error:
        raise SpecError(
            f"{key} can't be written as JSON: {_first_line(error)}", code="bad_json", field=f"payload/{key}"
        ) from None


def _text(field: str, value: Sequence[object]) -> str:
    try:
        return json.dumps(value, allow_nan=False)
    except (ValueError, TypeError, RecursionError) as error:
        raise SpecError(f"can't be written as JSON: {error}", code="bad_json", field=field) from None


def _first_line(error: BaseException) -> str:
    return str(error).split("\n", 1)[0]
