"""Nothing of Ray's reaches the terminal, and all is put back."""

import logging
from types import SimpleNamespace

from sensorium.runtime.cluster.silence import silence


def test_messages_are_not_printed(capsys):
    worker = SimpleNamespace(print_to_stdstream=print)
    propagates = logging.getLogger("ray").propagate
    ray = SimpleNamespace(_private=SimpleNamespace(worker=worker))
    with silence(ray):
        worker.print_to_stdstream({"lines": ["a node is lost"]}, ignore_prefix=False)
        logging.getLogger("ray").error("a node is lost")
        logging.getLogger("ray._private.worker").error("a node is lost")
    assert capsys.readouterr() == ("", "")
    worker.print_to_stdstream("back")
    assert capsys.readouterr().out == "back\n"
    assert logging.getLogger("ray").propagate == propagates
