"""Compares our HTTP request reader with h11. Accepted requests must be accepted by h11, with the same method, target,
fields, body and end. Requests that only h11 accepts are counted as strictness.

    python3 bench/http_differential.py [--bytes 100000000] [--seed 1] [--reader build-bench/bench_http_read]

Needs h11 (pip install h11). Inputs are the cases of tests/http/requests/, then mutations of them, which depend only on
the seed."""
import argparse
import random
import struct
import subprocess
import sys
import threading
import time

import h11

from http_cases import cases

BATCH = 2000
LONGEST = 4096
TOKENS = [
    b"\r\n", b"\n", b"\r", b" ", b"\t", b"\0", b":", b",", b";", b"0", b"00", b"+", b"-", b"0x", b"chunked", b"identity",
    b"Content-Length: 5\r\n", b"Content-Length: 0\r\n", b"Transfer-Encoding: chunked\r\n", b"Host: b\r\n",
    b"Host: a\r\n", b"Connection: close\r\n", b"Connection: keep-alive\r\n", b"X: y\r\n", b" folded\r\n", b"\xa0",
    b"\xff", b"HTTP/1.0", b"HTTP/1.1", b"HTTP/2.0", b"GET / HTTP/1.1\r\n", b"http://a", b"0\r\n\r\n", b"5\r\nhello\r\n",
    b"Expect: 100-continue\r\n", b"\r\n\r\n", b"1;a=b\r\n", b"%41", b"%00", b"?", b"#", b"Upgrade: h2c\r\n",
]


def damage(rng, seed, other):
    data = bytearray(seed)
    for _ in range(rng.choice((1, 1, 1, 2, 3, 6))):
        at = rng.randrange(len(data) + 1)
        way = rng.randrange(9)
        if way == 0:
            data[at:at] = rng.choice(TOKENS)
        elif way == 1 and at < len(data):
            data[at] = rng.randrange(256)
        elif way == 2:
            del data[at:at + rng.randrange(1, 6)]
        elif way == 3 and at < len(data):
            data[at] ^= 0x20
        elif way == 4:
            lines = bytes(data).split(b"\r\n")
            line = rng.randrange(len(lines))
            lines.insert(rng.randrange(len(lines) + 1), lines[line])
            data = bytearray(b"\r\n".join(lines))
        elif way == 5:
            lines = bytes(data).split(b"\r\n")
            rng.shuffle(lines) if rng.random() < 0.1 else lines.pop(rng.randrange(len(lines)))
            data = bytearray(b"\r\n".join(lines))
        elif way == 6:
            data += other
        elif way == 7:
            data[at:] = other[rng.randrange(len(other) + 1):]
        elif at < len(data) and 48 <= data[at] < 58:
            data[at] = rng.randrange(48, 58)
    return bytes(data[:LONGEST])


def inputs(seed, most):
    accepted = [sent for _, sent in cases("accepted") if 0 < len(sent) <= LONGEST]
    refused = [sent for _, sent in cases("refused") if 0 < len(sent) <= LONGEST]
    rng = random.Random(seed)
    total = 0
    for sent in accepted + refused:
        total += len(sent)
        yield sent
    while total < most:
        first = rng.choice(accepted if rng.random() < 0.7 else refused)
        data = damage(rng, first, rng.choice(accepted))
        if data:
            total += len(data)
            yield data


def by_h11(data):
    """Parses one request: (method, target, fields, body, number of bytes), or None."""
    connection = h11.Connection(h11.SERVER, max_incomplete_event_size=1 << 20)
    connection.receive_data(data)
    request, body = None, b""
    try:
        while True:
            event = connection.next_event()
            if isinstance(event, h11.Request):
                request = event
            elif isinstance(event, h11.Data):
                body += bytes(event.data)
            elif isinstance(event, h11.EndOfMessage):
                taken = len(data) - len(connection.trailing_data[0])
                return request.method, request.target, list(request.headers), body, taken
            else:
                return None
    except h11.RemoteProtocolError:
        return None


def plain_target(target):
    """Removes http://HOST and an empty query, as our reader does."""
    if target[:7].lower() == b"http://":
        rest = target[7:]
        at = min((i for i in (rest.find(b"/"), rest.find(b"?")) if i >= 0), default=len(rest))
        target = rest[at:]
    path, mark, query = target.partition(b"?")
    return (path or b"/") + (mark + query if query else b"")


def unhex(text):
    return b"" if text == "-" else bytes.fromhex(text)


def compare(data, lines, counts):
    """Returns the difference between our result and h11's, or None."""
    at = 0
    for line in lines:
        if line.startswith("X"):
            counts["refused"] += 1
            if by_h11(data[at:]):
                counts["stricter"] += 1
            return None
        _, end, method, target, fields, body = line.split(" ")
        theirs = by_h11(data[at:])
        counts["taken"] += 1
        if not theirs:
            return f"taken by ours alone: {data[at:]!r}"
        their_fields = b"".join(name + b":" + value + b"\n" for name, value in theirs[2])
        our_fields = b"".join(name.lower() + b":" + value + b"\n" for name, _, value in
                              (field.partition(b":") for field in unhex(fields).split(b"\n") if field))
        ours = (method.encode(), target.encode(), our_fields, unhex(body), int(end) - at)
        if ours != (theirs[0], plain_target(theirs[1]), their_fields, theirs[3], theirs[4]):
            return f"read otherwise: {data[at:]!r}\n  ours   {ours}\n  theirs {theirs}"
        at = int(end)
    if at < len(data):
        counts["unfinished"] += 1
    return None


def answers(reader, batch):
    frames = b"".join(struct.pack("<I", len(data)) + data for data in batch)
    writer = threading.Thread(target=lambda: (reader.stdin.write(frames), reader.stdin.flush()))
    writer.start()
    for data in batch:
        lines = []
        while (line := reader.stdout.readline().decode("ascii").rstrip("\n")) != ".":
            if not line:
                sys.exit(f"the reader died on {data!r}")
            lines.append(line)
        yield data, lines
    writer.join()


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--bytes", type=int, default=100_000_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--reader", default="build-bench/bench_http_read")
    options = parser.parse_args()
    reader = subprocess.Popen([options.reader], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    counts = dict(inputs=0, bytes=0, taken=0, refused=0, stricter=0, unfinished=0)
    wrong, batch, began = 0, [], time.time()

    def settle():
        nonlocal wrong
        for data, lines in answers(reader, batch):
            counts["inputs"] += 1
            counts["bytes"] += len(data)
            found = compare(data, lines, counts)
            if found:
                wrong += 1
                if wrong <= 10:
                    print(found, file=sys.stderr)
        batch.clear()

    for data in inputs(options.seed, options.bytes):
        batch.append(data)
        if len(batch) == BATCH:
            settle()
    settle()
    reader.stdin.close()
    reader.wait()
    print(f"h11 {h11.__version__}, seed {options.seed}: " + ", ".join(f"{v:,} {k}" for k, v in counts.items()) +
          f"; {wrong} wrong; {time.time() - began:.0f} s")
    return wrong > 0


if __name__ == "__main__":
    sys.exit(main())
