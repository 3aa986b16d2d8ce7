"""The same network in torch and in C++ must be explained alike, by every method."""

import copy
import gc
import pickle
import weakref

import numpy as np
import pytest

import pgexplainer as pgx

torch = pytest.importorskip("torch")


def weights(model):
    return {name: torch.tensor(values) for name, values in model.state_dict().items()}


def propagate(x, edge_index, weight, w):
    """GraphConv of one block: (sum of neighbours) W + x W_root + b."""
    source, target = edge_index
    sums = torch.zeros_like(x).index_add(0, target, weight[:, None] * x[source])
    return torch.relu(sums @ w("lin_rel.weight").T + w("lin_rel.bias") + x @ w("lin_root.weight").T)


class Twin:
    """The network of `spec` below, written in torch; picklable."""

    def __init__(self, tensors, readout):
        self.tensors, self.readout = tensors, readout

    def embed(self, x, edge_index, weight=None):
        weight = torch.ones(edge_index.shape[1]) if weight is None else weight
        for layer in ("conv1", "conv2"):
            x = propagate(x, edge_index, weight, lambda key: self.tensors[f"{layer}.{key}"])
        return x

    def __call__(self, x, edge_index, edge_mask, batch):
        z = self.embed(x, edge_index, edge_mask)
        if self.readout:
            count = int(batch.max()) + 1
            z = torch.zeros(count, z.shape[1]).index_add(0, batch, z)
        return z @ self.tensors["lin.weight"].T + self.tensors["lin.bias"]


def layers(on_graphs):
    blocks = [[{"type": "GraphConv", "name": name, "out_channels": 8}, {"type": "ReLU"}]
              for name in ("conv1", "conv2")]
    classes = 2 if on_graphs else 4
    return {"blocks": blocks, "jumping_knowledge": "last",
            **({"readout": ["add"]} if on_graphs else {}),
            "classifier": [{"type": "Linear", "name": "lin", "out_channels": classes}]}


@pytest.fixture(scope="module")
def native(data):
    return pgx.train(data, layers(False), epochs=200, lr=0.01)


@pytest.fixture(scope="module")
def twin(native):
    net = Twin(weights(native), readout=False)
    return pgx.CallableModel(net, net.embed, num_hops=2)


@pytest.fixture(scope="module")
def native_graphs(graphs):
    return pgx.train(graphs, layers(True), epochs=10, lr=0.01)


@pytest.fixture(scope="module")
def twin_graphs(native_graphs):
    net = Twin(weights(native_graphs), readout=True)
    return pgx.CallableModel(net, net.embed)


METHODS = {
    "pgexplainer": {"embedding": "classifier-input", "epochs": 3, "restarts": 0,
                    "necessity": [0.1], "sharpen": 0,
                    "order_epochs": 0, "refine": 0},
    "gnnexplainer": {"epochs": 10},
    "grad": {},
    "gradient": {},
    "occlusion": {},
    "integrated-gradients": {},
}


def scores(method, model, data, instances):
    explainer = pgx.make_explainer(method, seed=1, **METHODS[method])
    return explainer.fit(model, data, instances).explain(data, instances)


def assert_same_scores(method, a, b):
    # Of PGExplainer, a shift of all scores has no gradient but rounding errors, which Adam blows
    # up; how these fall depends on the width of the machine's vectors.
    shift = (a.score - b.score).mean() if method == "pgexplainer" else 0
    np.testing.assert_allclose(a.score, b.score + shift, atol=1e-4, rtol=1e-3)


@pytest.mark.parametrize("method", METHODS)
def test_nodes_are_explained_as_by_the_native_twin(method, native, twin, data):
    nodes = [60, 65, 70, 75, 80]
    for a, b in zip(scores(method, native, data, nodes), scores(method, twin, data, nodes)):
        np.testing.assert_array_equal(a.edges, b.edges)
        assert_same_scores(method, a, b)
        np.testing.assert_allclose(a.prediction_kept, b.prediction_kept, atol=1e-4)


@pytest.mark.parametrize("method", METHODS)
def test_graphs_are_explained_as_by_the_native_twin(method, native_graphs, twin_graphs, graphs):
    chosen = [0, 1, 31, 32]
    for a, b in zip(scores(method, native_graphs, graphs, chosen),
                    scores(method, twin_graphs, graphs, chosen)):
        assert_same_scores(method, a, b)


def test_links_are_explained_as_by_the_native_twin(native, twin, data):
    a, b = (pgx.GradientSaliency().explain(data, (60, 61), model=m) for m in (native, twin))
    np.testing.assert_allclose(a.score, b.score, atol=1e-4, rtol=1e-3)


