# The OpenAPI description of the HTTP service. Layer: service.

# The description of bandit_service() for programs: an OpenAPI 3 schema.

service_schema <- function() {
  shapes <- schema_shapes()
  list(
    openapi = "3.0.3",
    info = list(title = "gpbandits", version = "1", description = "Ask a bandit for queries and report results."),
    components = list(securitySchemes = list(token = list(type = "http", scheme = "bearer"))),
    security = list(list(token = list())),
    paths = c(asking_and_recording_paths(shapes), measurement_paths(shapes))
  )
}

asking_and_recording_paths <- function(s) {
  list(
    "/suggest" = s$post("The next queries; with `lease`, leased to a worker.",
                        s$object(n = c(s$whole, maximum = 1000), worker = s$text,
                               lease = c(s$number, nullable = TRUE, description = paste(
                                 "seconds; null, or left out: no lease,",
                                 "the query is never offered to another client")),
                               context = s$one_or_two(s$context),
                               arms = list(type = "array", items = list(oneOf = list(s$whole, s$text)),
                                           description = "numbers or labels of the arms that are eligible now"),
                               fixed = list(type = "object",
                                            description = "values of inputs that are not to be chosen"),
                               shared = list(oneOf = list(s$text, s$texts),
                                             description = "names of inputs that have one value in all queries")),
                        s$object(queries = list(type = "array", items = s$query),
                                 message = c(s$text, description = "where the store's budget is spent"))),
    "/add" = s$post("An experiment that was not suggested, with its result, or open where there is none yet.",
                    s$object(point = s$point, arm = list(oneOf = list(s$whole, s$text)), context = s$context,
                             reward = s$number, outcomes = s$outcomes,
                             constraints = list(type = "array", items = s$number), size = s$by_outcome,
                             sd = s$by_outcome, noise_var = s$by_outcome, note = s$text), s$done),
    "/observe" = s$post("The result of a query; the same one again changes nothing.",
                        s$rewarded(constraints = list(type = "array", items = s$number), prefer = s$preferred), s$done),
    "/amend" = s$post("A known result was wrong: its new value.", s$rewarded(prefer = s$preferred), s$done),
    "/fail" = s$post("A query whose evaluation failed.", s$given_up, s$done),
    "/withdraw" = s$post("A query that will never be answered, or (`outcome`) some of its outcomes.", s$withdrawn,
                         s$done),
    "/heartbeat" = s$post("Renews the lease of a query.", s$object(token = s$text, required = "token"),
                          s$object(renewed = list(type = "integer")))
  )
}

measurement_paths <- function(s) {
  list(
    "/best" = s$get("The point with the largest posterior mean.",
                    s$object(arm = s$whole, point = s$point, mean = s$number, sd = s$number, outcomes = s$loose,
                             feasible = s$number),
                    s$context_in_url, slow = TRUE),
    "/front" = s$get("With several objectives: the Pareto front of posterior means.",
                     s$object(front = list(type = "array", items = s$object(arm = s$whole, point = s$point,
                                                                            outcomes = s$loose,
                                                                            feasible = s$number))), s$context_in_url,
                     slow = TRUE),
    "/history" = s$get("One row per query.",
                       s$object(rows = list(type = "array", items = s$row), total = list(type = "integer"),
                                version = c(s$text, description = "another one as soon as there is news")),
                       service_parameter("after", list(type = "integer", minimum = 0)),
                       service_parameter("limit", list(type = "integer", minimum = 0, maximum = 10000)),
                       service_parameter("draws", list(type = "integer", minimum = 0, maximum = 100000))),
    "/export" = s$get("The whole history as a file: CSV, or JSON that from_json() of the R package reads.", s$text,
                      service_parameter("format", list(type = "string", enum = c("csv", "csv2", "json"),
                                                        default = "csv")),
                      type = c("text/csv", "application/json")),
    "/model" = s$get("What there is to choose and to fill in.", s$loose),
    "/slices" = s$get("Posterior mean and a band of two sd along each input through the recommended point.",
                      s$object(slices = list(type = "array", items = s$loose)), s$context_in_url, slow = TRUE),
    "/prediction" = s$get("What is expected of a query's result, with the noise; empty where there are few results.",
                          list(type = "object", additionalProperties = s$object(mean = s$number, sd = s$number)),
                          service_parameter("id", s$whole), slow = TRUE),
    "/improvement" = s$get("What the next n experiments are expected to add; null, with a reason, if unknown.",
                           s$object(n = s$whole, mean = c(s$number, nullable = TRUE), sd = c(s$number, nullable = TRUE),
                                    probability = c(s$number, nullable = TRUE), hypervolume = s$number,
                                    reason = s$text),
                           service_parameter("n", list(type = "integer", minimum = 1, maximum = 1000)),
                           service_parameter("at_least", list(type = "number", minimum = 0)),
                           s$context_in_url, slow = TRUE),
    "/certificate" = s$get(paste("How large the regret can still be, with what probability, on what assumptions;",
                                 "with several outcomes gap and probability are null, and assumptions say why."),
                           s$object(gap = c(s$number, nullable = TRUE), probability = c(s$number, nullable = TRUE),
                                    assumptions = s$texts, point = c(s$point, nullable = TRUE)),
                           s$context_in_url, slow = TRUE),
    "/check" = s$get("Does the model fit the results?",
                     s$object(rewards = s$whole, groups = s$whole, held = list(type = "integer"), verdict = s$text,
                            advice = s$texts, tests = list(type = "array", items = s$loose)), slow = TRUE),
    "/health" = s$get("Is the service up? Needs no token.", s$object(status = s$text), open = TRUE)
  )
}

