"use strict";
// Zoom and search in the picture. Its boxes have the number of their node (data-n) and their whole
// label (data-l); the boxes of one node are those of the base and of the new set.

const $ = (id) => document.getElementById(id);
const svg = document.querySelector("#picture svg"), margin = 20, inner = 1600 - 2 * margin, letter = 6.9;
const number = (element, name) => Number(element.getAttribute(name));

const boxes = [...svg.querySelectorAll("g[data-n]")].map((g) => {
  const rect = g.querySelector("rect");
  return { g, rect, text: g.querySelector("text"), node: g.dataset.n, label: g.dataset.l, x: number(rect, "x"), y: number(rect, "y"), w: number(rect, "width") };
});
const rootRows = boxes.filter((b) => b.node === "0").map((b) => b.y); // of the base, of the new set
const sides = [boxes.filter((b) => b.y <= rootRows[0]), boxes.filter((b) => b.y >= rootRows[1])];
let zoomed = "0";

// fit writes as much of a label as a box of that place has room for.
function fit(b, x, w) {
  const room = Math.floor((w - 9) / letter);
  if (!b.text && room >= 3) b.text = b.g.appendChild(document.createElementNS(svg.namespaceURI, "text"));
  if (!b.text) return;
  b.text.setAttribute("x", x + 4);
  b.text.setAttribute("y", b.y + 13);
  b.text.textContent = room < 3 ? "" : b.label.length <= room ? b.label : b.label.slice(0, room - 1) + "…";
}

// zoom makes a node as wide as the picture, on the side where it is wider, at one scale for both. A
// side that does not have it stays empty, but for its callers.
function zoom(node) {
  const targets = sides.map((side) => side.find((b) => b.node === node));
  const scale = inner / Math.max(...targets.map((t) => (t ? t.w : 0)));
  zoomed = node;
  $("whole").hidden = node === "0";
  sides.forEach((side, i) => side.forEach((b) => {
    const t = targets[i], slack = 0.2;
    const inside = t && b.x >= t.x - slack && b.x + b.w <= t.x + t.w + slack && Math.abs(b.y - rootRows[i]) >= Math.abs(t.y - rootRows[i]);
    const above = t && !inside && b.x <= t.x + slack && b.x + b.w >= t.x + t.w - slack && Math.abs(b.y - rootRows[i]) < Math.abs(t.y - rootRows[i]);
    b.g.style.display = inside || above ? "" : "none";
    b.g.classList.toggle("above", Boolean(above));
    const x = inside ? margin + (b.x - t.x) * scale : margin, w = inside ? b.w * scale : inner;
    b.rect.setAttribute("x", x);
    b.rect.setAttribute("width", w);
    fit(b, x, w);
  }));
}

const boxOf = (event) => boxes.find((b) => b.g === event.target.closest("g[data-n]"));
svg.addEventListener("click", (event) => {
  const b = boxOf(event);
  if (b) zoom(b.node === zoomed ? "0" : b.node);
});
svg.addEventListener("pointerover", (event) => {
  const b = boxOf(event);
  if (b) $("facts").textContent = b.g.querySelector("title").textContent;
});
for (const row of document.querySelectorAll("tr[data-n] button")) {
  row.addEventListener("click", () => {
    zoom(row.closest("tr").dataset.n);
    svg.scrollIntoView({ block: "nearest" });
  });
}
$("whole").addEventListener("click", () => zoom("0"));
$("search").addEventListener("input", () => {
  const part = $("search").value.toLowerCase();
  for (const b of boxes) b.g.classList.toggle("other", part !== "" && !b.g.querySelector("title").textContent.toLowerCase().split(":")[0].includes(part));
});
document.addEventListener("keydown", (event) => {
  if (event.key === "Escape") zoom("0");
  else if (event.key === "/" && event.target !== $("search")) {
    event.preventDefault();
    $("search").focus();
  }
});
