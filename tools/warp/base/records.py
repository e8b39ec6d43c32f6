"""JSON that a program wrote, as data classes: read, or refused in one line that says where it has another form; written
again; and the JSON Schema of it, to which the programs that write it are held.

A field without a default has to be there. One with the metadata NOTED is not the writer's: it is noted afterwards.
"""

from __future__ import annotations

import dataclasses
import functools
import typing
from collections.abc import Callable
from typing import Any, TypeVar

from warp.base.errors import LearnError

Record = TypeVar("Record")
NOTED = {"noted": True}
KEY = "key"  # metadata of a field whose key is no name in Python
JSON_NAMES = {str: "string", int: "integer", float: "number", bool: "boolean"}


class FormError(LearnError):
    """Data have another form than was agreed on."""


class _Wrong(Exception):
    """What is wrong; the way to it is put together on the way up."""

    def __init__(self, what: str) -> None:
        super().__init__(what)
        self.way = ""


def read(kind: Callable[..., Record], data: Any, strict: bool = False) -> Record:
    """The data class of JSON, or FormError. Keys that it does not know are left out; with `strict` they are errors, too."""
    try:
        return typing.cast(Record, _reader(kind, strict)(data))
    except _Wrong as wrong:
        raise FormError(f"{wrong.way.lstrip('.') or 'the whole'}: {wrong}")


def write(value: Any) -> Any:
    """JSON of a data class. What has nothing to say is left out: None, and a text, number or truth that is its default."""
    if dataclasses.is_dataclass(value):
        return {
            _key(field): write(getattr(value, field.name))
            for field in dataclasses.fields(value)
            if _is_required(field) or getattr(value, field.name) != field.default
        }
    if isinstance(value, list):
        return [write(one) for one in value]
    return value


def schema(kind: type) -> dict[str, Any]:
    """The JSON Schema of a data class, without what is noted afterwards."""
    defined: dict[str, Any] = {}
    top = _schema(kind, defined)
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **top, "$defs": defined}


def _key(field: dataclasses.Field[Any]) -> str:
    return str(field.metadata.get(KEY, field.name))


def _is_required(field: dataclasses.Field[Any]) -> bool:
    return field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING


@functools.cache
def _reader(kind: Any, strict: bool) -> Callable[[Any], Any]:
    """What turns JSON into a value of this type, or raises _Wrong."""
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if dataclasses.is_dataclass(kind):
        return _record_reader(kind, strict)
    if origin in (list, dict):
        return _container_reader(origin, _reader(arguments[-1], strict))
    if origin is typing.Union:  # Optional[...]
        inner = _reader(arguments[0], strict)
        return lambda value: None if value is None else inner(value)
    accepted = (int, float) if kind is float else kind

    def plain(value: Any) -> Any:
        if not isinstance(value, accepted) or (kind is not bool and isinstance(value, bool)):
            raise _Wrong(f"{value!r} is no {JSON_NAMES[kind]}")
        return value

    return plain if kind is not Any else lambda value: value


def _container_reader(container: Any, inner: Callable[[Any], Any]) -> Callable[[Any], Any]:
    def read_all(value: Any) -> Any:
        if not isinstance(value, container):
            raise _Wrong(f"{value!r} is no {'list' if container is list else 'object'}")
        try:
            if isinstance(value, dict):
                return {key: inner(one) for key, one in value.items()}
            return [inner(one) for one in value]
        except _Wrong as wrong:
            raise _further(wrong, _place_of(value, inner))

    return read_all


def _place_of(value: Any, inner: Callable[[Any], Any]) -> str:
    """Where in a list or an object the first value stands that cannot be read."""
    for key, one in value.items() if isinstance(value, dict) else enumerate(value):
        try:
            inner(one)
        except _Wrong:
            return f".{key}" if isinstance(value, dict) else f"[{key}]"
    return ""


def _record_reader(kind: Any, strict: bool) -> Callable[[Any], Any]:
    hints = typing.get_type_hints(kind)
    readers = {_key(field): _reader(hints[field.name], strict) for field in dataclasses.fields(kind)}
    names = {_key(field): field.name for field in dataclasses.fields(kind)}
    required = [_key(field) for field in dataclasses.fields(kind) if _is_required(field)]
    noted = {_key(field) for field in dataclasses.fields(kind) if field.metadata.get("noted")}

    def read_record(value: Any) -> Any:
        if not isinstance(value, dict):
            raise _Wrong(f"{value!r} is no object")
        missing = next((name for name in required if name not in value), None)
        if missing:
            raise _Wrong(f"it lacks {missing}")
        unknown = next((name for name in value if name not in readers or name in noted), None) if strict else None
        if unknown:
            raise _Wrong(f"{unknown} is unknown")
        found = {}
        for name, one in value.items():
            if name in readers:
                try:
                    found[names[name]] = readers[name](one)
                except _Wrong as wrong:
                    raise _further(wrong, "." + name)
        return kind(**found)

    return read_record


def _further(wrong: _Wrong, place: str) -> _Wrong:
    wrong.way = place + wrong.way
    return wrong


def _schema(kind: Any, defined: dict[str, Any]) -> dict[str, Any]:
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if dataclasses.is_dataclass(kind):
        name = typing.cast(type, kind).__name__
        if name not in defined:
            defined[name] = {}  # a class may hold others of its own
            hints = typing.get_type_hints(kind)
            fields = [field for field in dataclasses.fields(kind) if not field.metadata.get("noted")]
            required: list[str] = [_key(field) for field in fields if _is_required(field)]
            defined[name] = {
                "type": "object",
                "properties": {_key(field): _schema(hints[field.name], defined) for field in fields},
                "required": required,
                "additionalProperties": False,
            }
        return {"$ref": f"#/$defs/{name}"}
    if origin is list:
        return {"type": "array", "items": _schema(arguments[0], defined)}
    if origin is dict:
        return {"type": "object", "additionalProperties": _schema(arguments[1], defined)}
    if origin is typing.Union:
        return {"anyOf": [_schema(arguments[0], defined), {"type": "null"}]}
    return {} if kind is Any else {"type": JSON_NAMES[kind]}
