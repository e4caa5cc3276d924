# Fails while it is read.
table_of <- function(path) stop("there is no table ", path)
table <- table_of("a.csv")
f <- function(x) x
