// ---- the figures of a run ----
const summary = data.summary;  // undefined for a training

// ---- charts ----
// A square-ish plot with both axes in [0, 1] unless x labels are given as [position, text].
function plot(xTitle, yTitle, xTicks, marks) {
  const left = 54, top = 10, width = 330, height = 220;
  const x = (value) => left + value * width, y = (value) => top + (1 - value) * height;
  const chart = svg("svg", {viewBox: `0 0 ${left + width + 12} ${top + height + 40}`, role: "img", "aria-label": `${yTitle} against ${xTitle}`});
  for (const tick of [0, 0.25, 0.5, 0.75, 1])
    chart.append(svg("line", {class: "axis", x1: left, x2: left + width, y1: y(tick), y2: y(tick)}),
                 svg("text", {x: left - 7, y: y(tick) + 4, "text-anchor": "end"}, String(tick)));
  for (const [position, label] of xTicks)
    chart.append(svg("text", {x: x(position), y: top + height + 16, "text-anchor": "middle"}, label));
  chart.append(svg("text", {x: left + width / 2, y: top + height + 34, "text-anchor": "middle"}, xTitle),
               svg("text", {x: 11, y: top + height / 2, "text-anchor": "middle", transform: `rotate(-90 11 ${top + height / 2})`}, yTitle));
  marks(chart, x, y);
  return chart;
}
const quarters = [0, 0.25, 0.5, 0.75, 1].map((tick) => [tick, String(tick)]);
const polyline = (points, x, y, color) =>
  svg("polyline", {points: points.map(([a, b]) => `${x(a)},${y(b)}`).join(" "), fill: "none", stroke: color, "stroke-width": 2.2, "stroke-linejoin": "round"});
const diagonal = (x, y) => svg("line", {class: "diagonal", x1: x(0), y1: y(0), x2: x(1), y2: y(1)});

// Value and interval on the axis from 0 to 1; nothing for a value outside it.
function whisker(value, interval) {
  if (value < 0 || value > 1) return "";
  const chart = svg("svg", {viewBox: "0 0 400 18", "aria-hidden": "true"});
  chart.append(svg("line", {class: "axis", x1: 4, x2: 396, y1: 9, y2: 9}));
  const x = (v) => 4 + 392 * Math.min(1, Math.max(0, v));
  if (interval && interval[0] !== null) chart.append(svg("line", {class: "whisker", x1: x(interval[0]), x2: x(interval[1]), y1: 9, y2: 9}));
  if (value !== null && value !== undefined) chart.append(svg("circle", {class: "dot", cx: x(value), cy: 9, r: 4.5}));
  return chart;
}

// ---- sections ----
function runHeading() {
  const chips = Object.entries(settled).map(([key, value]) =>
    html("span", {class: "chip"}, html("b", {}, key), typeof value === "string" ? value : JSON.stringify(value)));
  const parts = [html("header", {}, html("h1", {}, html("span", {class: "brand"}, "agon "), data.title),
    html("p", {}, `${summary.tasks} tasks × ${summary.samples} samples, ${data.episodes_total} episodes, ${summary.tokens.toLocaleString("en")} tokens` +
      (summary.seconds ? ` in ${number(summary.seconds, 1)} s` : "")), html("div", {class: "chips"}, chips))];
  if (!data.complete) parts.push(html("p", {class: "notice", id: "incomplete"}, "This run is not complete: the figures cover the episodes finished so far, and short ones finish first."));
  if (summary.failed) parts.push(html("p", {class: "notice", id: "failed"}, `${summary.failed} episodes failed; they are excluded from all figures. Resume the run to play them again.`));
  return parts;
}

// "optimizer.learning_rate: 0.0001", one line per setting.
function settings(value, name = "") {
  if (value === null || typeof value !== "object" || !Object.keys(value).length)
    return [html("div", {}, html("b", {}, `${name} `), typeof value === "string" ? value : JSON.stringify(value))];
  return Object.entries(value).flatMap(([key, inner]) => settings(inner, name ? `${name}.${key}` : key));
}

