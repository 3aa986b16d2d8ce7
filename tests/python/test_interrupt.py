"""Ctrl-C stops the work, raises KeyboardInterrupt, and leaves the objects usable."""

import signal
import subprocess
import sys
import time

import pytest

PROGRAM = """
import time
import pgexplainer as pgx
data = pgx.generate("ba-shapes", base_nodes=60, num_motifs=12)
model = pgx.train(data, epochs=10)
explainer = pgx.{explainer}
print("ready", flush=True)
try:
    {work}
    print("finished", flush=True)
except KeyboardInterrupt:
    print("interrupted", flush=True)
explainer = pgx.PGExplainer(epochs=1, restarts=0, verdict=False).fit(model, data)
print(explainer.explain(data, 75).instance, flush=True)
"""

WORK = {
    "fit": ("PGExplainer(epochs=1000000)", "explainer.fit(model, data)"),
    "explain": ("GNNExplainer(epochs=2000)", "explainer.explain(data, 'all', model=model)"),
    "a model in Python": (
        "GNNExplainer(epochs=1000000)",
        "explainer.explain(data, 75, model=pgx.CallableModel(lambda x, edges, mask, batch: "
        "x.new_zeros(len(x), 2).index_add(0, edges[1], mask[:, None] * x[edges[0], :2])))",
    ),
    "train": ("RandomScores()", "pgx.train(data, epochs=1000000000)"),
}


@pytest.mark.parametrize("work", WORK)
def test_ctrl_c_stops_the_work(work):
    if "Python" in work:
        pytest.importorskip("torch")
    explainer, call = WORK[work]
    program = [sys.executable, "-c", PROGRAM.format(explainer=explainer, work=call)]
    with subprocess.Popen(program, stdout=subprocess.PIPE, text=True) as job:
        assert job.stdout.readline() == "ready\n"
        time.sleep(2 if "Python" in work else 0.5)  # torch takes its time to load
        job.send_signal(signal.SIGINT)
        sent = time.monotonic()
        assert job.stdout.readline() == "interrupted\n"
        assert time.monotonic() - sent < 20  # a busy machine; 0.1 s on an idle one
        assert job.stdout.readline() == "75\n"
        assert job.wait(60) == 0
