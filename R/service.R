# `bandit_service()`. Layer: service.

#' Serve a bandit over HTTP
#'
#' Starts an HTTP service with a web page and a JSON interface to a bandit in a store. People use the page in a
#' browser; programs in any language use the JSON interface, whose OpenAPI 3 schema is at `GET /openapi.json`. The
#' service needs package httpuv. Several services, workers and R sessions can use the same store.
#'
#' [service-requests] describes the requests and their answers.
#'
#' @section Leases: By default `/suggest` takes no lease. The query stays pending until it is observed or given up
#'   (`/fail`, `/withdraw`). It is not offered to another client, and time does not end it. A program that may die
#'   during an evaluation asks for a lease in seconds, `"lease": 60`, and renews it with `/heartbeat`. When the lease
#'   has ended, the query is offered to the next client that asks for a lease (see [bandit-leases]).
#'
#' @section The page: Open `url` in a browser and enter the token. The page has
#'
#'   * the recommended point or Pareto front;
#'   * the open experiments, with a box for each result;
#'   * forms for suggestions, and for experiments that were not suggested;
#'   * the results, with a chart for each outcome, corrections, and downloads as CSV or JSON;
#'   * what the next experiments are expected to add, predictions along each input, the certificate and the model
#'     check.
#'
#'   Suggestions made on the page have no lease. The page checks every 10 seconds for changes by others. Only the rows
#'   that changed are drawn again, so entries that are not saved yet stay. The page works on a telephone, by keyboard
#'   and with screen readers.
#'
#'   With a result you can save an error bar, a number of readings and a note. Numbers may have decimal commas. A
#'   result more than 4 standard deviations from its prediction is saved only after a confirmation. Settings are shown
#'   to a thousandth of their range; point at one to see it exactly.
#'
#'   The token stays in the browser's tab (session storage, no cookie) until you sign out or close it. The page loads
#'   nothing from other sites, and its Content-Security-Policy forbids that and any script in a campaign's text. Between
#'   browser and service the token is protected only on one machine, or with TLS from a proxy.
#'
#' @section Contexts and visitors: A query with a context is a decision for one visitor, and is never given to another
#'   one. Nothing happens when its lease ends; its reward is accepted at any time. A request with the same `worker`
#'   and context gets the same query again while the lease lasts, because an answer can be lost on its way. Use the
#'   visitor's id as `worker`, or leave it out. Report a decision whose reward will not come with `/withdraw`.
#'
#' @section Safety: The service listens on this machine only, unless `host` is another address. Every request needs
#'   the header `Authorization: Bearer <token>`, except `/health`, the schema and the page's files, which hold no
#'   data. Bodies larger than `max_body` bytes are rejected before they are read. Connections on which no request is
#'   completed for `time_limit` are closed, the oldest first if there are many. Work on a request ends after the same
#'   time. (On Windows R cannot close connections.) WebSockets are not supported. Everything a client sends is data: it
#'   is parsed as JSON, and never used as code, address or path.
#'
#'   **Use a proxy on a network.** The service has no encryption and answers one request at a time. R also keeps the
#'   name of every header that it receives, so a client that invents names fills the memory; a proxy passes on only
#'   the known ones. `system.file("examples", "nginx.conf", package = "gpbandits")` is a tested configuration of nginx
#'   with TLS and limits for each client. The same folder has a script (`serve.R`), a `Dockerfile` and a systemd unit
#'   (`gpbandits.service`) that run the service.
#'
#' @param store a [bandit_store()] in which a bandit has been begun.
#' @param port a port number, an integer; 0 selects a free port.
#' @param token the secret that clients send, a string of at least 16 characters. `NULL` makes one from the system's
#'   random numbers; see `$token` of the result. Default `NULL`.
#' @param host the address to listen on, a string. Default `"127.0.0.1"`: this machine only.
#' @param max_body largest body of a request in bytes. Default 65536.
#' @param time_limit seconds that a connection may last without a complete request, and that the service may work on a
#'   request. Default 30.
#' @param connections the largest number of connections at a time, an integer. Default 500. At most half of
#'   the files that R may have open.
#' @return An object of class `bandit_service`, a list with
#'
#'   * `url`, `token`: strings;
#'   * `run(seconds = Inf)`: serves in a script, until it is interrupted. (At R's idle prompt the service answers
#'     anyway.)
#'   * `stop()`: ends the service.
#' @seealso [service-requests], [service-fallback], [bandit_store()], [bandit-leases].
#' @concept dashboard
#' @concept web page
#' @concept web interface
#' @concept REST API
#' @concept human in the loop
#' @examplesIf all(vapply(c("RSQLite", "jsonlite", "httpuv"), requireNamespace, NA, quietly = TRUE))
#' store <- bandit_store(tempfile(fileext = ".db"), "demo")
#' gp_ucb(1:20 / 20, kernel_se(0.2), noise_var = 0.01, store = store)
#' service <- bandit_service(store, port = 0)
#' service$url
#' service$stop()
#' @export
bandit_service <- function(store, port, token = NULL, host = "127.0.0.1", max_body = 65536, time_limit = 30,
                           connections = 500) {
  check_store(store)
  for (package in c("httpuv", "jsonlite")) need_package(package, "store")
  port <- check_count(port, lower = 0, upper = 65535)
  host <- check_string(host)
  max_body <- check_count(max_body)
  time_limit <- check_number(time_limit, lower = 0, open_lower = TRUE, upper = 86400)
  connections <- check_count(connections)
  token <- if (is.null(token)) random_token() else check_secret(token)
  bandit <- open_bandit(store)
  if (port == 0) port <- preserve_rng(httpuv::randomPort(host = host))
  service <- list(bandit = bandit, store = store, token = token, max_body = max_body, time_limit = time_limit,
                  port = as.integer(port), page = page_files(), reader = new_reader(store, time_limit),
                  doors = service_doors())
  app <- list(onHeaders = function(request) {
                refused <- checked_reply(admit(service, request))
                if (!is.null(refused)) closing(for_method(request, refused))
              },
              call = function(request) {
                watch$alive(request)
                answer <- for_method(request, timed_reply(service, answer_request(service, request)))
                for_connection(watch, request, answer)
              },
              onWSOpen = function(socket) socket$close())
  server <- catch_error(httpuv::startServer(host, port, app, quiet = TRUE), function(e) {
    stop_argument("port", sprintf("%d, on which the service cannot listen (%s)", as.integer(port), message_of(e)),
                  "a free port")
  })
  watch <- watch_connections(service$port, time_limit, connections)
  structure(list(url = sprintf("http://%s:%d", host, service$port), token = token,
                 stop = function() {
                   watch$stop()
                   end_reader(service$reader)
                   httpuv::stopServer(server)
                 },
                 run = function(seconds = Inf) serve_for(seconds)),
            class = "bandit_service")
}

