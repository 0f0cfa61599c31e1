/* Light or dark? System default, a switch, remembered per browser. Also the colour of a function in the browser.
 *
 * window.swimscope.theme: get() "light"|"dark", cycle(), color(name), index(name), css(variable)
 * Fires "swimscope:theme" on window when the theme changed.
 */
(function () {
  "use strict";
  const ns = (window.swimscope = window.swimscope || {});
  const KEY = "swimscope.theme";
  const system = window.matchMedia("(prefers-color-scheme: dark)");
  const table = new Uint32Array(256);
  for (let n = 0; n < 256; n++) {
    let c = n;
    for (let k = 0; k < 8; k++) c = c & 1 ? 0xedb88320 ^ (c >>> 1) : c >>> 1;
    table[n] = c >>> 0;
  }

  /* crc32 of the UTF-8 bytes, as zlib.crc32: components/theme.py uses the same rule. */
  function index(name) {
    let crc = 0xffffffff;
    for (const byte of new TextEncoder().encode(name)) crc = table[(crc ^ byte) & 0xff] ^ (crc >>> 8);
    return ((crc ^ 0xffffffff) >>> 0) % 24;
  }

  function css(variable) {
    return getComputedStyle(document.documentElement).getPropertyValue(variable).trim();
  }

  function choice() {
    const kept = localStorage.getItem(KEY);
    return kept === "light" || kept === "dark" ? kept : "system";
  }

  function apply() {
    const kept = choice();
    const now = kept === "system" ? (system.matches ? "dark" : "light") : kept;
    const changed = document.documentElement.dataset.theme !== now;
    document.documentElement.dataset.theme = now;
    document.documentElement.style.colorScheme = now;
    if (changed) window.dispatchEvent(new CustomEvent("swimscope:theme", { detail: now }));
  }

  function cycle() {
    const order = ["system", "light", "dark"];
    const next = order[(order.indexOf(choice()) + 1) % 3];
    if (next === "system") localStorage.removeItem(KEY);
    else localStorage.setItem(KEY, next);
    apply();
    return next;
  }

  system.addEventListener("change", apply);
  window.addEventListener("storage", (event) => event.key === KEY && apply());
  apply();

  ns.theme = {
    get: () => document.documentElement.dataset.theme,
    choice,
    cycle,
    index,
    color: (name) => css("--fn-" + index(name)),
    css,
  };

  /* Plots made by components/graph.py follow the theme: only text and line colours change. */
  function restyle(plot) {
    if (!window.Plotly || !plot.layout) return;
    const text = css("--text");
    const muted = css("--muted");
    const line = css("--line");
    const patch = { "font.color": text, "legend.font.color": text };
    for (const key of Object.keys(plot.layout).filter((name) => /^[xy]axis\d*$/.test(name))) {
      for (const part of ["gridcolor", "linecolor", "zerolinecolor"]) patch[key + "." + part] = line;
      patch[key + ".tickfont.color"] = muted;
      patch[key + ".title.font.color"] = muted;
    }
    window.Plotly.relayout(plot, patch);
  }

  function restyleAll() {
    document.querySelectorAll(".plot .js-plotly-plot").forEach((plot) => {
      if (plot.layout && (plot.dataset.themed || "light") !== ns.theme.get()) {
        plot.dataset.themed = ns.theme.get();
        restyle(plot);
      }
    });
  }

  window.addEventListener("swimscope:theme", restyleAll);
  /* Figures arrive in the light theme: put them right as soon as plotly has drawn them. */
  new MutationObserver(() => restyleAll()).observe(document.documentElement, { childList: true, subtree: true });
  ns.theme.restyle = restyle;
})();
