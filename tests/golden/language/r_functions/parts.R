weight <- function(mass) mass * 9.81
