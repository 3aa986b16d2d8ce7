#!/usr/bin/env python3
"""Strong scaling on this machine: one fit with 1 and 2 ranks of one thread, and with 1 and 2 threads.

    benchmarks/ranks.py [--tool build/pgexplainer] [--epochs 10] [--repetitions 5]

Runs are interleaved; what counts are the ratios. All runs must write the same bytes.
"""
import argparse
import json
import os
import statistics
import subprocess
import tempfile

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("--tool", default="build/pgexplainer")
parser.add_argument("--epochs", type=int, default=10)
parser.add_argument("--repetitions", type=int, default=5)
arguments = parser.parse_args()
os.environ.update(OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")


def run(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


with tempfile.TemporaryDirectory() as folder:
    data, model, output = (f"{folder}/{name}" for name in ("data.npz", "model.safetensors", "explainer.safetensors"))
    run(arguments.tool, "generate", "ba-shapes", "-o", data)
    run(arguments.tool, "train", "--arch", "paper", "--epochs", "300", "--data", data, "-o", model)

    def fit(threads):
        return [arguments.tool, "fit", "--data", data, "--model", model, "--instances", "all", "--embedding",
                "classifier-input", "--restarts", "0", "--necessity", "1", "--no-verdict", "--epochs", str(arguments.epochs), "--threads", str(threads),
                "--json", "-o", output]

    mpirun = ["mpirun", "--bind-to", "none", "--oversubscribe", "-n"]
    commands = {"1 rank": mpirun + ["1"] + fit(1), "2 ranks": mpirun + ["2"] + fit(1),
                "1 thread": fit(1), "2 threads": fit(2)}
    seconds = {name: [] for name in commands}
    written = set()
    for _ in range(arguments.repetitions):
        for name, command in commands.items():
            seconds[name].append(json.loads(run(*command))["seconds"])
            with open(output, "rb") as file:
                written.add(file.read())
    assert len(written) == 1, "the explainers differ"
    for name, times in seconds.items():
        print(f"{name:10} {statistics.median(times):8.2f} s  ({min(times):.2f} to {max(times):.2f})")
    for one, two in (("1 rank", "2 ranks"), ("1 thread", "2 threads")):
        ratio = statistics.median(a / b for a, b in zip(seconds[one], seconds[two]))
        print(f"{two}: {ratio:.2f} times as fast as {one}")
