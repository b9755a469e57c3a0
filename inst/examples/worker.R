# A worker of a search in PostgreSQL, for jobs of any scheduler: Rscript worker.R. libpq's environment variables
# (PGHOST, PGDATABASE, PGUSER, PGPASSWORD) name the database. The first worker creates the bandit, the others join it.
library(gpbandits)
store <- bandit_store(function() DBI::dbConnect(RPostgres::Postgres(), connect_timeout = 10), "search")
objective <- function(p) {                      # replace this by your simulation
  Sys.sleep(1)
  80 - 12 * (p$temperature - 3)^2 + rnorm(1, sd = 0.5)
}
# (If two workers start at once, one of them finds that the other has created it.)
repeat {
  if (!is.null(tryCatch(open_bandit(store), gpbandits_error = function(e) NULL))) break
  tryCatch(auto_bandit(list(temperature = c(0, 5)), store = store), gpbandits_error = function(e) Sys.sleep(2))
}
budget <- as.integer(Sys.getenv("GPBANDITS_EVALUATIONS", "40"))
work_on(store, objective, until = function(bandit) nrow(bandit$history()) >= budget)
print(open_bandit(store)$best())
