"""PyG modules as native networks: convert, save, and the check that both compute the same.

The recorded steps (trace.py) become the JSON of model/model_spec.h: blocks of layers, jumping
knowledge, a readout, and a classifier.
"""

from __future__ import annotations

import copy
import inspect
import os
import warnings
from dataclasses import dataclass
from typing import Any, Dict, Iterable, List, Optional, Tuple, Union

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.parameter import is_lazy

import pgexplainer
from pgexplainer.pyg.rows import Chain, PairScores, Part, Refused, Rows, Step, Unknown
from pgexplainer.pyg.trace import ROLES, follow

TOLERANCE = 1e-5
REMEDY = ("give the parts of the network that are supported, or wrap it as it is with "
          "pgexplainer.CallableModel (slower; pgexplainer.pyg.PGExplainer does so by itself)")

# Other names under which networks take the same arguments.
ALIASES = {"edge_weights": "edge_weight", "weight": "edge_weight", "edge_features": "edge_attr",
           "edge_feat": "edge_attr", "batch_index": "batch", "edge_label_indices":
           "edge_label_index"}


@dataclass(frozen=True)
class Conversion:
    """A network's description and tensors, and what the native ones say about the module's."""

    spec: Dict[str, Any]
    tensors: Dict[str, np.ndarray]
    level: str  # node, graph or edge
    returns: str  # raw, probs or log_probs: what the module makes of the logits
    binary: bool  # the module gives one number s per instance, the native network logits (0, s)
    names: Dict[str, str]  # the module's names of its arguments -> their roles
    one_object: bool  # the module takes one object with these as attributes
    reads_edge_weight: bool
    reads_edge_attr: bool
    reads_batch: bool


def convert(module: nn.Module, *, task_level: Optional[str] = None, mode: Optional[str] = None,
            sample: Optional[Any] = None) -> pgexplainer.Model:
    """The native network that computes what the module computes in evaluation mode.

    Covers the models of ``torch_geometric.nn`` (GCN, GraphSAGE, GIN, GAT),
    ``torch_geometric.nn.Sequential`` and modules of your own whose every step is a supported layer
    or function. Raises `pgexplainer.Error`, naming the line and the remedy, for others, and if the
    logits of both differ by more than 1e-5 on a sample graph. The module is not changed.

    task_level: "node", "graph" or "edge"; by default what the forward looks like (pooling: graph,
        products of pairs: edge). An edge-level network becomes the node network in front of the
        products; instances that are pairs of nodes explain its links.
    mode: PyG's "multiclass_classification", "binary_classification" (one number s becomes the
        logits 0 and s of two classes; the default for networks with one output) or "regression".
    sample: a ``torch_geometric.data.Data`` (or Batch) to check on; a random one by default.

    >>> from torch_geometric.nn import GCN
    >>> model = convert(GCN(in_channels=10, hidden_channels=20, num_layers=3, out_channels=4))
    >>> model.num_classes
    4
    """
    return converted(module, task_level=task_level, mode=mode, sample=sample)[0]


def save(module: nn.Module, path: Union[str, "os.PathLike[str]"], *,
         task_level: Optional[str] = None, mode: Optional[str] = None,
         sample: Optional[Any] = None) -> None:
    """Converts the module and writes the safetensors file that the command line and C++ read."""
    convert(module, task_level=task_level, mode=mode, sample=sample).save(os.fspath(path))


def converted(module: nn.Module, *, task_level: Optional[str] = None, mode: Optional[str] = None,
              sample: Optional[Any] = None, arguments: Optional[Iterable[str]] = None
              ) -> Tuple[pgexplainer.Model, Conversion]:
    """`convert`, and what it found. arguments: the optional ones that the module is called with."""
    try:
        ours = _own_copy(module)
        conversion = translate(ours, task_level=task_level, mode=mode,
                               arguments=_present(sample) if arguments is None else arguments)
    except Refused as refused:
        raise pgexplainer.Error(
            f"{type(module).__name__} cannot be converted: {refused}; {REMEDY}") from refused
    model = pgexplainer.Model(conversion.spec, conversion.tensors)
    check(ours, model, conversion, sample)
    return model, conversion


