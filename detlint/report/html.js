"use strict";
// Filters the findings, and opens what a link points at.
const form = document.querySelector("form"), found = [...document.querySelectorAll(".finding")];
const groups = [...document.querySelectorAll(".group")], told = form.querySelector("output");
const texts = new Map(); // what a finding says, read when it is first searched

function text(one) {
  if (!texts.has(one)) texts.set(one, one.textContent.toLowerCase());
  return texts.get(one);
}

function filter() {
  const words = form.words.value.toLowerCase().split(/\s+/).filter(Boolean);
  const levels = new FormData(form).getAll("level"), rule = form.rule.value, file = form.file.value;
  let count = 0;
  for (const one of found) {
    const { level, rule: code, file: path } = one.dataset;
    one.hidden = !(levels.includes(level) && (!rule || rule === code) && (!file || file === path)
      && words.every((word) => text(one).includes(word)));
    count += !one.hidden;
  }
  for (const group of groups) group.hidden = !group.querySelector(".finding:not([hidden])");
  told.textContent = `${count} of ${found.length} findings shown`;
}

function follow() {
  const target = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (!target) return;
  if (target.closest("[hidden]")) form.reset();
  const fold = target.matches("details") ? target : target.querySelector(":scope > details:not(.flow)");
  if (fold && target.matches(".finding, .rule")) fold.open = true;
  target.scrollIntoView();
}

let closed = []; // what was opened to be printed
const MOST = 500;

form.hidden = false;
form.addEventListener("input", filter);
form.addEventListener("reset", () => setTimeout(filter));
form.addEventListener("submit", (event) => event.preventDefault());
form.elements.open.addEventListener("click", () => {
  const folds = found.filter((one) => !one.hidden).slice(0, MOST).flatMap((one) => [...one.querySelectorAll("details")]);
  const open = folds.some((fold) => !fold.open);
  for (const fold of folds) fold.open = open;
  form.elements.open.textContent = open ? "Close shown" : "Open shown";
});
addEventListener("beforeprint", () => {
  closed = [...document.querySelectorAll("details:not([open])")].filter((fold) => !fold.closest("[hidden]")).slice(0, MOST);
  for (const fold of closed) fold.open = true;
});
addEventListener("afterprint", () => { for (const fold of closed) fold.open = false; });
addEventListener("hashchange", follow);
filter();
follow();
