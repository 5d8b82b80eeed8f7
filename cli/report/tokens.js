// ---- the credit of each token: its colour, and the figures of the token under the pointer ----
const valueAt = (column, index) => Array.isArray(column) ? column[index] : column;
const finite = (column) => [column].flat().filter((value) => value !== null);

// The largest advantage of the page, either way: full colour.
function largestAdvantage(episodes) {
  let most = 0;
  for (const episode of episodes)
    for (const turn of episode.turns)
      if (turn.credit) for (const value of finite(turn.credit.advantage)) most = Math.max(most, Math.abs(value));
  return most;
}

const advantageColor = (advantage, most) =>
  advantage ? `rgb(var(${advantage > 0 ? "--above" : "--below"}) / ${(0.65 * Math.min(1, Math.abs(advantage) / most)).toFixed(3)})` : "";

// The text of a token with visible line breaks; line breaks at the end of the segment break no line.
function tokenText(piece, endsSegment) {
  if (piece === "") return "◦";
  const shown = piece.replaceAll("\n", "↵\n");
  return endsSegment ? shown.replace(/[\n↵]*$/, (end) => end.replaceAll("\n", "")) : shown;
}

function tokenSpans(segment, credit, most) {
  const lastWritten = segment.pieces.findLastIndex((piece) => piece.replaceAll("\n", "") !== "");
  return segment.pieces.map((piece, i) => {
    const index = segment.first + i;
    const trained = valueAt(credit.weight, index) !== 0;
    const kind = `token${piece === "" ? " blank" : ""}${trained ? "" : " untrained"}`;
    const span = html("span", {class: kind, "data-index": index}, tokenText(piece, i >= lastWritten));
    if (trained) span.style.background = advantageColor(valueAt(credit.advantage, index), most);
    return span;
  });
}

// The segments of a turn with coloured tokens, and a box next to the pointer.
function creditView(turn, most, segmentLabel) {
  const tip = html("div", {class: "tip", hidden: ""});
  const rows = turn.segments.map((segment) => html("div", {class: `segment ${segment.kind}`}, html("span", {}, segmentLabel(segment)), html("pre", {}, tokenSpans(segment, turn.credit, most))));
  const view = html("div", {class: "credit"}, rows, tip);
  view.addEventListener("pointerover", (event) => {
    const token = event.target.closest(".token");
    tip.hidden = !token;
    if (!token) return;
    const index = Number(token.dataset.index);
    const text = turn.segments.map((segment) => segment.pieces[index - segment.first] ?? "").join("");
    const line = (label, value) => html("div", {}, html("b", {}, label), figure(value));
    tip.replaceChildren(html("code", {}, text === "" ? "no text of its own" : JSON.stringify(text)), html("small", {}, `token ${index + 1} of ${turn.tokens}`),
      ...["advantage", "logprob", "weight", "kl"].map((key) => line({logprob: "log-probability", kl: "KL weight"}[key] ?? key, valueAt(turn.credit[key], index))));
    const box = token.getBoundingClientRect(), frame = view.getBoundingClientRect();
    tip.style.left = `${Math.max(0, Math.min(box.left - frame.left, frame.width - 220))}px`;
    tip.style.top = `${box.bottom - frame.top + 6}px`;
  });
  view.addEventListener("pointerleave", () => { tip.hidden = true; });
  return view;
}

function creditLegend(most) {
  const steps = [-1, -0.5, 0, 0.5, 1].map((share) => {
    const box = html("i", {class: "swatch"});
    box.style.background = advantageColor(share * most, most);
    return html("span", {}, box, (share > 0 ? "+" : "") + figure(Number((share * most).toPrecision(3))));
  });
  return html("div", {class: "legend", id: "credit-legend"}, html("span", {}, "advantage:"), steps, html("span", {}, html("span", {class: "token untrained"}, "grey"), " not trained"), html("span", {}, "◦ a token without text"));
}

