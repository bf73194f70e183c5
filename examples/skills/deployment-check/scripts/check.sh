#!/bin/sh
# Checks a deployment description against the rules for its environment.
#
# Standard input: {"environment": "staging", "file": "deploy.conf"}; `file` is optional, a file in the working directory.
# Standard output: one JSON object. Exit code: 0 nothing found, 1 something found, 2 cannot tell.
set -u

here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd) || exit 2
assets=${here%/scripts}/assets
newline='
'
tab=$(printf '\t')

cannot_tell() {
    printf 'check.sh: %s\n' "$1" >&2
    exit 2
}

# A text as a JSON string, with its quotes.
json_string() {
    escaped=$(printf '%s.' "$1" | tr '\001-\010\013\014\016-\037' '?' |
        sed -e 's/\\/\\\\/g' -e 's/"/\\"/g' -e "s/$tab/\\\\t/g" -e "s/$(printf '\r')/\\\\r/g")
    escaped=${escaped%.}
    joined=''
    while [ "$escaped" != "${escaped#*"$newline"}" ]; do
        joined=$joined${escaped%%"$newline"*}'\n'
        escaped=${escaped#*"$newline"}
    done
    printf '"%s%s"' "$joined" "$escaped"
}

# The value of a text property of the input.
property() {
    printf '%s' "$input" | tr '\n' ' ' |
        sed -n 's/.*"'"$1"'"[[:space:]]*:[[:space:]]*"\([^"\\]*\)".*/\1/p'
}

# The value of a key in a description or in the rules: `key = value`, the last one wins.
value_in() {
    sed -n "s/^[[:space:]]*$2[[:space:]]*=[[:space:]]*//p" "$1" | sed -e 's/[[:space:]]*$//' -e '$!d'
}

rule() { value_in "$assets/rules.conf" "$environment\\.$1"; }
setting() { value_in "$description" "$1"; }

findings=''
count=0
checks=0
found() {
    printf 'finding: %s\n' "$1" >&2
    [ "$count" -eq 0 ] || findings=$findings,
    findings=$findings$(json_string "$1")
    count=$((count + 1))
}

is_number() {
    case $1 in '' | *[!0-9]*) return 1 ;; esac
    [ "${#1}" -le 9 ]
}

check_lines() {
    checks=$((checks + 1))
    number=0
    while IFS= read -r line || [ -n "$line" ]; do
        number=$((number + 1))
        case $line in
        '' | '#'*) ;;
        *=*) ;;
        *) found "line $number is neither a setting nor a comment" ;;
        esac
    done <"$description"
}

check_required() {
    for key in $(rule required); do
        checks=$((checks + 1))
        [ -n "$(setting "$key")" ] || found "$key is not set"
    done
}

check_image() {
    checks=$((checks + 1))
    image=$(setting image)
    case $image in
    '' | *@sha256:*) return ;;
    *:latest) found "image $image is not pinned: latest is whatever was pushed last" ;;
    *:*) [ "$(rule image)" != digest ] || found "image $image is pinned by tag, and $environment wants a digest" ;;
    *) found "image $image has neither a tag nor a digest" ;;
    esac
}

check_at_least() {
    checks=$((checks + 1))
    least=$(rule "$1")
    given=$(setting "$1")
    [ -n "$least" ] && [ -n "$given" ] || return 0
    if ! is_number "$given"; then
        found "$1 is $given, which is no whole number"
    elif [ "$given" -lt "$least" ]; then
        found "$1 is $given, and $environment wants at least $least"
    fi
}

check_equal() {
    checks=$((checks + 1))
    wanted=$(rule "$1")
    given=$(setting "$1")
    [ -z "$wanted" ] || [ -z "$given" ] || [ "$given" = "$wanted" ] ||
        found "$1 is $given, and $environment wants $wanted"
}

check_secrets() {
    checks=$((checks + 1))
    for key in $(sed -n 's/^[[:space:]]*\([A-Za-z0-9_.]*\)[[:space:]]*=.*/\1/p' "$description"); do
        case $key in
        *password* | *secret* | *token*) ;;
        *) continue ;;
        esac
        case $(setting "$key") in
        vault:* | '') ;;
        *) found "$key holds a secret in plain text; name its place in the vault instead (vault:path)" ;;
        esac
    done
}

input=$(cat && printf .) || exit 2
input=${input%.}
environment=$(property environment)
case $environment in
'') cannot_tell 'no environment: standard input must be JSON such as {"environment":"staging"}' ;;
*[!a-z0-9-]*) cannot_tell 'the name of an environment has only a-z, 0-9 and -' ;;
esac
[ -n "$(rule required)" ] || cannot_tell "there are no rules for the environment $environment"

file=$(property file)
case $file in
'') description=$assets/environments/$environment.conf && shown=assets/environments/$environment.conf ;;
*/* | -*) cannot_tell 'file is the plain name of a file in the working directory' ;;
*) description=./$file && shown=$file ;;
esac
[ -f "$description" ] && [ -r "$description" ] || cannot_tell "there is no file $shown"

check_lines
check_required
check_image
check_at_least replicas
check_at_least memory_mb
check_equal tls
check_equal debug
check_secrets

[ "$count" -eq 0 ] && ok=true || ok=false
printf '{"environment":%s,"description":%s,"ok":%s,"checks":%s,"findings":[%s],"input":%s}\n' \
    "$(json_string "$environment")" "$(json_string "$shown")" "$ok" "$checks" "$findings" "$(json_string "$input")"
[ "$count" -eq 0 ]
