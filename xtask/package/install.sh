#!/bin/sh
# Installs Tone Filter for this user from the folder that this script is in: the plugin where hosts look for it, and the
# command into ~/.local/bin. `./install.sh --uninstall` removes all of it.
set -eu
cd "$(dirname "$0")"

case "$(uname -s)" in
Darwin)
    clap="$HOME/Library/Audio/Plug-Ins/CLAP"
    vst3="$HOME/Library/Audio/Plug-Ins/VST3"
    ;;
*)
    clap="$HOME/.clap"
    vst3="$HOME/.vst3"
    lv2="$HOME/.lv2"
    ;;
esac
bin="$HOME/.local/bin"

# Copies $1 into the folder $2, in place of an older one, which stays until the new one is complete.
put() {
    mkdir -p "$2"
    rm -rf "$2/$1.new"
    cp -R "$1" "$2/$1.new"
    rm -rf "${2:?}/$1"
    mv "$2/$1.new" "$2/$1"
    echo "Installed $2/$1"
}

# Removes $1 from the folder $2.
drop() {
    if [ -e "$2/$1" ]; then
        rm -rf "${2:?}/$1"
        echo "Removed $2/$1"
    fi
}

case "${1-}" in
"")
    action=put
    ;;
--uninstall)
    action=drop
    ;;
*)
    echo "Usage: ./install.sh [--uninstall]" >&2
    exit 2
    ;;
esac
"$action" "Tone Filter.clap" "$clap"
"$action" "Tone Filter.vst3" "$vst3"
"$action" tone-filter "$bin"
if [ -n "${lv2-}" ]; then
    "$action" tone-filter.lv2 "$lv2"
fi
if [ "$action" = drop ]; then
    exit
fi
if [ "$(uname -s)" = Darwin ]; then
    # macOS loads a file that a browser has downloaded only if Apple has checked it. This attribute marks such files.
    xattr -dr com.apple.quarantine "$clap/Tone Filter.clap" "$vst3/Tone Filter.vst3" \
        "$bin/tone-filter" || true
fi
case ":$PATH:" in
*":$bin:"*) ;;
*) echo "Add $bin to your PATH to use the command tone-filter." ;;
esac
echo 'Now let your host scan for plugins; the effect is called "Tone Filter".'
