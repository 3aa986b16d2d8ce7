"""Which modules, functions and methods can be converted: one entry per kind in three tables.

An entry takes the arguments of the forward it stands for, with `Rows` in the place of tensors, and
returns the rows behind the layer. To support another one, add a function and its line in the table.
Options and names of tensors: the headers of pgexplainer/nn.
"""

from __future__ import annotations

import operator
from dataclasses import dataclass
from typing import Any, Callable, Dict, List, Optional

import torch
import torch.nn.functional as F
import torch_geometric
import torch_geometric.nn as pyg_nn
from torch import Tensor, nn
from torch_geometric.nn import aggr

from pgexplainer.pyg.rows import (
    EndRows,
    Input,
    PairEnd,
    PairProduct,
    PairScores,
    Part,
    Refused,
    Rows,
    Step,
    Unknown,
)


@dataclass(frozen=True)
class Here:
    """Where a module stands: its name, and how to follow a network inside it."""

    name: str
    follow: Callable[[nn.Module, str], Rows]


def tensors_of(module: nn.Module, *names: str) -> Dict[str, Tensor]:
    """The tensors of these (dotted) names that the module has."""
    found = {}
    for name in names:
        value: Any = module
        for part in name.split("."):
            value = getattr(value, part, None)
        if value is not None:
            found[name] = value
    return found


def require(condition: bool, reason: str) -> None:
    if not condition:
        raise Refused(reason)


# --- layers on rows -------------------------------------------------------------------------------


def linear(here: Here, module: Any, x: Rows) -> Rows:
    out, width = module.weight.shape
    layer = {"type": "Linear", "name": here.name, "out_channels": out,
             "bias": module.bias is not None}
    return x.then(Step(layer, tensors_of(module, "weight", "bias"), width, out))


def batch_norm(here: Here, module: Any, x: Rows) -> Rows:
    require(module.running_mean is not None,
            "a batch norm without running statistics, whose output depends on the other rows")
    width = module.num_features
    layer = {"type": "BatchNorm", "name": here.name, "eps": module.eps}
    tensors = {
        "weight": torch.ones(width) if module.weight is None else module.weight,
        "bias": torch.zeros(width) if module.bias is None else module.bias,
        "running_mean": module.running_mean,
        "running_var": module.running_var,
    }
    return x.then(Step(layer, tensors, width, width))


def pyg_batch_norm(here: Here, module: Any, x: Rows) -> Rows:
    return batch_norm(Here(here.name + ".module", here.follow), module.module, x)


def layer_norm(here: Here, module: Any, x: Rows) -> Rows:
    require(len(module.normalized_shape) == 1, "a layer norm over more than one dimension")
    return _layer_norm(here, module, x, module.normalized_shape[0], "node", None)


def pyg_layer_norm(here: Here, module: Any, x: Rows, batch: Optional[Input] = None,
                   batch_size: Any = None) -> Rows:
    per_graph = batch == Input("batch") if module.mode == "graph" else None
    return _layer_norm(here, module, x, module.in_channels, module.mode, per_graph)


def _layer_norm(here: Here, module: Any, x: Rows, width: int, mode: str,
                per_graph: Optional[bool]) -> Rows:
    layer = {"type": "LayerNorm", "name": here.name, "eps": module.eps, "mode": mode}
    if per_graph:  # told the batch, PyG adds eps in another place
        layer["eps_in_variance"] = True
    tensors = {
        "weight": torch.ones(width) if module.weight is None else module.weight,
        "bias": torch.zeros(width) if module.bias is None else module.bias,
    }
    return x.then(Step(layer, tensors, width, width, per_graph=per_graph))


def keep(x: Any, *args: Any, **kwargs: Any) -> Any:
    return x


def relu(x: Any, inplace: bool = False) -> Any:
    return x.then(Step({"type": "ReLU"}))


