"""Chromium without a window, driven as the W3C says a browser is (WebDriver): what a person does, by a script.

Needs Debian's chromium and chromium-driver.
"""

import json
import os
import re
import shutil
import subprocess
import time
import urllib.error
import urllib.request

ELEMENT = "element-6066-11e4-a52e-4f735466cecf"


def is_installed():
    return shutil.which("chromium") is not None and shutil.which("chromedriver") is not None


class Chromium:
    def __init__(self, folder):
        self.log = open(os.path.join(folder, "chromedriver.log"), "w+", encoding="utf-8")
        self.driver = subprocess.Popen(["chromedriver", "--port=0"], stdout=self.log, stderr=subprocess.STDOUT,
                                       stdin=subprocess.DEVNULL, env={**os.environ, "HOME": folder})
        self.session = ""
        try:
            self.base = f"http://127.0.0.1:{self.port()}"
            options = {"binary": shutil.which("chromium"),
                       "args": ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
                                "--no-first-run", "--disable-background-networking", "--no-proxy-server",
                                "--user-data-dir=" + os.path.join(folder, "profile")]}
            begun = self.command("POST", "/session", {"capabilities": {"alwaysMatch": {
                "browserName": "chrome", "goog:chromeOptions": options}}})
            self.session = f"/session/{begun['sessionId']}"
        except BaseException:
            self.close()
            raise

    def port(self):
        end = time.monotonic() + 60
        while time.monotonic() < end and self.driver.poll() is None:
            with open(self.log.name, encoding="utf-8") as file:
                found = re.search(r"started successfully on port (\d+)", file.read())
            if found:
                return found.group(1)
            time.sleep(0.05)
        raise RuntimeError("chromedriver does not start")

    def command(self, method, path, body=None):
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.base + self.session + path, data, {"Content-Type": "application/json"},
                                         method=method)
        try:
            with urllib.request.urlopen(request, timeout=90) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as error:
            raise RuntimeError(error.read().decode(errors="replace")[:500]) from error

    def open(self, url):
        self.command("POST", "/url", {"url": url})

    def url(self):
        return self.command("GET", "/url")

    def text(self):
        return self.command("POST", "/execute/sync", {"script": "return document.body.innerText", "args": []})

    def elements(self, selector):
        found = self.command("POST", "/elements", {"using": "css selector", "value": selector})
        return [element[ELEMENT] for element in found]

    def type(self, selector, text):
        for element in self.elements(selector):
            self.command("POST", f"/element/{element}/value", {"text": text})

    def click(self, selector):
        self.command("POST", f"/element/{self.elements(selector)[0]}/click", {})

    def close(self):
        try:
            if self.session:
                self.command("DELETE", "")
        except (RuntimeError, OSError):
            pass
        self.driver.terminate()
        self.driver.wait(30)
        self.log.close()
