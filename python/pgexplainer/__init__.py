"""Which edges made a graph neural network decide.

>>> import pgexplainer as pgx
>>> data = pgx.generate("ba-shapes", seed=0, base_nodes=60, num_motifs=12)
>>> model = pgx.train(data, epochs=200, seed=0)
>>> explainer = pgx.PGExplainer(epochs=10, seed=0).fit(model, data)
>>> explanation = explainer.explain(data, 75)
>>> explanation.topk(6).selected.sum()
12
"""

from . import metrics
from ._core import Error, Failed, __version__
from .callable_model import CallableModel
from .data import Dataset, Graph, generate
from .explainers import (
    Attention,
    Explainer,
    GNNExplainer,
    GradientSaliency,
    IntegratedGradients,
    NodeGradient,
    Occlusion,
    PGExplainer,
    RandomScores,
    make_explainer,
)
from .explanation import Explanation
from .model import Model, train

__all__ = [
    "Attention",
    "CallableModel",
    "Dataset",
    "Error",
    "Explainer",
    "Explanation",
    "Failed",
    "GNNExplainer",
    "GradientSaliency",
    "Graph",
    "IntegratedGradients",
    "Model",
    "NodeGradient",
    "Occlusion",
    "PGExplainer",
    "RandomScores",
    "__version__",
    "generate",
    "make_explainer",
    "metrics",
    "train",
]