def elu(x: Any, alpha: float = 1.0, inplace: bool = False) -> Any:
    return x.then(Step({"type": "ELU", "alpha": alpha}))


def leaky_relu(x: Any, negative_slope: float = 0.01, inplace: bool = False) -> Any:
    require(0 <= negative_slope <= 1, f"a slope of {negative_slope}, expected 0 to 1")
    return x.then(Step({"type": "LeakyReLU", "negative_slope": negative_slope}))


def tanh(x: Any) -> Any:
    return x.then(Step({"type": "Tanh"}))


def sigmoid(x: Any) -> Any:
    return x.then(Step({"type": "Sigmoid"}))


def gelu(x: Any, approximate: str = "none") -> Any:
    require(approximate == "none", "GELU by an approximation")
    return x.then(Step({"type": "GELU"}))


def silu(x: Any, inplace: bool = False) -> Any:
    return x.then(Step({"type": "SiLU"}))


def softplus(x: Any, beta: float = 1, threshold: float = 20) -> Any:
    require(beta == 1 and threshold == 20, "a softplus with other constants than PyTorch's")
    return x.then(Step({"type": "Softplus"}))


def prelu(here: Here, module: Any, x: Rows) -> Any:
    require(module.weight.numel() == 1, "a PReLU with one slope per channel")
    return leaky_relu(x, float(module.weight))


def normalize(x: Any, p: float = 2.0, dim: int = 1, eps: float = 1e-12, out: None = None) -> Any:
    require(p == 2 and dim in (1, -1) and eps == 1e-12,
            "normalize by another norm than the l2 norm of each row")
    return x.then(Step({"type": "L2Norm"}))


def dropout(x: Any, p: float = 0.5, training: bool = True, inplace: bool = False) -> Any:
    require(not training or p == 0, "dropout that is active in evaluation, too: the network is "
            "random; write training=self.training")
    return x


def softmax(x: Any, dim: Optional[int] = None, *args: Any, **kwargs: Any) -> Any:
    require(dim in (1, -1), "a softmax over another dimension than the classes; write dim=-1")
    return x.then(Step({"type": "Softmax"}))


def log_softmax(x: Any, dim: Optional[int] = None, *args: Any, **kwargs: Any) -> Any:
    require(dim in (1, -1), "a log_softmax over another dimension than the classes; write dim=-1")
    return x.then(Step({"type": "LogSoftmax"}))


def flatten(x: Any, *shape: Any, **kwargs: Any) -> Any:
    """view(-1), reshape(-1), flatten(): of one column alone."""
    require(shape in ((), (-1,)), "another shape than one number per row")
    return x.then(Step({"type": "Flatten"}))


def squeeze(x: Any, dim: int = -1) -> Any:
    """Does nothing to several columns."""
    require(dim in (1, -1), "a squeeze of rows")
    return x.then(Step({"type": "Flatten", "any_width": True}))


def of_module(function: Callable[..., Any], *attributes: str) -> Callable[..., Any]:
    """The entry of a module that does what a function does, with these attributes as arguments."""

    def entry(here: Here, module: Any, x: Any) -> Any:
        return function(x, **{name: getattr(module, name) for name in attributes})

    return entry


def softmax_module(function: Callable[..., Any]) -> Callable[..., Any]:
    def entry(here: Here, module: Any, x: Any) -> Any:
        # PyTorch's default dimension of a matrix is 1.
        return function(x, dim=1 if module.dim is None else module.dim)

    return entry


# --- convolutions ---------------------------------------------------------------------------------