def _present(sample: Any) -> Optional[List[str]]:
    if sample is None:
        return None
    return [role for role in ROLES[2:] if getattr(sample, role, None) is not None]


def _own_copy(module: nn.Module) -> nn.Module:
    """A copy in evaluation mode, on the processor, in single precision."""
    if isinstance(module, torch.jit.ScriptModule):
        raise Refused("it is a TorchScript module: save it and give the file to the tool")
    module = getattr(module, "_orig_mod", module)  # of torch.compile
    for name, tensor in [*module.named_parameters(), *module.named_buffers()]:
        if is_lazy(tensor):
            raise Refused(f"{name} has no shape yet; call the module once")
    if any(p.dtype == torch.float64 for p in module.parameters()):
        warnings.warn("the module computes in double precision, its native copy in single",
                      stacklevel=4)
    try:
        ours = copy.deepcopy(module)
    except Exception as error:
        raise Refused(f"it cannot be copied ({error})") from error
    for layer in ours.modules():
        if getattr(layer, "cached", False):  # GCNConv's coefficients of the first graph it saw
            layer.cached = False
            layer._cached_edge_index = layer._cached_adj_t = None
    return ours.cpu().float().eval().requires_grad_(False)


# --- arguments ------------------------------------------------------------------------------------


def _arguments(module: nn.Module) -> Tuple[Dict[str, str], Dict[str, str], bool]:
    """The names of the required and the optional arguments -> their roles; takes one object?"""
    parameters = list(inspect.signature(module.forward).parameters.values())
    named = [p for p in parameters if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)]
    if not named:
        raise Refused("its forward does not name its arguments")
    if len([p for p in named if p.default is p.empty]) == 1 and (
            named[0].name in ("data", "batch", "graph", "g")):
        return {}, {role: role for role in ROLES}, True
    required, optional = {}, {}
    for position, p in enumerate(named):
        name = ALIASES.get(p.name, p.name)
        role = ROLES[position] if position < 2 else name
        if role in ROLES:
            (required if p.default is p.empty else optional)[p.name] = role
        elif p.default is p.empty:
            raise Refused(f"its forward needs '{p.name}', which no explainer can give it; known "
                          f"are {', '.join(ROLES)}")
    return required, optional, False


def translate(module: nn.Module, *, task_level: Optional[str], mode: Optional[str],
              arguments: Optional[Iterable[str]]) -> Conversion:
    """The description of a copy that `_own_copy` made."""
    required, optional, one_object = _arguments(module)
    attempts = [{**required, **optional}, required]
    if one_object:
        attempts = [optional]
    elif arguments is not None:
        given = set(arguments)
        unknown = given - set(required) - set(optional)
        if unknown:
            raise Refused(f"it is called with {', '.join(sorted(unknown))}")
        attempts = [{name: role for name, role in attempts[0].items()
                     if name in given or name in required}]
    for names in attempts:
        try:
            result = follow(module, names, one_object=one_object)
            return _Builder(task_level, mode).build(result, names, one_object)
        except Refused as refused:
            last = refused
    raise last


# --- the description ------------------------------------------------------------------------------


