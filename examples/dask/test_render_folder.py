"""Test with two workers, one of them killed midway: all outputs exist, and equal those without a cluster.

    test_render_folder.py TONE-FILTER FOLDER-FOR-FILES
"""

import math
import os
import pathlib
import signal
import struct
import subprocess
import sys
import wave

from dask.distributed import Client, LocalCluster
from render_folder import render_folder

FILES = 40
SOUND = ["--preset", "chord-pad", "--bit-depth", "24"]
FLAGS = [*SOUND, "--kernel", "portable"]


def write_tone(path, frequency, seconds):
    path.parent.mkdir(parents=True, exist_ok=True)
    rate = 22_050
    samples = (math.sin(2 * math.pi * frequency * t / rate) for t in range(int(seconds * rate)))
    with wave.open(str(path), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(rate)
        file.writeframes(b"".join(struct.pack("<h", int(20_000 * sample)) for sample in samples))


def contents(folder):
    # Hidden files are the unfinished outputs of a killed worker.
    files = (path for path in folder.rglob("*.wav") if not path.name.startswith("."))
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


def main():
    command, root = sys.argv[1], pathlib.Path(sys.argv[2])
    for index in range(FILES):
        write_tone(root / "in" / f"{index % 3}" / f"{index:02}.wav", 220 * 2 ** (index / 12), 1 + index % 4)
    (root / "in" / "bad.wav").write_bytes(b"RIFF")

    alone = subprocess.run([command, "render", str(root / "in"), "-o", str(root / "alone"), "--quiet", *FLAGS], check=False)
    assert alone.returncode == 1, "one file is bad"

    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster, Client(cluster) as client:
        workers = client.run(os.getpid)
        assert len(workers) == 2, workers
        victim = next(iter(workers))
        reports = []

        def each(report):
            reports.append(report)
            if len(reports) == FILES // 4:
                os.kill(workers[victim], signal.SIGKILL)

        errors = render_folder(client, command, root / "in", root / "out", FLAGS, each)
        survivors = client.run(os.getpid)

    assert workers[victim] not in survivors.values(), "the worker was not killed"
    assert list(errors) == [str((root / "in" / "bad.wav").resolve())], errors
    assert "\n" not in errors[str((root / "in" / "bad.wav").resolve())], errors
    assert "not a WAV file" in errors[str((root / "in" / "bad.wav").resolve())], errors
    assert len(reports) == FILES, len(reports)
    out = contents(root / "out")
    assert len(out) == FILES, sorted(out)
    assert out == contents(root / "alone"), "a file differs from the one rendered without a cluster"

    # By the command line, whose default kernel is portable.
    script = pathlib.Path(__file__).with_name("render_folder.py")
    arguments = [str(root / "in" / "0"), str(root / "line"), "--command", command, "--", *SOUND]
    subprocess.run([sys.executable, str(script), *arguments], check=True, stdout=subprocess.DEVNULL)
    assert contents(root / "line") == contents(root / "alone" / "0"), "the command line gives other files"

    # Again, with one output missing and one replaced: --skip-existing keeps existing files, and a bad file gives one line of error.
    (root / "line" / "00.wav").unlink()
    (root / "line" / "03.wav").write_bytes(b"as it is")
    (root / "in" / "0" / "bad.wav").write_bytes(b"RIFF")
    again = subprocess.run([sys.executable, str(script), *arguments, "--skip-existing"], check=False, capture_output=True, text=True)
    assert again.returncode == 1, again
    # On a busy computer, Dask may log the end of workers.
    errors = [line for line in again.stderr.splitlines() if line.startswith("error: ")]
    assert len(errors) == 1 and "bad.wav" in errors[0], again.stderr
    assert again.stdout.count(": done\n") == 1 and again.stdout.count(": skipped\n") == len(contents(root / "line")) - 1, again.stdout
    assert (root / "line" / "00.wav").exists() and (root / "line" / "03.wav").read_bytes() == b"as it is"

    none = subprocess.run([sys.executable, str(script), str(root / "none"), str(root / "line")], check=False, capture_output=True, text=True)
    assert none.returncode == 1 and none.stderr == f"error: {root / 'none'}: is no folder; name one with audio files\n", none
    print(f"{FILES} files on two workers, one of them killed after {FILES // 4}: all there, all the same")


if __name__ == "__main__":
    main()
