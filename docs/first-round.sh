#!/bin/sh
# Plays the first round of a game by curl alone: four players log in, one makes a game, the others
# take their seats, each makes a move, and the score is shown.
#
# usage: docs/first-round.sh [URL [LOGINS]]
#   URL     of the server; that of config/quickstart when left out
#   LOGINS  a file with a line "HANDLE PASSWORD …" for each of four players; var/logins.txt, which
#           config/quickstart writes, when left out
#
# Every step is one request of docs/api.md.  Needs curl and sed.
set -eu

url=${1:-http://127.0.0.1:$(cat var/port 2>/dev/null || echo 8484)}
logins=${2:-var/logins.txt}
api=$url/api/v1

# The value of the first member of that name in the JSON on standard input.
first() {
    tr ',{' '\n\n' | sed -n "s/^\"$1\":\"\{0,1\}\([^\"}]*\)\"\{0,1\}.*/\1/p" | sed -n 1p
}

# call TOKEN METHOD PATH [BODY]: one request; the answer, or the problem and an end.
call() {
    token=$1 method=$2 path=$3
    if [ $# -ge 4 ]; then
        set -- -H 'Content-Type: application/json' --data "$4"
    else
        set --
    fi
    answer=$(curl --silent --show-error --write-out '\n%{http_code}' --request "$method" \
        -H "Authorization: Bearer $token" "$@" "$api$path")
    status=${answer##*
}
    answer=${answer%
*}
    case $status in
    2??) printf '%s\n' "$answer" ;;
    *)
        printf '%s %s: %s\n%s\n' "$method" "$path" "$status" "$answer" >&2
        return 1
        ;;
    esac
}

# log_in HANDLE PASSWORD: a session by password, and with its cookie an API token for this script.
# A change by cookie must say where it comes from; here that is the server itself.
log_in() {
    jar=$(mktemp)
    curl --silent --show-error --fail --cookie-jar "$jar" -H 'Content-Type: application/json' \
        --data "{\"login\":\"$1\",\"password\":\"$2\"}" "$api/auth/password" >/dev/null
    # An https server's cookie is not sent over http by curl, as it should be.
    curl --silent --show-error --fail --cookie "$jar" -H "Origin: $url" \
        -H 'Content-Type: application/json' \
        --data '{"name":"first round","scopes":["read","play"]}' "$api/me/tokens" | first token
    rm -f "$jar"
}

echo "Logging in"
n=0
while read -r handle password rest && [ $n -lt 4 ]; do
    n=$((n + 1))
    eval "handle$n=\$handle"
    token=$(log_in "$handle" "$password")
    [ -n "$token" ] || { echo "no token for $handle" >&2; exit 1; }
    eval "token$n=\$token"
    echo "  $handle"
done <"$logins"
[ $n -eq 4 ] || { echo "$logins: four players are needed" >&2; exit 1; }

echo "Making a game"
game=$(call "$token1" POST /games "{\"variant\":\"verney\",\"seats\":{\"south\":{\"me\":true},
    \"west\":{\"handle\":\"$handle2\"},\"north\":{\"handle\":\"$handle3\"},\"east\":{\"open\":true}}}")
id=$(printf '%s' "$game" | first id)
echo "  $url/games/$id"

echo "Taking seats"
call "$token2" POST "/games/$id/accept" >/dev/null
call "$token3" POST "/games/$id/accept" >/dev/null
call "$token4" POST "/games/$id/join" '{"seats":["east"]}' >/dev/null

echo "Playing the first round"
for turn in "1 g1f3?" "1 e2e3" "2 b5c5" "3 e13e12" "4 m5l5"; do
    player=${turn%% *} move=${turn#* }
    eval "token=\$token$player handle=\$handle$player"
    state=$(call "$token" GET "/games/$id" | first state_number)
    case $move in
    *\?) # is it legal, and if not, why not?
        move=${move%\?}
        call "$token" GET "/games/$id/legal?move=$move" | sed 's/.*"asked":/  asked: /; s/}$//'
        continue
        ;;
    esac
    # The key makes a repeat of this request, after a lost answer, harmless.
    answer=$(curl --silent --show-error --fail -H "Authorization: Bearer $token" \
        -H 'Content-Type: application/json' -H "Idempotency-Key: \"$id-$state\"" \
        --data "{\"move\":\"$move\",\"state_number\":$state}" "$api/games/$id/moves")
    echo "  $handle: $(printf '%s' "$answer" | first notation)"
done

echo "A move for a state that has passed is refused:"
if call "$token1" POST "/games/$id/moves" '{"move":"f2f3","state_number":1}' 2>/dev/null; then
    echo "it was taken" >&2
    exit 1
fi
curl --silent -H "Authorization: Bearer $token1" -H 'Content-Type: application/json' \
    --data '{"move":"f2f3","state_number":1}' "$api/games/$id/moves" |
    first code | sed 's/^/  /'

echo "The board, and the score:"
call "$token1" GET "/games/$id/board.txt"
call "$token1" GET "/games/$id/game.txt"
echo "Events from the fifth on, as a stream that ends:"
curl --silent --show-error --fail -H "Authorization: Bearer $token1" \
    -H 'Accept: application/x-ndjson' "$api/games/$id/events?since=4&follow=false" |
    while read -r line; do
        printf '  %s %s\n' "$(printf '%s' "$line" | first seq)" "$(printf '%s' "$line" | first kind)"
    done