class _Builder:
    """Layers, tensors and widths of one network as they are collected."""

    def __init__(self, task_level: Optional[str], mode: Optional[str]):
        self.task_level = task_level
        self.mode = mode
        self.tensors: Dict[str, np.ndarray] = {}
        self.used: List[Step] = []

    def build(self, result: Any, names: Dict[str, str], one_object: bool) -> Conversion:
        if isinstance(result, Unknown):
            raise Refused(f"{result.place}: {result.reason}")
        rows = result.rows if isinstance(result, PairScores) else result
        if not isinstance(rows, Rows):
            raise Refused("its forward does not return one tensor of rows")
        parts = rows.parts or (Part((rows.steps,)),)
        chains = _in_order({chain for part in parts for chain in part.chains})
        level = ("edge" if isinstance(result, PairScores)
                 else "graph" if parts[0].readout else "node")
        if self.task_level is not None and self.task_level != level:
            raise Refused(f"its forward looks like {level} level, but task_level is "
                          f"'{self.task_level}'")

        tail = result.steps if isinstance(result, PairScores) else rows.steps
        encoder = chains[-1]
        if not rows.parts and not isinstance(result, PairScores):
            encoder = tail
        if not any(step.passes_messages for step in encoder):
            raise Refused("it has no convolution: edges do not matter to it")
        tail, returns = _without_end(tail)
        if isinstance(result, PairScores):
            if tail:
                raise Refused(f"a {tail[-1].type} behind the dot product of a link")
            tail = rows.steps

        classifier: Chain
        if rows.parts:
            encoder, classifier = chains[-1], tail
        else:
            encoder, classifier = _split(tail)
            chains = [encoder]
        in_channels = _in_channels(encoder, classifier)
        widths = _widths(encoder, in_channels)
        spec: Dict[str, Any] = {
            "task": "graph" if level == "graph" else "node",
            "in_channels": in_channels,
            "blocks": [self._layers(block) for block in _blocks(encoder, chains)],
        }
        layers: List[Dict[str, Any]] = []
        columns = [(part.readout, chain) for part in parts for chain in part.chains]
        maximum = any(len(part.chains) > 1 for part in parts)
        if rows.parts and maximum:
            if any(part.chains != parts[0].chains for part in parts):
                raise Refused("a concatenation of different maxima of layers")
            spec["jumping_knowledge"] = "max"
            width = widths[len(chains[0])]
            columns = [(part.readout, encoder) for part in parts]
            chains = [encoder]
        else:
            spec["jumping_knowledge"] = "cat" if len(chains) > 1 else "last"
            width = sum(widths[len(chain)] for chain in chains)
        if level == "graph":
            spec["readout"] = list(dict.fromkeys(str(readout) for readout, _ in columns))
            width *= len(spec["readout"])
        if rows.parts:
            native = [(readout, chain) for readout in spec.get("readout", [None])
                      for chain in chains]
            width = self._select(columns, native, {chain: widths[len(chain)] for chain in chains},
                                 width, layers)
        layers += self._layers(classifier)
        self._fold_selection(layers)
        width = _widths(classifier, width)[-1]
        flat = any(step.type == "Flatten" for step in (*rows.steps, *getattr(result, "steps", ())))
        if flat and level != "edge" and width != 1:
            raise Refused(f"rows of {width} columns are made one vector")
        if level != "edge" and returns == "sigmoid" and width != 1:
            raise Refused("a sigmoid of several outputs at the end: labels that do not exclude "
                          "each other; explain them one at a time")
        binary = level != "edge" and width == 1 and self.mode in (None, "binary_classification")
        if binary:
            width = self._two_classes(layers or spec["blocks"][-1], layers)
        spec["num_classes"] = width
        spec["classifier"] = layers
        reads = {step.reads_edge_weight for step in self.used} - {None}
        if len(reads) > 1:
            raise Refused("some of its convolutions read the edge weights, others do not")
        if level == "graph" and any(step.per_graph is False for step in self.used):
            raise Refused("a LayerNorm over all graphs of a batch together; give it `batch`")
        return Conversion(
            spec, self.tensors, level, "probs" if returns == "sigmoid" else returns, binary, names,
            one_object, True in reads, any(step.reads_edge_attr for step in self.used),
            level == "graph" and "batch" in names.values())

    def _layers(self, steps: Iterable[Step]) -> List[Dict[str, Any]]:
        return [self._layer(step) for step in steps if step.type != "Flatten"]

    def _layer(self, step: Step) -> Dict[str, Any]:
        if step.type in ("Softmax", "LogSoftmax"):
            raise Refused(f"a {step.type.lower()} before the end")
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

    def _select(self, wanted: List[Any], native: List[Any], widths: Dict[Chain, int], width: int,
                layers: List[Dict[str, Any]]) -> int:
        """Puts the columns into the module's order, if the native order is another."""
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


