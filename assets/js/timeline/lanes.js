/* Which lanes are on screen, and where? Order, pins, hidden lanes, the lane filter, the labels at the left. */
(function () {
  "use strict";
  const ns = (window.swimscope = window.swimscope || {});
  const T = (ns.timeline = ns.timeline || { parts: [] });
  T.AXIS_PX = 26;
  const MIN_ROW_PX = 14;
  const MAX_ROW_PX = 22;
  const SUB_ROW_PX = 11;
  const GAP_PX = 3;

  T.list = (key) => (T.s.url[key] || "").split(",").filter(Boolean).map((part) => decodeURIComponent(part));
  T.setList = (key, items, push) =>
    T.set({ [key]: items.map((item) => item.replace(/%/g, "%25").replace(/,/g, "%2C")).join(",") || null }, push);

  /* "aic", "12", "3-9", a function name: words are alternatives; all of a lane's texts are compared. */
  function passes(lane, words) {
    if (!words.length) return true;
    return words.some((word) => {
      const range = /^(\d+)(?:-(\d+))?$/.exec(word);
      if (range) return lane.number >= Number(range[1]) && lane.number <= Number(range[2] || range[1]);
      if (lane.group.toLowerCase() === word || lane.label.toLowerCase().startsWith(word)) return true;
      return lane.classes.some((cls) => T.s.info.classes[cls].name.toLowerCase().includes(word));
    });
  }

  T.layoutLanes = () => {
    const { info, url, height } = T.s;
    const words = (url.lanes || "").toLowerCase().split(/[\s,]+/).filter(Boolean);
    const hidden = new Set(T.list("hide"));
    const pins = T.list("pin");
    const byKey = new Map(info.lanes.map((lane) => [lane.key, lane]));
    const pinned = pins.map((key) => byKey.get(key)).filter(Boolean);
    const rest = info.lanes.filter((lane) => !pins.includes(lane.key) && !hidden.has(lane.key) && passes(lane, words));
    const single = [...pinned, ...rest].reduce((sum, lane) => sum + (lane.rows > 1 ? 0 : 1), 0);
    const several = [...pinned, ...rest].reduce((sum, lane) => sum + (lane.rows > 1 ? lane.rows * SUB_ROW_PX + GAP_PX : 0), 0);
    const share = single ? Math.floor((height - several) / single) : MAX_ROW_PX;
    const rowPx = Math.max(MIN_ROW_PX, Math.min(MAX_ROW_PX, share));
    const place = (lanes, isPinned) => {
      let y = 0;
      return lanes.map((lane) => {
        const h = lane.rows > 1 ? lane.rows * SUB_ROW_PX + GAP_PX : rowPx;
        const row = { lane, y, h, pinned: isPinned };
        y += h;
        return row;
      });
    };
    const top = place(pinned, true);
    const scroll = place(rest, false);
    T.s.pinPx = top.reduce((sum, row) => sum + row.h, 0);
    T.s.contentPx = scroll.reduce((sum, row) => sum + row.h, 0);
    T.s.rows = [...top, ...scroll];
    T.s.scrollRows = scroll;
    T.s.hiddenLanes = info.lanes.filter((lane) => hidden.has(lane.key) && !pins.includes(lane.key));
    T.s.y = Math.max(0, Math.min(T.s.y, T.s.contentPx - (height - T.s.pinPx)));
    T.s.laneOfTrack = new Map();
    for (const row of T.s.rows) for (let r = 0; r < row.lane.rows; r++) T.s.laneOfTrack.set(row.lane.track + r, row);
  };

  T.maxY = () => Math.max(0, T.s.contentPx - (T.s.height - T.s.pinPx));
  T.rowTop = (row) => (row.pinned ? row.y : row.y - T.s.y + T.s.pinPx);

  /* Vertical pixels of a track on screen, clipped below the pinned lanes; null when it is not visible. */
  T.trackBox = (track) => {
    const row = T.s.laneOfTrack.get(track);
    if (!row) return null;
    const step = row.lane.rows > 1 ? SUB_ROW_PX : row.h - GAP_PX + 1;
    const pad = row.lane.rows > 1 ? 1 : 1;
    const y = T.rowTop(row) + pad + (track - row.lane.track) * step;
    const clipTop = row.pinned ? 0 : T.s.pinPx;
    const bottom = Math.min(y + step - 1, T.s.height);
    const top = Math.max(y, clipTop);
    return bottom > top ? { top, bottom, whole: bottom - top >= step - 1.5 } : null;
  };

  T.trackAtY = (y) => {
    for (const row of T.s.rows) {
      const top = T.rowTop(row);
      if (y >= top && y < top + row.h && (row.pinned || y >= T.s.pinPx)) {
        const step = row.lane.rows > 1 ? SUB_ROW_PX : row.h;
        return row.lane.track + Math.min(row.lane.rows - 1, Math.max(0, Math.floor((y - top) / step)));
      }
    }
    return -1;
  };

  /* Tracks on screen, ascending; extra = further share of the height above and below. */
  T.tracksOnScreen = (extra) => {
    const more = T.s.height * extra;
    const out = [];
    for (const row of T.s.rows) {
      const top = T.rowTop(row);
      const inside = row.pinned ? top < T.s.height : top + row.h > T.s.pinPx - more && top < T.s.height + more;
      if (inside) for (let r = 0; r < row.lane.rows; r++) out.push(row.lane.track + r);
    }
    return out.sort((a, b) => a - b);
  };

  T.topRow = () => T.s.scrollRows.findIndex((row) => row.y + row.h / 2 > T.s.y);
  T.rowOffset = (n) => (T.s.scrollRows.length ? T.s.scrollRows[Math.min(n, T.s.scrollRows.length - 1)].y : 0);

  T.scrollTo = (y, remember) => {
    const next = Math.max(0, Math.min(y, T.maxY()));
    if (next === T.s.y) return;
    T.s.y = next;
    if (remember !== false) T.remember(false);
    T.redraw();
  };

  T.scrollRows = (count) => {
    const at = Math.max(0, T.topRow());
    const target = Math.max(0, Math.min(at + count, T.s.scrollRows.length - 1));
    const y = T.rowOffset(target);
    T.scrollTo(count > 0 && y > T.maxY() ? T.maxY() : y);
  };

  /* Bring a track into view, as little as possible. */
  T.reveal = (track) => {
    const row = T.s.laneOfTrack.get(track);
    if (!row || row.pinned) return;
    const room = T.s.height - T.s.pinPx;
    if (row.y < T.s.y) T.scrollTo(row.y, false);
    else if (row.y + row.h > T.s.y + room) T.scrollTo(row.y + row.h - room, false);
  };

  T.lanesChanged = () => {
    T.measureBox();
    T.redraw();
  };

  T.hiddenTracks = () => {
    const out = [];
    for (const lane of T.s.info.lanes) {
      if (!T.s.laneOfTrack.has(lane.track)) for (let r = 0; r < lane.rows; r++) out.push(lane.track + r);
    }
    return out;
  };

  function button(text, label, action, lane) {
    const node = document.createElement("button");
    node.type = "button";
    node.textContent = text;
    node.title = label;
    node.setAttribute("aria-label", label);
    node.dataset.action = action;
    node.dataset.lane = lane;
    return node;
  }

  function labelNode(row) {
    const node = document.createElement("div");
    node.className = "swim-label";
    node.dataset.lane = row.lane.key;
    const text = document.createElement("span");
    text.textContent = row.lane.label;
    text.title = `${row.lane.label}: ${row.lane.items.toLocaleString("en-US")} items` + (row.lane.rows > 1 ? `, ${row.lane.rows} rows because items overlap` : "");
    const pinned = row.pinned;
    node.append(
      button(pinned ? "◆" : "◇", (pinned ? "Unpin " : "Pin ") + row.lane.label, "pin", row.lane.key),
      button("×", "Hide " + row.lane.label, "hide", row.lane.key),
      text,
    );
    if (pinned) node.classList.add("pinned");
    return node;
  }

  let shown = new Map();
  T.drawLabels = () => {
    const box = T.el("swim-labels");
    const next = new Map();
    for (const row of T.s.rows) {
      const top = T.rowTop(row);
      if (top + row.h < 0 || top > T.s.height) continue;
      if (!row.pinned && top + row.h <= T.s.pinPx) continue;
      const key = row.lane.key + (row.pinned ? "!" : "");
      const node = shown.get(key) && shown.get(key).isConnected ? shown.get(key) : labelNode(row);
      const clip = row.pinned ? 0 : Math.max(0, T.s.pinPx - top);
      node.style.transform = `translateY(${top + T.AXIS_PX}px)`;
      node.style.height = row.h + "px";
      node.style.clipPath = clip ? `inset(${clip}px 0 0 0)` : "";
      node.classList.toggle("alt", T.s.rows.indexOf(row) % 2 === 1);
      if (!node.isConnected) box.append(node);
      next.set(key, node);
    }
    for (const [key, node] of shown) if (!next.has(key)) node.remove();
    shown = next;
    const bar = T.el("swim-scroll");
    bar.firstElementChild.style.height = T.s.contentPx + "px";
    bar.style.top = T.AXIS_PX + T.s.pinPx + "px";
    if (Math.abs(bar.scrollTop - T.s.y) > 1) bar.scrollTop = T.s.y;
    const total = T.s.info.lanes.length;
    const count = T.s.rows.length;
    T.el("swim-lane-count").textContent = count === total ? `${total} lanes` : `${count} of ${total} lanes`;
    const restore = T.el("swim-unhide");
    restore.hidden = !T.s.hiddenLanes.length;
    restore.textContent = `Show ${T.s.hiddenLanes.length} hidden`;
  };

  T.togglePin = (key) => {
    const pins = T.list("pin");
    T.setList("pin", pins.includes(key) ? pins.filter((pin) => pin !== key) : [...pins, key], true);
  };

  T.hideLane = (key) => {
    const pins = T.list("pin");
    if (pins.includes(key)) T.setList("pin", pins.filter((pin) => pin !== key), false);
    T.setList("hide", [...new Set([...T.list("hide"), key])], true);
  };

  T.parts.push(() => {
    shown = new Map();
    T.el("swim-labels").addEventListener("click", (event) => {
      const node = event.target.closest("button");
      if (!node) return;
      if (node.dataset.action === "pin") T.togglePin(node.dataset.lane);
      else T.hideLane(node.dataset.lane);
    });
    T.el("swim-unhide").addEventListener("click", () => T.setList("hide", [], true));
    T.el("swim-scroll").addEventListener("scroll", (event) => {
      if (Math.abs(event.target.scrollTop - T.s.y) > 1) T.scrollTo(event.target.scrollTop);
    });
  });
})();