def test_predictions_and_embeddings_are_the_same(native, twin, native_graphs, twin_graphs, data,
                                                 graphs):
    for a, b, on in ((native, twin, data), (native_graphs, twin_graphs, graphs)):
        np.testing.assert_allclose(a.predict(on), b.predict(on), atol=1e-4)
        z = b.embed(on, "classifier-input")
        np.testing.assert_allclose(a.embed(on, "classifier-input"), z, atol=1e-4)
        length = np.linalg.norm(z, axis=1, keepdims=True)
        shortened = z * np.minimum(1, 2 / np.maximum(length, 1e-9))
        np.testing.assert_allclose(b.embed(on), shortened, atol=1e-5)
        assert (b.task, b.num_features, b.num_classes) == (a.task, a.num_features, a.num_classes)


def test_links_need_to_know_how_far_a_prediction_reaches(native, data):
    model = pgx.CallableModel(Twin(weights(native), readout=False))
    with pytest.raises(pgx.Error, match="give CallableModel num_hops="):
        pgx.GradientSaliency().explain(data, (60, 61), model=model)


def test_it_dies_with_its_last_user(native, data):
    net = Twin(weights(native), readout=False)
    model = pgx.CallableModel(net)
    pgx.GradientSaliency().explain(data, 75, model=model)
    gone = weakref.ref(net)
    del net, model
    gc.collect()
    assert gone() is None


def test_without_hops_the_whole_graph_is_explained(native, data):
    net = Twin(weights(native), readout=False)
    explanation = pgx.GradientSaliency().explain(data, 75, model=pgx.CallableModel(net))
    assert len(explanation.edges) == data.num_edges
    near = pgx.GradientSaliency().explain(data, 75, model=native)
    np.testing.assert_allclose(explanation.edge_mask, near.edge_mask, atol=1e-4, rtol=1e-3)


def test_edge_weights_of_the_data_are_part_of_the_mask(native, data):
    weighted = pgx.Graph(data.edge_index, data.x, edge_weight=np.linspace(0.5, 2, data.num_edges))
    net = Twin(weights(native), readout=False)
    twin = pgx.CallableModel(net, num_hops=2)
    a, b = (pgx.GradientSaliency().explain(weighted, 75, model=m) for m in (native, twin))
    np.testing.assert_allclose(a.score, b.score, atol=1e-4, rtol=1e-3)


def test_without_embeddings_the_logits_of_nodes_serve(native, data, native_graphs, graphs):
    net = Twin(weights(native), readout=False)
    explainer = pgx.PGExplainer(epochs=1, restarts=0).fit(pgx.CallableModel(net), data, [60, 65])
    assert explainer.explain(data, 60).score.size
    net = Twin(weights(native_graphs), readout=True)
    with pytest.raises(pgx.Error, match="give CallableModel embed="):
        pgx.PGExplainer(epochs=1).fit(pgx.CallableModel(net), graphs, [0, 1])


def test_a_single_column_is_the_logit_of_the_second_class(data):
    logits = pgx.CallableModel(lambda *given: degrees(*given) - 3).predict(data)
    counts = np.bincount(data.edge_index[1], minlength=120)
    np.testing.assert_allclose(logits, np.stack([np.zeros(120), counts - 3], 1))


def test_numbers_are_explained_as_by_the_native_twin(native, twin, data):
    for scale in (None, 2.0):
        a, b = (pgx.Occlusion().explain(data, 75, model=m.as_regression(scale))
                for m in (native, twin))
        np.testing.assert_allclose(a.score, b.score, atol=1e-4, rtol=1e-3)
        assert a.prediction[0] == pytest.approx(0.99, abs=1e-3) and a.score.max() > 0


def degrees(x, edge_index, edge_mask, batch):
    return torch.zeros(len(x)).index_add(0, edge_index[1], edge_mask)


def test_a_single_column_of_numbers_stays_one(data):
    numbers = pgx.CallableModel(degrees, num_hops=1).as_regression(scale=1.0)
    for model in (numbers, pickle.loads(pickle.dumps(numbers))):
        explanation = pgx.Occlusion().explain(data, 118, model=model)
        into = explanation.edge_index[1] == 118
        np.testing.assert_allclose(explanation.score[into], 1 / 1.01 - 1 / 2.01, atol=1e-4)


