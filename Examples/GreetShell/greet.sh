#!/bin/sh
# The socket is descriptor 3.
exec <&3 >&3
while read -r message; do
    id=$(printf '%s' "$message" | jq .callbackId)
    case $(printf '%s' "$message" | jq -r .task) in
    greet) printf '%s' "$message" | jq -c '{callbackId, result: "Hello, \(.options.who)"}' ;;
    *) [ "$id" = null ] || printf '{"callbackId":%s,"error":{"code":"task.not_found","message":"no"}}\n' "$id" ;;
    esac
done
