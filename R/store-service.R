#' Serve a bandit over HTTP
#'
#' A door to a bandit in a store for people and for programs in any language. `GET /` is a page for a browser: what is known, what is open
#' with boxes to fill in, and what the model says. Under it is JSON over HTTP, on package httpuv; `GET /openapi.json` is its OpenAPI 3 schema.
#' Several services, workers and R sessions may work on one store.
#'
#' | request | body or query | answer |
#' |---|---|---|
#' | `POST /suggest` | `{"n": 1, "worker": "w1", "lease": 60, "context": {..}, "arms": [..], "fixed": {..}}`, all optional | `{"queries": [{"id", "token", "attempt", "point": {..}}]}` |
#' | `POST /observe` | `{"id": 1, "reward": 0.5, "token": "..", "constraints": [..], "size": 10}`, or of two `{"id": [1, 2], "prefer": 1}` (`null`: a tie, see [rewards_duels()]; of [rewards_rankings()] an array, the best first) | `{"id", "status"}` |
#' | | with several [outcomes] `{"id": 1, "outcomes": {"yield": 61, "ph": null}}`, likewise for `/amend`; `/withdraw` takes `"outcome"`; `/best` answers `outcomes`, `feasible` | status `"partial"` until all are known |
#' | `POST /amend` | `{"id": 1, "reward": 0.6, "token": ".."}`, of two `{"id": [1, 2], "prefer": 2}`: a known reward was wrong | `{"id", "status"}` |
#' | `POST /fail` | `{"id": 1, "reason": "..", "token": ".."}`: it was tried in vain | `{"id", "status"}` |
#' | `POST /withdraw` | `{"id": 1, "reason": "..", "token": ".."}`: it will never be answered | `{"id", "status"}` |
#' | `POST /heartbeat` | `{"token": ".."}` | `{"renewed": 1}` |
#' | `GET /best` | `?context[age]=..&context[hour]=..` where there are contexts | `{"point": {..}, "mean", "sd"}` |
#' | `GET /front` | `context` as for `/best` | `{"front": [{"point": {..}, "outcomes": {..}, "feasible"}]}`, of `$front()`: several objectives |
#' | `GET /history` | `?after=0&limit=1000&draws=..` | `{"rows": [..], "total"}` |
#' | `GET /model` | | what there is to choose and to fill in: inputs with their ranges or levels, contexts, constraints, comparisons, outcomes |
#' | `GET /slices` | `context` as for `/best` | mean and band along each input through the recommended point, or of the best arms |
#' | `GET /certificate` | `context` as for `/best` | `{"gap", "probability", "assumptions": [..], "point": {..}}`, of `$certificate()` |
#' | `GET /check` | | `{"rewards", "held", "verdict", "advice": [..], "tests": [..]}`, of [check_model()] |
#' | `GET /health` | | `{"status": "ok"}`, without a token |
#'
#' A context is an object with a number for each of the bandit's names (in any order; unknown and missing names are errors), or an array in
#' the bandit's order (`?context=0.2,0.5`). `arms`: numbers or labels of the arms that are eligible now. `fixed`:
#' an object with values of inputs that are not to be chosen. Rows of `/history` are those of
#' `$history(draws)`, with `propensity` where choices are randomised, and where rewards are comparisons `id.2`, whom a query met.
#'
#' An error is `{"error": "..", "argument": ".."}` with status 400 (what was asked is wrong), 401 (no or a wrong token), 404, 405, 411, 413 (body too
#' large), 503 (the database does not answer, or it took longer than `time_limit`: ask again). `/observe` may be repeated: the same
#' reward again changes nothing. `HEAD` is answered as `GET`, without the body.
#'
#' @section The page: whoever opens `url` in a browser types the token and sees the campaign: the recommended point, the open experiments with a box
#'   for each result (of [comparisons][rewards_duels()] two of them and which is better; of several [outcomes] each, as they come), a form to ask for more, all that is known with its course, and on request pictures along the inputs, the
#'   certificate and the check of the model. Wrong entries are corrected (`/amend`), experiments given up (`/fail`, `/withdraw`). What it asks for has no lease. It works on
#'   a telephone, by keyboard and with screen readers. The token stays in the page's memory (no cookie, no storage) and is gone when it is loaded again; the page
#'   loads nothing from anywhere else, and its Content-Security-Policy forbids it to, with scripts in a campaign's text besides. Between your browser and the service
#'   the token is as safe as the way is: on one machine, or with TLS by a proxy.
#'
#' @section Decisions for visitors: a query that was asked in a context is a decision for somebody, and never given to anybody else: when its
#'   lease runs out nothing happens, and its reward is taken whenever it comes. `"lease": null` says the same without contexts:
#'   no lease, nothing to renew, and every call asks something new. Whoever asks again with the same `worker` in the same context, while
#'   its lease lasts, gets the same query again, for an answer may be lost on its way: let `worker` be the visitor, or leave it out.
#'   Answers that never come: `/withdraw`.
#'
#' @section Safety: the service listens on this machine only (`host = "127.0.0.1"`) unless you say otherwise; every request but `/health`,
#'   the schema and the page's files (which hold no data) needs the header `Authorization: Bearer <token>`. Bodies larger than `max_body` bytes are refused before
#'   they are read. Connections that have lasted longer than `time_limit` (half a request, nothing at all, an answer that is not
#'   fetched) are ended, the oldest first where there are many, and so is work on a request; WebSockets are refused. (On Windows
#'   R cannot end connections.) What comes from outside is data: text that is parsed as JSON, never an address or a path.
#'
#'   **Over a network put it behind a proxy**: there is no encryption here, and R answers one request at a time. Besides, R keeps the name of every
#'   header it has ever seen, so a client that makes up names fills its memory; a proxy passes on only what it is told to.
#'   `system.file("examples", "nginx.conf", package = "gpbandits")` is a configuration of nginx, with TLS, limits for each client, and only
#'   whole requests passed on; the package's tests run it.
#'
#' @param store a [bandit_store()] in which a bandit has been begun.
#' @param port a port number, or 0 for a free one.
#' @param token the secret that clients send, a string of at least 16 characters; `NULL` makes one from the system's random numbers (see
#'   `$token` of the result).
#' @param host the address to listen on.
#' @param max_body largest body of a request in bytes.
#' @param time_limit seconds that a connection may last, and that a request may be worked on.
#' @param connections the largest number of connections at a time (and no more than half of the files that R may have open).
#' @return An object of class `bandit_service`, a list with `url`, `token`, `stop()` and `run()`. The service answers while R is idle at
#'   its prompt; in a script `$run()` serves until it is interrupted (or for `$run(seconds)`).
#' @section Errors: a `gpbandits_error` that names the argument.
#' @seealso [bandit_store()].
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
  if (port == 0) port <- httpuv::randomPort(host = host)
  service <- list(bandit = bandit, store = store, token = token, max_body = max_body, time_limit = time_limit,
                  port = as.integer(port), page = page_files())
  app <- list(onHeaders = function(request) for_method(request, checked_reply(refuse_early(service, request))),
              call = function(request) for_method(request, timed_reply(service, answer_request(service, request))),
              onWSOpen = function(socket) socket$close())
  server <- catch_error(httpuv::startServer(host, port, app, quiet = TRUE), function(e) {
    stop_argument("port", sprintf("%d, which cannot be listened on (%s)", as.integer(port), message_of(e)),
                  "a free port")
  })
  forget <- watch_connections(service$port, time_limit, connections)
  structure(list(url = sprintf("http://%s:%d", host, service$port), token = token,
                 stop = function() {
                   forget()
                   httpuv::stopServer(server)
                 },
                 run = function(seconds = Inf) serve_for(seconds)),
            class = "bandit_service")
}

