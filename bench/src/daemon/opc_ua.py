"""A server of OPC UA, or clients of it, by asyncua.

server PORT COUNT    serves COUNT variables and changes them all 100 times a second
client PORT CLIENTS  subscribes to all of them with so many clients; each line that it reads is
                     answered with the number of values that have come so far
"""

import asyncio
import logging
import sys
import time

from asyncua import Client, Server, ua

logging.disable(logging.CRITICAL)
INTERVAL_MS = 10


def url(port: str) -> str:
    return f"opc.tcp://127.0.0.1:{port}/"


async def serve(port: str, count: int) -> None:
    server = Server()
    await server.init()
    server.set_endpoint(url(port))
    server.set_security_policy([ua.SecurityPolicyType.NoSecurity])
    index = await server.register_namespace("urn:bench")
    folder = await server.nodes.objects.add_folder(index, "cells")
    cells = [await folder.add_variable(index, f"cell{number}", 0.0) for number in range(count)]
    async with server:
        print("ready", flush=True)
        turn, due = 0, time.monotonic()
        while True:
            turn += 1
            for cell in cells:
                value = ua.DataValue(ua.Variant(float(turn), ua.VariantType.Double))
                await server.write_attribute_value(cell.nodeid, value)
            due = max(due + INTERVAL_MS / 1000, time.monotonic())
            await asyncio.sleep(due - time.monotonic())


class Count:
    """Counts the values of one client."""

    def __init__(self) -> None:
        self.values = 0

    def datachange_notification(self, node: object, value: object, data: object) -> None:
        self.values += 1


async def follow(port: str, clients: int) -> None:
    counts = []
    for _ in range(clients):
        client = Client(url(port))
        await client.connect()
        index = await client.get_namespace_index("urn:bench")
        folder = await client.nodes.objects.get_child(f"{index}:cells")
        count = Count()
        subscription = await client.create_subscription(INTERVAL_MS, count)
        await subscription.subscribe_data_change(
            await folder.get_children(), sampling_interval=INTERVAL_MS, queuesize=1
        )
        counts.append(count)
    print("ready", flush=True)
    loop = asyncio.get_running_loop()
    while await loop.run_in_executor(None, sys.stdin.readline):
        print(sum(count.values for count in counts), flush=True)


role, port, number = sys.argv[1:]
asyncio.run({"server": serve, "client": follow}[role](port, int(number)))
