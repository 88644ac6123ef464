#!/bin/bash
# Renders and trains beside one another: run.sh WORK SECONDS WORKERS.
# WORK holds songs.npz, notes.npz, voices.npz, fonts/*.sf3, full.npz, light.npz (to go on from); results in WORK/out. Needs the packages of requirements.txt, libfluidsynth.
set -u
here=$(dirname "$(readlink -f "$0")") work=$1 seconds=$2 workers=$3
export OMP_NUM_THREADS=1 PYTHONUNBUFFERED=1
mkdir -p "$work/data" "$work/out"
LD_LIBRARY_PATH=${LIBRARIES:-} python3 "$here/render.py" "$work/songs.npz" "$work/fonts" "$work/data" --notes "$work/notes.npz" --voices "$work/voices.npz" --workers "$workers" --seconds $((seconds - 60)) >"$work/out/render.log" 2>&1 &
python3 "$here/train.py" "$work/data" "$work/out" full=full="$work/full.npz" light=light="$work/light.npz" --seconds "$seconds" ${TRAIN:-} >"$work/out/train.log" 2>&1
for name in full light; do
    timeout 150 python3 "$here/choose.py" "$work/out/$name.npz" "$work/data/valid.npz" "$work/out/$name.chosen.npz" && mv "$work/out/$name.chosen.npz" "$work/out/$name.npz"
done >"$work/out/choose.log" 2>&1
touch "$work/out/finished"
