#!/usr/bin/env python3
"""Trains and explains the same networks with pgexplainer and with PyTorch Geometric, side by side, one thread each.

    benchmarks/compare_pyg.py [--work training,inference-warm,...] [--datasets NAME ...] [--repetitions N] [--json]

The sides take turns; ratios are PyG's time / ours, medians over the repetitions. Before timing, the script checks
that both sides do the same work.

training: the epoch loop alone, without loading. three plain-sum GCN layers of width 20, each followed by l2 row normalisation and ReLU; a linear
classifier reads all three layers (nodes) or their max and mean over the graph. Adam, learning rate 1e-3;
node datasets full batch, graph datasets shuffled mini-batches. Checked: parameters, losses epoch by epoch from
the same initial weights, accuracies of the trained weights. Ours also computes the validation loss and accuracy
in each epoch and keeps the best weights; PyG has one warm-up epoch that is not counted.

Explanations of the trained models of --shared, processor time per instance (fit: in all), which on an idle machine
is the time on the wall. Of a node, PyG is timed as
shipped, on the whole graph, which counts, and beside it on the 3-hop subgraph that a user can cut: there the embeddings
of border nodes are others, and so are explanation and fit.
inference-warm: PGExplainer; ours has the embeddings of the graph, cuts and scores. PyG embeds in every call.
inference-cold: the same for a graph not seen before: ours embeds the whole graph for the one instance.
graphs: PGExplainer per graph, embeddings included; ours one graph at a time, and all graphs together.
fit: PGExplainer, 30 epochs, one Adam step per instance, hard label, PyG's weights; PyG is timed over --pyg-epochs
     of them. Ours with the paper's one step per epoch stands beside.
gnnexplainer: 100 epochs per instance, PyG's weights.
Checked: logits, and the masks of PGExplainer with the same weights, to 1e-4; the settings of both explainers.

Needs numpy, torch and torch_geometric 2.8. Exit code: 0, 1 if the sides disagree, 2 if something is missing.
"""

import argparse
import json
import math
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

os.environ["OMP_NUM_THREADS"] = "1"  # also read by OpenBLAS, which torch.set_num_threads does not reach
os.environ["OPENBLAS_NUM_THREADS"] = "1"

try:
    import numpy as np
    import torch
    import torch.nn.functional as F
    import torch_geometric
    from torch_geometric.data import Data
    from torch_geometric.explain import Explainer, GNNExplainer, PGExplainer
    from torch_geometric.loader import DataLoader
    from torch_geometric.nn import GCNConv, global_max_pool, global_mean_pool
    from torch_geometric.utils import k_hop_subgraph

    import_error = None
except ImportError as error:
    import_error = error

INSTALL = (
    "PyTorch Geometric cannot be imported ({}). On Debian install python3-torch python3-fsspec python3-xxhash "
    "python3-tqdm python3-jinja2 python3-requests python3-psutil python3-aiohttp python3-pyparsing python3-sklearn "
    "libopenblas0-pthread, put the source tree of PyTorch Geometric 2.8 on PYTHONPATH, and run /usr/bin/python3."
)
HIDDEN = 20
LEARNING_RATE = 1e-3
CHECKED_EPOCHS = 10  # losses compared from the same initial weights
# On constant features all nodes of a new network tie in the maximum up to rounding, and rounding then decides
# where the gradient goes: on ba_2motifs PyG's losses in float and in double differ by 8e-5. Elsewhere 5e-5 would do.
LOSS_TOLERANCE = 3e-4
BATCH_SIZES = {  # 0: a node dataset, always full batch
    "ba_shapes": 0,
    "ba_community": 0,
    "tree_cycles": 0,
    "tree_grid": 0,
    "ba_2motifs": 50,
    "mutagenicity": 64,
}
SPLITS = ("train", "val", "test")


def stop(message):
    print(f"compare_pyg.py: {message}", file=sys.stderr)
    sys.exit(2)


# ---- data -----------------------------------------------------------------------------------------------------------


