"""`debug reduce` beside the peer's: the same models and checks, the nodes that are left and the number of checks. Where
ONNX Runtime is compared with saved results, what is judged follows from what was saved.

    reduce_test.py ASSAY
"""

import pathlib
import re
import subprocess
import sys
import tempfile

import numpy as np
import onnx
import onnx.parser
import onnxruntime
from peer import polygraphy

PROGRAM = str(pathlib.Path(sys.argv[1]).resolve())
REDUCABLE = """<ir_version: 8, opset_import: ["" : 17]>
g (float[1] X0, float[1] Y0) => (float[1] identity_out_6, float[1] identity_out_8) {
  [node_1] identity_out_0 = Identity(X0)
  [node_3] identity_out_2 = Identity(Y0)
  [node_5] add_out_4 = Add(identity_out_0, identity_out_2)
  [node_7] identity_out_6 = Identity(add_out_4)
  [node_9] identity_out_8 = Identity(add_out_4)
}"""
CHECK = """file=$1; shift
for name in "$@"; do grep -aq "$name" "$file" || exit 0; done
exit 1
"""


def chain(count):
    nodes = " ".join(f"[link_{i:02}] v{i} = {'Neg' if i % 2 else 'Relu'}({f'v{i - 1}' if i else 'x'})" for i in range(count))
    return f'<ir_version: 8, opset_import: ["" : 17]> g (float[1] x) => (float[1] v{count - 1}) {{ {nodes} }}'


def assay(*words, cwd):
    return subprocess.run([PROGRAM, *words], cwd=cwd, capture_output=True, text=True, timeout=600)


def reduce(program, folder, model, culprits, *words):
    """The nodes that are left, and how many checks there were."""
    output = folder / "reduced.onnx"
    output.unlink(missing_ok=True)
    words = ["debug", "reduce", model, "-o", str(output), *words, "--check", "sh", "check.sh", "polygraphy_debug.onnx",
             *culprits]
    done = program(*words, cwd=folder)
    counts = re.findall(r"Finished (\d+) iteration", done.stdout)
    if done.returncode != 0 or not output.exists():
        raise SystemExit(f"{' '.join(words)}\n{done.stdout}{done.stderr}")
    reduced = onnx.load(output)
    onnx.checker.check_model(reduced, full_check=True)
    return {node.name for node in reduced.graph.node}, sum(map(int, counts)), reduced


def signs(culprit):
    """Eight nodes; the right model has Neg where the wrong one has Abs."""
    ops = ["Relu", "Neg", "Sigmoid", "Neg", "Exp", "Neg", "Sigmoid", "Neg"]
    if culprit is not None:
        ops[culprit] = "Abs"
    nodes = " ".join(f"[n{i}] v{i} = {op}({f'v{i - 1}' if i else 'x'})" for i, op in enumerate(ops))
    return f'<ir_version: 8, opset_import: ["" : 17]> g (float[4] x) => (float[4] v7) {{ {nodes} }}'


def save_results(folder, *outputs):
    """What ONNX Runtime computes of the right model."""
    marked = ["--onnx-outputs", *outputs] if outputs else []
    done = assay("run", "right.onnx", "--onnxrt", "--val-range", "[-1,1]", *marked, "--save-inputs", "in.json",
                 "--save-outputs", "golden.json", cwd=folder)
    assert done.returncode == 0, done.stderr


def reduce_to_saved(folder, *words):
    (folder / "r.onnx").unlink(missing_ok=True)
    return assay("debug", "reduce", "wrong.onnx", "-o", "r.onnx", "--onnxrt", "--load-inputs", "in.json",
                 "--load-outputs", "golden.json", *words, cwd=folder)


def contradictions(text):
    """Iterations that could not be checked, and have a verdict all the same."""
    unchecked = set(re.findall(r"Iteration (\d+) cannot be checked", text))
    return unchecked & set(re.findall(r"(?:PASSED|FAILED) \| Iteration (\d+)", text))


