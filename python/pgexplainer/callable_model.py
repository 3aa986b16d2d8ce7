"""Any model that torch can differentiate, for those that nothing can convert."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Callable, Optional

import numpy as np

from . import _core
from ._core import Error
from .arrays import Array
from .data import Dataset, Path
from .model import Model

if TYPE_CHECKING:
    import torch

Predict = Callable[..., "torch.Tensor"]


class CallableModel(Model):
    """A torch module or function as a model: slow, but every explainer works with it.

    predict(x, edge_index, edge_mask, batch): the logits, one row per node (batch is None) or per
    graph, differentiable by edge_mask: one number from 0 to 1 per edge, with which the edge's
    messages are to be multiplied (times the data's edge_weight, if it has one).
    embed(x, edge_index): one row per node, for PGExplainer; without it the logits of the nodes.
    task, num_features, num_classes: found out on the first data if left out.
    num_hops: how far a node's prediction reaches. Left out, explanations are about the whole graph;
    given, about the part within so many hops. A model that normalises by degrees (GCN) needs one
    more than it has layers, since the degrees of the outermost nodes are those of the part.

    >>> import numpy as np, torch, pgexplainer as pgx
    >>> def predict(x, edge_index, edge_mask, batch):
    ...     source, target = edge_index
    ...     sums = torch.zeros_like(x).index_add(0, target, edge_mask[:, None] * x[source])
    ...     return torch.stack([sums[:, 0], -sums[:, 0]], 1)
    >>> data = pgx.Graph([[0, 1, 1, 2], [1, 0, 2, 1]], np.eye(3))
    >>> model = pgx.CallableModel(predict, num_hops=1)
    >>> pgx.Occlusion().explain(data, 1, model=model).score.round(2)
    array([0.38, 0.  , 0.38, 0.  ], dtype=float32)
    """

    def __init__(
        self,
        predict: Predict,
        embed: Optional[Predict] = None,
        *,
        task: Optional[str] = None,
        num_features: Optional[int] = None,
        num_classes: Optional[int] = None,
        num_hops: Optional[int] = None,
    ) -> None:
        if task not in (None, "node", "graph"):
            raise Error(f"task is {task!r}, expected 'node' or 'graph'")
        self._network = _Network(predict, embed, one_is_two=True)
        self._given = (task, num_features, num_classes, num_hops)
        self._met: Optional[_core.Model] = None

    @staticmethod
    def load(path: Path) -> CallableModel:
        """A TorchScript file: forward(x, edge_index, edge_weight[, batch]), and perhaps embed with
        the same arguments and an attribute num_hops.
        """
        try:
            import torch
        except ImportError:
            raise Error(f"{path}: a TorchScript file needs torch, which is not installed") from None
        if not os.path.exists(path):
            raise Error(f"{path}: no such file or folder")
        try:
            script = torch.jit.load(os.fspath(path)).eval()
        except (RuntimeError, ValueError) as error:
            raise Error(
                f"{path}: cannot be read as TorchScript, which torch.jit.script(module).save(path) "
                f"writes: {str(error).splitlines()[0]}"
            ) from None
        takes_batch = len(script.forward.schema.arguments) > 4  # self and three more
        found = script.embed if hasattr(script, "embed") else None

        def predict(x: Any, edge_index: Any, mask: Any, batch: Any) -> Any:
            rest = (torch.zeros(len(x), dtype=torch.long) if batch is None else batch,)
            return script(x, edge_index, mask, *(rest if takes_batch else ()))

        def embed(x: Any, edge_index: Any) -> Any:
            more = (torch.zeros(len(x), dtype=torch.long),)
            wanted = len(found.schema.arguments) - 4
            return found(x, edge_index, torch.ones(edge_index.shape[1]), *more[:wanted])

        return CallableModel(
            predict, embed if found else None, num_hops=getattr(script, "num_hops", None)
        )

    @property
    def _inner(self) -> _core.Model:  # type: ignore[override]
        if self._met is None:
            raise Error("a CallableModel is known once it has met data; call predict or fit first")
        return self._met

    def as_regression(self, scale: Optional[float] = None) -> Model:
        """As of `Model`; a single column then is the number itself."""
        network = self._network
        numbers = _rebuild(_Network(network.predict, network.embed, False), *self._given)
        return Model.as_regression(numbers, scale)

    def _on(self, data: Dataset) -> tuple[_core.Model, _core.Dataset]:
        if self._met is None and isinstance(data, Dataset):
            import torch

            task = self._given[0] or data.task
            with torch.enable_grad():
                self._met = self._meet(data._for(task), task)
        return super()._on(data)

    def _meet(self, data: _core.Dataset, task: str) -> _core.Model:
        """Finds out what was not given, and refuses what cannot be explained."""
        import torch

        network = self._network
        nodes, edges = slice(None), slice(None)
        if task == "graph":  # the first graph with an edge, if there is one
            graph = int(np.argmax(np.diff(data.edge_ptr) > 0))
            nodes = slice(*data.graph_ptr[graph : graph + 2].tolist())
            edges = slice(*data.edge_ptr[graph : graph + 2].tolist())
        x = torch.tensor(data.x[nodes])
        edge_index = torch.tensor(np.stack([data.sources[edges], data.targets[edges]])).long()
        edge_index -= nodes.start or 0
        batch = torch.zeros(len(x), dtype=torch.long) if task == "graph" else None
        mask = torch.ones(edge_index.shape[1], requires_grad=True)
        logits = network.logits(x, edge_index, mask, batch)
        rows = 1 if task == "graph" else len(x)
        if len(logits) != rows:
            raise Error(
                f"predict gave {len(logits)} rows of logits for {rows} {task}s; "
                f"expected one per {task}"
            )
        if not torch.allclose(logits, network.logits(x, edge_index, mask, batch), atol=1e-4):
            raise Error("predict gives other logits every time; call eval() on the module first")
        if edge_index.shape[1] > 0:
            _refuse_blindness(logits, network.logits(x, edge_index, 0 * mask, batch), mask)
        _, num_features, num_classes, num_hops = self._given
        if num_classes not in (None, logits.shape[1]):
            raise Error(f"predict gives {logits.shape[1]} classes, num_classes is {num_classes}")
        return _core.Model.from_callable(
            lambda: _Run(network, task), task == "graph", num_features or x.shape[1],
            logits.shape[1], -1 if num_hops is None else num_hops,
        )

    def __repr__(self) -> str:
        predict = self._network.predict
        if self._met is None:
            return f"CallableModel({getattr(predict, '__name__', predict)!s})"
        return super().__repr__()

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuild, (self._network, *self._given)


class _Network:
    """What is called. Knows nothing of the CallableModel, which C++ must not keep alive."""

    def __init__(self, predict: Predict, embed: Optional[Predict], one_is_two: bool) -> None:
        self.predict = predict
        self.embed = embed
        self.one_is_two = one_is_two  # a single column s is the two logits (0, s)

    def logits(self, x: Any, edge_index: Any, mask: Any, batch: Any) -> torch.Tensor:
        """As (rows, classes)."""
        import torch

        logits = self.predict(x, edge_index, mask, batch)
        if not isinstance(logits, torch.Tensor) or logits.ndim not in (1, 2):
            raise Error(
                "predict must give a torch tensor (rows, classes), got "
                f"{getattr(logits, 'shape', type(logits).__name__)}"
            )
        logits = logits.float().cpu()
        if logits.ndim == 1:
            logits = logits[:, None]
        if logits.shape[1] == 1 and self.one_is_two:
            logits = torch.cat([torch.zeros_like(logits), logits], 1)
        return logits


class _Run:
    """One evaluation and its adjoint, as C++ calls them."""

    def __init__(self, network: _Network, task: str) -> None:
        self.network = network
        self.task = task

    def forward(
        self, x: Array, edge_index: Array, weight: Array, batch: Optional[Array], rows: int
    ) -> Array:
        import torch

        self.x = torch.from_numpy(x).requires_grad_()
        self.weight = torch.from_numpy(weight).requires_grad_()
        with torch.enable_grad():
            self.logits = self.network.logits(
                self.x, torch.from_numpy(edge_index), self.weight,
                None if batch is None else torch.from_numpy(batch),
            )[:rows]
        return np.asarray(self.logits.detach())

    def backward(self, dlogits: Array) -> tuple[Array, Array]:
        import torch

        inputs = (self.weight, self.x)
        if not self.logits.requires_grad:
            return np.zeros_like(self.weight.detach()), np.zeros_like(self.x.detach())
        gradients = torch.autograd.grad(
            self.logits, inputs, torch.from_numpy(dlogits), retain_graph=True, allow_unused=True
        )
        dweight, dx = (
            torch.zeros_like(tensor) if gradient is None else gradient
            for tensor, gradient in zip(inputs, gradients)
        )
        return np.asarray(dweight), np.asarray(dx)

    def embed(self, x: Array, edge_index: Array, weight: Array, rows: int) -> Array:
        import torch

        nodes, edges = torch.from_numpy(x), torch.from_numpy(edge_index)
        with torch.no_grad():
            if self.network.embed is not None:
                z = self.network.embed(nodes, edges).float().cpu()
            elif self.task == "node":
                z = self.network.logits(nodes, edges, torch.from_numpy(weight), None)
            else:
                raise Error(
                    "this method reads node embeddings, which a model of graphs does not show; "
                    "give CallableModel embed=, a function (x, edge_index) -> one row per node"
                )
        return np.asarray(z[:rows])


def _refuse_blindness(logits: Any, without_edges: Any, mask: Any) -> None:
    """Refuses a model that does not look at its edge mask."""
    import torch

    if logits.requires_grad:
        # Different weights, so that no row's gradient cancels another's.
        weights = torch.arange(1.0, logits.numel() + 1).sqrt().view_as(logits)
        (gradient,) = torch.autograd.grad((weights * logits).sum(), mask, allow_unused=True)
        if gradient is not None and gradient.any():
            return
    if not torch.equal(logits, without_edges):
        raise Error(
            "the logits change with edge_mask, but have no gradient by it; use no detach(), "
            "no_grad() or comparison between edge_mask and the logits"
        )
    raise Error(
        "the model ignores edge_mask: without any edge its logits are the same, so no edge could "
        "be explained; multiply the messages by edge_mask, for example by handing it to the "
        "convolutions as edge_weight"
    )


def _rebuild(
    network: _Network, task: Any, num_features: Any, num_classes: Any, num_hops: Any
) -> CallableModel:
    model = CallableModel(
        network.predict, network.embed, task=task, num_features=num_features,
        num_classes=num_classes, num_hops=num_hops,
    )
    model._network = network
    return model
