# Two plumber routes to one bandit: plumber::pr_run(plumber::pr("plumber.R"), port = 8000). The environment variable
# GPBANDITS_STORE is the path of the database. (A relative one would be in the folder of this file.)
# Several R processes may serve the same store. The routes of ?bandit_service do more: a token, leases, limits.
library(gpbandits)
file <- Sys.getenv("GPBANDITS_STORE")
if (!nzchar(file)) stop("Set GPBANDITS_STORE to the path of the database.")
is_new <- !file.exists(file)
store <- bandit_store(file, "campaign")
campaign <- if (is_new) auto_bandit(list(temperature = c(20, 90)), store = store) else open_bandit(store)

#* The next experiments
#* @param n:int their number
#* @serializer unboxedJSON list(digits = NA)
#* @post /suggest
function(n = 1) campaign$suggest(as.integer(n))

#* Report a result
#* @param id:int the experiment
#* @param reward:dbl its result
#* @serializer unboxedJSON list(digits = NA)
#* @post /observe
function(id, reward) {
  campaign$observe(as.integer(id), as.double(reward))
  campaign$best()
}

# Mistakes of a request are answered with their message.
#* @plumber
function(pr) {
  pr$setErrorHandler(function(req, res, err) {
    res$status <- if (inherits(err, "gpbandits_error")) 400 else 500
    list(error = conditionMessage(err))
  })
}
