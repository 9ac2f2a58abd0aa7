"use strict";
// Everything the report shows comes from the JSON beside this script and becomes text nodes:
// source code is never read as HTML.
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const $ = (selector, root = document) => root.querySelector(selector);
  const $$ = (selector, root = document) => [...root.querySelectorAll(selector)];
  const narrow = matchMedia("(max-width: 900px)");
  const LETTERS = { g: "G", b: "G+", h: "H", d: "·", k: "K", r: "–", x: "×" };
  const NUMBA = {
    n: ["N", "Numba: machine code"], l: ["L", "Numba: a lifted loop"],
    o: ["O", "Numba: Python objects"], e: ["!", "Numba rejects this"],
  };

  function el(tag, attributes, ...children) {
    const node = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes || {})) {
      if (value === null || value === undefined || value === false) continue;
      if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
      else node.setAttribute(name, value === true ? "" : value);
    }
    node.append(...children.flat().filter((c) => c !== null && c !== undefined && c !== false));
    return node;
  }

  const state = { file: null, line: 0, types: true, wrap: false, module: true, tab: "source" };
  const picked = { severity: new Set(), verdict: new Set() };
  const form = { code: $("#code"), file: $("#file"), function: $("#function") };
  const main = $("#main");

  // -- which findings and functions are shown -------------------------------------------------

  const owner = (file, finding) => file.functions.find((f) => f.name === finding.function);
  const named = (name) => name.toLowerCase().includes(form.function.value.trim().toLowerCase());
  const fileShown = (file) => !form.file.value || file.path === form.file.value;

  function findingShown(file, finding) {
    const verdict = (owner(file, finding) || {}).verdict;
    return fileShown(file) && named(finding.function) &&
      (!form.code.value || finding.code === form.code.value) &&
      (!picked.severity.size || picked.severity.has(finding.severity)) &&
      (!picked.verdict.size || picked.verdict.has(verdict));
  }

  function functionShown(file, one) {
    if (!fileShown(file) || !named(one.name)) return false;
    if (picked.verdict.size && !picked.verdict.has(one.verdict)) return false;
    if (!form.code.value && !picked.severity.size) return true;
    return file.findings.some((f) => f.function === one.name && findingShown(file, f));
  }

  const filtered = () => Boolean(form.code.value || form.file.value || form.function.value.trim() ||
    picked.severity.size || picked.verdict.size);
  const anyShown = (file) => file.findings.some((f) => findingShown(file, f)) ||
    file.functions.some((f) => functionShown(file, f)) || (!filtered() && fileShown(file));

  function place(file, line) {
    const at = file.places && file.places[line - 1];
    return at && at[0] ? `cell ${at[0]}:${at[1]}` : String(line);
  }

  const link = (file, line) => `#/${encodeURI(file.path).replaceAll("#", "%23")}${line ? ":" + line : ""}`;
  // what all paths begin with is said once, above them
  const folder = (() => {
    const [first, ...others] = data.files.map((f) => f.path.split("/").slice(0, -1));
    if (!others.length) return "";
    const n = first.findIndex((part, k) => others.some((o) => o[k] !== part));
    const shared = n < 0 ? first : first.slice(0, n);
    return shared.join("/").length > 1 ? `${shared.join("/")}/` : "";
  })();
  const shortPath = (file) => file.path.slice(folder.length);
  const pathOf = (file) => {
    const path = shortPath(file), cut = path.lastIndexOf("/") + 1;
    return [el("span", { class: "dir" }, path.slice(0, cut)), el("span", { class: "base" }, path.slice(cut))];
  };
  const plural = (count, noun) => `${count} ${noun}${count === 1 ? "" : "s"}`;

  // -- files and functions ----------------------------------------------------------------------

  function renderNav() {
    const items = data.files.filter(anyShown).map((file) => {
      const functions = file.functions.filter((f) => functionShown(file, f)).map((f) =>
        el("li", {}, el("a", { href: link(file, f.line), "data-line": f.line, title: `${f.name}: ${f.verdict}` },
          el("span", { class: `dot v-${f.verdict}`, "aria-hidden": "true" }),
          f.name.includes(".") ? el("span", { class: "owner" }, f.name.slice(0, f.name.lastIndexOf(".") + 1)) : null,
          el("span", { class: "name" }, f.name.slice(f.name.lastIndexOf(".") + 1)),
          el("span", { class: "unseen" }, ` ${f.verdict}`))));
      const count = file.findings.filter((f) => findingShown(file, f)).length;
      return el("li", { "data-path": file.path },
        el("a", { href: link(file), class: "file-link", title: file.path, "aria-label": `${file.path}, ${plural(count, "finding")}` },
          el("span", { class: "path" }, pathOf(file)), count ? el("span", { class: "count" }, String(count)) : null),
        functions.length ? el("ul", {}, functions) : null);
    });
    $("#nav").replaceChildren(
      el("h2", {}, el("a", { href: "#/", id: "overview-link" }, "Overview")),
      folder ? el("p", { class: "dir", title: folder }, folder) : "",
      el("ul", {}, items), items.length ? "" : el("p", { class: "empty" }, "Nothing matches the filters"));
    markNav();
  }

  function markNav() {
    for (const a of $$("#nav a[aria-current]")) a.removeAttribute("aria-current");
    if (state.file === null) { $("#overview-link").setAttribute("aria-current", "page"); return; }
    const item = $$("#nav li[data-path]").find((li) => li.dataset.path === state.file.path);
    if (!item) return;
    const inside = state.file.functions.filter((f) => f.line <= state.line && state.line <= f.end).pop();
    const entry = inside && $(`a[data-line="${inside.line}"]`, item);
    const current = entry || $("a", item);
    current.setAttribute("aria-current", entry ? "true" : "page");
    current.scrollIntoView({ block: "nearest" });
  }

  // -- overview -----------------------------------------------------------------------------------

  const badge = (verdict) => el("span", { class: `badge v-${verdict}` }, verdict);
  const explain = (code) => $(`#page-${code}`)
    ? el("button", { type: "button", class: "linkish", "aria-haspopup": "dialog", onclick: () => showRule(code) }, code)
    : el("code", {}, code);

  function renderOverview() {
    const functions = data.files.flatMap((file) => file.functions.filter((f) => functionShown(file, f)).map((f) => [file, f]));
    const findings = data.files.flatMap((file) => file.findings.filter((f) => findingShown(file, f)).map((f) => [file, f]));
    const verdicts = new Map(), codes = new Map();
    for (const [, f] of functions) verdicts.set(f.verdict, (verdicts.get(f.verdict) || 0) + 1);
    for (const [, f] of findings) codes.set(f.code, [...(codes.get(f.code) || []), f]);
    const parts = [];
    if (functions.length) {
      const bar = el("div", { class: "bar", "aria-hidden": "true" }, [...verdicts].map(([v, n]) => {
        const part = el("span", { class: `v-${v}` });
        part.style.flexGrow = n;
        return part;
      }));
      const legend = el("div", { class: "legend" }, [...verdicts].map(([v, n]) =>
        el("span", {}, el("i", { class: `dot v-${v}`, "aria-hidden": "true" }), el("b", {}, String(n)), v)));
      const rows = functions.map(([file, f]) => el("tr", {},
        el("td", {}, el("a", { href: link(file, f.line) }, el("code", {}, f.name)),
          el("span", { class: "place" }, `${shortPath(file)}:${place(file, f.line)}`)),
        el("td", {}, badge(f.verdict)), el("td", { class: "short" }, f.stage), el("td", { class: "short" }, effort(f) || ""),
        el("td", {}, f.signature ? el("code", {}, f.signature) : ticks(f.because)),
        tally("findings", file.findings.filter((d) => d.function === f.name).length)));
      parts.push(el("h2", {}, plural(functions.length, "function")), bar, legend, el("h2", {}, "Functions"),
        table(["Function", "Verdict", "Stage", "Effort", "Signature", "Findings"], rows));
    }
    if (findings.length) {
      const order = [...codes].sort((a, b) => b[1].length - a[1].length || (a[0] < b[0] ? -1 : 1));
      parts.push(el("h2", {}, plural(findings.length, "finding")), table(["Code", "Rule", "Severity", "Found"],
        order.map(([code, all]) => el("tr", {}, el("td", {}, explain(code)), el("td", {}, all[0].name),
          el("td", {}, el("span", { class: `badge s-${all[0].severity}` }, all[0].severity)),
          tally("found", all.length)))));
      parts.push(el("h2", {}, "Findings"), table(["Place", "Code", "Message"], findings.map(([file, f]) => el("tr", {},
        el("td", {}, el("a", { href: link(file, f.line) }, `${shortPath(file)}:${place(file, f.line)}`)),
        el("td", {}, explain(f.code)), el("td", {}, ticks(f.message))))));
    }
    if (!parts.length) parts.push(el("p", { class: "empty" }, filtered() ? "Nothing matches the filters" : "Nothing found"));
    main.replaceChildren(el("div", { class: "overview" }, parts));
  }

  const tally = (label, n) => el("td", { class: "num", "data-label": label }, n ? String(n) : null);

  function table(heads, rows) {
    const last = ["Found", "Findings"].includes(heads.at(-1));
    return el("div", { class: "scroll", tabindex: "0" }, el("table", {},
      el("thead", {}, el("tr", {}, heads.map((h, n) => el("th", { scope: "col", class: last && n === heads.length - 1 ? "num" : null }, h)))),
      el("tbody", {}, rows)));
  }

  // `name` in a message is code
  const ticks = (text) => text.split("`").map((part, n) => (n % 2 ? el("code", {}, part) : part));

  // -- one file -------------------------------------------------------------------------------------

  function renderFile(file) {
    const both = Boolean(file.module && file.module.lines.length) && state.module;
    const source = el("section", { class: "pane source", "aria-label": `Source of ${file.path}` },
      el("h3", {}, "Source"), el("div", { class: "code", role: "list" }, sourceRows(file)));
    const module = both && el("section", { class: "pane module", "aria-label": "Generated module" },
      el("h3", {}, "Generated by porter convert: kernels and host functions"), el("div", { class: "code", role: "list" }, moduleRows(file)));
    const toggle = (name, label, key, on, wide) => el("button", {
      type: "button", class: wide ? "wide" : null, "data-tool": name, "aria-pressed": String(on), "aria-keyshortcuts": key,
      onclick: () => tool(name) }, label);
    const tab = (name, label) => el("button", { type: "button", "data-tab": name, "aria-pressed": String(state.tab === name), onclick: () => showTab(name) }, label);
    const failed = file.module && file.module.failed.length
      ? el("p", { class: "problem" }, `No module could be generated for ${file.module.failed.join(", ")}: ask porter convert`) : null;
    main.replaceChildren(el("div", { class: `file${state.wrap ? " wrap" : ""}` },
      el("div", { class: "file-head" }, el("h2", {}, file.path), el("div", { class: "tools" },
        both ? el("div", { class: "tabs" }, tab("source", "Source"), tab("module", "Module")) : null,
        file.numba ? toggle("types", "Types", "T", state.types) : null,
        file.module ? toggle("module", "Module", "g", state.module, true) : null,
        toggle("wrap", "Wrap", "w", state.wrap))),
      legendOf(file), file.problems.map((p) => el("p", { class: "problem" }, p)), failed,
      el("div", { class: `panes${both ? " both" : ""}`, "data-tab": state.tab }, source, module || null)));
    for (const pane of $$(".pane")) {
      widths.observe(pane);
      const first = $(".ln", pane);
      if (first) first.tabIndex = 0;
    }
    source.addEventListener("click", clicked);
    if (module) module.addEventListener("click", clicked);
    showTypes();
  }

  // rows between the lines are as wide as what is seen of the pane, not as its longest line
  const widths = new ResizeObserver((entries) => {
    for (const { target } of entries) target.style.setProperty("--pane", `${target.clientWidth}px`);
  });

  function legendOf(file) {
    const used = Object.keys(data.labels).filter((k) => file.kinds.includes(k));
    const items = used.map((k) => el("span", { class: `k-${k}` }, el("b", { class: "verdict" }, LETTERS[k]), data.labels[k]));
    if (file.numba) {
      for (const [k, [letter, label]] of Object.entries(NUMBA)) {
        if (file.numba.kinds.includes(k)) items.push(el("span", { class: `numba n-${k}${k === "l" ? " lifted" : ""}` }, el("b", { class: "verdict" }, letter), label));
      }
    }
    return items.length ? el("div", { class: "key", role: "group", "aria-label": "Legend" }, items) : null;
  }

  function sourceRows(file) {
    const rows = [], byLine = new Map();
    const linked = new Set(file.module ? file.module.from : []);
    for (const finding of file.findings) {
      const at = Math.min(finding.line, Math.max(file.lines.length, 1));
      byLine.set(at, [...(byLine.get(at) || []), finding]);
    }
    file.lines.forEach((runs, index) => {
      const line = index + 1, findings = byLine.get(line) || [], at = file.places && file.places[index];
      for (const one of file.functions) if (one.top === line) rows.push(banner(file, one));
      rows.push(...headings(file, line));
      if (at && !at[0]) return;
      if (at && at[1] === 1) rows.push(el("div", { class: "cell", role: "listitem" }, `Cell ${at[0]}`));
      const kind = file.kinds[index];
      const label = data.labels[kind] || "";
      const lifted = file.numba && file.numba.kinds[index] === "l" ? " lifted" : "";
      rows.push(el("div", { class: `ln k-${kind}${lifted}`, role: "listitem", "data-line": line, tabindex: "-1" },
        el("a", { class: "no", href: link(file, line), tabindex: "-1", "aria-label": `line ${line}` }, String(at ? at[1] : line)),
        verdictOf(kind, label, linked.has(statement(file, line))), numbaOf(file, line),
        el("span", { class: "text" }, textOf(runs, marksOn(file, line, runs)))));
      for (const finding of findings) rows.push(card(file, finding));
      rows.push(...notes(file, line));
    });
    if (!file.lines.length) for (const finding of byLine.get(1) || []) rows.push(card(file, finding));
    return rows;
  }

  const statement = (file, line) => file.starts[line] || line;

  function verdictOf(kind, label, linked) {
    const letter = LETTERS[kind] || "";
    if (!linked || !letter) return el("span", { class: "verdict", role: "img", title: label || null, "aria-label": label || null, "aria-hidden": label ? null : "true" }, letter);
    return el("button", { type: "button", class: "verdict", tabindex: "-1", title: `${label}: go to its lines`, "aria-label": `${label}: go to its lines` }, letter);
  }

  function numbaOf(file, line) {
    if (!file.numba) return null;
    const kind = NUMBA[file.numba.kinds[line - 1]];
    const has = file.numba.compiled.some((c) => c.types[line]);
    if (!kind && !has) return el("span", { class: "verdict", "aria-hidden": "true" });
    const [letter, label] = kind || ["t", "Numba"];
    const look = `verdict numba n-${file.numba.kinds[line - 1]}`;
    if (!has) return el("span", { class: look, role: "img", title: label, "aria-label": label }, letter);
    return el("button", { type: "button", class: look, "data-types": line, tabindex: "-1", "aria-expanded": "false", title: `${label}: types`, "aria-label": `${label}: types of line ${line}` }, letter);
  }

  /** The stretches of a line that findings mark; of a long block only its first line. */
  function marksOn(file, line, runs) {
    return file.findings.filter((f) => f.line <= line && line <= f.endLine && findingShown(file, f) &&
      (line === f.line || f.endLine - f.line < 6)).map((f) => {
      const text = runs.map((run) => run.slice(1)).join("");
      const from = line === f.line ? f.column : text.length - text.trimStart().length + 1;
      return { severity: f.severity, from, to: line < f.endLine ? Infinity : Math.max(f.endColumn, from + (line === f.line ? 1 : 0)) };
    });
  }

  function textOf(runs, marks) {
    const nodes = [];
    let at = 1;
    for (const run of runs) {
      // columns count characters, not the halves of pairs that JavaScript counts
      const chars = [...run.slice(1)];
      let from = 0;
      const cuts = new Set([chars.length]);
      for (const m of marks) for (const c of [m.from, m.to]) if (c > at && c < at + chars.length) cuts.add(c - at);
      for (const cut of [...cuts].sort((a, b) => a - b)) {
        const text = chars.slice(from, cut).join(""), column = at + from;
        const hit = marks.find((m) => m.from <= column && column < m.to);
        const plain = visible(text);
        const pieces = run[0] === "_" ? plain : [el("span", { class: `t-${run[0]}` }, plain)];
        nodes.push(...(hit ? [el("mark", { class: `s-${hit.severity}` }, pieces)] : pieces));
        from = cut;
      }
      at += chars.length;
    }
    return nodes.length ? nodes : ["\u200b"];
  }

  // what has no picture of its own, or would turn the direction of writing, is named instead
  const HIDDEN = /([\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff])/;
  const visible = (text) => text.split(HIDDEN).filter(Boolean).map((part) => {
    if (!HIDDEN.test(part)) return part;
    const name = `U+${part.charCodeAt(0).toString(16).toUpperCase().padStart(4, "0")}`;
    return el("span", { class: "hidden-char", "data-name": name }, el("span", { hidden: true }, part));
  });

  function banner(file, one) {
    const numba = file.numba ? file.numba.compiled.filter((c) => c.line === one.line) : [];
    return el("div", { class: `fn v-${one.verdict}`, role: "listitem", "data-function": one.name },
      el("strong", {}, one.name), badge(one.verdict), el("span", { class: "more" }, one.stage),
      one.signature ? el("code", { class: "more" }, one.signature) : null,
      one.reasons.length ? el("span", { class: "more" }, one.reasons.flatMap((c, n) => [n ? ", " : "", explain(c)])) : null,
      one.because ? el("span", { class: "more" }, ticks(one.because)) : null,
      effort(one) ? el("span", { class: "more" }, `effort: ${one.effort}`) : null,
      one.assumed.length ? el("span", { class: "more" }, `assumed: ${one.assumed.join("; ")}`) : null,
      numba.map(numbaText));
  }

  /** How much stands in the way; of a kernel or a function that converts, nothing is said. */
  const effort = (one) => one.effort !== "none" && one.effort;

  const numbaText = (compiled) => el("span", { class: "more" }, `Numba: ${compiled.text}`);

  /** A heading for what Numba compiled of functions without a verdict, such as ufuncs. */
  function headings(file, line) {
    const here = file.numba ? file.numba.compiled.filter((c) => c.line === line && !file.functions.some((f) => f.line === line)) : [];
    return here.length ? [el("div", { class: "fn", role: "listitem" }, el("strong", {}, here[0].name), here.map(numbaText))] : [];
  }

  function notes(file, line) {
    return !file.numba ? [] : file.numba.notes.filter((n) => n.line === line).map((n) => el("div", { class: "card", role: "listitem" },
      el("div", { class: `s-${n.severity}` }, el("p", { class: "head" }, el("span", { class: "sev" }, "Numba"), " ", ticks(n.text)),
        n.help ? el("p", { class: "help" }, el("b", {}, "help: "), ticks(n.help)) : null)));
  }

  function card(file, finding) {
    const fix = finding.fix, lines = fix ? fix.lines : [];
    const digits = Math.max(...lines.map(([, line]) => place(file, line).length));
    const safe = fix && fix.applies && el("code", {}, fix.safe ? "--fix" : "--fix --unsafe-fixes");
    return el("div", { class: "card", role: "listitem", "data-at": `${finding.line}:${finding.column}:${finding.code}`, tabindex: "-1", hidden: !findingShown(file, finding) },
      el("div", { class: `s-${finding.severity}` },
        el("p", { class: "head" }, el("span", { class: "sev" }, finding.severity), " ", explain(finding.code), " ", ticks(finding.message)),
        finding.notes.map((n) => el("p", { class: "note" }, el("a", { href: link(file, n.line) }, `line ${place(file, n.line)}`), ": ", ticks(n.text))),
        finding.help ? el("p", { class: "help" }, el("b", {}, "help: "), ticks(finding.help)) : null,
        safe ? el("p", { class: "help" }, "fix: ", safe, fix.safe ? " applies it" : " applies it; it may change what the code does") : null,
        lines.length ? el("pre", { tabindex: "0" }, lines.map(([sign, line, text]) =>
          el("span", { class: sign === "-" ? "del" : "add" }, `${place(file, line).padStart(digits)} ${sign} ${text}`))) : null));
  }

  function moduleRows(file) {
    return file.module.lines.map((runs, index) => {
      const from = file.module.from[index], where = file.module.where[index];
      return el("div", { class: `ln w-${where}`, role: "listitem", "data-line": index + 1, tabindex: "-1" },
        from ? el("button", { type: "button", class: `from${from === file.module.from[index - 1] ? " again" : ""}`, tabindex: "-1", title: "its source line", "aria-label": `from source line ${place(file, from)}` }, place(file, from).replace("cell ", ""))
          : el("span", { class: "from", "aria-hidden": "true" }),
        el("span", { class: "text" }, textOf(runs, [])));
    });
  }

  // -- lines that belong together -------------------------------------------------------------------

  const rowsOf = (pane) => $$(`.pane.${pane} .ln`);
  const row = (pane, line) => $(`.pane.${pane} .ln[data-line="${line}"]`);

  /** Mark a source statement and what was made of it; `from` is the pane that was clicked. */
  function mark(source, from, line) {
    const file = state.file, start = statement(file, source);
    for (const r of $$(".ln.linked, .ln.current")) r.classList.remove("linked", "current");
    for (const r of rowsOf("source")) if (source && statement(file, Number(r.dataset.line)) === start) r.classList.add("linked");
    let first = null;
    if (file.module && source) {
      for (const r of rowsOf("module")) {
        if (file.module.from[r.dataset.line - 1] === start) { r.classList.add("linked"); first = first || r; }
      }
    }
    const current = row(from, line);
    if (current) current.classList.add("current");
    if (from === "module") first = source ? row("source", start) : null;
    if (first) into(first);
    else if (from === "source") near(source);
    return first;
  }

  /** Show the first generated line of the function around a source line. */
  function near(line) {
    const file = state.file, inside = file.functions.filter((f) => f.line <= line && line <= f.end).pop();
    const n = inside && file.module ? file.module.from.findIndex((s) => s >= inside.line && s <= inside.end) : -1;
    if (n >= 0 && row("module", n + 1)) into(row("module", n + 1));
  }

  function into(r) {
    const pane = r.closest(".pane");
    if (!pane || !pane.clientHeight) return;
    const top = r.offsetTop - pane.scrollTop;
    if (top < 40 || top > pane.clientHeight - 80) pane.scrollTop = r.offsetTop - pane.clientHeight / 3;
  }

  function select(pane, line, focus = true) {
    const file = state.file;
    const source = pane === "source" ? line : file.module.from[line - 1];
    const other = mark(source, pane, line);
    for (const r of $$(`.pane.${pane} .ln[tabindex="0"]`)) r.tabIndex = -1;
    const r = row(pane, line);
    if (r) {
      r.tabIndex = 0;
      into(r);
      if (focus) r.focus({ preventScroll: true });
    }
    if (pane === "source") {
      state.line = line;
      history.replaceState(null, "", link(file, line));
      markNav();
    }
    return other;
  }

  function cross(pane, line) {
    const other = select(pane, line);
    if (!other) return;
    const to = pane === "source" ? "module" : "source";
    showTab(to);
    const at = Number(other.dataset.line);
    select(to, at);
  }

  function clicked(event) {
    const r = event.target.closest(".ln");
    if (!r || getSelection().toString()) return;
    const pane = r.closest(".pane").classList.contains("module") ? "module" : "source", line = Number(r.dataset.line);
    const button = event.target.closest("button");
    if (event.target.closest("a")) event.preventDefault();
    if (button && button.dataset.types) { select(pane, line); toggleTypes(line); return; }
    if (button) { cross(pane, line); return; }
    select(pane, line);
  }

  function showTab(name) {
    state.tab = name;
    const panes = $(".panes");
    if (panes) panes.dataset.tab = name;
    for (const b of $$("[data-tab]", $(".tools") || main)) b.setAttribute("aria-pressed", String(b.dataset.tab === name));
  }

  // -- Numba's types ----------------------------------------------------------------------------------

  function typesOf(line) {
    const said = state.file.numba.compiled.filter((c) => c.types[line] && c.types[line].length);
    // one signature is said at the head of its function
    const parts = said.flatMap((c) => [
      said.length > 1 ? el("h4", {}, `${c.name}(${c.signature}), ${c.target}`) : null,
      el("ul", {}, c.types[line].map((t) => el("li", {}, t)))]).filter(Boolean);
    return parts.length ? el("div", { class: "types", role: "listitem", "data-types-of": line }, el("div", {}, parts)) : null;
  }

  function toggleTypes(line, wanted) {
    const r = row("source", line), shown = $(`[data-types-of="${line}"]`);
    const on = wanted === undefined ? !shown : wanted;
    if (!r || !state.file.numba || on === Boolean(shown)) return;
    const types = on ? typesOf(line) : null;
    if (shown) shown.remove();
    if (types) r.after(types);
    const button = $("[data-types]", r);
    if (button) button.setAttribute("aria-expanded", String(Boolean(types)));
  }

  function showTypes() {
    if (state.file.numba) for (const r of rowsOf("source")) toggleTypes(Number(r.dataset.line), state.types);
  }

  // -- tools, dialogs, colours -------------------------------------------------------------------------

  function tool(name) {
    state[name] = !state[name];
    if (!state.file) return;
    if (name === "module") { const line = state.line; renderFile(state.file); if (line) select("source", line, false); }
    if (name === "wrap") $(".file").classList.toggle("wrap", state.wrap);
    if (name === "types") showTypes();
    const button = $(`[data-tool="${name}"]`);
    if (button) button.setAttribute("aria-pressed", String(state[name]));
  }

  function showRule(code) {
    const page = $(`#page-${code}`);
    $("#rule-title").textContent = `${code} ${page.dataset.name}`;
    $("#rule-page").replaceChildren(page.content.cloneNode(true));
    $("#rule").showModal();
  }

  const dark = () => (document.documentElement.dataset.theme
    || (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light")) === "dark";

  function setTheme(theme) {
    if (theme) document.documentElement.dataset.theme = theme;
    $("#theme").setAttribute("aria-pressed", String(dark()));
  }

  // a browser may refuse storage to local files
  function remembered(value) {
    try {
      if (value) localStorage.setItem("porter-theme", value);
      return localStorage.getItem("porter-theme");
    } catch { return null; }
  }

  function flip() {
    const theme = dark() ? "light" : "dark";
    setTheme(theme);
    remembered(theme);
  }

  // -- moving about --------------------------------------------------------------------------------------

  function steps(kind) {
    const found = [];
    for (const file of data.files) {
      const items = kind === "finding" ? file.findings.filter((f) => findingShown(file, f))
        : file.functions.filter((f) => functionShown(file, f));
      for (const item of items) found.push([file, item]);
    }
    return found;
  }

  let at = null;
  function step(kind, by) {
    const all = steps(kind);
    if (!all.length) return;
    let n = all.findIndex(([, item]) => item === at);
    if (n < 0) {
      const here = data.files.indexOf(state.file);
      const after = all.findIndex(([file, item]) => data.files.indexOf(file) > here || (file === state.file && item.line > state.line));
      n = by > 0 ? (after < 0 ? 0 : after) : (after < 0 ? all.length : after) - 1;
    } else n += by;
    const [file, item] = all[(n + all.length) % all.length];
    open(file, item.line);
    at = item;
    if (kind === "finding") showCard(item);
  }

  function showCard(item) {
    for (const c of $$(".card.active")) c.classList.remove("active");
    const one = $$(".card").find((c) => c.dataset.at === `${item.line}:${item.column}:${item.code}`);
    if (one) { one.classList.add("active"); one.focus({ preventScroll: true }); into(one); }
  }

  function move(by) {
    const active = document.activeElement;
    const pane = active && active.closest(".pane.module") ? "module" : "source";
    const rows = rowsOf(pane);
    if (!rows.length) return;
    const now = active && active.closest(".ln") ? active.closest(".ln") : row("source", state.line);
    const n = now ? rows.indexOf(now) + by : 0;
    if (rows[n]) select(pane, Number(rows[n].dataset.line));
  }

  function open(file, line) {
    at = null;
    const changed = state.file !== file;
    state.file = file;
    state.line = line || 0;
    if (changed || !$(".file")) { renderFile(file); document.title = `${file.path} – porter`; }
    if (line) { showTab("source"); select("source", line); } else {
      history.replaceState(null, "", link(file));
      markNav();
    }
    openMenu(false);
  }

  function overview() {
    state.file = null;
    at = null;
    renderOverview();
    markNav();
    openMenu(false);
    if (location.hash !== "#/") history.replaceState(null, "", "#/");
  }

  function route() {
    let path = location.hash.slice(2);
    try { path = decodeURIComponent(path); } catch { /* an odd % is part of the name */ }
    const exact = data.files.find((f) => f.path === path);
    const match = /^(.*):(\d+)$/.exec(path);
    const file = exact || (match && data.files.find((f) => f.path === match[1]));
    if (file) open(file, exact ? 0 : Number(match[2]));
    else if (!location.hash && data.files.length === 1) open(data.files[0], 0);
    else overview();
  }

  function stepFile(by) {
    const files = data.files.filter(anyShown), n = files.indexOf(state.file);
    if (files.length) open(files[(n + by + files.length + (n < 0 && by < 0 ? 1 : 0)) % files.length], 0);
  }

  // -- filters ------------------------------------------------------------------------------------------

  function renderCounts() {
    const shown = (kind, all) => {
      const n = steps(kind).length;
      return filtered() ? `${n} of ${plural(all, kind)}` : plural(n, kind);
    };
    const count = (name) => data.files.reduce((n, f) => n + f[name].length, 0);
    $("#shown").textContent = `${shown("finding", count("findings"))}, ${shown("function", count("functions"))}`;
    $("#clear").hidden = !filtered();
  }

  function refresh() {
    renderNav();
    renderCounts();
    if (state.file === null) { renderOverview(); return; }
    const line = state.line, scroll = $(".pane.source") ? $(".pane.source").scrollTop : 0;
    renderFile(state.file);
    if (line) mark(line, "source", line);
    $(".pane.source").scrollTop = scroll;
  }

  function clear() {
    for (const chosen of Object.values(picked)) chosen.clear();
    for (const chip of $$(".chip")) chip.setAttribute("aria-pressed", "false");
    for (const input of Object.values(form)) input.value = "";
    refresh();
  }

  function openMenu(on) {
    $("#nav").classList.toggle("open", on);
    $("#menu").setAttribute("aria-expanded", String(on));
  }

  for (const chip of $$(".chip")) {
    chip.addEventListener("click", () => {
      const chosen = picked[chip.dataset.filter], value = chip.dataset.value;
      if (!chosen.delete(value)) chosen.add(value);
      chip.setAttribute("aria-pressed", String(chosen.has(value)));
      refresh();
    });
  }
  form.code.addEventListener("change", refresh);
  form.function.addEventListener("input", refresh);
  form.file.addEventListener("change", () => {
    const file = data.files.find((f) => f.path === form.file.value);
    refresh();
    if (file && state.file && state.file !== file) open(file, 0);
  });
  $("#filters").addEventListener("submit", (event) => event.preventDefault());
  $("#filters").addEventListener("reset", (event) => { event.preventDefault(); clear(); });
  $("#theme").addEventListener("click", flip);
  $("#keys-button").addEventListener("click", () => $("#keys").showModal());
  $("#menu").addEventListener("click", () => openMenu(!$("#nav").classList.contains("open")));
  $("#filter-button").addEventListener("click", () => {
    const on = $("#filters").classList.toggle("open");
    $("#filter-button").setAttribute("aria-expanded", String(on));
  });
  for (const dialog of $$("dialog")) dialog.addEventListener("click", (event) => { if (event.target === dialog) dialog.close(); });

  function enter() {
    const r = document.activeElement && document.activeElement.closest(".ln");
    if (!r) return false;
    cross(r.closest(".pane").classList.contains("module") ? "module" : "source", Number(r.dataset.line));
    return true;
  }

  const KEYS = {
    j: () => step("finding", 1), k: () => step("finding", -1), n: () => step("function", 1), p: () => step("function", -1),
    "]": () => stepFile(1), "[": () => stepFile(-1), o: overview, d: flip, w: () => tool("wrap"), g: () => tool("module"),
    t: () => { if (state.file && state.line) toggleTypes(state.line); }, T: () => tool("types"), c: clear,
    e: () => { const item = at && at.code ? at : state.file && state.file.findings.find((f) => f.line === state.line); if (item && $(`#page-${item.code}`)) showRule(item.code); },
    "/": () => { if (narrow.matches) $("#filters").classList.add("open"); form.function.focus(); }, "?": () => $("#keys").showModal(),
    ArrowDown: () => move(1), ArrowUp: () => move(-1), Escape: () => openMenu(false),
  };

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || $("dialog[open]")) return;
    const typing = event.target.closest("input, select, textarea");
    if (typing) { if (event.key === "Escape") event.target.blur(); return; }
    if (event.key === "Enter" && !event.target.closest("a, button") && enter()) { event.preventDefault(); return; }
    const arrow = event.key.startsWith("Arrow");
    const action = KEYS[event.key];
    if (!action || (arrow && (!state.file || !(event.target === document.body || event.target === main || event.target.closest(".pane"))))) return;
    event.preventDefault();
    action();
  });

  window.addEventListener("hashchange", route);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => setTheme(null));
  setTheme(remembered());
  renderNav();
  renderCounts();
  route();
})();
