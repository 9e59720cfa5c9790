"""The sides that are compared: ONNX Runtime in this process, ours as programs that serve many models."""

import os
import pathlib
import select
import subprocess

import onnxruntime
from conformance_rivals import call_ort

SECONDS_PER_MODEL = 20


class Died(Exception):
    """A program of ours ended or hung."""


class Tool:
    """A program that answers each line of its standard input with one line; started again after it died."""

    def __init__(self, path):
        self.path = path
        self.process = None

    def ask(self, line):
        if self.process is None:
            self.process = subprocess.Popen([str(self.path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.process.stdin.write(line.encode() + b"\n")
        self.process.stdin.flush()
        answer = b""
        while not answer.endswith(b"\n"):
            ready, _, _ = select.select([self.process.stdout], [], [], SECONDS_PER_MODEL)
            piece = os.read(self.process.stdout.fileno(), 1 << 20) if ready else None
            if not piece:
                raise Died(self.end(piece is None))
            answer += piece
        return answer.decode().rstrip("\n")

    def end(self, hung):
        if hung:
            self.process.kill()
        status = self.process.wait()
        self.process = None
        name = pathlib.Path(self.path).name
        return f"{name} takes more than {SECONDS_PER_MODEL} s" if hung else f"{name} ends with status {status}"


def session_of(model):
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    return onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])


def run_ort(model, feeds):
    """(outputs, "") or (None, why it refuses)."""
    try:
        return call_ort(session_of(model), feeds), ""
    except Exception as error:  # it throws many kinds
        return None, " ".join(str(error).split()) or type(error).__name__
