#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Draws plans as an SVG: plan_figure.py OUTPUT.svg TITLE=TRACE.json ...

A TRACE is what `regal optimize --trace` writes. Each device is a row of ops,
coloured by the op's position in the graph's file, above the curve of its
memory. Transfers are not drawn. All plans share one scale of time and one of
memory.
`make docs` draws docs/img/plan.svg.
"""
import json
import sys
from html import escape

WIDTH, LEFT, RIGHT = 880, 78, 76
OPS, MEMORY, GAP, TITLE = 30, 34, 12, 26
FIRST, LAST = (66, 133, 190), (225, 120, 60)  # colours of the file's ends


class Device:
    def __init__(self, name):
        self.name, self.ops, self.memory = name, [], []

    def peak(self):
        return max((size for _, size in self.memory), default=0)


def read_trace(path):
    """The devices of a trace: ops (start, end, id), memory (time, bytes)."""
    with open(path, encoding="utf-8") as file:
        events = json.load(file)["traceEvents"]
    devices = {event["tid"]: Device(event["args"]["name"])
               for event in events if event["name"] == "thread_name"}
    by_name = {device.name: device for device in devices.values()}
    for event in events:
        if event["ph"] == "X" and event["cat"] == "op" and event["dur"] > 0:
            devices[event["tid"]].ops.append(
                (event["ts"], event["ts"] + event["dur"], event["args"]["id"]))
        elif event["ph"] == "C":
            by_name[event["name"].replace("memory of ", "")].memory.append(
                (event["ts"], event["args"]["bytes"]))
    return list(devices.values())


def colour(share):
    return "#" + "".join(f"{round(a + (b - a) * share):02x}"
                         for a, b in zip(FIRST, LAST))


def merged(ops, pixel):
    """Merges neighbours that are narrower than a pixel, to keep the file small:
    (start, end, id of the longest op)."""
    out = []
    for start, end, op in sorted(ops):
        if out and start - out[-1][1] < pixel / 4 and (
                out[-1][1] - out[-1][0] < pixel):
            first, _, longest, length = out.pop()
            if end - start > length:
                longest, length = op, end - start
            out.append((first, end, longest, length))
        else:
            out.append((start, end, op, end - start))
    return [(start, end, op) for start, end, op, _ in out]


def memory_curve(device, scale, height, base):
    """The largest and the last memory of each column, as points."""
    columns = {}
    for time, size in device.memory:
        columns.setdefault(round(LEFT + time * scale, 1), []).append(size)
    for x, sizes in sorted(columns.items()):
        for size in (max(sizes), sizes[-1]):
            yield f"{x:.1f},{base - size * height:.1f}"


def draw_device(device, top, scale, height, ids):
    """One row of ops, and the curve of memory below it."""
    base = top + OPS + MEMORY
    yield (f'<text x="{LEFT - 8}" y="{top + OPS * 0.66:.0f}" '
           f'text-anchor="end">{escape(device.name)}</text>')
    yield (f'<rect x="{LEFT}" y="{top}" width="{WIDTH - LEFT - RIGHT}" '
           f'height="{OPS}" fill="#f0f0f0"/>')
    for start, end, op in merged(device.ops, 1 / scale):
        yield (f'<rect x="{LEFT + start * scale:.1f}" y="{top}" '
               f'width="{max((end - start) * scale, 0.3):.1f}" height="{OPS}" '
               f'fill="{colour(op / ids)}"/>')
    points = list(memory_curve(device, scale, height, base))
    end = points[-1].split(",")[0]
    yield (f'<polygon points="{LEFT},{base} {" ".join(points)} {end},{base}" '
           'fill="#9aa5b1"/>')
    yield (f'<text x="{WIDTH - RIGHT + 8}" y="{top + OPS + MEMORY * 0.6:.0f}">'
           f'{device.peak() / 2**30:.1f} GiB</text>')


def draw(plans):
    longest = max(end for _, devices in plans for device in devices
                  for _, end, _ in device.ops)
    peak = max(device.peak() for _, devices in plans for device in devices)
    ids = max(op for _, devices in plans for device in devices
              for _, _, op in device.ops)
    scale, body, top = (WIDTH - LEFT - RIGHT) / longest, [], 6
    for title, devices in plans:
        end = max(end for device in devices for _, end, _ in device.ops)
        body.append(f'<text x="{LEFT}" y="{top + 14}" font-weight="bold">'
                    f'{escape(title)}: {end / 1000:.2f} ms</text>')
        top += TITLE
        for device in devices:
            body += draw_device(device, top, scale, MEMORY / peak, ids)
            top += OPS + MEMORY + GAP
    return "\n".join([
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" '
        f'height="{top}" font-family="sans-serif" font-size="13">',
        f'<rect width="{WIDTH}" height="{top}" fill="white"/>', *body,
        "</svg>"]) + "\n"


def main(output, *plans):
    pairs = [plan.rsplit("=", 1) for plan in plans]
    text = draw([(title, read_trace(path)) for title, path in pairs])
    with open(output, "w", encoding="utf-8") as file:
        file.write(text)


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])
