// ---- preferences: ranked responses, and the graphs of votes ----
function preferencesHeading() {
  const {total, summary, damaged} = data.preferences;
  const parts = [html("header", {}, html("h1", {}, html("span", {class: "brand"}, "agon "), data.title),
    html("p", {}, `preferences: ${total} sets of responses${summary ? ` from ${summary.tasks} tasks` : ""}`),
    html("details", {class: "settings"}, html("summary", {}, "Settings"), html("div", {}, settings(settled))))];
  if (!data.complete) parts.push(html("p", {class: "notice", id: "incomplete"}, "These preferences are not complete."));
  if (damaged) parts.push(html("p", {class: "notice"}, `${damaged} damaged sets are left out.`));
  return parts;
}

function preferencesTable() {
  const {summary} = data.preferences;
  if (!summary) return "";
  const columns = [["tasks", "Tasks"], ["sets", "Sets"], ["responses", "Responses"], ["chosen", "Chosen"], ["arcs", "Arcs of votes"], ["removed", "Arcs removed"]];
  const rows = Object.entries(summary.suites).map(([suite, row]) => html("tr", {}, html("td", {}, suite), columns.map(([key]) => html("td", {class: "number"}, String(row[key])))));
  return section("Suites", html("table", {id: "preferences"}, html("thead", {}, html("tr", {}, html("th", {}, "Suite"), columns.map(([, label]) => html("th", {class: "number"}, label)))), html("tbody", {}, rows)),
    html("p", {class: "note"}, `${data.config.responses && !data.config.repeats ? "A set is chosen from a task's responses so that one is the only best." : "A set holds all of a task's responses."} Removed: arcs on a cycle that went against the other votes.`));
}

const place = (index) => `#${index + 1}`;

// Responses from best to worst, downwards; kept arcs on their right, removed ones, dashed, on their left.
function voteGraph(set) {
  const order = set.graph.order ?? set.rank.map((rank, index) => [rank, index]).sort((a, b) => a[0] - b[0] || a[1] - b[1]).map(([, index]) => index);
  const row = 34, middle = 300, reach = 250, radius = 12, height = order.length * row + 10, at = new Map(order.map((index, line) => [index, line * row + 22]));
  const heaviest = Math.max(...[...set.graph.arcs, ...set.graph.removed].map(([, , weight]) => weight));
  const chart = svg("svg", {viewBox: `0 0 ${2 * middle} ${height}`, role: "img", "aria-label": "graph of votes", class: "votes"},
    svg("defs", {}, [["kept", "var(--accent)"], ["removed", "var(--wrong)"]].map(([name, color]) =>
      svg("marker", {id: `head-${name}`, viewBox: "0 0 8 8", refX: 7, refY: 4, markerWidth: 7, markerHeight: 7, markerUnits: "userSpaceOnUse", orient: "auto"}, svg("path", {d: "M0 0 8 4 0 8z", fill: color})))));
  const draw = ([better, worse, weight], removed) => {
    const side = removed ? -1 : 1, from = at.get(better), to = at.get(worse), x = middle + side * radius;
    const bend = x + side * Math.min(reach, 26 + 0.55 * Math.abs(to - from));
    chart.append(svg("path", {d: `M${x} ${from} C${bend} ${from} ${bend} ${to} ${x} ${to}`, fill: "none", stroke: removed ? "var(--wrong)" : "var(--accent)", "stroke-width": 0.7 + 1.6 * weight / heaviest,
      "stroke-dasharray": removed ? "5 4" : "none", opacity: 0.75, "marker-end": `url(#head-${removed ? "removed" : "kept"})`}, svg("title", {}, `${place(better)} before ${place(worse)}, weight ${number(weight, 2)}${removed ? ", removed" : ""}`)));
  };
  for (const arc of set.graph.arcs) draw(arc, false);
  for (const arc of set.graph.removed) draw(arc, true);
  for (const index of order)
    chart.append(svg("circle", {cx: middle, cy: at.get(index), r: radius, fill: set.chosen.includes(index) ? "var(--select)" : "var(--card)", stroke: "var(--soft)"}),
      svg("text", {x: middle, y: at.get(index) + 4, "text-anchor": "middle"}, place(index)));
  return [html("h4", {}, "Votes"), chart, html("div", {class: "legend"}, html("span", {}, html("i", {style: "background:var(--accent)"}), `${set.graph.arcs.length} arcs, from the better to the worse`),
    html("span", {}, html("i", {style: "background:var(--wrong)"}), `${set.graph.removed.length} removed`))];
}

function preferenceView(set) {
  const {pictures, texts} = asked(set.messages);
  const order = set.responses.map((_, index) => index).sort((a, b) => set.rank[a] - set.rank[b] || a - b);
  const responses = order.map((index) => {
    const one = set.responses[index], chosen = set.chosen.includes(index);
    return html("div", {class: "segment step"}, html("span", {}, html("span", {class: `badge ${one.right ? "right" : "wrong"}`}, `rank ${set.rank[index]}`), html("br"), `${place(index)}${chosen ? ", chosen" : ""}`),
      html("div", {}, html("p", {class: "note"}, `${one.source} · ${one.right ? "right" : "wrong"} · reward ${number(one.reward, 2)} · ${number(100 * one.steps, 0)} % of its steps known to be right, before the first wrong one`), html("pre", {}, plainText(one.text))));
  });
  return [html("h3", {}, set.id), html("div", {class: pictures.length ? "turn" : "turn plain"}, pictures.length ? html("div", {}, pictures) : [],
    html("div", {}, texts, set.graph ? voteGraph(set) : [], html("h4", {}, "Responses, best first"), responses))];
}

function preferencesBrowser() {
  const {sets, total} = data.preferences;
  const categories = [...new Set(sets.map((set) => set.category))].sort();
  const category = choice("category", "suite", [["", "every suite"], ...categories.map((name) => [name, name])]);
  const words = html("input", {id: "search", type: "search", placeholder: "Search responses", "aria-label": "search"});
  const list = html("div", {class: "list", id: "list"}), detail = html("div", {class: "detail", id: "detail"}), counted = html("span", {class: "note", id: "counted"});
  const matches = (set) => (!category.value || category.value === set.category) && JSON.stringify([set.id, set.responses]).toLowerCase().includes(words.value.toLowerCase());
  function select(row, set) {
    for (const other of list.children) other.setAttribute("aria-current", String(other === row));
    detail.replaceChildren(...preferenceView(set));
  }
  function rowOf(set) {
    const removed = set.graph ? set.graph.removed.length : 0;
    const row = html("button", {class: "row", type: "button"}, html("span", {class: `badge ${removed ? "failed" : "right"}`}, set.graph ? `${removed} removed` : `${set.responses.length}`),
      html("span", {class: "what"}, `${set.id} `, html("small", {}, `${set.responses.length} responses`)));
    row.addEventListener("click", () => select(row, set));
    return row;
  }
  function refresh() {
    const shown = sets.filter(matches);
    list.replaceChildren(...shown.map(rowOf));
    counted.textContent = `${shown.length} of ${sets.length} sets`;
    if (shown.length) select(list.firstChild, shown[0]);
    else detail.replaceChildren(html("p", {class: "empty"}, "No set fits these filters."));
  }
  for (const filter of [category, words]) filter.addEventListener("input", refresh);
  refresh();
  return section("Sets", html("div", {class: "filters"}, category, words, counted), html("div", {class: "browser"}, list, detail),
    sets.length < total ? html("p", {class: "note", id: "left-out"}, `In this page: ${sets.length} of ${total} sets, those with removed arcs first. All are in run.sqlite, table journal.`) : "");
}