class Dataset:
    """One graph with labelled nodes, or a list of labelled graphs, with masks over the instances."""

    def __init__(self, path, batch_size):
        self.path, self.batch_size, self.is_graphs = path, batch_size, batch_size > 0
        arrays = read_tu_folder(path) if path.is_dir() else dict(np.load(path, allow_pickle=False))
        self.masks = {split: torch.from_numpy(arrays[f"{split}_mask"]) for split in SPLITS}
        self.y = torch.from_numpy(arrays["y"])
        self.eval = arrays["eval_graphs" if self.is_graphs else "eval_nodes"].tolist()
        x, edge_index = torch.from_numpy(arrays["x"]), torch.from_numpy(arrays["edge_index"])
        self.num_features, self.num_classes = x.shape[1], int(self.y.max()) + 1
        if not self.is_graphs:
            self.graphs = [Data(x=x, edge_index=edge_index, y=self.y)]
            return
        nodes, edges = arrays["graph_ptr"], arrays["edge_ptr"]
        self.graphs = [
            Data(
                x=x[nodes[g] : nodes[g + 1]],
                edge_index=edge_index[:, edges[g] : edges[g + 1]] - nodes[g],
                y=self.y[g : g + 1],
            )
            for g in range(len(nodes) - 1)
        ]

    def training_graphs(self):
        return [g for g, chosen in zip(self.graphs, self.masks["train"].tolist()) if chosen]

    def instances(self):
        return int(self.masks["train"].sum())

    def batches(self):
        return math.ceil(self.instances() / self.batch_size) if self.is_graphs else 1


def read_tu_folder(folder):
    def column(name):
        return np.loadtxt(next(folder.glob(f"*_{name}.txt")), dtype=np.int64, delimiter=",", ndmin=1)

    edge_index = column("A").T - 1
    graph_of_node, atoms = column("graph_indicator") - 1, column("node_labels")
    graph_of_edge = graph_of_node[edge_index[0]]
    if np.any(np.diff(graph_of_node) < 0) or np.any(np.diff(graph_of_edge) < 0):
        stop(f"{folder}: nodes and edges must be grouped by graph")
    bounds = np.arange(graph_of_node[-1] + 2)
    return {
        "x": np.eye(atoms.max() + 1, dtype=np.float32)[atoms],
        "edge_index": edge_index,
        "graph_ptr": np.searchsorted(graph_of_node, bounds),
        "edge_ptr": np.searchsorted(graph_of_edge, bounds),
        "y": column("graph_labels"),
        **np.load(folder / "split.npz", allow_pickle=False),
    }


def read_safetensors(path):
    """Tensors by name, and the metadata: 8 bytes of header length, a JSON header, raw bytes."""
    raw = path.read_bytes()
    start = 8 + int.from_bytes(raw[:8], "little")
    header = json.loads(raw[8:start])
    metadata = header.pop("__metadata__", {})
    tensors = {}
    for name, entry in header.items():
        begin, end = entry["data_offsets"]
        values = np.frombuffer(raw[start + begin : start + end], dtype=np.float32).reshape(entry["shape"])
        tensors[name] = torch.from_numpy(values.copy())
    return tensors, metadata


# ---- PyTorch Geometric ----------------------------------------------------------------------------------------------


def make_model(dataset):
    class Network(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.conv1 = GCNConv(dataset.num_features, HIDDEN, normalize=False, add_self_loops=False)
            self.conv2 = GCNConv(HIDDEN, HIDDEN, normalize=False, add_self_loops=False)
            self.conv3 = GCNConv(HIDDEN, HIDDEN, normalize=False, add_self_loops=False)
            self.lin = torch.nn.Linear((6 if dataset.is_graphs else 3) * HIDDEN, dataset.num_classes)

        def forward(self, x, edge_index, batch=None):
            layers, h = [], x
            for conv in (self.conv1, self.conv2, self.conv3):
                h = F.relu(F.normalize(conv(h, edge_index), p=2.0, dim=-1))
                layers.append(h)
            h = torch.cat(layers, dim=-1)
            if dataset.is_graphs:
                h = torch.cat([global_max_pool(h, batch), global_mean_pool(h, batch)], dim=-1)
            return self.lin(h)

    return Network()


def logits_of(model, data):
    return model(data.x, data.edge_index, data.batch)


def train_pyg(model, optimizer, dataset, batches, epochs):
    """The usual loop; returns the seconds it took and the loss of the last batch of each epoch."""
    mask, losses = dataset.masks["train"], []
    model.train()
    start = time.perf_counter()
    for _ in range(epochs):
        for data in batches:
            optimizer.zero_grad()
            out = logits_of(model, data)
            if dataset.is_graphs:
                loss = F.cross_entropy(out, data.y)
            else:
                loss = F.cross_entropy(out[mask], data.y[mask])
            loss.backward()
            optimizer.step()
        losses.append(loss.detach())
    return time.perf_counter() - start, [float(loss) for loss in losses]


class PygRun:
    """A model in training that can be timed again and again; one epoch of warm-up."""

    def __init__(self, dataset, batches):
        self.dataset, self.batches = dataset, batches
        self.model = make_model(dataset)
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=LEARNING_RATE)
        self.seconds_per_epoch(1)

    def seconds_per_epoch(self, epochs):
        return train_pyg(self.model, self.optimizer, self.dataset, self.batches, epochs)[0] / epochs


