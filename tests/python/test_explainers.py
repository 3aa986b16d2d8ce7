import copy
import inspect
import pickle
import threading
import time

import numpy as np
import pytest

import pgexplainer as pgx
from pgexplainer import progress

LEARNS_NOTHING = [pgx.GNNExplainer, pgx.GradientSaliency, pgx.NodeGradient, pgx.Occlusion,
                  pgx.IntegratedGradients, pgx.RandomScores]


def assert_same(a: pgx.Explanation, b: pgx.Explanation) -> None:
    assert a.instance == b.instance
    for key in ("edges", "score", "selected", "prediction", "prediction_kept",
                "prediction_removed"):
        np.testing.assert_array_equal(getattr(a, key), getattr(b, key), err_msg=key)


@pytest.mark.parametrize("kind", LEARNS_NOTHING)
def test_every_method_has_the_same_calls(kind, model, data):
    options = {"epochs": 5} if kind is pgx.GNNExplainer else {}
    explainer = kind(seed=1, **options).fit(model, data)
    explanation = explainer.explain(data, 75)
    assert explanation.method == kind.method and len(explanation.score) == len(explanation.edges)
    assert_same(explanation, kind(seed=1, **options).explain(data, 75, model=model))
    assert_same(explanation, pgx.make_explainer(kind.method, seed=1, **options)
                .explain(data, [75, 80], model=model)[0])


def test_one_by_one_gives_the_same_as_all_at_once(explainer, model, data):
    everything = explainer.explain(data, range(60, 120))
    fresh = pickle.loads(pickle.dumps(explainer))
    for expected in everything:  # crosses the border from few to many instances
        assert_same(fresh.explain(data, expected.instance), expected)


@pytest.mark.parametrize("method", ["pgexplainer", "gnnexplainer"])
def test_threads_do_not_change_a_bit(method, model, data):
    def scores(threads):
        explainer = pgx.make_explainer(method, epochs=5, seed=2, threads=threads)
        return explainer.fit(model, data).explain(data, range(60, 90))

    for a, b in zip(scores(1), scores(2)):
        assert_same(a, b)


def test_the_seed_decides(model, data, explainer):
    def fitted(seed):
        return pgx.PGExplainer(epochs=10, seed=seed).fit(model, data).explain(data, 75).score

    np.testing.assert_array_equal(fitted(3), explainer.explain(data, 75).score)
    assert not np.array_equal(fitted(4), explainer.explain(data, 75).score)


def test_instances_are_named_in_many_ways(explainer, data, model):
    def names(chosen):
        return [each.instance for each in explainer.explain(data, chosen)]

    assert names(None) == names("eval") == data.eval_instances.tolist()
    assert names("all") == list(range(120))
    assert names(range(60, 70, 5)) == names(slice(60, 70, 5)) == names([60, 65])
    assert names(np.arange(120) == 7) == [7]
    assert names(np.array([3, 1], np.int32)) == [3, 1]
    assert explainer.explain(data, np.int64(5)).instance == 5


def test_links_are_pairs(model, data):
    explainer = pgx.PGExplainer(epochs=2).fit(model, data, [(60, 61), (62, 63), (64, 60)])
    one = explainer.explain(data, (60, 61))
    assert one.instance == (60, 61)
    assert_same(one, explainer.explain(data, [(60, 61), (62, 63)])[0])


def test_graphs_are_explained_alone_and_in_a_dataset(graph_model, graphs):
    explainer = pgx.PGExplainer(epochs=3).fit(graph_model, graphs)
    inside, alone = explainer.explain(graphs, 5), explainer.explain(graphs[5], 0)
    np.testing.assert_allclose(inside.score, alone.score, atol=1e-4)
    assert inside.edge_mask.shape == (graphs.num_edges,)
    assert alone.edge_mask.shape == (graphs[5].num_edges,)


