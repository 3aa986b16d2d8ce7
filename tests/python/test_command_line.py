"""The package and the tool give the same bits, and read each other's files."""

import json
import subprocess

import numpy as np
import pytest

import pgexplainer as pgx


@pytest.fixture(scope="module")
def files(tmp_path_factory, data, model):
    folder = tmp_path_factory.mktemp("files")
    data.save(folder / "data.npz")
    model.save(folder / "model.safetensors")
    return folder


def run(tool, folder, *words):
    subprocess.run([tool, *words], cwd=folder, check=True, capture_output=True, timeout=120)


def scores_of(path):
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    return {line["instance"]: np.array([edge[2] for edge in line["edges"]], np.float32)
            for line in lines}


def assert_same(explanations, scores):
    assert len(explanations) == len(scores)
    for each in explanations:
        np.testing.assert_array_equal(each.score, scores[each.instance])


def test_fitting_and_explaining_give_the_same_bits(tool, files, data, model):
    run(tool, files, "fit", "--data", "data.npz", "--model", "model.safetensors", "--epochs", "5",
        "--seed", "7", "-o", "e.safetensors")
    run(tool, files, "explain", "--data", "data.npz", "--model", "model.safetensors",
        "--explainer", "e.safetensors", "-o", "scores.jsonl")
    explainer = pgx.PGExplainer(epochs=5, seed=7).fit(model, data)
    assert_same(explainer.explain(data), scores_of(files / "scores.jsonl"))
    assert_same(pgx.PGExplainer.load(files / "e.safetensors").explain(data, model=model),
                scores_of(files / "scores.jsonl"))
    explainer.save(files / "python.safetensors")
    run(tool, files, "explain", "--data", "data.npz", "--model", "model.safetensors",
        "--explainer", "python.safetensors", "-o", "again.jsonl")
    assert_same(explainer.explain(data), scores_of(files / "again.jsonl"))


@pytest.mark.parametrize("method", ["gnnexplainer", "grad", "random"])
def test_other_methods_give_the_same_bits(tool, files, data, model, method):
    run(tool, files, "explain", "--data", "data.npz", "--model", "model.safetensors",
        "--method", method, "--seed", "5", "--instances", "60,75", "-o", f"{method}.jsonl")
    found = pgx.make_explainer(method, seed=5).explain(data, [60, 75], model=model)
    assert_same(found, scores_of(files / f"{method}.jsonl"))


def test_training_gives_the_same_bits(tool, files, data):
    run(tool, files, "train", "--data", "data.npz", "--epochs", "20", "--arch", "gcn",
        "--hidden", "8,8", "--seed", "2", "-o", "trained.safetensors")
    here = pgx.train(data, "gcn", epochs=20, hidden=[8, 8], seed=2)
    there = pgx.Model.load(files / "trained.safetensors")
    for name, values in here.state_dict().items():
        np.testing.assert_array_equal(values, there.state_dict()[name], err_msg=name)


def test_generating_gives_the_same_data(tool, files):
    run(tool, files, "generate", "tree-grid", "--tree-levels", "4", "--num-motifs", "3",
        "--seed", "9", "-o", "tree-grid.npz")
    here = pgx.generate("tree-grid", seed=9, tree_levels=4, num_motifs=3)
    there = pgx.Dataset.load(files / "tree-grid.npz")
    np.testing.assert_array_equal(here.edge_index, there.edge_index)


def test_pictures_are_the_same(tool, files, data, model):
    run(tool, files, "explain", "--data", "data.npz", "--model", "model.safetensors",
        "--method", "grad", "--instances", "75", "-o", "tool.svg")
    pgx.GradientSaliency().explain(data, 75, model=model).plot(files / "here.svg")
    assert (files / "here.svg").read_text() == (files / "tool.svg").read_text()


def test_links_give_the_same_bits(tool, files, data, model):
    run(tool, files, "explain", "--data", "data.npz", "--model", "model.safetensors",
        "--method", "grad", "--instances", "60-61", "-o", "link.csv")
    explanation = pgx.GradientSaliency().explain(data, (60, 61), model=model)
    rows = (files / "link.csv").read_text().splitlines()
    assert len(rows) - 1 == len(explanation.edges)
