"""Converted modules give the module's logits, and what cannot be converted is named."""

import copy
import inspect

import numpy as np
import pytest

import pgexplainer as pgx

torch = pytest.importorskip("torch", reason="torch is not installed")
pytest.importorskip("torch_geometric", reason="PyTorch Geometric is not installed")

import torch.nn.functional as F  # noqa: E402
import torch_geometric.nn as gnn  # noqa: E402
from torch import nn  # noqa: E402
from torch_geometric.data import Batch, Data  # noqa: E402
from torch_geometric.utils import scatter  # noqa: E402

from pgexplainer.pyg import convert, save  # noqa: E402
from pgexplainer.pyg.convert import converted  # noqa: E402
from pgexplainer.pyg.rows import Refused  # noqa: E402

FEATURES = 5


@pytest.fixture(autouse=True)
def seed():
    torch.manual_seed(7)


def graph(nodes=20, edges=60, edge_dim=0):
    """Directed, with a self-loop, a doubled edge, and an isolated last node."""
    edge_index = torch.randint(0, nodes - 1, (2, edges))
    edge_index[:, 0] = 3
    edge_index = torch.unique(edge_index, dim=1)
    data = Data(x=torch.randn(nodes, FEATURES), edge_index=edge_index)
    if edge_dim:
        data.edge_attr = torch.randn(edge_index.shape[1], edge_dim)
    return data


def native(data, **optional):
    return pgx.Graph(data.edge_index, data.x, **optional)


def trained(module):
    """With statistics and weights that are not those of a new module."""
    module.train()
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.add_(0.1 * torch.randn_like(parameter))
        for layer in module.modules():
            if getattr(layer, "running_mean", None) is not None:
                layer.running_mean.normal_()
                layer.running_var.uniform_(0.5, 2)
    return module


def assert_same(ours, theirs):
    theirs = theirs.detach().numpy()
    assert ours.shape == theirs.shape
    np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-5 * max(1, np.abs(theirs).max()))


def assert_converts(module, **call):
    """A module of nodes on a graph that the conversion has not seen."""
    model = convert(trained(module))
    data = graph()
    assert_same(model.predict(native(data)), module.eval()(data.x, data.edge_index, **call))
    return model


MODELS = [gnn.GCN, gnn.GraphSAGE, gnn.GIN, gnn.GAT]
SETTINGS = {
    "plain": dict(out_channels=3),
    "no out_channels": dict(),
    "one layer": dict(num_layers=1, out_channels=3),
    "jk cat": dict(out_channels=3, jk="cat"),
    "jk max": dict(out_channels=3, jk="max"),
    "jk last": dict(out_channels=3, jk="last"),
    "batch norm": dict(out_channels=3, norm="batch_norm", dropout=0.5),
    "layer norm": dict(out_channels=3, norm="layer_norm", jk="cat"),
    "layer norm by node": dict(out_channels=3, norm="layer_norm", norm_kwargs={"mode": "node"}),
    "norm without weights": dict(out_channels=3, norm="batch_norm", norm_kwargs={"affine": False}),
    "elu first": dict(out_channels=3, act="elu", act_first=True, norm="batch_norm", jk="last"),
    "leaky relu": dict(out_channels=3, act="leaky_relu", act_kwargs={"negative_slope": 0.3}),
    "gelu": dict(out_channels=3, act="gelu"),
    "silu": dict(out_channels=3, act="silu"),
    "softplus": dict(out_channels=3, act="softplus"),
    "sigmoid": dict(out_channels=3, act="sigmoid"),
    "tanh": dict(out_channels=3, act="tanh"),
    "prelu": dict(out_channels=3, act="prelu"),
    "no activation": dict(out_channels=3, act=None),
}


@pytest.mark.parametrize("setting", SETTINGS)
@pytest.mark.parametrize("kind", MODELS, ids=lambda kind: kind.__name__)
def test_basic_models_give_the_same_logits(kind, setting):
    assert_converts(kind(FEATURES, 8, **{"num_layers": 3, **SETTINGS[setting]}))


@pytest.mark.parametrize("options", [
    dict(heads=2), dict(heads=4, concat=False), dict(v2=True), dict(v2=True, heads=2, jk="cat"),
    dict(add_self_loops=False), dict(v2=True, share_weights=True), dict(negative_slope=0.5),
    dict(bias=False), dict(v2=True, bias=False)], ids=str)
