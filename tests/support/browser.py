"""Chromium without a window, for the tests of the HTML report."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from selenium import webdriver
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.remote.webelement import WebElement

#: no window, no sandbox (tests run as root in containers), and nothing that calls home
FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--window-size=1440,1000",
)  # fmt: skip


@contextmanager
def chromium(profile: Path) -> Iterator[Browser]:
    """A browser with an empty profile; skips the test where none is installed."""
    binary, driver = shutil.which("chromium"), shutil.which("chromedriver")
    if binary is None or driver is None:
        pytest.skip("needs Chromium: apt-get install chromium chromium-driver (.ci/run does)")
    options = webdriver.ChromeOptions()
    options.binary_location = binary
    for flag in (*FLAGS, f"--user-data-dir={profile}"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    chrome = webdriver.Chrome(options=options, service=Service(driver))
    try:
        yield Browser(chrome)
    finally:
        chrome.quit()


class Browser:
    """What the tests do with a page."""

    def __init__(self, chrome: webdriver.Chrome) -> None:
        self.chrome = chrome

    def open(self, file: Path, fragment: str = "") -> None:
        """Load a page afresh; what earlier pages logged or stored is forgotten."""
        self.chrome.get("about:blank")
        self.logs("browser"), self.logs("performance")
        self.chrome.get(file.as_uri() + fragment)

    def logs(self, kind: str) -> list[dict[str, Any]]:
        return list(self.chrome.get_log(kind))

    def requests(self) -> list[str]:
        """Every address that the page has asked for."""
        messages = (json.loads(x["message"])["message"] for x in self.logs("performance"))
        return [
            m["params"]["request"]["url"]
            for m in messages
            if m["method"] == "Network.requestWillBeSent"
        ]

    def all(self, selector: str) -> list[WebElement]:
        return [e for e in self.chrome.find_elements(By.CSS_SELECTOR, selector) if e.is_displayed()]

    def texts(self, selector: str) -> list[str]:
        return [e.text for e in self.all(selector)]

    def click(self, selector: str) -> None:
        self.all(selector)[0].click()

    def keys(self, *keys: str) -> None:
        """Press keys, wherever the focus is."""
        for key in keys:
            self.chrome.switch_to.active_element.send_keys(key)

    def run(self, script: str, *arguments: Any) -> Any:
        return self.chrome.execute_script(script, *arguments)

    def style(self, selector: str, name: str) -> str:
        return str(
            self.run(
                "return getComputedStyle(document.querySelector(arguments[0]))[arguments[1]]",
                selector,
                name,
            )
        )

    def media(self, scheme: str) -> None:
        """What the system prefers: light or dark."""
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        self.chrome.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})

    def size(self, width: int, height: int, mobile: bool = False) -> None:
        metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": mobile}
        self.chrome.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