function trainingHeading(training) {
  const {method, steps} = data.config;
  const parts = [html("header", {}, html("h1", {}, html("span", {class: "brand"}, "agon "), data.title),
    html("p", {}, `${method ?? "training"}, step ${training.last_step}${steps ? ` of ${steps}` : ""}${data.log ? "" : `, ${data.episodes_total} recorded episodes`}` + (training.seconds ? ` in ${number(training.seconds, 1)} s` : ""))),
    data.log ? "" : html("details", {class: "settings"}, html("summary", {}, "Settings"), html("div", {}, settings(settled)))];
  if (!data.complete) parts.push(html("p", {class: "notice", id: "incomplete"}, "This training is not complete."));
  return parts;
}

// Suites with tools ask for no scores.
const scored = summary && summary.score.valid > 0;

function summaryTable() {
  const rows = [["Greedy accuracy", summary.greedy, "greedy"], ["pass@1", summary.pass_at_1, "pass_at_1"]];
  const most = String(summary.samples);
  if (summary.samples > 1) {
    rows.push([`pass@${most}`, summary.pass_at_k[most], `pass_at_${most}`]);
    if (scored) rows.push([`Best of ${most} by score`, summary.best_of_n[most], `best_of_${most}`]);
    rows.push([`Majority of ${most}`, summary.majority[most], `majority_${most}`]);
    if (summary.verified) rows.push([`Best of ${most} by verifier`, summary.verified[most], `verified_${most}`]);
    if (summary.verified_majority) rows.push([`Majority of ${most} weighted by verifier`, summary.verified_majority[most], `verified_majority_${most}`]);
  }
  if ("step_success" in summary) rows.push(["Step success", summary.step_success, "step_success"]);
  rows.push(["Mean reward", summary.mean_reward, "mean_reward"]);
  if (scored) rows.push(["Score AUC", summary.score.auc, "score_auc"], ["Score average precision", summary.score.ap, "score_ap"]);
  const tasks = summary.n || {};  // older runs have none
  const body = rows.map(([label, value, key]) => {
    const interval = summary.ci[key];
    return html("tr", {}, html("td", {}, label), html("td", {class: "number"}, number(value)),
      html("td", {class: "number"}, interval ? `${number(interval[0])} – ${number(interval[1])}` : "–"), html("td", {class: "number"}, key in tasks ? `${tasks[key]}` : ""),
      html("td", {class: "wide"}, whisker(value, interval)));
  });
  return section("Summary", html("table", {id: "summary"}, html("thead", {}, html("tr", {}, html("th", {}, "Figure"), html("th", {class: "number"}, "Value"),
    html("th", {class: "number"}, "95 % interval"), html("th", {class: "number"}, "Tasks"), html("th", {}, ""))), html("tbody", {}, body)),
    html("p", {class: "note"}, "Intervals are over tasks: of shares by Wilson, of the difference of two turns by Newcombe, of AUC and average precision by bootstrap."));
}

// First and second answers; nothing for a run whose tasks are answered once.
function twoTurnTable() {
  if (!summary.two_turn) return [];
  const rows = [["First answer right (acc@t1)", "acc_t1"], ["Second answer right (acc@t2)", "acc_t2"], ["Difference", "delta"],
                ["Wrong, then right (M 0→1)", "m01"], ["Right, then wrong (M 1→0)", "m10"],
                ["Wrong answers corrected", "m01_conditional"], ["Right answers made wrong", "m10_conditional"]];
  const cells = (key) => {
    const interval = summary.ci[key];
    return [html("td", {class: "number"}, number(summary.two_turn[key])), html("td", {class: "number"}, interval ? `${number(interval[0])} – ${number(interval[1])}` : "–")];
  };
  const body = rows.map(([label, key]) => html("tr", {}, html("td", {}, label), cells(key), cells("greedy_" + key)));
  const types = (counts) => Object.entries(counts).map(([type, count]) => `${type} ${count}`).join(", ");
  const head = (text) => html("th", {class: "number"}, text);
  return [section("First and second answer", html("table", {id: "two-turn"}, html("thead", {}, html("tr", {}, html("th", {}, "Figure"), head("Samples"),
    head("95 % interval"), head("Greedy"), head("95 % interval"))), html("tbody", {}, body)),
    html("p", {class: "note"}, `Episodes by first → second answer (1 right, 0 wrong): samples ${types(summary.two_turn.types)}; greedy ${types(summary.two_turn.greedy_types)}.`))];
}

