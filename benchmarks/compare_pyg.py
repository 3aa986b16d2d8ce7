#!/usr/bin/env python3
"""Trains the same network with pgexplainer and with PyTorch Geometric, side by side, one thread each.

Network: three plain-sum GCN layers of width 20, each followed by l2 row normalisation and ReLU; a linear
classifier reads all three layers (nodes) or their max and mean over the graph. Adam, learning rate 1e-3;
node datasets full batch, graph datasets shuffled mini-batches. Before timing, the script checks that both
sides do the same work: parameters, losses epoch by epoch from the same initial weights, accuracies of the
trained weights. Timed is the epoch loop alone, without loading. Ours also computes the validation loss and
accuracy in each epoch and keeps the best weights; PyG has one warm-up epoch that is not counted. The sides
take turns; the table gives medians over the repetitions.

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
    from torch_geometric.loader import DataLoader
    from torch_geometric.nn import GCNConv, global_max_pool, global_mean_pool

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

        def forward(self, data):
            layers, h = [], data.x
            for conv in (self.conv1, self.conv2, self.conv3):
                h = F.relu(F.normalize(conv(h, data.edge_index), p=2.0, dim=-1))
                layers.append(h)
            h = torch.cat(layers, dim=-1)
            if dataset.is_graphs:
                h = torch.cat([global_max_pool(h, data.batch), global_mean_pool(h, data.batch)], dim=-1)
            return self.lin(h)

    return Network()


def train_pyg(model, optimizer, dataset, batches, epochs):
    """The usual loop; returns the seconds it took and the loss of the last batch of each epoch."""
    mask, losses = dataset.masks["train"], []
    model.train()
    start = time.perf_counter()
    for _ in range(epochs):
        for data in batches:
            optimizer.zero_grad()
            out = model(data)
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


def train_ours(tool, dataset, folder, epochs, batch_size, learning_rate=LEARNING_RATE):
    """Runs the tool; returns its JSON answer, the written tensors and the loss of each epoch."""
    output = Path(folder) / "model.safetensors"
    command = [str(tool), "train", "--data", str(dataset.path), "-o", str(output), "--json", "--threads", "1"]
    command += ["--arch", "sum", "--norm", "l2", "--jk", "cat", "--pool", "max,mean"]
    command += ["--hidden", f"{HIDDEN},{HIDDEN},{HIDDEN}"]
    command += ["--clip-value", "0", "--select", "last", "--learning-rate", str(learning_rate)]
    command += ["--epochs", str(epochs), "--batch-size", str(batch_size)]
    run = subprocess.run(command, capture_output=True, text=True)
    if run.returncode != 0:
        stop(f"{' '.join(command)} failed: {run.stderr.strip()}")
    answer = json.loads(run.stdout)
    if "train_seconds" not in answer:
        stop(f"{tool} does not report train_seconds; build the current version")
    tensors, metadata = read_safetensors(output)
    return answer, tensors, json.loads(metadata["training"])["history"]["loss"]


# ---- the comparison -------------------------------------------------------------------------------------------------


def correct_counts(model, dataset):
    model.eval()
    with torch.no_grad():
        loader = DataLoader(dataset.graphs, batch_size=256) if dataset.is_graphs else dataset.graphs
        right = torch.cat([model(data).argmax(dim=-1) for data in loader]) == dataset.y
    return {split: int(right[mask].sum()) for split, mask in dataset.masks.items()}


def check_same(tool, dataset, folder, epochs):
    """Shows that both sides compute the same; returns what was compared and a list of differences."""
    problems = []
    model = make_model(dataset)
    # A learning rate of 0 writes the initial weights; whole-set batches leave nothing to the shuffle.
    _, initial, _ = train_ours(tool, dataset, folder, 1, 0, learning_rate=0)
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
    return args.data_dir / (name if name == "mutagenicity" else f"{name}.npz")


def compare(name, args):
    torch.manual_seed(0)
    dataset = Dataset(dataset_path(name, args), BATCH_SIZES[name])
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


COLUMNS = (  # title, width, cell
    ("dataset", 12, lambda r: r["dataset"]),
    ("instances", 9, lambda r: str(r["instances"])),
    ("batches", 7, lambda r: str(r["batches"])),
    ("epochs", 6, lambda r: str(r["epochs"])),
    ("ours", 8, lambda r: milliseconds(r["seconds_per_epoch"]["ours"])),
    ("PyG", 8, lambda r: milliseconds(r["seconds_per_epoch"]["pyg"])),
    ("ratio", 5, lambda r: f"{r['ratio']:.1f}"),
    ("fastest", 7, lambda r: f"{r['ratio_of_fastest']:.1f}"),
    ("PyG ready", 9, lambda r: milliseconds(r["seconds_per_epoch"]["pyg_ready"])),
    ("ratio", 5, lambda r: f"{r['ratio_ready']:.1f}" if r["ratio_ready"] else "-"),
    ("loss diff.", 10, lambda r: f"{r['loss_difference']:.0e}"),
    ("accuracy diff.", 14, lambda r: str(r["accuracy_differs_by"])),
)
LEGEND = """\
Milliseconds per epoch, medians of {} interleaved repetitions; ratio = PyG / ours, median over the repetitions;
fastest = the same from the fastest repetition of each. PyG: DataLoader(shuffle=True), collating in the epoch.
PyG ready: batches made beforehand; ours makes its batches in the epoch, and validates in it, PyG does not.
loss diff.: largest relative difference of the losses of {} full-batch epochs from the same initial weights.
accuracy diff.: difference of the numbers of instances got right with the same trained weights, worst split.
"""


def print_row(cells):
    print("  ".join(f"{cell:{'<' if i == 0 else '>'}{COLUMNS[i][1]}}" for i, cell in enumerate(cells)), flush=True)


def main():
    root = Path(__file__).resolve().parent.parent
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--json", action="store_true", help="print one JSON object with every measured time")
    parser.add_argument("--data-dir", type=Path, default=root / "../shared/data", help="default ../shared/data")
    parser.add_argument("--tool", type=Path, default=root / "build/pgexplainer", help="default build/pgexplainer")
    names = list(BATCH_SIZES)
    parser.add_argument("--datasets", nargs="+", choices=names, default=names, metavar="NAME", help=", ".join(names))
    parser.add_argument("--epochs", type=int, default=200, help="timed per repetition, node datasets (default 200)")
    parser.add_argument("--graph-epochs", type=int, default=10, help="the same for graph datasets (default 10)")
    parser.add_argument("--repetitions", type=int, default=5, help="default 5")
    args = parser.parse_args()
    if min(args.epochs, args.graph_epochs, args.repetitions) < 1:
        parser.error("--epochs, --graph-epochs and --repetitions must be at least 1")
    if import_error:
        stop(INSTALL.format(import_error))
    if not (args.tool.is_file() and os.access(args.tool, os.X_OK)):
        stop(f"the tool {args.tool} does not exist; build it (./run) or name it with --tool")
    for name in args.datasets:
        if not dataset_path(name, args).exists():
            stop(f"the dataset {dataset_path(name, args)} does not exist; see --data-dir")

    torch.set_num_threads(1)
    speed = gigaflops()
    if speed < 15:
        print(
            f"warning: torch multiplies matrices at only {speed:.0f} GFLOP/s, which is unfair to PyG: "
            "install libopenblas0-pthread",
            file=sys.stderr,
        )
    versions = {"torch_geometric": torch_geometric.__version__, "torch": torch.__version__, "matmul_gigaflops": speed}
    if not args.json:
        print(f"PyG {versions['torch_geometric']}, torch {versions['torch']}, matrix product {speed:.0f} GFLOP/s.")
        print(LEGEND.format(args.repetitions, CHECKED_EPOCHS))
        print_row([title for title, _, _ in COLUMNS])
    results = []
    for name in args.datasets:
        results.append(compare(name, args))
        if not args.json:
            print_row([cell(results[-1]) for _, _, cell in COLUMNS])
    if args.json:
        print(json.dumps({**versions, "repetitions": args.repetitions, "results": results}))
    problems = [f"{r['dataset']}: {p}" for r in results for p in r["problems"]]
    for problem in problems:
        print(f"compare_pyg.py: {problem}", file=sys.stderr)
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()
