"""Drives Debian's Chromium through the DevTools protocol, and hears whatever goes wrong in the page."""

import base64
import contextlib
import json
import os
import pathlib
import shutil
import socket
import struct
import subprocess
import tempfile
import time

FLAGS = ["--headless", "--no-sandbox", "--remote-debugging-port=0", "--force-device-scale-factor=1", "--font-render-hinting=none", "--hide-scrollbars",
         "--disable-background-networking", "--disable-component-update", "--disable-sync", "--no-first-run", "--disable-gpu", "--disable-dev-shm-usage"]
FONTS = """<?xml version="1.0"?><!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig><dir>/usr/share/fonts/truetype/dejavu</dir><cachedir>{folder}/fonts</cachedir>
<alias binding="same"><family>system-ui</family><prefer><family>DejaVu Sans</family></prefer></alias>
<alias binding="same"><family>sans-serif</family><prefer><family>DejaVu Sans</family></prefer></alias>
<match target="pattern"><edit name="family" mode="append" binding="weak"><string>DejaVu Sans</string></edit></match>
<alias binding="same"><family>sans</family><prefer><family>DejaVu Sans</family></prefer></alias>
<alias binding="same"><family>monospace</family><prefer><family>DejaVu Sans Mono</family></prefer></alias></fontconfig>"""
KEYS = {"Enter": 13, "Escape": 27, "Backspace": 8, "Tab": 9, "ArrowUp": 38, "ArrowDown": 40, "ArrowLeft": 37, "ArrowRight": 39}


def program():
    return shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


