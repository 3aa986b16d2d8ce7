"""Follows a module's forward with torch.fx and runs the tables of layers.py over what was recorded.

Layers are leaves; nn.Sequential, PyG's models and the user's own modules are walked into. Every
recorded step remembers the line of source that it came from.
"""

from __future__ import annotations

import inspect
import os
import sys
from types import SimpleNamespace
from typing import Any, Dict, Optional, Tuple
from unittest import mock

import torch
import torch_geometric
from torch import fx, nn
from torch_geometric.nn import MessagePassing
from torch_geometric.nn.aggr import Aggregation

from pgexplainer.pyg.layers import FUNCTIONS, METHODS, MODULES, Here
from pgexplainer.pyg.rows import Input, Refused, Rows, Unknown

# The arguments that a network may take, under our names for them.
ROLES = ("x", "edge_index", "edge_weight", "edge_attr", "batch", "edge_label_index")

_TORCH = os.path.dirname(torch.__file__) + os.sep
_PYG = os.path.dirname(torch_geometric.__file__) + os.sep
_HERE = os.path.dirname(__file__) + os.sep


class Root(nn.Module):  # type: ignore[misc]
    """The module called with those of the roles that it takes; `names` maps its names to roles.

    The first is x; a module that takes one `data` object gets an object with these attributes.
    """

    def __init__(self, module: nn.Module, names: Dict[str, str], one_object: bool = False):
        super().__init__()
        self.module = module
        self.names = names
        self.one_object = one_object

    def forward(self, x: Any, edge_index: Any, edge_weight: Any, edge_attr: Any, batch: Any,
                edge_label_index: Any) -> Any:
        values = dict(zip(ROLES, (x, edge_index, edge_weight, edge_attr, batch, edge_label_index)))
        given = {name: values[role] for name, role in self.names.items()}
        if self.one_object:
            return self.module(SimpleNamespace(**given))
        first = given.pop(next(iter(given)))  # layers name it differently
        return self.module(first, **given)


class TwoRows(fx.Proxy):  # type: ignore[misc]
    """An edge_index or edge_label_index, which can be unpacked: source, target = edge_index."""

    def __iter__(self) -> Any:
        return iter((self[0], self[1]))


class Tracer(fx.Tracer):  # type: ignore[misc]
    def __init__(self) -> None:
        # PyG's poolings are Python functions around this one.
        super().__init__(autowrap_functions=(torch_geometric.utils.scatter,))
        self._autowrap_search += [sys.modules["torch_geometric.nn.pool.glob"],
                                  torch_geometric.utils]

    def is_leaf_module(self, m: nn.Module, module_qualified_name: str) -> bool:
        if type(m) in MODULES or isinstance(m, MessagePassing):
            return True
        home = type(m).__module__ + "."
        if home.startswith(("torch_geometric.nn.models.", "torch_geometric.nn.sequential.")):
            return False
        return home.startswith(("torch.nn.", "torch_geometric.nn.")) and not isinstance(
            m, nn.Sequential)

    def proxy(self, node: fx.Node) -> fx.Proxy:
        two_rows = node.op == "placeholder" and str(node.target).endswith("_index")
        return TwoRows(node, self) if two_rows else super().proxy(node)

    def create_node(self, *args: Any, **kwargs: Any) -> fx.Node:
        node = super().create_node(*args, **kwargs)
        node.meta["line"] = _line_of_source(sys._getframe(1))
        return node


def _line_of_source(frame: Any) -> Optional[str]:
    """file:line of the innermost frame of the user's, else of PyG's, else None."""
    of_pyg = None
    while frame is not None:
        name = frame.f_code.co_filename
        if name.startswith(_HERE) and frame.f_code.co_name == "forward":
            break  # Root: everything beyond is not the network
        line = f"{name}:{frame.f_lineno}"
        if name.startswith(_PYG):
            of_pyg = of_pyg or line
        elif not name.startswith((_TORCH, _HERE)) and os.path.exists(name):
            return line
        frame = frame.f_back
    return of_pyg if frame is not None else None


