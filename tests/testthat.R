# Without NOT_CRAN=true (`make test` sets it) blocks of more than a second or so are skipped by skip_on_cran(): CRAN's
# check, and ours, is to take five minutes in all.
library(testthat)
library(gpbandits)

test_check("gpbandits")