# Checks that a secret can be sent in a header.
check_secret <- function(token) {
  if (nchar(check_string(token, "token")) < 16) {
    stop_argument("token", sprintf("one of %d characters", nchar(token)), "at least 16 characters")
  }
  if (grepl("[[:cntrl:]]|^ | $", token)) {
    stop_argument("token", "one with control characters, or spaces at its ends", "text that fits into a header")
  }
  token
}

serve_for <- function(seconds) {
  began <- Sys.time()
  while (seconds_since(began) < seconds) httpuv::service(min(100, 1000 * seconds))
}

#' @export
print.bandit_service <- function(x, ...) {
  cat(sprintf("<bandit service at %s>\n", x$url))
  invisible(x)
}

# Before the body is read: the answer to a request that is refused, or NULL for one that is admitted. The headers of the
# latter are not checked again. (Names of the client's headers in the request begin with HTTP_.)
admit <- function(service, request) {
  refused <- refuse_early(service, request)
  if (is.null(refused)) request$admitted <- TRUE
  refused
}

# Errors that can be found before the body is read; NULL if there are none.
refuse_early <- function(service, request) {
  if (is_upgrade(request)) return(refuse_upgrade(service, request))
  if (!is.null(request$HTTP_TRANSFER_ENCODING)) return(reply_error(411, "a body needs a Content-Length"))
  size <- suppressWarnings(as.double(or_else(request$CONTENT_LENGTH, "0")))
  if (is.na(size) || size > service$max_body) {
    return(reply_error(413, sprintf("a body may have %d bytes", as.integer(service$max_body))))
  }
  if (!request$PATH_INFO %in% open_doors && !has_token(service, request)) {
    return(reply_error(401, "the header Authorization: Bearer <token> is missing or wrong",
                       list("WWW-Authenticate" = "Bearer")))
  }
  NULL
}

