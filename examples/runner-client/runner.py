#!/usr/bin/env python3
"""A runner service for POSIX sh in one file: POST /runs. It isolates processes and nothing else.

Prints the port it listens on. A client that goes away ends its run.
"""
import codecs
import hashlib
import json
import os
import select
import socket
import subprocess
import tempfile
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

LARGEST_BODY = 16 * 1024 * 1024


class Stream:
    """Keeps the first bytes of a pipe and drains the rest."""

    def __init__(self, pipe, cap):
        self.head, self.total, self.cap = b"", 0, cap
        self.thread = threading.Thread(target=self.drain, args=(pipe,), daemon=True)
        self.thread.start()

    def drain(self, pipe):
        while piece := os.read(pipe.fileno(), 65536):
            self.total += len(piece)
            self.head += piece[: self.cap - len(self.head)]

    def text(self):
        self.thread.join()
        cut = self.total > self.cap
        # A character that the cap split is dropped; other bytes that are no text are replaced.
        text = codecs.getincrementaldecoder("utf-8")("replace").decode(self.head, final=not cut)
        kept = text.encode()[: self.cap].decode("utf-8", "ignore")
        return kept, cut or kept != text


def feed(pipe, text):
    try:
        pipe.write((text or "").encode())
        pipe.close()
    except BrokenPipeError:
        pass  # A script that does not read its input is a normal one.


def read_text(path):
    try:
        with open(path) as file:
            return file.read()
    except OSError:
        return ") Z "


def end(process):
    """Kills unshare, which takes pid 1 of the namespace and all below it along, and waits until that is done."""
    if process.poll() is not None:
        return
    inside = read_text(f"/proc/{process.pid}/task/{process.pid}/children").strip()
    process.kill()
    process.wait()
    while inside and ") Z " not in read_text(f"/proc/{inside}/stat"):
        time.sleep(0.002)


def run(request, is_gone):
    """The answer to a run; None when the client went away."""
    with tempfile.TemporaryDirectory() as folder:
        script, temp = os.path.join(folder, "script.sh"), os.path.join(folder, "tmp")
        os.mkdir(temp)
        with open(script, "w", encoding="utf-8", newline="") as file:
            file.write(request["source"])
        command = ["unshare", "--user", "--pid", "--fork", "--kill-child=KILL", "--", "sh", script]
        environment = {"PATH": "/usr/local/bin:/usr/bin:/bin", "TRACON_SKILL_TEMP": temp,
                       "TRACON_SKILL_NAME": request.get("skillName") or "skill"}
        deadline = time.monotonic() + request["timeoutSeconds"]
        pipe = subprocess.PIPE
        process = subprocess.Popen(command, env=environment, cwd=temp, stdin=pipe, stdout=pipe, stderr=pipe)
        streams = [Stream(stream, request["maxOutputBytes"]) for stream in (process.stdout, process.stderr)]
        threading.Thread(target=feed, args=(process.stdin, request["standardInput"]), daemon=True).start()
        while process.poll() is None and time.monotonic() < deadline and not is_gone():
            time.sleep(0.005)
        code = process.poll()
        gone = code is None and is_gone()
        end(process)
        if gone:
            return None
        (out, out_cut), (err, err_cut) = (stream.text() for stream in streams)
        return {"exitCode": None if code is None else code if code >= 0 else 128 - code, "standardOutput": out,
                "standardError": err, "truncated": out_cut or err_cut, "timedOut": code is None,
                "stdoutTruncated": out_cut, "stderrTruncated": err_cut}


class Runs(BaseHTTPRequestHandler):
    def do_POST(self):
        length = int(self.headers.get("content-length", 0))
        if self.path != "/runs" or length > LARGEST_BODY:
            return self.send_error(404 if self.path != "/runs" else 413)
        request = json.loads(self.rfile.read(length))
        if hashlib.sha256(request["source"].encode()).hexdigest() != request["sourceSha256"].lower():
            return self.send_error(422, "sourceSha256 is not the digest of source")
        if request["runtime"] != "sh":
            return self.send_error(422, "this runner has sh alone")
        answer = run(request, self.is_gone)
        if answer is not None:
            body = json.dumps(answer).encode()
            self.send_response(200)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

    def is_gone(self):
        readable, _, _ = select.select([self.connection], [], [], 0)
        return bool(readable) and self.connection.recv(1, socket.MSG_PEEK) == b""

    log_message = print if os.environ.get("RUNNER_LOG") else lambda *_: None


if __name__ == "__main__":
    server = ThreadingHTTPServer(("127.0.0.1", 0), Runs)
    server.request_queue_size = 64
    print(server.server_address[1], flush=True)
    server.serve_forever()
