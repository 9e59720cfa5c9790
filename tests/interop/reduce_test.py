"""`debug reduce` beside the peer's: the same models and checks, the nodes that are left and the number of checks.

    reduce_test.py ASSAY
"""

import pathlib
import re
import subprocess
import sys
import tempfile

import onnx
import onnx.parser
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
    print("\n".join(faults))
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
