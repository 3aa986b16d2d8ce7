"""PGExplainer and GNNExplainer for torch_geometric.explain.Explainer, computed natively."""

from __future__ import annotations

from typing import Any, Dict, List, Optional, Tuple

import numpy as np
import torch
from torch import Tensor, nn
from torch_geometric.explain import Explanation
from torch_geometric.explain.config import (
    ExplanationType,
    MaskType,
    ModelMode,
    ModelTaskLevel,
)

import pgexplainer
from pgexplainer.pyg.algorithm import Data, Index, Instance, NativeAlgorithm, Network

# PyG's coefficients of PGExplainer, and their defaults there.
PYG_COEFFICIENTS: Dict[str, Any] = {"edge_size": 0.05, "edge_ent": 1.0, "temp": [5.0, 2.0],
                                    "bias": 0.01}
# A module that is called as it is takes milliseconds for what a native network does in
# microseconds: one attempt without a verdict, unless asked for more.
CALLED: Dict[str, Any] = {"necessity": [0.1], "sharpen": 0, "restarts": 0, "verdict": False}
# Of GNNExplainer -> what they are called here.
GNN_COEFFICIENTS = {"edge_ent": "edge_entropy", "node_feat_size": "feature_size",
                    "node_feat_ent": "feature_entropy"}
FEATURE_MASKS = {None: "none", MaskType.common_attributes: "common"}


