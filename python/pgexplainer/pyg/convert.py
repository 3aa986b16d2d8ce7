"""PyG modules as native networks."""

from __future__ import annotations

import copy
import inspect
import os
import warnings
from typing import Any, Dict, Iterable, List, Optional, Tuple, Union

import torch
from torch import nn
from torch.nn.parameter import is_lazy

import pgexplainer
from pgexplainer.pyg.check import check
from pgexplainer.pyg.rows import Refused
from pgexplainer.pyg.spec import Builder, Conversion
from pgexplainer.pyg.trace import ROLES, follow

REMEDY = ("wrap it as it is with pgexplainer.CallableModel (slower; the explainers of "
          "pgexplainer.pyg do so by themselves)")

# Other names under which networks take the same arguments.
ALIASES = {"edge_weights": "edge_weight", "weight": "edge_weight", "edge_features": "edge_attr",
           "edge_feat": "edge_attr", "batch_index": "batch", "edge_label_indices":
           "edge_label_index"}


def convert(module: nn.Module, *, task_level: Optional[str] = None, mode: Optional[str] = None,
            sample: Optional[Any] = None) -> pgexplainer.Model:
    """The native network that computes what the module computes in evaluation mode.

    Covers the models of ``torch_geometric.nn`` (GCN, GraphSAGE, GIN, GAT),
    ``torch_geometric.nn.Sequential`` and modules of your own whose every step is a supported layer
    or function. Raises `pgexplainer.Error`, naming the line and the remedy, for others, and if the
    logits of both differ by more than 1e-5 on a sample graph. The module is not changed.

    task_level: "node", "graph" or "edge"; by default what the forward looks like (pooling: graph,
        products of pairs: edge). An edge-level network becomes the node network in front of the
        products; instances that are pairs of nodes explain its links.
    mode: PyG's "multiclass_classification", "binary_classification" (one number s becomes the
        logits 0 and s of two classes; the default for networks with one output) or "regression".
    sample: a ``torch_geometric.data.Data`` (or Batch) to check on; a random one by default.

    >>> from torch_geometric.nn import GCN
    >>> model = convert(GCN(in_channels=10, hidden_channels=20, num_layers=3, out_channels=4))
    >>> model.num_classes
    4
    """
    try:
        return converted(module, task_level=task_level, mode=mode, sample=sample)[0]
    except Refused as refused:
        raise pgexplainer.Error(
            f"{type(module).__name__} cannot be converted: {refused}; {REMEDY}") from refused


def save(module: nn.Module, path: Union[str, "os.PathLike[str]"], *,
         task_level: Optional[str] = None, mode: Optional[str] = None,
         sample: Optional[Any] = None) -> None:
    """Converts the module and writes the safetensors file that the command line and C++ read."""
    convert(module, task_level=task_level, mode=mode, sample=sample).save(os.fspath(path))


def converted(module: nn.Module, *, task_level: Optional[str] = None, mode: Optional[str] = None,
              sample: Optional[Any] = None, arguments: Optional[Iterable[str]] = None
              ) -> Tuple[pgexplainer.Model, Conversion]:
    """`convert`, and what it found. arguments: the optional ones that the module is called with."""
    ours = _own_copy(module)
    conversion = translate(ours, task_level, mode, sample, arguments)
    try:
        model = pgexplainer.Model(conversion.spec, conversion.tensors)
    except pgexplainer.Error as error:
        raise Refused(str(error)) from error
    check(ours, model, conversion, sample)
    return model, conversion


def _own_copy(module: nn.Module) -> nn.Module:
    """A copy in evaluation mode, on the processor, in single precision."""
    if isinstance(module, torch.jit.ScriptModule):
        raise Refused("it is a TorchScript module: save it and give the file to the tool")
    module = getattr(module, "_orig_mod", module)  # of torch.compile
    for name, tensor in [*module.named_parameters(), *module.named_buffers()]:
        if is_lazy(tensor):
            raise Refused(f"{name} has no shape yet; call the module once")
    if any(p.dtype == torch.float64 for p in module.parameters()):
        warnings.warn("the module computes in double precision, its native copy in single",
                      stacklevel=4)
    try:
        ours = copy.deepcopy(module)
    except Exception as error:
        raise Refused(f"it cannot be copied ({error})") from error
    for layer in ours.modules():
        if getattr(layer, "cached", False):  # GCNConv's coefficients of the first graph it saw
            layer.cached = False
            layer._cached_edge_index = layer._cached_adj_t = None
    return ours.cpu().float().eval().requires_grad_(False)


# --- arguments ------------------------------------------------------------------------------------


def _arguments(module: nn.Module) -> Tuple[Dict[str, str], Dict[str, str], bool]:
    """The names of the required and the optional arguments -> their roles; takes one object?"""
    parameters = list(inspect.signature(module.forward).parameters.values())
    named = [p for p in parameters if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)]
    if not named:
        raise Refused("its forward does not name its arguments")
    if len([p for p in named if p.default is p.empty]) == 1 and (
            named[0].name in ("data", "batch", "graph", "g")):
        return {}, {role: role for role in ROLES}, True
    required: Dict[str, str] = {}
    optional: Dict[str, str] = {}
    for position, p in enumerate(named):
        name = ALIASES.get(p.name, p.name)
        role = ROLES[position] if position < 2 else name
        if role in ROLES:
            (required if p.default is p.empty else optional)[p.name] = role
        elif p.default is p.empty:
            raise Refused(f"its forward needs '{p.name}', which no explainer can give it; known "
                          f"are {', '.join(ROLES)}")
    return required, optional, False


def translate(module: nn.Module, task_level: Optional[str], mode: Optional[str],
              sample: Optional[Any] = None, arguments: Optional[Iterable[str]] = None
              ) -> Conversion:
    """The description of a copy that `_own_copy` made, called with the arguments that are named,
    that the sample has, or, without either, with as many as can be.
    """
    required, optional, one_object = _arguments(module)
    if arguments is not None:
        unknown = set(arguments) - set(required) - set(optional)
        if unknown:
            raise Refused(f"it is called with {', '.join(sorted(unknown))}")
        given = {name: role for name, role in optional.items() if name in set(arguments)}
    else:
        given = {name: role for name, role in optional.items()
                 if sample is None or getattr(sample, role, None) is not None}
    attempts = [{**required, **given}]
    if arguments is None and sample is None:
        attempts.append({name: role for name, role in attempts[0].items() if role != "batch"})
        attempts.append(required)
    for names in filter(None, attempts):
        try:
            result = follow(module, names, one_object=one_object)
            return Builder(task_level, mode).build(result, names, one_object)
        except Refused as refused:
            last = refused
    raise last
