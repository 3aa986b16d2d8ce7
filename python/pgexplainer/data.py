"""Graphs and datasets."""

from __future__ import annotations

import os
from typing import Any, Iterator, Optional, Sequence, Union

import numpy as np

from . import _core
from ._core import Error
from .arrays import Array, as_array, read_only, whole
from .options import describe

Path = Union[str, "os.PathLike[str]"]

_NODE_ARRAYS = ("train_mask", "val_mask", "test_mask")
_EDGE_ARRAYS = ("edge_weight", "edge_attr", "edge_gt")


class Dataset:
    """Graphs to be classified, or (as a `Graph`) one graph whose nodes are.

    Checked once, then unchangeable: the arrays it shows are read-only views of its memory.

    graphs: each with the same number of features; `y` of each is one number, or None for all.
    train_mask, val_mask, test_mask: one entry per graph, all three or none (then 80/10/10 at
    random); eval_instances: the graphs that `fit` and the metrics take unless told otherwise.

    >>> import numpy as np
    >>> ring = [[0, 1, 2, 1, 2, 0], [1, 2, 0, 0, 1, 2]]
    >>> graphs = [Graph(ring, np.ones((3, 4)), y=k % 2) for k in range(10)]
    >>> data = Dataset(graphs, name="rings")
    >>> data
    Dataset('rings': 10 graphs, 30 nodes, 60 edges, 4 features, 2 classes)
    >>> data[3].y
    array([1])
    """

    _inner: _core.Dataset
    _edge_index: Optional[Array] = None

    def __init__(
        self,
        graphs: Sequence[Graph],
        *,
        name: str = "dataset",
        train_mask: Any = None,
        val_mask: Any = None,
        test_mask: Any = None,
        eval_instances: Any = None,
        node_type_names: Sequence[str] = (),
    ) -> None:
        graphs = list(graphs)
        if not graphs:
            raise Error(f"{name}: there are no graphs")
        for position, graph in enumerate(graphs):
            if not isinstance(graph, Graph):
                raise Error(f"{name}: graph {position} is a {type(graph).__name__}, not a Graph")
        arrays = {"x": _joined(name, "x", [graph.x for graph in graphs])}
        nodes = np.cumsum([0] + [graph.num_nodes for graph in graphs])
        edges = np.cumsum([0] + [graph.num_edges for graph in graphs])
        arrays["graph_ptr"], arrays["edge_ptr"] = nodes, edges
        ends = [graph.edge_index + np.int64(first) for graph, first in zip(graphs, nodes)]
        arrays["edge_index"] = np.concatenate(ends, axis=1)
        labels = [graph.y for graph in graphs]
        if any(y is not None for y in labels):
            for position, (graph, y) in enumerate(zip(graphs, labels)):
                if y is None or graph.task != "graph":
                    raise Error(
                        f"{name}: graph {position} needs one number as y, "
                        f"got {'none' if y is None else f'{len(y)} of its nodes'}"
                    )
            arrays["y"] = np.concatenate([y for y in labels if y is not None])
        for key in _EDGE_ARRAYS:
            parts = [getattr(graph, key) for graph in graphs]
            if any(part is not None for part in parts):
                arrays[key] = _joined(name, key, parts)
        split = dict(train_mask=train_mask, val_mask=val_mask, test_mask=test_mask)
        _add_given(arrays, split, eval_graphs=eval_instances)
        self._inner = _core.Dataset.from_arrays(name, arrays, list(node_type_names))

    @staticmethod
    def _of(core: _core.Dataset) -> Dataset:
        """A node dataset is a Graph."""
        data: Dataset = object.__new__(Dataset if core.on_graphs else Graph)
        data._inner = core
        return data

    @staticmethod
    def load(path: Path) -> Dataset:
        """A file (.npz, .csv) or a folder of TU files; a `Graph` if nodes are classified."""
        return Dataset._of(_core.Dataset.load(path))

    def save(self, path: Path) -> None:
        """Writes .npz or .csv, or a TU folder for a name without an ending."""
        if self.y is None:
            raise Error(f"{self.name} has no labels, which its file would need; give y")
        self._inner.save(path)

    @property
    def name(self) -> str:
        return self._inner.name

    @property
    def task(self) -> str:
        """What is classified: "node" or "graph"."""
        return "graph" if self._inner.on_graphs else "node"

    @property
    def num_nodes(self) -> int:
        return self._inner.num_nodes

    @property
    def num_edges(self) -> int:
        """Each direction counts."""
        return self._inner.num_edges

    @property
    def num_graphs(self) -> int:
        return self._inner.num_graphs

    @property
    def num_instances(self) -> int:
        """Nodes, or graphs: what predictions are about."""
        return self._inner.num_instances

    @property
    def num_features(self) -> int:
        return self._inner.x.shape[1]

    @property
    def num_classes(self) -> int:
        """The largest label + 1; 0 without labels."""
        return self._inner.num_classes

    @property
    def x(self) -> Array:
        """Features, (nodes, features)."""
        return self._inner.x

    @property
    def edge_index(self) -> Array:
        """Sources and targets, (2, edges), int32."""
        if self._edge_index is None:
            self._edge_index = read_only(np.stack([self._inner.sources, self._inner.targets]))
        return self._edge_index

    @property
    def y(self) -> Optional[Array]:
        """One label per instance, or None."""
        return _some(self._inner.y)

    @property
    def graph_ptr(self) -> Array:
        """Graph g has the nodes graph_ptr[g] to graph_ptr[g + 1] - 1."""
        return self._inner.graph_ptr

    @property
    def edge_ptr(self) -> Array:
        """Graph g has the edges edge_ptr[g] to edge_ptr[g + 1] - 1."""
        return self._inner.edge_ptr

    @property
    def edge_weight(self) -> Optional[Array]:
        return _some(self._inner.edge_weight)

    @property
    def edge_attr(self) -> Optional[Array]:
        return _some(self._inner.edge_attr)

    @property
    def edge_gt(self) -> Optional[Array]:
        """Which edges are in a motif, if that is known."""
        return _some(self._inner.edge_gt)

    @property
    def train_mask(self) -> Array:
        return self._inner.train_mask

    @property
    def val_mask(self) -> Array:
        return self._inner.val_mask

    @property
    def test_mask(self) -> Array:
        return self._inner.test_mask

    @property
    def eval_instances(self) -> Optional[Array]:
        """The instances that are explained unless told otherwise."""
        return _some(self._inner.eval_instances)

    @property
    def node_type_names(self) -> list[str]:
        """What the columns of one-hot features mean, such as atom letters."""
        return self._inner.node_type_names

    def warnings(self) -> list[str]:
        """What to know before trusting the data: empty classes, isolated nodes, ..."""
        return self._inner.warnings()

    def __len__(self) -> int:
        return self.num_graphs

    def __getitem__(self, index: int) -> Graph:
        if index < 0:
            index += len(self)
        if not 0 <= index < len(self):
            raise IndexError(f"{self.name} has {len(self)} graphs, no graph {index}")
        first, last = self.graph_ptr[index : index + 2]
        begin, end = self.edge_ptr[index : index + 2]
        edges = {key: getattr(self, key) for key in _EDGE_ARRAYS}
        return Graph(
            self.edge_index[:, begin:end] - first,
            self.x[first:last],
            None if self.y is None else self.y[index],
            **{key: None if all_ is None else all_[begin:end] for key, all_ in edges.items()},
            node_type_names=self.node_type_names,
            name=f"{self.name}[{index}]",
        )

    def __iter__(self) -> Iterator[Graph]:
        return (self[index] for index in range(len(self)))

    def __repr__(self) -> str:
        graphs = f"{self.num_graphs} graphs, " if self.task == "graph" and len(self) > 1 else ""
        classes = f", {self.num_classes} classes" if self.y is not None else ""
        return (
            f"{type(self).__name__}({self.name!r}: {graphs}{self.num_nodes} nodes, "
            f"{self.num_edges} edges, {self.num_features} features{classes})"
        )

    def _arrays(self) -> dict[str, Array]:
        """What from_arrays takes."""
        arrays = {"x": self.x, "edge_index": self.edge_index.astype(np.int64)}
        for key in ("y", *_NODE_ARRAYS, *_EDGE_ARRAYS):
            if getattr(self, key) is not None:
                arrays[key] = getattr(self, key)
        if self.task == "graph":
            arrays.update(graph_ptr=self.graph_ptr, edge_ptr=self.edge_ptr)
        if self.eval_instances is not None:
            arrays[f"eval_{self.task}s"] = self.eval_instances
        return arrays

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuild, (type(self), self.name, self._arrays(), self.node_type_names)

    def __copy__(self) -> Dataset:
        return self  # it never changes

    def __deepcopy__(self, memo: dict[int, Any]) -> Dataset:
        return self

    def _for(self, task: str) -> _core.Dataset:
        """The data as a model of this task reads it: a lone graph can be classified as a whole."""
        return self._inner


