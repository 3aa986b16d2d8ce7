#!/usr/bin/env python3
"""Do explanations hold for networks nobody has looked at?

Trains networks of several seeds, explains each with default settings and with every other method, and writes the
tables and the figures of docs/reliability.md: agreement with ground truth on held-out instances, faithfulness against
the other methods, and how the verdict goes with both. About an hour on two cores. Needs NumPy.

    benchmarks/reliability.py --data ../shared/data                    # seeds 5 to 14, as published
    benchmarks/reliability.py --data ../shared/data --gnn-seeds 0:5 --only trust --no-docs
    benchmarks/reliability.py --data ../shared/data --only dropout-edge   # networks trained with edges left out, apart
"""
import argparse
import concurrent.futures
import json
import os
import pathlib
import statistics
import subprocess
import sys

import numpy as np

import reliability_pictures

ROOT = pathlib.Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
PAGES = (DOCS / "reliability.md", DOCS / "reliability_experiments.md")
DATASETS = {"ba_shapes": "BA-Shapes", "ba_community": "BA-Community", "tree_cycles": "Tree-Cycles",
            "tree_grid": "Tree-Grid", "ba_2motifs": "BA-2motifs", "mutagenicity": "Mutagenicity"}
GOALS = {"ba_shapes": (.999, .998), "ba_community": (.985, .970), "tree_cycles": (.997, .990),
         "tree_grid": (.985, .975), "ba_2motifs": (.980, .965), "mutagenicity": (.930, .880)}
# Mean and attention cannot tell nodes of equal features apart: the synthetic graphs get degrees as features here.
OTHER_ARCHITECTURES = ("gin", "sage", "gat")
OTHER_DATASETS = {"ba_shapes_degree": "BA-Shapes, degrees", "tree_cycles_degree": "Tree-Cycles, degrees",
                  "tree_grid_degree": "Tree-Grid, degrees", "ba_2motifs_degree": "BA-2motifs, degrees",
                  "mutagenicity": "Mutagenicity"}
RIVALS = ("gnnexplainer", "grad", "gradient", "occlusion", "random")
ALONE = ("--order-epochs", 0, "--refine", 0)  # the explanation network, as in the paper
# Good and bad ways to fit, for the verdict to tell apart.
SETTINGS = {"default": "", "necessity 1": "--necessity 1", "necessity 0": "--necessity 0",
            "3 epochs": "--epochs 3", "small shares": "--necessity 0 --keep-share-min 0.02 --keep-share-max 0.3",
            "paper": "--preset paper", "paper, full start": "--preset paper --init-bias 5",
            "mean-size": "--preset mean-size", "mean-size, full start": "--preset mean-size --init-bias 5"}

# Networks trained with a share of the edges left out, for the part that says what this changes.
DROPOUT_EDGE = (0.0, 0.1, 0.3)
DROPOUT_EDGE_DATASETS = ("ba_community", "mutagenicity")


def spearman(x, y):
    def ranks(values):
        order = np.argsort(values, kind="stable")
        rank = np.empty(len(values))
        rank[order] = np.arange(len(values))
        for value in set(values):
            same = [i for i, v in enumerate(values) if v == value]
            rank[same] = rank[same].mean()
        return rank
    if len(set(x)) == 1 or len(set(y)) == 1:
        return 0.0  # nothing to rank
    return float(np.corrcoef(ranks(x), ranks(y))[0, 1])