def _convolve(x: Any, conv: Any, edge_index: Any, step: Step, edge_weight: Any = None,
              edge_attr: Any = None) -> Rows:
    if isinstance(x, (tuple, list)):
        require(len(x) == 2 and x[0] is x[1], "different rows for sources and targets")
        x = x[0]
    rows: Rows = x
    if isinstance(edge_index, Unknown):
        raise Refused(f"edges that are changed before the layer, in {edge_index.place}")
    require(edge_index == Input("edge_index"), "other edges than the argument edge_index")
    require(edge_weight in (None, Input("edge_weight")),
            "other edge weights than the argument edge_weight")
    require(edge_attr in (None, Input("edge_attr")),
            "other edge features than the argument edge_attr")
    require(conv.flow == "source_to_target", "messages against the direction of the edges")
    require(conv.explain is not False, "a layer with explain=False, whose messages stay unmasked")
    return rows.then(step)


def _aggregation(conv: Any) -> str:
    word = READOUTS.get(type(conv.aggr_module))
    if word is None:
        raise Refused(f"aggregation by {conv.aggr_module}; add, mean and max are known")
    return word


def gcn_conv(here: Here, conv: Any, x: Any, edge_index: Any, edge_weight: Any = None) -> Rows:
    require(_aggregation(conv) == "add", "GCNConv with another aggregation than add")
    require(not conv.improved, "GCNConv with improved=True")
    out, width = conv.lin.weight.shape
    layer = {"type": "GCNConv", "name": here.name, "out_channels": out,
             "normalize": conv.normalize, "add_self_loops": conv.add_self_loops,
             "bias": conv.bias is not None}
    step = Step(layer, tensors_of(conv, "lin.weight", "bias"), width, out, True, True,
                reads_edge_weight=edge_weight is not None)
    return _convolve(x, conv, edge_index, step, edge_weight)


def graph_conv(here: Here, conv: Any, x: Any, edge_index: Any, edge_weight: Any = None,
               size: Any = None) -> Rows:
    out, width = conv.lin_rel.weight.shape
    layer = {"type": "GraphConv", "name": here.name, "out_channels": out,
             "aggr": _aggregation(conv), "bias": conv.lin_rel.bias is not None}
    tensors = tensors_of(conv, "lin_rel.weight", "lin_rel.bias", "lin_root.weight")
    step = Step(layer, tensors, width, out, True, True, reads_edge_weight=edge_weight is not None)
    return _convolve(x, conv, edge_index, step, edge_weight)


def sage_conv(here: Here, conv: Any, x: Any, edge_index: Any, size: Any = None) -> Rows:
    require(not conv.project, "SAGEConv with project=True")
    out, width = conv.lin_l.weight.shape
    layer = {"type": "SAGEConv", "name": here.name, "out_channels": out,
             "aggr": _aggregation(conv), "normalize": conv.normalize,
             "root_weight": conv.root_weight, "bias": conv.lin_l.bias is not None}
    tensors = tensors_of(conv, "lin_l.weight", "lin_l.bias", "lin_r.weight")
    return _convolve(x, conv, edge_index, Step(layer, tensors, width, out, True, True))


def gin_conv(here: Here, conv: Any, x: Any, edge_index: Any, size: Any = None) -> Rows:
    return _gin(here, conv, x, edge_index, "GINConv", None)


def gine_conv(here: Here, conv: Any, x: Any, edge_index: Any, edge_attr: Any = None,
              size: Any = None) -> Rows:
    require(edge_attr is not None, "GINEConv without edge features")
    return _gin(here, conv, x, edge_index, "GINEConv", edge_attr)


