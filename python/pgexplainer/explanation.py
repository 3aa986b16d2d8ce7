"""What an explainer says about one prediction."""

from __future__ import annotations

import json
import os
from typing import Any, Optional, Union

import numpy as np

from . import _core
from ._core import Error
from .arrays import Array, whole
from .data import Dataset, Path


class Explanation:
    """A score for every edge that could have mattered to one prediction, and a choice of edges.

    Node and edge numbers are those of the data. All arrays are views of the explanation's memory.
    """

    __slots__ = ("_inner", "data", "method")

    def __init__(self, core: _core.Explanation, data: Dataset, method: str) -> None:
        self._inner = core
        self.data = data
        self.method = method

    @property
    def instance(self) -> Union[int, tuple[int, int]]:
        """The node, the graph, or the link (u, v)."""
        return (self._inner.id, self._inner.second) if self._inner.is_link else self._inner.id

    @property
    def nodes(self) -> Array:
        """Of the instance."""
        return self._inner.nodes

    @property
    def edges(self) -> Array:
        """Of the instance: positions in `data.edge_index`."""
        return self._inner.edges

    @property
    def edge_index(self) -> Array:
        """Source and target of each edge, (2, edges)."""
        return np.stack([self._inner.source, self._inner.target])

    @property
    def score(self) -> Array:
        """Of each edge: higher = more important. The scale is the method's own."""
        return self._inner.score

    @property
    def edge_mask(self) -> Array:
        """One per edge of the data, 0 outside the instance, as PyG has it. PGExplainer's scores go
        through the sigmoid, which can round different ones to the same; rank by `score`.
        """
        return self._inner.edge_mask(self.data.num_edges)

    @property
    def feature_score(self) -> Optional[Array]:
        """Of each feature, if the method explains features."""
        return self._inner.feature_score if self._inner.feature_score.size else None

    @property
    def selected(self) -> Array:
        """Which edges are the explanation: the 10 best ones unless something else was chosen."""
        return self._inner.selected

    @property
    def prediction(self) -> Array:
        """The model's class probabilities."""
        return self._inner.prediction

    @property
    def prediction_kept(self) -> Optional[Array]:
        """The same with the selected edges alone; None if the model is not at hand."""
        return self._inner.prediction_kept

    @property
    def prediction_removed(self) -> Optional[Array]:
        """The same without the selected edges; None if the model is not at hand."""
        return self._inner.prediction_removed

    @property
    def confidence(self) -> float:
        """From 0 to 1: how much of the predicted class the selected edges keep, and take away."""
        return self._inner.confidence

    def topk(self, k: int) -> Explanation:
        """The same with the k best edges selected, both directions counted as one."""
        return Explanation(self._inner.topk(whole("k", k)), self.data, self.method)

    def threshold(self, least: float) -> Explanation:
        """The same with all edges selected whose score is at least this."""
        return Explanation(self._inner.threshold(least), self.data, self.method)

    def connected(self) -> Explanation:
        """The same with only those selected edges that hang together with the explained node (of a
        graph: the largest part).
        """
        return Explanation(self._inner.connected(), self.data, self.method)

    def to_dict(self) -> dict[str, Any]:
        """What `pgexplainer explain -o FILE.jsonl` writes, plus the method."""
        content: dict[str, Any] = json.loads(self._inner.json())
        return {"method": self.method, **content}

    def to_networkx(self) -> Any:
        """A directed graph of networkx: edges with `score` and `selected`, nodes with `target`."""
        import networkx as nx

        graph = nx.DiGraph()
        targets = set(self._inner.targets.tolist())
        for node in self.nodes.tolist():
            graph.add_node(node, target=node in targets)
        rows = zip(*self.edge_index.tolist(), self.score.tolist(), self.selected.tolist())
        for source, target, score, selected in rows:
            graph.add_edge(source, target, score=score, selected=selected)
        return graph

    def plot(
        self,
        path: Optional[Path] = None,
        *,
        ax: Any = None,
        title: str = "",
        max_nodes: int = 400,
        ground_truth: bool = True,
    ) -> Any:
        """Draws the instance with the selected edges bold and, if it is known, the motif shaded.

        path: a file to write: .svg, .dot or .graphml. ax: axes of matplotlib to draw on. Without
        either, a `Picture`, which notebooks show. Of instances larger than `max_nodes` what is near
        the selected edges is drawn.
        """
        if ax is not None:
            return _draw(self._inner.drawing(self.data._inner, max_nodes, ground_truth), ax, title)
        ending = "svg" if path is None else os.path.splitext(os.fspath(path))[1][1:]
        if ending not in ("svg", "dot", "graphml"):
            raise Error(f"{path}: a picture is a .svg, .dot or .graphml file")
        text = self._inner.picture(self.data._inner, ending, title, max_nodes, ground_truth)
        if path is None:
            return Picture(text)
        _core.write_text(path, text)
        return None

    def _repr_svg_(self) -> str:
        return str(self.plot())

    def __repr__(self) -> str:
        kind = "link" if self._inner.is_link else "node" if self._inner.targets.size else "graph"
        name = "-".join(map(str, np.atleast_1d(self.instance)))
        predicted = int(np.argmax(self.prediction))
        return (
            f"<Explanation of {kind} {name} by {self.method}: class {predicted} "
            f"(p={self.prediction[predicted]:.2f}), {int(self.selected.sum())} of "
            f"{len(self.edges)} edges selected>"
        )

    def __reduce__(self) -> tuple[Any, ...]:
        return Explanation, (self._inner, self.data, self.method)


class Picture(str):
    """The text of an SVG, which a notebook shows as a picture."""

    def _repr_svg_(self) -> str:
        return str(self)

    def __repr__(self) -> str:
        return f"<Picture: {len(self)} bytes of SVG>"


def _draw(drawing: dict[str, Any], ax: Any, title: str) -> Any:
    """On axes of matplotlib, which are given back."""
    places = [(x, y) for *_, x, y in drawing["nodes"]]
    for source, target, _, selected, motif in drawing["edges"]:
        xs, ys = zip(places[source], places[target])
        if motif:
            ax.plot(xs, ys, color="#f0e442", linewidth=9, alpha=0.6, zorder=1)
        width, color = (3.0, "black") if selected else (0.7, "#9aa0a6")
        ax.plot(xs, ys, color=color, linewidth=width, zorder=3 if selected else 2)
    classes = [kind for _, _, kind, *_ in drawing["nodes"]]
    rims = ["red" if target else "black" for *_, target, _, _ in drawing["nodes"]]
    xs, ys = zip(*places) if places else ((), ())
    ax.scatter(xs, ys, c=[f"C{kind % 10}" for kind in classes], edgecolors=rims, s=60, zorder=4)
    for (_, label, *_), place in zip(drawing["nodes"], places):
        if label:
            ax.annotate(label, place, ha="center", va="center", fontsize=6, zorder=5)
    ax.set_title(title or drawing["title"])
    ax.invert_yaxis()
    ax.set_aspect("equal")
    ax.set_axis_off()
    return ax
