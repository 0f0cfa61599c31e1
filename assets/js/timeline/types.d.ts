// What do the parts of a timeline share? State, server answers, the source, and what each part offers to the others.
import type { State } from "../core/query.js";
import type { Listener } from "../core/url.js";
import type { Marker } from "./marker_text.js";
import type { Row } from "./rows.js";

export interface Box { top: number; bottom: number; whole: boolean }
export interface Lane { key: string; label: string; group: string; number: number; track: number; rows: number; items: number; classes: number[] }
export interface Class { kind: number; value: number; name: string }

/** First answer of the server: what the lanes are, and an overview of the whole. */
export interface Info {
  span: [number, number];
  ticks_per_us: number;
  lanes: Lane[];
  classes: Class[];
  views: Record<string, string>;
  graph_tasks: number[];
  overview: number[];
  overview_peak: number;
  /** Only traces: counter series by number. */
  counters?: { process: string; name: string; series: string; samples: number }[];
}

/** One item as the server describes it. */
export interface Item {
  found: boolean; item: string; name: string; label: string; lane: string; task_id: string | null; track: number;
  start: number; middle: number; end: number;
  /** The selection that names it, where the source has its own. */
  sel?: string;
}

/** A decoded window message: bars and setup in ticks after `base`, scaled by 2**shift; cells of 2**level ticks. */
export interface WindowData {
  base: number; shift: number; level: number; cell0: number; cells: number; none: number;
  n_shown: number; n_total: number; bar_ticks: number; wanted_bar_ticks: number;
  tracks: number[]; trackAt: Map<number, number>;
  bar_offsets: Uint32Array; bar_start: Uint32Array; bar_length: Uint32Array; bar_cls: Uint16Array; bar_kind: Uint8Array; bar_index: Uint32Array;
  setup_bar: Uint32Array; setup_length: Uint32Array; label_bar: Uint32Array; label_low: Uint32Array; label_high: Uint32Array;
  cls: Uint16Array; busy: Uint8Array;
}

export interface Kept { key: string; level: number; low: number; high: number; set: Set<number>; data: WindowData }
export interface Current { base: Kept | null; high: Kept | null; hl: string }
export interface Hit {
  track: number; kind: "bar" | "density" | "empty"; tick: number; start: number; end: number;
  data?: WindowData; i?: number; item?: string; name?: string; unnamed?: boolean;
}
export interface Place { left: number; top: number; tick: number; track: number }
export interface Palette {
  slots: string[]; rgb: number[][]; ink: string[]; bg: string; panel: string; "panel-2": string; text: string; muted: string; line: string;
  accent: string; danger: string; warn: string; ok: string; focus: string; selected: string;
  [name: string]: string | string[] | number[][];
}

/** Where a timeline's answers come from and what can be done with them. Another kind of data is another source. */
export interface Source {
  /** Key of what is shown. */
  run: string;
  /** Name of the page on the key sheet. */
  page: string;
  /** Where the state of the view is kept: the page's URL, or a store of its own. */
  view: { get(): State; set(patch: Record<string, unknown>, options?: { push?: boolean }): void; on(listener: Listener): () => void };
  /** Names of the views; the first is the default. */
  views: string[];
  /** One letter per kind of item, in the order of `bar_kind`. */
  letters: string;
  /** The letter of items without length, drawn as markers; "" where there are none. */
  moments: string;
  /** Names of the label modes; the first is the default. */
  labels: string[];
  /** The selection that names an item, or null. */
  selection(item: Item): string | null;
  /** Whether a selection names several things that are all highlighted. */
  several(sel: string): boolean;
  /** What there is besides lanes: tasks to select, maximum lead, single-dependency chains, other pages. */
  can: { tasks: boolean; lead: boolean; chain: boolean; pages: boolean };
  /** The part of a state that every question carries. */
  query(state: State): Record<string, string>;
  /** Address of an answer: info, window, item, near, cell, marks, select, search, range, visible.csv, trace.json. */
  address(path: string, query: Record<string, string | number>): string;
  /** The answer that was asked for before the page was there, or null. */
  first(place: string): Promise<Info | null>;
  /** Whether a link led here: the window then moves to the selection. */
  linked(): boolean;
  /** What the details panel describes (goes into dcc.Store "<name>-focus"); null where there is no panel. */
  focus(state: State): Record<string, unknown> | null;
  title(): string;
  viewTitle(state: State): string;
  open(page: string, patch: Record<string, string>): void;
  /** Open or close the panel beside the lanes. */
  panel(): void;
}

/** State of one timeline. Times in ticks after the zero, places in pixels. `info` is there once `ready`. */
export interface TimelineState {
  run: string; url: State; info: Info; ready: boolean; win: [number, number]; y: number; width: number; height: number;
  rows: Row[]; scrollRows: Row[]; hiddenLanes: Lane[]; pinPx: number; contentPx: number; laneOfTrack: Map<number, Row>;
  slots: number[]; graphTasks: Set<number>;
  selection: any; highlight: any; found: any;
  hover: Hit | null; pointer: { x: number; y: number; tick: number } | null;
  drawn: { win: [number, number]; y: number; width: number } | null;
  lastItem: Item | null; measuring: [number, number] | null; movedAt: number;
  off: () => void; observer: ResizeObserver;
}

