#!/usr/bin/env python3
"""Renders a folder of audio files on a Dask cluster: `tone-filter render`, once for every file.

A rendering depends on nothing but its file, its flags and the kernel that computes, and an output appears when it is complete. So any worker
can render any file, any number of times: what is lost with a worker is rendered again elsewhere, and nothing has to be
cleaned up or compared. All machines need the command and the two folders, under the same names.

    render_folder.py IN OUT [--scheduler tcp://host:8786] [--kernel NAME] [-- FLAGS OF tone-filter render]

Without a scheduler, a cluster of this computer's cores is started for as long as it takes.
"""

import argparse
import json
import pathlib
import subprocess
import sys

from dask.distributed import Client, LocalCluster, as_completed

SUFFIXES = {".wav", ".wave", ".bwf", ".rf64", ".flac", ".aif", ".aiff", ".aifc", ".mp3", ".ogg", ".oga"}
RETRIES = 3


def render(command, source, target, flags):
    """One file, on whichever machine this runs. Gives the report of `tone-filter render --json`."""
    pathlib.Path(target).parent.mkdir(parents=True, exist_ok=True)
    # A file that is rendered a second time is the same; --force lets it be.
    arguments = [command, "render", source, "-o", target, "--force", "--jobs", "1", "--quiet", "--json", *flags]
    done = subprocess.run(arguments, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(done.stderr.strip())
    return json.loads(done.stdout)["files"][0]


def jobs(folder, out):
    """Pairs of files to read and to write, the structure of the folder kept."""
    pairs = {}
    for source in sorted(folder.rglob("*")):
        below = source.relative_to(folder)
        hidden = any(part.startswith(".") for part in below.parts)
        if source.suffix.lower() in SUFFIXES and not hidden and source.is_file():
            target = (out / below).with_suffix(".wav")
            if target in pairs:
                raise SystemExit(f"error: {source} and {pairs[target]} would both become {target}")
            pairs[target] = source
    return [(str(source), str(target)) for target, source in pairs.items()]


def render_folder(client, command, folder, out, flags=(), each=lambda report: None):
    """Renders all of `folder`. `each` is told every report as it comes. Gives the errors by file."""
    pairs = jobs(folder.resolve(), out.resolve())
    # Not pure: Dask must not believe that a result it remembers is still on the disk.
    futures = {
        client.submit(render, command, source, target, list(flags), pure=False, retries=RETRIES): source
        for source, target in pairs
    }
    errors = {}
    for future in as_completed(futures):
        if future.status == "finished":
            each(future.result())
        else:
            errors[futures[future]] = str(future.exception())
    return errors


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

    cluster = arguments.scheduler or LocalCluster(threads_per_worker=1, dashboard_address=None)
    with Client(cluster) as client:
        errors = render_folder(
            client,
            arguments.command,
            arguments.folder,
            arguments.out,
            ["--kernel", arguments.kernel, *arguments.flags],
            lambda report: print(f"{report['input']} -> {report['output']}"),
        )
    for error in errors.values():
        print(error, file=sys.stderr)
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