class Socket:
    """A WebSocket of texts."""

    def __init__(self, port, path):
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=60)
        key = base64.b64encode(os.urandom(16)).decode()
        self.socket.sendall(f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Key: {key}\r\n"
                            "Sec-WebSocket-Version: 13\r\n\r\n".encode())
        self.file = self.socket.makefile("rb")
        while self.file.readline() not in (b"\r\n", b""):
            pass

    def send(self, text):
        data = text.encode()
        mask = os.urandom(4)
        size = struct.pack(">B", 128 | len(data)) if len(data) < 126 else struct.pack(">BH", 254, len(data)) if len(data) < 65536 else struct.pack(">BQ", 255, len(data))
        spread = mask * (len(data) // 4 + 1)
        masked = (int.from_bytes(data, "big") ^ int.from_bytes(spread[:len(data)], "big")).to_bytes(len(data), "big")
        self.socket.sendall(b"\x81" + size + mask + masked)

    def receive(self):
        text = b""
        while True:
            first, size = self.file.read(2)
            size &= 127
            if size > 125:
                size = int.from_bytes(self.file.read(2 if size == 126 else 8), "big")
            text += self.file.read(size)
            if first & 128:
                return text.decode()


class Page:
    """One page of a browser; `faults` has whatever went wrong in it."""

    def __init__(self, port, path):
        self.socket = Socket(port, path)
        self.number = 0
        self.faults = []
        self.origin = None
        for domain in ("Page", "Runtime", "Log", "Network", "DOM", "Accessibility"):
            self.call(domain + ".enable")

    def call(self, method, **parameters):
        self.number += 1
        wanted = self.number
        self.socket.send(json.dumps({"id": wanted, "method": method, "params": parameters}))
        while True:
            message = json.loads(self.socket.receive())
            if message.get("id") == wanted:
                if "error" in message:
                    raise RuntimeError(f"{method}: {message['error']}")
                return message["result"]
            self.heard(message)

    def heard(self, message):
        method, about = message.get("method"), message.get("params", {})
        if method == "Runtime.exceptionThrown":
            details = about["exceptionDetails"]
            self.faults.append("exception: " + details.get("exception", {}).get("description", details["text"]))
        elif method == "Runtime.consoleAPICalled" and about["type"] in ("error", "warning", "assert"):
            self.faults.append("console: " + " ".join(str(a.get("value", a.get("description"))) for a in about["args"]))
        elif method == "Log.entryAdded" and about["entry"]["level"] in ("error", "warning"):
            self.faults.append(f"log: {about['entry']['text']} {about['entry'].get('url', '')}")
        elif method == "Network.requestWillBeSent":
            address = about["request"]["url"]
            if not address.startswith((self.origin or "about:", "data:", "blob:")):
                self.faults.append("request elsewhere: " + address)

    def evaluate(self, script):
        """The value of an expression, awaited."""
        result = self.call("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True, userGesture=True)
        if "exceptionDetails" in result:
            details = result["exceptionDetails"]
            raise RuntimeError(details.get("exception", {}).get("description", details["text"]))
        return result["result"].get("value")

    def open(self, address):
        self.origin = address.split("#")[0].rstrip("/") if address.startswith("file:") else "/".join(address.split("/")[:3])
        self.call("Page.navigate", url="about:blank")
        self.call("Page.navigate", url=address)
        self.wait("typeof assay === 'object' && document.readyState === 'complete'")
        self.evaluate("assay.ready.then(() => 1)")
        self.settle()

    def wait(self, condition, seconds=30):
        end = time.monotonic() + seconds
        while not self.evaluate(condition):
            if time.monotonic() > end:
                raise RuntimeError(f"waited in vain for {condition}")
            time.sleep(0.02)

    def settle(self):
        """Waits until a frame was drawn and no reply is open."""
        self.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done, 30))))")

    def size(self, width, height):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)

    def media(self, **features):
        names = {"dark": ("prefers-color-scheme", "dark" if features.get("dark") else "light"), "calm": ("prefers-reduced-motion", "reduce" if features.get("calm", True) else "no-preference")}
        self.call("Emulation.setEmulatedMedia", features=[{"name": name, "value": value} for name, value in names.values()])

    def key(self, key, shift=False):
        text = key if len(key) == 1 else {"Enter": "\r"}.get(key, "")
        code = KEYS.get(key, ord(key.upper()) if len(key) == 1 and key.isalnum() else 0)
        shared = {"key": key, "windowsVirtualKeyCode": code, "modifiers": 8 if shift else 0}
        self.call("Input.dispatchKeyEvent", type="keyDown" if text else "rawKeyDown", text=text, **shared)
        self.call("Input.dispatchKeyEvent", type="keyUp", **shared)

    def type(self, text):
        for letter in text:
            self.key(letter)

    def mouse(self, kind, x, y, **more):
        self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, **more)

    def click(self, x, y, count=1):
        self.mouse("mouseMoved", x, y)
        for number in range(1, count + 1):
            self.mouse("mousePressed", x, y, button="left", clickCount=number)
            self.mouse("mouseReleased", x, y, button="left", clickCount=number)

    def screenshot(self, path=None):
        """The picture of the page as a PNG, saved if there is a path."""
        data = base64.b64decode(self.call("Page.captureScreenshot", format="png")["data"])
        if path:
            pathlib.Path(path).write_bytes(data)
        return data

    def seen(self, *selectors):
        """What a picture of the page shows where the first element of each selector is: its most frequent colour, the share of
        it, how many colours there are, and the greatest contrast to it; and the size of the whole."""
        places = [self.evaluate(f"(() => {{ const r = document.querySelector({json.dumps(selector)}).getBoundingClientRect();"
                                "return [r.left, r.top, r.width, r.height].map(Math.round); })()") for selector in selectors]
        picture = base64.b64encode(self.screenshot()).decode()
        return self.evaluate(f"({(pathlib.Path(__file__).parent / 'pixels.js').read_text()})({json.dumps(picture)}, {json.dumps(places)})")


@contextlib.contextmanager
def browser(*more):
    """A page of a new browser, which ends with the block."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        fonts = pathlib.Path(folder, "fonts.conf")
        fonts.write_text(FONTS.format(folder=folder))
        process = subprocess.Popen([program(), *FLAGS, *more, f"--user-data-dir={folder}", "about:blank"], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL, env={**os.environ, "HOME": folder, "FONTCONFIG_FILE": str(fonts)})
        try:
            yield Page(*page_address(pathlib.Path(folder)))
        finally:
            process.terminate()
            process.wait(20)


def page_address(folder, seconds=60):
    """Port and path of the first page, once the browser listens."""
    import urllib.request

    end = time.monotonic() + seconds
    while time.monotonic() < end:
        with contextlib.suppress(OSError, ValueError, IndexError, StopIteration):
            port = int((folder / "DevToolsActivePort").read_text().split()[0])
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/json/list", timeout=10) as reply:
                page = next(entry for entry in json.load(reply) if entry["type"] == "page")
            return port, "/" + page["webSocketDebuggerUrl"].split("/", 3)[3]
        time.sleep(0.03)
    raise RuntimeError("Chromium did not start")