def test_a_fitted_explainer_survives_files_pickle_and_copy(tmp_path, explainer, model, data):
    expected = explainer.explain(data, 75)
    explainer.save(tmp_path / "e.safetensors")
    loaded = pgx.PGExplainer.load(tmp_path / "e.safetensors")
    assert_same(loaded.explain(data, 75, model=model), expected)
    assert loaded.report["loss"] == explainer.report["loss"]
    for again in (pickle.loads(pickle.dumps(explainer)), copy.copy(explainer),
                  copy.deepcopy(explainer)):
        assert_same(again.explain(data, 75), expected)
        assert repr(again) == repr(explainer) == "PGExplainer(epochs=10, seed=3) fitted"
    unfitted = pickle.loads(pickle.dumps(pgx.PGExplainer(lr=0.1)))
    assert not unfitted.fitted and unfitted.options["lr"] == 0.1


def test_fitting_a_copy_leaves_the_original_alone(explainer, model, data):
    expected = explainer.explain(data, 75)
    copy.copy(explainer).fit(model, data, range(60, 80))
    assert_same(explainer.explain(data, 75), expected)


def test_the_report_tells_how_it_went(explainer):
    report = explainer.report
    assert len(report["loss"]) == 10 and report["verdict"]["instances"] == 9
    assert pgx.PGExplainer().report is None


def test_options_are_those_of_the_library():
    signature = inspect.signature(pgx.PGExplainer)
    assert signature.parameters["epochs"].default == 50
    assert signature.parameters["lr"].default == 0.003
    assert "self" not in signature.parameters and "preset" in signature.parameters
    assert "preset" not in inspect.signature(pgx.Occlusion).parameters
    assert "learning rate of Adam" in pgx.PGExplainer.__doc__
    assert pgx.PGExplainer().options["epochs"] == 50
    assert pgx.PGExplainer(preset="paper").options["epochs"] == 30
    assert pgx.PGExplainer(objective="paper").options["epochs"] == 30
    assert pgx.PGExplainer(objective="paper", epochs=7).options["epochs"] == 7
    for method in ("att", "gnnexplainer", "grad", "gradient", "integrated-gradients", "occlusion",
                   "pgexplainer", "random"):
        assert pgx.make_explainer(method).method == method


def test_scores_can_be_refined_after_fitting(explainer, model, data):
    before = explainer.explain(data, 75)
    sharp = copy.copy(explainer)
    sharp.refine = 50
    asked = pgx.PGExplainer(epochs=10, seed=3, refine=50).fit(model, data)
    assert_same(sharp.explain(data, 75), asked.explain(data, 75))
    assert any(not np.array_equal(sharp.explain(data, node).score, explainer.explain(data, node).score)
               for node in (74, 75, 76))  # an order may be good as it is
    assert (sharp.refine, explainer.refine) == (50, -1)
    assert_same(explainer.explain(data, 75), before)
    sharp.refine = -1
    assert_same(sharp.explain(data, 75), before)


def test_selection_options_choose_edges(explainer, data):
    assert explainer.explain(data, 75, top_k=3).selected.sum() == 6
    assert explainer.explain(data, 75, max_selected=4).selected.sum() == 4
    least = float(np.sort(explainer.explain(data, 75).score)[-5])
    kept = explainer.explain(data, 75, use_threshold=True, threshold=least)
    assert (kept.score[kept.selected] >= least).all() and kept.selected.sum() >= 5


def test_large_instances_are_refused_or_sampled(model, data):
    with pytest.raises(pgx.Error, match="the limit is 10"):
        pgx.GradientSaliency(max_edges=10).explain(data, 75, model=model)
    sampled = pgx.GradientSaliency(max_edges=10, num_neighbors=[2, 2, 2], seed=1)
    assert len(sampled.explain(data, 75, model=model).edges) < 100


