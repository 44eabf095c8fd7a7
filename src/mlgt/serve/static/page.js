// The page: one text at a time, its suggested labels, and the decisions of the person who tags.
// Whatever comes from a text or a model reaches the document as text, never as markup.

import { listModels, searchLabels, ServerError, tag, useToken } from "./api.js";
import { readTexts, toJsonLines } from "./files.js";
import { showMarks } from "./marks.js";
import { makeSearch } from "./search.js";

const SUGGESTED = 50;
const PAUSE = 120; // milliseconds without a key press before a request is sent
const SHOWN_SAVED = 100;

const $ = (id) => document.getElementById(id);
const make = (name, className, text) => Object.assign(document.createElement(name), { className, textContent: text ?? "" });

const state = {
  facts: null, // of the chosen model
  suggestions: [],
  decisions: new Map(), // label -> "accepted" or "rejected"; in the order of the decisions
  explained: null, // the label whose words are marked
  queue: [], // texts of an opened file
  at: 0,
  saved: [],
};
let models = [];

// What the person has decided.

const chosen = () => [...state.decisions].filter(([, is]) => is === "accepted").map(([label]) => label);

function decide(label, decision) {
  if (state.decisions.get(label) === decision) state.decisions.delete(label);
  else state.decisions.set(label, decision);
  showDecisions();
}

function setText(text, labels = []) {
  $("text").value = text;
  state.decisions = new Map(labels.map((label) => [label, "accepted"]));
  state.explained = null;
  showDecisions();
  suggest();
}

// Suggestions, as the person types.

let asking = new AbortController();
let pause = 0;

function suggestSoon() {
  showMarks($("marks"), $("text").value, []);
  clearTimeout(pause);
  pause = setTimeout(suggest, PAUSE);
}

async function suggest() {
  clearTimeout(pause);
  asking.abort();
  asking = new AbortController();
  const { signal } = asking;
  const text = $("text").value;
  if (!text.trim() || !state.facts) {
    state.suggestions = [];
    showSuggestions();
    return;
  }
  await guarded(async () => {
    state.suggestions = await tag(state.facts.name, { text, k: SUGGESTED }, signal);
    showSuggestions();
    if (state.explained !== null) await explain(state.explained, signal);
  });
}

async function explain(label, signal) {
  const text = $("text").value;
  const [found] = await tag(state.facts.name, { text, k: 1, among: [label], explain: true }, signal);
  if (state.explained !== label || $("text").value !== text) return;
  showMarks($("marks"), text, found ? found.marks : []);
  showReasons(label, found);
}

function toggleWords(label) {
  state.explained = state.explained === label ? null : label;
  showMarks($("marks"), $("text").value, []);
  showSuggestions();
  if (state.explained !== null) guarded(() => explain(label, asking.signal));
}

// The list of suggested labels.

const isProbability = () => state.facts.value === "probability";
const valueOf = (one) => one[state.facts.value];
const formatValue = (value) => (isProbability() ? `${(100 * value).toFixed(value < 0.0995 ? 1 : 0)} %` : value.toFixed(2));
const threshold = () => (isProbability() ? Number($("threshold").value) / 100 : -Infinity);
const shown = () => state.suggestions.filter((one) => valueOf(one) >= threshold() || one.label === state.explained);

function showSuggestions() {
  const list = shown();
  const most = Math.max(...state.suggestions.map(valueOf), 1e-9);
  const least = Math.min(...state.suggestions.map(valueOf), 0);
  const width = (value) => (isProbability() ? value : (value - least) / (most - least || 1));
  $("labels").replaceChildren(...list.map((one) => labelItem(one, width(valueOf(one)))));
  $("accept-shown").disabled = !list.length;
  $("threshold-value").value = `${$("threshold").value} %`;
  $("state").textContent = describeSuggestions(list);
}

function describeSuggestions(list) {
  if (!$("text").value.trim()) return "Labels appear here as you type.";
  if (!state.suggestions.length) return "The model knows no word of this text.";
  if (!list.length) return `No label has a probability of ${$("threshold").value} %. The best one has ${formatValue(valueOf(state.suggestions[0]))}.`;
  return `${list.length} ${list.length === 1 ? "label" : "labels"}; the best is ${list[0].label}, ${formatValue(valueOf(list[0]))}.`;
}

function labelItem(one, share) {
  const item = make("li");
  item.dataset.label = one.label;
  const name = make("button", "name", one.label);
  name.type = "button";
  name.title = one.id ?? "";
  name.setAttribute("aria-expanded", String(state.explained === one.label));
  name.setAttribute("aria-keyshortcuts", "A R");
  const bar = make("span", "bar");
  bar.style.width = `${Math.max(0, Math.min(1, share)) * 100}%`;
  name.append(bar);
  name.addEventListener("click", () => { toggleWords(one.label); focusLabel(one.label); });
  item.append(name, make("span", "value", formatValue(valueOf(one))));
  for (const [kind, sign, word] of [["accept", "✓", "Accept"], ["reject", "✗", "Reject"]]) {
    const button = make("button", kind, sign);
    button.type = "button";
    button.setAttribute("aria-label", `${word} ${one.label}`);
    button.addEventListener("click", () => decide(one.label, `${kind}ed`));
    item.append(button);
  }
  const reasons = make("div", "reasons");
  reasons.hidden = state.explained !== one.label;
  item.append(reasons);
  showDecision(item);
  return item;
}

