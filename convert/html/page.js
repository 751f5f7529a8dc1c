// This draws the page and answers the user. Names are put into it as text only.

const $ = (id) => document.getElementById(id);
const model = decode(JSON.parse($("data").textContent));
const rowHeight = 19, letterFont = "11.5px ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace";

// The user's choices, and what follows from them.
const state = {
  tracks: [], from: 0, to: model.axis.slots, up: false, color: "category", matches: null, sort: "self",
  self: null, tree: null, root: 0, focus: 0,
};
let theme = {};

// recount is called when other samples are to be shown, relayOut when they are
// to be shown otherwise, draw when they are to be drawn again.
function recount() {
  state.self = weigh(model, state.tracks, state.from, state.to);
  relayOut();
}

function relayOut() {
  const path = pathOf(state.root);
  state.tree = state.up ? callees(model, state.self) : callers(model, state.self);
  state.root = state.focus = follow(path);
  showTable();
  draw();
}

// pathOf and follow keep the zoom when the tree is another one.
function pathOf(node) {
  const path = [];
  for (; node && state.tree; node = state.tree.parent[node]) path.unshift(state.tree.frame[node]);
  return path;
}

function follow(path) {
  let at = 0;
  for (const frame of path) {
    const next = (state.tree.rows[state.tree.depth[at] + 1] || []).find((n) => state.tree.parent[n] === at && state.tree.frame[n] === frame);
    if (next === undefined) return at;
    at = next;
  }
  return at;
}

function draw() {
  drawStrip();
  drawGraph();
  showPath();
  showMatched();
}

// samplesText writes a number of samples, or what weights are in their place.
function samplesText(n) {
  const { of, unit } = model.data;
  if (!of) return n.toLocaleString("en-US") + (n === 1 ? " sample" : " samples");
  const digits = { maximumSignificantDigits: 3 };
  if (unit === "bytes") return `${(n / (1 << 20)).toLocaleString("en-US", digits)} MiB of ${of}`;
  if (unit === "ns") return `${(n / 1e9).toLocaleString("en-US", digits)} s of ${of}`;
  return `${n.toLocaleString("en-US")} ${unit && unit + " "}of ${of}`;
}
const nameOf = (node) => (node ? model.frames[state.tree.frame[node]].name : "all");
const shortOf = (node) => (node ? model.frames[state.tree.frame[node]].short : "all");

function colorOf(frame) {
  const f = model.frames[frame];
  return state.color === "category" ? model.data.categoryColors[f.category] : model.data.packageColors[f.pkg];
}

// ---- the graph

// surface makes a canvas as sharp as the screen, and returns what draws on it.
function surface(canvas, height) {
  const width = canvas.clientWidth, ratio = devicePixelRatio || 1;
  if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
  }
  canvas.style.height = height + "px";
  const to = canvas.getContext("2d");
  to.setTransform(ratio, 0, 0, ratio, 0, 0);
  to.clearRect(0, 0, width, height);
  return { to, width };
}

// deepest is the last row that has anything below the root of the zoom.
function deepest() {
  let row = state.tree.rows.length - 1;
  while (row > state.tree.depth[state.root] && !within(state.tree, row, state.root).length) row--;
  return row;
}

// drawGraph draws the rows that can be seen: a canvas can't be as high as a
// stack may be deep.
function drawGraph() {
  const canvas = $("graph"), all = (deepest() + 1) * rowHeight;
  $("space").style.height = all + "px";
  const height = Math.min(all, Math.ceil(innerHeight / rowHeight + 1) * rowHeight);
  const top = Math.max(0, Math.min(all - height, -$("space").getBoundingClientRect().top));
  const { to, width } = surface(canvas, height);
  canvas.style.top = "0";
  to.font = letterFont;
  to.textBaseline = "middle";
  const letter = to.measureText("0").width;
  for (let row = Math.floor(top / rowHeight); row * rowHeight < top + height; row++) {
    for (const node of visible(row)) drawBox(to, node, place(node, width), row * rowHeight - top, letter);
  }
}

// visible lists the nodes of a row: above the root of the zoom there is one.
function visible(row) {
  const { depth, parent } = state.tree;
  if (row > depth[state.root]) return within(state.tree, row, state.root);
  let node = state.root;
  while (depth[node] > row) node = parent[node];
  return [node];
}