type Query = Record<string, string | number>;
type How = "gesture" | "step" | "quiet";
type Inputs = "search" | "filter" | "marker-label" | "marker-color";
type Buttons = "search-next" | "search-prev";
type Canvases = "canvas" | "overview-canvas";

export interface Timeline {
  root: HTMLElement; source: Source; name: string; parts: (() => void)[]; ended: (() => void)[]; s: TimelineState;
  windowListeners: Set<(t0: number, t1: number, how: string) => void>;
  el(part: Inputs): HTMLInputElement;
  el(part: Buttons): HTMLButtonElement;
  el(part: Canvases): HTMLCanvasElement;
  el(part: "keys"): HTMLDialogElement;
  el(part: "export"): HTMLDetailsElement;
  el(part: string): HTMLElement;
  select(part: string): HTMLSelectElement;
  listen<K extends keyof DocumentEventMap>(target: EventTarget, kind: K, work: (event: DocumentEventMap[K]) => void, capture?: boolean): void;
  listen(target: EventTarget, kind: string, work: (event: Event) => void, capture?: boolean): void;
  format(us: number): string;
  onWindow(listener: (t0: number, t1: number, how: string) => void): () => void;

  // window
  us(ticks: number): number; ticks(us: number): number; announce(text: string): void;
  address(path: string, extra: Query, state?: State): string;
  api(path: string, extra?: Query, signal?: AbortSignal): Promise<Response>;
  json(path: string, extra?: Query, signal?: AbortSignal): Promise<any>;
  info(signal: AbortSignal): Promise<Info>;
  latest<A>(name: string, work: (signal: AbortSignal) => Promise<A>, done: (answer: A) => void): Promise<void>;
  waiting(): boolean; inTurn(step: () => unknown, held?: boolean): Promise<unknown>; busy(): void;
  span(): [number, number]; full(): [number, number];
  show(t0: number, t1: number, how?: How): void; remember(push: boolean): void; urlIsLate(): boolean;
  set(patch: Record<string, unknown>, push?: boolean): void;
  zoom(factor: number, at?: number, how?: How): void; pan(share: number, how?: How): void; fit(bounds?: [number, number], margin?: number): void;
  timeAt(x: number): number; xAt(tick: number): number; redraw(): void; measureBox(): void; start(): void; stop(): void; recolour(): void;
  // data
  current(): Current; request(): void; settled(): void; data: { clear(): void };
  requests: { sent: number; aborted: number; inFlight: number; maxInFlight: number; bytes: number };
  // lanes
  AXIS_PX: number; list(key: string): string[]; setList(key: string, items: string[], push: boolean): void; layoutLanes(): void;
  maxY(): number; rowTop(row: Row): number; trackBox(track: number): Box | null; trackAtY(y: number): number;
  tracksOnScreen(extra: number): number[]; topRow(): number; rowOffset(n: number): number; scrollTo(y: number, remember?: boolean): void;
  scrollRows(count: number): void; reveal(track: number): void; lanesChanged(): void; hiddenTracks(): number[]; drawLabels(): void;
  togglePin(key: string): void; hideLane(key: string): void;
  // draw
  stats: { draws: number; previews: number; bars: number; canvasBars: number; shown: number; total: number; exact: boolean; ms: number };
  dropColors(): void; colors(): Palette; graph(): any; drawFrame(current: Current): void; styleOf(cls: Class): number;
  // hit
  itemName(data: WindowData, i: number): string; hit(x: number, y: number): Hit | null; edgeNear(track: number, x: number, px: number): number | null;
  hideTip(): void; hover(x: number, y: number): void; drawHover(): void;
  // gestures
  itemAt(x: number, y: number, signal: AbortSignal): Promise<Item | null>; pickAt(x: number, y: number): void; pick(item: Item): void; zoomTo(item: Item): void;
  // keys, overview
  openKeys(): void; drawOverview(): void; drawWindow(): void;
  // markers
  markers(): Marker[]; setMarkers(markers: Marker[], push?: boolean): void; addMarkers(added: { tick: number; label?: string; color?: string }[]): void;
  markerShapes(): object[]; drawMarkerStrip(): void; editMarker(n: number): void; closeMarker(): void;
  // measure
  range(): [number, number] | null; startMeasure(event: PointerEvent, from: { x: number; y: number }, place: (event: MouseEvent) => { x: number; y: number }): void;
  setRange(range: [number, number]): void; measureShapes(): object[]; measureChanged(): void;
  // details, search, toolbar, menu, export
  detailsChanged(): void;
  wantedHighlight(): string; effectiveHighlight(): string; loadHighlight(): void; loadSelection(show: boolean, zoom: boolean): void;
  bringIntoView(found: any, zoom: boolean): void; lineTraces(): any[]; showLines(found: any): void; runSearch(step: number | false): Promise<void> | null;
  searchStep(step: number): Promise<unknown>;
  showViews(): void; setInput(input: HTMLInputElement, value: string): void; showToolbar(): void;
  closeMenu(): void; openMenu(at: Place, item: Item | null): void;
  exportPicture(format: string): Promise<void>; exportCsv(): void; exportTrace(): void;
}
