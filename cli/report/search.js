// ---- a search: its figures, other searches at their cost, and the tree of each task ----
const search = data.search;  // undefined for other runs

function searchHeading() {
  const {summary} = search;
  const critic = summary.critic ? `, critic ${summary.critic.critic}${summary.critic.policy ? " " + summary.critic.policy : ""}` : "";
  const parts = [html("header", {}, html("h1", {}, html("span", {class: "brand"}, "agon "), data.title),
    html("p", {}, `${summary.method} on ${summary.suite}, level ${summary.level}: ${summary.tasks} tasks, policy ${summary.policy}${critic}, ` +
      `${summary.policy_tokens.toLocaleString("en")} policy tokens, ${summary.critic_tokens.toLocaleString("en")} critic tokens in ${number(summary.wall_seconds, 1)} s`),
    html("details", {class: "settings"}, html("summary", {}, "Settings"), html("div", {}, settings(settled))))];
  if (!data.complete) parts.push(html("p", {class: "notice", id: "incomplete"}, `This search is not complete: ${summary.tasks} of ${data.config.tasks} tasks are done, and short ones finish first.`));
  if (summary.failed) parts.push(html("p", {class: "notice", id: "failed"}, `${summary.failed} tasks failed; they are excluded from all figures.`));
  if (summary.damaged) parts.push(html("p", {class: "notice"}, `The journals of ${summary.damaged} tasks are damaged; they are excluded from all figures.`));
  return parts;
}

function searchTable() {
  const {summary, steps} = search;
  const row = (label, value, interval) => html("tr", {}, html("td", {}, label), html("td", {class: "number"}, value),
    html("td", {class: "number"}, interval && interval[0] !== null ? `${number(interval[0])} – ${number(interval[1])}` : ""));
  const rows = [row("Right", number(summary.accuracy), summary.ci.accuracy)];
  for (const [level, group] of Object.entries(summary.by_level)) rows.push(row(`Right, level ${level}`, number(group.accuracy), group.ci));
  for (const [name, value] of Object.entries(summary.per_task)) rows.push(row(`${name.replace("_", " ")} per task`, number(value, 1)));
  const counts = [["Tasks that used up their budget", "budget_exhausted"], ["Tasks without an answer", "unanswered"], ["Steps rejected or pruned", "steps_rejected"],
                  ["Verdicts that could not be read", "invalid_verdicts"]];
  for (const [label, key] of counts) if (summary[key]) rows.push(row(label, String(summary[key])));
  for (const [count, kept] of Object.entries(summary.attempts)) rows.push(row(`Steps kept at attempt ${count}`, String(kept)));
  const judged = steps.right_kept + steps.wrong_kept + steps.right_rejected + steps.wrong_rejected;
  const cells = (label, ...counts) => html("tr", {}, html("td", {}, label), counts.map((count) => html("td", {class: "number"}, String(count))));
  const notes = judged ? [html("h3", {}, "The critic's verdicts and the suite's labels"), html("table", {id: "judged"},
    html("thead", {}, html("tr", {}, html("th", {}, "steps"), ["right", "wrong"].map((title) => html("th", {class: "number"}, title)))),
    html("tbody", {}, cells("found right", steps.right_kept, steps.wrong_kept), cells("found wrong", steps.right_rejected, steps.wrong_rejected)))] : [];
  return section("Figures", html("table", {id: "search-figures"}, html("tbody", {}, rows)), notes);
}

// Accuracy against the cost of a task, on a logarithmic scale.
function budgetChart(key, title) {
  const methods = search.methods.filter((method) => method.accuracy !== null);
  const most = Math.max(2, ...methods.map((method) => method[key])), least = Math.max(1, Math.min(...methods.map((method) => method[key])));
  const spread = Math.max(0, 0.5 - Math.log10(most / least)) / 2;  // room for two labels at least
  const low = Math.log10(least) - 0.1 - spread, high = Math.log10(most) + 0.25 + spread;
  const at = (tokens) => (Math.log10(Math.max(1, tokens)) - low) / (high - low);
  const labels = [];
  for (let power = Math.floor(low); power <= high; ++power)
    for (const times of [1, 2, 5]) if (at(times * 10 ** power) >= 0 && at(times * 10 ** power) <= 1) labels.push([at(times * 10 ** power), String(times * 10 ** power)]);
  const colors = ["var(--accent)", "var(--second)", "var(--third)", "var(--right)", "var(--wrong)"];
  const chart = plot(title, "accuracy", labels, (target, x, y) => methods.forEach((method, index) => {
    const color = colors[index % colors.length], middle = x(at(method[key]));
    if (method.interval[0] !== null) target.append(svg("line", {x1: middle, x2: middle, y1: y(method.interval[0]), y2: y(method.interval[1]), stroke: color, "stroke-width": 1.4, opacity: 0.6}));
    target.append(svg("circle", {cx: middle, cy: y(method.accuracy), r: method.own ? 5 : 3.6, fill: color}, svg("title", {}, `${method.name}: ${number(method.accuracy)} at ${number(method[key], 0)} tokens per task`)));
  }));
  const legend = methods.map((method, index) => html("span", {}, html("i", {style: `background:${colors[index % colors.length]}`}), `${method.name} ${number(method.accuracy)}`));
  return section(`Accuracy against ${title}`, chart, html("div", {class: "legend"}, legend));
}

