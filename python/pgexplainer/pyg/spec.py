"""Recorded steps (trace.py) as the JSON of model/model_spec.h: blocks, readout, classifier."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Dict, Iterable, List, Optional, Tuple

import numpy as np
from torch import Tensor

from pgexplainer.arrays import Array
from pgexplainer.pyg.rows import Chain, PairScores, Part, Refused, Rows, Step, Unknown

# What a forward may end with -> what it then returns.
ENDS = {"Softmax": "probs", "LogSoftmax": "log_probs", "Sigmoid": "probs"}


@dataclass(frozen=True)
class Conversion:
    """A network's description and tensors, and what the native ones say about the module's."""

    spec: Dict[str, Any]
    tensors: Dict[str, Array]
    level: str  # node, graph or edge
    returns: str  # raw, probs or log_probs: what the module makes of the logits
    binary: bool  # the module gives one number s per instance, the native network logits (0, s)
    names: Dict[str, str]  # the module's names of its arguments -> their roles
    one_object: bool  # the module takes one object with these as attributes
    reads_edge_weight: bool
    reads_edge_attr: bool
    reads_batch: bool


class Builder:
    """Collects layers and tensors of one network."""

    def __init__(self, task_level: Optional[str], mode: Optional[str]):
        self.task_level = task_level
        self.mode = mode
        self.tensors: Dict[str, Array] = {}
        self.used: List[Step] = []

    def build(self, result: Any, names: Dict[str, str], one_object: bool) -> Conversion:
        """result: what the forward returned."""
        if isinstance(result, Unknown):
            raise Refused(f"{result.place}: {result.reason}")
        is_link = isinstance(result, PairScores)
        rows = result.rows if is_link else result
        if not isinstance(rows, Rows):
            raise Refused("its forward does not return one tensor of rows")
        level = "edge" if is_link else "graph" if rows.parts and rows.parts[0].readout else "node"
        if self.task_level not in (None, level):
            raise Refused(f"its forward looks like {level} level, but task_level is "
                          f"'{self.task_level}'")

        end, returns = _without_end(result.steps, self.mode == "regression")
        if is_link and end:
            raise Refused(f"a {end[-1].type} behind the dot product of a link")
        spec, layers, width = self._network(rows.parts, rows.steps if is_link else end, level)
        if not is_link and width != 1 and any(
                step.layer == {"type": "Flatten"} for step in result.steps):
            raise Refused(f"rows of {width} columns are made one vector")
        if width == 1 and any(step.type in ("Softmax", "LogSoftmax") for step in result.steps):
            raise Refused("a softmax of one output, which is always 1")
        binary = not is_link and width == 1 and self.mode in (None, "binary_classification")
        if binary:
            width = self._two_classes(layers or spec["blocks"][-1], layers)
        spec.update(num_classes=width, classifier=layers)

        weights = {step.reads_edge_weight for step in self.used} - {None}
        if len(weights) > 1:
            raise Refused("some of its convolutions read the edge weights, others do not")
        reads_batch = level == "graph" and "batch" in names.values()
        if any(step.per_graph is (not reads_batch) for step in self.used):
            raise Refused("a LayerNorm over all graphs of a batch together; give it `batch`"
                          if reads_batch else "a LayerNorm of each graph of a batch in a network "
                          "that predicts nodes; explain the graphs one by one, without `batch`")
        return Conversion(
            spec, self.tensors, level, returns, binary, names, one_object, True in weights,
            any(step.reads_edge_attr for step in self.used), reads_batch)

    def _network(self, parts: Tuple[Part, ...], steps: Chain, level: str
                 ) -> Tuple[Dict[str, Any], List[Dict[str, Any]], int]:
        """The description without its end, the layers of the classifier, and their width."""
        encoder, classifier = (_chains(parts)[-1], steps) if parts else _split(steps)
        if not any(step.passes_messages for step in encoder):
            raise Refused("it has no convolution: edges do not matter to it")
        parts = parts or (Part((encoder,)),)
        chains = _chains(parts)
        in_channels = _in_channels(encoder, classifier)
        widths = _widths(encoder, in_channels)
        spec: Dict[str, Any] = {
            "task": "graph" if level == "graph" else "node",
            "in_channels": in_channels,
            "blocks": [self._layers(block) for block in _blocks(encoder, chains)],
            "jumping_knowledge": "cat" if len(chains) > 1 else "last",
        }
        if any(len(part.chains) > 1 for part in parts):
            if any(part.chains != parts[0].chains for part in parts):
                raise Refused("a concatenation of different maxima of layers")
            spec["jumping_knowledge"] = "max"
            chains = [encoder]
        if level == "graph":
            spec["readout"] = list(dict.fromkeys(str(part.readout) for part in parts))
        layers: List[Dict[str, Any]] = []
        width = self._select([(part.readout, part.chains[-1]) for part in parts],
                             [(readout, chain) for readout in spec.get("readout", [None])
                              for chain in chains],
                             {chain: widths[len(chain)] for chain in chains}, layers)
        layers += self._layers(classifier)
        self._fold_selection(layers)
        return spec, layers, _widths(classifier, width)[-1]

    def _layers(self, steps: Iterable[Step]) -> List[Dict[str, Any]]:
        return [self._layer(step) for step in steps if step.type != "Flatten"]

    def _layer(self, step: Step) -> Dict[str, Any]:
        if step.type in ("Softmax", "LogSoftmax"):
            raise Refused(f"a {step.type.lower()} that is not the end of a classifier")
        self.used.append(step)
        layer = dict(step.layer)
        if "name" in layer:
            layer["name"] = self._new_name(layer["name"])
            for name, tensor in step.tensors.items():
                self.tensors[f"{layer['name']}.{name}"] = _array(tensor)
        return layer

    def _new_name(self, name: str) -> str:
        """A module that is used twice becomes two layers."""
        taken = {step_name.rsplit(".", 1)[0] for step_name in self.tensors}
        new, count = name, 1
        while any(other == new or other.startswith(new + ".") for other in taken):
            count += 1
            new = f"{name}_{count}"
        return new

    def _select(self, wanted: List[Any], native: List[Any], widths: Dict[Chain, int],
                layers: List[Dict[str, Any]]) -> int:
        """Puts the columns into the module's order, if the native order is another."""
        width = sum(widths[chain] for _, chain in native)
        if wanted == native:
            return width
        begin, first = 0, {}
        for readout, chain in native:
            first[readout, chain] = begin
            begin += widths[chain]
        order = [first[readout, chain] + k for readout, chain in wanted
                 for k in range(widths[chain])]
        matrix = np.zeros((len(order), width), np.float32)
        matrix[np.arange(len(order)), order] = 1
        self.tensors["columns.weight"] = matrix
        layers.append({"type": "Linear", "name": "columns", "out_channels": len(order),
                       "bias": False})
        return len(order)

    def _fold_selection(self, layers: List[Dict[str, Any]]) -> None:
        """Into the linear map behind it."""
        if [layer["type"] for layer in layers[:2]] == ["Linear", "Linear"] and (
                layers[0]["name"] == "columns"):
            weight = f"{layers[1]['name']}.weight"
            self.tensors[weight] = self.tensors[weight] @ self.tensors.pop("columns.weight")
            del layers[0]

    def _two_classes(self, before: List[Dict[str, Any]], layers: List[Dict[str, Any]]) -> int:
        """One output s as the logits (0, s)."""
        last = before[-1] if before else {}
        if last.get("type") == "Linear":
            for key in (f"{last['name']}.weight", f"{last['name']}.bias"):
                if key in self.tensors:
                    s = self.tensors[key]
                    self.tensors[key] = np.concatenate([np.zeros_like(s), s])
            last["out_channels"] = 2
        else:
            self.tensors["classes.weight"] = np.array([[0], [1]], np.float32)
            layers.append({"type": "Linear", "name": "classes", "out_channels": 2, "bias": False})
        return 2


