"""The check that a module and its conversion compute the same."""

from __future__ import annotations

import inspect
from typing import Any, Dict, List, Optional

import numpy as np
import torch
from torch import Tensor, nn

import pgexplainer
from pgexplainer.arrays import Array
from pgexplainer.pyg.rows import Refused
from pgexplainer.pyg.spec import Conversion
from pgexplainer.pyg.trace import ROLES

TOLERANCE = 1e-5


def check(module: nn.Module, model: pgexplainer.Model, conversion: Conversion,
          sample: Optional[Any] = None) -> None:
    """Refuses unless both give the same on the sample: to 1e-5, of the largest if that is more."""
    graphs = _graphs_of(sample) if sample is not None else random_graphs(conversion)
    native = native_outputs(model, conversion, graphs)
    theirs = module_outputs(module, conversion, graphs)
    if native.shape != theirs.shape:
        raise Refused(f"it gives an output of shape {theirs.shape}, the conversion {native.shape}")
    worst = float(np.abs(native - theirs).max(initial=0.0))
    limit = TOLERANCE * max(1.0, float(np.abs(theirs).max(initial=0.0)))
    if not worst <= limit:
        raise Refused(f"on a sample graph the conversion differs from the module by {worst:.2g}, "
                      f"more than {limit:.2g}; is something in it random, or does its forward "
                      "depend on other things than its arguments?")


def random_graphs(conversion: Conversion) -> List[Dict[str, Tensor]]:
    """Directed edges, a self-loop, a node without edges; several graphs for a graph network."""
    generator = torch.Generator().manual_seed(0)
    graphs = []
    for nodes, edges in ((12, 30), (5, 6), (7, 18)) if conversion.level == "graph" else ((14, 40),):
        edge_index = torch.randint(0, nodes - 1, (2, edges), generator=generator)
        edge_index = torch.unique(edge_index[:, edge_index[0] != edge_index[1]], dim=1)
        edge_index = torch.cat([edge_index, torch.tensor([[1], [1]])], dim=1)
        count = edge_index.shape[1]
        graph = {"x": torch.randn(nodes, conversion.spec["in_channels"], generator=generator),
                 "edge_index": edge_index}
        if conversion.reads_edge_weight:
            graph["edge_weight"] = torch.rand(count, generator=generator) + 0.5
        if conversion.reads_edge_attr:
            graph["edge_attr"] = torch.randn(count, _edge_dim(conversion), generator=generator)
        if conversion.level == "edge":
            graph["edge_label_index"] = torch.randint(0, nodes, (2, 8), generator=generator)
        graphs.append(graph)
    return graphs


def _edge_dim(conversion: Conversion) -> int:
    width = conversion.spec["in_channels"]
    for block in conversion.spec["blocks"]:
        for layer in block:
            if layer.get("edge_dim"):
                return int(layer["edge_dim"])
            if layer["type"] == "GINEConv":
                return int(width)
            width = layer.get("out_channels", width) * (
                layer.get("heads", 1) if layer.get("concat", True) else 1)
    raise AssertionError("some layer reads edge features")


def _graphs_of(sample: Any) -> List[Dict[str, Tensor]]:
    """A Data, or the graphs of a Batch."""
    if hasattr(sample, "to_data_list"):
        return [graph for one in sample.to_data_list() for graph in _graphs_of(one)]
    graph = {role: getattr(sample, role).detach().cpu() for role in ROLES
             if role != "batch" and getattr(sample, role, None) is not None}
    graph["x"] = graph["x"].float()
    return [graph]