def check_saved(folder, faults):
    onnx.save(onnx.parser.parse_model(signs(None)), folder / "right.onnx")
    for culprit in (1, 3, 5):  # what is negated was positive before: each changes the outputs
        onnx.save(onnx.parser.parse_model(signs(culprit)), folder / "wrong.onnx")
        save_results(folder)
        done = reduce_to_saved(folder)
        line = ("only 1 of 8 values were saved: parts cannot be judged "
                "(`assay run --onnx-outputs mark all --save-outputs FILE` saves all)")
        if done.returncode != 3 or line not in done.stderr or (folder / "r.onnx").exists():
            faults.append(f"final outputs alone: exit {done.returncode}\n{done.stdout}{done.stderr}")
        save_results(folder, "mark", "all")
        done = reduce_to_saved(folder)
        names = {node.name for node in onnx.load(folder / "r.onnx").graph.node} if done.returncode == 0 else None
        if names != {f"n{culprit}"}:
            faults.append(f"all values: n{culprit} is the culprit, not {names}\n{done.stdout}{done.stderr}")
        if "`--tolerance auto` computes" not in done.stdout or not re.search(r"Pass Rate: \d+\.\d%", done.stdout):
            faults.append(f"no hint, or an odd rate\n{done.stdout}")
        first, last = culprit - 1, culprit + 1
        save_results(folder, f"v{first}", f"v{last}", "v7")
        done = reduce_to_saved(folder, "--tolerance", "auto")
        names = {node.name for node in onnx.load(folder / "r.onnx").graph.node} if done.returncode == 0 else None
        if names != {f"n{culprit}", f"n{last}"} or "only 3 of 8 values were saved" not in done.stderr:
            faults.append(f"some values: n{culprit} and n{last} are judged as one, not {names}\n{done.stdout}{done.stderr}")
        if "`--tolerance auto` computes" in done.stdout:
            faults.append("the hint says what was asked for")
    (folder / "golden.json").write_bytes((folder / "in.json").read_bytes())  # values of no output
    done = reduce_to_saved(folder)
    if done.returncode != 3 or contradictions(done.stdout + done.stderr):
        faults.append(f"iterations without a verdict have one\n{done.stdout}{done.stderr}")


def check_file(folder, faults):
    """A wrong type of a value between, which is not written again: ONNX Runtime refuses the file alone."""
    model = onnx.parser.parse_model(signs(None))
    model.graph.value_info.append(onnx.helper.make_tensor_value_info("v2", onnx.TensorProto.FLOAT16, [4]))
    onnx.save(model, folder / "file.onnx")
    done = assay("debug", "reduce", "file.onnx", "-o", "no.onnx", "--onnxrt", cwd=folder)
    line = "fails as it is but not when it is written anew: `surgeon sanitize` cures it"
    if done.returncode != 3 or line not in done.stderr or (folder / "no.onnx").exists():
        faults.append(f"a file that ONNX Runtime refuses: exit {done.returncode}\n{done.stdout}{done.stderr}")
    assay("surgeon", "sanitize", "file.onnx", "-o", "cured.onnx", cwd=folder)
    onnxruntime.InferenceSession(folder / "cured.onnx", providers=["CPUExecutionProvider"])


CAPTURES = """<ir_version: 8, opset_import: ["" : 17]>
g (float[2] x, bool c) => (float[2] y) {
  [top_a] a = Neg(x)
  [top_b] b = Exp(x)
  [top_s] s = Shape(x)
  [top_loop] l = Loop(n, t, a) <body = body (int64 i, bool k, float[2] v) => (bool k2, float[2] w) {
    [in_same] k2 = Identity(k)
    [in_if] d = If(c) <then_branch = deep () => (float[2] p) { [in_mul] p = Mul(v, b) },
                       else_branch = other () => (float[2] q) { [in_add] e = Expand(one, s) [in_sum] q = Add(e, b) }>
    [in_last] w = Add(d, a)
  }>
  [top_choice] z = If(c) <then_branch = yes () => (float[2] f) { [in_sub] f = Sub(l, b) },
                      else_branch = no () => (float[2] h) { [in_abs] h = Abs(a) }>
  [top_last] y = Tanh(z)
}"""