def _array(tensor: Tensor) -> Array:
    return np.ascontiguousarray(tensor.detach().numpy(), dtype=np.float32)


def _chains(parts: Iterable[Part]) -> List[Chain]:
    """All of them by length; each must begin like the next one."""
    chains = sorted({chain for part in parts for chain in part.chains}, key=len)
    for shorter, longer in zip(chains, chains[1:]):
        if longer[:len(shorter)] != shorter:
            raise Refused("branches that do not follow each other (such as parallel convolutions)")
    return chains


def _without_end(steps: Chain, numbers: bool) -> Tuple[Chain, str]:
    """The steps without what only turns logits into probabilities, and what that gives.

    numbers: they are wanted as they are, not as logits of classes.
    """
    returns = "raw"
    for step in reversed(steps):
        if step.type in ENDS and returns == "raw" and not numbers:
            if step.type == "Sigmoid" and not _one_wide(steps):
                raise Refused("a sigmoid of several outputs at the end: labels that do not exclude "
                              "each other; explain one of them at a time")
            returns = ENDS[step.type]
        elif step.type != "Flatten":
            break
        steps = steps[:-1]
    return steps, returns


def _one_wide(steps: Chain) -> bool:
    widths = [step.out_width for step in steps if step.out_width is not None]
    return not widths or widths[-1] == 1


def _split(steps: Chain) -> Tuple[Chain, Chain]:
    """The classifier begins at the first linear map behind the last convolution."""
    last = max((k for k, step in enumerate(steps) if step.in_convolution), default=-1)
    for k in range(last + 1, len(steps)):
        if steps[k].type == "Linear":
            return steps[:k], steps[k:]
    return steps, ()


def _blocks(encoder: Chain, chains: List[Chain]) -> List[List[Step]]:
    """Cut where a chain ends that is read later; if none is, before each convolution."""
    if len(chains) > 1:
        ends = [len(chain) for chain in chains]
    else:
        ends = [k for k, step in enumerate(encoder) if step.passes_messages][1:] + [len(encoder)]
    begins = [0, *ends]
    blocks = [list(encoder[begin:end]) for begin, end in zip(begins, ends)]
    # The features themselves, when they are read later: a block that changes nothing.
    return [block or [Step({"type": "Dropout", "p": 0.0})] for block in blocks]


def _in_channels(encoder: Chain, classifier: Chain) -> int:
    for step in (*encoder, *classifier):
        if step.in_width is not None:
            return step.in_width
    raise Refused("no layer tells how many features the nodes have")


def _widths(steps: Chain, width: int) -> List[int]:
    """The width before the steps and after each of them."""
    widths = [width]
    for step in steps:
        if step.in_width not in (None, widths[-1]):
            raise Refused(f"{step.layer.get('name', step.type)} reads {step.in_width} columns, but "
                          f"{widths[-1]} come")
        widths.append(widths[-1] if step.out_width is None else step.out_width)
    return widths