function samplesChart() {
  const sizes = Object.keys(summary.pass_at_k).map(Number);
  const most = Math.max(1, Math.log2(Math.max(...sizes, 1)));
  const at = (size) => Math.log2(size) / most;
  const series = [["pass@N", summary.pass_at_k, "var(--accent)", "pass_at_"], ["Majority of N", summary.majority, "var(--third)", "majority_"]];
  if (scored) series.push(["Best of N by score", summary.best_of_n, "var(--second)", "best_of_"]);
  if (summary.verified) series.push(["Best of N by verifier", summary.verified, "var(--right)", "verified_"]);
  if (summary.verified_majority) series.push(["Majority of N weighted by verifier", summary.verified_majority, "var(--text)", "verified_majority_"]);
  const chart = plot("N samples", "accuracy", sizes.map((size) => [at(size), String(size)]), (target, x, y) => {
    if (summary.greedy !== null) target.append(svg("line", {class: "diagonal", x1: x(0), x2: x(1), y1: y(summary.greedy), y2: y(summary.greedy)}));
    for (const [, values, color, key] of series) {
      const known = sizes.filter((size) => values[size] !== null && values[size] !== undefined);
      for (const size of known) {
        const interval = summary.ci[key + size];
        if (interval) target.append(svg("line", {x1: x(at(size)), x2: x(at(size)), y1: y(interval[0]), y2: y(interval[1]), stroke: color, "stroke-width": 1.2, opacity: 0.6}));
        target.append(svg("circle", {cx: x(at(size)), cy: y(values[size]), r: 3.2, fill: color}));
      }
      target.append(polyline(known.map((size) => [at(size), values[size]]), x, y, color));
    }
  });
  const legend = series.map(([label, , color]) => html("span", {}, html("i", {style: `background:${color}`}), label));
  return section("Accuracy against samples", chart, html("div", {class: "legend"}, legend, html("span", {}, "dashed: greedy")));
}

function reliabilityChart() {
  const bins = data.reliability.filter((bin) => bin.count > 0);
  const all = bins.reduce((sum, bin) => sum + bin.count, 0);
  const chart = plot("score", "accuracy", quarters, (target, x, y) => {
    for (const bin of bins)
      target.append(svg("rect", {x: x(bin.low) + 1, width: x(bin.high) - x(bin.low) - 2, y: y(bin.count / all), height: y(0) - y(bin.count / all),
        fill: "var(--soft)", opacity: 0.25}, svg("title", {}, `${bin.count} samples`)));
    target.append(diagonal(x, y), polyline(bins.map((bin) => [bin.mean_score, bin.accuracy]), x, y, "var(--accent)"));
    for (const bin of bins)
      target.append(svg("circle", {class: "dot", cx: x(bin.mean_score), cy: y(bin.accuracy), r: 3.4},
        svg("title", {}, `score ${number(bin.mean_score)}, accuracy ${number(bin.accuracy)}, ${bin.count} samples`)));
  });
  const missing = summary.score.missing ? ` ${summary.score.missing} samples have no valid score and are not here.` : "";
  return section("Reliability of the score", chart, html("p", {class: "note"}, `Expected calibration error ${number(data.ece)}. Grey: share of the samples, on the same scale.${missing}`));
}

