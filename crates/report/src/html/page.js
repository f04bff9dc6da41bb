"use strict";
(() => {
  const read = (id) => JSON.parse(document.getElementById(id).textContent);
  const copy = document.getElementById("copy");
  if (copy) {
    copy.addEventListener("click", () => {
      const text = document.getElementById("replay").textContent;
      navigator.clipboard.writeText(text).then(() => { copy.textContent = "copied"; }, () => {});
    });
  }
  const table = document.querySelector("table.steps");
  if (!table) return;

  const report = read("report");
  const sources = read("sources");
  const trace = report.failure.trace;
  const events = new Map(trace.events.map((event) => [event.step, event]));
  const pending = new Map(trace.pending.map((waiting) => [waiting.thread, waiting]));
  const threads = new Map(trace.threads.map((thread) => [thread.id, thread]));
  const rows = [...table.tBodies[0].rows].filter((row) => row.dataset.thread !== undefined);
  const byStep = new Map(rows.map((row) => [Number(row.dataset.step), row]));
  const filter = document.getElementById("filter");
  const only = document.getElementById("thread");
  const search = document.getElementById("search");
  const fold = document.getElementById("fold");
  const map = document.getElementById("map");
  const panel = document.getElementById("panel");
  const drawing = document.querySelector(".arrows");
  let chosen = null;
  /* Of a long execution only the steps that matter are shown at first. */
  const minor = rows.filter((row) => row.classList.contains("minor"));
  let folded = minor.length > 0;
  const opened = new Set();
  const what = (row) => row.querySelector(".operation").textContent;

  const threadName = (id) => {
    const plain = id === 0 ? "main" : `thread ${id}`;
    const thread = threads.get(id);
    return thread && thread.name !== null ? `${plain} (${thread.name})` : plain;
  };
  const visible = () => rows.filter((row) => !row.classList.contains("hidden"));

  /* The earlier steps that a step is tied to. */
  const ties = (event) => {
    const found = [];
    if (!event) return found;
    if (event.link && event.link.step) found.push([event.link.kind, event.link.step]);
    if (event.after) found.push(["after", event.after]);
    return found;
  };

  const element = (name, text, className) => {
    const made = document.createElement(name);
    if (text !== undefined) made.textContent = text;
    if (className) made.className = className;
    return made;
  };

  const describe = (row) => {
    const step = Number(row.dataset.step);
    const event = events.get(step);
    const done = event || pending.get(Number(row.dataset.thread)) || {};
    panel.replaceChildren();
    panel.append(element("h2", event ? `Step ${step.toLocaleString("en")} of ${trace.steps.toLocaleString("en")}` : "What stopped it"));
    const list = element("dl");
    const say = (term, value) => {
      const cell = element("dd");
      cell.append(value);
      list.append(element("dt", term), cell);
    };
    say("thread", threadName(Number(row.dataset.thread)));
    say("does", what(row));
    const object = trace.objects[row.dataset.object];
    if (object) say("object", object.type ? `${object.name}, ${object.type}` : object.name);
    const operation = done.operation || {};
    for (const word of ["order", "success", "failure"]) if (operation[word]) say(word, operation[word]);
    if (row.dataset.causes) say("cause", row.dataset.causes);
    const { title } = row.querySelector(".operation");
    if (title && !ties(event).length) say("note", title);
    for (const [kind, target] of ties(event)) {
      const link = element("a", `step ${target}`);
      link.addEventListener("click", () => choose(byStep.get(target)));
      say(kind === "taken-in" ? "acquired in" : kind, byStep.has(target) ? link : `step ${target}`);
    }
    if (event && event.missed && ties(event).length) say("stale", `step ${event.missed} is newer`);
    const later = trace.events.filter((other) => ties(other).some((tie) => tie[1] === step));
    for (const other of later.slice(0, 8)) {
      const link = element("a", `step ${other.step}`);
      link.addEventListener("click", () => choose(byStep.get(other.step)));
      const [kind] = ties(other).find((tie) => tie[1] === step);
      const words = { "reads": "read by", "stores-before": "newer than", "overwrites": "overwritten by", "after": "enables", "taken-in": "released in" };
      say(words[kind], link);
    }
    const { file, line } = row.dataset;
    if (file) say("at", `${file}:${line}`);
    panel.append(list);
    const lines = sources[file];
    if (lines) {
      const snippet = element("pre", undefined, "snippet");
      const around = Object.keys(lines).filter((number) => Math.abs(number - line) <= 6 && lines[number].trim());
      const indent = Math.min(...around.map((number) => lines[number].search(/\S/)));
      for (let number = Number(line) - 6; number <= Number(line) + 6; number += 1) {
        if (lines[number] === undefined) continue;
        const shown = element("span", undefined, number === Number(line) ? "here" : "");
        shown.append(element("b", String(number)), lines[number].slice(indent) || " ");
        snippet.append(shown);
      }
      panel.append(snippet);
    }
  };

  const choose = (row) => {
    if (!row) return;
    if (row.classList.contains("hidden")) {
      for (const control of [filter, only, search]) control.value = "";
      opened.add(row);
      apply();
    }
    if (chosen) chosen.classList.remove("chosen");
    chosen = row;
    row.classList.add("chosen");
    row.querySelector(".operation").scrollIntoView({ block: "nearest", inline: "nearest" });
    describe(row);
    draw();
  };

  const isWanted = (row) => {
    const words = search.value.trim().toLowerCase();
    if (filter.value !== "" && row.dataset.object !== filter.value) return false;
    if (only.value !== "" && row.dataset.thread !== only.value) return false;
    return words === "" || `${what(row)} ${row.cells[row.cells.length - 1].textContent}`.toLowerCase().includes(words);
  };

  /* A row for each run of folded steps, which opens them. */
  const closeUp = () => {
    for (const gap of table.querySelectorAll("tr.gap")) gap.remove();
    let run = [];
    const end = (next) => {
      if (run.length === 0) return;
      const steps = run;
      run = [];
      const counts = new Map();
      for (const row of steps) counts.set(row.dataset.thread, (counts.get(row.dataset.thread) || 0) + 1);
      const parts = [...counts].slice(0, 4).map(([thread, count]) => `${count.toLocaleString("en")} of ${threadName(Number(thread))}`);
      if (counts.size > 4) parts.push(`${counts.size - 4} more threads`);
      const gap = element("tr", undefined, "gap");
      const all = `${steps.length.toLocaleString("en")} ${steps.length === 1 ? "step" : "steps"}`;
      const cell = element("td", counts.size > 1 ? `… ${all}: ${parts.join(", ")}` : `… ${all} of ${threadName(Number(steps[0].dataset.thread))}`);
      cell.colSpan = steps[0].cells.length - 1;
      gap.append(element("td"), cell);
      gap.addEventListener("click", () => { for (const row of steps) opened.add(row); apply(); });
      steps[0].before(gap);
    };
    for (const row of rows) {
      if (row.dataset.folded === "yes") run.push(row); else if (!row.classList.contains("hidden")) end(row);
    }
    end(null);
  };

  const apply = () => {
    const filters = filter.value !== "" || only.value !== "" || search.value.trim() !== "";
    for (const row of rows) {
      const isFolded = folded && !filters && row.classList.contains("minor") && !opened.has(row);
      row.dataset.folded = isFolded ? "yes" : "no";
      row.classList.toggle("hidden", isFolded || filters && !isWanted(row));
    }
    closeUp();
    if (fold) {
      fold.hidden = minor.length === 0;
      fold.textContent = folded ? `show all ${rows.length.toLocaleString("en")} rows` : "show what matters";
    }
    const used = new Set(visible().map((row) => row.dataset.thread));
    /* Narrow lanes are as many as have something to show. */
    const narrow = table.querySelector("th.narrow div");
    if (narrow) {
      const lanes = [...threads.keys()].map(String).filter((thread) => used.has(thread));
      const width = Math.max(5, Math.min(14, 280 / lanes.length));
      narrow.style.width = `${Math.ceil(Math.max(60, lanes.length * width + 12))}px`;
      const places = new Map(lanes.map((thread, at) => [thread, `${at * width}px`]));
      for (const row of visible()) row.querySelector(".operation").style.left = places.get(row.dataset.thread);
    }
    for (const cell of table.tHead.rows[0].cells) {
      const lane = cell.dataset.lane;
      if (lane === undefined) continue;
      const isHidden = !used.has(lane);
      if (cell.classList.contains("hidden") !== isHidden) {
        for (const other of table.querySelectorAll(`[data-lane="${lane}"]`)) other.classList.toggle("hidden", isHidden);
      }
    }
    for (const row of table.querySelectorAll("tr.omitted")) row.classList.toggle("hidden", filters);
    if (chosen && chosen.classList.contains("hidden")) {
      chosen.classList.remove("chosen");
      chosen = null;
    }
    if (chosen) draw(); else choose(visible()[0]);
    drawMap();
  };

  /* The whole execution beside the table: a line for each row, in the colour of its thread. */
  const drawMap = () => {
    const shown = visible();
    map.style.height = `${Math.min(window.innerHeight - 24, table.closest("section").offsetHeight)}px`;
    map.height = Math.max(100, map.clientHeight);
    const pen = map.getContext("2d");
    pen.clearRect(0, 0, map.width, map.height);
    const height = map.height / Math.max(1, shown.length);
    const style = getComputedStyle(document.documentElement);
    shown.forEach((row, at) => {
      const isStop = row.classList.contains("stop");
      const isBad = isStop || row.classList.contains("cause");
      const color = isBad ? style.getPropertyValue(isStop ? "--bad" : "--cause") : row.classList.contains("stale")
        ? style.getPropertyValue("--stale") : row.querySelector(".operation").style.getPropertyValue("--lane");
      pen.fillStyle = color;
      const lane = [...threads.keys()].indexOf(Number(row.dataset.thread)) / Math.max(1, threads.size);
      pen.fillRect(isBad ? 0 : lane * 10, at * height, isBad ? 16 : 6, Math.max(1, Math.min(4, height - 1)));
    });
  };
  map.addEventListener("click", (event) => {
    const shown = visible();
    const box = map.getBoundingClientRect();
    choose(shown[Math.min(shown.length - 1, Math.floor((event.clientY - box.top) / box.height * shown.length))]);
  });

  /* The steps that have to come before a row for the failure: the causes. */
  const known = report.failure.explanation && report.failure.explanation.causes;
  const pairs = known ? known.orderings : [];
  const causing = (row) => pairs.filter((pair) => pair.before.step !== null && (pair.after.step === null
    ? row.classList.contains("stop") && Number(row.dataset.thread) === pair.after.thread
    : Number(row.dataset.step) === pair.after.step)).map((pair) => ["cause", pair.before.step]);

  /* Arrows between lanes, and for the chosen step also within one. */
  const draw = () => {
    const frame = drawing.parentElement;
    const origin = frame.getBoundingClientRect();
    const place = (row) => {
      const box = row.querySelector(".operation").getBoundingClientRect();
      const left = box.left - origin.left + frame.scrollLeft;
      return { left, right: left + box.width, y: box.top - origin.top + box.height / 2 };
    };
    drawing.setAttribute("width", table.offsetWidth);
    drawing.setAttribute("height", table.offsetHeight);
    for (const path of drawing.querySelectorAll("path.arrow")) path.remove();
    const far = visible().length > 400 ? 60 : Infinity;
    const near = chosen ? rows.indexOf(chosen) : 0;
    rows.forEach((row, index) => {
      if (row.classList.contains("hidden")) return;
      for (const [kind, target] of [...ties(events.get(Number(row.dataset.step))), ...causing(row)]) {
        const origin = byStep.get(target);
        if (!origin || origin.classList.contains("hidden")) continue;
        const strong = row === chosen || origin === chosen;
        if (!strong && Math.abs(index - near) > far) continue;
        const within = origin.dataset.thread === row.dataset.thread;
        if (within && !strong && kind !== "cause") continue;
        if (kind === "taken-in" && !strong) continue;
        const from = place(origin);
        const to = place(row);
        let shape;
        if (within) {
          const out = from.left - 14;
          shape = `M${from.left},${from.y} C${out},${from.y} ${out},${to.y} ${to.left - 2},${to.y}`;
        } else {
          const rightwards = to.left > from.right;
          const x1 = rightwards ? from.right : from.left;
          const x2 = rightwards ? to.left - 2 : to.right + 2;
          const bend = Math.max(24, Math.abs(x2 - x1) / 2) * (rightwards ? 1 : -1);
          shape = `M${x1},${from.y} C${x1 + bend},${from.y} ${x2 - bend},${to.y} ${x2},${to.y}`;
        }
        const path = document.createElementNS("http://www.w3.org/2000/svg", "path");
        const look = kind === "taken-in" ? "after" : kind;
        path.setAttribute("d", shape);
        path.setAttribute("class", `arrow ${look}${strong ? " strong" : ""}`);
        path.setAttribute("marker-end", `url(#head-${look})`);
        drawing.append(path);
      }
    });
  };

  const go = (by) => {
    const shown = visible();
    const at = shown.indexOf(chosen);
    choose(shown[Math.min(shown.length - 1, Math.max(0, at + by))]);
  };

  table.addEventListener("click", (event) => {
    const row = event.target.closest("tr[data-thread]");
    if (row) choose(row);
  });
  for (const control of [filter, only]) control.addEventListener("change", () => { control.blur(); apply(); });
  search.addEventListener("input", apply);
  const toggle = () => { folded = !folded; opened.clear(); apply(); };
  if (fold) fold.addEventListener("click", toggle);
  window.addEventListener("resize", draw);
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || [filter, only].includes(event.target)) return;
    if (event.target === search) { if (event.key === "Escape") { search.value = ""; search.blur(); apply(); } return; }
    const moves = { ArrowDown: 1, j: 1, ArrowUp: -1, k: -1, PageDown: 10, PageUp: -10, Home: -Infinity, End: Infinity };
    if (event.key in moves) { event.preventDefault(); go(moves[event.key]); }
    else if (event.key === "Escape") { for (const control of [filter, only, search]) control.value = ""; apply(); }
    else if (event.key === "/") { event.preventDefault(); search.focus(); }
    else if (event.key === "f") toggle();
    else if (event.key === "t" && chosen) {
      only.value = only.value === "" ? chosen.dataset.thread : "";
      apply();
    }
    else if (event.key === "o" && chosen) {
      filter.value = filter.value === "" ? chosen.dataset.object || "" : "";
      apply();
    }
  });

  /* Steps that texts name are links. */
  for (const text of document.querySelectorAll(".finding > pre")) {
    const parts = text.textContent.split(/\bstep (\d[\d,]*)/);
    if (parts.length === 1) continue;
    text.replaceChildren();
    parts.forEach((part, at) => {
      if (at % 2 === 0) { text.append(part); return; }
      const row = byStep.get(Number(part.replaceAll(",", "")));
      const link = element(row ? "a" : "span", `step ${part}`);
      if (row) link.addEventListener("click", () => choose(row));
      text.append(link);
    });
  }

  apply();
  /* Begin where it failed. `#step-N` begins elsewhere. */
  const asked = /^#step-(\d+)$/.exec(location.hash);
  choose((asked && byStep.get(Number(asked[1]))) || rows[rows.length - 1]);
  if (!asked) window.scrollTo(0, 0);
})();
