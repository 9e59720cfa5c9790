"""Workers of a sweep as actors of Ray, which a sweep starts as a process of its own.

Lines from the sweep over the socket 3: `send WORKER LINE`, `end WORKER`. Lines to it: `ready COUNT` or `failed REASON`
once, then `line WORKER TEXT` and `ended WORKER HOW`. Arguments: the address of a cluster, or nothing for one on this
machine; processors, cards and bytes of memory that an actor owns; the number of actors, 0 for as many as fit; the folder
in which the command was given; the words that start a worker, the number of its socket behind them.
"""

import os
import queue
import socket
import subprocess
import sys
import threading


class Worker:
    """An actor: owns a process of `assay`, which owns the sessions of a model. A process that died is started anew."""

    def __init__(self, words, folder, variables):
        self.words, self.folder, self.variables = words, folder, variables
        self.process = self.lines = None

    def start(self):
        self.socket, other = socket.socketpair()
        self.process = subprocess.Popen([*self.words, str(other.fileno())], cwd=self.folder, pass_fds=[other.fileno()],
                                        env={**os.environ, **self.variables}, stdin=subprocess.DEVNULL)
        other.close()
        self.lines = self.socket.makefile("r", encoding="utf-8")

    def run(self, line):
        """Lines that answer one; the last one is `done`, or tells how the process ended."""
        if self.process is None:
            self.start()
        try:
            self.socket.sendall(line.encode() + b"\n")
            for answer in self.lines:
                yield answer.rstrip("\n")
                if answer == "done\n":
                    return
        except OSError:
            pass
        status = self.process.wait()
        self.process = None
        yield f"ended was killed by signal {-status}" if status < 0 else f"ended ended with status {status}"


class Sweep:
    def __init__(self, ray, connection, make_actor):
        self.ray, self.connection, self.make_actor = ray, connection, make_actor
        self.lock = threading.Lock()
        self.workers = {}

    def tell(self, line):
        with self.lock:
            self.connection.sendall(line.encode() + b"\n")

    def serve(self, number, lines):
        """A worker from its first line to its end."""
        actor = None
        try:
            actor = self.workers[number][1] = self.make_actor()
            while True:
                for answer in actor.run.options(num_returns="streaming").remote(lines.get()):
                    text = self.ray.get(answer)
                    if text.startswith("ended "):
                        self.tell(f"ended {number} {text[6:]}")
                    else:
                        self.tell(f"line {number} {text}")
        except Exception as error:  # whatever Ray says of an actor that is gone
            if self.workers.get(number, (None,))[0] is lines:
                del self.workers[number]
                self.tell(f"ended {number} was lost: {one_line(error)}")

    def hear(self, line):
        kind, number, *rest = line.rstrip("\n").split(" ", 2)
        number = int(number)
        if kind == "end":
            _, actor = self.workers.pop(number, (None, None))
            if actor is not None:
                self.ray.kill(actor)
            return
        if number not in self.workers:
            lines = queue.SimpleQueue()
            self.workers[number] = [lines, None]
            threading.Thread(target=self.serve, args=(number, lines), daemon=True).start()
        self.workers[number][0].put(rest[0])


def one_line(error):
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return f"{type(error).__name__}: {' '.join(lines[:6])}"[:400]


def check_address(address):
    """Ray itself waits for minutes where nobody answers."""
    host, _, port = address.rpartition(":")
    if host and port.isdigit():
        socket.create_connection((host.rpartition("/")[2], int(port)), timeout=10).close()


def connect(ray, address):
    check_address(address)
    options = {"address": address} if address else {}
    ray.init(**options, log_to_driver=False, logging_level="ERROR", configure_logging=True, namespace="assay")


def main():
    if sys.path[:1] == [""]:
        del sys.path[0]  # the folder of the command is no place for modules
    address, cpus, gpus, memory, count, folder, *words = sys.argv[1:]
    connection = socket.socket(fileno=3)
    try:
        import ray
    except ModuleNotFoundError as error:
        name = error.name
        connection.sendall(f"failed the Python `{sys.executable}` has no package {name}; `pip install ray`\n".encode())
        return
    try:
        connect(ray, address)
    except BaseException as error:  # SystemExit too
        connection.sendall(f"failed Ray cannot be reached: {one_line(error)}\n".encode())
        return
    resources = {"num_cpus": int(cpus), "num_gpus": int(gpus), **({"memory": int(memory)} if int(memory) else {})}
    variables = {name: value for name, value in os.environ.items() if name.startswith("ASSAY_")}
    actor_class = ray.remote(**resources)(Worker)
    sweep = Sweep(ray, connection, lambda: actor_class.remote(words, folder, variables))
    fitting = int(ray.cluster_resources().get("CPU", 1) // max(1, int(cpus)))
    sweep.tell(f"ready {int(count) or max(1, fitting)}")
    for line in connection.makefile("r", encoding="utf-8"):
        sweep.hear(line)
    ray.shutdown()


if __name__ == "__main__":
    main()
