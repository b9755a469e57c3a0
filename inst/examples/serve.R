# Serves a bandit that was begun in a store, see ?gpbandits::bandit_service. Settings are environment variables:
#   GPBANDITS_STORE       path of the SQLite file (default /var/lib/gpbandits/store.db)
#   GPBANDITS_NAME        name of the bandit in it
#   GPBANDITS_TOKEN       the secret of the clients, or GPBANDITS_TOKEN_FILE, a file whose first line it is
#   GPBANDITS_HOST        address to listen on (default 127.0.0.1)
#   GPBANDITS_PORT        port (default 8080)
library(gpbandits)
setting <- function(name, default = stop("Set the environment variable ", name, ".")) {
  value <- Sys.getenv(name)
  if (nzchar(value)) value else default
}
token_file <- setting("GPBANDITS_TOKEN_FILE", "")
token <- if (nzchar(token_file)) readLines(token_file, 1, warn = FALSE) else setting("GPBANDITS_TOKEN")
store <- bandit_store(setting("GPBANDITS_STORE", "/var/lib/gpbandits/store.db"), setting("GPBANDITS_NAME"))
service <- bandit_service(store, as.integer(setting("GPBANDITS_PORT", "8080")), token,
                          host = setting("GPBANDITS_HOST", "127.0.0.1"))
message("The service listens at ", service$url, ".")
service$run()
