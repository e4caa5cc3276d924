f <- function(x) {
  x +* 2
}
