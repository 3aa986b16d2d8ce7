"""The drop-in algorithms inside torch_geometric.explain.Explainer: all levels, modes and calls."""

import json
import subprocess
import warnings

import numpy as np
import pytest

import pgexplainer as pgx

torch = pytest.importorskip("torch", reason="torch is not installed")
pytest.importorskip("torch_geometric", reason="PyTorch Geometric is not installed")

import torch.nn.functional as F  # noqa: E402
import torch_geometric.nn as gnn  # noqa: E402
from torch import nn  # noqa: E402
from torch_geometric.data import Batch, Data  # noqa: E402
from torch_geometric.explain import Explainer, ModelConfig, fidelity  # noqa: E402
from torch_geometric.loader import DataLoader  # noqa: E402
from torch_geometric.utils import k_hop_subgraph  # noqa: E402

from pgexplainer import pyg  # noqa: E402
from pgexplainer.pyg.callable import callable_model  # noqa: E402

EPOCHS = 5


class Nodes:
    """BA-Shapes, with degrees as features: without any, SAGE and GAT cannot tell nodes apart."""

    def __init__(self):
        self.data = pgx.generate("ba-shapes", seed=0, base_nodes=60, num_motifs=12)
        self.edge_index = torch.tensor(self.data.edge_index).long()
        self.y = torch.tensor(self.data.y).long()
        degree = torch.bincount(self.edge_index[1], minlength=len(self.y)).clamp(max=9)
        self.x = F.one_hot(degree, 10).float()
        self.motifs = torch.arange(60, 120, 3)
        self.native = pgx.Graph(self.edge_index, self.x, self.y)

    def train(self, module, epochs=60):
        optimizer = torch.optim.Adam(module.parameters(), lr=0.02)
        for _ in range(epochs):
            optimizer.zero_grad()
            F.cross_entropy(module(self.x, self.edge_index), self.y).backward()
            optimizer.step()
        return module.eval()


@pytest.fixture(scope="module")
def nodes():
    return Nodes()


@pytest.fixture(scope="module")
def networks(nodes):
    """One network of each kind, trained when it is asked for."""
    made = {}

    def network(kind):
        if kind not in made:
            torch.manual_seed(0)
            made[kind] = nodes.train(getattr(gnn, kind)(10, 16, 3, 4, jk="cat"))
        return made[kind]

    return network


@pytest.fixture(scope="module")
def gcn(networks):
    return networks("GCN")


def explainer(model, algorithm=None, explanation_type="phenomenon", level="node",
              mode="multiclass_classification", return_type="raw", **options):
    return Explainer(
        model=model, algorithm=algorithm or pyg.PGExplainer(epochs=EPOCHS, lr=0.003),
        explanation_type=explanation_type, edge_mask_type=options.pop("edge_mask_type", "object"),
        model_config=ModelConfig(mode=mode, task_level=level, return_type=return_type), **options)


@pytest.mark.parametrize("kind", ["GCN", "GraphSAGE", "GIN", "GAT"])
def test_tool_package_and_drop_in_explain_alike(kind, networks, nodes, tool, tmp_path):
    module = networks(kind)
    pyg.save(module, tmp_path / "model.safetensors")
    nodes.native.save(tmp_path / "data.npz")
    chosen = nodes.motifs.tolist()

    def run(*words):
        subprocess.run([tool, *words, "--data", "data.npz", "--model", "model.safetensors",
                        "--instances", ",".join(map(str, chosen))],
                       cwd=tmp_path, check=True, capture_output=True, timeout=120)

    run("fit", "--epochs", str(EPOCHS), "--seed", "5", "-o", "e.safetensors")
    run("explain", "--explainer", "e.safetensors", "-o", "scores.jsonl")
    by_tool = [json.loads(line) for line in (tmp_path / "scores.jsonl").read_text().splitlines()]

    model = pyg.convert(module)
    np.testing.assert_allclose(model.predict(nodes.native),
                               module(nodes.x, nodes.edge_index).detach(), atol=1e-4)
    by_package = pgx.PGExplainer(epochs=EPOCHS, seed=5).fit(
        model, nodes.native, chosen).explain(nodes.native, chosen)

    ex = explainer(module, pyg.PGExplainer(epochs=EPOCHS, seed=5), explanation_type="model")
    ex.algorithm.fit(module, nodes.x, nodes.edge_index, index=nodes.motifs)
    for tool_line, explanation in zip(by_tool, by_package):
        scores = np.array([edge[2] for edge in tool_line["edges"]], np.float32)
        np.testing.assert_array_equal(explanation.score, scores)
        drop_in = ex(nodes.x, nodes.edge_index, index=explanation.instance)
        np.testing.assert_array_equal(drop_in.edge_mask.numpy(), explanation.edge_mask)


