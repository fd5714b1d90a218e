#!/bin/sh
# Installs this folder, or removes what it has installed.
#
#   sh install.sh [--folder FOLDER] [--prefix PREFIX]
#   sh FOLDER/install.sh --remove
#
# FOLDER gets the programs with all they need: /opt/mcp-session-bridge, or
# without root ~/.local/lib/mcp-session-bridge. A version that is there already
# is replaced, once the new one has started. PREFIX gets links to the programs,
# man pages and completions: /usr/local, or ~/.local. As root, systemd gets the
# units in /usr/local. Files of others, configuration and state are left alone.
set -eu
# Others are to execute and read it, whatever the caller's umask is.
umask 022

fail() { echo "install.sh: $*" >&2; exit 1; }
usage() { sed -n '1d;/^#/!q;s/^# \{0,1\}//p' "$0"; }

here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd -P)
has() { command -v "$1" >/dev/null 2>&1; }
# Of prefixes, systemd searches only these; older ones do not understand the units (%d).
with_systemd() {
  case $prefix in /usr | /usr/local) [ "$(id -u)" -eq 0 ] && has systemctl || return 1 ;; *) return 1 ;; esac
  systemd=$(systemctl --version | sed -n '1s/^systemd \([0-9]*\).*/\1/p')
  [ "${systemd:-0}" -ge 250 ] || { echo "install.sh: the units want systemd 250, here is ${systemd:-none}: not installed" >&2; return 1; }
}

# Of FOLDER: lib/files names what is in it, lib/installed what was made outside of it.

# is_ours PATH: a link into the folder, or a file that names it in its first line.
is_ours() {
  case $(readlink "$1" 2>/dev/null || true) in
    "$folder"/*) ;;
    '') [ -f "$1" ] && [ "$(sed 1q "$1")" = "$(mark)" ] ;;
    *) false ;;
  esac
}
mark() { echo "# Installed from $folder"; }

# is_free PATH: nothing of another origin is replaced.
is_free() {
  if { [ -e "$1" ] || [ -L "$1" ]; } && ! is_ours "$1"; then
    echo "install.sh: left alone, not from here: $1" >&2
    return 1
  fi
  printf '%s\n' "$1" >>"$folder/lib/installed"
}

# link FILE TARGET, copy FILE TARGET (with the folder's place in it): one that cannot be made keeps no other from it.
link() { ! is_free "$2" || { mkdir -p "${2%/*}" && ln -sf "$folder/$1" "$2"; } || missing="$missing $2"; }
copy() { ! is_free "$2" || { mkdir -p "${2%/*}" && write_copy "$1" >"$2"; } || missing="$missing $2"; }
write_copy() { mark && sed "s|/opt/mcp-session-bridge/bin/|$folder/bin/|" "$folder/$1"; }

# remove_made LIST: what is named there, and still ours.
remove_made() {
  while read -r path; do
    ! is_ours "$path" || rm -f "$path"
  done <"$1"
}

# foreign FOLDER: the files in it that its version did not bring.
foreign() {
  if [ -e "$1/lib/files" ]; then (cd "$1" && find . ! -type d | { grep -vxFf lib/files || true; }); fi
}

# remove_own FOLDER: what its version has brought, and what is empty then.
remove_own() {
  [ -e "$1/lib/files" ] || { rm -rf "$1"; return 0; }
  (cd "$1" && while read -r path; do rm -f "$path"; done <<FILES
$(cat lib/files)
FILES
  )
  find "$1" -depth -type d -exec rmdir {} \; 2>/dev/null || true
}

# write_path PROGRAM: where the loader and the libraries will be.
write_path() {
  while read -r place length; do
    text=$folder
    while [ ${#text} -lt "$length" ]; do text=$text/; done
    printf %s "$text" | dd of="$1" bs=1 seek="$place" conv=notrunc 2>/dev/null || fail "cannot write $1"
  done <"$here/lib/places"
}

install_units() {
  for unit in "$folder"/share/mcp-session-bridge/systemd/mcp-bridged*; do
    copy "share/mcp-session-bridge/systemd/${unit##*/}" "$prefix/lib/systemd/system/${unit##*/}"
  done
  copy share/mcp-session-bridge/sysusers.conf "$prefix/lib/sysusers.d/mcp-bridged.conf"
  systemd-sysusers "$prefix/lib/sysusers.d/mcp-bridged.conf"
  [ -d /etc/mcp-bridged ] || install -d -m 750 -g mcp-bridged /etc/mcp-bridged
  [ ! -d /run/systemd/system ] || systemctl daemon-reload
}

