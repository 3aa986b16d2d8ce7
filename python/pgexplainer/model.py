"""Trained networks."""

from __future__ import annotations

import os
from typing import Any, Mapping, Optional, Union

import numpy as np

from . import _core
from ._core import Error
from .arrays import Array, as_array, whole
from .data import Dataset, Path
from .options import describe, with_options
from .progress import Choice, shown


class Model:
    """A graph neural network that the C++ engine runs.

    spec: the description of its layers (docs/formats.md); tensors: its weights under PyG's
    state_dict names.

    >>> import numpy as np
    >>> spec = {"task": "node", "in_channels": 3, "num_classes": 2, "jumping_knowledge": "last",
    ...         "blocks": [[{"type": "GCNConv", "name": "conv", "out_channels": 4}]],
    ...         "classifier": [{"type": "Linear", "name": "lin", "out_channels": 2}]}
    >>> Model(spec, {"conv.lin.weight": np.ones((4, 3)), "conv.bias": np.zeros(4),
    ...              "lin.weight": np.ones((2, 4)), "lin.bias": np.zeros(2)})
    Model(task='node', num_features=3, num_classes=2, num_hops=1)
    """

    _inner: _core.Model

    def __init__(self, spec: Mapping[str, Any], tensors: Mapping[str, Any]) -> None:
        self._inner = _core.Model.from_tensors(dict(spec), _weights(tensors), None)

    @staticmethod
    def _of(core: _core.Model) -> Model:
        model = Model.__new__(Model)
        model._inner = core
        return model

    @staticmethod
    def load(path: Path) -> Model:
        """A .safetensors file that `save`, `pgexplainer train` or `pgexplainer.pyg.save` wrote; or
        a TorchScript file (.pt), which becomes a `CallableModel`.
        """
        if os.fspath(path).endswith((".pt", ".pth")):
            from .callable_model import CallableModel

            return CallableModel.load(path)
        return Model._of(_core.Model.load(path))

    def save(self, path: Path) -> None:
        """Writes a .safetensors file, for `load`, the command line and C++."""
        self._inner.save(path)

    @property
    def spec(self) -> dict[str, Any]:
        """The description of the layers."""
        return self._inner.spec

    def state_dict(self) -> dict[str, Array]:
        """The weights, as read-only views."""
        return self._inner.state_dict()

    @property
    def task(self) -> str:
        """What it classifies: "node" or "graph"."""
        return "graph" if self._inner.on_graphs else "node"

    @property
    def num_features(self) -> int:
        return self._inner.num_features

    @property
    def num_classes(self) -> int:
        return self._inner.num_classes

    @property
    def num_hops(self) -> Optional[int]:
        """How far a prediction reaches; None when it depends on the whole graph."""
        return None if self._inner.num_hops < 0 else self._inner.num_hops

    @property
    def training(self) -> Optional[dict[str, Any]]:
        """Options, accuracies and losses, if the model was trained here."""
        return self._inner.training

    def predict(self, data: Dataset, *, edge_mask: Any = None, threads: int = 0) -> Array:
        """Logits, one row per node or graph. `edge_mask` has a weight from 0 to 1 for every edge
        of the data, which its messages are multiplied with.
        """
        mask = None if edge_mask is None else as_array("edge_mask", edge_mask, "float32")
        model, core = self._on(data)
        return model.predict(core, mask, threads)

    def embed(self, data: Dataset, kind: str = "all-layers", *, threads: int = 0) -> Array:
        """Node embeddings: what PGExplainer reads. kind: all-layers (rows of each no longer
        than 2), classifier-input, last-layer or last-convolution.
        """
        model, core = self._on(data)
        return model.embed(core, kind, threads)

    def as_regression(self, scale: Optional[float] = None) -> Model:
        """The model for explaining numbers instead of classes: its two classes are that the output
        stays near the one with all edges (0) or changes (1). About half of "stays" is left when the
        output moves by `scale`; left out, that is the standard deviation over the first data.

        >>> import pgexplainer as pgx
        >>> data = pgx.generate("tree-cycles", tree_levels=4, num_motifs=8)
        >>> numbers = pgx.train(data, epochs=5).as_regression()
        >>> pgx.Occlusion().explain(data, 40, model=numbers).prediction.round(2)
        array([0.99, 0.01], dtype=float32)
        """
        return _Regression(self, scale)

    def _on(self, data: Dataset) -> tuple[_core.Model, _core.Dataset]:
        """Both as the compiled half takes them."""
        if not isinstance(data, Dataset):
            raise Error(f"data is a {type(data).__name__}, expected a Graph or a Dataset")
        return self._inner, data._for(self.task)

    def __repr__(self) -> str:
        hops = f", num_hops={self.num_hops}" if self.task == "node" else ""
        return (
            f"{type(self).__name__}(task={self.task!r}, num_features={self.num_features}, "
            f"num_classes={self.num_classes}{hops})"
        )

    def __reduce__(self) -> tuple[Any, ...]:
        tensors = {name: values.copy() for name, values in self.state_dict().items()}
        return _rebuild, (self.spec, tensors, self.training)

    def __copy__(self) -> Model:
        return self  # it never changes

    def __deepcopy__(self, memo: dict[int, Any]) -> Model:
        return self