def test_the_tutorial_works(gcn, nodes):
    ex = explainer(gcn)
    with pytest.raises(ValueError, match="not yet fully trained .got 0 epochs from 5"):
        ex(nodes.x, nodes.edge_index, target=nodes.y, index=60)
    for epoch in range(EPOCHS):
        for index in nodes.motifs:
            loss = ex.algorithm.train(epoch, gcn, nodes.x, nodes.edge_index, target=nodes.y,
                                      index=int(index))
            assert np.isfinite(loss)
    found = ex(nodes.x, nodes.edge_index, target=nodes.y, index=63)
    assert found.edge_mask.shape == (nodes.edge_index.shape[1],)
    assert 0 <= found.edge_mask.min() and found.edge_mask.max() <= 1
    _, _, _, reached = k_hop_subgraph(63, 3, nodes.edge_index)
    assert torch.equal(found.edge_mask > 0, reached)
    assert found.get("node_mask") is None


def test_the_loop_and_fit_do_the_same(gcn, nodes):
    loop, one_call = explainer(gcn), explainer(gcn)
    for epoch in range(EPOCHS):
        for index in nodes.motifs:
            loop.algorithm.train(epoch, gcn, nodes.x, nodes.edge_index, target=nodes.y, index=index)
    one_call.algorithm.fit(gcn, nodes.x, nodes.edge_index, target=nodes.y, index=nodes.motifs)
    for index in (60, 100):
        assert torch.equal(
            loop(nodes.x, nodes.edge_index, target=nodes.y, index=index).edge_mask,
            one_call(nodes.x, nodes.edge_index, target=nodes.y, index=index).edge_mask)


def test_a_loop_that_stops_early_is_not_trained(gcn, nodes):
    ex = explainer(gcn)
    for epoch in range(EPOCHS - 1):
        ex.algorithm.train(epoch, gcn, nodes.x, nodes.edge_index, target=nodes.y, index=60)
    with pytest.raises(ValueError, match="got 4 epochs from 5"):
        ex(nodes.x, nodes.edge_index, target=nodes.y, index=60)


def test_seeds_decide(gcn, nodes):
    def mask(seed):
        ex = explainer(gcn, pyg.PGExplainer(epochs=EPOCHS, seed=seed), "model")
        ex.algorithm.fit(gcn, nodes.x, nodes.edge_index, index=nodes.motifs)
        return ex(nodes.x, nodes.edge_index, index=60).edge_mask

    assert torch.equal(mask(1), mask(1))
    assert not torch.equal(mask(1), mask(2))


def test_the_motif_is_found(gcn, nodes):
    ex = explainer(gcn, pyg.PGExplainer(epochs=30), "model")
    ex.algorithm.fit(gcn, nodes.x, nodes.edge_index, index=nodes.motifs)
    truth = torch.tensor(nodes.data.edge_gt).bool()
    inside, outside = [], []
    for index in nodes.motifs.tolist():
        mask = ex(nodes.x, nodes.edge_index, index=index).edge_mask
        inside.append(mask[truth & (mask > 0)].mean())
        outside.append(mask[~truth & (mask > 0)].mean())
    assert np.mean(inside) > np.mean(outside) + 0.2
    assert ex.algorithm.report["verdict"] is not None


def test_several_indices_give_the_largest_values(gcn, nodes):
    ex = explainer(gcn, explanation_type="model")
    ex.algorithm.fit(gcn, nodes.x, nodes.edge_index, index=nodes.motifs)
    one, other, both = (ex(nodes.x, nodes.edge_index, index=index).edge_mask
                        for index in (60, 100, torch.tensor([60, 100])))
    assert torch.equal(both, torch.maximum(one, other))
    chosen = torch.zeros(120, dtype=torch.bool)
    chosen[[60, 100]] = True
    assert torch.equal(ex(nodes.x, nodes.edge_index, index=chosen).edge_mask, both)


