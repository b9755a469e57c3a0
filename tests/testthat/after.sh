# Runs a file of commands once a process has ended, however it went (kill -9 included): servers that tests start end with
# those who started them.
#   sh after.sh PID COMMANDS (PID now: at once)
trap '' INT HUP
has_ended() {
  if ! command -v ps >/dev/null; then ! kill -0 "$1"; return; fi
  # (Who has ended stays in the table until its parent asks.)
  case "$(ps -o stat= -p "$1")" in '' | Z*) return 0 ;; esac
  return 1
}
[ "$1" = now ] || until has_ended "$1"; do sleep 0.3; done
[ -f "$2" ] || exit 0 # run at an orderly end
sh "$2"
rm -f "$2"
