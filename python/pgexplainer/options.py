"""Options are declared once, in C++; here they become signatures and help texts."""

from __future__ import annotations

import inspect
import re
from typing import Any, Callable

Field = dict[str, Any]


def describe(fields: list[Field]) -> str:
    """One line per option: name, default, range, meaning."""
    lines = []
    for field in fields:
        bounds = f", {field['low']:g} to {field['high']:g}" if "low" in field else ""
        # The help is that of the command line, whose options have dashes.
        text = re.sub("--[a-z-]+", lambda word: word[0][2:].replace("-", "_"), field["help"])
        lines.append(f"    {field['name']} = {field['default']!r}{bounds}: {text}")
    return "\n".join(lines)


def with_options(
    target: Callable[..., Any], fields: list[Field], without: tuple[str, ...] = ()
) -> inspect.Signature:
    """The signature of `target` with its `**options` spelt out."""
    signature = inspect.signature(target)
    kept = [
        parameter
        for parameter in signature.parameters.values()
        if parameter.kind is not parameter.VAR_KEYWORD and parameter.name not in without
    ]
    spelt = [
        inspect.Parameter(field["name"], inspect.Parameter.KEYWORD_ONLY, default=field["default"])
        for field in fields
        if field["name"] not in signature.parameters
    ]
    return signature.replace(parameters=kept + spelt)
