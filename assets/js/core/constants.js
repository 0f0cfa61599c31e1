// @ts-check
/* What do scripts share with Python? Made by `python -m app.server.script_constants`; do not edit. */

/** colours of functions, --fn-0 and so on */
export const N_COLOURS = 24;

/** of the hash that gives a name its colour */
export const COLOUR_MULTIPLIER = 3693442237;

/** one letter per kind of item of a timeline */
export const ITEM_LETTERS = "rupohg";

/** bins of the strip of matches above the lanes */
export const MARK_BINS = 512;

/** names of marker colours in the URL */
export const MARKER_COLOURS = ["blue", "red", "green", "amber"];

/** greatest tick that a URL may name */
export const MAX_TICKS = 2305843009213693952;

/** of plotly.js below the prefix */
export const PLOTLY_PATH = "_dash-component-suites/plotly/package_data/plotly.min.js";

/** names and titles of the views of a capture */
export const TIMELINE_VIEWS = [["worker", "Worker"], ["scheduler", "Scheduler"], ["phases", "Phases"], ["orch", "Orchestrator"]];

/** tabs of the performance panel that follow the visible window */
export const WINDOWED = ["utilisation", "range"];