def _gin(here: Here, conv: Any, x: Any, edge_index: Any, kind: str, edge_attr: Any) -> Rows:
    require(_aggregation(conv) == "add", f"{kind} with another aggregation than add")
    inner = here.follow(conv.nn, here.name + ".nn")
    require(not inner.parts, "a network inside the layer that concatenates")
    layer: Dict[str, Any] = {"type": kind, "name": here.name}
    tensors = tensors_of(conv, "eps", "lin.weight", "lin.bias")
    if tensors.get("lin.weight") is not None:
        layer["edge_dim"] = tensors["lin.weight"].shape[1]
    reads = edge_attr is not None
    linears = [step for step in inner.steps if step.type == "Linear"]
    types = [step.type for step in inner.steps]
    if (2 <= len(linears) <= 5 and types == (["Linear", "ReLU"] * len(linears))[:-1]
            and all(step.layer["bias"] for step in linears)):
        widths = [step.out_width for step in linears]
        layer.update(out_channels=widths[-1], hidden=widths[:-1])
        for k, step in enumerate(linears):
            for name, tensor in step.tensors.items():
                tensors[f"nn.{2 * k}.{name}"] = tensor
        step = Step(layer, tensors, linears[0].in_width, widths[-1], True, True,
                    reads_edge_attr=reads)
        return _convolve(x, conv, edge_index, step, edge_attr=edge_attr)
    # Any other network: the layer aggregates only, and the network follows as layers of its own.
    layer["mlp"] = False
    step = Step(layer, tensors, passes_messages=True, in_convolution=True, reads_edge_attr=reads)
    rows = _convolve(x, conv, edge_index, step, edge_attr=edge_attr)
    return rows.then(*(_inside(step) for step in inner.steps))


def _inside(step: Step) -> Step:
    return Step(step.layer, step.tensors, step.in_width, step.out_width, in_convolution=True,
                per_graph=step.per_graph)


def gat_conv(here: Here, conv: Any, x: Any, edge_index: Any, edge_attr: Any = None,
             size: Any = None, return_attention_weights: Any = None) -> Rows:
    require(conv.lin is not None, "a GATConv with different maps for sources and targets")
    tensors = tensors_of(conv, "lin.weight", "att_src", "att_dst", "bias")
    if _reads_edge_attr(conv, edge_attr):
        tensors.update(tensors_of(conv, "lin_edge.weight", "att_edge"))
    return _attention(here, "GATConv", conv, x, edge_index, edge_attr, return_attention_weights,
                      conv.lin.weight.shape[1], tensors,
                      {"negative_slope": conv.negative_slope,
                       "add_self_loops": conv.add_self_loops, "bias": conv.bias is not None})


def gatv2_conv(here: Here, conv: Any, x: Any, edge_index: Any, edge_attr: Any = None,
               return_attention_weights: Any = None) -> Rows:
    tensors = tensors_of(conv, "lin_l.weight", "lin_l.bias", "lin_r.weight", "lin_r.bias", "att",
                         "bias")
    if _reads_edge_attr(conv, edge_attr):
        tensors.update(tensors_of(conv, "lin_edge.weight"))
    return _attention(here, "GATv2Conv", conv, x, edge_index, edge_attr, return_attention_weights,
                      conv.lin_l.weight.shape[1], tensors,
                      {"negative_slope": conv.negative_slope,
                       "add_self_loops": conv.add_self_loops, "bias": conv.bias is not None})


def transformer_conv(here: Here, conv: Any, x: Any, edge_index: Any, edge_attr: Any = None,
                     return_attention_weights: Any = None) -> Rows:
    require(not conv.beta, "TransformerConv with beta=True")
    tensors = tensors_of(conv, "lin_key.weight", "lin_key.bias", "lin_query.weight",
                         "lin_query.bias", "lin_value.weight", "lin_value.bias")
    if conv.root_weight:
        tensors.update(tensors_of(conv, "lin_skip.weight", "lin_skip.bias"))
    if _reads_edge_attr(conv, edge_attr):
        tensors.update(tensors_of(conv, "lin_edge.weight"))
    return _attention(here, "TransformerConv", conv, x, edge_index, edge_attr,
                      return_attention_weights, conv.lin_key.weight.shape[1], tensors,
                      {"bias": conv.lin_key.bias is not None, "root_weight": conv.root_weight})


def _reads_edge_attr(conv: Any, edge_attr: Any) -> bool:
    """A layer made for edge features leaves them out when it is given none."""
    return conv.edge_dim is not None and edge_attr is not None


