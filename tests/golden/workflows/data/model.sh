echo ran "$@"
