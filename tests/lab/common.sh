# Shared by all lab commands (sourced, not run): paths, defaults, small helpers.
# shellcheck shell=bash disable=SC2034 # used by those who source it

LAB_HOME=$(cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")" && pwd)
LAB_DIR=${LAB_DIR:-${XDG_CACHE_HOME:-$HOME/.cache}/nfslab}

LAB_NETNS=nfsx                  # network namespace of the whole lab
LAB_BRIDGE=br0                  # bridge inside it
LAB_NET=10.77.0                 # /24; the namespace itself is .1, guest N is .1N
LAB_GUESTS=4                    # guests 0..3, one tap each

LAB_RUN=/run/nfslab             # locks and pids: one lab per machine, like the namespace

LAB_UML=$LAB_DIR/uml/linux.uml  # the patched User-Mode Linux binary
LAB_MODROOT=$LAB_DIR/modroot    # holds lib/modules/VERSION of that kernel

die() { echo "${0##*/}: $*" >&2; exit 2; }

# Prints the calling script's head comment (the lines after #! up to the first
# line that is no comment) as its help text.
usage() { sed -n '2,/^[^#]/{/^#/!d;s/^# \{0,1\}//;p}' "$0"; }

need_root() { [ "$(id -u)" = 0 ] || die "must run as root"; }
need_setup() { [ -x "$LAB_UML" ] || die "no User-Mode Linux in $LAB_DIR: run $LAB_HOME/setup first"; }
need_net() { [ -e "/run/netns/$LAB_NETNS" ] || "$LAB_HOME/net" up; }

guest_addr() { echo "$LAB_NET.$((10 + $1))"; }

check_guest_number() {
    [[ ${1:-} =~ ^[0-9]+$ ]] && [ "$1" -lt "$LAB_GUESTS" ] ||
        die "guest number must be 0..$((LAB_GUESTS - 1)), not '${1:-}'"
}

# Runs a command inside the lab's network namespace.
in_net() { ip netns exec "$LAB_NETNS" "$@"; }

# True while PID runs the program whose command line contains WORD: guards
# against a recycled pid in an old pid file.
pid_is() {
    [ -n "${1:-}" ] && [ -r "/proc/$1/cmdline" ] &&
        tr '\0' ' ' <"/proc/$1/cmdline" | grep -qF -- "$2"
}