# Paths without data of the campaign need no token.
open_doors <- c("/", "/page.css", "/page.js", "/openapi.json", "/health")

# The comparison takes the same time wherever the first difference is.
has_token <- function(service, request) {
  given <- charToRaw(paste0(request$HTTP_AUTHORIZATION, ""))
  wanted <- charToRaw(paste("Bearer", service$token))
  length(given) == length(wanted) && sum(given != wanted) == 0
}

# Is the client's connection closed? Then nothing is changed, because nobody would get the answer. (httpuv closes a
# connection on which a second request arrives before the first is answered.)
has_gone <- function(service, request) !cpp_is_connected(service$port, peer_of(request))

answer_request <- function(service, request) {
  early <- if (!isTRUE(request$admitted)) refuse_early(service, request)
  if (!is.null(early)) return(early)
  door <- if (nzchar(request$PATH_INFO)) service$doors[[request$PATH_INFO]]
  if (is.null(door)) return(reply_error(404, "this address does not exist"))
  allowed <- if (door$method == "GET") c("GET", "HEAD") else door$method
  if (!request$REQUEST_METHOD %in% allowed) {
    return(reply_error(405, paste("this takes", door$method), list(Allow = paste(allowed, collapse = ", "))))
  }
  if (door$method == "POST") {
    return(if (has_gone(service, request)) closing(reply_error(400, "each request must wait for the answer before"))
           else door$answer(service, body_of(request)))
  }
  if (isTRUE(door$plain)) return(door$answer(service))
  query <- query_of(request)
  if (door$slow(query)) answer_read(service, door, request$PATH_INFO, query) else door$answer(service, query)
}

service_doors <- function() {
  post <- function(answer) list(method = "POST", answer = answer)
  get <- function(answer, slow = function(query) FALSE) list(method = "GET", answer = answer, slow = slow)
  slow <- function(answer) get(answer, slow = function(query) TRUE)
  plain <- function(answer) list(method = "GET", answer = function(service, query) answer(service), plain = TRUE)
  file <- function(path) plain(function(service) service$page[[path]])
  list("/suggest" = post(serve_suggest), "/add" = post(serve_add), "/observe" = post(serve_observe),
       "/amend" = post(serve_amend),
       "/fail" = post(serve_fail), "/withdraw" = post(serve_withdraw), "/heartbeat" = post(serve_heartbeat),
       "/best" = slow(serve_best), "/front" = slow(serve_front),
       "/history" = get(serve_history, slow = function(query) "draws" %in% names(query)),
       "/export" = slow(serve_export), "/model" = plain(serve_model), "/slices" = slow(serve_slices),
       "/prediction" = slow(serve_prediction),
       "/improvement" = slow(serve_improvement), "/certificate" = slow(serve_certificate),
       "/check" = slow(function(service, query) serve_check(service)),
       "/health" = plain(function(service) reply(list(status = "ok"))),
       "/openapi.json" = plain(function(service) reply(service_schema())),
       "/" = file("/"), "/page.css" = file("/page.css"), "/page.js" = file("/page.js"))
}

