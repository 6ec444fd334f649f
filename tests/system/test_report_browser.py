"""A real report of a real run, in a real browser without a network.

Needs Chromium and its driver (Debian: chromium, chromium-driver); without them the tests are skipped, but not under CI.
"""

import io
import json
import os
import shutil
import time

import numpy as np
import pytest

import sensorium as sn
from sensorium.corruption import Fault, FaultSchedule, Stuck

HOSTILE = "</script><script>alert(1)</script>"


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    """The page of a drive past a wall; a label, a body, a fault and the title try to be scripts."""
    scene = sn.Scene()
    scene.add(sn.shapes.plane(60.0, 60.0), label="ground")
    scene.add(sn.shapes.box(0.2, 8.0, 3.0), pose=sn.Pose(position=(9.0, 0.0, 1.5)), label=HOSTILE)
    world = sn.worlds.Kinematic({HOSTILE: sn.paths.Line((0, 0, 0.5), (2.0, 0.5, 0.0))}, step_s=0.01)
    env = sn.Environment(scene, world, seed=5)
    pattern = sn.patterns.Spinning(elevation_deg=tuple(np.linspace(5, -20, 16)), columns=180, rate_hz=10.0)
    env.attach(
        sn.Lidar(pattern=pattern, max_range_m=40.0), body=HOSTILE, pose=sn.Pose(position=(0, 0, 1.0)), name="top"
    )
    imu = sn.Imu(timing=sn.Timing(rate_hz=1000.0))
    imu.linear.noise.std = 0.05
    stuck = Fault(Stuck(mode="value", value=7.0), name=HOSTILE, target="linear", start_s=0.1, end_s=0.2)
    imu.faults = FaultSchedule(faults=(stuck,))
    env.attach(imu, body=HOSTILE, name="imu")
    path = tmp_path_factory.mktemp("report") / "report.html"
    with sn.view.Report(path, title=HOSTILE, facts={HOSTILE: HOSTILE}) as page:
        for _ in env.run(0.8):
            page.record(env)
    return path, len(env.sensors["top"].read().flat().range_m)


@pytest.fixture(scope="module")
def browser():
    """Headless Chromium that reaches no host and draws WebGL in software."""
    chromium, driver = shutil.which("chromium"), shutil.which("chromedriver")
    if chromium is None or driver is None:
        missing = "chromium and chromedriver are not installed"
        pytest.fail(missing) if os.environ.get("CI") else pytest.skip(missing)
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service

    options = webdriver.ChromeOptions()
    options.binary_location = chromium
    for flag in (
        "--headless=new",
        "--no-sandbox",
        "--disable-dev-shm-usage",
        "--use-angle=swiftshader",
        "--enable-unsafe-swiftshader",
        "--host-resolver-rules=MAP * ~NOTFOUND",
        "--window-size=1280,900",
    ):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    chrome = webdriver.Chrome(service=Service(driver), options=options)
    chrome.set_script_timeout(60)
    yield chrome
    chrome.quit()


@pytest.fixture(scope="module")
def page(browser, report):
    """The browser with the page in it, the 3-D plot drawn."""
    browser.execute_cdp_cmd("Network.enable", {})
    offline = {"offline": True, "latency": 0, "downloadThroughput": 0, "uploadThroughput": 0}
    browser.execute_cdp_cmd("Network.emulateNetworkConditions", offline)
    browser.get(report[0].as_uri())
    wait_for(
        browser, "const p = document.getElementById('plot-3d'); return p && p._fullLayout && p._fullLayout.scene._scene"
    )
    return browser


