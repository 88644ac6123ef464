#!/bin/bash
# run.sh WORK SECONDS WORKERS [DEVICES]: renders and trains at the same time. Each device has WORKERS workers; the devices learn
# together. WORK holds songs.npz, notes.npz, voices.npz, fonts/*.sf3, and full.npz, light.npz to go on from, if they are there;
# results in WORK/out. Needs the packages of requirements.txt, libfluidsynth.
set -u
here=$(dirname "$(readlink -f "$0")") work=$1 seconds=$2 workers=$3 devices=${4:-1}
export OMP_NUM_THREADS=1 PYTHONUNBUFFERED=1 MASTER_ADDR=127.0.0.1 MASTER_PORT=29400
mkdir -p "$work/out"
nets=()
for name in full light; do
    nets+=("$name=$name$([ -e "$work/$name.npz" ] && echo "=$work/$name.npz")")
done
for ((k = 0; k < devices; k++)); do
    mkdir -p "$work/data/$k"
    LD_LIBRARY_PATH=${LIBRARIES:-} python3 "$here/render.py" "$work/songs.npz" "$work/fonts" "$work/data/$k" --notes "$work/notes.npz" --voices "$work/voices.npz" \
        --workers "$workers" --seconds $((seconds - 60)) --first ${k}0000000 >"$work/out/render-$k.log" 2>&1 &
    CUDA_VISIBLE_DEVICES=$k python3 "$here/train.py" "$work/data/$k" "$work/out" "${nets[@]}" --seconds "$seconds" --rank "$k" --ranks "$devices" ${TRAIN:-} >"$work/out/train-$k.log" 2>&1 &
done
wait
for name in full light; do
    timeout 150 python3 "$here/choose.py" "$work/out/$name.npz" "$work/data/0/valid.npz" "$work/out/$name.chosen.npz" && mv "$work/out/$name.chosen.npz" "$work/out/$name.npz"
done >"$work/out/choose.log" 2>&1
touch "$work/out/finished"