class PGExplainer(NativeAlgorithm):
    """PGExplainer for `torch_geometric.explain.Explainer`, fitted natively.

    Fit it with one call of `fit`, or with PyG's loop over `train`; both do the same work. PyG's
    coefficients (edge_size, edge_ent, temp, bias) select the paper's objective with these numbers
    and PyG's defaults for the rest; otherwise keywords are options of `pgexplainer.PGExplainer`,
    whose default objective needs no coefficients.

    A tensor of indices gives one explanation: of each edge the largest value over the instances.

    >>> from torch_geometric.explain import Explainer
    >>> algorithm = PGExplainer(epochs=30, lr=0.003)
    >>> algorithm.epochs
    30
    """

    def __init__(self, epochs: Optional[int] = None, lr: Optional[float] = None, *, seed: int = 0,
                 threads: Optional[int] = None, **options: Any):
        coefficients = {name: options.pop(name) for name in PYG_COEFFICIENTS if name in options}
        options.update({name: value for name, value in (("epochs", epochs), ("lr", lr))
                        if value is not None})
        if coefficients:
            options = {**_paper_options({**PYG_COEFFICIENTS, **coefficients}), **options}
        self.like_pyg = bool(coefficients) and "target" not in options
        super().__init__(seed, threads, options)
        self.explainer = pgexplainer.PGExplainer(seed=seed, threads=threads, **options)
        self.epochs = int(self.explainer.options["epochs"])
        self._start_anew()

    def _start_anew(self) -> None:
        self._curr_epoch = -1
        self._graphs: Dict[bytes, pgexplainer.Graph] = {}
        self._gathered: Dict[Tuple[bytes, Instance], Optional[int]] = {}  # with their targets
        self._num_fitted = 0

    @property
    def report(self) -> Optional[Dict[str, Any]]:
        """What the last fit has to say: loss, warnings, verdict, ..."""
        return self.explainer.report

    def supports(self) -> bool:
        if self.explainer_config.node_mask_type is not None:
            return self._refuse("does not explain node features; set node_mask_type=None, or use "
                                "GNNExplainer")
        return True

    # --- fitting

    def fit(self, model: nn.Module, x: Tensor, edge_index: Tensor, *,
            target: Optional[Tensor] = None, index: Index = None, **kwargs: Any) -> PGExplainer:
        """Fits to the instances `index`: nodes, graphs of `batch`, or columns of edge_label_index.

        Without an index: to all of them. Further keywords go to the model, as in PyG.
        """
        self._start_anew()
        if index is None and self.model_config.task_level == ModelTaskLevel.node:
            index = torch.arange(x.shape[0])
        network = self.network(model, x, edge_index, kwargs)
        data = self.data(network, x, edge_index, target, kwargs)
        instances = self.instances(data, index, kwargs)
        self.compare_targets(network, data, instances)
        self._fit(network, data, instances)
        self._curr_epoch = self.epochs - 1
        return self

    def _fit(self, network: Network, data: Data, instances: List[Instance], **changed: Any
             ) -> None:
        options = {**({} if network.conversion else CALLED), **self.options, **changed}
        if self.like_pyg:
            options["target"] = "label" if self._reads_labels() else "class"
        explainer = pgexplainer.PGExplainer(seed=self.seed, threads=self.threads, **options)
        self.explainer = explainer.fit(network.model, data.data, instances)

    def _reads_labels(self) -> bool:
        return (self.explainer_config.explanation_type == ExplanationType.phenomenon
                and self.model_config.task_level != ModelTaskLevel.edge
                and self.model_config.mode != ModelMode.regression
                and (self.like_pyg or self.options.get("target") == "label"))

    def train(self, epoch: Any = True, model: Any = None, x: Any = None, edge_index: Any = None, *,
              target: Optional[Tensor] = None, index: Index = None, **kwargs: Any) -> Any:
        """One step of PyG's loop; returns a loss.

        The first epoch gathers the instances; when the second begins (or an explanation is asked
        for), all of them are fitted together, for the epochs that the constructor was given.
        """
        if model is None:  # nn.Module.train(mode)
            return super().train(epoch)
        if epoch < self._curr_epoch:
            self._start_anew()
        is_first = self._curr_epoch in (-1, epoch) and not self._num_fitted
        self._curr_epoch = epoch
        network = self.network(model, x, edge_index, kwargs)
        data = self.data(network, x, edge_index, target, kwargs)
        instances = self.instances(data, index, kwargs)
        of_graph = self.model_config.task_level == ModelTaskLevel.graph
        for instance in instances:
            number = instance if of_graph and isinstance(instance, int) else 0
            label = None if data.labels is None else int(data.labels[instance])
            key = data.keys[number]
            self._graphs[key] = data.graphs[number]
            self._gathered[key, 0 if of_graph else instance] = label
        if is_first:
            self._fit(network, data, instances, epochs=1, restarts=0, holdout=0.0, verdict=False,
                      progress=False)
        elif not self._num_fitted:
            self._fit_gathered(network)
        assert self.report is not None
        losses = self.report["loss"]
        return float(losses[min(epoch, len(losses) - 1)])

    def _fit_gathered(self, network: Network) -> None:
        """To the instances of all calls; nothing to do if none is new."""
        if len(self._gathered) == self._num_fitted:
            return
        graphs = list(self._graphs.values())
        if self.model_config.task_level == ModelTaskLevel.graph:
            joined: pgexplainer.Dataset = pgexplainer.Dataset(graphs)
            begin = {key: k for k, key in enumerate(self._graphs)}
        else:
            joined = _side_by_side(graphs)
            begin = dict(zip(self._graphs, _begins(graphs)))
        labels = {_shifted(instance, begin[key]): label
                  for (key, instance), label in self._gathered.items()}
        instances = list(labels)
        whole = Data(graphs, joined, np.empty(0), None)
        if None not in labels.values():
            whole.labels = labels
        network.forget_scale()
        self.compare_targets(network, whole, instances)
        self._fit(network, whole, instances)
        self._num_fitted = len(self._gathered)

    # --- explaining

    def forward(self, model: nn.Module, x: Tensor, edge_index: Tensor, *, target: Tensor,
                index: Index = None, **kwargs: Any) -> Explanation:
        if self._curr_epoch < self.epochs - 1:
            raise ValueError(f"'{type(self).__name__}' is not yet fully trained (got "
                             f"{self._curr_epoch + 1} epochs from {self.epochs} epochs). Please "
                             f"first run `explainer.algorithm.fit(...)`, or "
                             f"`explainer.algorithm.train(...)` for each epoch.")
        network = self.network(model, x, edge_index, kwargs)
        self._fit_gathered(network)
        data = self.data(network, x, edge_index, target, kwargs)
        explanations = self.explainer.explain(data.data, self.instances(data, index, kwargs),
                                              model=network.model)
        mask = self.edge_mask(data, explanations)
        return Explanation(
            edge_mask=self.within_reach(network, model, mask, x, edge_index, index))


