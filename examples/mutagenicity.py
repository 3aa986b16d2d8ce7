#!/usr/bin/env python3
"""Mutagenicity from download to picture: which atoms and bonds make a molecule mutagenic?

    python3 examples/mutagenicity.py [--data FOLDER] [-o FOLDER] [--molecules N]

Downloads the 4,337 molecules with the tool `pgexplainer` unless --data has them, trains a network,
fits an explainer, and draws the molecules it is surest about.
"""

import argparse
import shutil
import subprocess
import sys
from pathlib import Path

import pgexplainer as pgx

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
parser.add_argument("--data", type=Path, default=Path("mutagenicity"), help="the dataset's folder")
parser.add_argument("-o", "--output", type=Path, default=Path("molecules"), help="for the pictures")
parser.add_argument("--molecules", type=int, default=6, help="how many pictures")
parser.add_argument("--epochs", type=int, default=30, help="of the network's training")
arguments = parser.parse_args()

if not arguments.data.is_dir():
    tool = shutil.which("pgexplainer") or "build/pgexplainer"
    try:
        subprocess.run([tool, "download", "mutagenicity", "-o", arguments.data], check=True)
    except (OSError, subprocess.CalledProcessError) as error:
        sys.exit(f"no data ({error}); give the folder of another download with --data")

data = pgx.Dataset.load(arguments.data)
print(data)

model = pgx.train(data, epochs=arguments.epochs, seed=0)
print(f"test accuracy {pgx.metrics.accuracy(model, data)['test']:.3f}")

# Molecules that are mutagenic and have an NO2 or NH2 group: what chemists expect to be the reason.
explainer = pgx.PGExplainer(seed=0).fit(model, data)
print(f"{explainer.report['instances']} molecules; {explainer.report['verdict']['words']}")

explanations = explainer.explain(data)
print(f"AUC of the bonds of NO2 and NH2 groups: {pgx.metrics.auc(explanations):.3f}")

arguments.output.mkdir(parents=True, exist_ok=True)
surest = sorted(explanations, key=lambda explanation: -explanation.topk(5).confidence)
for explanation in surest[: arguments.molecules]:
    chosen = explanation.topk(5)
    path = arguments.output / f"molecule{chosen.instance}.svg"
    chosen.plot(path)
    print(f"{path}: {chosen}")