def test_attention_gives_the_same_logits(options):
    assert_converts(gnn.GAT(FEATURES, 8, 3, 4, **options))


@pytest.mark.parametrize("options", [
    dict(normalize=False), dict(add_self_loops=False), dict(bias=False), dict(cached=True)],
    ids=str)
def test_gcn_options(options):
    module = gnn.GCN(FEATURES, 8, 2, 3, **options)
    if "cached" in options:  # the coefficients of another graph must not be taken over
        other = graph(nodes=9)
        module(other.x, other.edge_index)
        model = convert(module)
        for layer in module.modules():
            layer._cached_edge_index = None
        data = graph()
        assert_same(model.predict(native(data)), module.eval()(data.x, data.edge_index))
    else:
        assert_converts(module)


@pytest.mark.parametrize("options", [
    dict(aggr="max"), dict(aggr="add"), dict(normalize=True), dict(root_weight=False),
    dict(bias=False)], ids=str)
def test_sage_options(options):
    assert_converts(gnn.GraphSAGE(FEATURES, 8, 2, 3, **options))


def test_edge_weights_are_read_where_the_module_reads_them():
    data = graph()
    weight = torch.rand(data.num_edges) + 0.5
    module = trained(gnn.GCN(FEATURES, 8, 2, 3)).eval()
    assert_same(convert(module).predict(native(data, edge_weight=weight)),
                module(data.x, data.edge_index, edge_weight=weight))


@pytest.mark.parametrize("v2", [False, True])
def test_edge_features_are_read_by_attention(v2):
    data = graph(edge_dim=3)
    module = trained(gnn.GAT(FEATURES, 8, 2, 3, v2=v2, edge_dim=3, heads=2)).eval()
    assert_same(convert(module).predict(native(data, edge_attr=data.edge_attr)),
                module(data.x, data.edge_index, edge_attr=data.edge_attr))


class Layers(nn.Module):
    """Hand-written: the forward is given as a function."""

    def __init__(self, forward, **layers):
        super().__init__()
        for name, layer in layers.items():
            setattr(self, name, layer)
        self.run = forward
        self.__signature__ = inspect.signature(forward)


def hand_written(forward, **layers):
    """A module class whose forward is this function."""
    return type("Net", (Layers,), {"forward": forward})(forward, **layers)


def test_functions_methods_and_submodules_are_followed():
    def forward(self, x, edge_index):
        x = F.normalize(self.conv1(x, edge_index), p=2, dim=-1).relu()
        x = F.dropout(x, p=0.5, training=self.training)
        x = torch.tanh(self.norm(self.conv2(x, edge_index)))
        x = F.leaky_relu(self.conv3(x, edge_index), negative_slope=0.2)
        return self.head(x).squeeze()

    assert_converts(hand_written(
        forward, conv1=gnn.GraphConv(FEATURES, 8), norm=gnn.BatchNorm(8),
        conv2=gnn.SAGEConv(8, 8), conv3=gnn.TransformerConv(8, 4, heads=2),
        head=nn.Sequential(nn.Linear(8, 6), nn.BatchNorm1d(6), nn.ELU(0.5), nn.Dropout(),
                           nn.Identity(), nn.LayerNorm(6), nn.Linear(6, 3))))


def test_layers_may_be_concatenated_in_any_order_with_the_features():
    def forward(self, x, edge_index):
        a = self.conv1(x, edge_index).relu()
        b = self.conv2(a, edge_index).relu()
        return self.head(torch.cat([b, x, a], dim=-1))

    assert_converts(hand_written(forward, conv1=gnn.GCNConv(FEATURES, 4), conv2=gnn.GCNConv(4, 6),
                                 head=nn.Linear(FEATURES + 10, 3)))


def test_a_layer_used_twice_becomes_two():
    def forward(self, x, edge_index):
        return self.conv(self.conv(x, edge_index).relu(), edge_index)

    assert_converts(hand_written(forward, conv=gnn.GCNConv(FEATURES, FEATURES)))