// place is where a node's box begins and how wide it is.
function place(node, width) {
  const { tree, root } = state;
  if (tree.depth[node] <= tree.depth[root]) return { x: 0, w: width };
  const scale = width / tree.total[root];
  return { x: (tree.left[node] - tree.left[root]) * scale, w: tree.total[node] * scale };
}

const tints = [1, 0.93, 0.86, 0.79];

function drawBox(to, node, { x, w }, y, letter) {
  if (w < 0.3) return;
  const { tree, matches, root } = state, frame = tree.frame[node];
  const matched = matches && node && matches[frame], above = tree.depth[node] < tree.depth[root];
  to.globalAlpha = (node ? tints[model.frames[frame].tint] : 1) * (above ? 0.5 : 1) * (matches && !matched && node ? 0.45 : 1);
  to.fillStyle = matched ? theme.match : node ? colorOf(frame) : theme.root;
  const gap = w > 3 ? 0.7 : 0;
  to.beginPath();
  to.roundRect(x, y, Math.max(w - gap, 0.3), rowHeight - 1, w > 6 ? 2 : 0);
  to.fill();
  if (node === state.focus && node !== root) {
    to.globalAlpha = 1;
    to.strokeStyle = theme.text;
    to.lineWidth = 1.5;
    to.stroke();
  }
  const room = Math.floor((w - 8) / letter);
  if (room >= 3) {
    to.globalAlpha = above ? 0.75 : 1;
    to.fillStyle = matched ? "#fff" : theme.ink;
    to.fillText(fit(to, shortOf(node), room, w - 8), x + 4, y + rowHeight / 2);
  }
}

// fit cuts a text to a width; room is how many letters that is for most.
function fit(to, text, room, width) {
  if (text.length <= room / 2 || to.measureText(text.slice(0, room + 1)).width <= width && text.length <= room) return text;
  let n = Math.min(room, text.length);
  while (n > 1 && to.measureText(text.slice(0, n) + "…").width > width) n--;
  return text.slice(0, n) + "…";
}

// hit is the node at a place of the canvas, -1 if there is none.
function hit(event) {
  const box = $("graph").getBoundingClientRect(), { tree, root } = state;
  const row = Math.floor((event.clientY - $("space").getBoundingClientRect().top) / rowHeight);
  if (row <= tree.depth[root]) return row < 0 ? -1 : visible(row)[0];
  return nodeAt(tree, row, tree.left[root] + ((event.clientX - box.left) / box.width) * tree.total[root]);
}

function zoom(node) {
  state.root = state.focus = node;
  hideTip();
  draw();
}

// showPath names where the zoom is.
function showPath() {
  const path = [];
  for (let node = state.root; node; node = state.tree.parent[node]) path.unshift(node);
  const nav = $("path");
  nav.replaceChildren();
  const most = 4;
  const shown = path.length > most ? [path[0], null, ...path.slice(-most + 1)] : path;
  if (state.root) nav.append(crumb(0, "all"));
  for (const node of shown.slice(0, -1)) nav.append("›", node === null ? "…" : crumb(node, shortOf(node)));
  if (state.root) nav.append("›");
  const here = document.createElement("strong");
  here.textContent = nameOf(state.root);
  const all = state.tree.total[0], n = state.tree.total[state.root];
  nav.append(here, ` ${samplesText(n)}${state.root ? ", " + percent(n, all) : ""}`);
}

function crumb(node, text) {
  const button = document.createElement("button");
  button.type = "button";
  button.textContent = text;
  button.onclick = () => zoom(node);
  return button;
}

// showLegend names the colours, those of most samples first.
function showLegend() {
  const category = state.color === "category", weights = new Map();
  for (const f of functions(model, state.self)) {
    const id = category ? model.frames[f.frame].category : model.frames[f.frame].pkg;
    weights.set(id, (weights.get(id) || 0) + f.self);
  }
  const [names, colors] = category ? [model.data.categories, model.data.categoryColors] : [model.data.packages, model.data.packageColors];
  const all = state.tree.total[0];
  $("legend").replaceChildren(...[...weights].filter(([, n]) => n > 0).sort((a, b) => b[1] - a[1] || a[0] - b[0]).slice(0, 8).map(([id, n]) => {
    const entry = document.createElement("span"), swatch = document.createElement("i");
    swatch.style.background = colors[id];
    entry.append(swatch, `${names[id] || "labels"} ${percent(n, all)}`);
    return entry;
  }));
}

// ---- what is said of a node