def test_coefficients_of_pyg_select_the_papers_objective(gcn, nodes):
    algorithm = pyg.PGExplainer(epochs=EPOCHS, edge_size=0.1, temp=[4.0, 3.0])
    ex = explainer(gcn, algorithm)
    ex.algorithm.fit(gcn, nodes.x, nodes.edge_index, target=nodes.y, index=nodes.motifs)
    options = ex.algorithm.explainer.options
    assert options["objective"] == "paper" and options["target"] == "label"
    assert (options["size"], options["entropy"], options["sample_bias"]) == (0.1, 1.0, 0.01)
    assert (options["tau_start"], options["tau_end"]) == (4.0, 3.0)
    assert pyg.PGExplainer().explainer.options["objective"] == "ranking"  # nothing is shared

    model_level = explainer(gcn, pyg.PGExplainer(epochs=EPOCHS, edge_size=0.1), "model")
    model_level.algorithm.fit(gcn, nodes.x, nodes.edge_index, index=nodes.motifs)
    assert model_level.algorithm.explainer.options["target"] == "class"


def test_unknown_options_are_refused():
    with pytest.raises(pgx.Error, match="epoch"):
        pyg.PGExplainer(epoch=3)
    with pytest.raises(pgx.Error, match="epochz"):
        pyg.GNNExplainer(epochz=3)
    with pytest.raises(ValueError, match="edge_reduction"):
        pyg.GNNExplainer(edge_reduction="mean")


def test_targets_that_are_not_predicted_are_mentioned(gcn, nodes):
    ex = explainer(gcn)
    with pytest.warns(UserWarning, match="of 20 instances .such as 60. is not what"):
        ex.algorithm.fit(gcn, nodes.x, nodes.edge_index, target=torch.zeros_like(nodes.y),
                         index=nodes.motifs)


def test_changed_weights_are_noticed(nodes):
    torch.manual_seed(1)
    module = gnn.GCN(10, 8, 2, 4).eval()
    ex = explainer(module, pyg.GNNExplainer(epochs=5), "model")
    before = ex(nodes.x, nodes.edge_index, index=60).edge_mask
    assert torch.equal(ex(nodes.x, nodes.edge_index, index=60).edge_mask, before)
    with torch.no_grad():
        module.convs[0].lin.weight.mul_(-3)
    assert not torch.equal(ex(nodes.x, nodes.edge_index, index=60).edge_mask, before)


def test_edge_weights_are_passed_on(gcn, nodes):
    ex = explainer(gcn, explanation_type="model")
    weight = torch.rand(nodes.edge_index.shape[1]) + 0.5
    ex.algorithm.fit(gcn, nodes.x, nodes.edge_index, index=nodes.motifs, edge_weight=weight)
    found = ex(nodes.x, nodes.edge_index, index=60, edge_weight=weight)
    ours = pgx.Graph(nodes.edge_index, nodes.x, edge_weight=weight)
    same = pgx.PGExplainer(epochs=EPOCHS, lr=0.003).fit(pyg.convert(gcn), ours, nodes.motifs)
    np.testing.assert_array_equal(found.edge_mask, same.explain(ours, 60).edge_mask)


def test_thresholds_and_metrics_of_pyg_work(gcn, nodes):
    ex = explainer(gcn, explanation_type="model", threshold_config=dict(threshold_type="topk",
                                                                        value=12))
    ex.algorithm.fit(gcn, nodes.x, nodes.edge_index, index=nodes.motifs)
    found = ex(nodes.x, nodes.edge_index, index=60)
    assert (found.edge_mask > 0).sum() == 12
    assert found.validate()
    assert all(0 <= value <= 1 for value in fidelity(ex, found))
    assert found.get_explanation_subgraph().num_edges == 12


def test_modes_of_modules_still_work(gcn):
    algorithm = explainer(gcn).algorithm
    assert algorithm.eval() is algorithm and not algorithm.training
    assert algorithm.train() is algorithm and algorithm.training


# --- graphs ---------------------------------------------------------------------------------------


class GraphNet(nn.Module):
    def __init__(self, out=2, end=None):
        super().__init__()
        self.gnn = gnn.GIN(10, 16, 2)
        self.lin = nn.Linear(16, out)
        self.end = end

    def forward(self, x, edge_index, batch=None):
        out = self.lin(gnn.global_add_pool(self.gnn(x, edge_index), batch))
        return out if self.end is None else self.end(out)


@pytest.fixture(scope="module")
def graphs():
    data = pgx.generate("ba-2motifs", seed=0, num_graphs=30)
    return [Data(x=torch.tensor(graph.x), edge_index=torch.tensor(graph.edge_index).long(),
                 y=torch.tensor(graph.y).long()) for graph in data]


