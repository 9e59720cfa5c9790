"""Polygraphy's program for tests that call it often: `polygraphy(*words)` runs it in a fork of a process that has imported
what it imports, which saves half a second each time."""

import atexit
import functools
import json
import os
import pathlib
import subprocess
import sys
import tempfile


def run_program(words: list[str], folder: str, streams: list[str]) -> None:
    """In the fork: becomes the program, with its streams in files."""
    for number, stream in enumerate(streams, start=1):
        os.dup2(os.open(stream, os.O_WRONLY), number)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.chdir(folder)
    sys.argv = ["polygraphy", *words]
    from polygraphy.tools import main
    sys.exit(main())


def serve() -> None:
    import numpy  # noqa: F401
    import onnx  # noqa: F401
    import onnx_graphsurgeon  # noqa: F401
    import polygraphy.tools  # noqa: F401
    while request := sys.stdin.readline():
        child = os.fork()
        if child == 0:
            return run_program(*json.loads(request))
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)


@functools.cache
def server() -> subprocess.Popen:
    process = subprocess.Popen([sys.executable, __file__], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    atexit.register(process.communicate)
    return process


def polygraphy(*words, cwd: str | pathlib.Path = ".") -> subprocess.CompletedProcess[str]:
    with tempfile.TemporaryDirectory() as folder:
        streams = [pathlib.Path(folder) / name for name in ("stdout", "stderr")]
        for stream in streams:
            stream.touch()
        process = server()
        process.stdin.write(json.dumps([[*map(str, words)], os.path.abspath(cwd), [*map(str, streams)]]) + "\n")
        process.stdin.flush()
        status = int(process.stdout.readline())
        return subprocess.CompletedProcess(["polygraphy", *words], status, *(stream.read_text() for stream in streams))


def run_polygraphy(*words) -> str:
    """What it prints; fails unless it ends with 0."""
    done = polygraphy(*words)
    if done.returncode != 0:
        raise AssertionError(f"{done.args}: {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


if __name__ == "__main__":
    serve()