def follow(module: nn.Module, names: Dict[str, str], prefix: str = "",
           one_object: bool = False) -> Any:
    """What the module returns for the arguments `names` (its names -> roles), as Rows."""
    root = Root(module, names, one_object)
    try:
        # Aggregations check their arguments in a __call__ of their own.
        with mock.patch.object(Aggregation, "__call__",
                               lambda self, *args, **kw: nn.Module.__call__(self, *args, **kw)):
            graph = Tracer().trace(root)
    except Exception as error:  # whatever the user's code raises when it is given proxies
        raise Refused(f"{_where_raised(error)}: torch.fx cannot follow this code ({error})"
                      ) from error
    values: Dict[fx.Node, Any] = {}

    def inner(network: nn.Module, name: str) -> Rows:
        found = follow(network, {_first_argument(network): "x"}, name)
        if isinstance(found, Unknown):
            raise Refused(f"{found.place}: {found.reason}")
        if not isinstance(found, Rows):
            raise Refused("an inner network that returns something else than rows")
        return found

    for node in graph.nodes:
        if node.op == "output":
            return fx.map_arg(node.args[0], lambda n: values[n])
        values[node] = _value(root, node, values, inner, prefix)
    raise AssertionError("a graph ends with its output")


def _value(root: Root, node: fx.Node, values: Dict[fx.Node, Any], inner: Any, prefix: str) -> Any:
    if node.op == "placeholder":
        return Rows() if node.target == "x" else Input(str(node.target))
    arguments = fx.map_arg((node.args, node.kwargs), lambda n: values[n])
    before: Tuple[Any, ...] = (*arguments[0], *arguments[1].values())
    data = before[0] if before else None
    if isinstance(data, Unknown):
        return data
    what, place = _describe(root, node, prefix)
    try:
        if node.op == "call_module":
            module = root.get_submodule(str(node.target))
            entry = MODULES.get(type(module))
            if entry is not None:
                here = Here(_name(str(node.target), prefix), inner)
                return entry(here, module, *arguments[0], **arguments[1])
        else:
            entry = (METHODS if node.op == "call_method" else FUNCTIONS).get(node.target)
            if entry is not None:
                return entry(*arguments[0], **arguments[1])
    except Refused as refused:
        return Unknown(str(refused), place)
    except (TypeError, AttributeError):  # arguments that the entry does not know
        return Unknown(f"{what} in a way that has no native counterpart", place)
    return Unknown(f"{what} has no native counterpart", place)


def _describe(root: Root, node: fx.Node, prefix: str) -> Tuple[str, str]:
    """What a step is, and where."""
    line = node.meta.get("line")
    if node.op == "call_module":
        module = root.get_submodule(str(node.target))
        name = _name(str(node.target), prefix)
        what = type(module).__name__
        return what, f"{line}: {name}" if line else name
    if node.op == "call_method":
        what = f".{node.target}()"
    elif node.op == "get_attr":
        what = f"the tensor {node.target}"
    else:
        what = f"{getattr(node.target, '__name__', node.target)}()"
    return what, line or what


def _name(target: str, prefix: str) -> str:
    """The module's name in the user's state_dict."""
    name = target[len("module"):].lstrip(".")
    return ".".join(part for part in (prefix, name) if part) or "module"


def _first_argument(module: nn.Module) -> str:
    return next(iter(inspect.signature(module.forward).parameters))


def _where_raised(error: BaseException) -> str:
    traceback = error.__traceback__
    place = None
    while traceback is not None:
        name = traceback.tb_frame.f_code.co_filename
        if not name.startswith((_TORCH, _HERE)):
            place = f"{name}:{traceback.tb_lineno}"
        traceback = traceback.tb_next
    return place or "the network"