# Limits a reply to the time limit of the service, also if another process has locked the store.
timed_reply <- function(service, code) {
  connection <- service$store$connection
  patience <- connection$patience
  began <- proc.time()[["elapsed"]]
  on.exit({
    setTimeLimit(elapsed = Inf)
    connection$patience <- patience
  })
  connection$patience <- min(patience, service$time_limit)
  late <- function() proc.time()[["elapsed"]] - began >= service$time_limit
  answer <- checked_reply({
    setTimeLimit(elapsed = service$time_limit, transient = TRUE)
    code
  })
  # (R's message for a time limit depends on the language, and may be part of another message.)
  if (is_promised(answer) || answer$status < 400 || !late()) return(answer)
  reply_late(service$time_limit)
}

# ---- paths ---------------------------------------------------------------------------

serve_suggest <- function(service, body) {
  check_fields(body, c("n", "worker", "lease", "context", "arms", "fixed", "shared"))
  message <- NULL
  config <- service$bandit$config
  context <- contexts_field(service, body[["context"]])
  found <- withCallingHandlers(
    service$bandit$suggest(integer_field(body, "n", if (is.null(dim(context))) 1 else nrow(context), 1, 1000),
                           context = context,
                           arms = arms_field(body, "arms"), fixed = values_field(body, "fixed"),
                           shared = texts_field(body, "shared"),
                           worker = text_field(body, "worker"), lease = lease_field(body),
                           visitor = length(config$context_names) > 0),
    gpbandits_budget_spent = function(m) {
      message <<- trimws(conditionMessage(m))
      invokeRestart("muffleMessage")
    })
  found <- as.list(found)
  given <- given_names(config)
  inputs <- names(found)[names(found) %in% given]
  queries <- character()
  if (length(found$id)) {
    own <- own_columns(found, inputs)
    rows <- json_rows(own[c("id", "token", "attempt", if (!is.null(own$arm)) "arm")])
    queries <- paste0(substr(rows, 1, nchar(rows) - 1), ",\"point\":", json_rows(found[inputs]), "}")
  }
  reply_text(paste0("{\"queries\":[", paste(queries, collapse = ","), "]",
                    if (!is.null(message)) paste0(",\"message\":", cpp_json_scalars(message)), "}"))
}

# Adds an experiment that was not suggested: with its result, or pending.
serve_add <- function(service, body) {
  check_fields(body, c("point", "arm", "context", "reward", "outcomes", "constraints", measurement_fields))
  point <- values_field(body, "point")
  arm <- arms_field(body, "arm")
  if (length(arm) > 1) stop_argument("arm", json_message(body[["arm"]]), "one arm: an experiment for each request")
  given <- list(x = if (!is.null(point)) data.frame(point, check.names = FALSE), arm = arm,
                context = context_field(service, body[["context"]]),
                reward = if ("outcomes" %in% names(body)) outcomes_field(service, body, 1)
                         else numbers_field(body, "reward"),
                constraints = numbers_field(body, "constraints"))
  do.call(service$bandit$add, c(given[!vapply(given, is.null, NA)], measurements_of_body(body)))
  bandit <- as.environment(service$bandit)
  id <- table_size(bandit$queries)
  reply(list(id = id, status = status_of(bandit, id)))
}

# Missing or `null` means no lease.
lease_field <- function(body) {
  lease <- body[["lease"]]
  if (!is.null(lease)) check_number(lease, "lease", lower = 0, open_lower = TRUE)
}

serve_observe <- function(service, body) {
  check_fields(body, c("id", "reward", "token", "constraints", "prefer", "outcomes", measurement_fields))
  id <- numbers_field(body, "id")
  several <- "outcomes" %in% names(body)
  given <- list(id = id,
                reward = if (several) outcomes_field(service, body, length(id)) else numbers_field(body, "reward"),
                constraints = if (!several) numbers_field(body, "constraints"),
                prefer = if (!several) prefer_field(body), token = texts_field(body, "token"))
  do.call(service$bandit$observe, c(given, measurements_of_body(body)))
  if (several) return(reply(list(id = id, status = status_of(as.environment(service$bandit), id))))
  reply_fields(id = id, status = "observed")
}