def _attention(here: Here, kind: str, conv: Any, x: Any, edge_index: Any, edge_attr: Any,
               return_attention_weights: Any, width: int, tensors: Dict[str, Tensor],
               options: Dict[str, Any]) -> Rows:
    require(return_attention_weights is None, f"{kind} that returns its attention")
    require(not getattr(conv, "residual", False), f"{kind} with residual=True")
    require(_aggregation(conv) == "add", f"{kind} with another aggregation than add")
    layer = {"type": kind, "name": here.name, "out_channels": conv.out_channels,
             "heads": conv.heads, "concat": conv.concat, **options}
    reads = _reads_edge_attr(conv, edge_attr)
    if reads:
        require(not getattr(conv, "add_self_loops", False) or conv.fill_value == "mean",
                f"{kind} whose self-loops have other edge features than the mean")
        layer["edge_dim"] = conv.edge_dim
    out = conv.out_channels * (conv.heads if conv.concat else 1)
    step = Step(layer, tensors, width, out, True, True, reads_edge_attr=reads)
    return _convolve(x, conv, edge_index, step, edge_attr=edge_attr if reads else None)


# --- several layers, and graphs -------------------------------------------------------------------


def cat(rows: Any, dim: int = 0, out: None = None) -> Rows:
    require(isinstance(rows, (tuple, list)), "a concatenation of unknown parts")
    require(dim in (1, -1), "a concatenation of rows; write dim=-1")
    for value in rows:
        if isinstance(value, Unknown):
            raise Refused(f"{value.reason}, in {value.place}")
        require(isinstance(value, Rows), "a concatenation with other things than layers' outputs")
    parts = [part for value in rows for part in value.columns()]
    require(len({part.readout is None for part in parts}) == 1,
            "a concatenation of rows of nodes and rows of graphs")
    return Rows(parts=tuple(parts))


def jumping_knowledge(here: Here, module: Any, xs: List[Rows]) -> Rows:
    if module.mode == "cat":
        return cat(xs, dim=-1)
    require(module.mode == "max", f"JumpingKnowledge '{module.mode}'; cat and max are known")
    for rows in xs:
        require(isinstance(rows, Rows) and not rows.parts, "a maximum of other things than layers")
    return Rows(parts=(Part(tuple(rows.steps for rows in xs)),))


def scatter(x: Rows, index: Any, dim: int = 0, dim_size: Any = None, reduce: str = "sum") -> Rows:
    """What global_add_pool and its kind are made of."""
    word = {"sum": "add", "add": "add", "mean": "mean", "max": "max"}.get(reduce)
    if word is None:
        raise Refused(f"pooling by '{reduce}'; sum, mean and max are known")
    require(index == Input("batch") and dim in (0, -2),
            "pooling by another vector than the argument batch")
    return x.pooled(word)


def over_nodes(readout: str) -> Callable[..., Any]:
    """x.sum(dim=0) and its kind: pooling when there is one graph alone."""

    def entry(x: Any, dim: Any = None, keepdim: Any = False) -> Any:
        if isinstance(x, PairProduct) and readout == "add" and dim in (1, -1) and not keepdim:
            return PairScores(x.rows)
        require(dim in (0, -2), "a sum, mean or maximum over other things than the nodes")
        rows = x.pooled(readout)
        return (rows, None) if readout == "max" else rows

    return entry


def aggregation_module(readout: str) -> Callable[..., Rows]:
    def entry(here: Here, module: Any, x: Rows, index: Any = None, ptr: Any = None,
              dim_size: Any = None, dim: int = -2) -> Rows:
        require(ptr is None and dim == -2, "an aggregation of other things than nodes by graph")
        require(index in (None, Input("batch")),
                "pooling by another vector than the argument batch")
        return x.pooled(readout)

    return entry


# --- links ----------------------------------------------------------------------------------------


