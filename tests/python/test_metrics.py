import math

import numpy as np
import pytest

import pgexplainer as pgx
from pgexplainer import metrics


@pytest.fixture(scope="module")
def explanations(explainer, data):
    return explainer.explain(data)


def slow_auc(label, score):
    p, n = score[label][:, None], score[~label]
    return ((p > n) + 0.5 * (p == n)).mean()


def test_auc_counts_pairs(explanations, data):
    either = data.edge_gt.copy()  # an edge is in a motif if either direction is
    place = {ends: e for e, ends in enumerate(zip(*data.edge_index.tolist()))}
    for (u, v), e in place.items():
        either[e] |= data.edge_gt[place[v, u]]
    label = np.concatenate([either[each.edges] for each in explanations])
    score = np.concatenate([each.score for each in explanations])
    assert metrics.auc(explanations) == pytest.approx(slow_auc(label, score))
    assert metrics.roc_auc(label, score) == pytest.approx(slow_auc(label, score))
    means = [slow_auc(either[each.edges], each.score) for each in explanations]
    assert metrics.auc(explanations, data, per_instance=True) == pytest.approx(np.mean(means))


def test_fidelity_is_the_library_s(explanations):
    judged = metrics.faithfulness(explanations)
    for by in ("label", "probability"):
        fidelity = metrics.fidelity(explanations, by)
        assert fidelity.plus == pytest.approx(judged[by]["plus"], abs=1e-5)
        assert fidelity.minus == pytest.approx(judged[by]["minus"], abs=1e-5)
    assert len(judged["curve"]) == 9 and 0 <= judged["unfaithfulness"] <= 1


def test_the_model_can_be_named(explanations, model):
    assert metrics.verdict(explanations) == metrics.verdict(explanations, model=model)
    assert metrics.faithfulness(explanations) == metrics.faithfulness(explanations, model=model)


def test_random_scores_are_no_explanation(model, data, explanations):
    guessed = pgx.RandomScores().fit(model, data).explain(data)
    assert metrics.auc(guessed) < 0.7 < metrics.auc(explanations)
    assert not metrics.verdict(guessed)["reliable"]


def slow_truth_first_gap(explanation, model, data):
    """By questions to the model, one order of pairs of edges with the motif's in front."""
    pairs = {}
    for e, (u, v) in zip(explanation.edges, explanation.edge_index.T.tolist()):
        pairs.setdefault((min(u, v), max(u, v)), []).append(e)
    score = dict(zip(explanation.edges.tolist(), explanation.score))
    order = sorted(
        pairs.values(),
        key=lambda pair: (not any(data.edge_gt[pair]), -np.mean([score[e] for e in pair])),
    )
    c = np.argmax(explanation.prediction)

    def probability(mask):
        logits = model.predict(data, edge_mask=mask)[explanation.instance].astype(float)
        return np.exp(logits[c]) / np.exp(logits).sum()

    gaps = []
    for percent in range(5, 75, 5):
        best = order[: math.floor(percent * len(order) / 100 + 0.5)]
        mask = np.zeros(data.num_edges, np.float32)
        mask[[e for pair in best for e in pair]] = 1
        gaps.append(probability(mask) - probability(1 - mask))
    return np.mean(gaps)


def test_the_truth_first_by_questions_to_the_model(explanations, model, data):
    some = list(explanations)[:4]
    expected = np.mean([slow_truth_first_gap(each, model, data) for each in some])
    assert metrics.truth_first_gap(some) == pytest.approx(expected, abs=1e-5)


def test_stability_of_a_run_with_itself_is_one(explanations):
    same = metrics.stability([explanations[0], explanations[0].score], k=5)
    assert same["spearman"] == pytest.approx(1) and same["jaccard"] == 1
    assert math.isnan(metrics.stability([explanations[0]])["spearman"])


def test_bad_input_is_refused_in_words(explanations, graphs, data, model):
    with pytest.raises(pgx.Error, match="there are no explanations"):
        metrics.auc([])
    with pytest.raises(pgx.Error, match="by is 'class'"):
        metrics.fidelity(explanations, "class")
    with pytest.raises(pgx.Error, match="has no ground truth"):
        metrics.auc(explanations, pgx.Graph(data.edge_index, data.x))
    import pickle

    with pytest.raises(pgx.Error, match="give model="):
        metrics.verdict(pickle.loads(pickle.dumps(explanations)))