const itemOf = (label) => [...$("labels").children].find((item) => item.dataset.label === String(label));
const focusLabel = (label) => itemOf(label)?.querySelector(".name").focus();

function showDecision(item) {
  const decision = state.decisions.get(labelOf(item));
  item.className = [decision ?? "", state.explained === labelOf(item) ? "shown" : ""].join(" ").trim();
  item.querySelector(".accept").setAttribute("aria-pressed", String(decision === "accepted"));
  item.querySelector(".reject").setAttribute("aria-pressed", String(decision === "rejected"));
}

// Labels without names are numbers; the document keeps texts.
const labelOf = (item) => state.suggestions.find((one) => String(one.label) === item.dataset.label)?.label ?? item.dataset.label;

function showReasons(label, found) {
  const place = itemOf(label)?.querySelector(".reasons");
  if (!place) return;
  const line = (kind, sign) => {
    const words = (found?.words ?? []).filter(([, share]) => share * sign > 0).slice(0, 8);
    const row = make("p");
    const listed = words.map(([word, share]) => `${word} ${share > 0 ? "+" : "−"}${Math.abs(share).toFixed(2)}`);
    row.append(make("b", kind, `${kind[0].toUpperCase()}${kind.slice(1)} it: `), listed.join(", ") || "no word");
    return row;
  };
  place.replaceChildren(line("for", 1), line("against", -1));
}

// The labels of this text, and the search for others.

function showDecisions() {
  for (const item of $("labels").children) showDecision(item);
  const labels = chosen();
  $("chosen").replaceChildren(...labels.map((label) => {
    const item = make("li", "", label);
    const remove = make("button", "", "×");
    remove.type = "button";
    remove.setAttribute("aria-label", `Remove ${label}`);
    remove.addEventListener("click", () => { decide(label, "accepted"); $("search").focus(); });
    item.append(remove);
    return item;
  }));
  $("none-chosen").hidden = labels.length > 0;
}

function add(label) {
  state.decisions.set(label, "accepted");
  showDecisions();
}

// Saved texts.

const storageKey = () => `mlgt-saved:${state.facts.name}`;

function keep() {
  try {
    localStorage.setItem(storageKey(), JSON.stringify({ saved: state.saved, queue: state.queue, at: state.at }));
  } catch {
    report("The browser has no room to keep the saved texts; download them before you close the page.");
  }
}

function restore() {
  let kept = {};
  try {
    kept = JSON.parse(localStorage.getItem(storageKey())) ?? {};
  } catch { /* nothing that can be read */ }
  Object.assign(state, { saved: kept.saved ?? [], queue: kept.queue ?? [], at: kept.at ?? 0 });
}

function save() {
  const text = $("text").value;
  if (!text.trim()) return report("There is no text to save.");
  if (!chosen().length) return report("The text has no label yet. Accept a suggested label or add one, then save it.");
  state.saved = [...state.saved.filter((row) => row.text !== text), { text, labels: chosen() }];
  report("");
  if (state.queue.length && state.at < state.queue.length - 1) go(state.at + 1);
  else setText("");
  keep();
  showSaved();
  $("text").focus();
}

function showSaved() {
  const n = state.saved.length;
  $("saved-count").textContent = n ? `${n} ${n === 1 ? "text" : "texts"}` : "none yet";
  for (const id of ["download", "forget"]) $(id).disabled = !n;
  $("command").textContent = `mlgt update ${state.facts.name} corrected.jsonl --out ${state.facts.name}-2`;
  $("saved").replaceChildren(...state.saved.slice(-SHOWN_SAVED).reverse().map((row) => {
    const item = make("li");
    const line = make("div");
    const edit = make("button", "", "Edit");
    edit.type = "button";
    edit.setAttribute("aria-label", `Edit ${row.text.slice(0, 60)}`);
    edit.addEventListener("click", () => { setText(row.text, row.labels); $("text").focus(); });
    line.append(make("span", "said", row.text.length > 200 ? `${row.text.slice(0, 200)}…` : row.text), edit);
    item.append(line, make("div", "its-labels", row.labels.join(" · ")));
    return item;
  }));
}

