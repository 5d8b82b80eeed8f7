// ---- the curves of a training: one small chart per metric; all show the step under the pointer ----
const curveArea = {left: 46, top: 6, width: 296, height: 104};
const dottedTo = 60;  // a curve with at most this many points shows them

// A value in a chart's corner or on its axis.
function figure(value) {
  if (value === null) return "–";
  const size = Math.abs(value);
  if (size !== 0 && (size < 1e-3 || size >= 1e5)) return value.toExponential(2).replace(/\.?0+e/, "e").replace("e+", "e");
  return String(Number(value.toPrecision(4)));
}

// Exponential moving average without bias from its start; undefined points are skipped. The rest of a value long ago
// becomes 0 in the end, not 1e-30.
function smoothed(points, weight) {
  const least = 1e-9 * Math.max(...points.map(([, value]) => Math.abs(value ?? 0)));
  let sum = 0, mass = 0;
  return points.map(([step, value]) => {
    if (value !== null) {
      sum = weight * sum + (1 - weight) * value;
      mass = weight * mass + (1 - weight);
    }
    return [step, value === null ? null : Math.abs(sum) < least ? 0 : sum / mass];
  });
}

// Least and most of the values; without the outermost hundredths if `cut`.
function rangeOf(values, cut) {
  const sorted = values.filter((value) => value !== null).sort((a, b) => a - b);
  if (!sorted.length) return [0, 1];
  const skip = cut ? Math.floor(sorted.length / 100 + 0.5) : 0;
  const low = sorted[skip], high = sorted[sorted.length - 1 - skip];
  const margin = (high - low) * 0.04 || Math.abs(high) * 0.1 || 1;
  return [low - margin, high + margin];
}

// Two to five round values inside a range.
function ticks(low, high) {
  const tenth = 10 ** Math.floor(Math.log10((high - low) / 2));
  const distance = tenth * ([5, 2].find((times) => times * tenth <= (high - low) / 2) ?? 1);
  const levels = [];
  for (let i = Math.ceil(low / distance); i * distance <= high; ++i) levels.push(Number((i * distance).toPrecision(12)));
  return levels;
}

// The index of the point nearest to the step; points are in order of steps.
function nearest(points, step) {
  let low = 0, high = points.length - 1;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (points[middle][0] < step) low = middle + 1;
    else high = middle;
  }
  return low > 0 && step - points[low - 1][0] < points[low][0] - step ? low - 1 : low;
}

function curveChart(group, metric, lastStep, pointAt) {
  const {left, top, width, height} = curveArea;
  const {points, low, high} = metric, name = group ? `${group}/${metric.name}` : metric.name;
  const [, last] = points[points.length - 1];
  const chart = svg("svg", {viewBox: `0 0 ${left + width + 10} ${top + height + 20}`, role: "img",
    "aria-label": `${name}: ${figure(points[0][1])} at step ${points[0][0]}, ${figure(last)} at step ${points[points.length - 1][0]}`});
  const value = html("span", {class: "value"}), pointer = svg("g");
  const x = (step) => left + width * (lastStep > 0 ? step / lastStep : 0.5);
  let line = points, y = null;

  function path(of) {
    let text = "", pen = "M";
    for (const [step, number] of of) {
      if (number !== null) text += `${pen}${x(step).toFixed(1)} ${y(number).toFixed(1)}${pen === "M" ? "h0" : ""}`;  // h0: a point alone is a dot
      pen = number === null ? "M" : "L";
    }
    return text;
  }
  function band() {
    const edge = (values) => values.map((bound, i) => bound === null ? null : `${x(points[i][0]).toFixed(1)},${y(bound).toFixed(1)}`).filter((corner) => corner);
    return svg("polygon", {class: "band", points: edge(low).concat(edge(high).reverse()).join(" ")});
  }
  function draw(weight, cut) {
    const [least, most] = rangeOf(points.map((point) => point[1]).concat(low ?? [], high ?? []), cut);
    y = (number) => top + height * Math.min(1, Math.max(0, (most - number) / (most - least)));
    const smooth = weight > 0 && !group.startsWith("eval/");
    line = smooth ? smoothed(points, weight) : points;
    chart.replaceChildren();
    for (const level of ticks(least, most))
      chart.append(svg("line", {class: "axis", x1: left, x2: left + width, y1: y(level), y2: y(level)}),
        svg("text", {x: left - 5, y: y(level) + 4, "text-anchor": "end"}, figure(level)));
    chart.append(svg("text", {x: left, y: top + height + 16}, "0"), svg("text", {x: left + width, y: top + height + 16, "text-anchor": "end"}, String(lastStep)));
    if (low) chart.append(band());
    if (smooth) chart.append(svg("path", {class: "raw", d: path(points)}));
    chart.append(svg("path", {class: "line", d: path(line)}));
    if (points.length <= dottedTo && !smooth)
      for (const [step, number] of points) if (number !== null) chart.append(svg("circle", {class: "dot", cx: x(step), cy: y(number), r: 2.4}));
    chart.append(pointer);
    show(null);
  }
  // The metric at a step; null: at the last step.
  function show(at) {
    const i = at === null ? points.length - 1 : nearest(points, at);
    const [step, number] = points[i];
    const range = low && low[i] !== null && high[i] !== null ? ` [${figure(low[i])}, ${figure(high[i])}]` : "";
    const raw = at === null || line === points ? "" : ` raw ${figure(number)}`;
    value.replaceChildren(html("b", {}, figure(line[i][1])), range, raw);
    pointer.replaceChildren();
    if (at === null) return;
    pointer.append(svg("line", {class: "cursor", x1: x(step), x2: x(step), y1: top, y2: top + height}),
      svg("text", {class: "at", x: x(step), y: top + height + 16, "text-anchor": "middle"}, String(step)));
    if (number !== null) pointer.append(svg("circle", {class: "mark", cx: x(step), cy: y(line[i][1]), r: 3.4}));
  }
  chart.addEventListener("pointermove", (event) => {
    const box = chart.getBoundingClientRect();
    const share = ((event.clientX - box.left) / box.width * (left + width + 10) - left) / width;
    pointAt(Math.min(1, Math.max(0, share)) * lastStep);
  });
  chart.addEventListener("pointerleave", () => pointAt(null));
  return {draw, show, node: html("figure", {class: "curve"}, html("figcaption", {}, html("span", {class: "name", title: name}, metric.name), value), chart)};
}

