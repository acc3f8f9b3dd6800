#!/usr/bin/env python3
"""Measures the cost of trained models for a cold `find`, with a new process for each request.

    bench/cold_trained.py WHICHTOOL [--rounds 41] [--store STORE] [--work FOLDER] [--before OTHER]

Without --store, uses the samples: two stores with the catalogue and its usages, one of them trained by `train all` (a
minute). With --store, a trained store and a copy without its models. --before: another build, on the same two stores. The
runs are interleaved, so that other work on the machine affects all alike. Prints medians of the wall time, the processor
time (the steadier one) and the peak of resident memory, and their ratio between the trained and the other store."""
import argparse, os, pathlib, shutil, statistics, subprocess, sys, tempfile, time

REQUEST = "put lunch with Amira into my calendar for Thursday"
SAMPLES = pathlib.Path(__file__).resolve().parent.parent / "samples"


def quietly(*command):
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def copy_store(store, to):
    for path in sorted(pathlib.Path(store).parent.glob(pathlib.Path(store).name + "*")):
        suffix = path.name[len(pathlib.Path(store).name):]
        if suffix in ("", "-wal", "-shm"):
            shutil.copy(path, str(to) + suffix)


def make_samples(whichtool, trained):
    usages = trained + ".jsonl"
    text = (SAMPLES / "usages.jsonl").read_text()
    pathlib.Path(usages).write_text(text.replace('"success"', '"ok"'))
    quietly(whichtool, "-s", trained, "add", str(SAMPLES / "catalogue"))
    quietly(whichtool, "-s", trained, "usage", "add", usages)
    quietly(whichtool, "-s", trained, "train", "all")


def run(command):
    begun = time.perf_counter()
    child = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = status
    if status:
        sys.exit(f"{' '.join(command)}: status {status}")
    wall = time.perf_counter() - begun
    return wall * 1e3, (usage.ru_utime + usage.ru_stime) * 1e3, usage.ru_maxrss / 1024


def main():
    options = argparse.ArgumentParser()
    options.add_argument("whichtool")
    options.add_argument("--rounds", type=int, default=41)
    options.add_argument("--store")
    options.add_argument("--work")
    options.add_argument("--before")
    given = options.parse_args()
    work = given.work or tempfile.mkdtemp(prefix="whichtool-cold-")
    trained, untrained = given.store or f"{work}/trained.wt", f"{work}/untrained.wt"
    if not os.path.exists(trained):
        make_samples(given.whichtool, trained)
    if not os.path.exists(untrained):
        copy_store(trained, untrained)
    builds = {"": given.whichtool, **({"before: ": given.before} if given.before else {})}
    costs = {}
    for round_ in range(given.rounds + 1):  # the first run creates derived files and does not count
        for build, whichtool in builds.items():
            for name, store in (("untrained", untrained), ("trained", trained)):
                cost = run([whichtool, "-s", store, "find", REQUEST])
                if round_:
                    costs.setdefault((build, name), []).append(cost)
    print(f"{'':20} {'wall':>10} {'processor':>10} {'peak':>10}")
    for build in builds:
        medians = {}
        for name in ("untrained", "trained"):
            medians[name] = [statistics.median(column) for column in zip(*costs[build, name])]
            wall, processor, peak = medians[name]
            print(f"{build + name:20} {wall:7.1f} ms {processor:7.1f} ms {peak:7.1f} MB")
        ratios = [a / b for a, b in zip(medians["trained"], medians["untrained"])]
        print(f"{build + 'ratio':20} {ratios[0]:10.2f} {ratios[1]:10.2f} {ratios[2]:10.2f}")


main()
