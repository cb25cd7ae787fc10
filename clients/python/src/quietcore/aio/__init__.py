"""Hosts, sites and partitions for asyncio.

    async with quietcore.aio.connect() as host:
        axis = host.partition("axis")
        async for sample in axis.watch("servo_Y.torque", interval=0.01):
            print(sample["servo_Y.torque"])

What each call does is told in `quietcore.client`, `quietcore.running` and `quietcore.started`.
"""

from quietcore.aio.client import Connecting, Host, connect
from quietcore.aio.running import Partition, Site
from quietcore.aio.started import Run, Trace
from quietcore.aio.transport import Events, Following, Transport, Watch

__all__ = [
    "Connecting",
    "Events",
    "Following",
    "Host",
    "Partition",
    "Run",
    "Site",
    "Trace",
    "Transport",
    "Watch",
    "connect",
]