function showTip(node, event) {
  const tip = $("tip"), { tree } = state, f = model.frames[tree.frame[node]];
  const title = document.createElement("b");
  title.textContent = nameOf(node);
  tip.replaceChildren(title);
  const say = (text) => tip.append(Object.assign(document.createElement("span"), { textContent: text }));
  const all = tree.total[0], zoomed = state.root && isBelow(tree, node, state.root) && node !== state.root;
  say(`${samplesText(tree.total[node])}, ${percent(tree.total[node], all)} of all` +
    (zoomed ? `, ${percent(tree.total[node], tree.total[state.root])} of ${shortOf(state.root)}` : ""));
  if (!state.up) say(`by itself ${samplesText(tree.self[node])}, ${percent(tree.self[node], all)}`);
  if (f) say([model.data.packages[f.pkg], model.data.files[f.file], model.data.categories[f.category]].filter(Boolean).join(" · "));
  placeTip(event);
}

// placeTip shows the tip beside the pointer, or, for fingers and keys, below.
function placeTip(event) {
  const tip = $("tip");
  tip.hidden = false;
  tip.classList.toggle("docked", !event);
  tip.style.left = tip.style.top = "";
  if (!event) return;
  const { width, height } = tip.getBoundingClientRect();
  tip.style.left = Math.max(8, Math.min(event.clientX + 14, innerWidth - width - 8)) + "px";
  tip.style.top = (event.clientY + 18 + height > innerHeight ? Math.max(8, event.clientY - height - 12) : event.clientY + 18) + "px";
}

function hideTip() { $("tip").hidden = true; }

// ---- the strip

const stripHeight = 92, laneTop = 62, laneHeight = 12, tickTop = 78;

function drawStrip() {
  if (model.axis.slots === 1) return;
  const canvas = $("strip"), { to, width } = surface(canvas, stripHeight), { slots } = model.axis;
  const scale = width / slots;
  drawDensity(to, width);
  drawLane(to, scale);
  if (state.from > 0 || state.to < slots) {
    to.fillStyle = theme.veil;
    to.fillRect(0, 0, state.from * scale, tickTop);
    to.fillRect(state.to * scale, 0, width, tickTop);
    to.fillStyle = theme.accent;
    for (const slot of [state.from, state.to]) to.fillRect(slot * scale - 1, 0, 2, tickTop);
  }
  drawCurve(to, scale);
  drawTicks(to, width);
  showRange();
}

// drawDensity shows how many samples there are when, in bars so wide that some
// samples are in each.
function drawDensity(to, width) {
  const { slots } = model.axis, all = new Float64Array(slots);
  for (const track of state.tracks) model.tracks[track].density.forEach((n, i) => (all[i] += n));
  const sum = all.reduce((a, b) => a + b, 0);
  const size = 2 ** Math.max(0, Math.min(4, Math.ceil(Math.log2((slots * 6) / Math.max(sum, 1))))), bars = new Float64Array(slots / size);
  all.forEach((n, i) => (bars[Math.floor(i / size)] += n));
  const most = bars.reduce((a, b) => Math.max(a, b), 1), step = width / bars.length;
  to.fillStyle = theme.density;
  bars.forEach((n, i) => {
    const height = (n / most) * (laneTop - 14);
    to.fillRect(i * step, laneTop - 4 - height, Math.max(step - (step > 3 ? 0.7 : 0), 0.6), height);
  });
}

// drawLane shows the markers of an event: how many there are where.
function drawLane(to, scale) {
  const lanes = $("lane").value === "" ? model.lanes : [model.lanes[$("lane").value]];
  if (!lanes.length) return;
  for (const lane of lanes) {
    const most = Math.log1p(lane.count.reduce((a, b) => Math.max(a, b), 0)) || 1;
    to.fillStyle = theme.accent;
    lane.count.forEach((n, i) => {
      if (!n) return;
      to.globalAlpha = lanes.length === 1 ? 0.25 + (0.75 * Math.log1p(n)) / most : Math.min(0.5, 0.12 + (0.4 * Math.log1p(n)) / most / Math.sqrt(lanes.length));
      to.fillRect(i * scale, laneTop, Math.max(scale - 0.3, 1), laneHeight);
    });
  }
  to.globalAlpha = 1;
}

// points are the values of a counter: of one that counts up, the growth since
// the slot before.
function points(curve) {
  const out = [];
  for (let i = 0, last = null; i < curve.values.length; i += 2) {
    const value = curve.values[i + 1];
    if (!curve.total) out.push([curve.values[i], value]);
    else if (last !== null) out.push([curve.values[i], Math.max(0, value - last)]);
    last = value;
  }
  return out;
}

