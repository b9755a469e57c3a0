# Recording of responses that are not Gaussian. Layer: bandit.

# Reward and size of queries with responses that are not Gaussian, checked.
# Successes and counts of several readings: their sums, and the sums of their sizes.
replicates_as_sums <- function(config, reward, size, groups) {
  rewards <- config$rewards
  if (!trait(rewards, "adds")) {
    stop_argument("id", sprintf("%d rewards of one query", length(groups)),
                  sprintf("one reward for each query, if rewards are %s", trait(rewards, "title")),
                  try = "`$add()` of the same point for another reward")
  }
  size <- check_sizes(size, length(groups))
  reward <- trait(rewards, "outcome")(reward, size)
  list(reward = as.vector(rowsum(reward, groups)), size = as.vector(rowsum(size, groups)))
}

check_reported_outcomes <- function(bandit, reward, size, count) {
  if (count == 1 && length(reward) > 1 && trait(bandit$config$rewards, "adds")) {
    return(replicates_as_sums(bandit$config, reward, size, rep(1, length(reward))))
  }
  size <- check_sizes(size, count)
  list(reward = trait(bandit$config$rewards, "outcome")(reward, size), size = size)
}

observe_outcomes <- function(bandit, id, reward, size, time) {
  frame <- if (is.data.frame(id)) check_data_frame(id, "id")
  if (!is.null(frame)) {
    if (!all(c("id", "reward") %in% names(frame))) {
      stop_argument("id", describe(frame), "ids, or a data.frame with columns id, reward")
    }
    id <- frame$id
    reward <- frame$reward
    if (is.null(size)) size <- frame$size
  }
  id <- check_ids(bandit, id)
  if (!is.null(frame)) check_conditions_reported(bandit, id, frame)
  reported <- check_reported_outcomes(bandit, reward, size, length(id))
  beside <- observation_extras(length(id), size = reported$size)
  new <- check_unreported(bandit, id, reported$reward, no_columns(length(id)), beside)
  if (!any(new)) return(invisible(bandit))
  time <- clock_times(bandit, time, length(id), query_times(bandit, id), "the time of the query")
  record(bandit, "reward", id[new], reported$reward[new], no_columns(sum(new)), time[new], lapply(beside, `[`, new))
}

# Unless it is given, the number of trials (or the exposure) remains unchanged.
amend_outcomes <- function(bandit, id, reward, size) {
  id <- check_ids(bandit, id)
  check_status(bandit, id, c("observed", "lost"), "a query whose result is known")
  before <- last_extras(bandit, id)
  reported <- check_reported_outcomes(bandit, reward, or_else(size, before$size), length(id))
  new <- bandit$queries$reward[id] != reported$reward | before$size != reported$size
  if (!any(new)) return(invisible(bandit))
  record(bandit, "amend", id[new], reported$reward[new],
         beside = observation_extras(sum(new), size = reported$size[new]))
}

# Arguments that a bandit with such rewards does not support: their distribution determines the noise.
check_no_noise <- function(noise_var, constraints, sd = NULL) {
  if (!is.null(sd)) stop_unused("sd", "the noise follows from the kind of rewards")
  if (!is.null(noise_var)) stop_unused("noise_var", "the noise follows from the kind of rewards")
  check_absent(constraints, "constraints", "rewards of this kind have none")
}
