// ---- self-play: its rounds, and a browser of the games ----
const outcomes = [["fools", "fools the critic", "var(--wrong)"], ["caught", "caught", "var(--right)"], ["harmless", "does no harm", "var(--soft)"],
                  ["invalid", "is not a wrong step", "var(--failed)"], ["unjudged", "without a verdict", "var(--third)"]];
const outcomeName = (key) => outcomes.find(([name]) => name === key)[1];

function selfPlayHeading() {
  const {rounds, total, damaged} = data.self_play;
  const parts = [html("header", {}, html("h1", {}, html("span", {class: "brand"}, "agon "), data.title),
    html("p", {}, `self-play: ${total} games in ${rounds.length} ${rounds.length === 1 ? "round" : "rounds"}`),
    html("details", {class: "settings"}, html("summary", {}, "Settings"), html("div", {}, settings(settled))))];
  if (!data.complete) parts.push(html("p", {class: "notice", id: "incomplete"}, "This self-play is not complete."));
  if (damaged) parts.push(html("p", {class: "notice"}, `${damaged} damaged games are left out.`));
  return parts;
}

function roundsTable() {
  const head = (text) => html("th", {class: "number"}, text), cell = (text) => html("td", {class: "number"}, text);
  const rows = data.self_play.rounds.map((round) => html("tr", {}, cell(String(round.round)), cell(String(round.games)),
    outcomes.map(([key]) => cell(String(round[key]))), cell(number(round.win_rate)), cell(String(round.mislabelled))));
  return section("Rounds", html("table", {id: "rounds"}, html("thead", {}, html("tr", {}, head("Round"), head("Games"),
    outcomes.map(([, label]) => head(label)), head("Win rate"), head("Mislabelled"))), html("tbody", {}, rows)),
    html("p", {class: "note"}, "A sneaky step does harm if solvers nearly always get from the right step to the answer and never from the wrong one. Win rate: the share of harmful steps that fool the critic. Mislabelled: harmful steps that the suite knows to be right."));
}

// One bar per round.
function outcomesChart() {
  const {rounds} = data.self_play, width = 620, left = 70, height = 26;
  const chart = svg("svg", {viewBox: `0 0 ${left + width + 10} ${rounds.length * (height + 8) + 6}`, role: "img", "aria-label": "outcomes of the games by round"});
  rounds.forEach((round, index) => {
    const y = index * (height + 8) + 4;
    let x = left;
    chart.append(svg("text", {x: left - 8, y: y + 17, "text-anchor": "end"}, `round ${round.round}`));
    for (const [key, label, color] of outcomes) {
      const part = round.games ? width * round[key] / round.games : 0;
      if (part) chart.append(svg("rect", {x, y, width: part, height, fill: color, opacity: 0.8}, svg("title", {}, `${round[key]} ${label}`)));
      x += part;
    }
  });
  return section("Outcomes of the steps", chart, html("div", {class: "legend"}, outcomes.map(([, label, color]) => html("span", {}, html("i", {style: `background:${color}`}), label))));
}

const plainText = (text) => typeof text === "string" ? text : `(bytes that are not text: ${text.hex})`;

function verdictsOf(title, verdicts) {
  if (!verdicts.length) return [];
  return [html("h4", {}, title), verdicts.map((verdict) => html("div", {class: "segment"},
    html("span", {class: `badge ${verdict.reward > 0 ? "right" : "wrong"}`}, `${verdict.judgement}${verdict.probability === null || verdict.probability === undefined ? "" : `, P ${number(verdict.probability, 2)}`}`),
    html("pre", {}, plainText(verdict.critique ?? ""))))];
}

// The request, as nodes.
function asked(messages) {
  const parts = messages.filter((message) => message.role !== "system").flatMap((message) => message.parts);
  const frames = (part) => part.video ? part.video.frames.map((image) => ({image})) : part.image ? [part] : [];
  const pictures = parts.flatMap(frames).map((part) => {
    const [width, height, png] = data.images[part.image];
    return html("div", {class: "picture"}, html("img", {src: `data:image/png;base64,${png}`, width, height, alt: "what was seen"}));
  });
  return {pictures, texts: parts.filter((part) => part.text).map((part) => html("div", {class: "seen"}, html("pre", {}, plainText(part.text))))};
}

