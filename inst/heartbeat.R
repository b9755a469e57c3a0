# The second process of a worker (see ?gpbandits::work_on): renews the lease of what the worker evaluates,
# until the worker is gone. The package is loaded only if an evaluation lasts.
home <- commandArgs(TRUE)[1]
settings <- readRDS(file.path(home, "settings.rds"))
connection <- socketConnection("127.0.0.1", settings$port, open = "r+b", blocking = FALSE, timeout = 10)
if (!socketSelect(list(connection), timeout = settings$every)) {
  .libPaths(settings$libraries)
  get("heartbeat_loop", envir = asNamespace("gpbandits"))(settings, connection)
}
