# Without NOT_CRAN=true (`make test` sets it) blocks of more than a second or so are skipped by skip_on_cran(): CRAN's
# check, and ours, is to take five minutes in all.
library(testthat)
library(gpbandits)

# (Without package RSQLite there are no journals: then files that use them are left out.)
files <- list.files("testthat", "^test-.*[.]R$")
journals <- vapply(file.path("testthat", files), function(file) any(grepl("journal", readLines(file))), NA)
plain <- sub("^test-(.*)[.]R$", "^\\1$", files[!journals])
test_check("gpbandits", filter = if (!requireNamespace("RSQLite", quietly = TRUE)) paste(plain, collapse = "|"))