def test_graphs_by_the_loop_of_pyg_and_by_fit(graphs):
    torch.manual_seed(0)
    module = GraphNet().eval()
    ex = explainer(module, level="graph")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # an untrained network is often wrong
        for epoch in range(EPOCHS):
            for batch in DataLoader(graphs, batch_size=7, shuffle=True):
                ex.algorithm.train(epoch, module, batch.x, batch.edge_index, target=batch.y,
                                   batch=batch.batch)
        assert len(ex.algorithm._graphs) == 30
        one = graphs[3]
        found = ex(one.x, one.edge_index, target=one.y)
        assert found.edge_mask.shape == (one.num_edges,) and found.edge_mask.min() > 0

        everything = Batch.from_data_list(graphs)
        fitted = explainer(module, level="graph")
        fitted.algorithm.fit(module, everything.x, everything.edge_index, target=everything.y,
                             batch=everything.batch)
        alone = fitted(one.x, one.edge_index, target=one.y).edge_mask
        together = fitted(everything.x, everything.edge_index, target=everything.y, index=3,
                          batch=everything.batch).edge_mask
    of_one = everything.batch[everything.edge_index[0]] == 3
    assert torch.equal(together[of_one], alone)
    assert not together[~of_one].any()


def test_edges_of_a_batch_may_stand_in_any_order(graphs):
    module = GraphNet().eval()
    batch = Batch.from_data_list(graphs[:4])
    order = torch.randperm(batch.num_edges, generator=torch.Generator().manual_seed(0))
    ex = explainer(module, pyg.GNNExplainer(epochs=1, lr=0.0), "model", level="graph")
    plain = ex(batch.x, batch.edge_index, batch=batch.batch, index=2).edge_mask
    mixed = ex(batch.x, batch.edge_index[:, order], batch=batch.batch, index=2).edge_mask
    assert torch.equal(mixed > 0, (plain > 0)[order])


@pytest.mark.parametrize("return_type", ["raw", "probs"])
def test_binary_classification_with_one_output(graphs, return_type):
    torch.manual_seed(0)
    end = torch.sigmoid if return_type == "probs" else (lambda out: out.view(-1))
    module = GraphNet(1, end).eval()
    ex = explainer(module, explanation_type="model", level="graph", mode="binary_classification",
                   return_type=return_type)
    batch = Batch.from_data_list(graphs)
    ex.algorithm.fit(module, batch.x, batch.edge_index, batch=batch.batch)
    found = ex(batch.x, batch.edge_index, batch=batch.batch, index=0)
    assert (found.edge_mask > 0).sum() == graphs[0].num_edges


def test_regression(graphs):
    torch.manual_seed(0)
    module = GraphNet(1).eval()
    one_call, loop = (explainer(module, explanation_type=kind, level="graph", mode="regression")
                      for kind in ("model", "phenomenon"))
    batch = Batch.from_data_list(graphs)
    one_call.algorithm.fit(module, batch.x, batch.edge_index, batch=batch.batch)
    found = one_call(batch.x, batch.edge_index, batch=batch.batch, index=0).edge_mask
    assert (found > 0).sum() == graphs[0].num_edges
    same = pgx.PGExplainer(epochs=EPOCHS, lr=0.003)
    data = pgx.Dataset([pgx.Graph(graph.edge_index, graph.x) for graph in graphs])
    same.fit(pyg.convert(module, mode="regression").as_regression(), data)
    np.testing.assert_array_equal(found[:graphs[0].num_edges],
                                  same.explain(data, 0).edge_mask[:graphs[0].num_edges])
    target = module(batch.x, batch.edge_index, batch.batch).detach()
    for epoch in range(EPOCHS):
        for k, graph in enumerate(graphs):
            loop.algorithm.train(epoch, module, graph.x, graph.edge_index, target=target[k],
                                 batch=torch.zeros(graph.num_nodes, dtype=torch.long))
    assert torch.equal(loop(batch.x, batch.edge_index, target=target, batch=batch.batch,
                            index=0).edge_mask, found)


# --- links ----------------------------------------------------------------------------------------


class LinkNet(nn.Module):
    def __init__(self, encoder):
        super().__init__()
        self.encoder = encoder

    def forward(self, x, edge_index, edge_label_index):
        z = self.encoder(x, edge_index)
        return (z[edge_label_index[0]] * z[edge_label_index[1]]).sum(dim=-1)


