"use strict";
// Draws the report from the JSON next to it. Text of policies and tasks reaches the page as text nodes only.
const data = JSON.parse(document.getElementById("data").textContent);
const page = document.getElementById("page");

// ---- elements ----
function make(space, name, attributes, children) {
  const node = document.createElementNS(space, name);
  for (const [key, value] of Object.entries(attributes || {})) node.setAttribute(key, value);
  for (const child of [children ?? []].flat(Infinity)) node.append(child);  // strings become text nodes
  return node;
}
const html = (name, attributes, ...children) => make("http://www.w3.org/1999/xhtml", name, attributes, children);
const svg = (name, attributes, ...children) => make("http://www.w3.org/2000/svg", name, attributes, children);
const number = (value, digits = 3) => value === null || value === undefined ? "–" : value.toFixed(digits);
const section = (title, ...children) => html("section", {class: "card"}, html("h2", {}, title), children);

// The settings of the run; its provenance has its own table.
const settled = Object.fromEntries(Object.entries(data.config).filter(([key]) => key !== "provenance"));
