#!/usr/bin/env python3
"""Measures everything that docs/performance.md says and writes the tables into it.

    PYTHONPATH=<PyTorch Geometric> benchmarks/update_performance.py [--only kernels,pyg,threads,scaling]

A table stands between <!-- name --> and <!-- /name -->; the text around it stays. Needs what compare_pyg.py needs.
The least times come from arithmetic and the limits that `pgexplainer bench` measures on this machine.
"""

import argparse
import json
import re
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

import compare_pyg

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs/performance.md"
SECTIONS = ("kernels", "pyg", "threads", "scaling")
WIDTH, SCORER, LAYERS, FLOAT, ID = 20, 64, 3, 4, 4


def table(titles, rows):
    lines = [" | ".join(titles), "|".join("---" for _ in titles), *(" | ".join(row) for row in rows)]
    return "\n".join(f"| {line} |" if i != 1 else f"|{line}|" for i, line in enumerate(lines))


def time_text(seconds):
    for unit, factor in (("µs", 1e6), ("ms", 1e3)):
        if seconds * factor < 1000:
            return f"{seconds * factor:.3g} {unit}"
    return f"{seconds:.3g} s"


# ---- arithmetic -----------------------------------------------------------------------------------------------------


class Limits:
    """Least seconds of the parts of the work on one core: multiply-adds at the peak or bytes from L2."""

    def __init__(self, machine):
        self.flops, self.bytes = 1e9 * machine["gflops_one"], 1e9 * machine["l2_gbs_one"]

    def part(self, flops, traffic):
        return max(flops / self.flops, traffic / self.bytes)

    def dense(self, rows, inputs, outputs):
        return self.part(2 * rows * inputs * outputs, FLOAT * rows * (inputs + outputs))

    def sparse(self, rows, edges):
        return self.part(2 * edges * WIDTH, edges * (FLOAT * WIDTH + ID + FLOAT) + FLOAT * rows * WIDTH)

    def project(self, rows):
        return self.dense(rows, WIDTH, 2 * SCORER)

    def score(self, rows, edges):
        return self.part(4 * edges * SCORER, edges * (FLOAT * SCORER + 2 * ID + FLOAT) + FLOAT * rows * SCORER)

    def embed(self, rows, edges, features):
        sums = LAYERS * self.sparse(rows, edges)
        return sums + self.dense(rows, features, WIDTH) + (LAYERS - 1) * self.dense(rows, WIDTH, WIDTH)

    def network_step(self, rows, edges, features):
        """The masked network forward and back to the mask; weights and features need no gradient."""
        back = LAYERS * self.sparse(rows, edges) + (LAYERS - 1) * (
            self.sparse(rows, edges) + self.dense(rows, WIDTH, WIDTH)
        )
        return self.embed(rows, edges, features) + back

    def fit_step(self, rows, edges, features, targets):
        parameters = (2 + targets) * WIDTH * SCORER + 2 * SCORER + 1
        scorer = self.score(rows, edges) + self.part(5 * edges * SCORER, 2 * edges * FLOAT * SCORER)
        adam = self.part(12 * parameters, 4 * FLOAT * parameters)
        return self.network_step(rows, edges, features) + 2 * self.project(rows) + scorer + adam

    def least(self, row):
        """Of a row of compare_pyg.py; all rows of an instance are counted in every layer."""
        shape, work = row["shape"], row["work"]
        rows, edges, features = shape["nodes_per_instance"], shape["edges_per_instance"], shape["features"]
        if work == "inference-warm":
            return self.score(rows, edges)
        if work == "inference-cold":
            return self.embed(shape["nodes"], shape["edges"], features) + self.project(rows) + self.score(rows, edges)
        if work == "graphs":
            return self.embed(rows, edges, features) + self.project(rows) + self.score(rows, edges)
        if work == "gnnexplainer":
            return 100 * self.network_step(rows, edges, features)
        steps = compare_pyg.FIT_EPOCHS * row["instances"]
        return steps * self.fit_step(rows, edges, features, row["dataset"] not in ("ba_2motifs", "mutagenicity"))


# ---- sections -------------------------------------------------------------------------------------------------------


def bench(args, *words):
    return json.loads(compare_pyg.run_tool(args.tool, "bench", "--json", *words))


def kernels(args):
    result = bench(args, "--repetitions", 4 * args.repetitions)
    machine = result["machine"]
    limits = table(
        ["limit of the machine", "one core", f"all {machine['cores']} cores"],
        [
            [name, f"{machine[key + '_one']:.1f}", f"{machine[key + '_all']:.1f}"]
            for name, key in (
                ("float32 multiply-adds, GFLOP/s", "gflops"),
                (f"read from L2 ({machine['l2_bytes'] // 1024} KiB), GB/s", "l2_gbs"),
                ("read from memory, GB/s", "memory_gbs"),
            )
        ],
    )
    rows = [
        [k["kernel"], str(k["width"]), f"{k['flops'] / k['bytes']:.2f}", f"{k['gflops']:.1f}", f"{k['gbs']:.1f}"]
        + [k["bound"], f"{k['fraction']:.2f}", f"{k['fraction_in_lines']:.2f}"]
        for k in result["kernels"]
    ]
    titles = ["kernel", "width", "flop per byte", "GFLOP/s", "GB/s", "limited by", "fraction of the roofline", "in whole lines"]
    return limits + "\n\n" + table(titles, rows)