def test_links(gcn, nodes):
    module = LinkNet(gcn).eval()
    pairs = torch.tensor([[60, 61, 0, 5, 70, 80], [61, 62, 1, 90, 71, 82]])
    ex = explainer(module, explanation_type="model", level="edge", mode="binary_classification")
    ex.algorithm.fit(module, nodes.x, nodes.edge_index, edge_label_index=pairs)
    found = ex(nodes.x, nodes.edge_index, edge_label_index=pairs, index=0)
    same = pgx.PGExplainer(epochs=EPOCHS, lr=0.003).fit(
        pyg.convert(module), nodes.native, pairs.T).explain(nodes.native, (60, 61))
    np.testing.assert_array_equal(found.edge_mask, same.edge_mask)
    everything = ex(nodes.x, nodes.edge_index, edge_label_index=pairs).edge_mask
    assert (everything >= found.edge_mask).all()


# --- GNNExplainer ---------------------------------------------------------------------------------


def test_gnnexplainer_gives_edges_and_features(gcn, nodes):
    ex = explainer(gcn, pyg.GNNExplainer(epochs=20, edge_ent=0.5, node_feat_size=0.3),
                   node_mask_type="common_attributes")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = ex(nodes.x, nodes.edge_index, target=gcn(nodes.x, nodes.edge_index).argmax(-1),
                   index=60)
    assert found.node_mask.shape == (1, 10)
    assert 0 <= found.node_mask.min() and found.node_mask.max() <= 1
    same = pgx.GNNExplainer(epochs=20, edge_entropy=0.5, feature_size=0.3).explain(
        nodes.native, 60, model=pyg.convert(gcn))
    np.testing.assert_array_equal(found.edge_mask, same.edge_mask)
    np.testing.assert_array_equal(found.node_mask[0], same.feature_score)


@pytest.mark.parametrize("algorithm, masks", [
    (pyg.PGExplainer, dict(node_mask_type="attributes")),
    (pyg.GNNExplainer, dict(node_mask_type="attributes")),
    (pyg.GNNExplainer, dict(node_mask_type="object")),
    (pyg.GNNExplainer, dict(node_mask_type="common_attributes", edge_mask_type=None))], ids=str)
def test_unsupported_masks_are_refused_at_once(gcn, algorithm, masks, caplog):
    with pytest.raises(ValueError, match="does not support the given explanation settings"):
        explainer(gcn, algorithm(), **masks)
    assert "node_mask_type=" in caplog.text or "edge_mask_type=" in caplog.text


def test_arguments_that_are_missing_are_named(gcn, nodes):
    ex = explainer(gcn, pyg.GNNExplainer(), "model")
    with pytest.raises(ValueError, match="'index' argument"):
        ex(nodes.x, nodes.edge_index)
    with pytest.raises(ValueError, match="homogeneous"):
        ex.algorithm(gcn, {"a": nodes.x}, {"b": nodes.edge_index}, target=nodes.y, index=0)


# --- modules that cannot be converted -------------------------------------------------------------


class Residual(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1, self.conv2 = gnn.GCNConv(10, 10), gnn.GCNConv(10, 4)

    def forward(self, x, edge_index):
        return self.conv2(x + self.conv1(x, edge_index).relu(), edge_index)


def test_other_modules_are_called_as_they_are(nodes):
    torch.manual_seed(0)
    module = nodes.train(Residual(), epochs=20)
    ex = explainer(module, pyg.PGExplainer(epochs=2), "model")
    with pytest.warns(UserWarning, match="add.. has no native counterpart"):
        ex.algorithm.fit(module, nodes.x, nodes.edge_index, index=nodes.motifs[:4])
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # said once
        found = ex(nodes.x, nodes.edge_index, index=60)
    _, _, _, reached = k_hop_subgraph(60, 2, nodes.edge_index)
    assert torch.equal(found.edge_mask > 0, reached)


@pytest.mark.parametrize("kind", ["GCN", "GraphSAGE", "GIN", "GAT"])
def test_masks_mean_the_same_to_a_module_and_to_its_conversion(kind, networks, nodes):
    module = networks(kind)
    config = ModelConfig(mode="multiclass_classification", task_level="node", return_type="raw")
    called = callable_model(module, config, nodes.edge_index, {})
    mask = torch.rand(nodes.edge_index.shape[1]).numpy()
    np.testing.assert_allclose(called.predict(nodes.native, edge_mask=mask),
                               pyg.convert(module).predict(nodes.native, edge_mask=mask),
                               atol=1e-4)
