#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Opens a page in headless Chromium, and measures it.

	browse.py <chromium> <url> <picture prefix>

Prints one line of JSON for each combination of a width and a colour scheme:
the width of the window, the width that the content needs, the colours of text
and background, and texts that are wider than their boxes. Writes the pictures
<prefix>-<width>-<scheme>.png. Talks the DevTools protocol over two pipes, so no
driver and no port is needed.
"""

import base64
import itertools
import json
import os
import subprocess
import sys
import tempfile

MEASURE = """JSON.stringify({
  window: innerWidth,
  content: Math.max(document.documentElement.scrollWidth,
                    document.body.scrollWidth),
  color: getComputedStyle(document.body).color,
  background: getComputedStyle(document.documentElement).backgroundColor,
  canvas: matchMedia('(prefers-color-scheme: dark)').matches,
  outside: [...document.querySelectorAll('h1, h2, td, th, p, .card, .bar')]
    .filter(e => {
      let r = e.getBoundingClientRect();
      let wide = e.closest('.wide');
      return r.right > innerWidth + 1 && !wide;
    }).map(e => e.textContent.slice(0, 60)),
  bars: [...document.querySelectorAll('.bar')]
    .filter(e => [...e.children].reduce(
      (w, i) => w + i.getBoundingClientRect().width, 0) >
      e.getBoundingClientRect().width + 1).length,
  text: document.body.innerText.length,
})"""


class Browser:
    def __init__(self, program):
        self.dir = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        to_read, self.to = os.pipe()
        self.back, back_write = os.pipe()

        # Chromium reads from descriptor 3 and writes to descriptor 4.
        def place():
            a, b = os.dup(to_read), os.dup(back_write)
            os.dup2(a, 3)
            os.dup2(b, 4)

        self.process = subprocess.Popen(
            [program, "--headless", "--no-sandbox", "--disable-gpu",
             "--disable-dev-shm-usage", "--remote-debugging-pipe",
             "--user-data-dir=" + self.dir.name, "about:blank"],
            close_fds=False, preexec_fn=place,
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL)
        os.close(to_read)
        os.close(back_write)
        self.numbers = itertools.count(1)
        self.rest = b""

    def receive(self):
        while b"\0" not in self.rest:
            more = os.read(self.back, 1 << 16)
            if not more:
                raise SystemExit("the browser has ended")
            self.rest += more
        message, self.rest = self.rest.split(b"\0", 1)
        return json.loads(message)

    def call(self, method, session=None, **params):
        message = {"id": next(self.numbers), "method": method,
                   "params": params}
        if session:
            message["sessionId"] = session
        os.write(self.to, json.dumps(message).encode() + b"\0")
        while True:
            answer = self.receive()
            if answer.get("id") == message["id"]:
                if "error" in answer:
                    raise SystemExit(f"{method}: {answer['error']}")
                return answer["result"]

    def wait_for(self, event):
        while self.receive().get("method") != event:
            pass

    def close(self):
        self.call("Browser.close")
        self.process.wait()
        self.dir.cleanup()


def main(program, url, prefix):
    browser = Browser(program)
    target = browser.call("Target.createTarget", url="about:blank")
    page = browser.call("Target.attachToTarget", flatten=True,
                        targetId=target["targetId"])["sessionId"]
    browser.call("Page.enable", page)
    for width, scheme in itertools.product((360, 1200), ("light", "dark")):
        browser.call("Emulation.setDeviceMetricsOverride", page, width=width,
                     height=800, deviceScaleFactor=1, mobile=width < 500)
        browser.call("Emulation.setEmulatedMedia", page, features=[
            {"name": "prefers-color-scheme", "value": scheme}])
        browser.call("Page.navigate", page, url=url)
        browser.wait_for("Page.loadEventFired")
        result = browser.call("Runtime.evaluate", page, expression=MEASURE)
        seen = json.loads(result["result"]["value"])
        print(json.dumps({"width": width, "scheme": scheme, **seen}))
        picture = browser.call("Page.captureScreenshot", page,
                               captureBeyondViewport=True)
        with open(f"{prefix}-{width}-{scheme}.png", "wb") as out:
            out.write(base64.b64decode(picture["data"]))
    browser.close()


main(*sys.argv[1:])