def _paper_options(coefficients: Dict[str, Any]) -> Dict[str, Any]:
    """PyG's objective: the sum of the masks, the mean of their entropies, a step per instance, both
    directions of an edge for themselves, and what its explanation network reads.
    """
    start, end = coefficients["temp"]
    return {"objective": "paper", "size": coefficients["edge_size"], "size_term": "sum",
            "entropy": coefficients["edge_ent"], "entropy_term": "mean", "tau_start": start,
            "tau_end": end, "sample_bias": coefficients["bias"], "batch_size": 1,
            "symmetric": False, "embedding": "last-convolution"}


def _shifted(instance: Instance, by: int) -> Instance:
    if isinstance(instance, tuple):
        return instance[0] + by, instance[1] + by
    return instance + by


def _begins(graphs: List[pgexplainer.Graph]) -> List[int]:
    """The number of each graph's first node when they stand side by side."""
    return [0, *np.cumsum([graph.num_nodes for graph in graphs]).tolist()][:-1]


def _side_by_side(graphs: List[pgexplainer.Graph]) -> pgexplainer.Graph:
    """One graph of several that are not connected with each other."""
    if len(graphs) == 1:
        return graphs[0]
    begin = _begins(graphs)
    optional = {name: np.concatenate([getattr(graph, name) for graph in graphs])
                for name in ("y", "edge_weight", "edge_attr")
                if getattr(graphs[0], name) is not None}
    return pgexplainer.Graph(
        np.concatenate([graph.edge_index + np.int64(b) for graph, b in zip(graphs, begin)], axis=1),
        np.concatenate([graph.x for graph in graphs]), **optional)


class GNNExplainer(NativeAlgorithm):
    """GNNExplainer for `torch_geometric.explain.Explainer`: a mask is learnt for each instance.

    Keywords are PyG's coefficients or the options of `pgexplainer.GNNExplainer`. Edges are always
    explained, features in common for all nodes (node_mask_type="common_attributes") or not at all.
    A tensor of indices gives one explanation: the largest values over the instances.
    """

    def __init__(self, epochs: Optional[int] = None, lr: Optional[float] = None, *, seed: int = 0,
                 threads: Optional[int] = None, **options: Any):
        for theirs, ours in GNN_COEFFICIENTS.items():
            if theirs in options:
                options[ours] = options.pop(theirs)
        for name, only in (("edge_reduction", "sum"), ("node_feat_reduction", "mean")):
            if options.pop(name, only) != only:
                raise ValueError(f"'{name}' must be '{only}' in '{type(self).__name__}'")
        options.pop("EPS", None)
        options.update({name: value for name, value in (("epochs", epochs), ("lr", lr))
                        if value is not None})
        super().__init__(seed, threads, options)
        pgexplainer.GNNExplainer(seed=seed, threads=threads, **options)  # checks the options

    def supports(self) -> bool:
        config = self.explainer_config
        if config.node_mask_type not in FEATURE_MASKS:
            return self._refuse("masks features in common for all nodes; set "
                                "node_mask_type='common_attributes' or None")
        if config.edge_mask_type is None:
            return self._refuse("always explains edges; set edge_mask_type='object'")
        return True

    def forward(self, model: nn.Module, x: Tensor, edge_index: Tensor, *, target: Tensor,
                index: Index = None, **kwargs: Any) -> Explanation:
        network = self.network(model, x, edge_index, kwargs)
        data = self.data(network, x, edge_index, target, kwargs)
        instances = self.instances(data, index, kwargs)
        self.compare_targets(network, data, instances)
        kind = self.explainer_config.node_mask_type
        options: Dict[str, Any] = {"feature_mask": FEATURE_MASKS[kind], **self.options}
        explainer = pgexplainer.GNNExplainer(seed=self.seed, threads=self.threads, **options)
        explanations = explainer.explain(data.data, instances, model=network.model)
        mask = self.edge_mask(data, explanations)
        found = {"edge_mask": self.within_reach(network, model, mask, x, edge_index, index)}
        if kind is not None:
            scores = np.max([np.asarray(e.feature_score) for e in explanations], axis=0)
            found["node_mask"] = torch.from_numpy(scores).float().view(1, -1).to(x.device)
        return Explanation(**found)
