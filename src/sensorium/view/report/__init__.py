"""The report of a run: one page that any browser opens, without a network.

`report` joins what the other files keep and tell: `sweeps` clouds of lidars, `signals` what sampled sensors measured
beside the truth, `tracks` where bodies went, `faults` and `facts` the rest. Each keeps a bounded part of a run of any
length and gives it as plain data; `page` makes the file of it, and `page.js` draws it in the browser.
"""

from sensorium.view.report.report import Report

__all__ = ["Report"]
