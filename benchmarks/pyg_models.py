#!/usr/bin/env python3
"""PyG's PGExplainer against the drop-in, for networks trained in PyTorch: GCN, GraphSAGE, GIN, GAT.

    benchmarks/pyg_models.py [--models GCN ...] [--repetitions 5] [--json FILE]

Each network (three layers of width 20, their outputs concatenated) is trained on BA-Shapes with degrees
as features, since constant ones tell GraphSAGE and GAT nothing. Both sides run inside
torch_geometric.explain.Explainer on one thread and take turns; times are processor time, medians over the
repetitions, and ratios are PyG's time / ours.

logits: largest difference between module and conversion, as a share of the largest logit.
fit: 30 epochs over the 60 explained nodes. PyG's loop is timed for --pyg-epochs of them and scaled. Ours
    once with PyG's objective and one step per instance (edge_size=0.05: the same work), once as it comes
    (the ranking objective, several attempts, a verdict).
explain: one node at a time, all of them.
AUC: against the planted motif, pooled over the nodes.

Needs torch and torch_geometric 2.8. Exit code: 0, 2 if something is missing.
"""

import argparse
import json
import os
import statistics
import sys
import time

os.environ["OMP_NUM_THREADS"] = "1"  # also read by OpenBLAS, which torch.set_num_threads does not reach
os.environ["OPENBLAS_NUM_THREADS"] = "1"

try:
    import numpy as np
    import torch
    import torch.nn.functional as F
    import torch_geometric.nn as gnn
    from torch_geometric.explain import Explainer, ModelConfig
    from torch_geometric.explain import PGExplainer as PyGExplainer

    import pgexplainer as pgx
    from pgexplainer import pyg

    import_error = None
except ImportError as error:
    import_error = error

MODELS = ("GCN", "GraphSAGE", "GIN", "GAT")
EPOCHS = 30


def seconds(work):
    start = time.process_time()
    work()
    return time.process_time() - start