class _Regression(Model):
    """On top of a model whose outputs are numbers."""

    def __init__(self, numbers: Model, scale: Optional[float]) -> None:
        self._numbers = numbers
        self._scale = scale

    def _on(self, data: Dataset) -> tuple[_core.Model, _core.Dataset]:
        model, core = self._numbers._on(data)
        if not hasattr(self, "_inner"):
            scale = self._scale
            if scale is None:
                outputs = model.predict(core, None, 0).astype(float)
                scale = float(np.linalg.norm(outputs.std(0)) or np.abs(outputs).mean() or 1.0)
            self._inner = model.as_regression(scale)
        return self._inner, core

    def __repr__(self) -> str:
        return f"{self._numbers!r}.as_regression({'' if self._scale is None else self._scale})"

    def __reduce__(self) -> tuple[Any, ...]:
        return _Regression, (self._numbers, self._scale)


def train(
    data: Dataset,
    arch: Union[str, Mapping[str, Any]] = "paper",
    *,
    seed: int = 0,
    threads: int = 0,
    progress: Choice = None,
    **options: Any,
) -> Model:
    """Trains a network on the labels of the data.

    arch: a name, a .json file, or a description of layers as `Model` takes it.

    >>> import pgexplainer as pgx
    >>> data = pgx.generate("tree-cycles", tree_levels=4, num_motifs=8)
    >>> model = pgx.train(data, "gcn", hidden=[16, 16], epochs=50)
    >>> model
    Model(task='node', num_features=10, num_classes=2, num_hops=2)

    Options:
    """
    spec = None
    if isinstance(arch, str):
        options["arch"] = arch
    else:
        spec = {"task": data.task, "in_channels": data.num_features,
                "num_classes": data.num_classes, **arch}
    with shown(progress, "training") as callback:
        core = _core.Model.train(
            data._inner, spec, whole("seed", seed), whole("threads", threads), options, callback
        )
    return Model._of(core)


train.__doc__ = (train.__doc__ or "").rstrip() + "\n\n" + describe(_core.train_fields()) + "\n"
setattr(train, "__signature__", with_options(train, _core.train_fields()))


def _weights(tensors: Mapping[str, Any]) -> dict[str, Array]:
    """Floats; the counters of batch norm are left out."""
    return {
        name: as_array(name, values, "float32")
        for name, values in tensors.items()
        if not name.endswith("num_batches_tracked")
    }


def _rebuild(spec: dict[str, Any], tensors: dict[str, Array], training: Any) -> Model:
    return Model._of(_core.Model.from_tensors(spec, tensors, training))
