#!/usr/bin/env python3
"""Renders a folder of audio files on a Dask cluster: `tone-filter render`, once for every file.

A rendering depends on nothing but its file, its flags and the kernel that computes, and an output appears when it is complete. So any worker
can render any file, any number of times: what is lost with a worker is rendered again elsewhere, and nothing has to be
cleaned up or compared. All machines need the command and the two folders, under the same names.

    render_folder.py IN OUT [--scheduler tcp://host:8786] [--kernel NAME] [-- FLAGS OF tone-filter render]

Without a scheduler, a cluster of this computer's cores is started for as long as it takes.
"""

import argparse
import contextlib
import itertools
import json
import pathlib
import subprocess
import sys

from dask.distributed import Client, LocalCluster, as_completed


def tone_filter(command, flags, *arguments):
    """Runs `tone-filter render --json`. Gives its report; what is wrong with all of a run ends this program."""
    # A file that is rendered a second time is the same; --force lets it be.
    existing = [] if {"--force", "--skip-existing"} & set(flags) else ["--force"]
    line = [command, "render", *arguments, *existing, "--quiet", "--json", *flags]
    try:
        done = subprocess.run(line, capture_output=True, text=True, check=False)
    except OSError as error:
        raise SystemExit(f"error: {command}: {error.strerror}; name the command with --command") from error
    if not done.stdout:
        raise SystemExit(done.stderr.strip())
    return json.loads(done.stdout)


def render(command, source, target, flags):
    """One file, on whichever machine this runs. Gives its report, also of a file that fails: to try that again would
    change nothing."""
    try:
        return tone_filter(command, flags, source, "-o", target, "--jobs", "1")["files"][0]
    except SystemExit as error:
        return {"input": source, "output": target, "status": "failed", "error": str(error).removeprefix("error: ")}


def render_folder(client, command, folder, out, flags=(), each=lambda report: None):
    """Renders all of `folder`. `each` gets every report as it comes. Gives the errors by file."""
    # The command itself decides which file becomes which. A / makes a folder of what is not there.
    plan = tone_filter(command, flags, str(folder.resolve()), "-o", f"{out.resolve()}/", "--dry-run")
    # Not pure: Dask must not believe that a result it remembers is still on the disk.
    futures = {
        client.submit(render, command, file["input"], file["output"], list(flags), pure=False): file
        for file in plan["files"]
        if file["status"] == "planned"
    }
    decided = [file for file in plan["files"] if file["status"] != "planned"]
    errors = {}
    rendered = (outcome(future, futures[future]) for future in as_completed(futures))
    for report in itertools.chain(decided, rendered):
        if report["status"] == "failed":
            errors[report["input"]] = report["error"]
        else:
            each(report)
    return errors


def outcome(future, file):
    """The report of a file, also of one that has cost Dask several workers."""
    if future.status == "finished":
        return future.result()
    error = " ".join(str(future.exception()).split())
    return {**file, "status": "failed", "error": f"{file['input']}: {error}"}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--scheduler", help="its address, like tcp://host:8786")
    parser.add_argument("--command", default="tone-filter", help="on all machines")
    # Left to itself, each machine takes its CPU's fastest one, and their outputs differ in the last bits.
    parser.add_argument("--kernel", default="portable", help="that all machines have: portable, or a faster one")
    parser.add_argument("flags", nargs="*", help="for tone-filter render, after --")
    # Not parse_args, which takes no flags after -- once an option stands between them and the folders.
    arguments = parser.parse_intermixed_args()

    if not arguments.folder.is_dir():
        raise SystemExit(f"error: {arguments.folder}: is no folder; name one with audio files")
    # A local cluster ends before the errors are printed.
    local = not arguments.scheduler and LocalCluster(threads_per_worker=1, dashboard_address=None)
    with local or contextlib.nullcontext(arguments.scheduler) as cluster, Client(cluster) as client:
        errors = render_folder(
            client,
            arguments.command,
            arguments.folder,
            arguments.out,
            ["--kernel", arguments.kernel, *arguments.flags],
            lambda report: print(f"{report['input']} -> {report['output']}: {report['status']}"),
        )
    for error in errors.values():
        print(f"error: {error}", file=sys.stderr)
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