def auc(truth, score):
    """The chance that an edge of the motif ranks before another one; ties count half."""
    order = np.argsort(score, kind="stable")
    _, inverse, counts = np.unique(score[order], return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    rank = np.empty(len(score))
    rank[order] = (last - (counts - 1) / 2)[inverse]
    positive = truth.sum()
    return (rank[truth].sum() - positive * (positive + 1) / 2) / (positive * (len(truth) - positive))


class Task:
    """BA-Shapes and a network that was trained on it."""

    def __init__(self, kind):
        data = pgx.generate("ba-shapes", seed=0)
        self.edge_index = torch.tensor(data.edge_index).long()
        self.y = torch.tensor(data.y).long()
        self.truth = np.asarray(data.edge_gt, bool)
        degree = torch.bincount(self.edge_index[1], minlength=len(self.y)).clamp(max=9)
        self.x = F.one_hot(degree, 10).float()
        self.nodes = torch.arange(400, 700, 5)
        torch.manual_seed(0)
        self.model = getattr(gnn, kind)(10, 20, 3, 4, jk="cat")
        optimizer = torch.optim.Adam(self.model.parameters(), lr=0.01)
        for _ in range(300):
            optimizer.zero_grad()
            F.cross_entropy(self.model(self.x, self.edge_index), self.y).backward()
            optimizer.step()
        self.model.eval()
        with torch.no_grad():
            self.logits = self.model(self.x, self.edge_index)
        self.accuracy = float((self.logits.argmax(-1) == self.y).float().mean())
        # What the network predicts is explained, so that both sides explain the same.
        self.target = self.logits.argmax(-1)

    def explainer(self, algorithm):
        config = ModelConfig(mode="multiclass_classification", task_level="node", return_type="raw")
        return Explainer(model=self.model, algorithm=algorithm, explanation_type="phenomenon",
                         edge_mask_type="object", model_config=config)

    def train(self, explainer, epochs):
        """PyG's loop."""
        for epoch in epochs:
            for node in self.nodes.tolist():
                explainer.algorithm.train(epoch, self.model, self.x, self.edge_index,
                                          target=self.target, index=node)

    def fit(self, explainer):
        explainer.algorithm.fit(self.model, self.x, self.edge_index, target=self.target,
                                index=self.nodes)

    def explain(self, explainer):
        return [explainer(self.x, self.edge_index, target=self.target, index=node).edge_mask.numpy()
                for node in self.nodes.tolist()]

    def auc(self, explainer):
        masks = self.explain(explainer)
        return auc(np.concatenate([self.truth[mask > 0] for mask in masks]),
                   np.concatenate([mask[mask > 0] for mask in masks]))


def measure(kind, repetitions, pyg_epochs):
    task = Task(kind)
    ours = pgx.Graph(task.edge_index, task.x)
    logits = task.logits.numpy()
    difference = np.abs(pyg.convert(task.model).predict(ours) - logits).max() / np.abs(logits).max()
    times = {name: [] for name in ("pyg fit", "same fit", "our fit", "pyg explain", "our explain")}
    for _ in range(repetitions):
        torch.manual_seed(0)
        theirs = task.explainer(PyGExplainer(epochs=EPOCHS, lr=0.003))
        part = seconds(lambda: task.train(theirs, range(pyg_epochs)))
        times["pyg fit"].append(part * EPOCHS / pyg_epochs)
        same = task.explainer(pyg.PGExplainer(epochs=EPOCHS, lr=0.003, edge_size=0.05, restarts=0,
                                              verdict=False, holdout=0.0, threads=1))
        times["same fit"].append(seconds(lambda: task.fit(same)))
        default = task.explainer(pyg.PGExplainer(epochs=EPOCHS, lr=0.003, threads=1))
        times["our fit"].append(seconds(lambda: task.fit(default)))
        theirs.algorithm._curr_epoch = EPOCHS  # its masks are not looked at
        times["pyg explain"].append(seconds(lambda: task.explain(theirs)) / len(task.nodes))
        times["our explain"].append(seconds(lambda: task.explain(default)) / len(task.nodes))
    median = {name: statistics.median(values) for name, values in times.items()}
    theirs = task.explainer(PyGExplainer(epochs=EPOCHS, lr=0.003))
    task.train(theirs, range(EPOCHS))
    return {
        "model": kind,
        "accuracy": task.accuracy,
        "logits": float(difference),
        "fit, PyG": median["pyg fit"],
        "fit, same objective": median["same fit"],
        "fit, here": median["our fit"],
        "explain, PyG": median["pyg explain"],
        "explain, here": median["our explain"],
        "ratio fit, same objective": median["pyg fit"] / median["same fit"],
        "ratio fit": median["pyg fit"] / median["our fit"],
        "ratio explain": median["pyg explain"] / median["our explain"],
        "AUC, PyG": task.auc(theirs),
        "AUC, same objective": task.auc(same),
        "AUC, here": task.auc(default),
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--models", nargs="+", choices=MODELS, default=MODELS)
    parser.add_argument("--repetitions", type=int, default=5)
    parser.add_argument("--pyg-epochs", type=int, default=2)
    parser.add_argument("--json", metavar="FILE", help="write the numbers there, too")
    arguments = parser.parse_args()
    if import_error:
        print(f"pyg_models: {import_error}; needed are torch, torch_geometric 2.8 and pgexplainer",
              file=sys.stderr)
        return 2
    torch.set_num_threads(1)
    rows = []
    print("| | logits differ by | fit: PyG | same objective | default | explain: PyG | here "
          "| AUC: PyG | same objective | default |")
    print("|---" * 10 + "|")
    for kind in arguments.models:
        row = measure(kind, arguments.repetitions, arguments.pyg_epochs)
        rows.append(row)
        print(f"| {kind} | {row['logits']:.0e} | {row['fit, PyG']:.0f} s "
              f"| {row['fit, same objective']:.2f} s, **{row['ratio fit, same objective']:.0f}×** "
              f"| {row['fit, here']:.2f} s, **{row['ratio fit']:.0f}×** "
              f"| {1e3 * row['explain, PyG']:.1f} ms "
              f"| {1e3 * row['explain, here']:.2f} ms, **{row['ratio explain']:.0f}×** "
              f"| {row['AUC, PyG']:.3f} | {row['AUC, same objective']:.3f} "
              f"| {row['AUC, here']:.3f} |", flush=True)
    if arguments.json:
        with open(arguments.json, "w", encoding="utf-8") as file:
            json.dump(rows, file, indent=1)
    return 0


if __name__ == "__main__":
    sys.exit(main())