def test_bad_input_is_refused_in_words(tmp_path, explainer, model, data, graphs):
    def raises(words):
        return pytest.raises(pgx.Error, match=words)

    with raises("unknown key 'epoch'; known are objective, epochs"):
        pgx.PGExplainer(epoch=3)
    with raises("option lr is nan, expected a value from 0 to 1000"):
        pgx.PGExplainer(lr=float("nan"))
    with raises("option objective is 'best'"):
        pgx.PGExplainer(objective="best")
    with raises("there is no preset 'bets'; known are default, paper"):
        pgx.PGExplainer(preset="bets")
    with raises("only pgexplainer has presets"):
        pgx.GNNExplainer(preset="paper")
    with raises("seed is -1, expected a whole number from 0 on"):
        pgx.PGExplainer(seed=-1)
    with raises("there is no method 'lime'"):
        pgx.make_explainer("lime")
    with raises("has no instance 120; it has 0 to 119"):
        explainer.explain(data, 120)
    with raises("knows no model"):
        pgx.PGExplainer().explain(data, 3)
    with raises("has not been fitted"):
        pgx.PGExplainer().explain(data, 3, model=model)
    with raises("has not been fitted"):
        pgx.PGExplainer().save(tmp_path / "e.safetensors")
    with raises("names 61 twice"):
        pgx.PGExplainer().fit(model, data, [60, 61, 61])
    with raises("names no instance"):
        explainer.explain(data, [])
    with raises("a link is"):
        explainer.explain(data, (1, 2, 3))
    with raises("expected whole numbers"):
        explainer.explain(data, [1.5])
    with raises("a mask of shape"):
        explainer.explain(data, [True, False])
    with raises("lr: <object"):
        pgx.PGExplainer(lr=object())
    with raises("k is -1, expected a whole number from 0 on"):
        explainer.explain(data, 75).topk(-1)
    with raises("att cannot explain this model"):
        pgx.Attention().explain(data, 3, model=model)
    with raises("unknown key 'topk'; known are top_k"):
        explainer.explain(data, 3, topk=3)
    with raises("model is a dict, expected a Model"):
        pgx.PGExplainer().fit({}, data)
    with raises("absent.safetensors"):
        pgx.PGExplainer.load(tmp_path / "absent.safetensors")


def test_progress_reaches_a_callback_and_its_errors_come_out(model, data):
    seen = []
    pgx.PGExplainer(epochs=3, progress=lambda *step: seen.append(step)).fit(model, data)
    assert seen and all(done <= total for done, total, _ in seen)

    def refuse(done, total, message):
        raise ZeroDivisionError("no more")

    explainer = pgx.PGExplainer(epochs=3).fit(model, data)
    expected = explainer.explain(data, 75)
    explainer.progress = refuse
    with pytest.raises(ZeroDivisionError, match="no more"):
        explainer.fit(model, data, range(60, 80))
    assert_same(explainer.explain(data, 75), expected)  # what was learnt before stays


def test_a_bar_is_shown_to_those_who_ask(capsys):
    pytest.importorskip("tqdm")
    with progress.shown(True, "fitting") as callback:
        time.sleep(0.6)  # short work shows none
        callback(5, 10, "loss 3")
    assert "fitting" in capsys.readouterr().err
    with progress.shown(None, "fitting") as callback:  # stderr is no terminal here
        assert callback is None


def test_other_threads_run_while_it_works(model, data):
    stop, counts = threading.Event(), []

    def count():
        while not stop.is_set():
            counts.append(time.perf_counter())
            time.sleep(0.001)

    other = threading.Thread(target=count)
    other.start()
    begin = time.perf_counter()
    pgx.PGExplainer(epochs=100, restarts=0, necessity=[0.1]).fit(model, data, range(30, 120))
    end = time.perf_counter()
    stop.set()
    other.join()
    # If the lock were held all the time, there would be none, or one at either end.
    assert sum(begin < t < end for t in counts) >= 5


def test_two_threads_may_share_an_explainer(explainer, data):
    expected = explainer.explain(data, range(60, 120))
    found = {}

    def work(name):
        found[name] = [explainer.explain(data, each.instance) for each in expected]

    threads = [threading.Thread(target=work, args=(name,)) for name in "ab"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for name in "ab":
        for a, b in zip(found[name], expected):
            assert_same(a, b)
