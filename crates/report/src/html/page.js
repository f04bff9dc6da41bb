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
  const panel = document.getElementById("panel");
  const drawing = document.querySelector(".arrows");
  let chosen = null;

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
    const what = event || pending.get(Number(row.dataset.thread)) || {};
    panel.replaceChildren();
    panel.append(element("h2", event ? `Step ${step.toLocaleString("en")} of ${trace.steps.toLocaleString("en")}` : "What stopped it"));
    const list = element("dl");
    const say = (term, value) => {
      const cell = element("dd");
      cell.append(value);
      list.append(element("dt", term), cell);
    };
    say("thread", threadName(Number(row.dataset.thread)));
    say("does", row.querySelector(".operation").textContent);
    const object = trace.objects[row.dataset.object];
    if (object) say("object", object.type ? `${object.name}, ${object.type}` : object.name);
    const operation = what.operation || {};
    for (const word of ["order", "success", "failure"]) if (operation[word]) say(word, operation[word]);
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
    if (row.classList.contains("hidden")) { filter.value = ""; apply(); }
    if (chosen) chosen.classList.remove("chosen");
    chosen = row;
    row.classList.add("chosen");
    row.querySelector(".operation").scrollIntoView({ block: "nearest", inline: "nearest" });
    describe(row);
    draw();
  };

  const apply = () => {
    for (const row of rows) {
      row.classList.toggle("hidden", filter.value !== "" && row.dataset.object !== filter.value);
    }
    for (const row of table.querySelectorAll("tr.omitted")) row.classList.toggle("hidden", filter.value !== "");
    if (chosen && chosen.classList.contains("hidden")) {
      chosen.classList.remove("chosen");
      chosen = null;
    }
    if (chosen) draw(); else choose(visible()[0]);
  };

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
    const far = rows.length > 400 ? 60 : Infinity;
    const near = chosen ? rows.indexOf(chosen) : 0;
    rows.forEach((row, index) => {
      if (row.classList.contains("hidden")) return;
      for (const [kind, target] of ties(events.get(Number(row.dataset.step)))) {
        const origin = byStep.get(target);
        if (!origin || origin.classList.contains("hidden")) continue;
        const strong = row === chosen || origin === chosen;
        if (!strong && Math.abs(index - near) > far) continue;
        const within = origin.dataset.thread === row.dataset.thread;
        if (within && !strong) continue;
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
  filter.addEventListener("change", () => { filter.blur(); apply(); });
  window.addEventListener("resize", draw);
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target === filter) return;
    const moves = { ArrowDown: 1, j: 1, ArrowUp: -1, k: -1, PageDown: 10, PageUp: -10, Home: -Infinity, End: Infinity };
    if (event.key in moves) { event.preventDefault(); go(moves[event.key]); }
    else if (event.key === "Escape") { filter.value = ""; apply(); }
    else if (event.key === "o" && chosen) {
      filter.value = filter.value === "" ? chosen.dataset.object || "" : "";
      apply();
    }
  });

  /* Begin where it failed. `#step-N` begins elsewhere. */
  const asked = /^#step-(\d+)$/.exec(location.hash);
  choose((asked && byStep.get(Number(asked[1]))) || rows[rows.length - 1]);
  if (!asked) window.scrollTo(0, 0);
})();
