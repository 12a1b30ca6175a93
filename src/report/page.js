"use strict";
/* The figure of the page: drawn from the data in the page, redrawn on resize; hover, keys and switches. */
(function () {
  const errors = [];
  window.addEventListener("error", (event) => errors.push(String(event.message)));
  const data = JSON.parse(document.getElementById("data").textContent);
  /* A page has one figure or two: panels of group 0 and 1, each with its legend. */
  const groups = ["", "-second"].map((suffix, number) => ({
    plots: document.getElementById("plots" + suffix), legend: document.getElementById("legend" + suffix),
    panels: data.panels.filter((panel) => panel.group === number),
  })).filter((group) => group.plots && group.panels.length);
  const hidden = new Set();
  const DASHES = ["", "8 4", "2 3", "5 2.5"];

  function element(name, attributes, parent, text) {
    const made = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const key in attributes) made.setAttribute(key, attributes[key]);
    if (text !== undefined) made.textContent = text;
    if (parent) parent.appendChild(made);
    return made;
  }

  /* ---- theme */
  function setTheme(theme) { document.documentElement.dataset.theme = theme; }
  const dark = window.matchMedia("(prefers-color-scheme: dark)");
  setTheme(dark.matches ? "dark" : "light");
  dark.addEventListener("change", (event) => setTheme(event.matches ? "dark" : "light"));
  document.getElementById("theme").addEventListener("click", () =>
    setTheme(document.documentElement.dataset.theme === "dark" ? "light" : "dark"));

  /* ---- axes */
  function linearTicks(lo, hi, wanted) {
    const raw = (hi - lo) / wanted, power = Math.pow(10, Math.floor(Math.log10(raw))), share = raw / power;
    const step = (share >= 5 ? 5 : share >= 2 ? 2 : 1) * power, ticks = [];
    for (let k = Math.ceil(lo / step - 1e-9); k * step <= hi + 1e-9 * step; k++) ticks.push(k * step);
    return { ticks, step };
  }
  function label(value, log) {
    if (log && value >= 1e6) return value / 1e6 + "M";
    if (log && value >= 1e3) return value / 1e3 + "k";
    return String(parseFloat(value.toPrecision(4)));
  }
  function makeScale(lo, hi, log, from, to, wanted, pad) {
    if (!(hi > lo)) { const room = Math.abs(lo) * 0.1 || 1; hi = log ? hi * 2 : hi + room; lo = log ? lo / 2 : lo - room; }
    let ticks;
    if (log) {
      ticks = [];
      const first = Math.ceil(Math.log10(lo) - 1e-9), last = Math.floor(Math.log10(hi) + 1e-9);
      for (let k = first; k <= last; k++) ticks.push(Math.pow(10, k));
      if (ticks.length < 3) {
        ticks = [];
        for (let k = first - 1; k <= last; k++) for (const i of [1, 2, 5]) ticks.push(i * Math.pow(10, k));
        ticks = ticks.filter((tick) => tick >= lo * (1 - 1e-9) && tick <= hi * (1 + 1e-9));
        if (ticks.length === 0) ticks = linearTicks(lo, hi, wanted).ticks;
      }
      while (ticks.length > 2 * wanted) ticks = ticks.filter((_, i) => i % 2 === 0);
    } else {
      const found = linearTicks(lo, hi, wanted);
      if (pad) { lo = Math.floor(lo / found.step) * found.step; hi = Math.ceil(hi / found.step) * found.step; }
      ticks = linearTicks(lo, hi, wanted).ticks;
    }
    const f = log ? Math.log : (x) => x;
    const place = (value) => from + (f(value) - f(lo)) / (f(hi) - f(lo)) * (to - from);
    return { place, ticks };
  }

  function marker(parent, kind, x, y, r, colour) {
    const points = { 2: [45, 4, 1.25], 3: [0, 4, 1.35], 4: [-90, 3, 1.35], 5: [90, 3, 1.35] }[kind];
    if (kind === 1) element("circle", { cx: x, cy: y, r, fill: colour }, parent);
    if (!points) return;
    const corners = [];
    for (let i = 0; i < points[1]; i++) {
      const angle = (points[0] + 360 * i / points[1]) * Math.PI / 180;
      corners.push((x + points[2] * r * Math.cos(angle)).toFixed(1) + "," + (y + points[2] * r * Math.sin(angle)).toFixed(1));
    }
    element("polygon", { points: corners.join(" "), fill: colour }, parent);
  }

  /* ---- one panel */
  const format = (value) => Math.abs(value) >= 2 || value === 0 ? value.toFixed(2) : String(parseFloat(value.toPrecision(4)));
  function withBand(panel, c, i) {
    const mean = c.mean[i], half = c.hi[i] - mean;
    if (c.lo[i] === null) return format(mean);
    if (panel.range) return format(mean) + " (" + format(c.lo[i]) + " … " + format(c.hi[i]) + ")";
    return format(mean) + " ± " + (Math.abs(mean) >= 2 ? half.toFixed(2) : format(half));
  }
  const hasBand = (c) => !c.lo.includes(null) && !c.hi.includes(null);
  const siblings = (panel) => data.panels.filter((other) => other.group === panel.group).length;

  function visibleCurves(panel) { return panel.curves.filter((curve) => !hidden.has(curve.name)); }

  function drawCurves(box, panel) {
    const width = Math.max(260, box.clientWidth), many = siblings(panel) > 2;
    const height = many ? (width > 400 ? 300 : 210) : Math.round(Math.min(460, Math.max(280, width * 0.52)));
    const svg = element("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": panel.title || data.title });
    const left = 40, right = width - 12, top = 24, bottom = height - 46;
    const curves = visibleCurves(panel), all = panel.curves;
    const xs = all.flatMap((c) => c.x);
    const ys = (curves.length ? curves : all).flatMap((c) => c.mean.concat(c.lo, c.hi).filter((v) => v !== null));
    const sx = makeScale(Math.min(...xs), Math.max(...xs), panel.log_x, left + 6, right - 6, width > 500 ? 6 : 3, false);
    const sy = makeScale(Math.min(...ys), Math.max(...ys), false, bottom, top, many ? 4 : 6, true);
    for (const tick of sy.ticks) {
      const y = sy.place(tick);
      element("line", { x1: left, x2: right, y1: y, y2: y, class: "grid" }, svg);
      element("text", { x: left - 6, y: y + 4, "text-anchor": "end", class: "axis" }, svg, label(tick, false));
    }
    for (const tick of sx.ticks)
      element("text", { x: sx.place(tick), y: bottom + 18, "text-anchor": "middle", class: "axis" }, svg, label(tick, panel.log_x));
    element("text", { x: (left + right) / 2, y: bottom + 38, "text-anchor": "middle", class: "name" }, svg, panel.x_label);
    element("text", { x: 0, y: 13, class: "name" }, svg, panel.y_label);
    for (const c of curves) {
      if (c.thin || !hasBand(c)) continue;
      const up = c.x.map((x, i) => sx.place(x).toFixed(1) + "," + sy.place(c.hi[i]).toFixed(1));
      const down = c.x.map((x, i) => sx.place(x).toFixed(1) + "," + sy.place(c.lo[i]).toFixed(1)).reverse();
      element("polygon", { points: up.concat(down).join(" "), fill: c.colour, "fill-opacity": 0.22 }, svg);
    }
    for (const c of curves) {
      const points = c.x.map((x, i) => sx.place(x).toFixed(1) + "," + sy.place(c.mean[i]).toFixed(1)).join(" ");
      element("polyline", { points, fill: "none", stroke: c.colour, "stroke-width": c.thin ? 1.2 : 2, "stroke-dasharray": DASHES[c.dash], "stroke-linejoin": "round", "data-curve": c.name }, svg);
      c.x.forEach((x, i) => marker(svg, c.marker, sx.place(x), sy.place(c.mean[i]), many ? 2 : 3, c.colour));
    }
    const rule = element("line", { y1: top, y2: bottom, class: "rule", visibility: "hidden" }, svg);
    box.querySelector("svg").replaceWith(svg);
    box.view = { width, height, rule, place: sx.place, grid: [...new Set(xs)].sort((a, b) => a - b) };
  }

  function drawDots(box, panel) {
    const width = Math.max(260, box.clientWidth), curves = visibleCurves(panel);
    const longest = Math.max(1, ...curves.map((c) => c.label.length));
    const names = Math.min(7 * longest, width * 0.5), height = 26 * Math.max(1, curves.length) + 54, bottom = height - 46;
    const svg = element("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": data.title });
    const most = Math.max(1, ...panel.curves.flatMap((c) => c.mean.concat(c.hi)));
    const sx = makeScale(0, most, false, names + 8, width - 76, 5, true);
    for (const tick of sx.ticks) {
      const x = sx.place(tick);
      element("line", { x1: x, x2: x, y1: 6, y2: bottom, class: "grid" }, svg);
      element("text", { x, y: bottom + 18, "text-anchor": "middle", class: "axis" }, svg, label(tick, false));
    }
    curves.forEach((c, i) => {
      const y = 6 + 26 * (i + 0.5);
      element("text", { x: names, y: y + 4, "text-anchor": "end", class: "name" }, svg, c.label);
      if (hasBand(c))
        element("line", { x1: sx.place(c.lo[0]), x2: sx.place(c.hi[0]), y1: y, y2: y, stroke: c.colour, "stroke-width": 2 }, svg);
      marker(svg, c.marker || 1, sx.place(c.mean[0]), y, 4.5, c.colour);
      element("text", { x: width - 66, y: y + 4, class: "axis", "data-curve": c.name }, svg, format(c.mean[0]));
    });
    element("text", { x: (names + width - 66) / 2, y: bottom + 38, "text-anchor": "middle", class: "name" }, svg, panel.y_label);
    box.querySelector("svg").replaceWith(svg);
    box.view = null;
  }

  /* ---- values under the pointer, or under the arrow keys */
  function show(box, panel, index, pointerY) {
    const view = box.view, tip = box.querySelector(".tip");
    if (!view) return;
    box.index = Math.max(0, Math.min(view.grid.length - 1, index));
    const x = view.grid[box.index], at = view.place(x), scale = box.clientWidth / view.width;
    view.rule.setAttribute("x1", at);
    view.rule.setAttribute("x2", at);
    view.rule.setAttribute("visibility", "visible");
    const rows = visibleCurves(panel).map((c) => ({ c, i: c.x.indexOf(x) })).filter((row) => row.i >= 0)
      .sort((a, b) => b.c.mean[b.i] - a.c.mean[a.i]);
    tip.replaceChildren();
    const head = document.createElement("b");
    head.textContent = "x = " + parseFloat(x.toPrecision(5));
    tip.appendChild(head);
    for (const row of rows) {
      const line = document.createElement("div"), dot = document.createElement("i");
      dot.style.background = row.c.colour;
      line.append(dot, row.c.label + ": " + withBand(panel, row.c, row.i));
      tip.appendChild(line);
    }
    const room = box.clientWidth - tip.offsetWidth, wanted = at * scale + 14;
    const narrow = box.clientWidth < 560; /* a phone: below the curves, not on them */
    tip.style.left = (narrow ? room / 2 : Math.max(0, wanted <= room ? wanted : at * scale - 14 - tip.offsetWidth)) + "px";
    tip.style.top = (narrow ? box.clientHeight : Math.max(0, Math.min(pointerY, box.clientHeight - tip.offsetHeight))) + "px";
    tip.style.visibility = "visible";
  }
  function hide(box) {
    box.querySelector(".tip").style.visibility = "hidden";
    if (box.view) box.view.rule.setAttribute("visibility", "hidden");
  }
  function listen(box, panel) {
    box.addEventListener("pointermove", (event) => {
      if (!box.view) return;
      const bounds = box.getBoundingClientRect(), at = (event.clientX - bounds.left) * box.view.width / bounds.width;
      let best = 0;
      box.view.grid.forEach((x, i) => {
        if (Math.abs(box.view.place(x) - at) < Math.abs(box.view.place(box.view.grid[best]) - at)) best = i;
      });
      show(box, panel, best, event.clientY - bounds.top + 12);
    });
    box.addEventListener("pointerleave", () => hide(box));
    box.addEventListener("blur", () => hide(box));
    box.addEventListener("keydown", (event) => {
      const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
      if (!step) return;
      event.preventDefault();
      show(box, panel, box.index === undefined ? 0 : box.index + step, 12);
    });
  }

  /* ---- all of them */
  const boxes = data.panels.map((panel) => {
    const box = document.createElement("div");
    box.className = "plot";
    box.tabIndex = 0;
    if (panel.title) {
      const title = document.createElement("h3");
      title.textContent = panel.title;
      box.appendChild(title);
    }
    box.appendChild(element("svg", {}));
    const tip = document.createElement("div");
    tip.className = "tip";
    tip.setAttribute("role", "status");
    box.appendChild(tip);
    groups[panel.group].plots.appendChild(box);
    listen(box, panel);
    return box;
  });
  for (const group of groups) if (group.panels.length > 2) group.plots.classList.add(group.panels.length > 6 ? "many" : "some");
  function draw() {
    data.panels.forEach((panel, i) => {
      hide(boxes[i]);
      (panel.curves.every((c) => c.x.length === 1) ? drawDots : drawCurves)(boxes[i], panel);
    });
  }
  for (const group of groups) for (const curve of new Map(group.panels.flatMap((p) => p.curves).map((c) => [c.name, c])).values()) {
    const button = document.createElement("button"), sample = element("svg", { viewBox: "0 0 28 12", "aria-hidden": "true" });
    element("line", { x1: 0, x2: 28, y1: 6, y2: 6, stroke: curve.colour, "stroke-width": 2.5, "stroke-dasharray": DASHES[curve.dash] }, sample);
    marker(sample, curve.marker, 14, 6, 4, curve.colour);
    button.type = "button";
    button.dataset.curve = curve.name;
    button.setAttribute("aria-pressed", "true");
    button.append(sample, curve.label);
    button.addEventListener("click", () => {
      if (!hidden.delete(curve.name)) hidden.add(curve.name);
      button.setAttribute("aria-pressed", String(!hidden.has(curve.name)));
      draw();
    });
    group.legend.appendChild(button);
  }
  draw();
  let width = window.innerWidth;
  window.addEventListener("resize", () => { if (window.innerWidth !== width) { width = window.innerWidth; draw(); } });

  /* ---- #selftest: does what a visitor does, and writes what came of it into the page; #dark and #light set the theme */
  function selfTest() {
    const found = {}, box = boxes[0], panel = data.panels[0], curve = panel.curves[panel.curves.length - 1];
    const drawn = () => document.querySelectorAll(`#plots [data-curve="${curve.name}"]`).length;
    found.curves = document.querySelectorAll("#plots [data-curve]").length;
    found.second = document.querySelectorAll("#plots-second [data-curve]").length;
    const button = [...groups[0].legend.children].find((b) => b.dataset.curve === curve.name), before = drawn();
    button.click();
    found.switchedOff = drawn() === 0 && before > 0 && button.getAttribute("aria-pressed") === "false";
    button.click();
    found.switchedOn = drawn() === before && button.getAttribute("aria-pressed") === "true";
    if (box.view) {
      const bounds = box.getBoundingClientRect(), tip = box.querySelector(".tip");
      box.dispatchEvent(new PointerEvent("pointermove", { clientX: bounds.left + bounds.width - 2, clientY: bounds.top + 60, bubbles: true }));
      found.hover = tip.style.visibility === "visible" && tip.textContent;
      box.dispatchEvent(new PointerEvent("pointerleave", {}));
      found.hoverEnds = tip.style.visibility === "hidden";
      box.index = undefined;
      box.dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowRight", bubbles: true }));
      found.keys = tip.style.visibility === "visible" && tip.textContent;
      found.tipInside = tip.getBoundingClientRect().right <= document.documentElement.clientWidth + 1;
    }
    const theme = document.documentElement.dataset.theme;
    document.getElementById("theme").click();
    found.themeChanges = document.documentElement.dataset.theme !== theme;
    document.getElementById("theme").click();
    found.fits = document.documentElement.scrollWidth <= document.documentElement.clientWidth;
    found.errors = errors;
    const out = document.createElement("pre");
    out.id = "selftest";
    out.textContent = JSON.stringify(found);
    document.body.appendChild(out);
  }
  const wish = location.hash.slice(1).split(",");
  if (wish.includes("dark")) setTheme("dark");
  if (wish.includes("light")) setTheme("light");
  if (wish.includes("hover") && boxes[0].view) show(boxes[0], data.panels[0], Math.floor(boxes[0].view.grid.length / 2), 40);
  if (wish.includes("selftest")) selfTest();
})();
