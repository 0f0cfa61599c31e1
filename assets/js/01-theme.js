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

  /* crc32 of the UTF-8 bytes, multiplied modulo 2^32, upper half: components/theme.py has the same rule and the reason. */
  const MULTIPLIER = 3693442237;

  function index(name) {
    let crc = 0xffffffff;
    for (const byte of new TextEncoder().encode(name)) crc = table[(crc ^ byte) & 0xff] ^ (crc >>> 8);
    return (Math.imul(crc ^ 0xffffffff, MULTIPLIER) >>> 16) % 24;
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

  /* Themed plots of components/graph.py follow the theme: text, lines, and traces that name a variable in meta.color.
     Figures arrive in the light theme, so every new one is looked at as soon as plotly has drawn it. */
  function restyle(plot) {
    const text = css("--text");
    if (!window.Plotly || !plot.layout || !plot.layout.font || plot.layout.font.color === text) return;
    const line = css("--line");
    const muted = css("--muted");
    const patch = { "font.color": text, "legend.font.color": text };
    for (const key of Object.keys(plot.layout).filter((name) => /^[xy]axis\d*$/.test(name))) {
      for (const part of ["gridcolor", "linecolor", "zerolinecolor"]) patch[key + "." + part] = line;
      patch[key + ".tickfont.color"] = muted;
      patch[key + ".title.font.color"] = muted;
    }
    window.Plotly.relayout(plot, patch);
    plot.data.forEach((trace, at) => {
      if (!trace.meta || !trace.meta.color) return;
      window.Plotly.restyle(plot, { [trace.mode === "lines" ? "line.color" : "marker.color"]: css(trace.meta.color) }, [at]);
    });
  }

  let waiting = 0;
  function restyleSoon() {
    if (waiting) return;
    waiting = window.requestAnimationFrame(() => {
      waiting = 0;
      document.querySelectorAll(".plot-themed .js-plotly-plot").forEach(restyle);
    });
  }

  window.addEventListener("swimscope:theme", restyleSoon);
  new MutationObserver(restyleSoon).observe(document.documentElement, { childList: true, subtree: true });
})();
