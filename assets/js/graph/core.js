/* The task graph in the browser: what depends on the theme or the pointer, and every gesture on the picture.
 *
 * The server sends elements with places (components/dag.py). Here: ports, stripes and markers; highlighting around the
 * pointer or the selection; selection to and from the URL; where the picture is looked at. Keys, menu, search and
 * export are in tools.js.
 */
(function () {
  "use strict";
  const ns = (window.swimscope = window.swimscope || {});
  const DEFAULTS = { show: "auto", mode: "full", dir: "lr", depth: "1", gdepth: "2", tab: "", sel: "", node: "" };
  const READABLE = 0.16;
  const MANY = 700;
  const WIDTH = 172;
  const HEIGHT = 54;
  const images = new Map();
  const places = new Map();
  let cy = null;
  let styles = null;
  let lit = [];
  let hits = new Set();
  let hovered = null;
  let focused = "";
  let marked = new Map();
  let applied = "";
  let timers = {};

  const byId = (id) => document.getElementById(id);
  const state = (key) => ns.url.get()[key] || DEFAULTS[key] || "";
  const later = (name, delay, fn) => {
    window.clearTimeout(timers[name]);
    timers[name] = window.setTimeout(fn, delay);
  };
  const calm = () => window.matchMedia("(prefers-reduced-motion: reduce)").matches;

  /* A key of the URL; the default is written as nothing. */
  function set(patch, push) {
    const next = {};
    for (const [key, value] of Object.entries(patch)) next[key] = value === DEFAULTS[key] ? null : value;
    ns.url.set(next, { push: push !== false });
  }

  /* Ports with degrees, the function's stripe and the markers, as one picture behind the label. */
  function ports(data, down) {
    const theme = ns.theme.get();
    const stack = data.blocks > 1 ? data.kind : "";
    const key = [theme, down, data.fn, data.ins, data.outs, data.fire, data.star, stack, data.count ? 1 : 0].join();
    if (!images.has(key)) images.set(key, draw(data, down));
    return images.get(key);
  }

  /* The sheets behind an SPMD task: its outline twice, moved down and right, without what the body covers. */
  function sheets(kind) {
    const outline = {
      aiv: '<ellipse cx="86" cy="27" rx="66" ry="19"/>',
      mix: '<path d="M20 27 53 8h66l33 19-33 19H53z"/>',
    };
    const body = outline[kind] || '<path d="M20 8h132v38H20z"/>';
    const paint = `fill="${ns.theme.css("--panel-2")}" stroke="${ns.theme.css("--muted")}" stroke-width="1.2"`;
    return (
      `<mask id="m"><path d="M0 0h172v54H0z" fill="#fff"/><g fill="#000" stroke="#000" stroke-width="2">${body}</g></mask>` +
      `<g mask="url(#m)" ${paint}><g transform="translate(6 6)">${body}</g><g transform="translate(3 3)">${body}</g></g>`
    );
  }

  function draw(data, down) {
    const css = ns.theme.css;
    const part = data.blocks > 1 ? [sheets(data.kind)] : [];
    if (data.fn >= 0) part.push(`<rect x="51" y="39.5" width="70" height="3.2" rx="1.6" fill="${css("--fn-" + data.fn)}"/>`);
    const port = (x, y, n) => {
      const text = n > 9999 ? Math.round(n / 1000) + "k" : String(n);
      const w = 7 + 5 * text.length;
      return (
        `<rect x="${x - w / 2}" y="${y - 6}" width="${w}" height="12" rx="6" fill="${css("--panel")}" stroke="${css("--muted")}" stroke-width="0.8"/>` +
        `<text x="${x}" y="${y + 3}" text-anchor="middle" font-family="system-ui, sans-serif" font-size="8.5" fill="${css("--muted")}">${text}</text>`
      );
    };
    if (!data.count && data.ins) part.push(down ? port(86, 8, data.ins) : port(20, 27, data.ins));
    if (!data.count && data.outs) part.push(down ? port(86, 48, data.outs) : port(152, 27, data.outs));
    if (data.fire)
      part.push('<path d="M126 0c1 4 6 5 6 10a6 6 0 0 1-12 0c0-2 1-3 2-4 0 2 1 2 2 2 0-3 0-5 2-8z" fill="#e8590c"/><path d="M126 8c1 2 3 3 3 5a3 3 0 0 1-6 0c0-2 2-3 3-5z" fill="#ffd43b"/>');
    if (data.star)
      part.push('<path d="M142 1l2.2 4.7 5.1.6-3.8 3.5 1 5.1-4.5-2.6-4.5 2.6 1-5.1-3.8-3.5 5.1-.6z" fill="#f2b705" stroke="#8a5a00" stroke-width="0.7"/>');
    const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${HEIGHT}" viewBox="0 0 ${WIDTH} ${HEIGHT}">${part.join("")}</svg>`;
    return "data:image/svg+xml;utf8," + encodeURIComponent(svg);
  }

  function dress() {
    const down = state("dir") === "tb";
    cy.batch(() => cy.nodes().forEach((node) => void node.data("ports", ports(node.data(), down))));
  }

  /* The page comes with the light stylesheet of its direction. */
  function restyle() {
    const wanted = ns.theme.get() + " " + (styles && styles.dir);
    if (!styles || !byId("graph-cy") || applied === wanted) return;
    applied = wanted;
    window.dash_clientside.set_props("graph-cy", { stylesheet: styles[ns.theme.get()] });
  }

  /* Everything within depth lines of the start nodes, before and after apart. */
  function reach(start, depth, back) {
    const nodes = new Set();
    const lines = new Set();
    let frontier = start;
    for (let step = 0; frontier.length && (depth < 0 || step < depth); step++) {
      const next = [];
      for (const node of frontier) {
        node.connectedEdges().forEach((line) => {
          const from = back ? line.target() : line.source();
          if (from.id() !== node.id()) return;
          lines.add(line.id());
          const other = back ? line.source() : line.target();
          if (nodes.has(other.id()) || start.some((one) => one.id() === other.id())) return;
          nodes.add(other.id());
          next.push(other);
        });
      }
      frontier = next;
    }
    return { nodes, lines };
  }

  /* What leads the highlighting: the selection, else the highlight of the URL. */
  const lead = () => state("sel") || state("hl");

  function chosen() {
    const sel = lead();
    const [word, rest] = [sel.slice(0, sel.indexOf(":")), sel.slice(sel.indexOf(":") + 1)];
    if (["task", "group", "gap"].includes(word)) return cy.getElementById("task:" + rest).toArray();
    if (word === "func") return cy.nodes().filter((node) => String(node.data("func")) === rest).toArray();
    if (sel === "early") return cy.nodes("[?fire], [?star]").toArray();
    return lit.map((id) => cy.getElementById(id)).filter((one) => one.length);
  }

  function highlight() {
    if (!cy) return;
    const several = !hovered && /^(func|path|chain):|^(early|chains)$/.test(lead());
    const open = cy.getElementById(state("node").replace(/^edge:(\d+)-(\d+)$/, "task:$1>task:$2"));
    const start = hovered ? [hovered] : open.length && open.isNode() ? [open] : chosen();
    const depth = several ? 0 : Number(state("depth"));
    const before = reach(start, depth, true);
    const after = reach(start, depth, false);
    const keep = new Set(start.map((one) => one.id()));
    const dim = start.length > 0 && (depth !== 0 || several);
    if (!dim && !keep.size && !open.length && !hits.size && !focused && !marked.size) return;
    const now = new Map();
    cy.elements().forEach((one) => {
      const id = one.id();
      const classes = [];
      const isBefore = before.nodes.has(id) || before.lines.has(id);
      const isAfter = after.nodes.has(id) || after.lines.has(id);
      const inside = several && one.isEdge() && keep.has(one.source().id()) && keep.has(one.target().id());
      if (isBefore) classes.push("before");
      else if (isAfter) classes.push("after");
      else if (dim && !keep.has(id) && !inside && !hits.has(id)) classes.push("dim");
      if ((!several && keep.has(id)) || id === open.id()) classes.push("here");
      if (hits.has(id)) classes.push("hit");
      if (id === focused) classes.push("focus");
      if (classes.length) now.set(id, classes.join(" "));
    });
    mark(now);
  }

  /* Only what changed is touched: a class change costs a style update. */
  function mark(now) {
    cy.batch(() => {
      for (const id of new Set([...marked.keys(), ...now.keys()])) {
        if (marked.get(id) === now.get(id)) continue;
        const one = cy.getElementById(id);
        if (!one.length) continue;
        if (marked.has(id)) one.removeClass(marked.get(id));
        if (now.has(id)) one.addClass(now.get(id));
      }
    });
    marked = now;
  }

  /* Fit everything; where that is too small to see, look at what matters at a readable size. */
  function look() {
    const target = anchor();
    cy.resize();
    cy.fit(undefined, 30);
    if (cy.zoom() > 1.25) cy.zoom(1.25) && cy.center();
    if (cy.zoom() >= READABLE && !(target.length && cy.zoom() < 0.4)) return;
    cy.zoom(0.55);
    if (target.length) cy.center(target);
    else begin();
  }

  /* The first node of the reading direction at the edge of the picture. */
  function begin() {
    const axis = state("dir") === "tb" ? "y" : "x";
    const first = cy.nodes().toArray().reduce((a, b) => (b.position(axis) < a.position(axis) ? b : a));
    cy.center(first);
    cy.panBy(axis === "x" ? { x: 100 - cy.width() / 2, y: 0 } : { x: 0, y: 60 - cy.height() / 2 });
  }

  function anchor() {
    const opened = state("exp").split(",").filter(Boolean).pop() || "";
    const found = cy.getElementById(state("sel").replace(/^(group|gap):/, "task:"));
    if (found.length) return found;
    const task = cy.getElementById(opened);
    return task.length ? task : cy.nodes().filter((node) => opened && node.id().startsWith("grp:" + opened + "."));
  }

  function show(node, force) {
    const box = cy.extent();
    const at = node.position();
    const inside = at.x > box.x1 && at.x < box.x2 && at.y > box.y1 && at.y < box.y2;
    if (inside && !force) return;
    if (calm()) cy.center(node);
    else cy.animate({ center: { eles: node }, duration: 160 });
  }

  /* Something came: the box says that it is busy until the picture shows it. */
  function soon(delay) {
    const box = byId("graph-cy");
    if (!box) return;
    box.dataset.busy = "true";
    later("arrived", delay, arrived);
  }

  /* New elements came: dress them; look again unless every node kept its place. */
  function arrived() {
    if (!cy || cy.destroyed()) return;
    if (hovered && hovered.removed()) hovered = null;
    dress();
    lighten();
    let moved = places.size !== cy.nodes().length;
    cy.nodes().forEach((node) => {
      const old = places.get(node.id());
      const now = node.position();
      moved = moved || !old || Math.abs(old.x - now.x) > 1 || Math.abs(old.y - now.y) > 1;
    });
    remember();
    if (moved) look();
    mark(new Map());
    highlight();
    const box = byId("graph-cy");
    box.dataset.ready = String(Number(box.dataset.ready || 0) + 1);
    delete box.dataset.busy;
  }

  /* Large pictures are moved as an image: the renderer's own switches, which dash-cytoscape does not pass on. */
  function lighten() {
    const many = cy.elements().length > MANY;
    Object.assign(cy.renderer(), { textureOnViewport: many, hideEdgesOnViewport: many, motionBlurEnabled: false });
  }

  function remember() {
    places.clear();
    cy.nodes().forEach((node) => void places.set(node.id(), { ...node.position() }));
  }

  /* Selection from the picture: the neighbourhood that is drawn now stays drawn. */
  function select(node) {
    const id = node.id();
    if (id.startsWith("grp:")) return set({ node: id, tab: "" });
    const before = state("sel");
    const patch = { sel: id, node: "" };
    const opened = state("exp").split(",").filter(Boolean);
    const scope = state("show");
    if (before.startsWith("task:") && before !== id && (scope === "summary" || scope === "auto" || scope === "around")) {
      const kept = cy.nodes("[?count]").length > 0 || scope === "around";
      if (kept && !opened.includes(before) && (scope !== "around" || !opened.length)) patch.exp = [...opened, before].join(",");
    }
    return set(patch);
  }

  function expand(id) {
    const item = id.replace(/^grp:/, "");
    const opened = state("exp").split(",").filter((one) => one && one !== item);
    const patch = { exp: [...opened, item].join(","), node: "" };
    if (id.startsWith("task:")) patch.sel = id;
    if (state("show") === "all" || state("show") === "path") patch.show = "summary";
    set(patch);
  }

  const close = (item) => set({ exp: state("exp").split(",").filter((one) => one && one !== item).join(",") || null });
  const around = (id) => set({ show: "around", sel: id, exp: null, node: "" });

  function tip(event, text) {
    const box = byId("graph-tip");
    if (!box) return;
    box.hidden = !text;
    if (!text) return;
    box.textContent = text;
    const at = event.renderedPosition;
    box.style.left = Math.min(at.x + 14, cy.width() - 280) + "px";
    box.style.top = Math.min(at.y + 14, cy.height() - 60) + "px";
  }

  function words(one) {
    const data = one.data();
    if (one.isEdge()) {
      const ends = one.source().data("name") + " → " + one.target().data("name");
      if (data.step) return `${ends} · ${data.step}, no edge of the file`;
      return data.n > 1 || !/^task:\d+>task:/.test(data.id) ? `${ends}: ${data.n.toLocaleString("en-US")} edges` : `${ends} · click: why`;
    }
    if (data.count) return `${data.name} · ${data.count.toLocaleString("en-US")} tasks at depth ${data.depth} · double click opens`;
    const blocks = data.blocks > 1 ? ` · SPMD ×${data.blocks}` : "";
    return `${data.name} ${data.tid} · ${data.kind.toUpperCase()}${blocks} · ${data.ins} in, ${data.outs} out`;
  }

  function attach(found) {
    cy = found;
    places.clear();
    hovered = null;
    cy.on("tap", "node", (event) => select(event.target));
    cy.on("dbltap", "node", (event) => expand(event.target.id()));
    cy.on("tap", "edge", (event) => {
      const match = /^task:(\d+)>task:(\d+)$/.exec(event.target.id());
      if (match) set({ node: `edge:${match[1]}-${match[2]}`, tab: "" });
    });
    cy.on("mouseover", "node, edge", (event) => {
      tip(event, words(event.target));
      if (event.target.isNode()) later("hover", 60, () => ((hovered = event.target), highlight()));
    });
    cy.on("mouseout", "node, edge", (event) => {
      tip(event, "");
      if (event.target.isNode()) later("hover", 60, () => ((hovered = null), highlight()));
    });
    cy.on("cxttap", (event) => ns.graph.menu(event));
    cy.on("viewport", () => ns.graph.closeMenu());
    cy.on("add remove position", () => soon(30));
    styles = stored("graph-styles") || styles;
    applied = "light " + (styles && styles.dir);
    marked = new Map();
    lit = stored("graph-lit") || [];
    restyle();
    soon(0);
    ns.graph.restart();
  }

  /* What a dcc.Store of the page holds. */
  function stored(id) {
    const part = window.dash_component_api.getLayout(id);
    return part && part.props.data;
  }

  function find() {
    const box = byId("graph-cy");
    const found = box && box._cyreg && box._cyreg.cy;
    if (!box) cy = null;
    else if (found && found !== cy) attach(found);
  }

  function press() {
    document.querySelectorAll(".graph-page .segment[data-set], .graph-page .side-tab[data-set]").forEach((button) => {
      const [key, value] = button.dataset.set.split("=");
      button.setAttribute("aria-pressed", String(state(key) === value));
    });
  }

  new MutationObserver(() => later("find", 20, find)).observe(document.documentElement, { childList: true, subtree: true });

  ns.url.on((_, changed, origin) => {
    if (!byId("graph-cy")) return;
    if (changed.includes("sel") && origin === "tab" && state("node")) set({ node: "" }, false);
    press();
    if (!cy) return;
    highlight();
    if (changed.includes("sel")) chosen().slice(0, 1).forEach((node) => show(node));
  });

  window.addEventListener("swimscope:theme", () => cy && (restyle(), dress()));

  /* Called by Dash when the server sent another stylesheet or other tasks of a chain or path. */
  window.dash_clientside = window.dash_clientside || {};
  window.dash_clientside.swimscopeGraph = {
    update(newStyles, newLit) {
      styles = newStyles;
      lit = newLit || [];
      restyle();
      if (cy) soon(30);
      press();
    },
  };

  ns.graph = {
    cy: () => cy,
    state,
    set,
    select,
    expand,
    close,
    around,
    show,
    highlight,
    words,
    look: () => cy && (cy.fit(undefined, 30), undefined),
    hits(ids) {
      hits = new Set(ids);
      highlight();
    },
    focus(id) {
      if (id !== undefined) focused = id;
      return focused;
    },
  };
})();