# A secret that a header can carry.
check_secret <- function(token) {
  if (nchar(check_string(token, "token")) < 16) {
    stop_argument("token", sprintf("one of %d characters", nchar(token)), "at least 16 characters")
  }
  if (grepl("[[:cntrl:]]|^ | $", token)) {
    stop_argument("token", "one with control characters, or spaces at its ends", "text that a header can carry")
  }
  token
}

serve_for <- function(seconds) {
  began <- Sys.time()
  while (seconds_since(began) < seconds) httpuv::service(min(100, 1000 * seconds))
}

service_entry <- list(settings = alist(url = check_string(url), stop = check_function(stop)))

#' @export
print.bandit_service <- function(x, ...) {
  check_class(x, "bandit_service")
  cat(sprintf("<bandit service at %s>\n", x$url))
  invisible(x)
}

# What can be refused before the body is read; NULL where nothing is wrong.
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

# What says nothing of the campaign needs no token.
open_doors <- c("/", "/page.css", "/page.js", "/openapi.json", "/health")

# Takes equally long wherever the first difference is.
has_token <- function(service, request) {
  given <- charToRaw(paste0(request$HTTP_AUTHORIZATION, ""))
  wanted <- charToRaw(paste("Bearer", service$token))
  length(given) == length(wanted) && !any(xor(given, wanted) != as.raw(0))
}