function drawCurve(to, scale) {
  const curve = model.curves[$("curve").value];
  if (!curve) return;
  const all = points(curve), low = Math.min(0, ...all.map((p) => p[1])), high = Math.max(...all.map((p) => p[1]), low + 1e-9);
  const y = (value) => laneTop - 6 - ((value - low) / (high - low)) * (laneTop - 18);
  to.strokeStyle = to.fillStyle = theme.curve;
  to.lineWidth = 1.5;
  to.beginPath();
  all.forEach(([slot, value], i) => (i ? to.lineTo((slot + 0.5) * scale, y(value)) : to.moveTo((slot + 0.5) * scale, y(value))));
  to.stroke();
  to.font = "11px system-ui, sans-serif";
  to.textBaseline = "top";
  to.fillText(`${curve.name} up to ${quantity(curve, high)}`, 6, 3);
}

function quantity(curve, value) {
  if (curve.bytes) return bytes(value);
  return curve.nanoseconds ? duration(value / 1e6) : Number(value.toPrecision(4)).toLocaleString("en-US");
}

// drawTicks writes times since the start, at round steps.
function drawTicks(to, width) {
  const span = model.axis.slots * model.axis.width;
  if (!span) return;
  const step = stepOf((span * 90) / width);
  to.fillStyle = theme.soft;
  to.font = "11px system-ui, sans-serif";
  to.textBaseline = "top";
  for (let at = 0; at < span; at += step) {
    const x = (at / span) * width;
    to.fillRect(x, tickTop, 1, 4);
    if (x < width - 50) to.fillText(at ? duration(at) : "0", x + 4, tickTop + 2);
  }
}

function showRange() {
  const { width, start, slots } = model.axis, from = state.from * width, to = state.to * width;
  const whole = state.from === 0 && state.to === slots;
  const clock = new Date(start + from);
  $("range").textContent = whole || Number.isNaN(clock.getTime()) ? "drag below to select a time" : `${duration(from)} – ${duration(to)} (${duration(to - from)}), from ${clock.toISOString().slice(11, 23)} UTC`;
  $("whole").hidden = whole;
}

// select chooses a range of slots, widened to what samples are counted by.
function select(from, to) {
  const { slots, group } = model.axis, low = Math.min(from, to), high = Math.max(from, to);
  state.from = Math.max(0, Math.floor(low / group) * group);
  state.to = Math.min(slots, Math.max(state.from + group, Math.ceil(high / group) * group));
  recount();
}

const slotAt = (event) => {
  const box = $("strip").getBoundingClientRect();
  return Math.max(0, Math.min(model.axis.slots, ((event.clientX - box.left) / box.width) * model.axis.slots));
};

// sayOfSlot says what happened at a moment.
function sayOfSlot(event) {
  const slot = Math.min(model.axis.slots - 1, Math.floor(slotAt(event))), tip = $("tip");
  const title = document.createElement("b");
  title.textContent = `${duration(slot * model.axis.width)} after the start`;
  tip.replaceChildren(title);
  const say = (text) => tip.append(Object.assign(document.createElement("span"), { textContent: text }));
  say(samplesText(state.tracks.reduce((sum, t) => sum + model.tracks[t].density[slot], 0)));
  const chosen = $("lane").value;
  const here = model.lanes.filter((l, i) => l.count[slot] && (chosen === "" || i === +chosen)).sort((a, b) => b.longest[slot] - a.longest[slot] || b.count[slot] - a.count[slot]);
  for (const lane of here.slice(0, 6)) {
    say(`${lane.count[slot].toLocaleString("en-US")} × ${lane.name}${lane.longest[slot] ? `, longest ${duration(lane.longest[slot] / 1e6)}` : ""}`);
  }
  if (here.length > 6) say(`and markers of ${here.length - 6} other events`);
  const curve = model.curves[$("curve").value];
  const point = curve && points(curve).filter((p) => p[0] <= slot).pop();
  if (point) say(`${curve.name} ${quantity(curve, point[1])}`);
  placeTip(event);
}

// ---- search and table

function search() {
  const input = $("search");
  try {
    state.matches = match(model, input.value);
    input.classList.remove("wrong");
    input.setCustomValidity("");
  } catch (error) {
    state.matches = null;
    input.classList.add("wrong");
    input.setCustomValidity(error.message);
  }
  showTable();
  drawGraph();
  showMatched();
}