def getitem(value: Any, key: Any) -> Any:
    if value == Input("edge_label_index") and key in (0, 1):
        return PairEnd(key)
    if isinstance(value, Rows) and isinstance(key, PairEnd):
        return EndRows(value, key.which)
    if isinstance(value, (tuple, list)) and isinstance(key, int):
        return value[key]
    raise Refused("an index")


def mul(a: Any, b: Any) -> PairProduct:
    if (isinstance(a, EndRows) and isinstance(b, EndRows) and a.rows is b.rows
            and {a.which, b.which} == {0, 1}):
        return PairProduct(a.rows)
    raise Refused("a product")


# --- the tables -----------------------------------------------------------------------------------

READOUTS: Dict[Any, str] = {
    aggr.SumAggregation: "add",
    aggr.MeanAggregation: "mean",
    aggr.MaxAggregation: "max",
}

MODULES: Dict[Any, Callable[..., Any]] = {
    pyg_nn.GCNConv: gcn_conv,
    pyg_nn.GraphConv: graph_conv,
    pyg_nn.SAGEConv: sage_conv,
    pyg_nn.GINConv: gin_conv,
    pyg_nn.GINEConv: gine_conv,
    pyg_nn.GATConv: gat_conv,
    pyg_nn.GATv2Conv: gatv2_conv,
    pyg_nn.TransformerConv: transformer_conv,
    pyg_nn.Linear: linear,
    pyg_nn.BatchNorm: pyg_batch_norm,
    pyg_nn.LayerNorm: pyg_layer_norm,
    pyg_nn.JumpingKnowledge: jumping_knowledge,
    **{kind: aggregation_module(word) for kind, word in READOUTS.items()},
    nn.Linear: linear,
    nn.BatchNorm1d: batch_norm,
    nn.LayerNorm: layer_norm,
    nn.Identity: of_module(keep),
    nn.Dropout: of_module(keep),
    nn.ReLU: of_module(relu),
    nn.ELU: of_module(elu, "alpha"),
    nn.LeakyReLU: of_module(leaky_relu, "negative_slope"),
    nn.PReLU: prelu,
    nn.Tanh: of_module(tanh),
    nn.Sigmoid: of_module(sigmoid),
    nn.GELU: of_module(gelu, "approximate"),
    nn.SiLU: of_module(silu),
    nn.Softplus: of_module(softplus, "beta", "threshold"),
    nn.Softmax: softmax_module(softmax),
    nn.LogSoftmax: softmax_module(log_softmax),
}

FUNCTIONS: Dict[Any, Callable[..., Any]] = {
    torch_geometric.utils.scatter: scatter,
    F.relu: relu,
    torch.relu: relu,
    F.elu: elu,
    F.leaky_relu: leaky_relu,
    F.tanh: tanh,
    torch.tanh: tanh,
    F.sigmoid: sigmoid,
    torch.sigmoid: sigmoid,
    F.gelu: gelu,
    F.silu: silu,
    F.softplus: softplus,
    F.normalize: normalize,
    F.dropout: dropout,
    F.softmax: softmax,
    torch.softmax: softmax,
    F.log_softmax: log_softmax,
    torch.log_softmax: log_softmax,
    torch.flatten: flatten,
    torch.squeeze: squeeze,
    torch.cat: cat,
    operator.getitem: getitem,
    operator.mul: mul,
    torch.mul: mul,
    torch.sum: over_nodes("add"),
    torch.mean: over_nodes("mean"),
    torch.max: over_nodes("max"),
}

METHODS: Dict[str, Callable[..., Any]] = {
    "relu": relu,
    "relu_": relu,
    "tanh": tanh,
    "sigmoid": sigmoid,
    "softmax": softmax,
    "log_softmax": log_softmax,
    "squeeze": squeeze,
    "flatten": flatten,
    "view": flatten,
    "reshape": flatten,
    "contiguous": keep,
    "clone": keep,
    "float": keep,
    "mul": mul,
    "sum": over_nodes("add"),
    "mean": over_nodes("mean"),
    "max": over_nodes("max"),
}