# The schemas of bodies and answers, and functions that describe a path with them.
schema_shapes <- function() {
  number <- list(type = "number")
  text <- list(type = "string")
  whole <- list(type = "integer", minimum = 1)
  object <- function(..., required = NULL) {
    c(list(type = "object", properties = list(...)), if (!is.null(required)) list(required = I(required)))
  }
  point <- list(type = "object", description = "a value per input", additionalProperties = TRUE)
  row <- list(type = "object", additionalProperties = TRUE, description = paste(
    "id, arm, inputs, contexts, reward (null while pending), mean, sd, width, action, segment, status,",
    "and propensity where choices are randomised"))
  query <- object(id = whole, token = text, attempt = whole, arm = whole, point = point)
  by_name <- list(type = "object", additionalProperties = number,
                  description = "a number for each of the bandit's names")
  value <- list(oneOf = list(number, text, list(type = "boolean")))
  context <- list(oneOf = list(list(type = "object", additionalProperties = value,
                                    description = "a value for each of the bandit's names"),
                               list(type = "array", items = value, description = "in the bandit's order")))
  context_in_url <- c(service_parameter("context", context$oneOf[[1]]), style = "deepObject", explode = TRUE)
  loose <- list(type = "object", additionalProperties = TRUE)
  texts <- list(type = "array", items = text)
  done <- object(id = whole, status = text)
  given_up <- object(id = whole, reason = text, token = text, required = "id")
  withdrawn <- object(id = whole, outcome = list(oneOf = list(text, texts)), reason = text, token = text,
                      required = "id")
  outcomes <- list(type = "object", additionalProperties = c(number, nullable = TRUE), description = paste(
    "instead of reward, where the bandit has several outcomes: a number for some of them, null: not known yet;",
    "the answer's status is partial until all are known"))
  # (Two ids for a pairwise comparison; the same holds for rewards and tokens.)
  one_or_two <- function(item) list(oneOf = list(item, list(type = "array", items = item)))
  by_outcome <- list(oneOf = list(number, list(type = "array", items = number), by_name), description = paste(
    "size: how many readings the reward is the mean of, or how many trials; sd: the error bar of the reward (of one",
    "reading, where size is given); noise_var: its square"))
  rewarded <- function(...) {
    object(id = one_or_two(whole), reward = one_or_two(number), outcomes = outcomes, token = one_or_two(text), ...,
           size = by_outcome, sd = by_outcome, noise_var = by_outcome, note = one_or_two(text), required = "id")
  }
  post <- function(summary, body, answer) service_path("post", summary, answer, body = body)
  get <- function(summary, answer, ..., open = FALSE, slow = FALSE, type = "application/json") {
    if (slow) summary <- paste(summary, computed_aside)
    service_path("get", summary, answer, parameters = list(...), open = open, type = type)
  }
  preferred <- list(oneOf = list(whole, list(type = "array", items = whole)), nullable = TRUE,
                    description = "ids among `id`, the best first; null: a tie")
  list(number = number, text = text, whole = whole, object = object, point = point, row = row, query = query,
       by_name = by_name, by_outcome = by_outcome, context = context, context_in_url = context_in_url, loose = loose,
       texts = texts,
       done = done, given_up = given_up, withdrawn = withdrawn, outcomes = outcomes, one_or_two = one_or_two,
       rewarded = rewarded, post = post, get = get, preferred = preferred)
}

service_parameter <- function(name, schema) list(name = name, `in` = "query", required = FALSE, schema = schema)

computed_aside <- paste(
  "Kept until there is news. An answer that takes long is computed while other requests are served; where that takes",
  "longer than the service's time limit the status is 503, and the answer is there when it is asked for again.")

service_path <- function(method, summary, answer, body = NULL, parameters = list(), open = FALSE,
                         type = "application/json") {
  json <- function(schema) stats::setNames(rep(list(list(schema = schema)), length(type)), type)
  path <- list(summary = summary,
               responses = list("200" = list(description = "done", content = json(answer)),
                                "400" = list(description = "the request is invalid"),
                                "401" = list(description = "no token, or a wrong one"),
                                "503" = list(description = "the store does not answer, or it took too long")))
  if (!is.null(body)) path$requestBody <- list(required = TRUE, content = json(body))
  if (length(parameters)) path$parameters <- parameters
  if (open) path$security <- list()
  stats::setNames(list(path), method)
}