function rocChart() {
  if (!data.roc.length) return section("ROC of the score", html("p", {class: "empty"}, "No ROC: it needs both right and wrong samples with a score."));
  return section("ROC of the score", plot("false positive rate", "true positive rate", quarters, (target, x, y) =>
    target.append(diagonal(x, y), polyline(data.roc, x, y, "var(--accent)"))), html("p", {class: "note"}, `AUC ${number(summary.score.auc)}, average precision ${number(summary.score.ap)}.`));
}

function groupTable(title, id, groups) {
  const rows = groups.map((group) => html("tr", {}, html("td", {}, group.name), html("td", {class: "number"}, String(group.tasks)),
    html("td", {class: "number"}, number(group.greedy)), html("td", {class: "number"}, number(group.pass_at_1)), html("td", {class: "wide"}, whisker(group.pass_at_1, group.interval))));
  return section(title, html("table", {id}, html("thead", {}, html("tr", {}, html("th", {}, ""), html("th", {class: "number"}, "Tasks"), html("th", {class: "number"}, "Greedy"),
    html("th", {class: "number"}, "pass@1"), html("th", {}, ""))), html("tbody", {}, rows)));
}

// ---- the browser of episodes ----
const mostAdvantage = largestAdvantage(data.episodes);
const sampleName = (sample) => sample < 0 ? "greedy" : `sample ${sample}`;

function picture(turn, task, part) {
  const [width, height, png] = data.images[part.image];
  const overlay = svg("svg", {viewBox: "0 0 1000 1000", preserveAspectRatio: "none"});
  const box = ([x1, y1, x2, y2], kind) => svg("rect", {class: kind, x: x1, y: y1, width: x2 - x1, height: y2 - y1});
  if (task.gold_box) overlay.append(box(task.gold_box, "gold"));
  if (turn.box) overlay.append(box(turn.box, "predicted"));
  if (turn.point) overlay.append(svg("ellipse", {class: "tap", cx: turn.point[0], cy: turn.point[1], rx: 28, ry: 28 * width / height}));
  return html("div", {class: "picture"}, html("img", {src: `data:image/png;base64,${png}`, width, height, alt: "what the policy saw"}), overlay);
}

const segmentLabel = (segment) => segment.kind === "step" || segment.kind === "think" && segment.step >= 0 ? `${segment.kind} ${segment.step + 1}` : segment.kind;
const plainSegments = (turn) => turn.segments.map((segment) => html("div", {class: `segment ${segment.kind}`}, html("span", {}, segmentLabel(segment)), html("pre", {}, segment.text)));

function turnView(turn, index, task) {
  const pictures = turn.parts.filter((part) => part.image).map((part) => picture(turn, task, part));
  const texts = turn.parts.filter((part) => part.text && part.text.trim() !== task.prompt.trim()).map((part) => html("div", {class: "seen"}, html("pre", {}, part.text)));
  const verdict = (right, what) => right === null ? "" : right ? `, right ${what}` : `, wrong ${what}`;
  const title = `Turn ${index + 1}: ${turn.tokens} tokens, reward ${number(turn.reward)}${verdict(turn.step_correct, "step")}${verdict(turn.turn_correct, "answer")}` + (turn.finish === "length" ? ", cut at the token limit" : "") + (turn.fills_context ? ", what follows is longer than the policy's context" : "");
  const segments = turn.credit ? creditView(turn, mostAdvantage, segmentLabel) : plainSegments(turn);
  const calls = turn.calls.map((call) => html("p", {class: "call"}, `called ${call.tool}: ${call.outcome}, ${number(call.seconds)} s, ${call.bytes} bytes`));
  const written = html("div", {}, html("h4", {}, title), texts, segments, calls, turn.error ? html("p", {class: "failure"}, turn.error) : "");
  return pictures.length ? html("div", {class: "turn"}, html("div", {}, pictures), written) : html("div", {class: "turn plain"}, written);
}