class Bench:
    def __init__(self, arguments):
        self.tool = arguments.tool
        self.data = arguments.data
        self.folder = arguments.output
        self.folder.mkdir(parents=True, exist_ok=True)
        self.pool = concurrent.futures.ThreadPoolExecutor(os.cpu_count())

    def run(self, *words):
        done = subprocess.run([str(self.tool), *map(str, words)], capture_output=True, text=True, check=False)
        if done.returncode != 0:
            sys.exit(f"{' '.join(map(str, words))}\n{done.stderr}")
        return json.loads(done.stdout)

    def dataset(self, name):
        if name.endswith("_degree"):
            return self.with_degrees(name)
        for path in (self.data / f"{name}.npz", self.data / name):
            if path.exists():
                return path
        sys.exit(f"{self.data} has no {name}.npz and no {name}/; give --data a folder with the datasets")

    def with_degrees(self, name):
        path = self.folder / f"{name}.npz"
        if not path.exists():
            arrays = dict(np.load(self.dataset(name.removesuffix("_degree"))))
            degree = np.bincount(arrays["edge_index"][1], minlength=arrays["x"].shape[0])
            arrays["x"] = np.eye(10, dtype=np.float32)[np.minimum(degree, 9)]
            np.savez(path, **arrays)
        return path

    def model(self, name, arch, seed, pool="max", dropout_edge=0.0):
        kind = ("" if pool == "max" else "-" + pool.replace(",", "+")) + (f"-drop{dropout_edge:g}" if dropout_edge else "")
        path = self.folder / f"{name}-{arch}{kind}-{seed}.safetensors"
        if not path.exists():
            words = ["train", "--data", self.dataset(name), "--arch", arch, "--seed", seed, "--threads", 1, "--json",
                     "-o", path]
            if pool != "max":
                words += ["--pool", pool]
            if dropout_edge:
                words += ["--dropout-edge", dropout_edge]
            if arch != "paper":
                words += ["--lr", 0.005, "--epochs", 300]
            self.run(*words)
        return path

    def evaluate(self, name, arch, seed, words, pool="max", dropout_edge=0.0):
        return self.run("evaluate", "--data", self.dataset(name), "--model",
                        self.model(name, arch, seed, pool, dropout_edge), "--threads", 1, "--json", *words)

    def all(self, jobs):
        """Calls each (key, function) of the jobs, several at a time: {key: result}."""
        futures = {key: self.pool.submit(function) for key, function in jobs}
        results = {}
        for key, future in futures.items():
            results[key] = future.result()
            print(" ".join(map(str, key)), file=sys.stderr)
        return results


def auc_of(result):
    """Of pgexplainer beside other methods."""
    return result["methods"]["pgexplainer"]["auc"]["held_out"]


def gaps_of(result):
    return {name: method["verdict"]["explanation"]["small_gap"] for name, method in result["methods"].items()}


def truth_first_gap_of(result):
    """Of pgexplainer's own orders, with the true edges moved to the front."""
    return result["methods"]["pgexplainer"]["truth_first_gap"]


def best_and_own_gap(result):
    gaps = gaps_of(result)
    return max(gaps[method] for method in RIVALS), gaps["pgexplainer"]


def by_data(results, value_of):
    groups = {}
    for (name, *_), result in results.items():
        groups.setdefault(DATASETS[name], []).append(value_of(result))
    return groups


def measure(bench, names, architectures, seeds, explainer_seeds, pool="max", options=(), method="all"):
    words = ["--method", method, "--seeds", explainer_seeds, *options]
    return bench.all([((name, arch, pool, seed),
                       lambda n=name, a=arch, s=seed: bench.evaluate(n, a, s, words, pool))
                      for name in names for arch in architectures for seed in seeds])


def table(results, goals):
    lines = ["| data | network | mean AUC | worst network | goal | AUC of each network |", "|---|---|---|---|---|---|"]
    groups = {}
    for (name, arch, pool, seed), result in results.items():
        groups.setdefault((name, arch, pool), []).append(auc_of(result))
    for (name, arch, pool), values in groups.items():
        goal = goals.get(name) if arch == "paper" and pool == "max" else None
        reached = goal and statistics.mean(values) >= goal[0] and min(values) >= goal[1]
        lines.append(f"| {DATASETS[name]} | {arch}{'' if pool == 'max' else ', ' + pool} | {statistics.mean(values):.4f} | "
                     f"{min(values):.4f} | {f'{goal[0]:.3f}, {goal[1]:.3f}: ' + ('yes' if reached else 'no') if goal else ''} | "
                     f"{' '.join(f'{v:.3f}' for v in values)} |")
    return lines


def gap_table(results):
    methods = ["pgexplainer", *RIVALS]
    lines = ["| data | pgexplainer | the same, true edges first | " + " | ".join(RIVALS) +
             " | networks where pgexplainer is first (within .005) |", "|---" * (len(methods) + 3) + "|"]
    groups = {}
    for (name, arch, pool, seed), result in results.items():
        groups.setdefault((name, arch, pool), []).append((gaps_of(result), truth_first_gap_of(result)))
    for (name, arch, pool), both in groups.items():
        gaps = [g for g, _ in both]
        means = [statistics.mean(g[m] for g in gaps) for m in methods]
        means.insert(1, statistics.mean(truth_first for _, truth_first in both))
        first = sum(g["pgexplainer"] >= max(g[m] for m in methods) - .005 for g in gaps)
        lines.append(f"| {DATASETS[name]} | " + " | ".join(f"{v:+.3f}" for v in means) +
                     f" | {first} of {len(gaps)} |")
    return lines