class Graph(Dataset):
    """One graph, whose nodes are classified; with a single number as `y`, or under a model for
    graphs, it is classified as a whole.

    edge_index: (2, edges), whole numbers; x: (nodes, features). y, train_mask, val_mask and
    test_mask: one entry per node; edge_weight, edge_attr and edge_gt (motif edges): one per edge.
    NumPy arrays, torch tensors on the CPU, or lists; they are copied, so that changing them later
    changes nothing.

    >>> import numpy as np
    >>> graph = Graph([[0, 1, 1, 2], [1, 0, 2, 1]], np.eye(3), y=[0, 1, 0], name="path")
    >>> graph
    Graph('path': 3 nodes, 4 edges, 3 features, 2 classes)
    >>> graph.edge_index
    array([[0, 1, 1, 2],
           [1, 0, 2, 1]], dtype=int32)
    """

    _as_graph: Optional[_core.Dataset] = None

    def __init__(
        self,
        edge_index: Any,
        x: Any,
        y: Any = None,
        *,
        edge_weight: Any = None,
        edge_attr: Any = None,
        edge_gt: Any = None,
        train_mask: Any = None,
        val_mask: Any = None,
        test_mask: Any = None,
        eval_instances: Any = None,
        node_type_names: Sequence[str] = (),
        name: str = "graph",
    ) -> None:
        arrays = {"edge_index": as_array("edge_index", edge_index), "x": as_array("x", x)}
        if arrays["edge_index"].size == 0:  # NumPy takes empty lists for floats
            arrays["edge_index"] = arrays["edge_index"].astype(np.int64)
        given = dict(edge_weight=edge_weight, edge_attr=edge_attr, edge_gt=edge_gt)
        split = dict(train_mask=train_mask, val_mask=val_mask, test_mask=test_mask)
        if y is not None and np.ndim(y) == 0:
            arrays["y"] = as_array("y", y).reshape(1)
            arrays["graph_ptr"] = np.array([0, len(arrays["x"])])
            arrays["edge_ptr"] = np.array([0, arrays["edge_index"].shape[-1]])
            _add_given(arrays, given, eval_graphs=None)
        else:
            _add_given(arrays, dict(given, y=y, **split), eval_nodes=eval_instances)
        self._inner = _core.Dataset.from_arrays(name, arrays, list(node_type_names))

    def _for(self, task: str) -> _core.Dataset:
        if task == self.task or task != "graph":
            return self._inner
        if self._as_graph is None:
            self._as_graph = self._inner.as_one_graph()
        return self._as_graph


