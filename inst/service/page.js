// The page of a gpbandits service. What comes from the service is data: it is shown as text (textContent), never as
// HTML. The token is a variable of this script and, until the tab is closed, in its session storage.
"use strict";
(() => {
  const nobody = () => ({ token: null, model: null, rows: [], version: null, shown: 50, saved: new Set() });
  const state = nobody();
  let question = 0;
  const el = (id) => document.getElementById(id);

  // ---- elements -----------------------------------------------------------------------

  function make(tag, options, ...children) {
    const node = document.createElement(tag);
    for (const [name, value] of Object.entries(options || {})) {
      if (name === "on") for (const [event, f] of Object.entries(value)) node.addEventListener(event, f);
      else if (value === true) node.setAttribute(name, "");
      else if (value !== null && value !== undefined && value !== false) node.setAttribute(name, value);
    }
    node.append(...children.filter((child) => child !== null && child !== undefined));
    return node;
  }

  function draw(tag, attributes, ...children) {
    const node = document.createElementNS("http://www.w3.org/2000/svg", tag);
    for (const [name, value] of Object.entries(attributes || {})) node.setAttribute(name, value);
    node.append(...children);
    return node;
  }

  function shown(value) {
    if (value === null || value === undefined) return "–";
    return typeof value === "number" ? String(Number(value.toPrecision(6))) : String(value);
  }

  // The sign before decimals in the language of the browser.
  const comma = () => (1.5).toLocaleString().includes(",");

  // A setting as a person would set it: to a thousandth of its range. (Its title is the exact value.)
  function setting(name, value) {
    const input = state.model.inputs.find((one) => one.name === name);
    if (typeof value !== "number" || !input || input.kind !== "number") return shown(value);
    if (input.log) return String(Number(value.toPrecision(3)));
    const digits = Math.ceil(-Math.log10((input.upper - input.lower) / 1000));
    return digits > 15 || digits < -15 ? shown(value) : digits >= 0 ? String(Number(value.toFixed(digits)))
      : String(Math.round(value));
  }

  function say(text) {
    el("alert").textContent = "";
    el("status").textContent = text;
  }

  function complain(text) {
    el("status").textContent = "";
    el("alert").textContent = text;
  }

  const button = (text, label, click) => make("button", { type: "button", "aria-label": label, on: { click } }, text);

  // ---- the service --------------------------------------------------------------------

  class Refused extends Error {}

  async function send(path, body) {
    const request = { method: body ? "POST" : "GET", cache: "no-store", credentials: "omit", redirect: "error",
      headers: { Authorization: "Bearer " + state.token } };
    if (body) request.body = JSON.stringify(body);
    let answer;
    try {
      answer = await fetch(path, request);
    } catch (fault) {
      throw new Refused("The service does not answer. It is not known whether it received your entry. " +
        (path === "add"
        ? "Look for it among the results before you add it again." : "You can safely send it again."));
    }
    if (answer.status === 401) {
      leave();
      throw new Refused("The token was refused. Nothing was sent.");
    }
    if (answer.ok) return answer;
    let found = {};
    try {
      found = await answer.json();
    } catch (fault) { /* an answer without a body */ }
    throw Object.assign(new Refused(found.error || "The service answered with status " + answer.status + "."),
      { status: answer.status });
  }

  const ask = async (path, body) => (await send(path, body)).json();

  // An answer that is still being computed is asked for again.
  async function read(path) {
    for (let k = 1; ; k++) {
      try {
        return await ask(path);
      } catch (fault) {
        if (fault.status !== 503 || k === 20) throw fault;
        await new Promise((resolve) => setTimeout(resolve, 1000));
      }
    }
  }

  const inPlain = (fault) => (fault instanceof Refused ? fault.message : "This page has an error: " + fault.message);

  // One action of a person; an error is shown.
  async function act(pressed, action) {
    if (pressed) pressed.disabled = true;
    document.body.setAttribute("aria-busy", "true");
    try {
      return await action();
    } catch (fault) {
      complain(inPlain(fault));
      return undefined;
    } finally {
      document.body.removeAttribute("aria-busy");
      if (pressed) pressed.disabled = false;
    }
  }

  const keep = "gpbandits token of " + location.pathname;

  function leave() {
    sessionStorage.removeItem(keep);
    Object.assign(state, nobody());
    question++;
    for (const id of ["open", "known", "best", "front", "progress", "first", "second",
      "choices"]) el(id).replaceChildren();
    for (const id of ["open", "known", "front"]) delete el(id).dataset.heads;
    for (const id of ["best-note", "best-wait"]) el(id).textContent = "";
    for (const box of document.querySelectorAll(".boxes, .inside")) box.replaceChildren();
    for (const part of document.querySelectorAll("details")) part.open = false;
    el("title").textContent = document.title = "gpbandits";
    el("campaign").hidden = el("story").hidden = el("leave").hidden = true;
    el("door").hidden = false;
    for (const id of ["door", "ask", "context", "add"]) el(id).reset();
    fault(el("count"), "");
    el("token").focus();
  }

  async function readHistory() {
    const rows = [];
    for (;;) {
      const page = await ask("history?limit=1000&after=" + rows.length);
      rows.push(...page.rows);
      if (rows.length >= page.total || page.rows.length === 0) return { rows, version: page.version };
    }
  }

  // ---- what the campaign is ---------------------------------------------------------------

  const offers = (path, field) => path in state.model.requests &&
    (!field || state.model.requests[path].includes(field));
  const minimises = () => state.model.direction === "minimize";
  const better = (a, b) => (minimises() ? a < b : a > b);
  const names = () => state.model.inputs.map((input) => input.name).concat(state.model.contexts);
  // What the service says of a query besides its place: beside an input of that name it has a dot in front.
  const ours = (row, name) => (names().includes(name) ? ours(row, "." + name) : row[name]);
  const isOpen = (row) => ours(row, "status") === "pending" || ours(row, "status") === "partial";

  const several = () => state.model.outcomes.length > 0;
  const goals = () => (state.model.goal ? [state.model.goal] : []);
  const withGoal = () => goals().concat(state.model.outcomes);
  const objectives = () => goals().concat(state.model.outcomes.filter((outcome) => outcome.objective));
  // What the page calls the number that is made large or small, and where a row has it.
  const mainName = () => (several() ? objectives()[0].name : state.model.reward);
  const mainTitle = () => (mainName() === "reward" ? "result" : mainName());
  const mainOf = (row) => row[mainName()];

  // The boxes of a result: the reward, and a number for each limit; or one for each outcome.
  function results() {
    if (several()) return state.model.outcomes.map(({ name, title }) => ({ name, label: name + " (" + title + ")" }));
    const limits = state.model.constraints.map((name) => ({ name, label: name + " (0 or less is allowed)" }));
    return [{ name: mainName(), label: mainTitle() + (minimises() ? " (less is better)" : " (more is better)") }]
      .concat(limits);
  }

  function inputsOf(row) {
    const arm = state.model.arms !== null && row.arm !== undefined && row.arm !== null ? [["arm", row.arm]] : [];
    return arm.concat(names().filter((name) => row[name] !== null && row[name] !== undefined).map((name) =>
      [name, row[name]]));
  }

  const inWords = (row) => inputsOf(row).map(([name, value]) => name + " " + setting(name, value)).join(", ");

  // ---- boxes ------------------------------------------------------------------------------

  let boxes = 0;

  function labelled(label, box) {
    box.id = box.id || "box-" + ++boxes;
    const fault = make("span", { class: "fault", id: box.id + "-fault" });
    box.setAttribute("aria-describedby", fault.id);
    return make("div", {}, make("label", { for: box.id }, label), box, fault);
  }

  const numberBox = (name) => make("input", { type: "text", inputmode: "decimal", autocomplete: "off",
    "data-name": name });

  function fault(box, words) {
    const place = el(box.id + "-fault");
    if (place) place.textContent = words;
    if (words) box.setAttribute("aria-invalid", "true");
    else box.removeAttribute("aria-invalid");
    if (words) box.focus();
    return words === "";
  }

  // The number in a box, or undefined after saying what is wrong with it.
  function numberIn(box, whole) {
    const typed = box.value.trim().replace("−", "-");
    // 1,5 is 1.5. (1,500 may be a thousand and a half, unless the browser's language has decimal commas.)
    const text = comma() || !/,\d{3}$/.test(typed) ? typed.replace(/^([+-]?\d*),(\d+)/, "$1.$2") : typed;
    const pattern = whole ? /^\d+$/ : /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i;
    const value = Number(text);
    if (text === "") fault(box, "Write a number.");
    else if (!pattern.test(text) || !Number.isFinite(value)) {
      fault(box, whole ? "Write a whole number." : "Write a number such as 1.5.");
    } else {
      fault(box, "");
      return value;
    }
    return undefined;
  }

  const contextBoxes = () => state.model.context_inputs.map((input) => inputBox(input, "choose one"));

  function contextForm() {
    const names = state.model.contexts;
    el("context").hidden = names.length === 0;
    el("context").querySelector(".boxes").replaceChildren(...contextBoxes());
  }

  // The context in the boxes: {} where there are none; undefined where one of them is no number.
  function contextNow() {
    const context = {};
    for (const box of boxesIn(el("context"))) {
      const value = valueIn(box);
      if (value === undefined) return undefined;
      context[box.dataset.name] = value;
    }
    return context;
  }

  function inUrl(context) {
    const parts = Object.keys(context).map((name) => encodeURIComponent("context[" + name + "]") + "=" +
      encodeURIComponent(context[name]));
    return parts.length ? "?" + parts.join("&") : "";
  }

  function inputBox(input, none) {
    if (input.kind === "number") {
      if (input.lower === undefined) return labelled(input.name, numberBox(input.name));
      return labelled(input.name + " (" + shown(input.lower) + " to " + shown(input.upper) + input.unit + ")",
        numberBox(input.name));
    }
    const empty = make("option", { value: "" }, none);
    const levels = input.levels.map((level) => make("option", { value: level }, level));
    return labelled(input.name, make("select", { "data-name": input.name }, empty, ...levels));
  }

  const put = (place, parts) => place.querySelector(".boxes").replaceChildren(...parts);
  const boxesIn = (place) => Array.from(place.querySelectorAll("input, select"));

  function fixedForm() {
    const inputs = offers("/suggest", "fixed") ? state.model.inputs : [];
    el("fixed").hidden = inputs.length === 0;
    put(el("fixed"), inputs.map((input) => inputBox(input, "chosen by the algorithm")));
    el("shared-part").hidden = inputs.length < 2;
    el("shared").replaceChildren(make("option", { value: "" }, "none"),
      ...inputs.map(({ name }) => make("option", { value: name }, name)));
  }

  // The value in a box of an input: undefined where it is wrong.
  function valueIn(box) {
    const input = state.model.inputs.concat(state.model.context_inputs).find(({ name }) => name === box.dataset.name);
    if (box.tagName === "INPUT") return numberIn(box);
    if (box.value === "") fault(box, "Choose one.");
    return box.value === "" ? undefined : input.kind === "logical" ? box.value === "TRUE" : box.value;
  }

  // Of some boxes their values by name; undefined where one is wrong.
  function valuesIn(boxes) {
    const values = boxes.map((box) => [box.dataset.name, valueIn(box)]);
    return values.some(([, value]) => value === undefined) ? undefined : Object.fromEntries(values);
  }

  const isFilled = (box) => box.value.trim() !== "";
  const fixedNow = () => valuesIn(boxesIn(el("fixed")).filter(isFilled));

  // Of a finite set of points an experiment is the number of one.
  function addForm() {
    el("add-part").hidden = !offers("/add");
    const { arms, inputs } = state.model;
    put(el("add-inputs"), (arms !== null ? [labelled("arm (1 to " + arms + ")", numberBox("arm"))]
      : inputs.map((input) => inputBox(input, "choose one")))
      .concat(contextBoxes()));
    el("add-results").hidden = compares();
    put(el("add-results"), compares() ? [] : results().map(({ name, label }) => labelled(label, numberBox(name))));
  }

  // What is to be added, or undefined where a box is wrong. An outcome may be missing, a limit may not.
  function addedNow() {
    const boxes = boxesIn(el("add"));
    boxes.forEach((box) => fault(box, ""));
    const given = boxesIn(el("add-results"));
    const there = several() || !given.some(isFilled) ? given.filter(isFilled) : given;
    const values = valuesIn(boxesIn(el("add-inputs")));
    const told = valuesIn(there);
    if (values === undefined || told === undefined) return undefined;
    const context = Object.fromEntries(state.model.contexts.map((name) => [name, values[name]]));
    const body = state.model.arms !== null ? { arm: values.arm }
      : { point: Object.fromEntries(state.model.inputs.map(({ name }) => [name, values[name]])) };
    if (state.model.contexts.length) body.context = context;
    if (there.length && several()) body.outcomes = told;
    else if (there.length) {
      body.reward = told[mainName()];
      if (there.length > 1) body.constraints = state.model.constraints.map((name) => told[name]);
    }
    return body;
  }

  // ---- tables -------------------------------------------------------------------------------

  // A heading may break after an underscore, a dot or a hyphen.
  const breakable = (text) => text.split(/(?<=[_.-])/).flatMap((part, k) => (k ? [make("wbr"), part] : [part]));

  // Only rows that are new, gone or changed are touched, so what is typed in the others stays. `build(row)` makes
  // a row. (Roles are given because narrow screens show rows as
  // blocks.)
  function table(place, heads, rows, build) {
    if (place.dataset.heads !== heads.join("\n")) {
      const head = make("tr", { role: "row" }, ...heads.map((text) =>
        make("th", { role: "columnheader", scope: "col" }, ...breakable(text))));
      place.setAttribute("role", "table");
      place.replaceChildren(make("thead", { role: "rowgroup" }, head), make("tbody", { role: "rowgroup" }));
      place.dataset.heads = heads.join("\n");
    }
    const body = place.tBodies[0];
    const wanted = new Set(rows.map((row) => String(row.id)));
    for (const node of Array.from(body.children)) {
      if (!wanted.has(node.dataset.id)) {
        tellLost(node.dataset.id, boxesUnder(node));
        node.remove();
      }
    }
    let at = body.firstElementChild;
    for (const row of rows) {
      const data = JSON.stringify(row);
      const there = at && at.dataset.id === String(row.id) ? at : null;
      if (there) at = at.nextElementSibling;
      if (there && there.data === data) continue;
      const fresh = build(row);
      fresh.dataset.id = row.id;
      fresh.data = data;
      if (there) renew(there, fresh);
      else body.insertBefore(fresh, at);
    }
    place.hidden = rows.length === 0;
  }

  // Boxes in which a person has typed something that is not sent yet.
  const boxesUnder = (node) => Array.from(node.querySelectorAll("input")).filter((box) =>
    box.value !== box.defaultValue);

  // Of a changed row, a cell in which a form is open waits until that is closed.
  function renew(node, fresh) {
    const focused = document.activeElement;
    const cells = Array.from(fresh.children);
    node.data = fresh.data;
    Array.from(node.children).forEach((cell, k) => {
      if (cell.querySelector(".under-way")) {
        node.data = null;
        return;
      }
      const typed = boxesUnder(cell);
      for (const box of typed) {
        const next = Array.from(cells[k].querySelectorAll("input")).find((one) => one.id === box.id);
        if (next) next.replaceWith(box);
      }
      const lost = typed.filter((box) => cell.contains(box));
      tellLost(node.dataset.id, lost);
      cell.replaceWith(cells[k]);
    });
    const again = document.contains(focused) ? focused : focused.id && el(focused.id);
    if (again && again !== document.activeElement) again.focus();
  }

  // Somebody else was first: what was typed is told, for it is gone from the page.
  function tellLost(id, boxes) {
    if (boxes.length === 0 || state.token === null || state.saved.has(Number(id))) return;
    complain("Experiment " + id + " was changed by someone else. Your entry was not sent: " +
      boxes.map((box) => box.value).join(", ") + ".");
  }

  const cell = (label, ...children) => make("td", { role: "cell", "data-label": label || null }, ...children);
  const numeric = (label, value) => make("td", { role: "cell", "data-label": label, class: typeof value === "string"
    ? null : "n" }, shown(value));

  function shareOfRow(row) {
    const found = Object.fromEntries(inputsOf(row));
    return columns().map((name) => {
      const place = numeric(name, found[name]);
      place.textContent = setting(name, found[name]);
      if (typeof found[name] === "number") place.title = String(found[name]);
      return place;
    });
  }

  const columns = () => (state.model.arms !== null ? ["arm"] : []).concat(names());

  function drawOpen() {
    const open = state.rows.filter(isOpen);
    el("open-none").hidden = open.length > 0;
    const head = compares() ? "change" : several() ? "result" : mainTitle();
    table(el("open"), ["experiment", ...columns(), head], open, (row) =>
      make("tr", { role: "row", id: "query-" + row.id },
      numeric("experiment", row.id), ...shareOfRow(row), cell(compares() || results().length > 1 ? null : mainTitle(),
        resultForm(row))));
  }

  // Of several outcomes those that are known are shown, the others have boxes, some of which may stay empty.
  function resultForm(row) {
    const give = [button("Failed", "Experiment " + row.id + " failed", () => giveUp(row, "/fail")),
      button("Withdraw", "Withdraw experiment " + row.id, () => giveUp(row, "/withdraw"))];
    if (compares()) return make("div", { class: "choices" }, ...give);
    const wanted = results();
    const fields = wanted.filter((result) => !several() || !isThere(row, result.name)).map((result) => {
      const box = numberBox(result.name);
      box.id = "result-" + row.id + "-" + result.name;
      box.setAttribute("aria-label", result.label + " of experiment " + row.id);
      const note = make("span", { class: "fault", id: box.id + "-fault" });
      box.setAttribute("aria-describedby", note.id);
      return make("div", {}, wanted.length > 1 ? make("span", { "aria-hidden": "true" }, several() ? result.label
        : result.name) : null, box, note);
    });
    const known = several() ? knownOf(row).map((name) => make("span", { class: "n" }, name + " " + shown(row[name])))
      : [];
    const save = make("button", { type: "submit", "aria-label": "Save the result of experiment " + row.id }, "Save");
    return make("form", { novalidate: true, on: { submit: (event) => {
      event.preventDefault();
      const form = event.currentTarget;
      (several() ? saveOutcomes : saveResult)(row, boxesIn(form).filter((box) => !box.dataset.extra), save, form);
    } } }, ...known, ...fields, save, known.length ? correctButton(row) : null, ...give, extrasOf(row));
  }

  // What may be said of a result besides its number.
  function extrasOf(row) {
    if (!offers("/observe", "note")) return null;
    const wanted = (state.model.measured && !several() ? [["sd", "Error bar (standard deviation)"],
      ["size", "Number of readings, if the result is their mean"]] : []).concat([["note", "Note"]]);
    const boxes = wanted.map(([name, label]) => {
      const box = name === "note" ? make("input", { type: "text", maxlength: 500, autocomplete: "off" })
        : numberBox(name);
      box.id = "extra-" + row.id + "-" + name;
      box.dataset.extra = name;
      return labelled(label, box);
    });
    const head = make("summary", { "aria-label": "More about the result of experiment " + row.id }, "More");
    return make("details", {}, head, ...boxes);
  }

  // The fields of a request; undefined where one is wrong.
  function extrasIn(form) {
    const filled = boxesIn(form).filter((box) => box.dataset.extra && isFilled(box));
    const values = filled.map((box) => [box.dataset.extra, box.dataset.extra === "note" ? box.value.trim()
      : numberIn(box, box.dataset.extra === "size")]);
    return values.some(([, value]) => value === undefined) ? undefined : Object.fromEntries(values);
  }

  // Is a value far from its prediction? A person is asked once whether it is right: a second press of the button saves.
  async function isDoubtful(row, values, boxes, save) {
    const key = JSON.stringify(values);
    if (save.dataset.sure === key) return false;
    let found = {};
    try {
      found = offers("/observe", "note") ? await ask("prediction?id=" + row.id) : {};
    } catch (wrong) {
      if (state.token === null) throw wrong;
    }
    const far = boxes.find((box) => {
      const one = found[box.dataset.name];
      return one && Math.abs(values[box.dataset.name] - one.mean) > 4 * one.sd;
    });
    if (!far) return false;
    const one = found[far.dataset.name];
    fault(far, shown(values[far.dataset.name]) + " is far from the prediction (" + shown(one.mean) + " ± " +
      shown(2 * one.sd) + "). Correct it, or save again to confirm.");
    save.dataset.sure = key;
    return true;
  }

  const isThere = (row, name) => row[name] !== null && row[name] !== undefined;
  const knownOf = (row) => state.model.outcomes.map(({ name }) => name).filter((name) => isThere(row, name));
  const valuesInWords = (values) => Object.entries(values).map(([name, value]) => name + " " + shown(value)).join(", ");

  function saveResult(row, inputs, save, form) {
    const values = inputs.map((box) => numberIn(box));
    const extras = extrasIn(form);
    if (values.includes(undefined) || extras === undefined) return undefined;
    return act(save, async () => {
      const named = Object.fromEntries(inputs.map((box, k) => [box.dataset.name, values[k]]));
      if (await isDoubtful(row, named, inputs, save)) return;
      const body = Object.assign({ id: row.id, reward: values[0] }, extras);
      if (values.length > 1) body.constraints = values.slice(1);
      await ask("observe", body);
      await changed(row.id);
      say("Experiment " + row.id + " (" + inWords(row) + "): " + shown(values[0]) + " is saved.");
      focusNext(row.id);
    });
  }

  // The numbers in the boxes that are filled, by name; undefined where one is none, or nothing is filled.
  function outcomesIn(boxes) {
    boxes.forEach((box) => fault(box, ""));
    const filled = boxes.filter((box) => box.value.trim() !== "");
    if (filled.length === 0) {
      fault(boxes[0], "Write a number, here or in another box.");
      return undefined;
    }
    const values = filled.map((box) => [box.dataset.name, numberIn(box)]);
    return values.some(([, value]) => value === undefined) ? undefined : Object.fromEntries(values);
  }

  function saveOutcomes(row, inputs, save, form) {
    const outcomes = outcomesIn(inputs);
    const extras = extrasIn(form);
    if (outcomes === undefined || extras === undefined) return undefined;
    return act(save, async () => {
      if (await isDoubtful(row, outcomes, inputs, save)) return;
      const found = await ask("observe", Object.assign({ id: row.id, outcomes }, extras));
      inputs.forEach((box) => { if (outcomes[box.dataset.name] !== undefined) box.value = ""; });
      await changed(row.id);
      say("Experiment " + row.id + " (" + inWords(row) + "): " + valuesInWords(outcomes) + " saved." +
        (found.status === "partial" ? " The other outcomes are still open." : ""));
      focusNext(row.id);
    });
  }

  // After a save: the next empty box from that row on, else the first one, else the form for suggestions.
  function focusNext(id) {
    const empty = Array.from(el("open").querySelectorAll("input")).filter((box) => !isFilled(box) &&
      !box.dataset.extra && box.offsetParent !== null);
    const next = empty.find((box) => Number(box.closest("tr").dataset.id) >= id);
    (next || empty[0] || el("count")).focus();
  }

  // A small form in place of a row's cell: `submit` of its boxes.
  function rowForm(place, labels, boxes, confirm, submit) {
    const before = Array.from(place.children);
    const back = () => {
      form.remove();
      before.forEach((part) => { part.hidden = false; });
      drawTables();
      const again = place.querySelector("button");
      if (again) again.focus();
    };
    const send = make("button", { type: "submit" }, confirm);
    const form = make("form", { class: "under-way", novalidate: true, on: {
      submit: (event) => { event.preventDefault(); submit(boxes, send); },
      keydown: (event) => { if (event.key === "Escape") back(); }
    } }, ...boxes.map((box, k) => labelled(labels[k], box)), send,
      make("button", { type: "button", on: { click: back } }, "Cancel"));
    before.forEach((part) => { part.hidden = true; });
    place.append(form);
    boxes[0].focus();
  }

  function giveUp(row, path) {
    const failed = path === "/fail";
    const box = make("input", { type: "text", maxlength: 500, autocomplete: "off" });
    const place = el("query-" + row.id).lastElementChild;
    rowForm(place, ["Reason (optional)"], [box], failed ? "Mark as failed" : "Withdraw", ([reason], send) =>
      act(send, async () => {
      const body = { id: row.id };
      if (reason.value.trim()) body.reason = reason.value.trim();
      await ask(path.slice(1), body);
      await changed(row.id);
      say("Experiment " + row.id + (failed ? " is marked as failed." : " is withdrawn."));
      focusNext(row.id);
    }));
  }

  function drawKnown() {
    const closed = state.rows.filter((row) => !isOpen(row)).reverse();
    const part = closed.slice(0, state.shown);
    const wanted = results().map((result) => result.name);
    el("known-none").hidden = closed.length > 0;
    el("more").hidden = part.length === closed.length;
    const value = (row, name) => (compares() ? (ours(row, "status") === "observed" ? verdict(row) : "–")
      : several() ? row[name] : ours(row, "status") === "observed" || name !== mainName() ? ours(row, name) : null);
    const canCorrect = (row) => ours(row, "status") === "observed" && !(compares() && !state.model.prefer.again);
    const title = (name) => (name === "reward" ? "result" : name);
    table(el("known"), ["experiment", ...columns(), ...wanted.map(title), "state", "change"], part, (row) =>
      make("tr", { role: "row" },
      numeric("experiment", row.id), ...shareOfRow(row), ...wanted.map((name) =>
        numeric(title(name), value(row, name))),
      cell("state", ours(row, "status")), cell(null, canCorrect(row) ? correctButton(row) : null)));
  }

  function correctButton(row) {
    const right = several() ? knownOf(row) : [mainName()];
    const pressed = button("Correct", "Correct the result of experiment " + row.id, () => {
      if (compares()) {
        correctDuel(row, pressed);
        return;
      }
      const boxes = right.map((name) => numberBox(name));
      boxes.forEach((box, k) => { box.defaultValue = String(row[right[k]]); });
      const labels = right.map((name) => "Corrected " + (several() ? name : mainTitle()) + " of experiment " + row.id);
      rowForm(pressed.closest("td"), labels, boxes, "Save", (entries, send) => {
        const values = entries.map((entry) => numberIn(entry));
        if (values.includes(undefined)) return;
        act(send, async () => {
          const outcomes = Object.fromEntries(right.map((name, k) => [name, values[k]]));
          await ask("amend", several() ? { id: row.id, outcomes } : { id: row.id, reward: values[0] });
          send.closest(".under-way").classList.remove("under-way");
          await changed(row.id);
          const before = Object.fromEntries(right.map((name) => [name, row[name]]));
          say("Experiment " + row.id + ": corrected from " + (several() ? valuesInWords(before) + " to " +
            valuesInWords(outcomes)
            : shown(row[mainName()]) + " to " + shown(values[0])) + ".");
          el("known-title").scrollIntoView();
          const again = el("correct-" + row.id);
          if (again) again.focus();
        });
      });
      boxes[0].select();
    });
    pressed.id = "correct-" + row.id;
    return pressed;
  }

  // ---- which of two ---------------------------------------------------------------------------

  const compares = () => state.model.prefer !== null;
  const verb = { 1: "better than", 0: "not as good as", 0.5: "as good as" };

  // The place that a query met: the history's columns with .2.
  function metPlace(row) {
    const met = columns().map((name) => [name, row[name + ".2"]]).filter(([, value]) => value !== null &&
      value !== undefined);
    return met.map(([name, value]) => name + " " + shown(value)).join(", ");
  }

  const verdict = (row) => !state.model.prefer.again ? "stood before " + shown(100 * row.reward) +
    "% of its ranking (" + ours(row, "ranking") + ")" : verb[row.reward] + " experiment " + row["id.2"] + " (" +
    metPlace(row) + ")";

  // Buttons for a comparison: `tell(id of the better experiment or null for a tie, in words, button)`.
  function choices(first, second, tell) {
    const better = (id, other) => "Experiment " + id + " is better than " + other;
    const make1 = (id, other) => button(id + " is better", better(id, other), (event) =>
      tell(id, better(id, other), event.currentTarget));
    const tie = state.model.prefer.ties ? button("A tie", "Experiments " + first + " and " + second +
      " are equally good",
      (event) => tell(null, "Experiments " + first + " and " + second + " are equally good", event.currentTarget))
        : null;
    return [make1(first, second), make1(second, first), tie].filter((part) => part !== null);
  }

  function drawDuel() {
    el("duel").hidden = !compares();
    if (!compares()) return;
    const open = state.rows.filter(isOpen);
    const rest = state.model.prefer.again ? state.rows.filter((row) => ours(row, "status") === "observed").reverse() : [];
    const boxes = [el("first"), el("second")];
    const chosen = boxes.map((box) => box.value);
    const option = (row) => make("option", { value: row.id }, row.id + ": " + inWords(row) +
      (isOpen(row) ? "" : " (compared before)"));
    boxes.forEach((box, k) => {
      box.replaceChildren(...open.concat(rest).map(option));
      const wanted = Array.from(box.options).some((one) => one.value === chosen[k]) &&
        open.some((row) => String(row.id) === chosen[k]);
      box.selectedIndex = wanted ? Array.from(box.options).findIndex((one) => one.value === chosen[k])
        : Math.min(k, box.options.length - 1);
    });
    if (boxes[0].value === boxes[1].value && boxes[1].options.length > 1) boxes[1].selectedIndex =
      boxes[0].selectedIndex === 0 ? 1 : 0;
    el("duel").querySelector("form").hidden = open.length === 0 || boxes[0].options.length < 2;
    el("duel-none").hidden = !el("duel").querySelector("form").hidden;
    drawChoices();
  }

  // Those that have just been asked for.
  function chooseTwo(ids) {
    if (ids.length < 2) return;
    el("first").value = ids[0];
    el("second").value = ids[1];
    drawChoices();
  }

  function drawChoices() {
    const [first, second] = [Number(el("first").value), Number(el("second").value)];
    if (first === second) {
      el("choices").replaceChildren(paragraph("Choose two experiments."));
      return;
    }
    el("choices").replaceChildren(...choices(first, second, (id, words, pressed) => act(pressed, async () => {
      await ask("observe", { id: [first, second], prefer: id });
      await changed(first, second);
      say(words + ": saved.");
      (el("choices").querySelector("button") || el("count")).focus();
    })));
  }

  function correctDuel(row, pressed) {
    const other = row["id.2"];
    const place = pressed.parentNode;
    const back = () => { place.replaceChildren(pressed); drawTables(); pressed.focus(); };
    const form = make("div", { class: "choices under-way", on: { keydown: (event) =>
      { if (event.key === "Escape") back(); } } },
      ...choices(row.id, other, (id, words, sent) => act(sent, async () => {
        await ask("amend", { id: [row.id, other], prefer: id });
        form.classList.remove("under-way");
        await changed(row.id, other);
        say(words + ": corrected.");
        const again = el("correct-" + row.id);
        if (again) again.focus();
      })), make("button", { type: "button", on: { click: back } }, "Cancel"));
    place.replaceChildren(form);
    form.querySelector("button").focus();
  }

  // ---- what is best --------------------------------------------------------------------------

  const isKnown = (row) => (several() ? objectives().every(({ name }) => isThere(row, name))
    : ours(row, "status") === "observed");

  // The recommendation comes when it is computed; until then the last one stays. Later questions overtake earlier ones.
  async function drawBest() {
    const mine = ++question;
    const context = contextNow();
    const empty = context === undefined ? "Fill in the context above." : !state.rows.some(isKnown)
      ? "There are no results yet." : "";
    if (empty) {
      el("best").replaceChildren();
      el("front").hidden = true;
      el("best-note").textContent = empty;
      el("best-wait").textContent = "";
      el("best").removeAttribute("aria-busy");
      return;
    }
    el("best").setAttribute("aria-busy", "true");
    const count = state.rows.filter(isKnown).length;
    const wait = setTimeout(() => {
      if (mine === question) el("best-wait").textContent = "Computing with " + count +
        (count === 1 ? " result" : " results") + " …";
    }, 400);
    try {
      const severalGoals = objectives().length > 1;
      const found = await read((severalGoals ? "front" : "best") + inUrl(context));
      if (mine === question) (severalGoals ? drawFront(found.front) : drawPoint(found));
    } catch (wrong) {
      if (mine === question) el("best-note").textContent = inPlain(wrong);
    } finally {
      clearTimeout(wait);
      if (mine === question) {
        el("best-wait").textContent = "";
        el("best").removeAttribute("aria-busy");
      }
    }
  }

  function drawPoint(best) {
    const entries = (best.arm !== undefined ? [["arm", best.arm]] : []).concat(Object.entries(best.point));
    el("best").replaceChildren(...entries.map(([name, value]) => make("div", {}, make("dt", {}, name),
      make("dd", { class: typeof value === "number" ? "n" : null, title: value }, setting(name, value)))));
    el("best-note").textContent = best.outcomes ? "Predicted: " + expectedInWords(best.outcomes) + "." +
      feasibleInWords(best.feasible)
      : compares() ? "For a comparison with the other points open “Prediction along each input”."
        : typeof best.mean === "number" ? "Predicted: " + expectedOf(best) +
          (typeof best.sd === "number" ? " (two standard deviations)." : ".")
          : "No prediction yet.";
  }

  const expectedOf = (one) => (typeof one.mean !== "number" ? "not known yet" : shown(one.mean) +
    (typeof one.sd === "number" ? " ± " + shown(2 * one.sd) : ""));
  const expectedInWords = (outcomes) => Object.entries(outcomes).map(([name, one]) => name + " " +
    expectedOf(one)).join(", ") +
    " (two standard deviations)";
  const hasLimits = () => state.model.outcomes.some((outcome) => outcome.lower !== null || outcome.upper !== null);
  const feasibleInWords = (p) => (hasLimits() && typeof p === "number" ? " The limits hold there with probability " +
    shown(Number(p.toFixed(3))) + "." : "");

  // Several objectives: the Pareto front.
  function drawFront(front) {
    const heads = columns().concat(state.model.outcomes.map(({ name }) => name), hasLimits() ? ["P(limits hold)"] : []);
    table(el("front"), heads, front.map((point, k) => Object.assign({ id: k }, point)), (point) => {
      const found = Object.assign({ arm: point.arm }, point.point);
      return make("tr", { role: "row" }, ...columns().map((name) => numeric(name, found[name])),
        ...state.model.outcomes.map(({ name }) => make("td", { role: "cell", "data-label": name, class: "n" },
          expectedOf(point.outcomes[name]))),
        hasLimits() ? numeric("P(limits hold)", Number(point.feasible.toFixed(3))) : null);
    });
    el("best-note").textContent = front.length
      ? "Pareto front of " + objectives().map(({ name }) => name).join(" and ") +
        ": none of these points is better than another in all of them. Predicted values ± two standard deviations."
      : "No point is known where the limits hold.";
  }

  // ---- pictures --------------------------------------------------------------------------------

  const size = { width: 460, height: 260, left: 56, right: 12, top: 20, bottom: 40 };

  function ticks(from, to) {
    const raw = (to - from) / 4;
    const power = Math.pow(10, Math.floor(Math.log10(raw)));
    const step = [1, 2, 5, 10].map((k) => k * power).find((k) => k >= raw);
    const found = [];
    for (let v = Math.ceil(from / step) * step; v <= to + step * 1e-9; v += step) found.push(Math.abs(v) < step * 1e-9
      ? 0 : v);
    return found;
  }

  function scale(values, from, to, log) {
    const f = log ? Math.log10 : (v) => v;
    let low = Math.min(...values.map(f));
    let high = Math.max(...values.map(f));
    if (!(high > low)) { low -= 0.5; high += 0.5; }
    const place = (v) => from + ((f(v) - low) / (high - low)) * (to - from);
    place.ticks = log ? ticks(low, high).map((v) => Math.pow(10, v)) : ticks(low, high);
    return place;
  }

  // With some room around the points.
  function roomy(values) {
    const [low, high] = [Math.min(...values), Math.max(...values)];
    return [low - 0.04 * (high - low), high + 0.04 * (high - low)];
  }

  function frameOf(x, y, xName, yName, levels) {
    const bottom = size.height - size.bottom;
    const parts = [draw("line", { class: "axis", x1: size.left, x2: size.width - size.right, y1: bottom, y2: bottom }),
      draw("line", { class: "axis", x1: size.left, x2: size.left, y1: size.top, y2: bottom })];
    const text = (words, attributes) => { const t = draw("text", attributes); t.textContent = words; return t; };
    (levels ? levels.map((_, k) => k + 1) : x.ticks).forEach((v) =>
      parts.push(text(levels ? levels[v - 1].slice(0, 10) : shown(v),
      { x: x(v), y: bottom + 16, "text-anchor": "middle" })));
    y.ticks.forEach((v) => {
      parts.push(draw("line", { class: "axis", x1: size.left, x2: size.width - size.right, y1: y(v), y2: y(v),
        "stroke-opacity": 0.5 }));
      parts.push(text(shown(v), { x: size.left - 6, y: y(v) + 4, "text-anchor": "end" }));
    });
    parts.push(text(xName, { x: (size.left + size.width - size.right) / 2, y: size.height - 6,
      "text-anchor": "middle" }));
    if (yName) parts.push(text(yName, { x: size.left, y: size.top - 4, "text-anchor": "start" }));
    return parts;
  }

  let pictures = 0;

  function picture(words, parts) {
    const title = draw("title", { id: "picture-" + ++pictures });
    title.textContent = words;
    const svg = draw("svg", { role: "img", "aria-labelledby": title.id, viewBox: "0 0 " + size.width + " " +
      size.height,
      width: size.width, height: size.height }, title, ...parts);
    return [svg, make("figcaption", { "aria-hidden": "true" }, words)];
  }

  const keepsLimits = (row) => state.model.outcomes.every(({ name, lower, upper }) =>
    (lower === null && upper === null) ||
    (isThere(row, name) && (lower === null || row[name] >= lower) && (upper === null || row[name] <= upper)));

  // A picture for each outcome, and one of the first two objectives together.
  function drawProgress() {
    const wanted = several() ? objectives().map(({ name }) => name) : [mainName()];
    const isResult = (row) => several() || ours(row, "status") === "observed";
    const withAll = (some) => state.rows.filter((row) => isResult(row) &&
      some.every((name) => typeof row[name] === "number"));
    const found = wanted.length > 1 && withAll(wanted).length > 1 ? [tradePicture(withAll(wanted), wanted)] : [];
    for (const { name } of several() ? withGoal() : [{ name: wanted[0] }]) {
      const known = withAll([name]);
      if (known.length > 1) found.push(name === wanted[0] && wanted.length === 1 ? progressPicture(known)
        : outcomePicture(known, name));
    }
    el("progress").hidden = found.length === 0 || compares();
    el("progress").replaceChildren(...(compares() ? [] : found.map((parts) => make("figure", {}, ...parts))));
  }

  // An outcome over the experiments, with its limits (dashed).
  function outcomePicture(known, name) {
    const { lower, upper, title } = state.model.outcomes.find((one) => one.name === name);
    const limits = [lower, upper].filter((limit) => limit !== null);
    const values = known.map((row) => row[name]);
    const x = scale(roomy(known.map((row) => row.id)), size.left, size.width - size.right);
    const y = scale(roomy(values.concat(limits)), size.height - size.bottom, size.top);
    return picture(name + " (" + title + "): " + known.length + " results, from " + shown(Math.min(...values)) +
      " to " + shown(Math.max(...values)) + ".",
      [...frameOf(x, y, "experiment", name),
        ...limits.map((v) => draw("line", { class: "limit", x1: size.left, x2: size.width - size.right, y1: y(v),
          y2: y(v) })),
        ...known.map((row) => circle(x(row.id), y(row[name]), (lower === null || row[name] >= lower) &&
          (upper === null || row[name] <= upper)))]);
  }

  const circle = (x, y, kept) => draw("circle", { class: kept ? "mark" : "mark pale", cx: x, cy: y, r: 3 });

  // The best so far, of those that keep the limits.
  function progressPicture(known) {
    const x = scale(roomy(known.map((row) => row.id)), size.left, size.width - size.right);
    const y = scale(roomy(known.map(mainOf)), size.height - size.bottom, size.top);
    const kept = known.filter(keepsLimits);
    let best = kept[0];
    const steps = kept.map((row) => {
      const before = best;
      if (better(mainOf(row), mainOf(best))) best = row;
      return (row === kept[0] ? "M" : "L" + x(row.id) + " " + y(mainOf(before)) + "L") + x(row.id) + " " +
        y(mainOf(best));
    });
    const words = known.length + " results so far; " + (!best ? "none keeps the limits."
      : "the best " + (hasLimits() ? "that keeps the limits " : "") + "is " + shown(mainOf(best)) + ", of experiment " +
        best.id + ".");
    return picture(words, [...frameOf(x, y, "experiment", mainTitle()),
      draw("path", { class: "mean", d: steps.join("") }),
      ...known.map((row) => circle(x(row.id), y(mainOf(row)), keepsLimits(row)))]);
  }

  // Of the first two objectives; pale what breaks a limit.
  function tradePicture(known, wanted) {
    const x = scale(roomy(known.map((row) => row[wanted[0]])), size.left, size.width - size.right);
    const y = scale(roomy(known.map((row) => row[wanted[1]])), size.height - size.bottom, size.top);
    const kept = known.filter(keepsLimits).length;
    const words = known.length + " results so far" + (hasLimits() ? ", " + kept + " of which keep the limits" : "") +
      ".";
    return picture(words, [...frameOf(x, y, wanted[0], wanted[1]),
      ...known.map((row) => circle(x(row[wanted[0]]), y(row[wanted[1]]), keepsLimits(row)))]);
  }

  function slicePicture(slice, y) {
    const x = scale(slice.levels ? [0.5, slice.levels.length + 0.5] : slice.value, size.left, size.width - size.right,
      slice.log);
    const at = slice.value;
    // (Between two pieces the constraints do not hold.)
    const begins = (k) => k === 0 || slice.piece[k] !== slice.piece[k - 1];
    const line = (values) => values.map((v, k) => (begins(k) ? "M" : "L") + x(at[k]) + " " + y(v)).join("");
    const band = (piece) => {
      const own = at.map((_, k) => k).filter((k) => slice.piece[k] === piece);
      const side = (values, ks) => ks.map((k) => x(at[k]) + " " + y(values[k]));
      return "M" + side(slice.upper, own).concat(side(slice.lower, own.reverse())).join("L") + "Z";
    };
    const parts = frameOf(x, y, slice.input, compares() ? "probability of being preferred to the recommended point"
      : "predicted " + mainTitle(), slice.levels);
    if (slice.levels) {
      at.forEach((v, k) => parts.push(draw("line", { class: "mean", x1: x(v), x2: x(v), y1: y(slice.lower[k]),
        y2: y(slice.upper[k]) }),
        draw("circle", { class: "mark", cx: x(v), cy: y(slice.mean[k]), r: 5 })));
    } else {
      parts.push(draw("path", { class: "band", d: Array.from(new Set(slice.piece)).map(band).join("") }),
        draw("path", { class: "mean", d: line(slice.mean) }),
        draw("line", { class: "at", x1: x(slice.through), x2: x(slice.through), y1: size.top,
          y2: size.height - size.bottom }));
    }
    const top = slice.mean.reduce((best, v, k) => (better(v, slice.mean[best]) ? k : best), 0);
    return make("figure", {}, ...picture(slice.input + (compares() ? ": most often preferred at "
      : ": predicted best at ") + (slice.levels ? slice.levels[top] : shown(at[top])) + ", " +
      shown(slice.mean[top]) + " (" + shown(slice.lower[top]) + " to " + shown(slice.upper[top]) + ").", parts));
  }

  const paragraph = (text, className) => make("p", { class: className || null }, text);

  const panels = {
    slices: async (context) => {
      const slices = (await read("slices" + inUrl(context))).slices;
      const all = slices.flatMap((slice) => slice.lower.concat(slice.upper)).filter((v) => typeof v === "number");
      if (all.length === 0) return [paragraph("There are not enough results for a picture.")];
      const y = scale(all, size.height - size.bottom, size.top);
      const note = "Predicted mean ± two standard deviations along each input; the other inputs have their " +
        "recommended values. Dashed: the recommended value.";
      return [paragraph(note, "note"), ...slices.map((slice) => slicePicture(slice, y))];
    },
    improvement: async (context) => {
      const found = await read("improvement" + inUrl(context));
      return [paragraph(found.reason ? "Not known: " + found.reason + "." : "The next " + found.n +
        " are expected to add " + shown(found.mean) +
        (found.hypervolume ? " to the hypervolume of " + shown(found.hypervolume) : "") + " (sd " + shown(found.sd) +
        "), any gain with probability " + shown(found.probability) + ".")];
    },
    certificate: async (context) => {
      const found = await read("certificate" + inUrl(context));
      const bound = typeof found.gap === "number" ? "At most " + shown(found.gap) + " from the best" +
        (typeof found.probability === "number" ? ", with probability at least " + shown(found.probability) : "")
          : "There is no bound";
      return [paragraph(bound + "."), paragraph(typeof found.gap === "number" ? "Assumptions:" : "Reason:", "note"),
        make("ul", {}, ...found.assumptions.map((words) => make("li", {}, words.replace(/^none: /, ""))))];
    },
    check: async () => {
      const found = await read("check");
      const held = found.held + " of " + found.groups + (found.groups === found.rewards ? " results" : " points") +
        " lie within their 95% prediction interval, computed from the other results.";
      return [paragraph(found.verdict.charAt(0).toUpperCase() + found.verdict.slice(1) + "."), paragraph(held),
        make("ul", {}, ...found.advice.map((words) => make("li", {}, words)))];
    }
  };

  async function fill(part) {
    const inside = part.querySelector(".inside");
    const mine = part.asked = (part.asked || 0) + 1;
    const context = contextNow();
    if (context === undefined) {
      inside.replaceChildren(paragraph("Fill in the context above."));
      return;
    }
    if (!inside.firstChild) inside.replaceChildren(paragraph("Computing …"));
    try {
      const found = await panels[part.id](context);
      if (mine === part.asked && state.token !== null) inside.replaceChildren(...found);
    } catch (wrong) {
      if (mine === part.asked && state.token !== null) inside.replaceChildren(paragraph(inPlain(wrong)));
    }
  }

  // ---- all of it -----------------------------------------------------------------------------

  function drawTables() {
    drawOpen();
    drawKnown();
  }

  // One after the other, so that an earlier answer never overwrites a later one. What takes long is not waited for.
  let reading = Promise.resolve();

  function refresh() {
    reading = reading.catch(() => {}).then(async () => {
      const found = await readHistory();
      if (state.token === null) return;
      Object.assign(state, found);
      drawTables();
      drawDuel();
      drawProgress();
      if (state.model.contexts.length === 0 || contextFilled()) drawBest();
      for (const part of document.querySelectorAll("details.panel[open]")) fill(part);
    });
    return reading;
  }

  // After a change that was made here.
  async function changed(...ids) {
    ids.forEach((id) => state.saved.add(id));
    await refresh();
    ids.forEach((id) => state.saved.delete(id));
  }

  function counts() {
    const open = state.rows.filter(isOpen).length;
    return "Open: " + open + (open === 1 ? " experiment" : " experiments") + ". Known: " +
      state.rows.filter((row) => ours(row, "status") === "observed").length + ".";
  }

  // What others did. (Other messages stay.)
  async function poll() {
    if (state.token === null || state.model === null || document.hidden ||
      document.body.hasAttribute("aria-busy")) return;
    try {
      if ((await ask("history?limit=0")).version === state.version || state.token === null) return;
      const before = counts();
      await refresh();
      if (el("status").textContent === before) say(counts());
    } catch (wrong) {
      if (state.token === null) complain(inPlain(wrong));
    }
  }

  setInterval(poll, 10000);
  document.addEventListener("visibilitychange", poll);

  const contextFilled = () => boxesIn(el("context")).every(isFilled);

  async function enter(token) {
    state.token = token;
    state.model = await ask("model");
    contextForm();
    fixedForm();
    addForm();
    if (compares()) el("count").value = "2";
    await refresh();
    el("door").hidden = true;
    el("campaign").hidden = el("leave").hidden = el("story").hidden = false;
    el("title").textContent = state.model.name;
    document.title = state.model.name + " (gpbandits)";
    el("story").textContent = state.model.policy + " over " + state.model.domain + ", " +
      (compares() ? "comparing two experiments at a time"
      : several() ? withGoal().map(({ name, title }) => name + " " + title).join(", ")
        : (minimises() ? "minimising" : "maximising") + " the " + mainTitle()) + ".";
    sessionStorage.setItem(keep, token);
    say(counts());
    el("main").focus();
  }

  // A token is in a header of bytes.
  function tokenFault(token) {
    if (token === "") return "Type the token.";
    return /^[\x21-\x7e\xa0-\xff]([\x20-\x7e\xa0-\xff]*[\x21-\x7e\xa0-\xff])?$/.test(token) ? ""
      : "The token contains an invalid character.";
  }

  el("door").addEventListener("submit", (event) => {
    event.preventDefault();
    const token = el("token").value.trim();
    el("token").value = "";
    const wrong = tokenFault(token);
    if (wrong) complain(wrong);
    else act(event.submitter, async () => {
      try {
        await enter(token);
      } catch (fault) {
        leave();
        throw fault;
      }
    });
  });

  el("ask").addEventListener("submit", (event) => {
    event.preventDefault();
    const count = numberIn(el("count"), true);
    const context = contextNow();
    const fixed = fixedNow();
    if (count === undefined || context === undefined || fixed === undefined) return;
    act(event.submitter, async () => {
      const body = { n: count, lease: null };
      if (Object.keys(context).length) body.context = context;
      if (Object.keys(fixed).length) body.fixed = fixed;
      if (el("shared").value && count > 1) body.shared = el("shared").value;
      const found = (await ask("suggest", body)).queries;
      await changed();
      say(found.length === 1 ? "Experiment " + found[0].id + " is open (" +
        inWords(Object.assign({ arm: found[0].arm }, context, found[0].point)) + ")." : found.length +
        " experiments are open: " + found.map((query) => query.id).join(", ") + ".");
      if (found.length) {
        if (compares()) chooseTwo(found.map((query) => query.id));
        const box = compares() ? el("choices").querySelector("button")
          : el("result-" + found[0].id + "-" + results()[0].name);
        if (box) box.focus();
      }
    });
  });

  el("add").addEventListener("submit", (event) => {
    event.preventDefault();
    const body = addedNow();
    if (body === undefined) return;
    act(event.submitter, async () => {
      const found = await ask("add", body);
      el("add").reset();
      await changed();
      say("Experiment " + found.id + " is added" + (found.status === "observed" ? " with its result."
        : found.status === "partial" ? " with some outcomes." : " and open."));
    });
  });

  for (const pressed of document.querySelectorAll("[data-export]")) {
    pressed.addEventListener("click", () => act(pressed, async () => {
      // (With decimal commas a spreadsheet expects semicolons between the cells.)
      const format = pressed.dataset.export;
      const kind = format === "csv" && comma() ? "csv2" : format;
      const address = URL.createObjectURL(await (await send("export?format=" + kind)).blob());
      make("a", { href: address, download: state.model.name.replace(/[^\w-]+/g, "-") + "." + format }).click();
      setTimeout(() => URL.revokeObjectURL(address), 60000);
      say("The download of the " + format.toUpperCase() + " file has begun.");
    }));
  }

  el("context").addEventListener("submit", (event) => {
    event.preventDefault();
    if (contextNow() !== undefined) act(event.submitter, refresh);
  });

  for (const id of ["first", "second"]) el(id).addEventListener("change", drawChoices);

  el("leave").addEventListener("click", () => {
    leave();
    say("You are signed out.");
  });

  el("more").addEventListener("click", () => {
    state.shown += 50;
    drawKnown();
  });

  for (const part of document.querySelectorAll("details.panel")) {
    part.addEventListener("toggle", () => { if (part.open && state.token !== null) act(null, () => fill(part)); });
  }

  // A reloaded page continues with the token of this tab.
  const before = sessionStorage.getItem(keep);
  if (before !== null) {
    act(null, async () => {
      try {
        await enter(before);
      } catch (fault) {
        leave();
        throw fault;
      }
    });
  }
})();