def check_captures(folder, faults):
    """What is left of a model with bodies is valid, and ONNX Runtime runs it, whichever nodes are needed."""
    model = onnx.parser.parse_model(CAPTURES)
    for name, array in (("n", np.array(3)), ("t", np.array(True)), ("one", np.float32(1).reshape(1))):
        model.graph.initializer.append(onnx.numpy_helper.from_array(array, name))
    onnx.save(model, folder / "captures.onnx")
    tops = [node.name for node in model.graph.node]
    for culprits in [[name] for name in tops] + [["top_loop", "top_last"], ["top_a", "top_choice"], ["top_b", "top_loop"], ["top_s", "top_loop"]]:
        nodes, _, reduced = reduce(assay, folder, "captures.onnx", culprits)
        if not all(name in str(reduced) for name in culprits):
            faults.append(f"captures: {culprits} are needed, {sorted(nodes)} are left")
        onnxruntime.InferenceSession(reduced.SerializeToString(), providers=["CPUExecutionProvider"])
        print(f"captures, {culprits}: {sorted(nodes)}")
    (folder / "right.onnx").write_bytes((folder / "captures.onnx").read_bytes())
    bad = onnx.ModelProto.FromString(model.SerializeToString())
    next(node for node in bad.graph.node if node.name == "top_b").op_type = "Cos"
    onnx.save(bad, folder / "wrong.onnx")
    save_results(folder, "mark", "all")
    done = reduce_to_saved(folder)
    names = {node.name for node in onnx.load(folder / "r.onnx").graph.node} if done.returncode == 0 else None
    if names != {"top_b"}:
        faults.append(f"captures, compared: {names}\n{done.stdout}{done.stderr}")


def main():
    faults = []
    with tempfile.TemporaryDirectory() as place:
        folder = pathlib.Path(place)
        (folder / "check.sh").write_text(CHECK)
        onnx.save(onnx.parser.parse_model(REDUCABLE), folder / "reducable.onnx")
        onnx.save(onnx.parser.parse_model(chain(40)), folder / "chain.onnx")
        single = [["node_1"], ["node_5"], ["node_7"]]
        for mode, cases in (("bisect", [*single, ["node_1", "node_3"], ["node_7", "node_9"]]), ("linear", [["node_5"]])):
            for culprits in cases:
                nodes, checks, _ = reduce(assay, folder, "reducable.onnx", culprits, "--mode", mode)
                peer, peer_checks, _ = reduce(polygraphy, folder, "reducable.onnx", culprits, "--mode", mode)
                if nodes != set(culprits) or not nodes <= peer:
                    faults.append(f"{mode} {culprits}: ours {sorted(nodes)}, the peer's {sorted(peer)}")
                if len(culprits) == 2 and checks > peer_checks:
                    faults.append(f"{mode} {culprits}: {checks} checks, the peer {peer_checks}")
                print(f"{mode} {culprits}: {len(nodes)} node(s) in {checks} checks; the peer: {len(peer)} in {peer_checks}")
        nodes, _, model = reduce(assay, folder, "reducable.onnx", ["node_7"], "--no-reduce-inputs", "--mode", "linear")
        peer, _, other = reduce(polygraphy, folder, "reducable.onnx", ["node_7"], "--no-reduce-inputs", "--mode", "linear")
        for part in ("input", "output"):
            seen = [[value.name for value in getattr(m.graph, part)] for m in (model, other)]
            if seen[0] != seen[1]:
                faults.append(f"--no-reduce-inputs: {part}s {seen[0]}, the peer's {seen[1]}")
        if nodes != peer:
            faults.append(f"--no-reduce-inputs: ours {sorted(nodes)}, the peer's {sorted(peer)}")
        nodes, _, model = reduce(assay, folder, "reducable.onnx", ["node_3"], "--no-reduce-outputs", "--mode", "linear")
        peer, _, other = reduce(polygraphy, folder, "reducable.onnx", ["node_3"], "--no-reduce-outputs", "--mode", "linear")
        if nodes != peer or [i.name for i in model.graph.input] != [i.name for i in other.graph.input]:
            faults.append(f"--no-reduce-outputs: ours {sorted(nodes)}, the peer's {sorted(peer)}")
        nodes, checks, _ = reduce(assay, folder, "chain.onnx", ["link_13"])
        peer, peer_checks, _ = reduce(polygraphy, folder, "chain.onnx", ["link_13"])
        print(f"chain of 40: ours {checks} checks, the peer {peer_checks}")
        if nodes != {"link_13"} or checks > peer_checks:
            faults.append(f"chain: {sorted(nodes)} in {checks} checks, the peer in {peer_checks}")
        check_saved(folder, faults)
        check_file(folder, faults)
        check_captures(folder, faults)
    print("\n".join(faults))
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