# Fields about the measurement of a result.
measurement_fields <- c("size", "sd", "noise_var", "note")

# (Most requests have none of these.)
measurements_of_body <- function(body) {
  given <- intersect(measurement_fields, names(body))
  if (length(given) == 0) return(NULL)
  found <- lapply(stats::setNames(nm = given), function(name) {
    if (name == "note") texts_field(body, name) else numbers_by_name(body, name)
  })
  found[!vapply(found, is.null, NA)]
}

# `null` is a tie.
prefer_field <- function(body) {
  if ("prefer" %in% names(body) && is.null(body[["prefer"]])) NA_real_ else numbers_field(body, "prefer")
}

serve_amend <- function(service, body) {
  check_fields(body, c("id", "reward", "token", "prefer", "outcomes", measurement_fields))
  id <- numbers_field(body, "id")
  if ("prefer" %in% names(body)) {
    service$bandit$amend(id, numbers_field(body, "reward"), prefer = prefer_field(body),
                         token = texts_field(body, "token"))
    return(reply(list(id = id, status = "observed")))
  }
  reward <- if ("outcomes" %in% names(body)) outcomes_field(service, body, length(id)) else numbers_field(body,
                                                                                                          "reward")
  do.call(service$bandit$amend, c(list(id, reward, token = texts_field(body, "token")), measurements_of_body(body)))
  if ("outcomes" %in% names(body)) return(reply(list(id = id, status = status_of(as.environment(service$bandit), id))))
  reply(list(id = id, status = "observed"))
}

serve_fail <- function(service, body) give_up(service, body, service$bandit$fail, "failed")

serve_withdraw <- function(service, body) give_up(service, body, service$bandit$withdraw, "withdrawn")

give_up <- function(service, body, method, status) {
  check_fields(body, c("id", "reason", "token", if (status == "withdrawn") "outcome"))
  id <- numbers_field(body, "id")
  if ("outcome" %in% names(body)) {
    method(id, outcome = texts_field(body, "outcome"), reason = text_field(body, "reason"),
           token = texts_field(body, "token"))
    return(reply(list(id = id, status = status_of(as.environment(service$bandit), id))))
  }
  method(id, reason = text_field(body, "reason"), token = texts_field(body, "token"))
  reply(list(id = id, status = status))
}

serve_heartbeat <- function(service, body) {
  check_fields(body, "token")
  reply(list(renewed = renew_leases(service$store, texts_field(body, "token"))))
}

serve_best <- function(service, query) {
  check_fields(query, context_fields(query))
  service$bandit$catch_up()
  best <- withCallingHandlers(service$bandit$best(context = page_context(service, query)),
                              gpbandits_infeasible = function(w) invokeRestart("muffleWarning"))
  reply(point_described(service, best))
}

# With several objectives: the points that are not dominated.
serve_front <- function(service, query) {
  check_fields(query, context_fields(query))
  service$bandit$catch_up()
  front <- service$bandit$front(context = page_context(service, query))
  reply(list(front = lapply(seq_len(nrow(front)), function(k) point_described(service, front[k, ]))))
}

# A row of `$best()` or `$front()`.
point_described <- function(service, point) {
  inputs <- intersect(names(point), given_names(service$bandit$config))
  own <- own_columns(point, inputs)
  c(if (!is.null(own$arm)) list(arm = own$arm), list(point = as.list(point[1, inputs, drop = FALSE])),
    said_of_outcomes(service$bandit$config, own))
}

# `mean` and `sd`, or with several outcomes those of each, and `feasible`.
said_of_outcomes <- function(config, best) {
  if (!of_form(config, "several")) return(list(mean = best$mean, sd = best$sd))
  names <- c(if (!is.null(config$goal)) goal_column, outcome_names(config))
  each <- lapply(stats::setNames(nm = names), function(name) {
    list(mean = best[[paste0(name, "_mean")]], sd = best[[paste0(name, "_sd")]])
  })
  list(outcomes = each, feasible = best$feasible)
}