function download() {
  const url = URL.createObjectURL(new Blob([toJsonLines(state.saved, state.facts)], { type: "application/x-ndjson" }));
  Object.assign(document.createElement("a"), { href: url, download: "corrected.jsonl" }).click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

// Files of texts.

async function openFile(file) {
  if (!file) return;
  try {
    state.queue = readTexts(file.name, await file.text(), state.facts);
    report("");
    go(0);
    keep();
  } catch (error) {
    report(error.message);
  }
}

function go(place) {
  state.at = Math.max(0, Math.min(place, state.queue.length - 1));
  const row = state.queue[state.at];
  const saved = state.saved.find((one) => one.text === row?.text);
  if (row) setText(row.text, (saved ?? row).labels);
  showQueue();
}

function showQueue() {
  const n = state.queue.length;
  $("queue").hidden = n < 2;
  $("place").textContent = `${state.at + 1} of ${n}`;
  $("previous").disabled = state.at === 0;
  $("next").disabled = state.at >= n - 1;
}

// Models, messages, keys.

function useModel(name) {
  state.facts = models.find((one) => one.name === name);
  const { labels, training_rows: rows, takes } = state.facts;
  $("facts").textContent = `${labels.toLocaleString("en")} labels, learnt from ${rows.toLocaleString("en")} rows`;
  $("slider").hidden = !isProbability();
  restore();
  showSaved();
  showQueue();
  const ofTexts = takes === "texts";
  $("text").disabled = !ofTexts;
  report(ofTexts ? "" : `${name} takes rows of features, not texts; programs ask it as described under API.`);
  if (!ofTexts) setText("");
  else if (!$("text").value && state.queue.length) go(state.at);
  else setText($("text").value, chosen());
}

function report(message) {
  $("problem").textContent = message;
  $("problem").hidden = !message;
}

// Run something that asks the server, and show what goes wrong.
async function guarded(work) {
  try {
    await work();
    if ($("problem").dataset.from === "server") report("");
    $("problem").dataset.from = "";
  } catch (error) {
    if (error.name === "AbortError") return;
    if (error instanceof ServerError && error.status === 401) return askToken();
    $("problem").dataset.from = "server";
    report(error.message);
  }
}

function askToken() {
  if (!$("ask-token").open) $("ask-token").showModal();
}

async function start() {
  await guarded(async () => {
    models = await listModels();
    $("model").replaceChildren(...models.map((one) => new Option(one.name, one.name)));
    useModel(models[0].name);
  });
}

function labelKey(event) {
  const item = event.target.closest("li");
  if (!item || event.ctrlKey || event.metaKey || event.altKey) return;
  const step = { ArrowDown: "nextElementSibling", ArrowUp: "previousElementSibling" }[event.key];
  const decision = { a: "accepted", r: "rejected" }[event.key.toLowerCase()];
  if (step) item[step]?.querySelector(".name").focus();
  else if (decision) decide(labelOf(item), decision);
  else return;
  event.preventDefault();
}

function pageKey(event) {
  if ((event.ctrlKey || event.metaKey) && event.key === "Enter") {
    event.preventDefault();
    save();
  }
  if (!event.altKey || event.ctrlKey || event.metaKey) return;
  const actions = {
    KeyT: () => $("text").focus(),
    KeyL: () => $("labels").querySelector(".name")?.focus(),
    KeyS: () => $("search").focus(),
    KeyN: () => state.queue.length && go(state.at + 1),
    KeyP: () => state.queue.length && go(state.at - 1),
  };
  if (!actions[event.code]) return;
  event.preventDefault();
  actions[event.code]();
}

$("text").addEventListener("input", suggestSoon);
$("text").addEventListener("scroll", () => { $("marks").scrollTop = $("text").scrollTop; });
$("labels").addEventListener("keydown", labelKey);
$("threshold").addEventListener("input", showSuggestions);
$("accept-shown").addEventListener("click", () => {
  for (const one of shown()) if (!state.decisions.has(one.label)) state.decisions.set(one.label, "accepted");
  showDecisions();
});
makeSearch($("search"), $("found"), {
  find: (query, signal) => searchLabels(state.facts.name, query, signal),
  add,
  guarded,
});
$("save").addEventListener("click", save);
$("clear").addEventListener("click", () => { setText(""); $("text").focus(); });
$("download").addEventListener("click", download);
$("forget").addEventListener("click", () => {
  if (!confirm(`Remove ${state.saved.length} saved texts from this browser?`)) return;
  Object.assign(state, { saved: [], queue: [], at: 0 });
  keep();
  showSaved();
  showQueue();
});
$("open").addEventListener("click", () => $("file").click());
$("file").addEventListener("change", () => { openFile($("file").files[0]); $("file").value = ""; });
$("previous").addEventListener("click", () => go(state.at - 1));
$("next").addEventListener("click", () => go(state.at + 1));
$("model").addEventListener("change", () => useModel($("model").value));
$("show-help").addEventListener("click", () => $("help").showModal());
$("ask-token").addEventListener("close", () => { useToken($("token").value.trim()); start(); });
document.addEventListener("keydown", pageKey);
for (const kind of ["dragover", "dragleave", "drop"]) {
  document.addEventListener(kind, (event) => {
    event.preventDefault();
    $("editor").classList.toggle("dropping", kind === "dragover");
    if (kind === "drop") openFile(event.dataTransfer.files[0]);
  });
}
start();
