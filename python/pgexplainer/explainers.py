"""Explainers: one class per method, all with the same calls."""

from __future__ import annotations

import copy
import numbers
from typing import Any, ClassVar, Optional, TypeVar, Union, overload

import numpy as np

from . import _core
from ._core import Error
from .arrays import Array, as_array, whole
from .data import Dataset, Path
from .explanation import Explanation
from .model import Model
from .options import describe, with_options
from .progress import Choice, shown

Self = TypeVar("Self", bound="Explainer")

_CUT = [field["name"] for field in _core.cut_fields()]


class Explainer:
    """What all methods share.

    seed: same seed, same explanation. threads: 0 = one per core; the result does not depend on
    them. progress: True or False, None (a bar if stderr is a terminal), or a callable that gets
    (done, total, message).
    """

    method: ClassVar[str] = ""
    _inner: _core.Explainer

    def __init__(
        self,
        *,
        seed: int = 0,
        threads: Optional[int] = None,
        progress: Choice = None,
        preset: str = "",
        **options: Any,
    ) -> None:
        if not self.method:
            raise TypeError("choose a method: PGExplainer, GNNExplainer, ..., or make_explainer()")
        self._cut = {name: options.pop(name) for name in _CUT if name in options}
        self._inner = _core.Explainer(self.method, whole("seed", seed), preset, options)
        self.threads = None if threads is None else whole("threads", threads)
        self.progress = progress
        self._model: Optional[Model] = None

    def __init_subclass__(cls) -> None:
        """The options of the method, in its signature and its help."""
        if cls.method not in _core.method_names():
            return
        fields = _core.method_fields(cls.method) + _core.cut_fields()
        doc = (cls.__doc__ or "").rstrip()
        cls.__doc__ = f"{doc}\n\n    Options:\n\n{describe(fields)}\n"
        without = ("self",) if cls.method == "pgexplainer" else ("self", "preset")
        setattr(cls, "__signature__", with_options(Explainer.__init__, fields, without))

    @property
    def seed(self) -> int:
        return self._inner.seed

    @property
    def options(self) -> dict[str, Any]:
        """Every option that is not at its default, and for PGExplainer all of them."""
        return {**self._inner.options, **self._cut}

    @property
    def fitted(self) -> bool:
        return self._inner.fitted

    @property
    def report(self) -> Optional[dict[str, Any]]:
        """What `fit` has to say: loss, warnings, verdict, ...; None before."""
        return self._inner.report

    def fit(self: Self, model: Model, data: Dataset, instances: Any = None) -> Self:
        """Learns from a population of instances; methods that do not learn remember the model.

        instances: None (the data's own list, else all), numbers, a range or slice, a mask, or
        pairs (u, v) of nodes for links.
        """
        core_model, core_data = _both(model, data)
        chosen = _instances(core_data, instances)
        if len(np.unique(chosen, axis=0)) < len(chosen):
            values, counts = np.unique(chosen, axis=0, return_counts=True)
            twice = values[counts > 1][0].tolist()
            raise Error(f"instances names {twice} twice")
        with shown(self.progress, "fitting") as callback:
            self._inner.fit(
                core_model, core_data, chosen, self._cut, self.threads or 0, callback
            )
        self._model = model
        return self

    @overload
    def explain(
        self, data: Dataset, instances: Union[int, tuple[int, int]], *,
        model: Optional[Model] = ..., **selection: Any,
    ) -> Explanation: ...

    @overload
    def explain(
        self, data: Dataset, instances: Any = ..., *,
        model: Optional[Model] = ..., **selection: Any,
    ) -> Any: ...

    def explain(
        self,
        data: Dataset,
        instances: Any = None,
        *,
        model: Optional[Model] = None,
        **selection: Any,
    ) -> Any:
        """Scores the edges behind a prediction: an `Explanation` for a node or graph number or for
        a link (u, v), a list of them for several instances (as in `fit`).

        model: needed by an explainer that was loaded, and to explain another model.

        Options of the edges that are selected:
        """
        model = model or self._model
        if model is None:
            raise Error(
                f"{type(self).__name__} knows no model; call fit(model, data) first, "
                "or explain(data, instances, model=model)"
            )
        one = type(instances) is int or isinstance(instances, (numbers.Integral, tuple))
        core_model, core_data = _both(model, data)
        chosen = _instances(core_data, instances)
        threads = self.threads or 0
        if one:
            (only,) = self._inner.explain(
                core_model, core_data, chosen, self._cut, selection, threads, None
            )
            return Explanation(only, data, self.method)
        with shown(self.progress, "explaining") as callback:
            found = self._inner.explain(
                core_model, core_data, chosen, self._cut, selection, threads, callback
            )
        return [Explanation(each, data, self.method) for each in found]

    def __repr__(self) -> str:
        changed = {
            field["name"]: self.options[field["name"]]
            for field in _core.method_fields(self.method) + _core.cut_fields()
            if self.options.get(field["name"], field["default"]) != field["default"]
        }
        words = [f"{name}={value!r}" for name, value in changed.items()]
        words.append(f"seed={self.seed}")
        return f"{type(self).__name__}({', '.join(words)}){' fitted' if self.fitted else ''}"

    def __getstate__(self) -> dict[str, Any]:
        kept = None if callable(self.progress) else self.progress  # a callback stays at home
        return {**self.__dict__, "progress": kept}

    def __copy__(self: Self) -> Self:
        """Its own, so that fitting the copy leaves this one alone."""
        other = type(self).__new__(type(self))
        other.__dict__.update(self.__dict__, _inner=copy.copy(self._inner))
        return other

    def __deepcopy__(self: Self, memo: dict[int, Any]) -> Self:
        return self.__copy__()  # models never change


