"""Options are declared once, in C++; here they become signatures and help texts."""

from __future__ import annotations

import inspect
from typing import Any, Callable

Field = dict[str, Any]


def describe(fields: list[Field]) -> str:
    """One line per option: name, default, range, meaning."""
    lines = []
    for field in fields:
        bounds = f", {field['low']:g} to {field['high']:g}" if "low" in field else ""
        lines.append(f"    {field['name']} = {field['default']!r}{bounds}: {field['help']}")
    return "\n".join(lines)


def with_options(target: Callable[..., Any], fields: list[Field]) -> inspect.Signature:
    """The signature of `target` with its `**options` spelt out."""
    signature = inspect.signature(target)
    kept = [p for p in signature.parameters.values() if p.kind is not p.VAR_KEYWORD]
    spelt = [
        inspect.Parameter(field["name"], inspect.Parameter.KEYWORD_ONLY, default=field["default"])
        for field in fields
        if field["name"] not in signature.parameters
    ]
    return signature.replace(parameters=kept + spelt)
