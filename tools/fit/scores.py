"""Reads MusicXML scores as plain note lists.

usage: scores.py OUT.npz FOLDER ..                  folders with .mxl, .musicxml, .xml files

Each score becomes an array of rows (part, onset in quarters, length in quarters, MIDI note). Repeats are not unfolded. Test pieces are left
out (HELD_OUT), and so is each file that reserves rights on its encoding (RESERVED).
"""
import glob, os, re, sys, zipfile
import xml.etree.ElementTree as ET
from multiprocessing import Pool
import numpy as np

HELD_OUT = re.compile(r"opus74no1|op\.?_?74_no\.?_?1|k\.?_?458|opus18no1|op\.?_?18_no\.?_?1\b|bwv66\.6|bwv269|k\.?_?155|opus1no1|hob\.?_?iii_?1,|op\.?_?1_no\.?_?1\b|maple_leaf", re.I)
RESERVED = re.compile(rb"rights reserved|derivative electronic formats|non-?commercial|personal use", re.I)
STEPS = dict(C=0, D=2, E=4, F=5, G=7, A=9, B=11)


def read(path):
    """Returns the MusicXML text of a file."""
    if not path.endswith(".mxl"):
        with open(path, "rb") as f: return f.read()
    with zipfile.ZipFile(path) as z:
        root = ET.fromstring(z.read("META-INF/container.xml"))
        name = next(e.get("full-path") for e in root.iter() if e.tag.endswith("rootfile"))
        return z.read(name)


def rows(text):
    """Converts MusicXML to rows (part, onset, length, note), by onset; tied notes are one."""
    out, measures = [], {}
    for k, part in enumerate(ET.fromstring(text).iter("part")):
        divisions, transpose, start, tied = 1.0, 0, 0.0, {}
        for number, measure in enumerate(part.iter("measure")):
            now = before = end = start
            for e in measure:
                if e.tag == "attributes":
                    divisions = float(e.findtext("divisions") or divisions)
                    t = e.find("transpose")
                    if t is not None: transpose = int(float(t.findtext("chromatic") or 0)) + 12 * int(t.findtext("octave-change") or 0)
                elif e.tag in ("backup", "forward"):
                    now += float(e.findtext("duration")) / divisions * (1 if e.tag == "forward" else -1)
                elif e.tag == "note" and e.find("grace") is None:
                    lasts = float(e.findtext("duration") or 0) / divisions
                    at = before if e.find("chord") is not None else now
                    before, now = at, max(now, at + lasts)
                    p = e.find("pitch")
                    if p is not None and lasts > 0 and e.find("cue") is None:
                        n = STEPS[p.findtext("step")] + round(float(p.findtext("alter") or 0)) + 12 * (int(p.findtext("octave")) + 1) + transpose
                        ties = {t.get("type") for t in e.findall("tie")}
                        if "stop" in ties and n in tied: tied[n][2] = at + lasts - tied[n][1]
                        else: out.append([k, at, lasts, n])
                        if "start" in ties: tied[n] = tied[n] if "stop" in ties and n in tied else out[-1]
                        else: tied.pop(n, None)
                end = max(end, now)
            start = max(end, measures.get(number + 1, 0))              # all parts' measures begin together
            measures[number + 1] = start
    return np.array(sorted(out, key=lambda r: r[1]), np.float32).reshape(-1, 4)


def one(job):
    """Returns name, rows and None. For a score that is left out, returns name, None and the reason: 0 for HELD_OUT, 1 for RESERVED, 2 if it cannot be read."""
    name, path = job
    if HELD_OUT.search(name): return name, None, 0
    try:
        text = read(path)
        return (name, None, 1) if RESERVED.search(text) else (name, rows(text), None)
    except Exception as fault:
        print("left out:", name, repr(fault)[:80])
        return name, None, 2


if __name__ == "__main__":
    out, left = {}, [0, 0, 0]
    for folder in sys.argv[2:]:
        paths = sorted(p for kind in ("mxl", "musicxml", "xml") for p in glob.glob(f"{folder}/**/*.{kind}", recursive=True))
        jobs = [(os.path.relpath(p, os.path.dirname(folder.rstrip("/"))).replace("/", "|"), p) for p in paths]
        with Pool() as pool:
            for name, r, why in pool.imap(one, jobs, 8):
                if why is not None: left[why] += 1
                elif len(r) >= 60: out[name] = r
    np.savez_compressed(sys.argv[1], **out)
    print(f"{len(out)} scores, {sum(map(len, out.values()))} notes; left out: {left[0]} held back, {left[1]} with reserved rights, {left[2]} not read")
