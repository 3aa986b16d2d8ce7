import json
import pickle
import xml.etree.ElementTree as xml

import numpy as np
import pytest

import pgexplainer as pgx


@pytest.fixture(scope="module")
def explanation(explainer, data):
    return explainer.explain(data, 75)


def test_numbers_are_those_of_the_data(explanation, data):
    np.testing.assert_array_equal(explanation.edge_index, data.edge_index[:, explanation.edges])
    assert set(explanation.edge_index.ravel()) <= set(explanation.nodes)


def test_arrays_are_views(explanation):
    for key in ("nodes", "edges", "score", "selected", "prediction"):
        assert np.shares_memory(getattr(explanation, key), getattr(explanation, key)), key
        assert not getattr(explanation, key).flags.writeable, key


def test_the_edge_mask_is_the_sigmoid_of_the_scores(explanation, data):
    mask = explanation.edge_mask
    assert mask.shape == (data.num_edges,) and mask.dtype == np.float32
    outside = np.ones(data.num_edges, bool)
    outside[explanation.edges] = False
    assert not mask[outside].any()
    expected = 1 / (1 + np.exp(-explanation.score.astype(float)))
    np.testing.assert_allclose(mask[explanation.edges], expected, rtol=1e-6)


def test_other_methods_give_their_own_scores(model, data):
    explanation = pgx.GNNExplainer(epochs=3).explain(data, 75, model=model)
    np.testing.assert_array_equal(explanation.edge_mask[explanation.edges], explanation.score)
    assert explanation.feature_score.shape == (10,)


def test_choices_of_edges_and_what_they_do(explanation, model, data):
    best = explanation.topk(6)
    assert best.selected.sum() == 12 and explanation.selected.sum() == 20
    assert best.score[best.selected].min() >= best.score[~best.selected].max()
    mask = np.zeros(data.num_edges, np.float32)
    mask[best.edges[best.selected]] = 1

    def probabilities(edge_mask):
        logits = model.predict(data, edge_mask=edge_mask)[75].astype(float)
        return np.exp(logits) / np.exp(logits).sum()

    np.testing.assert_allclose(best.prediction_kept, probabilities(mask), atol=1e-5)
    np.testing.assert_allclose(best.prediction_removed, probabilities(1 - mask), atol=1e-5)
    np.testing.assert_allclose(best.prediction, probabilities(None), atol=1e-5)
    least = float(np.median(explanation.score))
    over = explanation.threshold(least)
    np.testing.assert_array_equal(over.selected, explanation.score >= np.float32(least))
    assert explanation.topk(40).connected().selected.sum() <= 80


def test_pickle_keeps_all_but_the_model(explanation):
    again = pickle.loads(pickle.dumps(explanation))
    for key in ("instance", "nodes", "edges", "score", "selected", "prediction", "prediction_kept",
                "prediction_removed", "edge_mask"):
        np.testing.assert_array_equal(getattr(again, key), getattr(explanation, key), err_msg=key)
    assert repr(again) == repr(explanation)
    np.testing.assert_array_equal(again.topk(3).selected, explanation.topk(3).selected)
    assert again.topk(3).prediction_kept is None
    assert again.plot() == explanation.plot()


def test_it_outlives_explainer_and_model(data):
    model = pgx.train(data, epochs=5)
    explanation = pgx.GradientSaliency().explain(data, 75, model=model)
    del model
    assert explanation.topk(3).prediction_kept.shape == (4,)


def test_as_a_dict_it_is_json(explanation):
    content = json.loads(json.dumps(explanation.to_dict()))
    assert content["instance"] == 75 and content["method"] == "pgexplainer"
    assert len(content["edges"]) == len(explanation.edges)


def test_repr_says_what_it_is(explanation, graph_model, graphs, model, data):
    assert repr(explanation).startswith("<Explanation of node 75 by pgexplainer: class ")
    one = pgx.GradientSaliency().explain(graphs, 3, model=graph_model)
    assert "graph 3 by grad" in repr(one)
    assert "link 60-61" in repr(pgx.GradientSaliency().explain(data, (60, 61), model=model))


def test_pictures_are_svg(explanation, tmp_path):
    assert xml.fromstring(explanation._repr_svg_()).tag == "{http://www.w3.org/2000/svg}svg"
    assert explanation.plot()._repr_svg_() == explanation._repr_svg_()
    for ending in ("svg", "graphml"):
        explanation.plot(tmp_path / f"node.{ending}", title="a title")
        xml.parse(tmp_path / f"node.{ending}")
    assert "a title" in (tmp_path / "node.svg").read_text()
    explanation.plot(str(tmp_path / "node.dot"))
    assert (tmp_path / "node.dot").read_text().startswith("graph")
    with pytest.raises(pgx.Error, match="a picture is a .svg, .dot or .graphml file"):
        explanation.plot(tmp_path / "node.png")
    with pytest.raises(pgx.Error, match="no_such"):
        explanation.plot(tmp_path / "no_such" / "node.svg")


def test_matplotlib_draws_on_given_axes(explanation):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, ax = plt.subplots()
    assert explanation.plot(ax=ax) is ax
    assert ax.get_title() == "node 75" and len(ax.lines) >= len(explanation.edges) / 2
    figure.canvas.draw()
    plt.close(figure)


def test_networkx_knows_scores_and_choice(explanation):
    pytest.importorskip("networkx")
    graph = explanation.to_networkx()
    assert graph.number_of_edges() == len(explanation.edges)
    assert graph.nodes[75]["target"]
    assert sum(edge["selected"] for *_, edge in graph.edges(data=True)) == 20
