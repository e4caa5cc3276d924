# Runs in R and answers requests for code in R; stdlib/native/code_servers.cpp says what the bytes mean.
local(envir = new.env(parent = baseenv()), {  # functions of the script, such as its own `c`, are not seen here
  options(warn = 1)
  requests <- file("stdin", "rb")
  answers <- file("/dev/fd/3", "wb", raw = TRUE)

  # The length of what follows: 8 bytes, little endian. Empty at the end of the requests.
  read_length <- function() {
    words <- readBin(requests, "integer", 4, size = 2, signed = FALSE, endian = "little")
    sum(words * 65536^(seq_along(words) - 1))
  }
  # What was asked for, in as many reads as it takes.
  read_bytes <- function(count) {
    bytes <- raw()
    while (length(bytes) < count) {
      part <- readBin(requests, "raw", count - length(bytes))
      if (length(part) == 0) quit("no")
      bytes <- c(bytes, part)
    }
    bytes
  }
  text_of <- function(bytes) {
    text <- rawToChar(bytes)
    Encoding(text) <- "UTF-8"
    text
  }
  answer <- function(kind, text) {
    bytes <- c(charToRaw(kind), charToRaw(enc2utf8(text)))
    writeBin(c(length(bytes), 0L), answers, size = 4, endian = "little")
    writeBin(bytes, answers)
    flush(answers)
  }
  run <- function(text) {
    value <- NULL
    for (statement in parse(text = text, keep.source = FALSE, encoding = "UTF-8")) value <- eval(statement, globalenv())
    value
  }
  told <- function(condition) {
    call <- conditionCall(condition)
    own <- is.null(call) || any(c("run", "parse", "eval") %in% all.names(call[1]))
    where <- if (own) "" else paste0("in ", paste(deparse(call), collapse = " "), ": ")
    text <- conditionMessage(condition)
    if (startsWith(text, "<text>:")) text <- sub("^<text>:([0-9]+):[0-9]+: ([^\n]*).*", "line \\1: \\2", text)
    paste0(where, text)
  }

  repeat {
    size <- read_length()
    if (size == 0) quit("no")
    request <- read_bytes(size)
    code_size <- sum(as.integer(request[2:9]) * 256^(0:7))
    code <- text_of(request[seq_len(code_size) + 9])
    expression <- text_of(request[seq_len(size - 9 - code_size) + 9 + code_size])
    tryCatch(
      {
        run(code)
        value <- if (nzchar(trimws(expression))) run(expression) else ""
        if (is.character(value) && length(value) == 1 && !is.na(value)) {
          answer("r", value)
        } else {
          answer("e", sprintf(
            "expression did not return a string! It is of class %s and length %d: toString(...) makes one",
            if (anyNA(value)) "NA" else class(value)[1], length(value)
          ))
        }
      },
      error = function(condition) answer("x", told(condition))
    )
  }
})
