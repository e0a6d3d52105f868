#!/bin/sh
# semdex listens only on loopback, which a container does not share with its host: socat forwards the container's port.
# The Host header of a client on the host is a loopback name, which semdex accepts. The token is still required.
set -eu
semdex token
socat TCP-LISTEN:7878,fork,reuseaddr,bind="$(hostname -i | cut -d' ' -f1)" TCP:127.0.0.1:7878 &
exec semdex serve --trust --listen 127.0.0.1:7878 "${@:-/workspace}"