function criticChart() {
  if (!data.reliability.some((bin) => bin.count > 0)) return [];
  const bins = data.reliability.filter((bin) => bin.count > 0);
  const chart = plot("P(correct) of the critic", "share of right steps", quarters, (target, x, y) => {
    target.append(diagonal(x, y), polyline(bins.map((bin) => [bin.mean_score, bin.accuracy]), x, y, "var(--accent)"));
    for (const bin of bins)
      target.append(svg("circle", {class: "dot", cx: x(bin.mean_score), cy: y(bin.accuracy), r: 3.4},
        svg("title", {}, `P ${number(bin.mean_score)}, right ${number(bin.accuracy)}, ${bin.count} steps`)));
  });
  return [section("Calibration of the critic", chart, html("p", {class: "note"}, `Expected calibration error ${number(data.ece)}, on the steps of this search that the suite labels.`))];
}

const treeSize = {column: 190, row: 34, width: 172, height: 28};

// The path to the answer is the first row. A step stands in the column of its depth, in the first free row that is not
// above the step before it.
function layOut(nodes) {
  const children = nodes.map(() => []), rows = nodes.map(() => 0), depths = nodes.map(() => 0), free = [];
  const wayFirst = (a, b) => nodes[b].chosen - nodes[a].chosen || a - b;
  nodes.forEach((node, index) => { if (node.parent !== null && node.times) children[node.parent].push(index); });
  const place = (index, depth, least) => {
    depths[index] = depth;
    rows[index] = Math.max(least, free[depth] ?? 0);
    free[depth] = rows[index] + 1;
    for (const child of children[index].sort(wayFirst)) place(child, depth + 1, rows[index]);
  };
  const roots = nodes.map((_, index) => index).filter((index) => nodes[index].parent === null).sort(wayFirst);
  for (const root of roots) place(root, 0, 0);
  return {rows, depths, count: Math.max(...rows) + 1, columns: Math.max(...depths) + 1};
}

const shortened = (text, most) => text.length > most ? text.slice(0, most - 1) + "…" : text;
const verdictClass = (node) => node.verdict === "correct" ? "good" : node.verdict === "incorrect" ? "bad" : "silent";
const criticErred = (node) => node.label !== null && (node.verdict === "correct" && !node.label || node.verdict === "incorrect" && node.label);

function nodeDetail(node) {
  const facts = [node.verdict ? `critic: ${node.verdict}${node.probability === null ? "" : `, P ${number(node.probability)}`}` : "not judged",
    node.label === null ? "the suite cannot tell" : node.label ? "actually right" : `actually wrong${node.why ? ": " + node.why : ""}`, `${node.tokens} tokens`];
  if (node.decision) facts.push(node.decision);
  const parts = (node.parts ?? []).map((part) => {
    if (part.text) return html("div", {class: "seen"}, html("pre", {}, part.text));
    const [width, height, png] = data.images[part.image];
    return html("div", {class: "picture"}, html("img", {src: `data:image/png;base64,${png}`, width, height, alt: "what the env showed"}));
  });
  return [html("pre", {}, node.text), html("p", {class: "note"}, facts.join(" · ")), node.critique ? html("div", {class: "seen"}, html("pre", {}, node.critique)) : "", parts];
}

function treeView(task) {
  const nodes = search.trees[task];
  if (!nodes) return [];
  const {rows, depths, count, columns} = layOut(nodes);
  const {column, row, width, height} = treeSize;
  const x = (index) => (depths[index] - 1) * column + 6, y = (index) => rows[index] * row + 4;
  const total = {width: Math.max(1, columns - 1) * column + 8, height: count * row + 8};
  const chart = svg("svg", {class: "tree", width: total.width, height: total.height, viewBox: `0 0 ${total.width} ${total.height}`, role: "img", "aria-label": "the tree of steps"});
  const detail = html("div", {class: "node"});
  nodes.forEach((node, index) => {
    if (!node.times || node.parent === null || nodes[node.parent].parent === null) return;
    const from = node.parent;
    chart.append(svg("path", {class: node.chosen ? "edge chosen" : "edge", d: `M${x(from) + width} ${y(from) + height / 2} C${x(from) + width + 10} ${y(from) + height / 2} ${x(index) - 10} ${y(index) + height / 2} ${x(index)} ${y(index) + height / 2}`}));
  });
  nodes.forEach((node, index) => {
    if (!node.times || node.parent === null) return;
    const left_out = node.decision === "reject" || node.decision === "prune";
    const box = svg("g", {class: `step ${verdictClass(node)}${node.chosen ? " chosen" : ""}${left_out ? " left" : ""}`, tabindex: 0},
      svg("rect", {x: x(index), y: y(index), width, height, rx: 6}),
      svg("text", {x: x(index) + 8, y: y(index) + 18}, (criticErred(node) ? "⚠ " : "") + shortened(node.text.replace(/\s+/g, " "), 17 - (criticErred(node) ? 2 : 0) - (node.times > 1 ? 4 : 0))),
      svg("text", {x: x(index) + width - 8, y: y(index) + 18, "text-anchor": "end"},
        (node.times > 1 ? `× ${node.times}  ` : "") + (node.probability === null ? "" : number(node.probability, 2))));
    const show = () => detail.replaceChildren(...nodeDetail(node).flat());
    box.addEventListener("click", show);
    box.addEventListener("focus", show);
    chart.append(box);
  });
  const last = nodes.findIndex((node) => node.decision === "answer");
  detail.replaceChildren(...nodeDetail(nodes[last > 0 ? last : nodes.length - 1]).flat());
  return [html("h4", {}, "Its tree"), html("div", {class: "scroll"}, chart),
    html("div", {class: "legend"}, html("span", {}, html("i", {class: "good"}), "found right"), html("span", {}, html("i", {class: "bad"}), "found wrong"),
      html("span", {}, "dashed: rejected or pruned"), html("span", {}, "bold: the path to the answer"), html("span", {}, "⚠ the critic was wrong"), html("span", {}, "× 3: written three times")), detail];
}
