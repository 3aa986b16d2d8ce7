"""What the drop-in algorithms share: a module and its arguments as native network and data.

The network is converted (convert.py); one that cannot be converted is called as it is, through
pgexplainer.CallableModel. Both are kept while the same tensors come in again.
"""

from __future__ import annotations

import functools
import hashlib
import logging
import warnings
from dataclasses import dataclass
from typing import Any, Dict, List, Optional, Sequence, Set, Tuple, Union

import numpy as np
import torch
from torch import Tensor, nn
from torch_geometric.explain.algorithm import ExplainerAlgorithm
from torch_geometric.explain.config import (
    ExplanationType,
    ModelConfig,
    ModelMode,
    ModelTaskLevel,
)

import pgexplainer
from pgexplainer.arrays import Array
from pgexplainer.pyg.callable import callable_model
from pgexplainer.pyg.check import native_graph
from pgexplainer.pyg.convert import converted
from pgexplainer.pyg.rows import Refused
from pgexplainer.pyg.spec import Conversion

Index = Optional[Union[int, Tensor]]
Instance = Union[int, Tuple[int, int]]


@dataclass
class Network:
    """A module as the native explainers see it."""

    model: pgexplainer.Model
    conversion: Optional[Conversion]  # None: it is called as it is
    numbers: Optional[pgexplainer.Model] = None  # of regression: what `model` stands on

    def forget_scale(self) -> None:
        """How far numbers spread is found out on the first data: make that the next."""
        if self.numbers is not None:
            self.model = self.numbers.as_regression()


@dataclass
class Data:
    """The tensors of a call as native data. Edge k of the data is edge `order[k]` of the call."""

    graphs: List[pgexplainer.Graph]  # several at graph level only
    data: pgexplainer.Dataset
    order: Array
    labels: Any  # of each node or graph, by its number; None: there are none
    predicted: Optional[Array] = None  # classes, once they were asked for

    @functools.cached_property
    def keys(self) -> List[bytes]:
        """Of each graph: the same for equal graphs, whatever tensors they came in."""
        return [_digest(graph) for graph in self.graphs]