def pyg_batches(dataset, made_beforehand):
    if not dataset.is_graphs:
        return dataset.graphs
    loader = DataLoader(dataset.training_graphs(), batch_size=dataset.batch_size, shuffle=True)
    return list(loader) if made_beforehand else loader


# ---- pgexplainer ----------------------------------------------------------------------------------------------------


def run_tool(tool, *words):
    command = [str(tool), *map(str, words)]
    run = subprocess.run(command, capture_output=True, text=True)
    if run.returncode != 0:
        stop(f"{' '.join(command)} failed: {run.stderr.strip()}")
    return run.stdout


def train_ours(tool, dataset, folder, epochs, batch_size, lr=LEARNING_RATE):
    """Runs the tool; returns its JSON answer, the written tensors and the loss of each epoch."""
    output = Path(folder) / "model.safetensors"
    command = ["train", "--data", dataset.path, "-o", output, "--json", "--threads", "1"]
    command += ["--arch", "sum", "--norm", "l2", "--jk", "cat", "--pool", "max,mean"]
    command += ["--hidden", f"{HIDDEN},{HIDDEN},{HIDDEN}"]
    command += ["--clip-value", "0", "--select", "last", "--lr", lr]
    command += ["--epochs", epochs, "--batch-size", batch_size]
    answer = json.loads(run_tool(tool, *command))
    if "train_seconds" not in answer:
        stop(f"{tool} does not report train_seconds; build the current version")
    tensors, metadata = read_safetensors(output)
    return answer, tensors, json.loads(metadata["training"])["history"]["loss"]


# ---- comparing training ---------------------------------------------------------------------------------------------


def correct_counts(model, dataset):
    model.eval()
    with torch.no_grad():
        loader = DataLoader(dataset.graphs, batch_size=256) if dataset.is_graphs else dataset.graphs
        right = torch.cat([logits_of(model, data).argmax(dim=-1) for data in loader]) == dataset.y
    return {split: int(right[mask].sum()) for split, mask in dataset.masks.items()}


def check_same(tool, dataset, folder, epochs):
    """Shows that both sides compute the same; returns what was compared and a list of differences."""
    problems = []
    model = make_model(dataset)
    # A learning rate of 0 writes the initial weights; whole-set batches leave nothing to the shuffle.
    _, initial, _ = train_ours(tool, dataset, folder, 1, 0, lr=0)
    parameters = sum(t.numel() for t in initial.values())
    if parameters != sum(p.numel() for p in model.parameters()):
        problems.append(f"ours has {parameters} parameters, PyG's {sum(p.numel() for p in model.parameters())}")
    model.load_state_dict(initial)
    if dataset.is_graphs:
        whole = next(iter(DataLoader(dataset.training_graphs(), batch_size=dataset.instances())))
    else:
        whole = dataset.graphs[0]
    optimizer = torch.optim.Adam(model.parameters(), lr=LEARNING_RATE)
    _, theirs = train_pyg(model, optimizer, dataset, [whole], CHECKED_EPOCHS)
    _, _, ours = train_ours(tool, dataset, folder, CHECKED_EPOCHS, 0)
    worst = max(abs(a - b) / abs(b) for a, b in zip(ours, theirs, strict=True))
    if worst > LOSS_TOLERANCE:
        problems.append(f"losses of the first {CHECKED_EPOCHS} epochs differ by {worst:.1e}: {ours}, {theirs}")

    answer, trained, _ = train_ours(tool, dataset, folder, epochs, dataset.batch_size)
    model.load_state_dict(trained)
    counts = correct_counts(model, dataset)
    differing = 0
    for split, mask in dataset.masks.items():
        count = answer["accuracy"][split] * int(mask.sum())
        difference = abs(count - counts[split])
        differing = max(differing, round(difference))
        if difference > 2.1:
            problems.append(f"{split}: with the same weights ours gets {count:.0f} right, PyG {counts[split]}")
    return {"parameters": parameters, "loss_difference": worst, "accuracy_differs_by": differing}, problems


