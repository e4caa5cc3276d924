#!/bin/sh
# Says how it was called, then runs the program once.
echo "launcher $1 $2"
shift 2
exec "$@"
