# Runs in R in the processes that make calls of functions which a script declares by `@r`. What the bytes of requests and
# answers mean says vm/foreign/served_function.cpp; arrays are copied there and back, and turned, as R has them by columns.
local(envir = new.env(parent = baseenv()), {  # functions of the script, such as its own `c`, are not seen here
  options(warn = 1)
  if (!l10n_info()$`UTF-8`) Sys.setlocale("LC_CTYPE", "C.UTF-8")
  requests <- file("stdin", "rb")
  answers <- file("/dev/fd/3", "wb", raw = TRUE)
  most_at_once <- 2^27  # elements: R reads and writes less than 2^31 bytes at once
  most_calls <- 40  # of a traceback
  names_of_types <- c(i = "int", f = "float", b = "boolean", s = "string", n = "int32", g = "float32")
  fitting <- list(
    i = c("integer", "double"), n = c("integer", "double"), f = c("double", "integer"), g = c("double", "integer"),
    b = "logical", s = "character"
  )
  ends <- list(i = 2^63, n = 2^31)  # what is beyond the type
  greatest_float32 <- (2 - 2^-23) * 2^127
  loaded <- new.env()  # by path, for each file the environment of its names
  unread <- 0  # bytes of the request

  refuse <- function(...) {
    stop(structure(class = c("raddle_refusal", "error", "condition"), list(message = sprintf(...), call = NULL)))
  }

  # ---- what a request has in it

  take <- function(what, count, size) {
    values <- vector(what, 0)
    repeat {
      part <- readBin(requests, what, min(count - length(values), most_at_once), size = size, endian = "little")
      unread <<- unread - length(part) * size
      values <- if (length(values) == 0) part else c(values, part)
      if (length(values) == count) return(values)
      if (length(part) == 0) quit("no")
    }
  }
  number <- function() {
    words <- as.double(take("integer", 2, 4))
    words[is.na(words)] <- -2^31  # R's NA has these bits
    words[1] %% 2^32 + words[2] * 2^32
  }
  numbers <- function() vapply(seq_len(number()), function(i) number(), 0)
  letter <- function() rawToChar(take("raw", 1, 1))
  text <- function() {
    text <- rawToChar(take("raw", number(), 1))
    Encoding(text) <- "UTF-8"
    text
  }
  array_argument <- function() {
    element <- letter()
    extents <- numbers()
    letter()
    number()
    count <- prod(extents)
    values <- switch(element,
      n = take("integer", count, 4), f = take("double", count, 8), g = take("double", count, 4),
      b = take("raw", count, 1) != as.raw(0)
    )
    if (length(extents) == 1) return(values)
    dim(values) <- rev(extents)
    aperm(values)
  }
  argument <- function() {
    switch(letter(),
      n = as.integer(number()), f = , g = take("double", 1, 8), b = number() != 0, s = text(), a = array_argument()
    )
  }
  output <- function() {
    name <- text()
    kind <- letter()
    if (kind != "a") return(list(name = name, element = kind, extents = NULL))
    list(name = name, element = letter(), extents = numbers())
  }

  # ---- what is called

  load <- function(path, file) {
    if (!file.exists(path) || dir.exists(path)) refuse("there is no file `%s`", file)
    if (file.access(path, 4) != 0) refuse("the file `%s` can not be read", file)
    lines <- readLines(path, encoding = "UTF-8", warn = FALSE)
    code <- parse(text = lines, srcfile = srcfilecopy(file, lines), keep.source = TRUE, encoding = "UTF-8")
    names <- new.env(parent = globalenv())
    folder <- setwd(dirname(path))  # what it reads or sources lies beside it
    on.exit(setwd(folder))
    for (statement in code) run(statement, names)
    names
  }
  found <- function(file, name, folder) {
    path <- if (startsWith(file, "/")) file else file.path(folder, file)
    if (is.null(loaded[[path]])) assign(path, load(path, file), loaded)
    value <- get0(name, loaded[[path]], inherits = FALSE)
    if (is.null(value)) value <- get0(name, globalenv(), inherits = FALSE)  # where source() puts it
    if (is.null(value)) refuse("the file `%s` has no function `%s`", file, name)
    if (!is.function(value)) refuse("`%s` of the file `%s` is no function", name, file)
    value
  }
  # Where code of the script's begins in a traceback.
  run <- function(code, names) eval(code, names)
  call <- function(callee, name, arguments) {
    names <- new.env(parent = globalenv())
    assign(name, callee, names)
    inputs <- paste0("input", seq_along(arguments))
    for (i in seq_along(arguments)) assign(inputs[i], arguments[[i]], names)
    run(as.call(lapply(c(name, inputs[seq_along(arguments)]), as.name)), names)
  }

  # ---- what comes back

  parts <- list()  # of the answer
  put <- function(values, size) {
    for (begin in seq(0, max(length(values) - 1, 0), by = most_at_once)) {
      part <- if (length(values) <= most_at_once) values else values[(begin + 1):min(begin + most_at_once, length(values))]
      parts[[length(parts) + 1]] <<- if (is.raw(part)) part else writeBin(part, raw(), size = size, endian = "little")
    }
  }
  put_letter <- function(letter) put(charToRaw(letter), 1)
  # As 8 bytes each.
  put_numbers <- function(numbers) {
    high <- floor(numbers / 2^32)
    low <- numbers - high * 2^32
    put(suppressWarnings(as.integer(rbind(low - 2^32 * (low >= 2^31), high))), 4)  # -2^31 becomes NA, which has its bits
  }
  put_text <- function(text) {
    bytes <- charToRaw(text)
    put_numbers(length(bytes))
    put(bytes, 1)
  }

  shape_text <- function(extents) paste0("[", paste(extents, collapse = ", "), "]")
  with_article <- function(word) paste(if (grepl("^[aeiou]", word)) "an" else "a", word)
  described <- function(value) {
    if (is.null(value)) return("NULL")
    if (is.object(value) || !is.atomic(value)) return(with_article(class(value)[1]))
    if (!is.null(dim(value))) return(paste("an array of the shape", shape_text(dim(value)), "and the type", typeof(value)))
    if (length(value) == 1) return(with_article(typeof(value)))
    paste("a vector of the length", length(value), "and the type", typeof(value))
  }
  misfit <- function(output, what) {
    rank <- length(output$extents)
    type <- paste0(names_of_types[[output$element]], if (rank > 0) paste0("[", toString(rep(":", rank)), "]"))
    refuse("`%s` is declared as `%s`, but the function gave %s", output$name, type, what)
  }
  # Of plain vectors and arrays: a factor, for example, is codes of something else.
  check <- function(value, output) {
    rank <- length(output$extents)
    if (is.object(value) || !is.atomic(value) || is.null(value)) misfit(output, described(value))
    if (anyNA(value) && !(is.double(value) && all(is.nan(value[is.na(value)])))) misfit(output, "NA")
    if (!typeof(value) %in% fitting[[output$element]] && length(value) > 0) misfit(output, described(value))
    extents <- if (is.null(dim(value))) length(value) else dim(value)
    if (rank == 0 && !(is.null(dim(value)) && length(value) == 1)) misfit(output, described(value))
    if (rank > 0 && length(extents) != rank) misfit(output, described(value))
    if (any(output$extents >= 0 & output$extents != extents)) {
      declared <- ifelse(output$extents < 0, "any", format(output$extents, scientific = FALSE, trim = TRUE))
      refuse("`%s` is declared with the shape %s, but the function gave %s",
        output$name, shape_text(declared), shape_text(extents))
    }
    beyond <- if (output$element %in% names(ends)) {
      end <- ends[[output$element]]
      !(is.finite(value) & value == floor(value) & value >= -end & value < end)
    } else if (output$element == "g") {
      is.finite(value) & abs(value) > greatest_float32
    }
    if (any(beyond)) {
      misfit(output, sprintf("%s, which is no `%s`", format(value[beyond][1], digits = 15), names_of_types[[output$element]]))
    }
  }
  put_array <- function(value, output) {
    put_numbers(if (is.null(dim(value))) length(value) else dim(value))
    if (length(output$extents) > 1) value <- aperm(value)
    put_letter("d")
    size <- c(i = 8, n = 4, f = 8, g = 4, b = 1)[[output$element]]
    put_numbers(length(value) * size)
    switch(output$element,
      i = put_numbers(as.vector(value)),
      n = put(suppressWarnings(as.integer(value)), 4),
      f = , g = put(as.double(value), size),
      b = put(as.raw(value), 1)
    )
  }
  put_result <- function(value, output) {
    check(value, output)
    if (length(output$extents) > 0) return(put_array(value, output))
    switch(output$element,
      i = , n = , b = put_numbers(as.double(value)), f = , g = put(as.double(value), 8), s = put_text(enc2utf8(value))
    )
  }
  put_results <- function(value, outputs) {
    force(value)  # this is the call: R evaluates what is used
    put_letter("r")
    if (length(outputs) == 0) return()
    if (length(outputs) == 1) return(put_result(value, outputs[[1]]))
    if (!is.list(value) || is.object(value)) {
      refuse("%d results are declared, but the function gave no list of them: %s", length(outputs), described(value))
    }
    if (length(value) != length(outputs)) {
      refuse("%d results are declared, but the function gave %d", length(outputs), length(value))
    }
    for (i in seq_along(outputs)) {
      name <- outputs[[i]]$name
      if (is.null(names(value))) {
        put_result(value[[i]], outputs[[i]])
      } else if (name %in% names(value)) {
        put_result(value[[name]], outputs[[i]])
      } else {
        given <- paste0("`", names(value), "`", collapse = ", ")
        refuse("the list that the function gave has names, but no `%s`: %s", name, given)
      }
    }
  }

  # ---- errors

  first_line <- function(call) deparse(call, width.cutoff = 100, nlines = 1)[1]
  # Calls of the script's, the outermost first, each with the line where it stands.
  trace_of <- function(calls) {
    begin <- which(vapply(calls, function(call) identical(call[[1]], quote(run)), TRUE))
    if (length(begin) == 0) return(character())
    calls <- calls[seq_along(calls) > begin[1] + 2]  # eval() is two
    ends <- which(vapply(calls, function(call) identical(call[[1]], quote(.handleSimpleError)), TRUE))
    calls <- if (length(ends) > 0) head_of(calls, ends[length(ends)] - 1) else head_of(calls, length(calls) - 1)
    lines <- vapply(calls, function(call) {
      place <- attr(call, "srcref")
      paste0("  ", if (!is.null(place)) paste0(attr(place, "srcfile")$filename, ":", place[1], ": "), first_line(call))
    }, "")
    if (length(lines) > most_calls) lines <- c(head_of(lines, most_calls / 2), "  ...", rev(head_of(rev(lines), most_calls / 2)))
    c(if (length(lines) > 0) "Traceback (the innermost call last):", lines)
  }
  head_of <- function(calls, count) calls[seq_len(max(count, 0))]
  # Conditions may be of a class of the script's.
  message_of <- function(condition) {
    tryCatch(enc2utf8(paste(conditionMessage(condition), collapse = "\n")), error = function(other) "its text can not be made")
  }
  put_problem <- function(condition, trace) {
    parts <<- list()
    if (inherits(condition, "raddle_refusal")) {
      put_letter("e")
      return(put_text(message_of(condition)))
    }
    lines <- strsplit(message_of(condition), "\n", fixed = TRUE)[[1]]
    call <- conditionCall(condition)
    own <- is.null(call) || any(c("run", "parse", "eval") %in% all.names(call[1]))
    put_letter("x")
    put_text(paste0(if (!own) paste0("in ", first_line(call), ": "), if (length(lines) > 0) lines[1] else class(condition)[1]))
    put_text(paste(c(lines[-1], enc2utf8(trace)), collapse = "\n"))
  }

  # ---- requests

  answer_call <- function() {
    trace <- character()
    tryCatch(
      withCallingHandlers(
        {
          file <- text()
          name <- text()
          folder <- text()
          number()  # from how many bytes on memory is shared
          arguments <- lapply(seq_len(number()), function(i) argument())
          outputs <- lapply(seq_len(number()), function(i) output())
          put_results(call(found(file, name, folder), name, arguments), outputs)
        },
        error = function(condition) if (!inherits(condition, "raddle_refusal")) trace <<- trace_of(sys.calls())
      ),
      error = function(condition) put_problem(condition, trace)
    )
  }

  repeat {
    size <- readBin(requests, "integer", 2, size = 4, endian = "little")
    if (length(size) < 2) quit("no")
    unread <- sum(as.double(size) %% 2^32 * c(1, 2^32))
    parts <- list()
    if (letter() == "c") answer_call() else put_letter("r")  # there is no memory for the results
    while (unread > 0) take("raw", min(unread, most_at_once), 1)
    whole <- parts
    parts <- list()
    put_numbers(sum(lengths(whole)))
    for (part in c(parts, whole)) writeBin(part, answers)
    flush(answers)
  }
})