def generate(name: str, *, seed: int = 0, **options: Any) -> Dataset:
    """A dataset of the paper with its ground truth: ba-shapes, ba-community, tree-cycles,
    tree-grid (each a `Graph`) or ba-2motifs.

    >>> generate("ba-2motifs", seed=1, num_graphs=20)
    Dataset('ba-2motifs': 20 graphs, 500 nodes, 1028 edges, 10 features, 2 classes)
    """
    return Dataset._of(_core.Dataset.generate(name, whole("seed", seed), options))


generate.__doc__ = (generate.__doc__ or "").rstrip() + "".join(
    f"\n\n    Options of {name}:\n\n{describe(_core.generator_fields(name))}"
    for name in _core.generator_names()
)


def _rebuild(kind: type[Dataset], name: str, arrays: dict[str, Array], types: list[str]) -> Dataset:
    data: Dataset = object.__new__(kind)
    data._inner = _core.Dataset.from_arrays(name, arrays, types)
    return data


def _some(array: Array) -> Optional[Array]:
    return array if array.size else None


def _joined(name: str, key: str, parts: Sequence[Optional[Array]]) -> Array:
    present = [part for part in parts if part is not None]
    if len(present) < len(parts) or len({part.shape[1:] for part in present}) > 1:
        shapes = [None if part is None else part.shape for part in parts]
        different = next(
            position
            for position, shape in enumerate(shapes)
            if shape is None or shapes[0] is None or shape[1:] != shapes[0][1:]
        )
        raise Error(
            f"{name}: {key} of graph {different} has shape {shapes[different]}, "
            f"that of graph 0 {shapes[0]}; all graphs need the same columns"
        )
    return np.concatenate(present)


def _add_given(arrays: dict[str, Array], given: dict[str, Any], **more: Any) -> None:
    for key, values in {**given, **more}.items():
        if values is not None:
            arrays[key] = as_array(key, values)
