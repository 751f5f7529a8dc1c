"use strict";
// The computations of the page. Nothing here knows of a page, so it runs in
// Node, too.
//
// A tree is some arrays by node. Node 0 is the root, and a node's number is
// above that of its parent. Weights are samples.

// expand undoes runs: a negative number stands for as many zeros.
function expand(runs, length) {
  const out = new Float64Array(length);
  let at = 0;
  for (const value of runs) {
    if (value < 0) at -= value;
    else if (at < length) out[at++] = value;
  }
  return out;
}

const frameFields = 6; // as data.go writes them

// decode makes what the page works with of its data.
function decode(data) {
  const count = data.parents.length + 1;
  const parent = new Int32Array(count), frame = new Int32Array(count).fill(-1);
  for (let i = 1; i < count; i++) {
    parent[i] = data.parents[i - 1];
    frame[i] = data.frameOf[i - 1];
  }
  const frames = [];
  for (let i = 0; i < data.frames.length; i += frameFields) {
    const [name, cut, tint, pkg, file, category] = data.frames.slice(i, i + frameFields);
    frames.push({ name, short: name.slice(cut), tint, pkg, file, category });
  }
  const { slots } = data.axis;
  const tracks = data.tracks.map((t) => ({ ...t, density: expand(t.density, slots), groups: decodeCells(t.cells) }));
  const lanes = data.lanes.map((l) => ({ ...l, count: expand(l.count, slots), longest: expand(l.longest, slots) }));
  return { data, parent, frame, frames, tracks, lanes, curves: data.curves, axis: data.axis, outer: outermost(parent, frame) };
}

// decodeCells lists the groups of a track: nodes and their weights.
function decodeCells(cells) {
  const groups = [];
  let group = 0;
  for (let i = 0; i < cells.length;) {
    group += cells[i];
    const n = cells[i + 1], node = new Int32Array(n), weight = new Float64Array(n);
    i += 2;
    for (let k = 0, last = 0; k < n; k++, i += 2) {
      last += cells[i];
      node[k] = last;
      weight[k] = cells[i + 1];
    }
    groups.push({ group, node, weight });
  }
  return groups;
}

// outermost says of each node whether no caller is the same function: only such
// nodes count for the total of a function that calls itself.
function outermost(parent, frame) {
  const { first, next } = children(parent);
  const outer = new Uint8Array(parent.length), depth = new Map();
  for (let node = first[0]; node;) {
    const on = depth.get(frame[node]) || 0;
    outer[node] = on ? 0 : 1;
    depth.set(frame[node], on + 1);
    if (first[node]) {
      node = first[node];
      continue;
    }
    while (node) {
      depth.set(frame[node], depth.get(frame[node]) - 1);
      if (next[node]) break;
      node = parent[node];
    }
    node = next[node];
  }
  return outer;
}

// children links each node to the first that it called and to the next that its
// caller called.
function children(parent) {
  const first = new Int32Array(parent.length), next = new Int32Array(parent.length);
  for (let node = parent.length - 1; node > 0; node--) {
    next[node] = first[parent[node]];
    first[parent[node]] = node;
  }
  return { first, next };
}

// weigh sums up the samples at each node, of some tracks, from slot from up to
// slot to.
function weigh(model, tracks, from, to) {
  const self = new Float64Array(model.parent.length);
  const size = model.axis.group;
  for (const track of tracks) {
    for (const { group, node, weight } of model.tracks[track].groups) {
      if ((group + 1) * size <= from || group * size >= to) continue;
      for (let i = 0; i < node.length; i++) self[node[i]] += weight[i];
    }
  }
  return self;
}

// callers is the tree with what was called first at the top.
function callers(model, self) {
  return layOut(model, { parent: model.parent, frame: model.frame, self });
}

// callees is the tree with what was running at the top: each node's children
// are those that called it. Samples count where their stack ends, at its root.
function callees(model, self) {
  const parent = [0], frame = [-1], ends = [self[0]];
  const known = new Map(), frames = model.frames.length;
  for (let node = 1; node < self.length; node++) {
    if (!self[node]) continue;
    let at = 0;
    for (let from = node; from; from = model.parent[from]) {
      const key = at * frames + model.frame[from];
      let to = known.get(key);
      if (to === undefined) {
        to = parent.length;
        known.set(key, to);
        parent.push(at);
        frame.push(model.frame[from]);
        ends.push(0);
      }
      at = to;
    }
    ends[at] += self[node];
  }
  return layOut(model, { parent: Int32Array.from(parent), frame: Int32Array.from(frame), self: Float64Array.from(ends) });
}

