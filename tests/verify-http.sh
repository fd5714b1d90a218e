#!/usr/bin/env bash
# Checks a deployed HTTP frontend from outside: health, a call, a stream, 202, 401, 403.
#
#   bash tests/verify-http.sh URL [TOKEN]     URL without the path: https://bridge.example
#
# Needs curl. One line a check; exit 0 if all are well, 1 if one is not, 2 for wrong usage. It opens
# one session and ends it; it calls no tool and takes no notification.
set -uo pipefail

if [[ $# -lt 1 || $# -gt 2 ]]; then
  sed -n '1d;/^#/!q;s/^# \{0,1\}//p' "$0" >&2
  exit 2
fi
url=${1%/}
url=${url%/mcp}
token=${2:-}
folder=$(mktemp -d)
stream=
trap '[[ -z $stream ]] || kill "$stream" 2>/dev/null; rm -rf "$folder"' EXIT
failed=0

say() { # say OUTCOME WHAT [DETAIL]
  printf '%-7s %s%s\n' "$1" "$2" "${3:+: $3}"
  [[ $1 != 'NOT OK' ]] || failed=1
}

# The token stays out of the process list.
[[ -z $token ]] || printf 'header = "Authorization: Bearer %s"\n' "$token" >"$folder/with-token"
[[ -n $token ]] || : >"$folder/with-token"
: >"$folder/nothing"

# ask CONFIG curl's arguments: the status; head and body go to files.
ask() {
  local config=$1
  shift
  : >"$folder/body"
  : >"$folder/head"
  curl -sS -K "$folder/$config" -m 20 -o "$folder/body" -D "$folder/head" -w '%{http_code}' "$@" 2>"$folder/error" || true
}

expect() { # expect STATUS WHAT CONFIG curl's arguments
  local wanted=$1 what=$2 got
  shift 2
  got=$(ask "$@")
  if [[ $got =~ ^($wanted)$ ]]; then
    say ok "$what" "$got"
  else
    say 'NOT OK' "$what" "$got instead of $wanted $(head -c 200 "$folder/error" "$folder/body" 2>/dev/null | tr '\n' ' ')"
    return 1
  fi
}

# answered ID FILE: an event of the stream has this id. JSON may have white space anywhere, and an event
# more than one line of data.
answered() { grep -qE "^data:.*\"id\"[[:space:]]*:[[:space:]]*$1[[:space:]]*([,}]|\$)" "$2"; }

# until_true COMMAND…: for 10 s at most, and no longer than the stream is there.
until_true() {
  local tries
  for ((tries = 0; tries < 100; ++tries)); do
    if "$@" || ! kill -0 "$stream" 2>/dev/null; then return; fi
    sleep 0.1
  done
}

json=(-H 'Content-Type: application/json')
initialize='{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"verify-http","version":"1"}}}'

expect 200 'alive (/healthz)' nothing "$url/healthz" || {
  echo "nothing answers at $url" >&2
  exit 1
}
expect 200 'the upstream can be reached (/readyz)' nothing "$url/readyz"
expect 200 'the API is described (/openapi.json)' with-token "$url/openapi.json"

if expect 200 'a session is opened' with-token "${json[@]}" -H 'Accept: application/json' -d "$initialize" "$url/mcp"; then
  session=$(tr -d '\r' <"$folder/head" | sed -n 's/^mcp-session-id:[[:space:]]*//Ip')
  if [[ -n $session ]]; then
    say ok 'its id can be read (Mcp-Session-Id)'
  else
    say 'NOT OK' 'its id can be read (Mcp-Session-Id)' 'a proxy has removed it?'
  fi
  inside=(-H "Mcp-Session-Id: $session" -H 'MCP-Protocol-Version: 2025-11-25')
  expect 202 'a notification is accepted' with-token "${json[@]}" "${inside[@]}" \
    -d '{"jsonrpc":"2.0","method":"notifications/initialized"}' "$url/mcp"
  expect 200 'a request is answered as JSON' with-token "${json[@]}" "${inside[@]}" \
    -d '{"jsonrpc":"2.0","id":2,"method":"ping"}' "$url/mcp"
  expect 200 'a request is answered as a stream' with-token "${json[@]}" "${inside[@]}" \
    -H 'Accept: text/event-stream' -d '{"jsonrpc":"2.0","id":3,"method":"ping"}' "$url/mcp" &&
    if answered 3 "$folder/body"; then
      say ok 'the stream holds the answer'
    else
      say 'NOT OK' 'the stream holds the answer' "$(head -c 200 "$folder/body" | tr '\n' ' ')"
    fi

  # The fan-out takes no notifications. Its first comment must come at once: one that is held back
  # means that something on the way buffers.
  curl -sS -N -K "$folder/with-token" -m 30 -H 'Accept: text/event-stream' "$url/mcp/stream" >"$folder/stream" 2>/dev/null &
  stream=$!
  # Only this curl writes to the file: wait for its first bytes, or for its end.
  until_true test -s "$folder/stream"
  if grep -q '^:' "$folder/stream"; then
    say ok 'a stream begins at once (/mcp/stream)'
  else
    say 'NOT OK' 'a stream begins at once (/mcp/stream)' 'nothing came in 10 s: does a proxy buffer text/event-stream?'
  fi
  expect 202 'an answer may come later (Prefer: respond-async)' with-token "${json[@]}" -H 'Prefer: respond-async' \
    -d '{"jsonrpc":"2.0","id":"verify","method":"ping"}' "$url/mcp"
  until_true answered '"verify"' "$folder/stream"
  if answered '"verify"' "$folder/stream"; then
    say ok 'and comes on the stream'
  else
    say 'NOT OK' 'and comes on the stream' 'it did not in 10 s'
  fi
  expect '204|200' 'the session is ended' with-token -X DELETE "${inside[@]}" "$url/mcp"
  expect 404 'and is gone' with-token "${json[@]}" "${inside[@]}" -d '{"jsonrpc":"2.0","id":4,"method":"ping"}' "$url/mcp"
fi

if [[ -n $token ]]; then
  expect 401 'without the token: refused' nothing "${json[@]}" -d "$initialize" "$url/mcp"
  echo 'header = "Authorization: Bearer not-the-token"' >"$folder/wrong-token"
  expect 401 'with a wrong token: refused' wrong-token "${json[@]}" -d "$initialize" "$url/mcp"
else
  say skipped 'tokens (none was given)'
fi
expect 403 'a foreign web page (Origin): refused' with-token -H 'Origin: https://verify.invalid' "${json[@]}" -d "$initialize" "$url/mcp"
expect 415 'what is not JSON: refused' with-token -H 'Content-Type: text/plain' -d "$initialize" "$url/mcp"

[[ $failed -eq 0 ]] && echo "all is well at $url"
exit "$failed"
