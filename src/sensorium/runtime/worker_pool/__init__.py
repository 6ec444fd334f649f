"""The worker pool: runs kernels over blocks of work on persistent threads; no other module starts threads for kernels.

A kernel has the form `kernel(first, step, count, *arguments)`, does the blocks first, first + step, ... below count and
releases the GIL. The result of a block depends only on its number, so results are the same bytes on any number of
threads. All functions may be called from several Python threads at once, and inside each other. docs/runtime.md draws
the protocol.
"""

from sensorium.runtime.worker_pool.jobs import NONE, Prepared, next_block, shared
from sensorium.runtime.worker_pool.pool import cores, get_threads, run, set_threads, share, share_while, without_fork

__all__ = ["NONE", "Prepared", "cores", "get_threads", "next_block", "run", "set_threads", "share", "share_while"]
__all__ += ["shared", "without_fork"]