serve_history <- function(service, query) {
  check_fields(query, c("after", "limit", "draws"))
  query <- numbers_in_query(query)
  service$bandit$catch_up()
  bandit <- as.environment(service$bandit)
  total <- table_size(bandit$queries)
  after <- integer_field(query, "after", 0, 0, .Machine$integer.max)
  last <- min(total, after + integer_field(query, "limit", 1000, 0, 10000))
  ids <- if (last > after) seq(after + 1, last) else integer()
  rows <- bandit_history(bandit, ids)
  rows$id.2 <- of_form(bandit$config, "opponent_ids")(bandit, ids)
  rows <- json_rows(with_propensity(rows, bandit, query[["draws"]]))
  reply_text(sprintf("{\"rows\":[%s],\"total\":%d,\"version\":\"%s\"}", paste(rows, collapse = ","), total,
                     paste(log_version(service$bandit), collapse = "-")))
}

# All data as a file: a table for spreadsheets, or settings and log in the form that from_json() reads.
serve_export <- function(service, query) {
  check_fields(query, "format")
  format <- check_choice(or_else(query[["format"]], "csv"), c("csv", "csv2", "json"), "format")
  service$bandit$catch_up()
  body <- if (format == "json") as_json(service$bandit)
          else csv_text(service$bandit$history(), decimal_comma = format == "csv2")
  type <- if (format == "json") "application/json" else "text/csv; charset=utf-8"
  file <- sprintf("attachment; filename=\"%s.%s\"", gsub("[^A-Za-z0-9_-]+", "-", service$store$name),
                  sub("2", "", format))
  list(status = 200L, headers = c(list("Content-Type" = type, "Content-Disposition" = file), every_answer), body = body)
}

# RFC 4180, with numbers to full precision. (A spreadsheet would evaluate text that begins like a formula.) Or as
# read.csv2() reads it.
csv_text <- function(frame, decimal_comma = FALSE) {
  separator <- if (decimal_comma) ";" else ","
  quoted <- function(text) paste0("\"", gsub("\"", "\"\"", enc2utf8(text), fixed = TRUE), "\"")
  numbers <- function(x) {
    short <- sprintf("%.15g", x)
    text <- ifelse(as.double(short) == x, short, sprintf("%.17g", x))
    if (decimal_comma) sub(".", ",", text, fixed = TRUE) else text
  }
  cells <- function(column) {
    if (is.numeric(column)) {
      return(replace(rep("", length(column)), !is.na(column), numbers(as.double(column[!is.na(column)]))))
    }
    text <- as.character(column)
    ifelse(is.na(text), "", quoted(without_formulas(text)))
  }
  lines <- do.call(paste, c(lapply(unname(as.list(frame)), cells), list(sep = separator)))
  paste0(c(paste(quoted(without_formulas(names(frame))), collapse = separator), lines), "\r\n", collapse = "")
}

# Text that a spreadsheet would compute begins with an apostrophe.
without_formulas <- function(text) {
  formula <- grepl("^[-=+@\t\r]", text) & !grepl("^[-+]?[0-9.]+([eE][-+]?[0-9]+)?$", text)
  paste0(ifelse(formula, "'", ""), text)
}

# Called by inst/heartbeat.R: answers questions until the service ends.
reader_loop <- function(settings, connection) {
  home <- settings$home
  on.exit(file.create(file.path(home, "ended")))
  save_whole(Sys.getpid(), file.path(home, "pid.rds"))
  service <- list(store = settings$store, bandit = open_bandit(settings$store), time_limit = settings$time_limit)
  while (!socketSelect(list(connection), timeout = 0.03)) {
    file <- sort(list.files(home, "^question-[0-9]+[.]rds$", full.names = TRUE))[1]
    if (is.na(file)) next
    question <- readRDS(file)
    unlink(file)
    took <- system.time({
      answer <- timed_reply(service, service_doors()[[question$path]]$answer(service, question$query))
    })[["elapsed"]]
    save_whole(list(version = log_version(service$bandit), answer = answer, took = took),
               file.path(home, sub("question", "answer", basename(file))))
  }
}

