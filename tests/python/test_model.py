import copy
import pickle

import numpy as np
import pytest

import pgexplainer as pgx


def test_predictions_survive_files_and_pickle(tmp_path, model, data):
    logits = model.predict(data)
    model.save(tmp_path / "model.safetensors")
    for again in (pgx.Model.load(tmp_path / "model.safetensors"),
                  pickle.loads(pickle.dumps(model)), copy.deepcopy(model),
                  pgx.Model(model.spec, model.state_dict())):
        np.testing.assert_array_equal(again.predict(data), logits)
        assert repr(again) == repr(model)
    assert pickle.loads(pickle.dumps(model)).training == model.training


def test_weights_are_read_only_views(model):
    for name, values in model.state_dict().items():
        assert np.shares_memory(values, model.state_dict()[name]), name
        assert not values.flags.writeable, name


def test_training_learns_and_its_seed_decides(data):
    model = pgx.train(data, epochs=300)
    assert pgx.metrics.accuracy(model, data)["train"] > 0.9
    again, other = pgx.train(data, epochs=300, threads=2), pgx.train(data, epochs=300, seed=1)
    np.testing.assert_array_equal(model.predict(data), again.predict(data))
    assert not np.array_equal(model.predict(data), other.predict(data))


def test_an_architecture_may_be_a_description(data):
    layers = {"blocks": [[{"type": "GCNConv", "name": "conv", "out_channels": 8},
                          {"type": "ReLU"}]],
              "jumping_knowledge": "last",
              "classifier": [{"type": "Linear", "name": "lin", "out_channels": 4}]}
    model = pgx.train(data, layers, epochs=5)
    assert model.num_hops == 1 and model.spec["blocks"] == layers["blocks"]


def test_a_mask_of_ones_changes_nothing_and_zeros_do(model, data):
    whole = model.predict(data)
    np.testing.assert_array_equal(model.predict(data, edge_mask=np.ones(data.num_edges)), whole)
    assert not np.allclose(model.predict(data, edge_mask=np.zeros(data.num_edges)), whole)


def test_a_lone_graph_is_read_by_a_model_of_graphs(graph_model, graphs):
    rows = graph_model.predict(graphs)
    np.testing.assert_allclose(graph_model.predict(graphs[5]), rows[5:6], atol=1e-5)
    bare = pgx.Graph(graphs[5].edge_index, graphs[5].x)
    np.testing.assert_allclose(graph_model.predict(bare), rows[5:6], atol=1e-5)


def test_embeddings_have_a_row_per_node(model, data):
    assert model.embed(data).shape == (120, 60)
    assert model.embed(data, "last-layer").shape == (120, 20)


def test_bad_input_is_refused_in_words(tmp_path, model, data, graphs):
    with pytest.raises(pgx.Error, match="edge_mask has 3 entries, expected 724"):
        model.predict(data, edge_mask=[1, 1, 1])
    with pytest.raises(pgx.Error, match="the model classifies nodes"):
        model.predict(graphs)
    with pytest.raises(pgx.Error, match="features per node, the model reads 10"):
        model.predict(pgx.Graph([[0], [1]], np.ones((2, 3))))
    with pytest.raises(pgx.Error, match="kind is 'last'"):
        model.embed(data, "last")
    with pytest.raises(pgx.Error, match="no_such.safetensors"):
        pgx.Model.load(tmp_path / "no_such.safetensors")
    with pytest.raises(pgx.Error, match="is missing"):
        pgx.Model(model.spec, {})
    with pytest.raises(pgx.Error, match="unknown key 'epoch'"):
        pgx.train(data, epoch=3)
    with pytest.raises(pgx.Error, match="option lr is -1, expected a value from 0 to 1000"):
        pgx.train(data, lr=-1)
    with pytest.raises(pgx.Error, match="data is a dict, expected a Graph or a Dataset"):
        model.predict({})
