# What bandit_service() says about itself to programs: an OpenAPI 3 schema.

service_schema <- function() {
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
  context <- list(oneOf = list(by_name, list(type = "array", items = number, description = "in the bandit's order")))
  context_in_url <- c(service_parameter("context", by_name), style = "deepObject", explode = TRUE)
  loose <- list(type = "object", additionalProperties = TRUE)
  texts <- list(type = "array", items = text)
  done <- object(id = whole, status = text)
  given_up <- object(id = whole, reason = text, token = text, required = "id")
  withdrawn <- object(id = whole, outcome = list(oneOf = list(text, texts)), reason = text, token = text,
                      required = "id")
  outcomes <- list(type = "object", additionalProperties = c(number, nullable = TRUE), description = paste(
    "instead of reward, where the bandit has several outcomes: a number for some of them, null: not known yet;",
    "the answer's status is partial until all are known"))
  # (Two ids for a duel; rewards and tokens likewise.)
  one_or_two <- function(item) list(oneOf = list(item, list(type = "array", items = item)))
  rewarded <- function(...) {
    object(id = one_or_two(whole), reward = one_or_two(number), outcomes = outcomes, token = one_or_two(text), ...,
           required = "id")
  }
  post <- function(summary, body, answer) service_path("post", summary, answer, body = body)
  get <- function(summary, answer, ..., open = FALSE) {
    service_path("get", summary, answer, parameters = list(...), open = open)
  }
  preferred <- list(oneOf = list(whole, list(type = "array", items = whole)), nullable = TRUE,
                    description = "ids among `id`, the best first; null: a tie")
  list(
    openapi = "3.0.3",
    info = list(title = "gpbandits", version = "1", description = "Ask a bandit for queries and tell it rewards."),
    components = list(securitySchemes = list(token = list(type = "http", scheme = "bearer"))),
    security = list(list(token = list())),
    paths = list(
      "/suggest" = post("The next queries, leased to a worker.",
                        object(n = c(whole, maximum = 1000), worker = text,
                               lease = c(number, nullable = TRUE, description = paste(
                                 "seconds, 60 where it is left out;",
                                 "null: no lease, the query is its asker's for good")),
                               context = context,
                               arms = list(type = "array", items = list(oneOf = list(whole, text)),
                                           description = "numbers or labels of the arms that are eligible now"),
                               fixed = list(type = "object",
                                            description = "values of inputs that are not to be chosen")),
                        object(queries = list(type = "array", items = query))),
      "/observe" = post("The reward of a query; the same one again changes nothing.",
                        rewarded(constraints = list(type = "array", items = number), size = one_or_two(number),
                                 prefer = preferred), done),
      "/amend" = post("A known reward was wrong: its new value.", rewarded(prefer = preferred), done),
      "/fail" = post("A query that was tried in vain.", given_up, done),
      "/withdraw" = post("A query that will never be answered, or (`outcome`) some of its outcomes.", withdrawn, done),
      "/heartbeat" = post("Renews the lease of a query.", object(token = text, required = "token"),
                          object(renewed = list(type = "integer"))),
      "/best" = get("The point with the largest posterior mean.",
                    object(arm = whole, point = point, mean = number, sd = number, outcomes = loose, feasible = number),
                    context_in_url),
      "/front" = get("With several objectives: the places that no other beats, by posterior means.",
                     object(front = list(type = "array", items = object(arm = whole, point = point, outcomes = loose,
                                                                        feasible = number))), context_in_url),
      "/history" = get("One row per query.",
                       object(rows = list(type = "array", items = row), total = list(type = "integer")),
                       service_parameter("after", list(type = "integer", minimum = 0)),
                       service_parameter("limit", list(type = "integer", minimum = 0, maximum = 10000)),
                       service_parameter("draws", list(type = "integer", minimum = 0, maximum = 100000))),
      "/model" = get("What there is to choose and to fill in.", loose),
      "/slices" = get("Posterior mean and a band of two sd along each input through the recommended point.",
                      object(slices = list(type = "array", items = loose)), context_in_url),
      "/certificate" = get("How large the regret can still be, with what probability, on what assumptions.",
                           object(gap = number, probability = number, assumptions = texts, point = point),
                           context_in_url),
      "/check" = get("Does the model fit the rewards?",
                     object(rewards = whole, groups = whole, held = list(type = "integer"), verdict = text,
                            advice = texts, tests = list(type = "array", items = loose))),
      "/health" = get("Is the service up? Needs no token.", object(status = text), open = TRUE)
    )
  )
}

service_parameter <- function(name, schema) list(name = name, `in` = "query", required = FALSE, schema = schema)

service_path <- function(method, summary, answer, body = NULL, parameters = list(), open = FALSE) {
  json <- function(schema) list("application/json" = list(schema = schema))
  path <- list(summary = summary,
               responses = list("200" = list(description = "done", content = json(answer)),
                                "400" = list(description = "what was asked is wrong"),
                                "401" = list(description = "no token, or a wrong one"),
                                "503" = list(description = "the store does not answer, or it took too long")))
  if (!is.null(body)) path$requestBody <- list(required = TRUE, content = json(body))
  if (length(parameters)) path$parameters <- parameters
  if (open) path$security <- list()
  stats::setNames(list(path), method)
}