def test_it_survives_pickle_and_copy(twin, data):
    for again in (pickle.loads(pickle.dumps(twin)), copy.deepcopy(twin)):
        np.testing.assert_array_equal(again.predict(data), twin.predict(data))


def refused(predict, data, words, **options):
    with pytest.raises(pgx.Error, match=words):
        pgx.GradientSaliency().explain(data, 75, model=pgx.CallableModel(predict, **options))


def test_a_model_that_ignores_the_mask_is_refused(native, data):
    net = Twin(weights(native), readout=False)
    refused(lambda x, edges, mask, batch: net(x, edges, torch.ones_like(mask), batch), data,
            "the model ignores edge_mask.*multiply the messages by edge_mask")
    refused(lambda x, edges, mask, batch: net(x, edges, mask.detach(), batch), data,
            "no gradient by it")


def test_a_model_that_rolls_dice_is_refused(native, data):
    net = Twin(weights(native), readout=False)
    refused(lambda *given: net(*given) + torch.randn(1), data, r"call eval\(\)")


def test_other_bad_models_are_refused_in_words(native, data, graphs, tmp_path):
    net = Twin(weights(native), readout=False)
    refused(lambda *given: net(*given).detach().numpy(), data, "predict must give a torch tensor")
    refused(lambda *given: net(*given)[:5], data, "predict gave 5 rows of logits for 120 nodes")
    refused(net, data, "predict gives 4 classes, num_classes is 3", num_classes=3)
    refused(net, data, "features per node, the model reads 3", num_features=3)
    with pytest.raises(pgx.Error, match="task is 'edge', expected"):
        pgx.CallableModel(net, task="edge")
    model = pgx.CallableModel(net)
    with pytest.raises(pgx.Error, match="once it has met data"):
        model.num_classes
    model.predict(data)
    with pytest.raises(pgx.Error, match="only native models have a description"):
        model.save(tmp_path / "model.safetensors")
    attributed = pgx.Graph(data.edge_index, data.x, edge_attr=np.ones((data.num_edges, 1)))
    with pytest.raises(pgx.Error, match="edge_attr"):
        model.predict(attributed)


def test_what_the_function_raises_comes_out_as_it_is(data, native):
    net = Twin(weights(native), readout=False)
    calls = []

    def sometimes(*given):
        calls.append(given)
        if len(calls) > 5:
            raise KeyError("an error of the user")
        return net(*given)

    explainer = pgx.GNNExplainer(epochs=20, threads=2)
    with pytest.raises(KeyError, match="an error of the user"):
        explainer.explain(data, [60, 65], model=pgx.CallableModel(sometimes))
    assert explainer.explain(data, 60, model=native).score.size


class Scripted(torch.nn.Module):
    """What a TorchScript file may hold; no native layer does this."""

    num_hops: int

    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.lin = torch.nn.Linear(10, 4)
        self.num_hops = 1

    def forward(self, x: torch.Tensor, edge_index: torch.Tensor, edge_weight: torch.Tensor):
        sums = torch.zeros_like(x).index_add(0, edge_index[1], edge_weight[:, None]
                                             * torch.sin(x[edge_index[0]]))
        return self.lin(sums)

    @torch.jit.export
    def embed(self, x: torch.Tensor, edge_index: torch.Tensor, edge_weight: torch.Tensor):
        return torch.zeros_like(x).index_add(0, edge_index[1], edge_weight[:, None]
                                             * torch.sin(x[edge_index[0]]))


def test_a_torch_script_file_is_a_model(tmp_path, data):
    torch.jit.script(Scripted()).save(str(tmp_path / "net.pt"))
    model = pgx.Model.load(tmp_path / "net.pt")
    assert model.predict(data).shape == (120, 4)
    assert model.embed(data).shape == (120, 10)
    assert model.num_hops == 1
    explanation = pgx.Occlusion().explain(data, 75, model=model)
    assert set(explanation.edge_index[1]) <= set(explanation.nodes)
    assert pgx.PGExplainer(epochs=2).fit(model, data).explain(data, 75).score.size
    torch.save({"weights": torch.ones(3)}, str(tmp_path / "weights.pt"))
    for name, reason in (("weights.pt", "cannot be read as TorchScript"),
                         ("absent.pt", "no such file or folder")):
        with pytest.raises(pgx.Error, match=f"{name}: {reason}"):
            pgx.Model.load(tmp_path / name)


def test_explaining_works_where_gradients_are_switched_off(native, data):
    with torch.no_grad():
        model = pgx.CallableModel(Twin(weights(native), readout=False))
        assert pgx.GradientSaliency().explain(data, 75, model=model).score.any()
