"""Policies exported to ONNX, run by implementations that are not ours, against `pess act` on the same observations.
Usage: check_onnx.py PESS [onnxruntime]. OpenCV (Debian's python3-opencv) runs what is one network; with onnxruntime,
tests/tools/run_onnx.mjs (make onnxruntime) runs the same ones, and the rules over several networks too, in one process at
the end."""
import collections
import csv
import json
import os
import subprocess
import sys

import numpy as np

pess, several_networks = sys.argv[1], sys.argv[2:] == ["onnxruntime"]
rng = np.random.default_rng(5)
ROWS = 24


def call(*arguments):
    done = subprocess.run([pess, *arguments], capture_output=True, text=True)
    assert done.returncode == 0, f"{arguments}: {done.stderr}"
    return done.stdout


def dense(*widths):
    return [(b, a) for a, b in zip(widths, widths[1:])]


def arrays(shapes, **more):
    layers = {}
    for i, shape in enumerate(shapes):
        layers[f"{i}.weight"] = (rng.normal(size=shape) / np.sqrt(np.prod(shape[1:]))).astype("f4")
        layers[f"{i}.bias"] = (0.1 * rng.normal(size=shape[0])).astype("f4")
    return {**layers, **more}


def floats(width):
    return rng.normal(size=(ROWS, width)).astype("f4")


def opencv(path, observations):
    import cv2
    import onnx
    model = onnx.load(path)
    onnx.checker.check_model(model, full_check=True)  # a second opinion on the file itself
    names = [output.name for output in model.graph.output]
    net = cv2.dnn.readNetFromONNX(path)
    rows = []
    for row in observations:
        net.setInput(row[None].astype("f4"), "observation")
        rows.append([part.ravel() for part in net.forward(names)])
    return {name: np.array([row[i] for row in rows]) for i, name in enumerate(names)}


def onnxruntime(cases):
    """The outputs of every case, in order."""
    tasks = []
    for i, case in enumerate(cases):
        case.observations.astype("f4").tofile(f"rows-{i}.f4")
        tasks.append({"model": case.model, "rows": len(case.observations), "observations": f"rows-{i}.f4"})
    script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "run_onnx.mjs")
    done = subprocess.run(["node", script], input=json.dumps(tasks), capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return [{name: np.array(values).reshape(ROWS, -1) for name, values in found.items()} for found in json.loads(done.stdout)]


Case = collections.namedtuple("Case", "name model observations wanted probabilities")
CASES = []


def export(name, policy, observations, pictures=None):
    """The model, the rows, and what pess says to them. pictures: how the observations lie in a file of arrays, where
    that is another order than the model's."""
    model = f"policy-{len(CASES)}.onnx"
    call("net", "export", policy, "-o", model)
    np.savez("rows.npz", observations=observations if pictures is None else pictures)
    rows = list(csv.DictReader(call("act", "rows.npz", "--policy", policy, "--probabilities").splitlines()))
    probabilities = np.array([[float(row[str(a)]) for a in range(len(row) - 6)] for row in rows])
    wanted = np.array([int(row["action"]) for row in rows])
    assert len(rows) == ROWS and len(set(wanted)) > 1, f"{name}: one action everywhere compares nothing"
    CASES.append(Case(name, model, observations.reshape(ROWS, -1), wanted, probabilities))


def compare(runner, case, found):
    name, action = f"{case.name} ({runner})", found["action"].ravel()
    if "probabilities" in found:
        assert np.abs(found["probabilities"] - case.probabilities).max() < 1e-4, f"{name}: probabilities"
        clear = np.sort(case.probabilities)[:, -1] - np.sort(case.probabilities)[:, -2] > 1e-3
    else:
        values = np.sort(found["values"])
        clear = values[:, -1] - values[:, -2] > 1e-4
        assert (found["values"].argmax(1) == action).all(), f"{name}: values and action"
    assert clear.sum() > ROWS // 2 and (action[clear] == case.wanted[clear]).all(), f"{name}: actions"
    print(f"{runner}, {case.name}: {ROWS} rows agree")


def networks():
    np.savez("w.npz", **arrays(dense(17, 256, 256, 4), shift=floats(17)[0], scale=(0.5 + rng.random(17)).astype("f4")))
    call("net", "import", "w.npz", "-o", "mlp.pesspolicy")
    export("mlp, floats, argmax", "mlp.pesspolicy", floats(17))
    call("net", "import", "w.npz", "--acts", "softmax", "-o", "mlp.pesspolicy")
    export("mlp, floats, softmax", "mlp.pesspolicy", floats(17))
    np.savez("w.npz", **arrays([(32, 4, 4, 4), (64, 32, 2, 2), (64, 64, 2, 2)] + dense(64, 128, 128, 6)))
    call("net", "import", "w.npz", "--network", "conv", "--board", "10x10x4", "--input", "bits", "--acts", "softmax", "-o", "c.pesspolicy")
    export("conv, bits, softmax", "c.pesspolicy", rng.random((ROWS, 400)) < 0.3)
    np.savez("w.npz", **arrays(dense(12 * 9 * 3, 20, 5)))
    call("net", "import", "w.npz", "--network", "dense 20 leaky", "--board", "12x9x3", "--input", "bytes", "-o", "d.pesspolicy")
    pictures = rng.integers(0, 256, size=(ROWS, 3, 12, 9), dtype=np.uint8)
    export("dense on a board, bytes", "d.pesspolicy", pictures.transpose(0, 2, 3, 1), pictures)
    np.savez("w.npz", **arrays([(32, 4, 8, 8), (64, 32, 4, 4), (64, 64, 3, 3)] + dense(3136, 512, 6)))
    call("net", "import", "w.npz", "--network", "nature", "--board", "84x84x4", "--input", "bytes", "--acts", "softmax", "-o", "n.pesspolicy")
    pictures = rng.integers(0, 256, size=(ROWS, 4, 84, 84), dtype=np.uint8)
    export("nature, bytes, softmax", "n.pesspolicy", pictures.transpose(0, 2, 3, 1), pictures)


def rules():
    count = 600
    ends = np.arange(count) % 20 == 19
    observations = rng.normal(size=(count, 6)).astype("f4")
    actions = (observations[:, :3].argmax(1) + (rng.random(count) < 0.2)) % 3
    rewards = observations[np.arange(count), actions]
    np.savez("data.npz", observations=observations, actions=actions, rewards=rewards, terminals=ends)
    few = ["--protocol", "smoke", "--network", "dense 32"]
    for rule in ("naive", "imitation", "proximal", "bcq", "brac", "rem", "ua-imitation", "ua-propensity",
                 "ua-support-net", "ua-ensemble", "sac-n", "edac", "awr", "iql", "crr"):
        call("train", "data.npz", "-a", rule, *few, "--out", rule)
        export(rule, f"{rule}/policy.pesspolicy", floats(6))
        if rule in ("ua-propensity", "ua-support-net"):
            export(f"{rule}, in its data", f"{rule}/policy.pesspolicy", observations[:ROWS])


networks()
for case in CASES:
    compare("opencv", case, opencv(case.model, case.observations))
if several_networks:
    rules()
    for case, found in zip(CASES, onnxruntime(CASES), strict=True):
        compare("onnxruntime", case, found)