def native_graph(graph: Dict[str, Tensor], conversion: Conversion, y: Any = None
                 ) -> pgexplainer.Graph:
    """Only what the network reads: unread weights would be read by the native layers."""
    optional = {}
    if conversion.reads_edge_weight and graph.get("edge_weight") is not None:
        optional["edge_weight"] = graph["edge_weight"].detach().cpu().float().view(-1).numpy()
    if conversion.reads_edge_attr:
        attr = graph["edge_attr"].detach().cpu().float()
        optional["edge_attr"] = (attr.view(-1, 1) if attr.dim() == 1 else attr).numpy()
    return pgexplainer.Graph(graph["edge_index"].detach().cpu().numpy(),
                             graph["x"].detach().cpu().float().numpy(), y, **optional)


def native_outputs(model: pgexplainer.Model, conversion: Conversion,
                   graphs: List[Dict[str, Tensor]]) -> Array:
    """What the module would return, from the native logits."""
    native = [native_graph(graph, conversion) for graph in graphs]
    if conversion.level == "graph":
        logits = torch.from_numpy(np.array(model.predict(pgexplainer.Dataset(native))))
    else:
        logits = torch.from_numpy(np.concatenate([model.predict(graph) for graph in native]))
    if conversion.level == "edge":
        u, v = graphs[0]["edge_label_index"]
        logits = (logits[u].double() * logits[v].double()).sum(-1, keepdim=True)
    elif conversion.binary:
        logits = logits[:, 1:] - logits[:, :1]
    if conversion.returns == "log_probs":
        logits = logits.log_softmax(-1)
    elif conversion.returns == "probs":
        logits = logits.sigmoid() if logits.shape[1] == 1 else logits.softmax(-1)
    return np.asarray(logits, dtype=np.float64)


def module_outputs(module: nn.Module, conversion: Conversion,
                   graphs: List[Dict[str, Tensor]]) -> Array:
    """One row per node, graph or pair. Graphs go in one batch if the module takes a batch."""
    if conversion.reads_batch:
        graphs = [_join(graphs)]
    rows = []
    for graph in graphs:
        given = _given(module, conversion, graph)
        try:
            with torch.no_grad():
                out = module(_Attributes(given)) if conversion.one_object else module(**given)
        except Exception as error:  # whatever the user's code raises
            raise Refused(f"it cannot be called on a sample graph ({error}); give one that it can "
                          "be called on, sample=Data(...)") from error
        if conversion.level == "edge" or conversion.binary:
            out = out.reshape(-1, 1)
        elif out.dim() == 1:
            out = out.view(-1, 1) if conversion.spec["num_classes"] == 1 else out.view(1, -1)
        rows.append(out.double().numpy())
    return np.concatenate(rows)


def _given(module: nn.Module, conversion: Conversion, graph: Dict[str, Tensor]
           ) -> Dict[str, Tensor]:
    """The arguments that the graph has, and those that the module demands but does not read."""
    unread = {"batch": torch.zeros(len(graph["x"]), dtype=torch.long),
              "edge_weight": torch.ones(graph["edge_index"].shape[1]),
              "edge_attr": torch.ones(graph["edge_index"].shape[1], 1),
              "edge_label_index": graph["edge_index"]}
    demanded = {name for name, parameter in inspect.signature(module.forward).parameters.items()
                if parameter.default is parameter.empty}
    return {name: graph[role] if role in graph else unread[role]
            for name, role in conversion.names.items() if role in graph or name in demanded}


class _Attributes:
    """What a network that takes one `data` reads from it; missing attributes are None."""

    def __init__(self, values: Dict[str, Tensor]):
        self.__dict__.update(values)

    def __getattr__(self, name: str) -> None:
        return None


def _join(graphs: List[Dict[str, Tensor]]) -> Dict[str, Tensor]:
    joined: Dict[str, List[Tensor]] = {}
    begin = 0
    for number, graph in enumerate(graphs):
        nodes = graph["x"].shape[0]
        for role, value in graph.items():
            if role == "edge_index":
                value = value + begin
            joined.setdefault(role, []).append(value)
        joined.setdefault("batch", []).append(torch.full((nodes,), number))
        begin += nodes
    return {role: torch.cat(values, dim=1 if role == "edge_index" else 0)
            for role, values in joined.items()}
