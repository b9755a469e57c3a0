# A second process of a worker, which renews its leases (see ?gpbandits::work_on), or of a service, which computes its
# slow answers (see ?gpbandits::bandit_service). It ends when the first is gone. The package is loaded only if that
# lasts longer than `every` seconds.
home <- commandArgs(TRUE)[1]
# (The first may have ended already.)
tryCatch(suppressWarnings({
  settings <- readRDS(file.path(home, "settings.rds"))
  connection <- socketConnection("127.0.0.1", settings$port, open = "r+b", blocking = FALSE, timeout = 10)
}), error = function(e) quit("no"))
if (!socketSelect(list(connection), timeout = settings$every)) {
  .libPaths(settings$libraries)
  get(settings$loop, envir = asNamespace("gpbandits"))(settings, connection)
}