answer_request <- function(service, request) {
  early <- refuse_early(service, request)
  if (!is.null(early)) return(early)
  doors <- service_doors()
  if (!request$PATH_INFO %in% names(doors)) return(reply_error(404, "there is nothing here"))
  door <- doors[[request$PATH_INFO]]
  allowed <- if (door$method == "GET") c("GET", "HEAD") else door$method
  if (!request$REQUEST_METHOD %in% allowed) {
    return(reply_error(405, paste("this takes", door$method), list(Allow = paste(allowed, collapse = ", "))))
  }
  door$answer(service, if (door$method == "POST") body_of(request) else query_of(request))
}

service_doors <- function() {
  post <- function(answer) list(method = "POST", answer = answer)
  get <- function(answer) list(method = "GET", answer = answer)
  plain <- function(answer) get(function(service, query) answer(service))
  file <- function(path) plain(function(service) service$page[[path]])
  list("/suggest" = post(serve_suggest), "/observe" = post(serve_observe), "/amend" = post(serve_amend),
       "/fail" = post(serve_fail), "/withdraw" = post(serve_withdraw), "/heartbeat" = post(serve_heartbeat),
       "/best" = get(serve_best), "/front" = get(serve_front), "/history" = get(serve_history),
       "/model" = plain(serve_model), "/slices" = get(serve_slices), "/certificate" = get(serve_certificate),
       "/check" = plain(serve_check), "/health" = plain(function(service) reply(list(status = "ok"))),
       "/openapi.json" = plain(function(service) reply(service_schema())),
       "/" = file("/"), "/page.css" = file("/page.css"), "/page.js" = file("/page.js"))
}

# Whatever goes wrong is an answer; what is not ours to tell is told as 500.
checked_reply <- function(code) {
  tryCatch(code, gpbandits_store_error = function(e) reply_error(503, "the store does not answer"),
           gpbandits_error = function(e) reply_error(400, conditionMessage(e), argument = e$argument),
           error = function(e) reply_error(500, "an error in the service"))
}

# Within the service's time, also where another process has locked the store.
timed_reply <- function(service, code) {
  link <- service$store$link
  patience <- link$patience
  began <- proc.time()[["elapsed"]]
  on.exit({
    setTimeLimit(elapsed = Inf)
    link$patience <- patience
  })
  link$patience <- min(patience, service$time_limit)
  late <- function() proc.time()[["elapsed"]] - began >= service$time_limit
  answer <- checked_reply({
    setTimeLimit(elapsed = service$time_limit, transient = TRUE)
    code
  })
  # (R's own words for a time limit depend on the language, and may be wrapped.)
  if (answer$status < 400 || !late()) return(answer)
  reply_error(503, sprintf("this took longer than %g s: ask again", service$time_limit))
}

# An answer to HEAD has the headers of that to GET, and no body.
for_method <- function(request, answer) {
  if (is.null(answer) || !identical(request$REQUEST_METHOD, "HEAD")) return(answer)
  answer$headers <- c(answer$headers, content_length(answer$body))
  answer["body"] <- list(NULL)
  answer
}

# On a connection that is kept, what follows the headers waits for the client's delayed acknowledgement: 40 ms.
every_answer <- list(Connection = "close", "Cache-Control" = "no-store", "X-Content-Type-Options" = "nosniff")

reply <- function(value, status = 200L, headers = list()) {
  body <- jsonlite::toJSON(value, auto_unbox = TRUE, digits = NA, null = "null", na = "null", dataframe = "rows")
  list(status = status, headers = c(list("Content-Type" = "application/json"), every_answer, headers),
       body = as.character(body))
}

reply_error <- function(status, words, headers = list(), argument = NULL) {
  reply(c(list(error = words), if (!is.null(argument) && !is.na(argument)) list(argument = argument)),
        as.integer(status),
        headers)
}

# ---- doors ---------------------------------------------------------------------------