// Groups of one metric become one group, at the end.
function withSinglesTogether(groups) {
  const singles = groups.filter((group) => group.metrics.length === 1);
  if (singles.length < 2) return groups;
  const full = ({name, metrics: [metric]}) => ({...metric, name: name ? `${name}/${metric.name}` : metric.name});
  return groups.filter((group) => group.metrics.length > 1).concat({name: "", metrics: singles.map(full)});
}

function curvesSection(training) {
  const charts = [];
  const pointAt = (step) => charts.forEach((chart) => chart.show(step));
  const groups = withSinglesTogether(training.curves).map((group) => {
    const own = group.metrics.map((metric) => curveChart(group.name, metric, training.last_step, pointAt));
    charts.push(...own);
    return html("details", {open: "", class: "curves"}, html("summary", {}, group.name || (training.curves.length > 1 ? "other" : "every step")), html("div", {class: "multiples"}, own.map((chart) => chart.node)));
  });
  const longest = Math.max(...training.curves.flatMap((group) => group.metrics.map((metric) => metric.points.length)));
  const weight = html("input", {id: "smoothing", type: "range", min: 0, max: 0.99, step: 0.01, value: longest > 300 ? 0.9 : 0.6});
  const cut = html("input", {id: "outliers", type: "checkbox"});
  const shown = html("output", {for: "smoothing"});
  const draw = () => {
    shown.textContent = Number(weight.value).toFixed(2);
    for (const chart of charts) chart.draw(Number(weight.value), cut.checked);
  };
  weight.addEventListener("input", draw);
  cut.addEventListener("input", draw);
  draw();
  const thinned = training.curves.some((group) => group.metrics.some((metric) => metric.stride > 1)) ? " Long curves have means of several steps as their points." : "";
  return section("Training", html("div", {class: "filters"}, html("label", {for: "smoothing"}, "Smoothing"), weight, shown, html("label", {}, cut, " scale without the outermost 1 %")), groups,
    html("p", {class: "note"}, `Horizontally: steps. Pale: the values themselves; bands: 95 % intervals.${thinned}`));
}

// The held-out figures at the start and at the end.
function evaluationTable(training) {
  const rows = [];
  for (const group of training.curves.filter((one) => one.name.startsWith("eval/")))
    for (const {name, points, low, high} of group.metrics) {
      const last = points.length - 1, [first, end] = [points[0][1], points[last][1]];
      const interval = low && low[last] !== null && high[last] !== null ? [low[last], high[last]] : null;
      rows.push(html("tr", {}, html("td", {}, `${group.name.slice(5)} ${name}`), html("td", {class: "number"}, number(first)), html("td", {class: "number"}, number(end)),
        html("td", {class: "number"}, first === null || end === null ? "–" : (end > first ? "+" : "") + number(end - first)),
        html("td", {class: "number"}, interval ? `${number(interval[0])} – ${number(interval[1])}` : "–"), html("td", {class: "wide"}, whisker(end, interval))));
    }
  if (!rows.length) return [];
  const heads = [["", "Held-out figure"], ["number", "First"], ["number", "Last"], ["number", "Change"], ["number", "95 % interval"], ["", ""]];
  return section("Evaluation", html("table", {id: "evaluation"}, html("thead", {}, html("tr", {}, heads.map(([kind, text]) => html("th", {class: kind}, text)))), html("tbody", {}, rows)));
}

