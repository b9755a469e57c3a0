# A Shiny app for experiments by hand: the next experiments, a form for results, and pictures.
# Run it with shiny::runApp(system.file("examples", "app.R", package = "gpbandits")). The state is in the file of the
# option gpbandits_app, by default campaign.rds in the working folder. One person at a time should use it; for a team
# see ?bandit_service.
library(shiny)
library(gpbandits)

file <- getOption("gpbandits_app", "campaign.rds")
campaign <- if (file.exists(file)) readRDS(file) else {
  auto_bandit(list(temperature = param_real(20, 90, unit = "\u00b0C"), hours = param_integer(1, 8)), reward = "yield")
}

ui <- fluidPage(
  titlePanel("Campaign"),
  sidebarLayout(
    sidebarPanel(
      numericInput("count", "Number of experiments", 1, min = 1, max = 20),
      actionButton("suggest", "Suggest"),
      hr(),
      selectInput("id", "Experiment", NULL),
      numericInput("result", "Result", NA),
      actionButton("report", "Report"),
      actionButton("failed", "It failed")
    ),
    mainPanel(textOutput("message"), h4("Open"), tableOutput("open"), h4("Recommended"), tableOutput("best"),
              plotOutput("progress"), plotOutput("slices"))
  )
)

server <- function(input, output, session) {
  changed <- reactiveVal(0)
  message <- reactiveVal("")
  # Every change is saved; an error of the package becomes the message.
  change <- function(code) {
    message(tryCatch({
      force(code)
      saveRDS(campaign, file)
      ""
    }, gpbandits_error = conditionMessage))
    changed(changed() + 1)
  }
  history <- reactive({
    changed()
    campaign$history()
  })
  observeEvent(input$suggest, change(campaign$suggest(input$count)))
  observeEvent(input$report, change(campaign$observe(as.integer(input$id), input$result)))
  observeEvent(input$failed, change(campaign$fail(as.integer(input$id))))
  observe(updateSelectInput(session, "id", choices = history()$id[history()$status == "pending"]))
  enough <- reactive(sum(history()$status == "observed") >= 2)
  output$message <- renderText(message())
  output$open <- renderTable(history()[history()$status == "pending", c("id", "temperature", "hours")])
  output$best <- renderTable(if (enough()) campaign$best())
  output$progress <- renderPlot(if (enough()) plot(campaign, "progress"))
  output$slices <- renderPlot(if (enough()) plot(campaign, "slices"))
}

shinyApp(ui, server)