def architectures(bench, seeds):
    """Networks of other kinds: the explanation network alone against the truth, the default against rivals."""
    default = measure(bench, OTHER_DATASETS, OTHER_ARCHITECTURES, seeds, 3)
    alone = bench.all([((name, arch, seed), lambda n=name, a=arch, s=seed: bench.evaluate(
        n, a, s, ["--method", "pgexplainer", "--seeds", 3, *ALONE]))
        for name in OTHER_DATASETS for arch in OTHER_ARCHITECTURES for seed in seeds])
    lines = ["| data | network | need no edge | alone: AUC, mean / worst | goal | default: AUC, mean / worst | "
             "gap: alone, default | default, true edges first | best other gap | first (within .005) |", "|---" * 10 + "|"]
    for name in OTHER_DATASETS:
        for arch in OTHER_ARCHITECTURES:
            own = [default[name, arch, "max", seed] for seed in seeds]
            plain = [alone[name, arch, seed] for seed in seeds]
            no_edge = [r["methods"]["pgexplainer"]["verdict"]["without_edges"] for r in own]
            best, gap = zip(*map(best_and_own_gap, own))
            first = sum(g >= b - .005 for g, b in zip(gap, best))
            auc, plain_auc = [auc_of(r) for r in own], [r["auc"]["held_out"] for r in plain]
            truth_first = [truth_first_gap_of(r) for r in own]
            plain_gap = [r["verdict"]["explanation"]["small_gap"] for r in plain]
            goal = GOALS[name.removesuffix("_degree")]
            reached = statistics.mean(plain_auc) >= goal[0] and min(plain_auc) >= goal[1]
            lines.append(f"| {OTHER_DATASETS[name]} | {arch} | {statistics.mean(no_edge):.0%} | "
                         f"{statistics.mean(plain_auc):.4f} / {min(plain_auc):.4f} | {goal[0]:.3f} / {goal[1]:.3f}: "
                         f"{'yes' if reached else 'no'} | {statistics.mean(auc):.4f} / {min(auc):.4f} | "
                         f"{statistics.mean(plain_gap):+.3f}, {statistics.mean(gap):+.3f} | {statistics.mean(truth_first):+.3f} | "
                         f"{statistics.mean(best):+.3f} | "
                         f"{first} of {len(own)} |")
    return lines


def dropping(bench, seeds):
    """Networks trained with all edges and with edges left out, side by side."""
    words = ["--method", "pgexplainer", "grad", "gradient", "occlusion", "--seeds", 2]
    results = bench.all([((name, share, seed),
                          lambda n=name, p=share, s=seed: bench.evaluate(n, "paper", s, words, dropout_edge=p))
                         for name in DROPOUT_EDGE_DATASETS for share in DROPOUT_EDGE for seed in seeds])
    lines = ["| data | left out | test accuracy | mean AUC | worst network | mean gap | first in gap | called reliable "
             "| AUC of each network |", "|---" * 9 + "|"]
    for name in DROPOUT_EDGE_DATASETS:
        for share in DROPOUT_EDGE:
            own = [results[name, share, seed] for seed in seeds]
            accuracy = [bench.run("info", bench.model(name, "paper", seed, dropout_edge=share), "--json")["accuracy"]["test"]
                        for seed in seeds]
            gaps = [gaps_of(result) for result in own]
            first = sum(g["pgexplainer"] >= max(g.values()) - .005 for g in gaps)
            reliable = sum(r["methods"]["pgexplainer"]["verdict"]["reliable"] for r in own)
            aucs = [auc_of(result) for result in own]
            lines.append(f"| {DATASETS[name]} | {share:.0%} | {statistics.mean(accuracy):.3f} | {statistics.mean(aucs):.4f} | "
                         f"{min(aucs):.4f} | {statistics.mean(g['pgexplainer'] for g in gaps):+.3f} | "
                         f"{first} of {len(own)} | {reliable} of {len(own)} | {' '.join(f'{v:.3f}' for v in aucs)} |")
    return lines