def _array(tensor: Tensor) -> np.ndarray:
    return np.ascontiguousarray(tensor.detach().numpy(), dtype=np.float32)


def _in_order(chains: Iterable[Chain]) -> List[Chain]:
    """By length; each must begin like the next one."""
    ordered = sorted(chains, key=len)
    for shorter, longer in zip(ordered, ordered[1:]):
        if longer[:len(shorter)] != shorter:
            raise Refused("branches that do not follow each other (such as parallel convolutions)")
    return ordered


def _without_end(steps: Chain) -> Tuple[Chain, str]:
    """The steps without what only turns logits into probabilities, and what that was."""
    returns = "raw"
    for step in reversed(steps):
        if step.type in ("Softmax", "LogSoftmax", "Sigmoid") and returns == "raw":
            if step.type == "Sigmoid" and not _one_wide(steps):
                break
            returns = {"Softmax": "probs", "LogSoftmax": "log_probs", "Sigmoid": "sigmoid"}[step.type]
        elif step.type != "Flatten":
            break
        steps = steps[:-1]
    return steps, returns


def _one_wide(steps: Chain) -> bool:
    widths = [step.out_width for step in steps if step.out_width is not None]
    return not widths or widths[-1] == 1


def _split(steps: Chain) -> Tuple[Chain, Chain]:
    """The classifier begins at the first linear map behind the last convolution."""
    last = max(k for k, step in enumerate(steps) if step.in_convolution)
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


# --- the check ------------------------------------------------------------------------------------


def check(module: nn.Module, model: pgexplainer.Model, conversion: Conversion,
          sample: Optional[Any] = None) -> None:
    """Raises unless both give the same logits, to 1e-5, on the sample."""
    graphs = _graphs_of(sample) if sample is not None else random_graphs(conversion)
    native = native_outputs(model, conversion, graphs)
    theirs = module_outputs(module, conversion, graphs)
    if native.shape != theirs.shape:
        raise pgexplainer.Error(f"the module gives an output of shape {theirs.shape}, its "
                                f"conversion {native.shape}; please report this")
    worst = float(np.abs(native - theirs).max(initial=0.0))
    limit = TOLERANCE * max(1.0, float(np.abs(theirs).max(initial=0.0)))
    if not worst <= limit:
        raise pgexplainer.Error(
            f"the conversion of {type(module).__name__} differs from the module by {worst:.2g} on "
            f"a sample graph, more than {limit:.2g}; does its forward depend on anything but its "
            f"arguments, or is something in it random? {REMEDY}")


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
                   graphs: List[Dict[str, Tensor]]) -> np.ndarray:
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
                   graphs: List[Dict[str, Tensor]]) -> np.ndarray:
    """One row per node, graph or pair. Graphs go in one batch if the module takes a batch."""
    if conversion.reads_batch:
        graphs = [_join(graphs)]
    rows = []
    for graph in graphs:
        given = {name: graph[role] for name, role in conversion.names.items() if role in graph}
        with torch.no_grad():
            out = module(_Attributes(given)) if conversion.one_object else module(**given)
        if conversion.level == "edge" or conversion.binary:
            out = out.reshape(-1, 1)
        elif out.dim() == 1:
            out = out.view(-1, 1) if conversion.spec["num_classes"] == 1 else out.view(1, -1)
        rows.append(out.double().numpy())
    return np.concatenate(rows)


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
