import json
import re
from pathlib import Path

from sensorium.view.report.page import Page, page

HOSTILE = "</script><script>alert(1)</script>"


def made(**changes):
    fields = {"title": "Run", "strip": {}, "table": {}, "sensors": [], "data": {}, "notes": []}
    return page(Page(**{**fields, **changes}), folder=Path("out")).decode()


def test_names_of_users_are_text_wherever_they_stand():
    data = {"faults": [{"sensor": HOSTILE, "fault": HOSTILE}]}
    text = made(
        title=HOSTILE,
        strip={HOSTILE: HOSTILE},
        table={HOSTILE: [HOSTILE]},
        sensors=[(HOSTILE,)],
        data=data,
        notes=[HOSTILE],
    )
    assert "<script>alert" not in text
    assert text.count("&lt;/script&gt;&lt;script&gt;alert(1)") == 8


def test_data_comes_back_as_it_went_in():
    data = {"faults": [{"sensor": HOSTILE + "&amp; $title é ]]>", "from_s": 1.5}]}
    inside = re.search(r'<script type="application/json" id="data">(.*?)</script>', made(data=data), re.S)
    assert json.loads(inside.group(1)) == data


def test_only_sections_with_something_in_them_are_there():
    text = made(data={"clouds": [], "faults": [{"sensor": "imu", "fault": "stuck"}]})
    assert re.findall(r'<section id="(\w+)"', text) == ["faults", "facts"]
    assert re.findall(r'<a href="#(\w+)"', text) == ["faults", "facts"]


def test_the_library_is_inside_only_where_something_is_drawn():
    assert len(made()) < 100_000
    drawn = made(data={"faults": [{"sensor": "imu", "fault": "stuck"}]})
    assert "plotly.js v" in drawn
    assert len(drawn) < 5_500_000


def test_nothing_may_be_loaded():
    policy = re.search(r'http-equiv="Content-Security-Policy" content="([^"]*)"', made()).group(1)
    assert "default-src 'none'" in policy
    assert "img-src data: blob:" in policy
    assert "unsafe" not in policy.split("style-src")[0]
    assert "http" not in policy


def test_files_become_links_as_seen_from_the_page():
    text = made(table={"Files": [Path("out/run 1.mcap"), Path("elsewhere/x.csv")]})
    assert '<a href="run%201.mcap">run 1.mcap</a><br><a href="../elsewhere/x.csv">' in text