def trust(bench, seeds):
    """The verdict's score against the AUC, over good and bad settings: of explanations as they are, and of the order in
    common, which the score is of; and whether that order finds the explained node's own motif."""
    jobs = [(name, setting, seed) for name in DATASETS for setting in SETTINGS for seed in seeds]
    words = {setting: options.split() for setting, options in SETTINGS.items()}
    results = bench.all([(key, lambda n=key[0], w=words[key[1]], s=key[2]: bench.evaluate(n, "paper", s, w)) for key in jobs])
    common = bench.all([((*key, "in common"), lambda n=key[0], w=words[key[1]], s=key[2]: bench.evaluate(
        n, "paper", s, [*w, *ALONE])) for key in jobs])
    rows = [(name, setting, r["auc"]["held_out"], r["verdict"]["score"], r["verdict"]["reliable"])
            for (name, setting, _), r in results.items()]
    lines = ["| data | runs | AUC from | to | Spearman of score and AUC | of score and AUC of the order in common | "
             "AUC of the own motif, from | to |", "|---" * 8 + "|"]
    for title, names in [*((title, [name]) for name, title in DATASETS.items()), ("all", list(DATASETS))]:
        keys = [key for key in jobs if key[0] in names]
        score = [results[key]["verdict"]["score"] for key in keys]
        auc = [results[key]["auc"]["held_out"] for key in keys]
        auc_in_common = [common[*key, "in common"]["auc"]["held_out"] for key in keys]
        own_motif = [common[*key, "in common"]["auc"]["held_out_own_motif"] for key in keys]
        lines.append(f"| {title} | {len(keys)} | {min(auc):.3f} | {max(auc):.3f} | {spearman(score, auc):+.2f} | "
                     f"{spearman(score, auc_in_common):+.2f} | {min(own_motif):.3f} | {max(own_motif):.3f} |")
    lines.append("")
    for reliable in (True, False):
        own = [r for r in rows if r[4] == reliable]
        if own:
            lines.append(f"- called {'reliable' if reliable else '*do not rely on this*'}: {len(own)} runs, mean AUC "
                         f"{statistics.mean(r[2] for r in own):.3f}, below .8 in {sum(r[2] < .8 for r in own)}, "
                         f"at least .95 in {sum(r[2] >= .95 for r in own)}")
    return lines, rows


def write_section(name, lines):
    begin, end = f"<!-- {name} -->\n", f"<!-- /{name} -->"
    page = next(page for page in PAGES if begin in page.read_text())
    text = page.read_text()
    head, rest = text.split(begin)
    page.write_text(head + begin + "\n".join(lines) + "\n" + rest[rest.index(end):])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=pathlib.Path, required=True, help="a folder with the datasets")
    parser.add_argument("--output", type=pathlib.Path, default=ROOT / "build" / "reliability", help="for networks")
    parser.add_argument("--tool", type=pathlib.Path, default=ROOT / "build" / "pgexplainer")
    parser.add_argument("--gnn-seeds", default="5:15", help="of the networks, as first:end (default 5:15)")
    parser.add_argument("--explainer-seeds", type=int, default=5)
    parser.add_argument("--only", default="networks,plain,pooling,architectures,trust",
                        help="parts to make; dropout-edge is a part of its own (default %(default)s)")
    parser.add_argument("--no-docs", action="store_true", help="print, and leave the pages alone")
    arguments = parser.parse_args()
    if not arguments.tool.exists():
        sys.exit(f"there is no {arguments.tool}; build it with ./run, or give --tool")
    bench = Bench(arguments)
    seeds = range(*map(int, arguments.gnn_seeds.split(":")))

    def report(name, lines):
        print(f"\n## {name}\n" + "\n".join(lines), flush=True)
        if not arguments.no_docs:
            write_section(name, lines)

    def draw(name, svg):
        if not arguments.no_docs:
            (DOCS / name).write_text(svg)

    if "networks" in arguments.only:
        results = measure(bench, DATASETS, ["paper"], seeds, arguments.explainer_seeds)
        report("networks", table(results, GOALS))
        report("faithfulness", gap_table(results))
        paper = measure(bench, DATASETS, ["paper"], seeds, 1, options=("--preset", "paper"), method="pgexplainer")
        draw("reliability_networks.svg", reliability_pictures.auc_of_networks(
            by_data(results, auc_of), by_data(paper, lambda r: r["auc"]["held_out"]), {DATASETS[name]: goal[1] for name, goal in GOALS.items()}))
        draw("reliability_gap.svg", reliability_pictures.gap_against_rivals(by_data(results, best_and_own_gap)))
    if "plain" in arguments.only:
        results = measure(bench, DATASETS, ["paper"], seeds, 1, options=ALONE)
        report("plain", table(results, GOALS) + [""] + gap_table(results))
    if "pooling" in arguments.only:
        results = measure(bench, ["ba_2motifs"], ["paper"], seeds, arguments.explainer_seeds, "max,add")
        report("pooling", table(results, {}))
    if "architectures" in arguments.only:
        report("architectures", architectures(bench, list(seeds)[-5:]))
    if "dropout-edge" in arguments.only:
        report("dropout-edge", dropping(bench, seeds))
    if "trust" in arguments.only:
        lines, rows = trust(bench, list(seeds)[-5:])
        report("trust", lines)
        draw("reliability.svg", reliability_pictures.score_against_auc(
            [(DATASETS[name], auc, score) for name, _, auc, score, _ in rows]))


if __name__ == "__main__":
    main()