function episodeView(episode) {
  const task = data.tasks[episode.task];
  const fact = (label, value) => html("div", {}, html("b", {}, label), value);
  const components = (turn) => Object.entries(turn.components).map(([name, value]) => `${name} ${number(value)}`).join(", ");
  const last = episode.turns[episode.turns.length - 1];
  const step = episode.step === null ? "" : `, training step ${episode.step}`;
  const view = [html("h3", {}, task.prompt), html("p", {class: "note"}, `${task.id}, ${sampleName(episode.sample)}, ${task.kind}, level ${task.level}${step}`),
    html("div", {class: "facts"}, fact("Outcome", html("span", {class: `badge ${episode.outcome}`}, episode.outcome)), fact("Gold", task.gold),
      fact("Answer", episode.answer ?? "none"), fact("Reward", number(episode.reward) + (last && components(last) ? ` (${components(last)})` : "")),
      fact("Score", episode.score === null ? "none" : number(episode.score)))];
  if (episode.failure) view.push(html("p", {class: "failure"}, episode.failure));
  if (task.gold_box || episode.turns.some((turn) => turn.box || turn.point))
    view.push(html("div", {class: "legend"}, task.gold_box ? html("span", {}, html("i", {style: "background:#16a34a"}), "gold box") : "",
      html("span", {}, html("i", {style: "background:#ea580c"}), "what the policy answered")));
  if (episode.turns.some((turn) => turn.credit)) view.push(creditLegend(mostAdvantage));
  return view.concat(episode.turns.map((turn, index) => turnView(turn, index, task)), search ? treeView(episode.task) : []);
}

function choice(id, label, options) {
  return html("select", {id, "aria-label": label}, options.map(([value, text]) => html("option", {value}, text)));
}

function browser() {
  if (data.training) data.episodes.sort((a, b) => a.step - b.step || a.task - b.task || a.sample - b.sample);
  const kinds = [...new Set(Object.values(data.tasks).map((task) => task.kind))].sort();
  const outcome = choice("outcome", "outcome", [["", "right, wrong, failed"], ["right", "right"], ["wrong", "wrong"], ["failed", "failed"]]);
  const kind = choice("kind", "kind", [["", "every kind"], ...kinds.map((name) => [name, name])]);
  const steps = [...new Set(data.episodes.map((episode) => episode.step))].sort((a, b) => a - b);
  const sample = data.training ? choice("step", "step", [["", "every step"], ...steps.map((step) => [step, `step ${step}`])])
    : choice("sample", "sample", [["", "every sample"], ["greedy", "greedy only"], ["sampled", "samples only"]]);
  const words = html("input", {id: "search", type: "search", placeholder: "Search prompts and answers", "aria-label": "search"});
  const list = html("div", {class: "list", id: "list"}), detail = html("div", {class: "detail", id: "detail"}), counted = html("span", {class: "note", id: "counted"});

  function select(row, episode) {
    for (const other of list.children) other.setAttribute("aria-current", String(other === row));
    detail.replaceChildren(...episodeView(episode));
  }
  function rowOf(episode) {
    const task = data.tasks[episode.task];
    const row = html("button", {class: "row", type: "button"}, html("span", {class: `badge ${episode.outcome}`}, episode.outcome),
      html("span", {class: "what"}, episode.step === null ? `${episode.task} ` : `step ${episode.step} `, html("small", {}, `${sampleName(episode.sample)} · `), task.prompt), html("span", {class: "score"}, episode.score === null ? "" : number(episode.score, 2)));
    row.addEventListener("click", () => select(row, episode));
    return row;
  }
  function matches(episode) {
    const task = data.tasks[episode.task];
    if (outcome.value && episode.outcome !== outcome.value || kind.value && task.kind !== kind.value) return false;
    if (sample.value && !(data.training ? sample.value === String(episode.step) : (sample.value === "greedy") === (episode.sample < 0))) return false;
    return (task.prompt + "\n" + task.id + "\n" + (episode.answer ?? "")).toLowerCase().includes(words.value.toLowerCase());
  }
  function refresh() {
    const shown = data.episodes.filter(matches);
    list.replaceChildren(...shown.map(rowOf));
    counted.textContent = `${shown.length} of ${data.episodes.length} episodes`;
    if (shown.length) select(list.firstChild, shown[0]);
    else detail.replaceChildren(html("p", {class: "empty"}, "No episode fits these filters."));
  }
  for (const filter of [outcome, kind, sample, words]) filter.addEventListener("input", refresh);
  list.addEventListener("keydown", (event) => {
    const step = {ArrowDown: "nextElementSibling", ArrowUp: "previousElementSibling"}[event.key];
    const next = step && document.activeElement[step];
    if (!next) return;
    event.preventDefault();
    next.focus();
    next.click();
  });
  refresh();
  const which = data.training ? "groups from steps spread over the training, groups with different rewards first"
    : `the first ${data.embedded_tasks} tasks; greedy and samples 0 to ${data.embedded_samples - 1}`;
  const left_out = data.episodes.length < data.episodes_total
    ? `In this page: ${data.episodes.length} of ${data.episodes_total} episodes (${which}). agon show RUN TASK:SAMPLE prints any other.` : "";
  return section("Episodes", html("div", {class: "filters"}, outcome, kind, sample, words, counted), html("div", {class: "browser"}, list, detail),
    left_out ? html("p", {class: "note", id: "left-out"}, left_out) : "");
}

