"""`sensorium validate` as a user runs it."""


def test_it_writes_a_page_and_says_what_was_found(command, tmp_path):
    done = command("validate", "--quick", "--only", "fresnel-*", "--out", tmp_path / "page")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "fresnel-table" in done.stdout
    assert "0 do not" in done.stdout
    names = {file.name for file in (tmp_path / "page").iterdir()}
    assert names == {"validation.html", "validation.md"}


def test_a_law_that_does_not_hold_is_exit_code_1(command, tmp_path, monkeypatch):
    import sensorium as sn

    right = sn.optics.pane
    monkeypatch.setattr(sn.optics, "pane", lambda *a, **k: tuple(0.99 * value for value in right(*a, **k)))
    done = command("validate", "--quick", "--only", "pane", "--processes", "1", "--out", tmp_path)
    assert done.returncode == 1
    assert "pane                               failed" in done.stdout
    assert 'class="failed"' in (tmp_path / "validation.html").read_text()


def test_checks_can_be_listed_and_a_name_that_is_none_is_told(command, tmp_path):
    listed = command("validate", "--list")
    assert listed.returncode == 0
    assert "cone-table-2" in listed.stdout
    wrong = command("validate", "--only", "no-such-law", "--out", tmp_path)
    assert wrong.returncode == 2
    assert (
        wrong.stderr
        == "sensorium: --only is 'no-such-law', which names no check; `sensorium validate --list` lists them\n"
    )
