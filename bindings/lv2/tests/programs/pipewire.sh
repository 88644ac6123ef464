#!/bin/sh
# pipewire.sh FOLDER CONFIG INPUT OUTPUT: starts a PipeWire server in FOLDER, plays INPUT on CONFIG's loudspeaker "tone-filter"
# with Mix at 100 %, and records in OUTPUT what the plugin sends to the real loudspeaker. Needs a session bus of its own.
set -eu
here="$(cd "$(dirname "$0")" && pwd)"
folder="$1"
config="$2"
input="$3"
output="$4"
export XDG_RUNTIME_DIR="$folder" PIPEWIRE_RUNTIME_DIR="$folder" HOME="$folder"
chmod 700 "$folder"

jobs=""
trap 'kill $jobs 2>/dev/null || true; wait' EXIT
trap 'exit 1' INT TERM

# Waits up to a minute until pw-link, with the option $2, lists a port or a link that matches $1.
await() {
    tries=0
    until timeout 10 pw-link "$2" 2>/dev/null | grep -q "$1"; do
        tries=$((tries + 1))
        if [ "$tries" -gt 120 ]; then
            echo "PipeWire has no $1" >&2
            exit 1
        fi
        sleep 0.5
    done
}

pipewire -c "$here/daemon.conf" &
jobs="$!"
while [ ! -S "$folder/pipewire-0" ]; do sleep 0.1; done
wireplumber 2>"$folder/wireplumber.log" &
jobs="$jobs $!"
await speakers:playback_FL -i
pipewire -c "$config" &
jobs="$jobs $!"
await tone-filter:playback_FL -i
await "tone-filter-output:output_FL" -l
# Command of the manual.
pw-cli set-param tone-filter Props '{ params = [ "tone-filter:mix" 100.0 ] }' >/dev/null
pw-record --rate 44100 --channels 2 --format f32 --target speakers -P stream.capture.sink=true "$output" &
record="$!"
jobs="$jobs $record"
await "pw-record:input_FL" -l
timeout 60 pw-play --target tone-filter "$input"
# A recording ends properly with this signal.
kill -INT "$record"
wait "$record" || true