function showMatched() {
  const { matches, tree, root } = state;
  $("matched").textContent = $("search").validationMessage ? "not a regular expression" : matches ? percent(matchedWeight(tree, matches, root), tree.total[root]) : "";
}

function showTable() {
  showLegend();
  const all = state.tree.total[0], by = state.sort;
  const list = functions(model, state.self).filter((f) => !state.matches || state.matches[f.frame]);
  list.sort((a, b) => b[by] - a[by] || b.self - a.self || b.total - a.total || a.frame - b.frame);
  for (const button of document.querySelectorAll("#functions th button")) button.setAttribute("aria-pressed", button.dataset.by === by);
  $("functions").querySelector("tbody").replaceChildren(...list.slice(0, 100).map((f) => {
    const row = document.createElement("tr");
    for (const [i, text] of [f.self.toLocaleString("en-US"), percent(f.self, all), f.total.toLocaleString("en-US"), percent(f.total, all), model.frames[f.frame].name].entries()) {
      const cell = row.insertCell();
      cell.textContent = text;
      if (i < 4) cell.className = "n";
    }
    row.onclick = () => {
      const name = model.frames[f.frame].name;
      $("search").value = "^" + name.replace(/[.*+?^${}()|[\]\\\/]/g, "\\$&") + "$";
      search();
    };
    return row;
  }));
}

// ---- what is there to choose

function option(select, value, text) {
  select.append(Object.assign(document.createElement("option"), { value, textContent: text }));
}

// fillChoices lists all tracks, then each process with its own, by weight.
function fillChoices() {
  const weights = model.tracks.map((t) => t.density.reduce((a, b) => a + b, 0)), all = weights.reduce((a, b) => a + b, 0);
  const sum = (tracks) => tracks.reduce((n, t) => n + weights[t], 0);
  option($("track"), "all", `all (${samplesText(all)})`);
  model.data.processes.forEach((title, process) => {
    const own = model.tracks.map((t, i) => i).filter((i) => model.tracks[i].process === process);
    if (!own.length) return;
    const group = document.createElement("optgroup");
    group.label = title;
    if (own.length > 1) option(group, "p" + process, `all of the process ${percent(sum(own), all)}`);
    for (const i of own.sort((a, b) => weights[b] - weights[a] || a - b)) option(group, "t" + i, `${model.tracks[i].name} ${percent(weights[i], all)}`);
    $("track").append(group);
  });
  model.tracks.forEach((t, i) => t.process < 0 && option($("track"), "t" + i, `${t.name} ${percent(weights[i], all)}`));
  if (model.data.categories.length < 2) state.color = $("color").value = "package";
  option($("lane"), "", model.lanes.length ? "all" : "none");
  model.lanes.forEach((l, i) => option($("lane"), i, `${l.name} (${l.rows.toLocaleString("en-US")})`));
  option($("curve"), "", model.curves.length ? "choose one" : "none");
  const several = model.data.processes.length > 1;
  model.curves.forEach((c, i) => option($("curve"), i, c.name + (several ? " · " + model.data.processes[c.process] : "")));
}

function chooseTracks() {
  const value = $("track").value, number = +value.slice(1);
  state.tracks = model.tracks.map((t, i) => i).filter((i) => value === "all" || (value[0] === "p" ? model.tracks[i].process === number : i === number));
  recount();
}

function showHead() {
  const { title, range, processCount, losses, ledger } = model.data;
  $("title").textContent = title;
  $("facts").textContent = [range, processCount, samplesText(model.tracks.reduce((n, t) => n + t.density.reduce((a, b) => a + b, 0), 0))].join(" · ");
  const box = $("losses");
  box.hidden = !ledger.length;
  box.classList.toggle("bad", !!losses);
  box.querySelector("summary").textContent = losses ? "Missing: " + losses : "No losses are known; what is not certain";
  for (const line of ledger) {
    const row = box.querySelector("tbody").insertRow(), [severity, process, count, what, why, where] = line;
    for (const text of [severity, process, count.toLocaleString("en-US"), what, why, where]) row.insertCell().textContent = text;
    row.cells[2].className = "n";
  }
}

function readTheme() {
  const style = getComputedStyle(document.documentElement);
  for (const name of ["text", "soft", "accent", "density", "curve", "veil", "root", "match", "ink"]) theme[name] = style.getPropertyValue("--" + name).trim();
}

// ---- answers