// layOut gives each node its total, its depth and how far it is from the left;
// what is heavy is on the left. rows lists the nodes of each depth from left to
// right, without those that weigh nothing.
function layOut(model, tree) {
  const { parent, frame, self } = tree, count = parent.length;
  const total = Float64Array.from(self), depth = new Int32Array(count), left = new Float64Array(count);
  for (let node = count - 1; node > 0; node--) total[parent[node]] += total[node];
  const order = [];
  for (let node = 1; node < count; node++) {
    depth[node] = depth[parent[node]] + 1;
    if (total[node] > 0) order.push(node);
  }
  const name = (node) => model.frames[frame[node]].name;
  const compare = (a, b) => (a < b ? -1 : a > b ? 1 : 0);
  order.sort((a, b) => depth[a] - depth[b] || total[b] - total[a] || compare(name(a), name(b)) || a - b);
  const used = new Float64Array(count), rows = [[0]];
  for (const node of order) {
    left[node] = left[parent[node]] + used[parent[node]];
    used[parent[node]] += total[node];
    (rows[depth[node]] ||= []).push(node);
  }
  for (const row of rows) row.sort((a, b) => left[a] - left[b]);
  return { parent, frame, self, total, depth, left, rows };
}

// within returns the part of a row that lies below a node.
function within(tree, row, root) {
  const nodes = tree.rows[row] || [], end = tree.left[root] + tree.total[root];
  return nodes.slice(bisect(tree, nodes, tree.left[root]), bisect(tree, nodes, end));
}

// bisect finds the first of a row's nodes that is not left of a place.
function bisect(tree, nodes, place) {
  let low = 0, high = nodes.length;
  while (low < high) {
    const mid = (low + high) >> 1;
    if (tree.left[nodes[mid]] < place) low = mid + 1;
    else high = mid;
  }
  return low;
}

// nodeAt finds the node of a row that covers a place; -1 is none.
function nodeAt(tree, row, place) {
  const nodes = tree.rows[row] || [];
  const i = bisect(tree, nodes, place);
  for (const node of [nodes[i], nodes[i - 1]]) {
    if (node !== undefined && tree.left[node] <= place && place < tree.left[node] + tree.total[node]) return node;
  }
  return -1;
}

// isBelow says whether a node is another or lies below it.
function isBelow(tree, node, root) {
  while (tree.depth[node] > tree.depth[root]) node = tree.parent[node];
  return node === root;
}

// match says of each frame whether a pattern finds its name, package or file.
// It throws what RegExp throws.
function match(model, pattern) {
  if (!pattern) return null;
  const find = new RegExp(pattern, "i");
  return model.frames.map((f) => find.test(f.name) || find.test(model.data.packages[f.pkg]) || find.test(model.data.files[f.file]));
}

// matchedWeight is how many samples below a node have a frame that matches.
function matchedWeight(tree, matches, root) {
  const end = tree.left[root] + tree.total[root];
  const inside = new Uint8Array(tree.parent.length);
  let sum = 0;
  for (const row of tree.rows) {
    for (const node of row) {
      if (node && inside[tree.parent[node]]) {
        inside[node] = 1;
      } else if (node && matches[tree.frame[node]]) {
        inside[node] = 1;
        // A node above the root has all of it.
        sum += Math.max(0, Math.min(end, tree.left[node] + tree.total[node]) - Math.max(tree.left[root], tree.left[node]));
      }
    }
  }
  return sum;
}

// functions lists what each function weighs, by itself and in total.
function functions(model, self) {
  const total = Float64Array.from(self), all = model.frames.map((f, frame) => ({ frame, self: 0, total: 0 }));
  for (let node = total.length - 1; node > 0; node--) {
    total[model.parent[node]] += total[node];
    const f = all[model.frame[node]];
    f.self += self[node];
    if (model.outer[node]) f.total += total[node];
  }
  return all.filter((f) => f.total > 0);
}

// percent writes a share: three digits, but not more than two of them behind
// the point.
function percent(part, whole) {
  if (!whole) return "0 %";
  const p = (100 * part) / whole;
  return p.toFixed(p >= 99.995 ? 0 : p >= 10 ? 1 : 2) + " %";
}

// duration writes milliseconds: three digits, or two units.
function duration(ms) {
  const seconds = Math.round(ms / 1000), minutes = Math.floor(seconds / 60);
  if (minutes >= 60) return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
  if (minutes >= 1) return `${minutes} min${seconds % 60 ? ` ${seconds % 60} s` : ""}`;
  const [unit, name] = [[1000, "s"], [1, "ms"], [0.001, "µs"]].find(([u]) => Math.abs(ms) >= u) || [0.000001, "ns"];
  return Number((ms / unit).toPrecision(3)) + " " + name;
}

// stepOf is a round step of time, in milliseconds, that is at least one.
function stepOf(least) {
  const power = 10 ** Math.floor(Math.log10(least)), minute = 60000, hour = 60 * minute;
  const round = least < 10000 ? [1, 2, 5, 10].map((n) => n * power)
    : [10000, 15000, 30000, minute, 2 * minute, 5 * minute, 10 * minute, 15 * minute, 30 * minute, hour, 2 * hour, 6 * hour, 12 * hour];
  return round.find((step) => step >= least) || Math.ceil(least / (24 * hour)) * 24 * hour;
}

// bytes writes a number of bytes.
function bytes(n) {
  const [unit, name] = [[2 ** 30, "GiB"], [2 ** 20, "MiB"], [2 ** 10, "KiB"]].find(([u]) => Math.abs(n) >= u) || [1, "B"];
  return Number((n / unit).toPrecision(3)) + " " + name;
}
