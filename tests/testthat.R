library(testthat)
library(gpbandits)

test_check("gpbandits")
