# A bandit as tools of a language model (Model Context Protocol): suggest, observe, best, why.
#
#     Rscript -e 'mcptools::mcp_server("mcp_tools.R", session_tools = FALSE)'
#
# serves them where packages mcptools and ellmer are installed (mcptools 1.0 needs R 4.3); the client's configuration
# names that command. The campaign is the file that the environment variable GPBANDITS_CAMPAIGN names, a journal: it is
# there again tomorrow.
# What a model sends is data: numbers and texts that are checked, nothing of it is evaluated.
library(gpbandits)

campaign <- Sys.getenv("GPBANDITS_CAMPAIGN", "campaign.journal")

# Change this: what is there to choose?
space <- search_space(temperature = param_real(20, 90), hours = param_integer(1, 12),
                      solvent = param_factor(c("water", "ethanol")))

open_campaign <- function() {
  if (file.exists(campaign)) open_bandit(campaign) else auto_bandit(space, journal = campaign)
}

# A mistake is an answer in words, and changes nothing.
answered <- function(code) tryCatch(code, gpbandits_error = function(e) paste("Refused:", conditionMessage(e)))

in_words <- function(rows) paste(utils::capture.output(print(rows, row.names = FALSE)), collapse = "\n")

# (A model may ask for a million.)
suggest_experiments <- function(n = 1) {
  if (!is.numeric(n) || length(n) != 1 || !n %in% 1:20) return("Refused: `n` must be a whole number, 1 to 20.")
  answered(in_words(open_campaign()$suggest(n)))
}

observe_result <- function(id, reward) {
  answered({
    open_campaign()$observe(id, reward)
    sprintf("Experiment %g: %g is saved.", id, reward)
  })
}

best_so_far <- function() answered(in_words(open_campaign()$best()))

# What was believed of an experiment when it was chosen, and how sure the recommendation is.
why <- function(id) {
  answered({
    bandit <- open_campaign()
    history <- bandit$history()
    if (!id %in% history$id) return(sprintf("There is no experiment %g.", id))
    now <- paste(utils::capture.output(print(bandit)), collapse = "\n")
    paste(in_words(history[history$id == id, ]), now, sep = "\n\n")
  })
}

# Without ellmer the functions are there to be called by hand.
if (requireNamespace("ellmer", quietly = TRUE)) {
  list(
    ellmer::tool(suggest_experiments, "The next experiments to make, each with its id.", name = "suggest_experiments",
                 arguments = list(n = ellmer::type_integer("How many, 1 to 20.", required = FALSE))),
    ellmer::tool(observe_result, "Tell the result of an experiment by its id.", name = "observe_result",
                 arguments = list(id = ellmer::type_integer("The experiment's id."),
                                  reward = ellmer::type_number("Its result; more is better."))),
    ellmer::tool(best_so_far, "The recommended experiment, with what is expected there.", name = "best_so_far",
                 arguments = list()),
    ellmer::tool(why, "Why an experiment was chosen: what was believed of it then.", name = "why",
                 arguments = list(id = ellmer::type_integer("The experiment's id.")))
  )
}