#' Requests of the HTTP interface
#'
#' Lists the requests that a [bandit_service()] answers, and the fields of its JSON interface.
#'
#' All requests except `/health`, the schema and the page's files need the header `Authorization: Bearer <token>`. The
#' OpenAPI 3 schema is at `GET /openapi.json`.
#'
#' \tabular{lll}{
#'   request \tab body or query \tab answer \cr
#'   `POST /suggest` \tab all optional: `n`, `worker`, `lease`, `context`, `arms`, `fixed` \tab `{"queries": [..]}`, and
#'     `"message"` if the budget is spent \cr
#'   `POST /add` \tab `{"point": {..}}` or `{"arm": 3}`, and optionally a result \tab `{"id", "status"}` \cr
#'   `POST /observe` \tab `{"id": 1, "reward": 0.5, "token": ".."}` \tab `{"id", "status"}` \cr
#'   `POST /amend` \tab `{"id": 1, "reward": 0.6, "token": ".."}` \tab `{"id", "status"}` \cr
#'   `POST /fail` \tab `{"id": 1, "reason": "..", "token": ".."}` \tab `{"id", "status"}` \cr
#'   `POST /withdraw` \tab `{"id": 1, "reason": "..", "token": ".."}` \tab `{"id", "status"}` \cr
#'   `POST /heartbeat` \tab `{"token": ".."}` \tab `{"renewed": 1}` \cr
#'   `GET /best` \tab context \tab `{"point": {..}, "mean", "sd"}` \cr
#'   `GET /front` \tab context \tab `{"front": [{"point", "outcomes", "feasible"}]}` \cr
#'   `GET /history` \tab `?after=0&limit=1000&draws=..` \tab `{"rows": [..], "total", "version"}` \cr
#'   `GET /export` \tab `?format=csv`, `csv2` or `json` \tab a file \cr
#'   `GET /prediction` \tab `?id=3` \tab `mean` and `sd` of the result of a query, by its name \cr
#'   `GET /model` \tab \tab inputs, contexts, constraints, comparisons, outcomes \cr
#'   `GET /slices` \tab context \tab predictions along each input, or of the best arms \cr
#'   `GET /improvement` \tab `?n=4&at_least=0`, context \tab `{"n", "mean", "sd", "probability"}` \cr
#'   `GET /certificate` \tab context \tab `{"gap", "probability", "assumptions": [..], "point": {..}}` \cr
#'   `GET /check` \tab \tab `{"rewards", "held", "verdict", "advice": [..], "tests": [..]}` \cr
#'   `GET /health` \tab \tab `{"status": "ok"}`, without a token \cr
#' }
#'
#' * **Suggestions**: each has `id`, `token`, `attempt` and `point`. `arms` are numbers or labels of the eligible
#'   arms. `fixed` is an object with values of inputs that are not to be chosen. `lease` is in seconds.
#' * **Results**: `/observe` and `/add` also take `constraints` (an array). These and `/amend` take `sd` or `noise_var`
#'   (the error bar of the reward, or its square), `size` (the number of readings of which it is the mean, or of
#'   trials) and `note`. An array of rewards for one `id` are replicates. With several [outcomes] they
#'   take `"outcomes": {"yield": 61, "ph": null}` instead of `reward`, `sd` and the like may be such objects, and the
#'   status is `"partial"` until all are observed. `/amend` takes `outcomes` too, and `/withdraw` takes `outcome`. A
#'   [comparison][rewards_preferences()] is `{"id": [1, 2], "prefer": 1}`; `null` is a tie, and a
#'   [ranking][rewards_preferences()] is an array, best first.
#' * **Corrections**: `/amend` replaces an observed reward. `/fail` reports an evaluation without a result,
#'   `/withdraw` a query that will not be evaluated. `/observe` may be repeated: the same reward again changes
#'   nothing.
#' * **Contexts**: an object with a number for each name, or an array in the bandit's order. `/suggest` takes an array
#'   of them for several queries, in the order of the answer. In a query string: `?context[age]=0.2&context[hour]=0.5`
#'   or `?context=0.2,0.5`.
#' * **Batches**: `/suggest` for many contexts and `/observe` with arrays (`"id": [1, 2], "reward": [0, 1]`) are one
#'   transaction each. Many decisions a second need them, or `bandit_store(durable = FALSE)` and a client that keeps its
#'   connection open.
#' * **History**: the rows are those of `$history(draws)`, with `propensity` where choices are randomised and `id.2`
#'   (the other query) where rewards are comparisons. `version` changes whenever the log grows.
#' * **Export**: CSV is the history, `csv2` with decimal commas and semicolons; JSON holds settings and log, and
#'   [from_json()] reads it.
#' * **Improvement**: that of `$expected_improvement()` ([expected-improvement]), with `hypervolume` for several
#'   objectives. If there is none, the numbers are `null`, and `reason` states why.
#' * **Certificate**: that of `$certificate()`. With several outcomes `gap` and `probability` are `null`, and
#'   `assumptions` states the reason.
#'
#' An error is `{"error": "..", "argument": ".."}`. Its status is 400 (invalid request), 401 (missing or wrong token),
#' 404, 405, 411, 413 (body too large) or 503. Status 503 means that the database does not answer or that the answer
#' took longer than `time_limit`; repeat the request. `HEAD` is answered as `GET`, without the body.
#'
#' @section Slow answers: `/best`, `/front`, `/slices`, `/improvement`, `/certificate`, `/check`, `/export`, and
#'   `/history` with `draws` can take seconds. Their answers are kept until the log grows, or until the database, which
#'   may be locked while another process saves a result, can be read again. They are computed in further R processes,
#'   each with a replica of the store, at most one for each of these paths; the service goes on with other requests. A
#'   request waits only for others of the same path. (Answers that took less than 0.05 s are computed at once the next
#'   time.) If an answer takes longer than `time_limit`, the status is 503, the computation continues, and a later
#'   request gets its result. A store made with a connection that cannot be opened again (SQLite in memory, or
#'   PostgreSQL without a function that connects) has no further process: there, other requests wait.
#' @seealso [bandit_service()].
#' @name service-requests
#' @concept REST API
#' @concept OpenAPI
#' @concept JSON interface
NULL

#' Decisions without an answer of the service
#'
#' A client that decides for visitors needs a default decision for the case that a [bandit_service()] does not answer.
#'
#' Choose it before the campaign: a fixed arm, or an arm drawn with known probabilities.
#'
#' * Wait for `/suggest` only as long as a visitor can wait. The request may have been carried out, though its answer
#'   was lost: the same `worker` and context get that query again, and a query that was not used is reported with
#'   `/withdraw`.
#' * Use the default decision. Log its propensity: 1 for a fixed arm, otherwise the probability with which the arm was
#'   drawn. It is not the propensity in `/history`, which is that of the bandit's choice.
#' * Report the result later with `/add` and the context. The posterior then conditions on it. The history has action
#'   `"given"`, without a propensity. [evaluate_policy()] therefore omits it; to include such rows, join your own
#'   log with the history, with your propensities.
#' @seealso [bandit_service()], [service-requests], [evaluate_policy()].
#' @name service-fallback
#' @concept fallback
#' @concept propensity
#' @concept web service
NULL

register_form("reward", opponent_ids = function(bandit, ids) NULL)
register_form("comparison", opponent_ids = opponent_ids)
register_form("ranking", opponent_ids = function(bandit, ids) NULL)
