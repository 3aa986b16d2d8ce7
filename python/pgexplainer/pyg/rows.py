"""What a network's tensors are to the converter: rows of nodes (or graphs) and how they came about.

A network is followed step by step with these values in the place of tensors. In the end they hold
the chain of layers, what is concatenated or pooled, and the layers behind it.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, Dict, Optional, Tuple

from torch import Tensor


class Refused(Exception):
    """A step that has no native counterpart; the text says which and why."""


@dataclass(frozen=True, eq=False)
class Step:
    """One native layer (the JSON of model/model_spec.h) and its tensors under their short names."""

    layer: Dict[str, Any]
    tensors: Dict[str, Tensor] = field(default_factory=dict)
    in_width: Optional[int] = None  # None: whatever comes in
    out_width: Optional[int] = None  # None: as it came in
    passes_messages: bool = False
    in_convolution: bool = False  # the convolution, or a layer of its inner network
    reads_edge_weight: Optional[bool] = None  # None: cannot
    reads_edge_attr: bool = False
    per_graph: Optional[bool] = None  # of a norm over whole graphs: was it told the batch?

    @property
    def type(self) -> str:
        return str(self.layer["type"])


Chain = Tuple[Step, ...]

# Not layers: what a forward may end with.
FINAL = ("Flatten", "Softmax", "LogSoftmax")


@dataclass(frozen=True, eq=False)
class Part:
    """A block of columns: one chain, or the element-wise maximum of several; then pooled or not."""

    chains: Tuple[Chain, ...]
    readout: Optional[str] = None


@dataclass(frozen=True, eq=False)
class Rows:
    """The rows after `steps`, which follow the columns `parts` (none: the nodes' features)."""

    steps: Chain = ()
    parts: Tuple[Part, ...] = ()

    def then(self, *steps: Step) -> Rows:
        chain = self.steps
        for step in steps:
            if self.parts and step.passes_messages:
                raise Refused("a convolution after a concatenation or pooling of layers")
            if chain and chain[-1].type in FINAL and step.type not in (*FINAL, "Sigmoid"):
                raise Refused(f"a {step.type} after {chain[-1].type.lower()}")
            chain = (*chain, step)
        return replace(self, steps=chain)

    def columns(self) -> Tuple[Part, ...]:
        """As part of a concatenation."""
        if not self.parts:
            return (Part((self.steps,)),)
        if self.steps:
            raise Refused("a concatenation or pooling of layers behind another one")
        return self.parts

    def pooled(self, readout: str) -> Rows:
        parts = self.columns()
        if any(part.readout for part in parts):
            raise Refused("pooling twice")
        return Rows(parts=tuple(replace(part, readout=readout) for part in parts))


@dataclass(frozen=True)
class Input:
    """An argument of the network other than the features."""

    role: str


@dataclass(frozen=True)
class PairEnd:
    """Row 0 or 1 of edge_label_index."""

    which: int


@dataclass(frozen=True, eq=False)
class EndRows:
    """The rows at one end of each pair, z[edge_label_index[0]]."""

    rows: Rows
    which: int


@dataclass(frozen=True, eq=False)
class PairProduct:
    """The product of both ends, before the sum."""

    rows: Rows


@dataclass(frozen=True, eq=False)
class PairScores:
    """<z_u, z_v> of each pair, and what follows."""

    rows: Rows
    steps: Chain = ()

    def then(self, step: Step) -> PairScores:
        if step.type not in ("Flatten", "Sigmoid"):
            raise Refused(f"a {step.type} behind the dot product of a link")
        return replace(self, steps=(*self.steps, step))


@dataclass(frozen=True)
class Unknown:
    """The result of a step that was refused: an error only if it is used."""

    reason: str
    place: str
