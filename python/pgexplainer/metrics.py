"""How good explanations are. Conventions are in docs/metrics.md; NaN means undefined.

>>> import pgexplainer as pgx
>>> data = pgx.generate("tree-cycles", tree_levels=4, num_motifs=8)
>>> model = pgx.train(data, epochs=200)
>>> explainer = pgx.PGExplainer(epochs=20).fit(model, data)
>>> explanations = explainer.explain(data)
>>> 0.5 < pgx.metrics.auc(explanations) <= 1
True
>>> pgx.metrics.fidelity(explanations).plus > 0
True
"""

from __future__ import annotations

from typing import Any, NamedTuple, Optional, Sequence

import numpy as np

from . import _core
from ._core import Error
from .arrays import as_array
from .data import Dataset
from .explanation import Explanation
from .model import Model

__all__ = [
    "Fidelity",
    "accuracy",
    "auc",
    "characterization_score",
    "compare_masks",
    "faithfulness",
    "fidelity",
    "ground_truth",
    "roc_auc",
    "stability",
    "truth_first_gap",
    "verdict",
]


class Fidelity(NamedTuple):
    """What becomes of the prediction without the explanation (large is good) and with it alone
    (small is good).
    """

    plus: float
    minus: float


def auc(
    explanations: Sequence[Explanation], data: Optional[Dataset] = None, *,
    per_instance: bool = False,
) -> float:
    """The paper's figure: one ROC curve over the edges of all instances, motif edges against
    others; or the mean of each instance's own.
    """
    result = ground_truth(explanations, data)
    return float(result["auc_per_instance" if per_instance else "auc"])


def ground_truth(
    explanations: Sequence[Explanation], data: Optional[Dataset] = None
) -> dict[str, Any]:
    """Against the motif edges (`edge_gt`) of the data: auc, auc_per_instance, auc_own_motif (motifs
    that do not hang together with the explained node left out), and of the selected edges accuracy,
    precision and recall.
    """
    explanations = _listed(explanations)
    judged = _data(explanations, data)
    if judged.edge_gt is None:
        raise Error(f"{judged.name} has no ground truth (edge_gt), which this metric compares with")
    return _core.ground_truth(judged._inner, [each._inner for each in explanations])


def fidelity(explanations: Sequence[Explanation], by: str = "probability") -> Fidelity:
    """Of the selected edges, by the probability of the predicted class or by "label": the share of
    predictions that change.
    """
    if by not in ("probability", "label"):
        raise Error(f"by is {by!r}, expected 'probability' or 'label'")
    full, kept, removed = [], [], []
    for each in _listed(explanations):
        if each.prediction_kept is None or each.prediction_removed is None:
            raise Error("the explanation has no predictions of its selected edges; explain anew")
        c = int(np.argmax(each.prediction))
        if by == "label":
            full.append(1.0)
            kept.append(float(np.argmax(each.prediction_kept) == c))
            removed.append(float(np.argmax(each.prediction_removed) == c))
        else:
            full.append(float(each.prediction[c]))
            kept.append(float(each.prediction_kept[c]))
            removed.append(float(each.prediction_removed[c]))
    mean = float(np.mean(full))
    return Fidelity(mean - float(np.mean(removed)), mean - float(np.mean(kept)))


def faithfulness(
    explanations: Sequence[Explanation], *, model: Optional[Model] = None, seed: int = 0,
    threads: int = 0,
) -> dict[str, Any]:
    """All that needs the model but no ground truth: fidelity by label and by probability, plain and
    robust, unfaithfulness, characterization score, fidelity by sparsity, connectedness.
    """
    given = [each._inner for each in _listed(explanations)]
    return _core.faithfulness(given, *_judge(explanations, model), seed, threads)


def verdict(
    explanations: Sequence[Explanation], *, model: Optional[Model] = None, threads: int = 0
) -> dict[str, Any]:
    """Whether explanations can be relied on, told without ground truth, as after `fit`."""
    given = [each._inner for each in _listed(explanations)]
    return _core.verdict(given, *_judge(explanations, model), threads)


def truth_first_gap(
    explanations: Sequence[Explanation], *, model: Optional[Model] = None, threads: int = 0
) -> float:
    """The gap that the explanations would have with the motif edges (`edge_gt`) moved to the front.
    If it is smaller than theirs, `verdict(...)["explanation"]["small_gap"]`, the model goes by other
    edges, too, and AUC and faithfulness disagree.
    """
    given = [each._inner for each in _listed(explanations)]
    return _core.truth_first_gap(given, *_judge(explanations, model), threads)


def accuracy(model: Model, data: Dataset) -> dict[str, float]:
    """The share of right predictions in each part of the split: train, val, test."""
    y = data.y
    if y is None:
        raise Error(f"{data.name} has no labels")
    right = np.argmax(model.predict(data), 1) == y
    masks = {"train": data.train_mask, "val": data.val_mask, "test": data.test_mask}
    return {
        part: float(right[mask].mean()) if mask.any() else float("nan")
        for part, mask in masks.items()
    }


def roc_auc(label: Any, score: Any) -> float:
    """The area under the ROC curve; ties count half.

    >>> roc_auc([0, 1, 0, 1], [0.1, 0.9, 0.2, 0.2])
    0.875
    """
    truth = as_array("label", label).astype(bool).astype(np.uint8)
    return _core.roc_auc(truth, as_array("score", score, np.float32))


def compare_masks(prediction: Any, target: Any, threshold: float = 0.5) -> dict[str, float]:
    """accuracy, precision, recall, f1 and auroc of a mask against the true one, as PyG has them.

    >>> compare_masks([0.9, 0.1, 0.8], [1, 0, 0])["precision"]
    0.5
    """
    return _core.compare_masks(
        as_array("prediction", prediction, np.float32), as_array("target", target, np.float32),
        threshold,
    )


def stability(runs: Sequence[Any], k: int = 10) -> dict[str, float]:
    """Whether several runs agree: `runs` are scores (or explanations) of the same edges. Mean rank
    correlation (spearman) and mean overlap of the k best edges (jaccard).
    """
    scores = [run.score if isinstance(run, Explanation) else run for run in runs]
    return _core.stability([as_array("runs", each, np.float32) for each in scores], k)


def characterization_score(
    plus: float, minus: float, weight_plus: float = 0.5, weight_minus: float = 0.5
) -> float:
    """The weighted harmonic mean of fidelity+ and 1 - fidelity-.

    >>> characterization_score(0.8, 0.2)
    0.8
    """
    return _core.characterization_score(plus, minus, weight_plus, weight_minus)


def _listed(explanations: Sequence[Explanation]) -> list[Explanation]:
    """A single one is a list of one."""
    if isinstance(explanations, Explanation):
        return [explanations]
    listed = list(explanations)
    if not listed:
        raise Error("there are no explanations to judge")
    return listed


def _data(explanations: list[Explanation], data: Optional[Dataset]) -> Dataset:
    if data is not None:
        return data
    if any(each.data is not explanations[0].data for each in explanations):
        raise Error("the explanations are of different data; judge them apart")
    return explanations[0].data


def _judge(explanations: Sequence[Explanation], model: Optional[Model]) -> tuple[Any, Any]:
    if model is None:
        return None, None
    return model._on(_data(_listed(explanations), None))