Explainer.explain.__doc__ = (
    (Explainer.explain.__doc__ or "").rstrip() + "\n\n" + describe(_core.selection_fields()) + "\n"
)


class PGExplainer(Explainer):
    """Learns once, over many predictions, which edges matter; then explains any prediction at once
    (Luo et al., "Parameterized Explainer for Graph Neural Network", 2020).

    preset: settings to start from: default, paper, mean-size, authors-ba-shapes, ...

    >>> import pgexplainer as pgx
    >>> data = pgx.generate("tree-cycles", tree_levels=4, num_motifs=8)
    >>> model = pgx.train(data, epochs=200)
    >>> explainer = pgx.PGExplainer(epochs=5, seed=1).fit(model, data, range(31, 79))
    >>> explainer
    PGExplainer(epochs=5, seed=1) fitted
    >>> explainer.explain(data, 40).score.shape
    (14,)
    """

    method = "pgexplainer"

    @property
    def refine(self) -> int:
        """Steps that put the edges of each explained instance in its own order; -1 = as many as the
        fit found necessary. Can be set at any time."""
        return int(self.options["refine"])

    @refine.setter
    def refine(self, steps: int) -> None:
        self._inner.set_refine(whole("refine", steps, -1))

    def save(self, path: Path) -> None:
        """Writes a .safetensors file, for `load` and `pgexplainer explain --explainer`."""
        self._inner.save(path)

    @staticmethod
    def load(path: Path, *, threads: Optional[int] = None, progress: Choice = None) -> PGExplainer:
        """What `save` or `pgexplainer fit` wrote. `explain` then needs `model=`."""
        explainer = PGExplainer.__new__(PGExplainer)
        explainer._inner = _core.Explainer.load(path)
        explainer._cut = {}
        explainer.threads = threads
        explainer.progress = progress
        explainer._model = None
        return explainer


class GNNExplainer(Explainer):
    """A mask learnt for each prediction anew (Ying et al., "GNNExplainer", 2019)."""

    method = "gnnexplainer"


class GradientSaliency(Explainer):
    """The gradient of the loss by each edge (GRAD, a baseline of the paper)."""

    method = "grad"


class NodeGradient(Explainer):
    """The gradient by the features of an edge's ends."""

    method = "gradient"


class Attention(Explainer):
    """The network's own attention (ATT, a baseline of the paper)."""

    method = "att"


class Occlusion(Explainer):
    """What removing each edge does to the prediction."""

    method = "occlusion"


class IntegratedGradients(Explainer):
    """Gradients summed up from no edge to all (Sundararajan et al., 2017)."""

    method = "integrated-gradients"


class RandomScores(Explainer):
    """What explains nothing: the floor under every comparison."""

    method = "random"


_CLASSES = {cls.method: cls for cls in Explainer.__subclasses__()}


def make_explainer(method: str, **options: Any) -> Explainer:
    """The explainer by the name that `--method` takes.

    >>> make_explainer("gnnexplainer", epochs=10)
    GNNExplainer(epochs=10, seed=0)
    """
    if method not in _CLASSES:
        raise Error(f"there is no method '{method}'; known are {', '.join(_core.method_names())}")
    return _CLASSES[method](**options)


def _both(model: Model, data: Dataset) -> tuple[_core.Model, _core.Dataset]:
    if not isinstance(model, Model):
        raise Error(
            f"model is a {type(model).__name__}, expected a Model; pgexplainer.pyg.convert makes "
            "one of a PyG module, CallableModel one of any function"
        )
    return model._on(data)


def _instances(core: _core.Dataset, chosen: Any) -> Array:
    """Ids, one per row, or pairs of nodes."""
    if type(chosen) is int or isinstance(chosen, numbers.Integral):  # the first is fast
        return np.array([chosen], np.int64)
    if chosen is None or (isinstance(chosen, str) and chosen == "eval"):
        return core.eval_instances if core.eval_instances.size else np.arange(core.num_instances)
    if isinstance(chosen, str):
        if chosen == "all":
            return np.arange(core.num_instances)
        raise Error(f"instances is '{chosen}', expected eval, all, or numbers")
    if isinstance(chosen, slice):
        return np.arange(core.num_instances)[chosen]
    if isinstance(chosen, tuple):
        if len(chosen) != 2 or not all(isinstance(end, numbers.Integral) for end in chosen):
            raise Error(f"instances is the tuple {chosen}; a link is (u, v), several are a list")
        chosen = [chosen]
    ids = as_array("instances", chosen)
    if ids.dtype == bool:
        if ids.shape != (core.num_instances,):
            raise Error(
                f"instances is a mask of shape {ids.shape}, expected ({core.num_instances},): "
                "one entry per instance"
            )
        ids = np.flatnonzero(ids)
    if ids.size == 0:
        raise Error("instances names no instance")
    if ids.dtype.kind not in "iu" or ids.ndim > 2 or (ids.ndim == 2 and ids.shape[1] != 2):
        raise Error(
            f"instances has shape {ids.shape} and type {ids.dtype}; expected whole numbers, "
            "one per instance, or pairs (u, v) for links"
        )
    return np.atleast_1d(ids).astype(np.int64)

