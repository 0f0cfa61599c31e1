// @ts-check
/* What is our one script made of? Every room, in this order; esbuild bundles them into assets/scripts.js. */
import "./core/content.js";
import "./core/shell.js";
import "./core/chip.js";
import "./grid/cells.js";
import "./grid/buttons.js";
import "./grid/grid.js";
import "./runs/trees.js";
import "./runs/upload.js";
import "./panel/follow.js";
import "./passes/page.js";
import "./graph/tools.js";
import "./memory/map.js";
import { config } from "./core/config.js";
import * as libraries from "./core/libraries.js";
import { theme } from "./core/theme.js";
import { pageUrl } from "./core/url.js";
import { graph } from "./graph/picture.js";
import { panel } from "./panel/panel.js";
import { captureSource, shownTimeline } from "./timeline/page.js";
import "./trace/page.js";
import { Timeline } from "./timeline/timeline.js";
import "./core/selection_store.js";

/* For the console and for tests. */
window.swimscope = {
  config, url: pageUrl, theme, graph, panel, libraries, Timeline, captureSource,
  get timeline() {
    return shownTimeline();
  },
};