def dataset_path(name, args):
    return args.shared / "data" / (name if name == "mutagenicity" else f"{name}.npz")


def compare_training(name, dataset, args):
    epochs = args.graph_epochs if dataset.is_graphs else args.epochs
    with tempfile.TemporaryDirectory() as folder:
        checked, problems = check_same(args.tool, dataset, folder, epochs)
        usual = PygRun(dataset, pyg_batches(dataset, False))
        ready = PygRun(dataset, pyg_batches(dataset, True)) if dataset.is_graphs else None
        times = {"ours": [], "pyg": [], "pyg_ready": []}
        for _ in range(args.repetitions):  # the sides take turns, so that a busy machine slows both
            answer, _, _ = train_ours(args.tool, dataset, folder, epochs, dataset.batch_size)
            times["ours"].append(answer["train_seconds"] / epochs)
            times["pyg"].append(usual.seconds_per_epoch(epochs))
            if ready:
                times["pyg_ready"].append(ready.seconds_per_epoch(epochs))

    def ratio(side):
        return statistics.median(a / b for a, b in zip(times[side], times["ours"])) if times[side] else None

    return {
        "dataset": name,
        "instances": dataset.instances(),
        "batches": dataset.batches(),
        "epochs": epochs,
        **checked,
        "seconds_per_epoch": times,
        "ratio": ratio("pyg"),
        "ratio_ready": ratio("pyg_ready"),
        "ratio_of_fastest": min(times["pyg"]) / min(times["ours"]),
        "problems": problems,
    }


# ---- comparing explanations -----------------------------------------------------------------------------------------

FIT_EPOCHS = 30
TOLERANCE = 1e-4
# What `pgexplainer` must be told to take PyG's steps.
PYG_STEPS = "--objective paper --epochs 30 --batch-size 1 --target class --embedding last-convolution --tau-start 5"
PYG_STEPS += " --tau-end 2 --size 0.05 --size-term sum --entropy 1 --entropy-term mean --sample-bias 0.01 --no-symmetric"
PYG_STEPS += " --lr 0.003 --hidden 64 --restarts 0 --holdout 0 --no-verdict"
PAPER_STEPS = "--preset paper --epochs 30 --embedding last-convolution --restarts 0 --holdout 0 --no-verdict"
FLOORS = {"inference-warm": 200, "inference-cold": 50, "graphs": 100, "fit": 100, "gnnexplainer": 60}
INSTANCES = {"inference-warm": 20, "inference-cold": 20, "graphs": 40, "gnnexplainer": 5}  # timed, spread over all


def write_safetensors(path, tensors, metadata):
    header, blobs, offset = {"__metadata__": metadata}, [], 0
    for name, values in tensors.items():
        blobs.append(np.ascontiguousarray(values, dtype=np.float32).tobytes())
        header[name] = {"dtype": "F32", "shape": list(values.shape), "data_offsets": [offset, offset + len(blobs[-1])]}
        offset += len(blobs[-1])
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    path.write_bytes(len(text).to_bytes(8, "little") + text + b"".join(blobs))


def write_model(path, dataset, weights):
    """The shared network in our format."""

    def block(k):
        conv = {"type": "GCNConv", "name": f"conv{k}", "out_channels": HIDDEN}
        return [{**conv, "normalize": False, "add_self_loops": False}, {"type": "L2Norm"}, {"type": "ReLU"}]

    model = {
        "task": "graph" if dataset.is_graphs else "node",
        "in_channels": dataset.num_features,
        "num_classes": dataset.num_classes,
        "blocks": [block(k) for k in (1, 2, 3)],
        "jumping_knowledge": "cat",
        "classifier": [{"type": "Linear", "name": "lin", "out_channels": dataset.num_classes}],
    }
    if dataset.is_graphs:
        model["readout"] = ["max", "mean"]
    metadata = {"format": "pgexplainer model", "version": "1", "model": json.dumps(model), "training": "null"}
    write_safetensors(path, weights, metadata)