# Daemons that run with the libraries of the version that was replaced: their clients stay connected if they are upgraded.
# The program itself is in memory after an upgrade. What watches over a local server's processes ends with its daemon.
running() {
  for process in /proc/[0-9]*; do
    grep -qF " $work/replaced/lib/" "$process/maps" 2>/dev/null || continue
    [ "$(cat "$process/comm" 2>/dev/null)" = mcp-watcher ] || printf ' %s' "${process#/proc/}"
  done
}

# What is half done at the end is undone: $work/old is there until the new version has started.
undo() {
  [ ! -d "$work/old" ] || { rm -rf "$folder" && mv "$work/old" "$folder"; }
  rm -rf "$work" || echo "install.sh: it can be removed: $work" >&2
  rmdir "$folder" 2>/dev/null || true
}

# replace_folder: by what is made beside it, and has started there.
replace_folder() {
  cp -R "$here" "$work/new" || fail "cannot write $work"
  chmod -R u=rwX,go=rX "$work/new"
  foreign "$work/new" | (cd "$work/new" && while read -r path; do rm -f "$path"; done)
  rm -f "$work/new/lib/installed"
  write_path "$work/new/bin/mcp-bridged"
  "$work/new/lib/ld.so" --library-path "$work/new/lib" "$work/new/bin/mcp-bridged" --version >/dev/null ||
    fail "mcp-bridged does not start on this machine; nothing was installed"
  mv "$folder" "$work/old"
  mv "$work/new" "$folder"
  "$folder/bin/mcp-bridged" --version >/dev/null || fail "$folder/bin/mcp-bridged does not start; what was there before is there again"
  mv "$work/old" "$work/replaced"
  if [ -e "$work/replaced/lib/installed" ]; then remove_made "$work/replaced/lib/installed"; fi
  old=$(running)
}