serve_suggest <- function(service, body) {
  check_fields(body, c("n", "worker", "lease", "context", "arms", "fixed"))
  found <- service$bandit$suggest(whole_field(body, "n", 1, 1, 1000),
                                  context = context_field(service, body[["context"]]), arms = arms_field(body, "arms"),
                                  fixed = fixed_field(body),
                                  worker = text_field(body, "worker"), lease = lease_field(body),
                                  visitor = length(service$bandit$config$context_names) > 0)
  inputs <- intersect(names(found), given_names(service$bandit$config))
  ours <- own_columns(found, inputs)
  reply(list(queries = lapply(seq_len(nrow(found)), function(k) {
    c(list(id = ours$id[k], token = ours$token[k], attempt = ours$attempt[k]),
      if (!is.null(ours$arm)) list(arm = ours$arm[k]), list(point = as.list(found[k, inputs, drop = FALSE])))
  })))
}

# `null` is no lease at all, left out is a minute.
lease_field <- function(body) {
  if (!"lease" %in% names(body)) return(60)
  lease <- body[["lease"]]
  if (!is.null(lease)) check_number(lease, "lease", lower = 0, open_lower = TRUE)
}

serve_observe <- function(service, body) {
  check_fields(body, c("id", "reward", "token", "constraints", "size", "prefer", "outcomes"))
  id <- numbers_field(body, "id")
  if ("outcomes" %in% names(body)) {
    service$bandit$observe(id, outcomes_field(service, body, length(id)), token = texts_field(body, "token"))
    return(reply(list(id = id, status = status_of(as.environment(service$bandit), id))))
  }
  service$bandit$observe(id, numbers_field(body, "reward"), constraints = numbers_field(body, "constraints"),
                         size = numbers_field(body, "size"), prefer = prefer_field(body), token = texts_field(body,
                                                                                                              "token"))
  reply(list(id = id, status = "known"))
}

# `null` is a tie.
prefer_field <- function(body) {
  if ("prefer" %in% names(body) && is.null(body[["prefer"]])) NA_real_ else numbers_field(body, "prefer")
}

serve_amend <- function(service, body) {
  check_fields(body, c("id", "reward", "token", "prefer", "outcomes"))
  id <- numbers_field(body, "id")
  if ("prefer" %in% names(body)) {
    service$bandit$amend(id, numbers_field(body, "reward"), prefer = prefer_field(body),
                         token = texts_field(body, "token"))
    return(reply(list(id = id, status = "known")))
  }
  reward <- if ("outcomes" %in% names(body)) outcomes_field(service, body, length(id)) else numbers_field(body,
                                                                                                          "reward")
  service$bandit$amend(id, reward, token = texts_field(body, "token"))
  if ("outcomes" %in% names(body)) return(reply(list(id = id, status = status_of(as.environment(service$bandit), id))))
  reply(list(id = id, status = "known"))
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
  reply(list(renewed = store_heartbeat(service$store, texts_field(body, "token"))))
}

serve_best <- function(service, query) {
  check_fields(query, context_fields(query))
  service$bandit$catch_up()
  best <- withCallingHandlers(service$bandit$best(context = page_context(service, query)),
                              gpbandits_infeasible = function(w) invokeRestart("muffleWarning"))
  reply(place_described(service, best))
}

# Of several objectives: the places that no other beats.
serve_front <- function(service, query) {
  check_fields(query, context_fields(query))
  service$bandit$catch_up()
  front <- service$bandit$front(context = page_context(service, query))
  reply(list(front = lapply(seq_len(nrow(front)), function(k) place_described(service, front[k, ]))))
}

# A row of `$best()` or `$front()`.
place_described <- function(service, place) {
  inputs <- intersect(names(place), given_names(service$bandit$config))
  ours <- own_columns(place, inputs)
  c(if (!is.null(ours$arm)) list(arm = ours$arm), list(point = as.list(place[1, inputs, drop = FALSE])),
    said_of_outcomes(service$bandit$config, ours))
}

# `mean` and `sd`, or with several outcomes those of each, and `feasible`.
said_of_outcomes <- function(config, best) {
  if (!has_outcomes(config)) return(list(mean = best$mean, sd = best$sd))
  each <- lapply(stats::setNames(nm = outcome_names(config)), function(name) {
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
  after <- whole_field(query, "after", 0, 0, .Machine$integer.max)
  last <- min(total, after + whole_field(query, "limit", 1000, 0, 10000))
  ids <- if (last > after) seq(after + 1, last) else integer()
  rows <- bandit_history(bandit, ids)
  if (compares_queries(bandit$config) && !ranks_queries(bandit$config)) rows$id.2 <- opponent_ids(bandit, ids)
  reply(list(rows = with_propensity(rows, bandit, query[["draws"]]), total = total))
}
