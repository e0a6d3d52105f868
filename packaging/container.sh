#!/bin/sh
# semdex listens on loopback alone, and a container's is its own: what comes to the container's port is handed on. The
# Host that a client on the host names is a loopback name, and so is let in; the token is wanted as ever.
set -eu
semdex token
socat TCP-LISTEN:7878,fork,reuseaddr,bind="$(hostname -i | cut -d' ' -f1)" TCP:127.0.0.1:7878 &
exec semdex serve --trust --listen 127.0.0.1:7878 "${@:-/workspace}"
