# Michaelis and Menten 1913: how fast an enzyme works at a concentration of what it works on.

# most: at any concentration; half: the concentration at which it is half as fast.
fit <- function(concentration, rate) {
  found <- nls(rate ~ most * concentration / (half + concentration), start = list(most = max(rate), half = median(concentration)))
  list(most = coef(found)[["most"]], half = coef(found)[["half"]], fitted = fitted(found))
}

# To rates that might have been measured instead: each error may happen at each concentration.
fit_again <- function(concentration, fitted, errors, seed) {
  set.seed(seed)
  fit(concentration, fitted + sample(errors, replace = TRUE))[c("most", "half")]
}
