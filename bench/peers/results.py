"""Result lines of peers (bench/README.md, "Output format")."""
import statistics
import time


def report(measure, who, values, unit):
    """Prints the median and the quartiles of a list, or one value."""
    spread = ""
    if isinstance(values, list):
        values = sorted(values)
        spread = f"\t{values[len(values) // 4]:.6g}\t{values[len(values) * 3 // 4]:.6g}"
        values = statistics.median_low(values)
    print(f"{measure}\t{who}\t{values:.6g}\t{unit}{spread}", flush=True)


def times_of(search, requests, rounds, clock=time.process_time):
    """Returns the milliseconds of a request, the mean over requests that are searched one at a time, for each round."""
    times = []
    for _ in range(rounds):
        start = clock()
        for request in requests:
            search(request)
        times.append((clock() - start) * 1e3 / len(requests))
    return times


def agreement(found, exact):
    """Returns the part of the exact hits, rows of ids, that were found."""
    return sum(len(set(a) & set(b)) for a, b in zip(found, exact)) / sum(map(len, exact))