def wait_for(browser, script, seconds=60.0):
    """Until a script gives something true; that is returned."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        found = browser.execute_script(f"return Boolean((() => {{ {script} }})())")
        if found:
            return
        time.sleep(0.2)
    raise AssertionError(f"the page never came to: {script}; console: {browser.get_log('browser')}")


def camera(browser):
    """Where the 3-D plot is looked at from, in its own units."""
    eye = "document.getElementById('plot-3d')._fullLayout.scene._scene.getCamera().eye"
    return np.array(browser.execute_script(f"const eye = {eye}; return [eye.x, eye.y, eye.z]"))


def click(browser, element):
    """Click where a visitor would: in the middle of the window, clear of plots that are still growing at its edge."""
    browser.execute_script("arguments[0].scrollIntoView({block: 'center', behavior: 'instant'})", element)
    browser.execute_async_script("const done = arguments[0]; requestAnimationFrame(() => requestAnimationFrame(done))")
    element.click()


def test_every_section_is_there_and_drawn(page):
    found = page.execute_script("return [...document.querySelectorAll('main section')].map((s) => s.id)")
    assert found == ["cloud", "above", "images", "signals", "allan", "faults", "sensors", "facts"]
    for section in found:
        page.execute_script(f"document.getElementById('{section}').scrollIntoView({{behavior: 'instant'}})")
        wait_for(page, f"return [...document.querySelectorAll('#{section} .plot')].every((p) => p._fullLayout)")
    counts = page.execute_script("return [...document.querySelectorAll('.plot')].map((p) => p.data.length)")
    assert len(counts) == 6  # the world, from above, two quantities, one with errors to average, faults
    assert min(counts) >= 1
    assert page.execute_script("return document.querySelector('#images img').naturalWidth") > 500


def test_the_cloud_has_its_points(page, report):
    script = "return document.getElementById('plot-3d').data.filter((t) => t.meta === 'cloud').map((t) => t.x.length)"
    assert page.execute_script(script) == [report[1]]
    walls = "const t = document.getElementById('plot-3d').data[0]; return [...t.x].filter((x, i) => t.z[i] > 0.1)"
    assert np.array(page.execute_script(walls)) == pytest.approx(8.9, abs=0.01)


def test_the_cloud_is_seen_and_dragging_turns_it(page):
    from PIL import Image
    from selenium.webdriver import ActionChains

    page.execute_script("document.getElementById('cloud').scrollIntoView({behavior: 'instant'})")
    plot = page.find_element("id", "plot-3d")

    def picture():
        return np.asarray(Image.open(io.BytesIO(plot.screenshot_as_png)).convert("RGB")).astype(int)

    before, eye = picture(), camera(page)
    colored = (before.max(axis=-1) - before.min(axis=-1)) > 20
    assert colored.mean() > 0.001, "nothing is drawn"
    ActionChains(page).move_to_element(plot).click_and_hold().move_by_offset(120, 40).release().perform()
    time.sleep(0.5)
    moved = camera(page)
    assert np.linalg.norm(moved - eye) > 0.1
    assert np.linalg.norm(moved) == pytest.approx(np.linalg.norm(eye), rel=0.2)
    assert (np.abs(picture() - before).max(axis=-1) > 20).mean() > 0.001


def test_colors_can_be_chosen_and_labels_hidden(page, report):
    color = "return document.getElementById('plot-3d').data[0].marker.cmax"
    assert page.execute_script(color) == 1.5  # two labels, each a step of one
    first, height = page.find_elements("css selector", ".choice button")
    click(page, height)
    assert page.execute_script(color) > 2.5
    click(page, first)
    click(page, page.find_elements("css selector", ".key button")[0])
    count = "return document.getElementById('plot-3d').data[0].x.length"
    assert 0 < page.execute_script(count) < report[1]
    click(page, page.find_elements("css selector", ".key button")[0])
    assert page.execute_script(count) == report[1]


def test_names_are_only_text(page):
    assert page.execute_script("return document.title") == HOSTILE
    assert page.execute_script("return document.querySelectorAll('script').length") == 4
    keys = [button.text for button in page.find_elements("css selector", ".key button")]
    assert HOSTILE in keys
    with pytest.raises(Exception, match="no such alert"):
        page.switch_to.alert.accept()


def test_the_scheme_changes_and_a_phone_needs_no_sideways_scrolling(page):
    page.execute_script("window.scrollTo({top: 0, behavior: 'instant'})")
    before = page.execute_script("return getComputedStyle(document.body).backgroundColor")
    click(page, page.find_element("id", "scheme"))
    assert page.execute_script("return getComputedStyle(document.body).backgroundColor") != before
    click(page, page.find_element("id", "scheme"))
    phone = {"width": 390, "height": 844, "deviceScaleFactor": 1, "mobile": True}
    page.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", phone)
    wide = page.execute_script("return [document.documentElement.scrollWidth, window.innerWidth]")
    page.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
    assert wide[0] <= wide[1]


def test_nothing_was_asked_of_a_network_and_nothing_went_wrong(page):
    asked = []
    for entry in page.get_log("performance"):
        message = json.loads(entry["message"])["message"]
        if message["method"] == "Network.requestWillBeSent":
            asked.append(message["params"]["request"]["url"])
    assert asked, "the log of requests must have the page itself"
    assert [address[:60] for address in asked if not address.startswith(("file:", "data:", "blob:", "chrome:"))] == []
    errors = [entry for entry in page.get_log("browser") if entry["level"] == "SEVERE"]
    assert errors == []
