# A bandit as tools of a language model (Model Context Protocol): suggest, observe, best, why.
#
#     Rscript -e 'mcptools::mcp_server("mcp_tools.R", session_tools = FALSE)'
#
# serves them if packages mcptools and ellmer are installed (mcptools 1.0 needs R 4.3). The client's configuration names
# that command. The campaign is kept in a journal, the file that the environment variable GPBANDITS_CAMPAIGN names.
# The arguments that a model sends are checked numbers. Nothing of them is evaluated.
library(gpbandits)

campaign <- Sys.getenv("GPBANDITS_CAMPAIGN", "campaign.journal")

# Change this: the inputs of an experiment.
space <- search_space(temperature = param_real(20, 90), hours = param_integer(1, 12),
                      solvent = param_factor(c("water", "ethanol")))

open_campaign <- function() {
  if (file.exists(campaign)) open_bandit(campaign) else auto_bandit(space, journal = campaign)
}

# A mistake is answered in words, and changes nothing.
answered <- function(code) tryCatch(code, gpbandits_error = function(e) paste("Refused:", conditionMessage(e)))

in_words <- function(rows) paste(utils::capture.output(print(rows, row.names = FALSE)), collapse = "\n")

is_integer_in <- function(x, allowed) is.numeric(x) && length(x) == 1 && x %in% allowed

# (A model may ask for a million.)
suggest_experiments <- function(n = 1) {
  if (!is_integer_in(n, 1:20)) return("Refused: `n` must be an integer from 1 to 20.")
  answered(in_words(open_campaign()$suggest(n)))
}

observe_result <- function(id, reward) {
  answered({
    open_campaign()$observe(id, reward)
    sprintf("Experiment %g: %g is saved.", id, reward)
  })
}

best_so_far <- function() answered(in_words(open_campaign()$best()))

# The prediction for an experiment when it was chosen, and the present recommendation.
why <- function(id) {
  answered({
    bandit <- open_campaign()
    history <- bandit$history()
    if (!is_integer_in(id, history$id)) return("Refused: `id` must be the id of an experiment.")
    now <- paste(utils::capture.output(print(bandit)), collapse = "\n")
    paste(in_words(history[history$id == id, ]), now, sep = "\n\n")
  })
}

# Without ellmer the functions are there to be called by hand.
if (requireNamespace("ellmer", quietly = TRUE)) {
  list(
    ellmer::tool(suggest_experiments, "The next experiments to make, each with its id.", name = "suggest_experiments",
                 arguments = list(n = ellmer::type_integer("How many, 1 to 20.", required = FALSE))),
    ellmer::tool(observe_result, "Report the result of an experiment by its id.", name = "observe_result",
                 arguments = list(id = ellmer::type_integer("The experiment's id."),
                                  reward = ellmer::type_number("Its result; more is better."))),
    ellmer::tool(best_so_far, "The recommended experiment, with its expected result.", name = "best_so_far",
                 arguments = list()),
    ellmer::tool(why, "Why an experiment was chosen: the prediction at that time.", name = "why",
                 arguments = list(id = ellmer::type_integer("The experiment's id.")))
  )
}
