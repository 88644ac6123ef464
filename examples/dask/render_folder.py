#!/usr/bin/env python3
"""Renders a folder of audio files on a Dask cluster: `tone-filter render`, once for every file.

An output depends only on its file, the flags and the kernel, and appears only once it is complete. So any worker can render any file,
any number of times: if a worker is lost, its files are rendered again elsewhere, and nothing has to be cleaned up. All machines need
the command and the two folders, under the same names.

    render_folder.py IN OUT [--scheduler tcp://host:8786] [--kernel NAME] [-- FLAGS OF tone-filter render]

Without a scheduler, a cluster of this computer's cores runs for as long as the rendering takes.
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
    """Runs `tone-filter render --json` and returns its report. Ends this program if the command fails as a whole."""
    # A file may be rendered twice, with the same result, so --force is safe.
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
    """Renders one file on the machine of the worker. Returns its report, also if it fails, as a second try would fail, too."""
    try:
        return tone_filter(command, flags, source, "-o", target, "--jobs", "1")["files"][0]
    except SystemExit as error:
        return {"input": source, "output": target, "status": "failed", "error": str(error).removeprefix("error: ")}


def render_folder(client, command, folder, out, flags=(), each=lambda report: None):
    """Renders all files of `folder`. Calls `each` with every report. Returns the errors by file."""
    # The command decides the names of the outputs. The / at the end stands for a folder, which may be missing.
    plan = tone_filter(command, flags, str(folder.resolve()), "-o", f"{out.resolve()}/", "--dry-run")
    # Not pure: Dask would otherwise reuse an earlier result, whose file may be gone.
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
    """Returns the report of a file, also if Dask has given up after losing several workers."""
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
    # By default, each machine uses its fastest kernel, and kernels differ in the last bits.
    parser.add_argument("--kernel", default="portable", help="that all machines have: portable, or a faster one")
    parser.add_argument("flags", nargs="*", help="for tone-filter render, after --")
    # parse_args would refuse flags after -- if an option stands between them and the folders.
    arguments = parser.parse_intermixed_args()

    if not arguments.folder.is_dir():
        raise SystemExit(f"error: {arguments.folder}: is no folder; name one with audio files")
    # A local cluster ends here, before the errors are printed.
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
