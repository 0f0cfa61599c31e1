/* What can be drawn or highlighted from a table's row? Entries for its menu, on every page. */
(function () {
  "use strict";
  const ns = (window.swimscope = window.swimscope || {});
  const escape = (item) => item.replace(/%/g, "%25").replace(/,/g, "%2C");
  const here = () => ns.url.place().page === "swimlane" && ns.timeline.s;

  /* Put a change of the URL where the swimlane shows it: here, or on its page. */
  function apply(patch) {
    if (here()) ns.url.set({ ...patch, item: null }, { push: true });
    else ns.url.go(ns.url.href("swimlane", patch));
  }

  async function drawing(kind, task) {
    const { launch, kind: path, untimed } = ns.url.get();
    const query = new URLSearchParams({ task, launch: launch || "0", kind: path || "", untimed: untimed || "" });
    const address = ns.config.prefix + "api/r/" + encodeURIComponent(ns.url.place().run) + "/draw/" + kind + "?" + query;
    const response = await fetch(address);
    const found = await response.json();
    if (!response.ok) throw new Error(found.error || response.statusText);
    return found;
  }

  /* Markers are added to those there are; the same marker is not put twice. */
  function withMarkers(added) {
    const known = (ns.url.get().mk || "").split(",").filter(Boolean);
    const fresh = added.map(({ tick, color, label }) => escape(tick + ":" + color + ":" + label));
    return [...new Set([...known, ...fresh])].sort((a, b) => parseInt(a, 10) - parseInt(b, 10)).join(",");
  }

  async function draw(kind, data, extra) {
    try {
      const found = await drawing(kind, data.sel.slice(data.sel.indexOf(":") + 1));
      apply({ sel: data.sel, hl: data.hl || null, mk: withMarkers(found.markers), t0: found.t0, t1: found.t1, y: null, ...extra });
      ns.say(found.title, found.markers.map((marker) => marker.label).join(" → "), "info");
    } catch (error) {
      ns.say("This cannot be drawn", error.message, "warn");
    }
  }

  function pinned(core) {
    const known = (ns.url.get().pin || "").split(",").filter(Boolean);
    return [...new Set([...known, "core:" + core])].join(",");
  }

  const scheduler = { view: "scheduler", pin: null, hide: null };
  const whole = { t0: null, t1: null, y: null };

  /* [[text, action], …] for the row of a table. */
  ns.rowActions = (data) => {
    const { sel = "", hl = "" } = data;
    const out = [];
    if (sel.startsWith("gap:")) out.push(["Draw the preceding gap as two markers", () => draw("gap", data)]);
    if (hl === "early" && sel.startsWith("task:")) {
      out.push(["Draw maximum lead (scheduler view)", () => draw("lead", data, scheduler)]);
      out.push(["Highlight all early-dispatch targets", () => apply({ hl, ...whole })]);
    }
    if (hl.startsWith("path:")) out.push(["Highlight the whole path", () => apply({ sel: hl, hl, ...whole })]);
    if (sel.startsWith("func:")) out.push(["Highlight the function in the swimlane", () => apply({ sel, hl: sel, ...whole })]);
    if (sel.startsWith("chain:")) {
      out.push(["Highlight the chain in the swimlane", () => apply({ sel, hl: sel, ...whole })]);
      out.push(["Highlight all chains", () => apply({ hl: "chains", ...whole })]);
    }
    if (!sel && Number.isInteger(data.core_id) && data.core_id >= 0) {
      out.push(["Pin the core's lane in the swimlane", () => apply({ pin: pinned(data.core_id), y: null })]);
    }
    return out;
  };
})();
