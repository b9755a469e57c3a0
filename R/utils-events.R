# Numbers and names of the event log's kinds, actions and states. Layer: base.

# Columns of the log that an observation may have in addition to its reward.
reported_columns <- c("noise_var", "size", "spread", "other")

event_kind <- c(query = 1L, reward = 2L, given = 3L, restart = 4L, refit = 5L, epoch = 6L, amend = 7L,
                withdraw = 8L, fail = 9L, arms = 10L, checkpoint = 11L)

action_names <- c("policy", "explore", "given")

# Events with parameters; each has an entry in the bandit's `refits`.
believing <- event_kind[c("refit", "arms")]

# Events that change the observations of a query.
recording <- event_kind[c("reward", "given", "amend", "withdraw", "fail")]

status_names <- c("pending", "observed", "lost", "withdrawn", "failed", "partial")