def write_explainer(path, dataset, mlp):
    tensors = {f"mlp.{name}": values.detach().numpy() for name, values in mlp.state_dict().items()}
    options = {"objective": "paper", "embedding": "last-convolution", "score": "sigmoid"}
    shape = {"embedding_width": HIDDEN, "num_targets": 0 if dataset.is_graphs else 1}
    metadata = {"format": "pgexplainer explainer", "version": "3", "options": json.dumps(options)}
    write_safetensors(path, tensors, {**metadata, "shape": json.dumps(shape)})


class Subject:
    """A shared model on its data, as both sides see it, with a PGExplainer of the same random weights."""

    def __init__(self, name, dataset, args, folder):
        self.dataset, self.tool = dataset, args.tool
        arrays = np.load(args.shared / "golden/models" / f"{name}.npz", allow_pickle=False)
        weights = {k: arrays[k] for k in arrays.files if k != "logits"}
        self.golden_logits = torch.from_numpy(arrays["logits"])
        self.model_path, self.explainer_path = folder / f"{name}.model", folder / f"{name}.explainer"
        write_model(self.model_path, dataset, weights)
        self.model = make_model(dataset)
        self.model.load_state_dict({k: torch.from_numpy(v) for k, v in weights.items()})
        self.model.eval()
        self.target = torch.cat([logits_of(self.model, d).argmax(dim=-1) for d in dataset.graphs])
        config = {"mode": "multiclass_classification", "return_type": "raw"}
        config["task_level"] = "graph" if dataset.is_graphs else "node"
        self.pg = Explainer(
            self.model,
            algorithm=PGExplainer(epochs=FIT_EPOCHS, lr=0.003),
            explanation_type="phenomenon",
            edge_mask_type="object",
            model_config=config,
        )
        self.gnn = Explainer(
            self.model,
            algorithm=GNNExplainer(epochs=100, lr=0.01),
            explanation_type="model",
            node_mask_type="common_attributes",
            edge_mask_type="object",
            model_config=config,
        )
        self.fit_pyg(dataset.eval[:1], cut=False, epochs=1)  # makes the weights
        write_explainer(self.explainer_path, dataset, self.pg.algorithm.mlp)

    def some(self, count):
        """So many of the evaluated instances, from everywhere in the list."""
        step = max(1, len(self.dataset.eval) // count)
        return self.dataset.eval[::step][:count]

    def inputs(self, instance, cut):
        """x, edge_index and the rest of a call that explains it."""
        if self.dataset.is_graphs:
            graph = self.dataset.graphs[instance]
            return graph.x, graph.edge_index, {"target": self.target[instance : instance + 1]}
        data = self.dataset.graphs[0]
        if not cut:
            return data.x, data.edge_index, {"target": self.target, "index": instance}
        nodes, edges, index, _ = k_hop_subgraph(instance, 3, data.edge_index, relabel_nodes=True)
        return data.x[nodes], edges, {"target": self.target[nodes], "index": int(index)}

    def explain_pyg(self, explainer, instances, cut):
        """Seconds per instance; a cut is made by the user, so it takes part."""
        start = time.process_time()
        for instance in instances:
            x, edge_index, rest = self.inputs(instance, cut)
            if explainer is self.gnn:
                rest.pop("target")  # it takes the model's own
            explainer(x, edge_index, **rest)
        return (time.process_time() - start) / len(instances)

    def fit_pyg(self, instances, cut, epochs):
        """Seconds of all epochs, from some of them; cuts are made beforehand."""
        inputs = [self.inputs(instance, cut) for instance in instances]
        start = time.process_time()
        for epoch in range(epochs):
            for x, edge_index, rest in inputs:
                self.pg.algorithm.train(epoch, self.model, x, edge_index, **rest)
        seconds = time.process_time() - start
        self.pg.algorithm._curr_epoch = FIT_EPOCHS - 1  # it would refuse to explain before the last epoch
        return seconds * FIT_EPOCHS / epochs

    def bench_ours(self, work, instances, *options):
        """The median of three passes: PyG has been running for a while, our process has just begun."""
        words = ["bench", "--data", self.dataset.path, "--model", self.model_path, "--work", work]
        words += ["--instances", ",".join(map(str, instances)), "--threads", 1, "--json", "--repetitions", 3]
        if work != "fit":
            words += ["--explainer", self.explainer_path]
        return json.loads(run_tool(self.tool, *words, *options))

    def check(self, folder):
        """Differences between the sides, as sentences."""
        problems, instances = [], self.some(10)
        with torch.no_grad():
            logits = torch.cat([logits_of(self.model, data) for data in self.dataset.graphs])
        worst = float((logits - self.golden_logits).abs().max())
        if worst > TOLERANCE:
            problems.append(f"PyG's logits differ from the model's own by {worst:.1e}")
        output = folder / "scores.jsonl"
        words = ["explain", "--data", self.dataset.path, "--model", self.model_path, "-o", output, "--threads", 1]
        words += ["--explainer", self.explainer_path, "--instances", ",".join(map(str, instances))]
        run_tool(self.tool, *words)
        first_edge = np.cumsum([0] + [g.num_edges for g in self.dataset.graphs])
        for instance, line in zip(instances, output.read_text().splitlines(), strict=True):
            ours = json.loads(line)
            theirs = torch.softmax(logits[instance], dim=-1)
            worst = float((theirs - torch.tensor(ours["prediction"]["probability"])).abs().max())
            if ours["instance"] != instance or worst > TOLERANCE:
                problems.append(f"instance {instance}: the predictions differ by {worst:.1e}")
            x, edge_index, rest = self.inputs(instance, cut=False)
            mask = self.pg(x, edge_index, **rest).edge_mask.detach().numpy()
            ends = edge_index.numpy()
            position = {(int(u), int(v)): e for e, (u, v) in enumerate(ends.T)}
            mask = np.array([(mask[e] + mask[position[v, u]]) / 2 for (u, v), e in position.items()])  # as ours merges
            ids = np.array(ours["edge_ids"]) - (first_edge[instance] if self.dataset.is_graphs else 0)
            worst = np.abs(mask[ids] - np.array([edge[2] for edge in ours["edges"]])).max()
            if worst > TOLERANCE or (np.delete(mask, ids) != 0).any():
                problems.append(f"instance {instance}: the masks of PGExplainer differ by {worst:.1e}")
        return problems

    def check_settings(self, answer):
        """Of one answer of `pgexplainer bench`."""
        pg, gnn = self.pg.algorithm, self.gnn.algorithm
        wanted = {
            "fit_options": {
                "epochs": pg.epochs,
                "lr": pg.lr,
                "size": pg.coeffs["edge_size"],
                "entropy": pg.coeffs["edge_ent"],
                "tau_start": pg.coeffs["temp"][0],
                "tau_end": pg.coeffs["temp"][1],
                "sample_bias": pg.coeffs["bias"],
                "hidden": [pg.mlp[0].out_channels],
                "batch_size": 1,
            },
            "gnnexplainer_options": {
                "epochs": gnn.epochs,
                "lr": gnn.lr,
                "edge_size": gnn.coeffs["edge_size"],
                "edge_entropy": gnn.coeffs["edge_ent"],
                "feature_size": gnn.coeffs["node_feat_size"],
                "feature_entropy": gnn.coeffs["node_feat_ent"],
                "feature_mask": "common",
                "symmetric": False,
            },
        }
        return [
            f"{kind}: {name} is {answer[kind][name]} here, {value} in PyG"
            for kind, settings in wanted.items()
            if kind in answer
            for name, value in settings.items()
            if answer[kind][name] != value
        ]


def compare_explaining(work, subject, args):
    """One row: times of both sides by name, and the ratio that counts."""
    dataset, problems = subject.dataset, []
    instances = dataset.eval if work == "fit" else subject.some(INSTANCES[work])
    kind = {"inference-warm": "warm", "inference-cold": "cold", "graphs": "cold"}.get(work, work)
    times = {"ours": [], "ours_other": [], "pyg_whole": [], "pyg_cut": []}

    def pyg(cut):
        if work == "fit":
            return subject.fit_pyg(instances, cut, args.pyg_epochs)
        return subject.explain_pyg(subject.gnn if work == "gnnexplainer" else subject.pg, instances, cut)

    for _ in range(args.repetitions):
        answer = subject.bench_ours(kind, instances, *(PYG_STEPS.split() if work == "fit" else []))
        problems = subject.check_settings(answer)
        times["ours"].append(answer["seconds"][kind]["median"])
        if work == "fit":
            other = subject.bench_ours(kind, instances, *PAPER_STEPS.split())
            times["ours_other"].append(other["seconds"][kind]["median"])
        elif work == "graphs":
            times["ours_other"].append(answer["seconds"]["cold_together"]["median"])
        times["pyg_whole"].append(pyg(cut=False))
        if not dataset.is_graphs:
            times["pyg_cut"].append(pyg(cut=True))

    def ratio(side):
        return statistics.median(a / b for a, b in zip(times[side], times["ours"])) if times[side] else None

    ratios = {"whole": ratio("pyg_whole"), "cut": ratio("pyg_cut")}
    return {
        "work": work,
        "instances": len(instances),
        "shape": {k: answer[k] for k in ("nodes", "edges", "features", "nodes_per_instance", "edges_per_instance")},
        "seconds": times,
        "ratios": ratios,
        "ratio": ratios["whole"],
        "ratio_of_fastest": min(times["pyg_whole"]) / min(times["ours"]),
        "floor": FLOORS[work],
        "reached": ratios["whole"] >= FLOORS[work],
        "problems": problems,
    }


def works_of(dataset, wanted):
    node_only, graph_only = {"inference-warm", "inference-cold"}, {"graphs"}
    return [w for w in wanted if w in FLOORS and w not in (node_only if dataset.is_graphs else graph_only)]


# ---- the run --------------------------------------------------------------------------------------------------------


def gigaflops():
    """Speed of torch's float matrix product; a slow BLAS would be unfair to PyG."""
    a, best = torch.randn(1000, 1000), math.inf
    for _ in range(5):
        start = time.perf_counter()
        a @ a
        best = min(best, time.perf_counter() - start)
    return 2 / best


def milliseconds(times):
    return f"{1e3 * statistics.median(times):.3f}" if times else "-"


def ratio_text(ratio):
    return f"{ratio:.1f}" if ratio else "-"


TRAINING_COLUMNS = (  # title, width, cell
    ("dataset", 12, lambda r: r["dataset"]),
    ("instances", 9, lambda r: str(r["instances"])),
    ("batches", 7, lambda r: str(r["batches"])),
    ("epochs", 6, lambda r: str(r["epochs"])),
    ("ours", 8, lambda r: milliseconds(r["seconds_per_epoch"]["ours"])),
    ("PyG", 8, lambda r: milliseconds(r["seconds_per_epoch"]["pyg"])),
    ("ratio", 5, lambda r: ratio_text(r["ratio"])),
    ("fastest", 7, lambda r: ratio_text(r["ratio_of_fastest"])),
    ("PyG ready", 9, lambda r: milliseconds(r["seconds_per_epoch"]["pyg_ready"])),
    ("ratio", 5, lambda r: ratio_text(r["ratio_ready"])),
    ("loss diff.", 10, lambda r: f"{r['loss_difference']:.0e}"),
    ("accuracy diff.", 14, lambda r: str(r["accuracy_differs_by"])),
)
TRAINING_LEGEND = """
Training: milliseconds per epoch; fastest = ratio of the fastest repetitions. PyG: DataLoader(shuffle=True),
collating in the epoch. PyG ready: batches made beforehand; ours makes its batches in the epoch, and validates in it.
loss diff.: largest relative difference of the losses of the first full-batch epochs from the same initial weights.
accuracy diff.: difference of the numbers of instances got right with the same trained weights, worst split."""
EXPLAINING_COLUMNS = (
    ("dataset", 12, lambda r: r["dataset"]),
    ("work", 14, lambda r: r["work"]),
    ("instances", 9, lambda r: str(r["instances"])),
    ("ours", 10, lambda r: milliseconds(r["seconds"]["ours"])),
    ("PyG, whole", 10, lambda r: milliseconds(r["seconds"]["pyg_whole"])),
    ("ratio", 7, lambda r: ratio_text(r["ratios"]["whole"])),
    ("PyG, cut", 10, lambda r: milliseconds(r["seconds"]["pyg_cut"])),
    ("ratio", 7, lambda r: ratio_text(r["ratios"]["cut"])),
    ("floor", 5, lambda r: str(r["floor"])),
    ("reached", 7, lambda r: "yes" if r["reached"] else "NO"),
    ("ours, other", 11, lambda r: milliseconds(r["seconds"]["ours_other"])),
)
EXPLAINING_LEGEND = """
Explaining: milliseconds per instance, of fit in all. The first ratio counts. "ours, other" is the
paper's one step per epoch (fit) and all graphs together (graphs); it takes no part in the ratios."""


def print_row(columns, cells):
    print("  ".join(f"{c:{'<' if i == 0 else '>'}{columns[i][1]}}" for i, c in enumerate(cells)), flush=True)


def print_titles(columns, legend):
    print(legend)
    print_row(columns, [title for title, _, _ in columns])


def main():
    root = Path(__file__).resolve().parent.parent
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    names, works = list(BATCH_SIZES), ["training", *FLOORS]
    parser.add_argument("--json", action="store_true", help="print one JSON object with every measured time")
    parser.add_argument("--shared", type=Path, default=root / "../shared", help="data/ and golden/models/ (../shared)")
    parser.add_argument("--tool", type=Path, default=root / "build/pgexplainer", help="default build/pgexplainer")
    parser.add_argument("--work", default=",".join(works), metavar="WORK,...", help="any of " + ", ".join(works))
    parser.add_argument("--datasets", nargs="+", choices=names, default=names, metavar="NAME", help=", ".join(names))
    parser.add_argument("--epochs", type=int, default=200, help="training, node datasets, per repetition (200)")
    parser.add_argument("--graph-epochs", type=int, default=10, help="the same for graph datasets (10)")
    parser.add_argument("--pyg-epochs", type=int, default=1, help="of PyG's 30 epochs of fit, timed (1)")
    parser.add_argument("--repetitions", type=int, default=5, help="default 5")
    args = parser.parse_args()
    args.work = args.work.split(",")
    if unknown := [w for w in args.work if w not in works]:
        parser.error(f"--work {unknown[0]} is not one of {', '.join(works)}")
    if min(args.epochs, args.graph_epochs, args.pyg_epochs, args.repetitions) < 1 or args.pyg_epochs > FIT_EPOCHS:
        parser.error(f"epochs and --repetitions must be at least 1, --pyg-epochs at most {FIT_EPOCHS}")
    if import_error:
        stop(INSTALL.format(import_error))
    if not (args.tool.is_file() and os.access(args.tool, os.X_OK)):
        stop(f"the tool {args.tool} does not exist; build it (./run) or name it with --tool")
    for name in args.datasets:
        if not dataset_path(name, args).exists():
            stop(f"the dataset {dataset_path(name, args)} does not exist; see --shared")

    torch.set_num_threads(1)
    speed = gigaflops()
    if speed < 15:
        print(
            f"warning: torch multiplies matrices at only {speed:.0f} GFLOP/s, which is unfair to PyG: "
            "install libopenblas0-pthread",
            file=sys.stderr,
        )
    versions = {"torch_geometric": torch_geometric.__version__, "torch": torch.__version__, "matmul_gigaflops": speed}
    training, explaining = [], []

    def add(rows, columns, legend, row):
        if not args.json:
            if not rows:
                print_titles(columns, legend)
            print_row(columns, [cell(row) for _, _, cell in columns])
        rows.append(row)

    if not args.json:
        print(f"PyG {versions['torch_geometric']}, torch {versions['torch']}, matrix product {speed:.0f} GFLOP/s.")
        print(f"Medians of {args.repetitions} interleaved repetitions; ratio = PyG / ours, median over them.")
    for name in args.datasets if "training" in args.work else []:
        torch.manual_seed(0)
        dataset = Dataset(dataset_path(name, args), BATCH_SIZES[name])
        add(training, TRAINING_COLUMNS, TRAINING_LEGEND, compare_training(name, dataset, args))
    for name in args.datasets:
        torch.manual_seed(0)
        dataset = Dataset(dataset_path(name, args), BATCH_SIZES[name])
        works = works_of(dataset, args.work)
        if not works:
            continue
        with tempfile.TemporaryDirectory() as folder:
            subject = Subject(name, dataset, args, Path(folder))
            differences = subject.check(Path(folder))
            for work in works:
                row = {"dataset": name, **compare_explaining(work, subject, args)}
                row["problems"] += differences
                differences = []
                add(explaining, EXPLAINING_COLUMNS, EXPLAINING_LEGEND, row)
    if args.json:
        print(json.dumps({**versions, "repetitions": args.repetitions, "training": training, "explaining": explaining}))
    problems = [f"{r['dataset']}: {p}" for r in training + explaining for p in r["problems"]]
    for problem in problems:
        print(f"compare_pyg.py: {problem}", file=sys.stderr)
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()