@pytest.mark.parametrize("inner", [
    nn.Sequential(nn.Linear(FEATURES, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Linear(8, 8), nn.ReLU()),
    nn.Linear(FEATURES, 8), gnn.MLP([FEATURES, 6, 8]), gnn.MLP([FEATURES, 6, 6, 8], norm=None),
    nn.Sequential(nn.Linear(FEATURES, 8), nn.Tanh(), nn.Linear(8, 8))], ids=lambda m: str(m)[:40])
def test_gin_takes_any_inner_network(inner):
    def forward(self, x, edge_index):
        return self.lin(self.conv(x, edge_index))

    assert_converts(hand_written(forward, conv=gnn.GINConv(copy.deepcopy(inner), train_eps=True),
                                 lin=nn.Linear(8, 3)))


def test_softmax_at_the_end_is_not_part_of_the_logits():
    def forward(self, x, edge_index):
        return F.log_softmax(self.conv(x, edge_index), dim=1)

    module = trained(hand_written(forward, conv=gnn.GCNConv(FEATURES, 3))).eval()
    model, conversion = converted(module)
    assert conversion.returns == "log_probs"
    data = graph()
    logits = torch.tensor(model.predict(native(data)))
    assert_same(logits.log_softmax(-1).numpy(), module(data.x, data.edge_index))
    assert not np.allclose(logits, module(data.x, data.edge_index).detach())


@pytest.mark.parametrize("end", ["raw", "sigmoid", "flat"])
@pytest.mark.parametrize("last", ["convolution", "linear"])
def test_one_output_becomes_two_classes(end, last):
    def forward(self, x, edge_index):
        x = self.lin(self.conv(x, edge_index))
        return {"raw": x, "sigmoid": x.sigmoid(), "flat": x.view(-1)}[end]

    linear = last == "linear"
    module = trained(hand_written(forward, conv=gnn.GCNConv(FEATURES, 4 if linear else 1),
                                  lin=nn.Linear(4, 1) if linear else nn.Identity())).eval()
    data = graph()
    logits = torch.tensor(convert(module).predict(native(data)))
    assert logits.shape == (20, 2)
    out = module(data.x, data.edge_index).view(-1)
    assert_same(logits[:, 0].numpy(), torch.zeros(20))
    assert_same((logits[:, 1].sigmoid() if end == "sigmoid" else logits[:, 1]).numpy(), out)


def test_regression_keeps_its_output():
    def forward(self, x, edge_index):
        return self.conv(x, edge_index).sigmoid().squeeze(-1)

    module = hand_written(forward, conv=gnn.GCNConv(FEATURES, 1)).eval()
    data = graph()
    numbers = convert(module, mode="regression").predict(native(data))
    assert_same(numbers, module(data.x, data.edge_index).view(-1, 1))


def test_arguments_that_are_demanded_but_not_read():
    def forward(self, x, edge_index, edge_weight, batch):
        return self.conv(x, edge_index)

    assert convert(hand_written(forward, conv=gnn.SAGEConv(FEATURES, 3))).num_classes == 3


# --- graphs ---------------------------------------------------------------------------------------


def batch_of_graphs():
    return Batch.from_data_list([graph(12, 30), graph(4, 3), graph(9, 20)])


def assert_converts_graphs(module):
    model = convert(trained(module))
    assert model.task == "graph"
    batch = batch_of_graphs()
    ours = model.predict(pgx.Dataset([native(data) for data in batch.to_data_list()]))
    assert_same(ours, module.eval()(batch.x, batch.edge_index, batch=batch.batch))
    return model


POOLS = {
    "add": lambda h, batch: gnn.global_add_pool(h, batch),
    "mean": lambda h, batch: gnn.global_mean_pool(h, batch),
    "max": lambda h, batch: gnn.global_max_pool(h, batch),
    "scatter": lambda h, batch: scatter(h, batch, dim=0, reduce="mean"),
}


@pytest.mark.parametrize("kind", POOLS)
def test_poolings(kind):
    def forward(self, x, edge_index, batch):
        return self.lin(POOLS[kind](self.gnn(x, edge_index), batch))

    assert_converts_graphs(hand_written(forward, gnn=gnn.GIN(FEATURES, 8, 2), lin=nn.Linear(8, 2)))


def test_poolings_of_several_layers_and_kinds():
    def forward(self, x, edge_index, batch):
        a = self.conv1(x, edge_index).relu()
        b = self.conv2(a, edge_index).relu()
        pooled = [gnn.global_max_pool(a, batch), gnn.global_mean_pool(a, batch),
                  gnn.global_max_pool(b, batch), gnn.global_mean_pool(b, batch)]
        return self.lin(torch.cat(pooled, dim=1))

    model = assert_converts_graphs(hand_written(
        forward, conv1=gnn.GCNConv(FEATURES, 4), conv2=gnn.GCNConv(4, 6), lin=nn.Linear(20, 2)))
    assert model.spec["readout"] == ["max", "mean"]


def test_pooling_of_jumping_knowledge_and_aggregation_modules():
    def forward(self, x, edge_index, batch):
        a = self.conv1(x, edge_index).relu()
        b = self.conv2(a, edge_index).relu()
        return self.lin(self.pool(self.jk([a, b]), batch))

    for mode, width in (("cat", 12), ("max", 6)):
        assert_converts_graphs(hand_written(
            forward, conv1=gnn.SAGEConv(FEATURES, 6), conv2=gnn.SAGEConv(6, 6),
            jk=gnn.JumpingKnowledge(mode), pool=gnn.MaxAggregation(), lin=nn.Linear(width, 2)))


def test_layer_norm_of_graphs():
    def forward(self, x, edge_index, batch=None):
        x = self.norm(self.conv(x, edge_index), batch)
        return self.lin(gnn.global_mean_pool(x, batch))

    module = hand_written(forward, conv=gnn.GCNConv(FEATURES, 6), norm=gnn.LayerNorm(6),
                          lin=nn.Linear(6, 2))
    with torch.no_grad():
        module.conv.lin.weight.mul_(0.02)  # so small that it matters where eps is added
    module.eval()
    batch = batch_of_graphs()
    graphs = [native(data) for data in batch.to_data_list()]
    together = converted(module, arguments=["batch"])[0].predict(pgx.Dataset(graphs))
    assert_same(together, module(batch.x, batch.edge_index, batch.batch))
    alone = converted(module, arguments=[])[0]
    for data, graph in zip(batch.to_data_list(), graphs):
        assert_same(alone.predict(graph), module(data.x, data.edge_index))


def test_layer_norm_of_each_graph_is_refused_for_nodes():
    module = gnn.GCN(FEATURES, 8, 2, 3, norm="layer_norm")
    with pytest.raises(Refused, match="one by one"):
        converted(module, arguments=["batch"])


def test_layer_norm_that_is_not_told_the_batch_is_refused():
    def forward(self, x, edge_index, batch):
        return gnn.global_mean_pool(self.norm(self.conv(x, edge_index)), batch)

    assert "give it `batch`" in refusal(hand_written(forward, conv=gnn.GCNConv(FEATURES, 6),
                                                     norm=gnn.LayerNorm(6)))


def test_sequential():
    assert_converts_graphs(gnn.Sequential("x, edge_index, batch", [
        (gnn.GCNConv(FEATURES, 8), "x, edge_index -> x1"),
        (nn.ReLU(), "x1 -> x1"),
        (gnn.GINConv(gnn.MLP([8, 8, 8])), "x1, edge_index -> x2"),
        (nn.ReLU(), "x2 -> x2"),
        (lambda a, b: [a, b], "x1, x2 -> xs"),
        (gnn.JumpingKnowledge("cat"), "xs -> x"),
        (gnn.global_mean_pool, "x, batch -> x"),
        nn.Linear(16, 2),
    ]))


def test_the_newest_sequential_is_not_taken_for_an_older_one():
    older = gnn.Sequential("x, edge_index", [(gnn.GCNConv(FEATURES, 3), "x, edge_index -> x")])
    gnn.Sequential("x, edge_index", [(gnn.GATConv(FEATURES, 2), "x, edge_index -> x"), nn.ReLU()])
    assert_converts(older)


def test_a_module_of_one_graph_at_a_time():
    def forward(self, x, edge_index):
        return self.lin(self.conv(x, edge_index).relu().mean(dim=0, keepdim=True))

    module = trained(hand_written(forward, conv=gnn.GCNConv(FEATURES, 4), lin=nn.Linear(4, 3)))
    model = convert(module)
    data = graph()
    assert model.task == "graph"
    assert_same(model.predict(native(data)), module.eval()(data.x, data.edge_index))


def test_a_module_that_takes_a_data_object():
    def forward(self, data):
        return self.conv(data.x, data.edge_index, data.edge_weight).softmax(dim=-1)

    model = convert(hand_written(forward, conv=gnn.GCNConv(FEATURES, 3)))
    assert model.num_classes == 3


# --- links ----------------------------------------------------------------------------------------


def test_a_link_decoder_becomes_its_encoder():
    def forward(self, x, edge_index, edge_label_index):
        z = self.conv2(self.conv1(x, edge_index).relu(), edge_index)
        source, target = edge_label_index
        return (z[source] * z[target]).sum(dim=-1).view(-1)

    module = trained(hand_written(forward, conv1=gnn.GCNConv(FEATURES, 8),
                                  conv2=gnn.GCNConv(8, 4))).eval()
    model, conversion = converted(module)
    assert (conversion.level, model.task, model.num_classes) == ("edge", "node", 4)
    data = graph()
    pairs = torch.tensor([[0, 3, 5], [1, 3, 18]])
    z = model.predict(native(data))
    assert_same((z[pairs[0]] * z[pairs[1]]).sum(-1), module(data.x, data.edge_index, pairs))


# --- what is refused ------------------------------------------------------------------------------


def refusal(module, **options):
    with pytest.raises(pgx.Error) as caught:
        convert(module, **options)
    return str(caught.value)


def line_of(function, text):
    lines, first = inspect.getsourcelines(function)
    return f"{inspect.getsourcefile(function)}:" + str(
        first + next(k for k, line in enumerate(lines) if text in line))


def test_an_unknown_layer_is_named_with_its_line_and_the_remedy():
    def forward(self, x, edge_index):
        x = x.relu()
        return self.odd(x, edge_index)

    text = refusal(hand_written(forward, odd=gnn.ChebConv(FEATURES, 3, K=2)))
    assert line_of(forward, "self.odd") in text
    assert "ChebConv" in text and "odd" in text and "CallableModel" in text


def test_an_unknown_operation_is_named_with_its_line():
    def forward(self, x, edge_index):
        h = self.conv(x, edge_index)
        h = h + x
        return self.conv2(h.relu(), edge_index)

    text = refusal(hand_written(forward, conv=gnn.GCNConv(FEATURES, FEATURES),
                                conv2=gnn.GCNConv(FEATURES, 2)))
    assert line_of(forward, "h + x") in text and "add()" in text


def test_control_flow_is_named_with_its_line():
    def forward(self, x, edge_index):
        if x.sum() > 0:
            x = -x
        return self.conv(x, edge_index)

    text = refusal(hand_written(forward, conv=gnn.GCNConv(FEATURES, 2)))
    assert line_of(forward, "x.sum()") in text


def changed_edges(self, x, edge_index):
    edge_index = edge_index.flip(0)
    return self.conv(x, edge_index)


def random_network(self, x, edge_index):
    return self.conv(F.dropout(x, p=0.5), edge_index)


def dense_network(self, x, edge_index):
    return self.lin(x)


def parallel_branches(self, x, edge_index):
    return self.lin(torch.cat([self.conv(x, edge_index), self.other(x, edge_index)], dim=-1))


def convolution_after_pooling(self, x, edge_index, batch):
    return self.conv(gnn.global_add_pool(x, batch), edge_index)


def needs_more(self, x, edge_index, temperature):
    return self.conv(x, edge_index) * temperature


def one_vector(self, x, edge_index):
    return self.conv(x, edge_index).flatten()


def softmax_inside(self, x, edge_index):
    return self.conv(x.softmax(-1), edge_index)


def reads_weights_once(self, x, edge_index, edge_weight):
    return self.other(self.conv(x, edge_index, edge_weight), edge_index)


@pytest.mark.parametrize("forward, words", [
    (changed_edges, "changed before the layer"),
    (random_network, "training=self.training"),
    (dense_network, "no convolution"),
    (parallel_branches, "do not follow each other"),
    (convolution_after_pooling, "after a concatenation or pooling"),
    (needs_more, "'temperature'"),
    (reads_weights_once, "others do not"),
    (one_vector, "made one vector"),
    (softmax_inside, "after softmax"),
], ids=lambda value: getattr(value, "__name__", None))
def test_other_refusals(forward, words):
    module = hand_written(forward, conv=gnn.GCNConv(FEATURES, FEATURES),
                          other=gnn.GCNConv(FEATURES, FEATURES), lin=nn.Linear(FEATURES, 2))
    if forward is parallel_branches:
        module.lin = nn.Linear(2 * FEATURES, 2)
    assert words in refusal(module)


@pytest.mark.parametrize("module, words", [
    (lambda: gnn.GCN(FEATURES, 8, 2, 3, jk="lstm"), "'lstm'"),
    (lambda: gnn.GCN(FEATURES, 8, 2, 3, norm="graph_norm"), "GraphNorm"),
    (lambda: gnn.GraphSAGE(FEATURES, 8, 2, 3, project=True), "project"),
    (lambda: gnn.GAT(FEATURES, 8, 2, 3, residual=True), "residual"),
    (lambda: gnn.GraphSAGE(FEATURES, 8, 2, 3, aggr="median"), "aggregation"),
    (lambda: gnn.GCN(FEATURES, 8, 2, 3, flow="target_to_source"), "direction"),
    (lambda: gnn.GCN(FEATURES, 8, 2, 3, improved=True), "improved"),
    (lambda: gnn.GCN(-1, 8, 2, 3), "call the module once"),
    (lambda: gnn.Sequential("x, edge_index", [(gnn.GCNConv(FEATURES, 3), "x, edge_index -> x"),
                                              nn.Sigmoid()]), "sigmoid of several outputs"),
    (lambda: gnn.GCN(FEATURES, 8, 2, 3, norm="batch_norm",
                     norm_kwargs={"track_running_stats": False}), "running statistics"),
    (lambda: gnn.PNA(FEATURES, 8, 2, 3, aggregators=["mean"], scalers=["identity"],
                     deg=torch.ones(5, dtype=torch.long)), "PNAConv"),
], ids=str)
def test_refused_settings(module, words):
    assert words in refusal(module())


def test_a_subclass_of_a_known_layer_is_not_taken_for_it():
    class Mine(gnn.GCNConv):
        def message(self, x_j, edge_weight):
            return 2 * super().message(x_j, edge_weight)

    def forward(self, x, edge_index):
        return self.conv(x, edge_index)

    assert "Mine" in refusal(hand_written(forward, conv=Mine(FEATURES, 2)))


def test_a_wrong_task_level_is_refused():
    assert "task_level" in refusal(gnn.GCN(FEATURES, 8, 2, 3), task_level="graph")


def test_a_module_that_depends_on_other_things_fails_the_check():
    def forward(self, x, edge_index):
        self.calls += 1
        return self.conv(x, edge_index).relu() if self.calls > 1 else self.conv(x, edge_index)

    module = hand_written(forward, conv=gnn.GCNConv(FEATURES, 4))
    module.calls = 0
    assert "the conversion differs" in refusal(module)


# --- the module, files, precision -----------------------------------------------------------------


def test_the_module_is_left_as_it_was():
    module = gnn.GCN(FEATURES, 8, 2, 3, norm="batch_norm")
    before = copy.deepcopy(module.state_dict())
    module.train()
    module.convs[0].eval()
    convert(module)
    assert module.training and not module.convs[0].training
    assert all(p.requires_grad for p in module.parameters())
    for name, tensor in module.state_dict().items():
        assert torch.equal(tensor, before[name])


def test_double_precision_is_converted_with_a_warning():
    module = gnn.GCN(FEATURES, 8, 2, 3).double()
    with pytest.warns(UserWarning, match="double precision"):
        model = convert(module)
    data = graph()
    assert_same(model.predict(native(data)), module(data.x.double(), data.edge_index))
    assert next(module.parameters()).dtype == torch.float64


def test_a_saved_module_is_a_model_file(tmp_path):
    module = trained(gnn.GAT(FEATURES, 8, 2, 3)).eval()
    save(module, tmp_path / "gat.safetensors")
    data = graph()
    assert_same(pgx.Model.load(tmp_path / "gat.safetensors").predict(native(data)),
                module(data.x, data.edge_index))


def test_the_names_of_the_tensors_are_those_of_the_state_dict():
    module = gnn.GCN(FEATURES, 8, 3, 3, norm="batch_norm", jk="cat")
    theirs = {name for name in module.state_dict() if not name.endswith("num_batches_tracked")}
    assert set(convert(module).state_dict()) == theirs


def test_a_sample_can_be_given():
    data = graph(edge_dim=2)  # which the module does not take
    assert convert(gnn.GCN(FEATURES, 8, 2, 3), sample=data).num_classes == 3
    wrong = Data(x=torch.randn(4, FEATURES + 1), edge_index=data.edge_index[:, :0])
    with pytest.raises((pgx.Error, RuntimeError)):
        convert(gnn.GCN(FEATURES, 8, 2, 3), sample=wrong)