# check_path: of what is written into the program.
check_path() {
  case $folder in *[!A-Za-z0-9/._+~@-]*) fail "$folder: the path can have letters, digits and /._+~@- only; --folder names another" ;; esac
  case $folder in "$here"/*) fail "$folder: it is inside of what is to be installed" ;; esac
  read -r _ most <"$here/lib/places"
  [ ${#folder} -le "$most" ] || fail "$folder: the path can have $most characters at most; --folder names another"
}

install_folder() {
  if [ "$(id -u)" -eq 0 ]; then
    : "${folder:=/opt/mcp-session-bridge}" "${prefix:=/usr/local}"
  else
    : "${folder:=${HOME:?}/.local/lib/mcp-session-bridge}" "${prefix:=${HOME:?}/.local}"
  fi
  case $folder in /*) ;; *) folder=$(pwd -P)/$folder ;; esac
  check_path
  mkdir -p "$folder" "$prefix" || fail "cannot make $folder and $prefix; --folder and --prefix name others"
  folder=$(CDPATH='' cd -- "$folder" && pwd -P) prefix=$(CDPATH='' cd -- "$prefix" && pwd -P)
  check_path
  if [ -n "$(ls -A "$folder")" ] && [ ! -e "$folder/lib/places" ]; then fail "$folder: there is something else in it"; fi
  others=$(foreign "$folder")
  [ -z "$others" ] || fail "$folder has files that are not of this program; move them first: $(echo "$others" | head -5 | tr '\n' ' ')"

  work=$(mktemp -d "$folder.XXXXXX") || fail "cannot write beside $folder"
  trap undo EXIT
  trap 'exit 1' HUP INT TERM
  old='' missing=''
  if [ "$folder" != "$here" ]; then
    replace_folder
  else
    chmod -R u=rwX,go=rX "$folder"
    # A program that runs cannot be written.
    cp "$here/bin/mcp-bridged" "$work/mcp-bridged"
    write_path "$work/mcp-bridged"
    mv "$work/mcp-bridged" "$folder/bin/mcp-bridged"
    [ ! -e "$folder/lib/installed" ] || remove_made "$folder/lib/installed"
    "$folder/bin/mcp-bridged" --version >/dev/null || fail "$folder/bin/mcp-bridged does not start on this machine"
  fi
  : >"$folder/lib/installed"

  for program in mcp-bridged mcp-nc; do
    link bin/$program "$prefix/bin/$program"
    link share/bash-completion/completions/$program "$prefix/share/bash-completion/completions/$program"
    link share/zsh/site-functions/_$program "$prefix/share/zsh/site-functions/_$program"
    link share/fish/vendor_completions.d/$program.fish "$prefix/share/fish/vendor_completions.d/$program.fish"
  done
  link share/man/man8/mcp-bridged.8 "$prefix/share/man/man8/mcp-bridged.8"
  link share/man/man1/mcp-nc.1 "$prefix/share/man/man1/mcp-nc.1"
  ! with_systemd || install_units

  echo "installed: $folder; remove it with: sh $folder/install.sh --remove"
  [ -z "$old" ] || echo "these daemons run the old version: upgrade them in place with: kill -USR2$old"
  case :$PATH: in
    *:"$prefix/bin":*) ;;
    *) echo "not in your PATH: export PATH=\"$prefix/bin:\$PATH\"" ;;
  esac
  [ -z "$missing" ] || fail "it works from there, but these could not be made:$missing"
}

# units: those of this folder that systemd has, with their instances.
units() {
  while read -r path; do
    case $path in */lib/systemd/system/*) ! is_ours "$path" || echo "${path##*/}" ;; esac
  done <"$folder/lib/installed" | sed 's/@\./@*./'
}

# stop_units PATTERNS
stop_units() {
  for wanted in /etc/systemd/system/*.wants/mcp-bridged*; do
    ! is_ours "$(readlink "$wanted")" || systemctl --quiet disable "${wanted##*/}" || true
  done
  # systemctl expands the patterns, not the shell.
  set -f
  # shellcheck disable=SC2086  # a word each
  systemctl stop $1 || true
  # shellcheck disable=SC2086
  systemctl reset-failed $1 2>/dev/null || true
  set +f
}

remove_folder() {
  [ -z "$folder$prefix" ] || fail "--remove takes no other option: it removes the folder that install.sh is in"
  folder=$here
  if [ ! -e "$folder/lib/installed" ]; then
    linked=$(readlink "$(command -v mcp-bridged)" || true)
    for installed in "${linked%/bin/mcp-bridged}" /opt/mcp-session-bridge "${HOME:-/}/.local/lib/mcp-session-bridge"; do
      [ ! -e "$installed/lib/installed" ] || fail "this folder was not installed; remove what was with: sh $installed/install.sh --remove"
    done
    fail "$folder was not installed; remove it as it is. What was installed has an install.sh of its own"
  fi
  units=''
  if [ -d /run/systemd/system ]; then units=$(units); fi
  [ -z "$units" ] || stop_units "$units"
  remove_made "$folder/lib/installed"
  remove_own "$folder"
  [ -z "$units" ] || systemctl daemon-reload
  [ -e "$folder" ] || { echo "removed: $folder"; exit 0; }
  echo "removed, but for what is not of this program: $(find "$folder" ! -type d | head -5 | tr '\n' ' ')"
  # There is nothing left to read.
  exit 0
}

main() {
  folder='' prefix='' action=install_folder
  while [ $# -gt 0 ]; do
    case $1 in
      --folder | --prefix)
        [ $# -gt 1 ] || fail "$1 needs a path"
        if [ "$1" = --folder ]; then folder=$2; else prefix=$2; fi
        shift ;;
      --remove) action=remove_folder ;;
      -h | --help) usage; exit 0 ;;
      *) usage >&2; exit 64 ;;
    esac
    shift
  done
  $action
}

main "$@"