class NativeAlgorithm(ExplainerAlgorithm):  # type: ignore[misc]
    """What both algorithms share: conversion, data, and masks of PyG's shape."""

    def __init__(self, seed: int, threads: Optional[int], options: Dict[str, Any]):
        super().__init__()
        self.seed = seed
        self.threads = threads
        self.options = options
        # What was made last, beside the tensors it was made from, so that their ids stay theirs.
        self._network: Tuple[Any, Any, Any] = (None, None, None)
        self._data: Tuple[Any, Any, Any] = (None, None, None)
        self._warned: Set[str] = set()

    def network(self, model: nn.Module, x: Tensor, edge_index: Tensor, kwargs: Dict[str, Any]
                ) -> Network:
        """The converted module; converted again when its parameters have changed."""
        _refuse_dicts(self, x, edge_index)
        tensors = [tensor for module in model.modules()
                   for tensor in (*module._parameters.values(), *module._buffers.values())
                   if tensor is not None]
        key = (id(model), _versions(tensors), tuple(sorted(kwargs)))
        if self._network[0] != key:
            made = self._make_network(model, edge_index, kwargs)
            self._network = (key, (model, tensors), made)
        network: Network = self._network[2]
        return network

    def _make_network(self, model: nn.Module, edge_index: Tensor, kwargs: Dict[str, Any]
                      ) -> Network:
        config: ModelConfig = self.model_config
        conversion = None
        try:
            native, conversion = converted(
                model, task_level=config.task_level.value, mode=config.mode.value,
                arguments=[name for name, value in kwargs.items() if value is not None])
        except Refused as refused:
            self._warn(f"{type(model).__name__} cannot be converted: {refused}; it is called as it "
                       "is, which is slow")
            native = callable_model(model, config, edge_index, kwargs)
        if config.mode == ModelMode.regression:
            return Network(native.as_regression(), conversion, native)
        return Network(native, conversion)

    def data(self, network: Network, x: Tensor, edge_index: Tensor, target: Optional[Tensor],
             kwargs: Dict[str, Any]) -> Data:
        """The same object for the same tensors: what was prepared for it can be used again."""
        if self.explainer_config.explanation_type == ExplanationType.model:
            target = None  # the prediction, computed anew for each call
        given = {name: value for name, value in kwargs.items() if isinstance(value, Tensor)}
        tensors = [x, edge_index, *given.values(), *([] if target is None else [target])]
        key = (id(network), _versions(tensors), tuple(given))
        if self._data[0] != key:
            made = self._make_data(network, x, edge_index, target, given)
            self._data = (key, (network, tensors), made)
        data: Data = self._data[2]
        return data

    def _make_data(self, network: Network, x: Tensor, edge_index: Tensor, target: Optional[Tensor],
                   given: Dict[str, Tensor]) -> Data:
        level = self.model_config.task_level
        arguments = {"x": x, "edge_index": edge_index}
        names = {} if network.conversion is None else network.conversion.names
        arguments.update({names.get(name, name): value for name, value in given.items()})
        labels = None
        if (target is not None and level != ModelTaskLevel.edge
                and self.model_config.mode != ModelMode.regression):
            labels = target.detach().cpu().view(-1).numpy().astype(np.int64)
        if level != ModelTaskLevel.graph:
            graph = self._graph(network, arguments, labels)
            return Data([graph], graph, np.arange(edge_index.shape[1]), labels)
        batch = arguments.pop("batch", None)
        if batch is None:
            batch = torch.zeros(x.shape[0], dtype=torch.long)
        parts = _parts(arguments, batch.cpu())
        graphs = [self._graph(network, part, None if labels is None else labels[k])
                  for k, (part, _) in enumerate(parts)]
        return Data(graphs, pgexplainer.Dataset(graphs),
                    np.concatenate([edges for _, edges in parts]), labels)

    def _graph(self, network: Network, arguments: Dict[str, Tensor], y: Any) -> pgexplainer.Graph:
        if not self._reads_labels():
            y = None
        if network.conversion is not None:
            return native_graph(arguments, network.conversion, y)
        return pgexplainer.Graph(arguments["edge_index"].detach().cpu().numpy(),
                                 arguments["x"].detach().cpu().float().numpy(), y)

    def _reads_labels(self) -> bool:
        return False

    def instances(self, data: Data, index: Index, kwargs: Dict[str, Any]) -> List[Instance]:
        """What `index` names, each once: nodes, graphs of the batch, or pairs of nodes."""
        level = self.model_config.task_level
        pairs = kwargs.get("edge_label_index")
        if level == ModelTaskLevel.node and index is None:
            raise ValueError(f"The 'index' argument needs to be provided in "
                             f"'{type(self).__name__}' for node-level explanations")
        if level == ModelTaskLevel.edge and pairs is None:
            raise ValueError("Edge-level explanations need the argument 'edge_label_index'")
        if index is None:
            chosen = list(range(len(data.graphs) if pairs is None else pairs.shape[1]))
        elif isinstance(index, Tensor):
            flat = index.detach().cpu().view(-1)
            chosen = (flat.nonzero().view(-1) if flat.dtype == torch.bool else flat).tolist()
        else:
            chosen = [int(index)]
        found: List[Instance] = list(chosen)
        if level == ModelTaskLevel.edge:
            ends = torch.as_tensor(pairs).cpu()
            found = [(int(ends[0, k]), int(ends[1, k])) for k in chosen]
        return list(dict.fromkeys(found))

    def compare_targets(self, network: Network, data: Data, instances: List[Instance]) -> None:
        """PyG explains the target; ours the prediction. Says so where they differ."""
        if data.labels is None or self._reads_labels():
            return
        if data.predicted is None:
            data.predicted = network.model.predict(data.data).argmax(axis=1)
        wrong = [i for i in instances if data.predicted[i] != data.labels[i]]
        if wrong:
            self._warn(f"the target of {len(wrong)} of {len(instances)} instances (such as "
                       f"{wrong[0]}) is not what the network predicts; what is explained is the "
                       "prediction")

    def edge_mask(self, data: Data, explanations: Sequence[pgexplainer.Explanation]) -> Tensor:
        """The largest value that any of the instances gives an edge; 0 where none reaches."""
        mask = np.zeros(len(data.order), np.float32)
        mask[data.order] = functools.reduce(np.maximum, [e.edge_mask for e in explanations])
        return torch.from_numpy(mask)

    def within_reach(self, network: Network, model: nn.Module, mask: Tensor, x: Tensor,
                     edge_index: Tensor, index: Index) -> Tensor:
        """0 for edges that cannot matter. Only a module that is called as it is hides its reach."""
        if network.conversion is None and self.model_config.task_level == ModelTaskLevel.node:
            reached = self._get_hard_masks(model, index, edge_index, x.shape[0])[1]
            mask = torch.where(reached.cpu(), mask, torch.zeros_like(mask))
        return mask.to(x.device)

    def _warn(self, text: str) -> None:
        if text not in self._warned:
            self._warned.add(text)
            warnings.warn(text, stacklevel=5)

    def _refuse(self, reason: str) -> bool:
        logging.error(f"'{type(self).__name__}' {reason}")
        return False


def _refuse_dicts(algorithm: NativeAlgorithm, x: Any, edge_index: Any) -> None:
    if isinstance(x, dict) or isinstance(edge_index, dict):
        raise ValueError(f"'{type(algorithm).__name__}' explains homogeneous graphs only")


def _versions(tensors: Sequence[Tensor]) -> Tuple[Tuple[int, int], ...]:
    """Changes when a tensor is another one or was written to."""
    return tuple((id(tensor), tensor._version) for tensor in tensors)


def _parts(arguments: Dict[str, Tensor], batch: Tensor
           ) -> List[Tuple[Dict[str, Tensor], Array]]:
    """The graphs of a batch, and which edges are theirs."""
    edge_index = arguments["edge_index"].cpu()
    of_edge = batch[edge_index[0]]
    parts = []
    for number in range(int(batch.max()) + 1):
        nodes = (batch == number).nonzero().view(-1)
        edges = (of_edge == number).nonzero().view(-1)
        new_id = torch.full((len(batch),), -1)
        new_id[nodes] = torch.arange(len(nodes))
        part = {"x": arguments["x"].cpu()[nodes], "edge_index": new_id[edge_index[:, edges]]}
        for role in ("edge_weight", "edge_attr"):
            if role in arguments:
                part[role] = arguments[role].cpu()[edges]
        parts.append((part, edges.numpy()))
    return parts


def _digest(graph: pgexplainer.Graph) -> bytes:
    digest = hashlib.blake2b(digest_size=16)
    for name in ("edge_index", "x", "edge_weight", "edge_attr", "y"):
        values = getattr(graph, name)
        if values is not None:
            digest.update(np.ascontiguousarray(values).tobytes())
    return digest.digest()
