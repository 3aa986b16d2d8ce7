import copy
import pickle

import numpy as np
import pytest

import pgexplainer as pgx

PATH = np.array([[0, 1, 1, 2], [1, 0, 2, 1]])


def arrays_of(data):
    keys = ("x", "edge_index", "y", "edge_gt", "edge_weight", "edge_attr", "graph_ptr", "edge_ptr",
            "train_mask", "val_mask", "test_mask", "eval_instances")
    return {key: getattr(data, key) for key in keys}


def assert_same(a, b):
    for key, values in arrays_of(a).items():
        np.testing.assert_array_equal(values, getattr(b, key), err_msg=key)
    assert (type(a), a.name, a.node_type_names) == (type(b), b.name, b.node_type_names)


def test_arrays_come_out_as_they_went_in():
    graph = pgx.Graph(PATH, np.eye(3), [0, 1, 0], edge_weight=[1, 2, 3, 4],
                      edge_attr=np.ones((4, 2)), edge_gt=[1, 0, 0, 1], eval_instances=[2])
    np.testing.assert_array_equal(graph.edge_index, PATH)
    np.testing.assert_array_equal(graph.x, np.eye(3))
    assert graph.y.tolist() == [0, 1, 0]
    assert graph.edge_weight.tolist() == [1, 2, 3, 4]
    assert graph.edge_attr.shape == (4, 2)
    assert graph.edge_gt.tolist() == [True, False, False, True]
    assert graph.eval_instances.tolist() == [2]
    assert graph.train_mask.dtype == bool


@pytest.mark.parametrize("dtype", [np.int32, np.int64, np.uint8])
def test_any_whole_numbers_name_nodes(dtype):
    np.testing.assert_array_equal(pgx.Graph(PATH.astype(dtype), np.eye(3)).edge_index, PATH)


def test_columns_in_any_order_of_memory_are_read_right():
    x = np.asfortranarray(np.arange(6.0).reshape(3, 2))
    np.testing.assert_array_equal(pgx.Graph(PATH, x).x, x)
    np.testing.assert_array_equal(pgx.Graph(PATH.T.copy().T, x).edge_index, PATH)


def test_torch_tensors_are_read_even_while_autograd_watches():
    torch = pytest.importorskip("torch")
    graph = pgx.Graph(torch.tensor(PATH), torch.eye(3, requires_grad=True), torch.tensor([0, 1, 0]))
    np.testing.assert_array_equal(graph.edge_index, PATH)
    assert graph.y.tolist() == [0, 1, 0]


def test_a_graph_does_not_change_with_the_arrays_it_was_made_of():
    x = np.ones((3, 1), np.float32)
    graph = pgx.Graph(PATH, x)
    x[0] = 7
    assert graph.x[0] == 1


def test_views_share_memory_are_read_only_and_outlive_the_graph():
    graph = pgx.Graph(PATH, np.eye(3), [0, 1, 0])
    for key in ("x", "y", "train_mask", "edge_index"):
        assert np.shares_memory(getattr(graph, key), getattr(graph, key)), key
        assert not getattr(graph, key).flags.writeable, key
    x = graph.x
    del graph
    np.testing.assert_array_equal(x, np.eye(3))


def test_generated_data_survive_files(tmp_path, data, graphs):
    for kept in (data, graphs):
        kept.save(tmp_path / f"{kept.name}.npz")
        assert_same(kept, pgx.Dataset.load(tmp_path / f"{kept.name}.npz"))


def test_pickle_and_copy_keep_everything(data, graphs):
    weighted = pgx.Graph(PATH, np.eye(3), edge_weight=[1, 2, 3, 4], node_type_names=["C", "N", "O"])
    for kept in (data, graphs, graphs[3], weighted):
        assert_same(kept, pickle.loads(pickle.dumps(kept)))
        assert_same(kept, copy.copy(kept))
        assert_same(kept, copy.deepcopy(kept))


def test_a_dataset_is_the_list_of_its_graphs(graphs):
    again = pgx.Dataset(list(graphs), name=graphs.name, train_mask=graphs.train_mask,
                        val_mask=graphs.val_mask, test_mask=graphs.test_mask,
                        eval_instances=graphs.eval_instances)
    assert_same(graphs, again)
    assert len(graphs) == 60
    assert graphs[-1].num_nodes == 25
    with pytest.raises(IndexError):
        graphs[60]


def test_help_lists_the_options_of_every_generator():
    for name in ("ba-shapes", "ba-community", "tree-cycles", "tree-grid", "ba-2motifs"):
        assert f"Options of {name}:" in pgx.generate.__doc__
    assert "num_motifs = 80, 0 to 4e+08: houses of five nodes" in pgx.generate.__doc__


def test_a_graph_may_have_no_edge(model):
    graph = pgx.Graph([[], []], np.ones((3, 10)))
    assert graph.edge_index.shape == (2, 0)
    explanation = pgx.GradientSaliency().explain(graph, 1, model=model)
    assert explanation.edge_mask.size == 0 and explanation.topk(3).selected.size == 0
    assert explanation.plot().startswith("<svg")


def test_repr_says_what_it_is(data, graphs):
    assert repr(data) == "Graph('ba-shapes': 120 nodes, 724 edges, 10 features, 4 classes)"
    assert "60 graphs" in repr(graphs)


def raises(words):
    return pytest.raises(pgx.Error, match=words)


def test_bad_arrays_are_refused_in_words():
    with raises(r"edge_index has shape \(3, 4\), expected \(2, number of edges\)"):
        pgx.Graph(np.zeros((3, 4), int), np.eye(3))
    with raises("names node 9 in edge 1; the nodes are 0 to 2"):
        pgx.Graph([[0, 9], [1, 0]], np.eye(3))
    with raises("x has the value nan in row 1, column 0"):
        pgx.Graph(PATH, [[0], [np.nan], [0]])
    with raises("y has 2 entries, expected 3"):
        pgx.Graph(PATH, np.eye(3), [0, 1])
    with raises("train_mask but no|all three masks or none"):
        pgx.Graph(PATH, np.eye(3), train_mask=[1, 0, 0])
    with raises("edge_index: cannot be read as an array of numbers"):
        pgx.Graph([[0, 1], [1]], np.eye(3))
    with raises("x"):
        pgx.Graph(PATH, [["a"], ["b"], ["c"]])
    with raises("seed is 'a'"):
        pgx.generate("ba-shapes", seed="a")
    with raises("graph 1 is a int"):
        pgx.Dataset([pgx.Graph(PATH, np.eye(3), 0), 3])
    with raises("there are no graphs"):
        pgx.Dataset([])
    with raises("graph 1 needs one number as y"):
        pgx.Dataset([pgx.Graph(PATH, np.eye(3), 0), pgx.Graph(PATH, np.eye(3))])
    with raises("x of graph 1 has shape"):
        pgx.Dataset([pgx.Graph(PATH, np.eye(3), 0), pgx.Graph(PATH, np.ones((3, 2)), 0)])
    with raises("unknown key 'nodes'"):
        pgx.generate("ba-shapes", nodes=3)
    with raises("there is no generator 'ba-shape'"):
        pgx.generate("ba-shape")
    assert issubclass(pgx.Error, ValueError)


def test_a_graph_without_labels_is_explained_but_not_saved(tmp_path, model, data):
    graph = pgx.Graph(data.edge_index, data.x)
    assert graph.y is None and graph.num_classes == 0
    np.testing.assert_array_equal(model.predict(graph), model.predict(data))
    with raises("has no labels"):
        graph.save(tmp_path / "graph.npz")