def pyg(args):
    words = [sys.executable, ROOT / "benchmarks/compare_pyg.py", "--json", "--shared", args.shared, "--tool", args.tool]
    words += ["--repetitions", args.repetitions, "--work", ",".join(compare_pyg.FLOORS)]
    done = subprocess.run([str(w) for w in words], stdout=subprocess.PIPE, text=True)
    if done.returncode != 0:
        sys.exit("compare_pyg.py failed")
    result = json.loads(done.stdout)
    limits = Limits(bench(args, "--repetitions", args.repetitions)["machine"])
    rows = []
    for row in result["explaining"]:
        ours = statistics.median(row["seconds"]["ours"])
        whole, cut = row["ratios"]["whole"], row["ratios"]["cut"]
        cells = [row["dataset"], row["work"], time_text(ours)]
        cells += [f"{whole:.0f}", f"{row['ratio_of_fastest']:.0f}", f"{cut:.0f}" if cut else ""]
        cells += [str(row["floor"]), "yes" if row["reached"] else "no"]
        rows.append(cells + [time_text(limits.least(row)), f"{ours / limits.least(row):.1f}"])
    titles = ["data", "work", "ours", "PyG as shipped ÷ ours", "of the fastest", "PyG on a cut ÷ ours", "floor", "reached"]
    versions = f"PyG {result['torch_geometric']}, torch {result['torch']}, "
    versions += f"matrix product {result['matmul_gigaflops']:.0f} GFLOP/s, {result['repetitions']} repetitions."
    return table(titles + ["least time", "ours ÷ least"], rows) + "\n\n" + versions


def threads(args):
    rows = []
    for name in ("ba_shapes", "tree_grid", "ba_2motifs"):
        with tempfile.TemporaryDirectory() as folder:
            dataset = compare_pyg.Dataset(compare_pyg.dataset_path(name, args), compare_pyg.BATCH_SIZES[name])
            subject = compare_pyg.Subject(name, dataset, args, Path(folder))
            words = ["--data", dataset.path, "--model", subject.model_path, "--explainer", subject.explainer_path]
            words += ["--instances", "all", "--epochs", 30]
            result = bench(args, *words, "--work", "threads", "--repetitions", args.repetitions)
        first = result["threads"][0]
        for row in result["threads"]:
            times = [text for work in ("explain", "apart", "fit") for text in (time_text(row[work]), f"{first[work] / row[work]:.2f}")]
            rows.append([name, str(row["threads"]), *times])
    titles = ["explain all", "speed-up", "the same, nothing in common", "speed-up", "fit (30 epochs)", "speed-up"]
    return table(["data", "threads", *titles], rows)


def scaling(args):
    words = ["--scaling", ROOT / "docs/time_per_instance.svg", "--max-nodes", args.max_nodes, "--repetitions", 8 * args.repetitions]
    result = bench(args, *words)
    rows = [
        [f"{p['nodes']:,}", f"{p['edges']:,}", f"{p['edges_per_instance']:.1f}"]
        + [time_text(p[f"{kind}_seconds"]) for kind in ("random", "successive", "repeated")]
        for p in result["points"]
    ]
    columns = ["nodes", "directed edges", "edges per instance", "nodes at random", "one after the other", "the same 32"]
    growth = f"Growth from first to last: {result['random_growth']:.2f} at random, "
    growth += f"{result['successive_growth']:.2f} one after the other, {result['repeated_growth']:.2f} of the same nodes."
    return table(columns, rows) + "\n\n" + growth


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--only", default=",".join(SECTIONS), help="any of " + ", ".join(SECTIONS))
    parser.add_argument("--shared", type=Path, default=ROOT / "../shared", help="as for compare_pyg.py")
    parser.add_argument("--tool", type=Path, default=ROOT / "build/pgexplainer", help="default build/pgexplainer")
    parser.add_argument("--repetitions", type=int, default=5, help="default 5")
    parser.add_argument("--max-nodes", type=int, default=10_000_000, help="of the scaling (10000000)")
    args = parser.parse_args()
    for name in args.only.split(","):
        if name not in SECTIONS:
            parser.error(f"--only {name} is not one of {', '.join(SECTIONS)}")
        text = globals()[name](args)
        page, found = re.subn(
            rf"(<!-- {name} -->\n).*?(\n<!-- /{name} -->)",
            lambda match: match[1] + text + match[2],
            PAGE.read_text(),
            flags=re.DOTALL,
        )
        if found != 1:
            sys.exit(f"{PAGE} has no place for {name}")
        PAGE.write_text(page)
        print(f"{name}: done", flush=True)


if __name__ == "__main__":
    main()
