"""Stands in for the program: serves the page and made-up data, or writes them as one file."""

import base64
import gzip
import hashlib
import http.server
import json
import pathlib
import subprocess
import sys
import threading

import models

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = ROOT / "src" / "report" / "view"
TOKEN = "0123456789abcdef0123456789abcdef"
SHARED = "default-src 'none'; img-src {self}data: blob:; base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'"
POLICY = SHARED.format(self="'self' ") + "; connect-src 'self'; frame-ancestors 'none'"


def bundled(folder):
    script = pathlib.Path(folder) / "page.js"
    done = subprocess.run([sys.executable, ROOT / "tools" / "bundle_page.py", PAGE / "page", script], text=True, capture_output=True)
    if done.returncode:
        raise SystemExit(done.stderr)
    return script.read_text()


def digest(text):
    return "'sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() + "'"


def served(script):
    """The page as the program serves it, and the words of its policy."""
    early, style = (PAGE / "early.js").read_text(), (PAGE / "page.css").read_text()
    shell = (PAGE / "shell.html").read_text().replace("@STYLE@", f"<script>{early}</script><style>{style}</style>")
    page = shell.replace("@DATA@", "").replace("@SCRIPT@", f"<script>{script}</script>")
    return page, f"; script-src {digest(early)} {digest(script)}; style-src {digest(style)}"


class Subject:
    """What a page shows."""

    def __init__(self, model, scenes=None, overlays=(), tasks=True):
        self.model = model
        self.scenes = scenes or [model.scene()]
        self.overlays = list(overlays)  # (title, what, container)
        self.tasks = tasks

    def describe(self):
        return {"scenes": ["main", "other"][:len(self.scenes)], "revision": 1, "tasks": self.tasks, "command": f"assay view {self.model.name[:60]}.onnx",
                "overlays": [{"id": i, "title": title, "what": what} for i, (title, what, _) in enumerate(self.overlays)]}

    def nodes(self):
        return {item.id: self.model.facts_of(item) for item in self.model.items() if item.op}

    def exported(self, script):
        """One file, as the program writes it."""
        style = (PAGE / "page.css").read_text()
        policy = SHARED.format(self="") + f"; script-src {digest(script)}; style-src {digest(style)}"
        def packed(name, data):
            return f'<script type="application/x-assay" id="{name}">{base64.b64encode(gzip.compress(data, mtime=0)).decode()}</script>\n'
        data = "".join(packed(f"scene/{i}", scene) for i, scene in enumerate(self.scenes))
        data += "".join(packed(f"overlay/{i}", overlay) for i, (_, _, overlay) in enumerate(self.overlays))
        data += packed("subject", json.dumps({**self.describe(), "tasks": False}).encode()) + packed("nodes/0", json.dumps(self.nodes()).encode())
        data += packed("statistics/0", json.dumps({1: models.statistics()}).encode())
        shell = (PAGE / "shell.html").read_text()
        shell = shell.replace("@STYLE@", f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n<style>{style}</style>')
        return shell.replace("@DATA@", data).replace("@SCRIPT@", f"<script>{script}</script>")


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def reply(self, body, kind="application/json", status=200, sources=""):
        self.send_response(status)
        for name, value in (("Content-Type", kind), ("Content-Length", str(len(body))), ("Content-Security-Policy", POLICY + sources), ("X-Content-Type-Options", "nosniff"),
                            ("Referrer-Policy", "no-referrer"), ("Cache-Control", "no-store"), ("Cross-Origin-Resource-Policy", "same-origin")):
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        path, _, query = self.path.partition("?")
        if path == "/":
            page, sources = served(self.server.script)
            self.reply(page.encode(), "text/html; charset=utf-8", sources=sources)
        elif self.headers.get("X-Assay-Token") != TOKEN:
            self.reply(b"no token", "text/plain", 403)
        else:
            self.api(path.split("/")[2:], query)

    def api(self, words, query):
        subject = self.server.subject
        match words:
            case ["subject"]:
                self.reply(json.dumps(subject.describe()).encode())
            case ["scene", number]:
                self.reply(subject.scenes[int(number)], "application/octet-stream")
            case ["overlay", number]:
                self.reply(subject.overlays[int(number)][2], "application/octet-stream")
            case ["node", _, item]:
                self.reply(json.dumps(subject.nodes().get(int(item), {})).encode())
            case ["value", _, _, "statistics"]:
                self.reply(json.dumps(models.statistics()).encode())
            case ["value", _, _, "slice"]:
                self.reply(models.slice_container(), "application/octet-stream")
            case ["values", "compare", *_]:
                self.reply(json.dumps(models.comparison()).encode())
            case ["search"]:
                name, _, wanted = query.split("&")[0].removeprefix("attr=").replace("%3D", "=").partition("=")
                found = [item.id for item in subject.model.items() if name in item.attributes and (not wanted or str(item.attributes[name]) == wanted)]
                self.reply(json.dumps({"items": found}).encode())
            case ["events"]:
                self.events()
            case _:
                self.reply(b"nothing there", "text/plain", 404)

    def events(self):
        """Lines that tests put into the server's queue, until it closes."""
        self.send_response(200)
        self.send_header("Content-Type", "application/x-ndjson")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        with self.server.said:
            sent = len(self.server.events)
            while not self.server.closing:
                while sent < len(self.server.events):
                    line = json.dumps(self.server.events[sent]).encode() + b"\n"
                    self.wfile.write(b"%x\r\n%s\r\n" % (len(line), line))
                    sent += 1
                self.server.said.wait(0.5)
            self.wfile.write(b"0\r\n\r\n")
        self.close_connection = True

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.server.posted.append((self.path, body.decode()))
        if self.headers.get("X-Assay-Token") != TOKEN:
            self.reply(b"no token", "text/plain", 403)
        elif self.path == "/api/export":
            self.reply(self.server.subject.exported(self.server.script).encode(), "text/html")
        else:
            self.reply(json.dumps({"id": 1}).encode())


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, script):
        super().__init__(("127.0.0.1", 0), Handler)
        self.script = script
        self.subject = None
        self.events = []
        self.posted = []
        self.said = threading.Condition()
        self.closing = False
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def handle_error(self, *_):
        """Pages that were left close their connections."""

    def say(self, event):
        with self.said:
            self.events.append(event)
            self.said.notify_all()

    def address(self, state=""):
        return f"http://127.0.0.1:{self.server_port}/#token={TOKEN}{'&' + state if state else ''}"
