# What the scripts here call.
source("parts.R", local = TRUE)  # beside this file, wherever the run is

calls <- 0

together <- function(n, x, b, s) paste(s, n + 1L, x / 2, !b)

divide <- function(a, b) list(a %/% b, a %% b)

divide_by_name <- function(a, b) list(rest = a %% b, quotient = a %/% b)

count <- function() {
  calls <<- calls + 1
  calls
}

say <- function(text) cat(paste0("[1] \"", text, "\"\n"))  # in one piece: print(text) is written in two

warned <- function(x) {
  warning("an odd number")
  x
}

scale.by <- function(x, by) x * by

seen <- function(a) {
  shape <- if (is.null(dim(a))) length(a) else paste(dim(a), collapse = "x")
  paste(typeof(a), shape, paste(a, collapse = " "))
}

at <- function(a, i, j) a[i + 1, j + 1]

transposed <- function(a) t(a)

grid <- function(n, m, k) aperm(array(seq_len(n * m * k) - 1, c(k, m, n)))

statistics <- function(x) list(range = range(x), mean = mean(x), above = x > mean(x), order = order(x) - 1L)

power <- function(n) 2^n

same <- function(x) x

inverse <- function(x) {
  if (x == 0) {
    stop("no inverse")
  }
  1 / x
}

mean_inverse <- function(n) {
  inverses <- sapply(seq_len(n) - 1, inverse)
  mean(inverses)
}

add_text <- function(x) x + "a"

two_lines <- function() stop("the first line\nthe second")

own_condition <- function() stop(structure(class = c("own", "error", "condition"), list(message = "own text", call = NULL)))

handled <- function(x) tryCatch(inverse(x), error = function(condition) -1)

descend <- function(n) descend(n + 1)

leave <- function(n) quit("no", n)

kill <- function() tools::pskill(Sys.getpid(), tools::SIGKILL)

odd_values <- list(
  na = NA, na_among = c(1, NA), nothing = NULL, factor = factor("a"), frame = data.frame(a = 1:2), list = list(1),
  two = c(1, 2), matrix = diag(2), one_by_one = matrix(1), half = 1.5, large = 1e19, huge = 1e300, beyond = 2^31, nan = NaN,
  text = "a", texts = c("a", "b"), truth = TRUE, "function" = mean, complex = 1i, none = numeric(0)
)

odd <- function(name) odd_values[[name]]

odd_of <- function(name, n) odd_values[[name]]

three <- function() list(1, 2, 3)
