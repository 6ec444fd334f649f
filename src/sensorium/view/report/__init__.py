"""The report of a run: one page that any browser opens, without a network.

`report` joins the sections of the other files: `sweeps` has clouds of lidars, `signals` sampled measurements and their
truth, `tracks` the paths of bodies, `faults` and `facts` the rest. Each keeps a bounded part of a run of any length and
gives it as plain data; `page` makes the file, and `page.js` draws it in the browser.
"""

from sensorium.view.report.report import Report

__all__ = ["Report"]