// step moves the focus of the keyboard.
function step(key) {
  const { tree, root } = state, focus = state.focus;
  const row = visible(tree.depth[focus]), at = row.indexOf(focus);
  const to = {
    ArrowUp: () => tree.parent[focus],
    ArrowDown: () => within(tree, tree.depth[focus] + 1, focus)[0],
    ArrowLeft: () => row[at - 1],
    ArrowRight: () => row[at + 1],
  }[key]();
  if (to === undefined) return;
  state.focus = to;
  if (!isBelow(tree, to, root)) state.root = to;
  draw();
  showTip(to);
}

function onGraphKey(event) {
  if (event.key.startsWith("Arrow")) step(event.key);
  else if (event.key === "Enter" || event.key === " ") zoom(state.focus);
  else return;
  event.preventDefault();
}

function onStripKey(event) {
  const { slots, group } = model.axis, size = Math.max(group, Math.ceil(slots / 64 / group) * group);
  const way = { ArrowLeft: -size, ArrowRight: size }[event.key];
  if (!way) return;
  event.preventDefault();
  if (state.from === 0 && state.to === slots) select(0, 4 * size);
  else if (event.shiftKey) select(state.from, Math.max(state.from + group, state.to + way));
  else if (state.from + way >= 0 && state.to + way <= slots) select(state.from + way, state.to + way);
}

function onKey(event) {
  const typing = /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName);
  if (event.key === "Escape") {
    hideTip();
    if (event.target === $("search") && $("search").value) {
      $("search").value = "";
      search();
    } else if (event.target === $("strip")) select(0, model.axis.slots);
    else zoom(0);
  } else if (typing || event.ctrlKey || event.metaKey || event.altKey) return;
  else if (event.key === "/") {
    event.preventDefault();
    $("search").focus();
  } else if (event.key === "i") change("view", state.up ? "down" : "up");
  else if (event.key === "c") change("color", state.color === "category" ? "package" : "category");
}

function change(id, value) {
  $(id).value = value;
  $(id).dispatchEvent(new Event("change"));
}

function listen() {
  const graph = $("graph"), strip = $("strip");
  $("track").onchange = chooseTracks;
  $("view").onchange = () => { state.up = $("view").value === "up"; state.root = 0; relayOut(); };
  $("color").onchange = () => { state.color = $("color").value; showLegend(); drawGraph(); };
  $("lane").onchange = $("curve").onchange = drawStrip;
  $("search").oninput = search;
  $("whole").onclick = () => select(0, model.axis.slots);
  for (const button of document.querySelectorAll("#functions th button")) button.onclick = () => { state.sort = button.dataset.by; showTable(); };
  graph.onpointermove = (event) => {
    if (event.pointerType === "touch") return;
    const node = hit(event);
    if (node < 0) hideTip();
    else showTip(node, event);
    graph.style.cursor = node < 0 ? "default" : "pointer";
  };
  graph.onpointerleave = strip.onpointerleave = (event) => { if (event.pointerType !== "touch") hideTip(); };
  let tapped = -1; // with a finger, the first tap tells and the second zooms
  graph.onclick = (event) => {
    const node = hit(event);
    if (node < 0) return hideTip();
    if (event.pointerType === "touch" && tapped !== node) {
      tapped = state.focus = node;
      drawGraph();
      return showTip(node);
    }
    tapped = -1;
    zoom(node);
  };
  graph.onkeydown = onGraphKey;
  graph.onblur = hideTip;
  let anchor = null, moved = false;
  strip.onpointerdown = (event) => { anchor = slotAt(event); moved = false; strip.setPointerCapture(event.pointerId); };
  strip.onpointermove = (event) => {
    if (anchor === null) return sayOfSlot(event);
    if (Math.abs(slotAt(event) - anchor) * strip.clientWidth < 3 * model.axis.slots && !moved) return;
    moved = true;
    hideTip();
    select(anchor, slotAt(event));
  };
  strip.onpointerup = (event) => { anchor = null; if (!moved && event.pointerType === "touch") sayOfSlot(event); };
  strip.onpointercancel = () => { anchor = null; };
  strip.ondblclick = () => select(0, model.axis.slots);
  strip.onkeydown = onStripKey;
  document.onkeydown = onKey;
  addEventListener("resize", draw);
  addEventListener("scroll", () => { hideTip(); drawGraph(); }, { passive: true });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { readTheme(); draw(); });
}

readTheme();
showHead();
fillChoices();
listen();
$("timeline").hidden = model.axis.slots === 1;
chooseTracks();