function gameView(game) {
  const fact = (label, value) => html("div", {}, html("b", {}, label), value);
  const {pictures, texts} = asked(game.messages);
  const step = (label, text) => html("div", {class: "segment step"}, html("span", {}, label), html("pre", {}, plainText(text)));
  const written = [texts, game.before ? step("before", game.before) : "", step("right step", game.step), step("sneaky step", game.fault ? `(none: ${plainText(game.fault)})` : game.sneaky_step),
    html("details", {}, html("summary", {}, "As the generator wrote it"), html("pre", {}, plainText(game.sneaky))),
    verdictsOf("Critiques of the sneaky step", game.verdicts), verdictsOf("Critiques of the right step", game.right_verdicts)];
  const {rates} = game;
  return [html("h3", {}, `Game ${game.number}, round ${game.round}`), html("p", {class: "note"}, game.task),
    html("div", {class: "facts"}, fact("Outcome", outcomeName(game.outcome)), fact("Kind of error", game.type ?? "none"), fact("Rewards", `generator ${game.reward}, critic ${game.reward === 0 ? 0 : -game.reward}`),
      rates.completions ? fact("Solvers reach the answer", `${number(rates.original, 2)} from the right step, ${number(rates.sneaky, 2)} from the sneaky one (${rates.completions} each)`) : ""),
    html("div", {class: pictures.length ? "turn" : "turn plain"}, pictures.length ? html("div", {}, pictures) : [], html("div", {}, written))];
}

function gamesBrowser() {
  const {games, rounds, total} = data.self_play;
  const types = [...new Set(games.map((game) => game.type).filter((type) => type))].sort();
  const round = choice("round", "round", [["", "every round"], ...rounds.map((one) => [one.round, `round ${one.round}`])]);
  const outcome = choice("outcome", "outcome", [["", "every outcome"], ...outcomes.map(([key, label]) => [key, label])]);
  const type = choice("type", "kind of error", [["", "every kind"], ...types.map((name) => [name, name])]);
  const words = html("input", {id: "search", type: "search", placeholder: "Search steps and critiques", "aria-label": "search"});
  const list = html("div", {class: "list", id: "list"}), detail = html("div", {class: "detail", id: "detail"}), counted = html("span", {class: "note", id: "counted"});
  const badge = {fools: "wrong", caught: "right"};
  const matches = (game) => (!round.value || round.value === String(game.round)) && (!outcome.value || outcome.value === game.outcome) && (!type.value || type.value === game.type) &&
    JSON.stringify([game.task, game.step, game.sneaky, game.verdicts]).toLowerCase().includes(words.value.toLowerCase());
  function select(row, game) {
    for (const other of list.children) other.setAttribute("aria-current", String(other === row));
    detail.replaceChildren(...gameView(game));
  }
  function rowOf(game) {
    const row = html("button", {class: "row", type: "button"}, html("span", {class: `badge ${badge[game.outcome] ?? "failed"}`}, game.outcome),
      html("span", {class: "what"}, `${game.number} `, html("small", {}, `round ${game.round} · ${game.type ?? "no kind"} · `), shortened(plainText(game.step), 60)));
    row.addEventListener("click", () => select(row, game));
    return row;
  }
  function refresh() {
    const shown = games.filter(matches);
    list.replaceChildren(...shown.map(rowOf));
    counted.textContent = `${shown.length} of ${games.length} games`;
    if (shown.length) select(list.firstChild, shown[0]);
    else detail.replaceChildren(html("p", {class: "empty"}, "No game fits these filters."));
  }
  for (const filter of [round, outcome, type, words]) filter.addEventListener("input", refresh);
  refresh();
  return section("Games", html("div", {class: "filters"}, round, outcome, type, words, counted), html("div", {class: "browser"}, list, detail),
    games.length < total ? html("p", {class: "note", id: "left-out"}, `In this page: the first ${games.length} of ${total} games, spread over the rounds. All are in run.sqlite, table journal.`) : "");
}