document.title = `agon ${data.title}`;
const cards = (...sections) => html("div", {class: "cards"}, sections);
const groups = () => [groupTable("Accuracy by kind", "kinds", data.kinds), groupTable("Accuracy by level", "levels", data.levels)];
const charts = () => scored ? [cards(samplesChart(), reliabilityChart(), rocChart()), cards(...groups())] : cards(samplesChart(), ...groups());
const figures = () => [runHeading(), summaryTable(), twoTurnTable(), charts()];
const course = (training) => [trainingHeading(training), evaluationTable(training), curvesSection(training)];
const searched = () => [searchHeading(), search.trees_missing ? html("p", {class: "notice"}, search.trees_missing) : "", searchTable(),
  cards(budgetChart("policy_tokens", "policy tokens per task"), budgetChart("tokens", "all tokens per task"), ...criticChart())];
const played = () => [selfPlayHeading(), roundsTable(), outcomesChart(), gamesBrowser()];
const body = () => [data.training ? course(data.training) : search ? searched() : figures(), data.log ? [] : browser()];
const ranked = () => [preferencesHeading(), preferencesTable(), preferencesBrowser()];
// Provenance of the run and the page: version, command, date, machine, models and files.
function provenanceRows(title, record) {
  if (!record) return [];
  const machine = record.machine ? `${record.machine.processor}, ${record.machine.cores} cores, ${record.machine.memory_gib} GiB` : "";
  const rows = [["agon", record.version ? `${record.version} (commit ${record.commit})` : ""], ["command", record.command], ["date", record.date], ["machine", machine]];
  const add = (name, one) => Array.isArray(one) ? one.forEach((each) => add(name, each))
    : one && typeof one === "object" ? rows.push([name, [one.critic, one.path, one.url, one.files ?? one.hash].filter(Boolean).join(", ")]) : undefined;
  for (const [name, value] of Object.entries(record)) if (name !== "machine") add(name.replace("_", " "), value);
  return rows.filter(([, value]) => value).map(([name, value]) => html("tr", {}, html("td", {}, `${title}: ${name}`), html("td", {class: "wide"}, value)));
}
const provenanceTable = () => {
  const rows = [...provenanceRows("run", data.config.provenance ?? data.made_by), ...provenanceRows("page", data.provenance)];
  return rows.length ? section("Provenance", html("table", {id: "provenance"}, html("tbody", {}, rows))) : [];
};
page.replaceChildren(...[data.self_play ? played() : data.preferences ? ranked() : body(), provenanceTable(),
  html("footer", {}, `Every figure is computed from ${data.log ?? "run.sqlite"} next to this file.`)].flat(Infinity));
