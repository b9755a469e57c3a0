# Runs a file of commands once a process has ended, however it went (kill -9 included): servers that tests start end with
# those who started them.
#   sh after.sh PID COMMANDS (PID now: at once)
trap '' INT HUP
# (Who has ended stays in the table until its parent asks. /proc, where there is one, is read without a process of its own.)
has_ended() {
  if [ -d /proc/self ]; then
    read -r state 2>/dev/null <"/proc/$1/stat" || return 0
    case "${state##*) }" in Z*) return 0 ;; esac
    return 1
  fi
  case "$(ps -o stat= -p "$1")" in '' | Z*) return 0 ;; esac
  return 1
}
[ "$1" = now ] || until has_ended "$1"; do sleep 1; done
[ -f "$2" ] || exit 0 # run at an orderly end
sh "$2"
rm -f "$2"
