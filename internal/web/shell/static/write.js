// Saves the text while the author types: in this browser at once, on the server shortly after.
// Without this file the page works, except for dropped files, the live preview and the
// automatic saving.

const byId = (id) => document.getElementById(id);
const form = byId("write");
const minutesAt = (t) => -new Date(t).getTimezoneOffset();
const pad = (n) => String(n).padStart(2, "0");

// The page also works if the browser's storage is not available.
const kept = {
  get(name) { try { return JSON.parse(localStorage.getItem(name)); } catch { return null; } },
  put(name, value) { try { localStorage.setItem(name, JSON.stringify(value)); return true; } catch { return false; } },
  drop(name) { try { localStorage.removeItem(name); } catch { /* storage is not available */ } },
  names() { try { return Object.keys(localStorage); } catch { return []; } },
};

// Drops the local copy of a saved post.
const saved = document.querySelector("[data-done]");
if (saved) for (const part of saved.dataset.done.split(" ")) if (part) kept.drop(`write:${saved.dataset.user}:${part}`);

if (form) start();

function start() {
  const f = form.elements;
  const text = byId("w-source");
  const user = form.dataset.user;
  const { short, urls } = form.dataset;
  const unseen = () => form.dataset.state === "published" || form.dataset.state === "scheduled";
  const recordName = () => `write:${user}:${+f.id.value || f.key.value}`;
  const revision = () => `${f.base.value}.${f.copybase.value}`;
  let stopped = form.hasAttribute("data-conflict"); // nothing is sent before the author has chosen a version
  let last, dirty = false, saving = null, timer = 0, looking = 0, lookup = null, tries = 0, passing = false;

  document.cookie = `tz=${Intl.DateTimeFormat().resolvedOptions().timeZone || minutesAt(Date.now())}; path=/; max-age=31536000; samesite=lax`;

  function say(words, bad, label, act) {
    const state = byId("w-state");
    if (!state) return;
    state.textContent = words;
    state.classList.toggle("bad", !!bad);
    if (!label) return;
    const button = document.createElement("button");
    Object.assign(button, { type: "button", className: "quiet", textContent: label, onclick: act });
    state.append(button);
  }

  const sent = () => {
    const all = new FormData(form);
    for (const name of ["upload", "do", "password", "name", "file-url"]) all.delete(name);
    return new URLSearchParams(all);
  };
  // The text and properties of the post, without revision and session fields.
  const written = () => {
    const all = sent();
    for (const name of ["id", "base", "copy", "copybase", "key", "offset", "was"]) all.delete(name);
    return all.toString();
  };
  const isEmpty = () => ![..."title source link categories outline reply".split(" ").map((n) => f[n].value.trim()), form.querySelector(".file, #w-card [name=card-url]") ? "x" : ""].join("");

  // In this browser.
  function keep() {
    if (isEmpty() && !+f.id.value) return kept.drop(recordName());
    return kept.put(recordName(), { at: Date.now(), rev: revision(), sent: sent().toString() });
  }
  async function restore() {
    if (form.hasAttribute("data-back")) return touched(true); // the form has the latest text
    if (kept.names().some((n) => n.startsWith(`write:${user}:`))) (await import(form.dataset.kept)).restore({ form, kept, user, recordName, revision, written, isEmpty, touched, save, say, files, cards });
  }

  // On the server.
  async function save(leaving) {
    clearTimeout(timer);
    if (saving) return saving;
    if (stopped || !dirty || isEmpty() && !+f.id.value) return;
    dirty = false;
    const slow = setTimeout(() => say(t("Saving…")), 300);
    saving = send(leaving === true);
    await saving;
    clearTimeout(slow);
    saving = null;
    if (dirty && !stopped) timer = setTimeout(save, tries ? Math.min(30000, 2000 * 2 ** tries) : 2000);
  }
  async function send(leaving) {
    const body = sent();
    const before = recordName();
    let a;
    try {
      const answer = await fetch("/write/draft", { method: "POST", body, keepalive: leaving && body.toString().length < 60000 });
      a = await answer.json();
    } catch {
      dirty = true;
      tries++;
      return say(t("Not saved on the server: no connection. Your text is stored in this browser."), true);
    }
    if (a.ok) {
      tries = 0;
      for (const name of ["id", "base", "copy", "copybase"]) if (a[name]) f[name].value = a[name];
      if (before !== recordName()) kept.drop(before);
      if (dirty) keep();
      else kept.drop(recordName());
      if (a.path && location.pathname !== a.path) history.replaceState(null, "", a.path);
      return say(unseen() ? t("Saved; readers do not see the change yet") : t("Saved"));
    }
    if (a.conflict) {
      stopped = true;
      return say(t("Not saved: this post was changed elsewhere. Your text is stored in this browser."), true, t("Compare"), () => go("draft"));
    }
    dirty = true;
    tries++;
    if (a.login) return say(t("Not saved: you are signed out. Your text is stored in this browser. Sign in in another tab to continue."), true, t("Sign in"), () => window.open(a.login, "_blank", "noopener"));
    if (a.error) { dirty = false; say(`${t("Not saved on the server; your text is stored in this browser.")} ${a.error}`, true); }
  }

  function touched(always) {
    const now = written();
    if (now === last && !always) return;
    last = now;
    const here = keep() !== false;
    dirty = true;
    if (!stopped) say(here ? "" : t("This browser stores nothing; your text is saved on the server only"));
    clearTimeout(timer);
    timer = setTimeout(save, 2000);
    grow();
    count();
    clearTimeout(looking);
    looking = setTimeout(look, 350);
  }

  function grow() {
    if (CSS.supports("field-sizing", "content")) return;
    text.style.height = "auto";
    text.style.height = `${text.scrollHeight}px`;
  }

  // Counts visible characters. The URL of the link does not count if the text repeats it.
  const segments = window.Intl?.Segmenter && new Intl.Segmenter();
  const characters = (s) => segments ? [...segments.segment(s)].length : [...s].length;
  function withoutURL(s, url) {
    if (!url || !s.includes(url)) return s;
    return s.split(/\s+/).map((word) => {
      const rest = word.replace(url, () => "");
      return /^[.,;:!?()[\]{}<>"']*$/.test(rest) ? rest : word;
    }).filter(Boolean).join(" ");
  }
  const counted = (s) => urls ? s.replace(/https?:\/\/[^\s<>"']+[^\s<>"'.,;:!?)\]}]/g, urls === "short" ? "x".repeat(23) : "") : s;
  // The counter: first an estimate, then the number from the server.
  function show(n, limit, over) {
    const at = byId("w-count");
    at.classList.toggle("over", over);
    at.textContent = short === "off" ? "" : over ? t("%d over", n - limit) : limit ? t("%d left", limit - n) : n ? n === 1 ? t("1 character") : t("%d characters", n) : "";
  }
  function count() {
    const limit = f.title.value.trim() || f.outline.value ? 0 : +form.dataset.limit;
    const n = characters(counted(withoutURL(text.value.trim(), f.link.value.trim())));
    show(n, limit, limit > 0 && n > limit);
  }
  async function look() {
    lookup?.abort();
    lookup = new AbortController();
    const open = !byId("look").hidden;
    const body = sent();
    if (open) body.set("look", "1");
    try {
      const a = await (await fetch("/write/preview", { method: "POST", body, signal: lookup.signal })).json();
      if (!a.ok) return;
      if (a.limit) form.dataset.limit = a.limit;
      show(a.characters ?? 0, a.limit ?? 0, !!a.over);
      if (!open) return;
      byId("look-text").innerHTML = a.html ?? ""; // sanitized by the server
      document.dispatchEvent(new Event("cloudburst:fresh"));
    } catch { /* the next preview retries */ }
  }

  // Files and categories have separate scripts, which most posts do not need.
  const files = async () => (await import(form.dataset.files)).files(form, touched);
  const carries = (e) => byId("w-upload") && e.dataTransfer?.types.includes("Files");
  for (const name of ["dragenter", "dragover"]) document.addEventListener(name, (e) => { if (carries(e)) { e.preventDefault(); form.classList.add("over-it"); } });
  document.addEventListener("dragleave", (e) => { if (!e.relatedTarget) form.classList.remove("over-it"); });
  document.addEventListener("drop", (e) => { form.classList.remove("over-it"); if (carries(e)) { e.preventDefault(); upload(e.dataTransfer.files); } });
  form.addEventListener("paste", (e) => { if (byId("w-upload") && e.clipboardData?.files.length && !e.clipboardData.getData("text/plain")) { e.preventDefault(); upload(e.clipboardData.files); } });
  const upload = async (list) => { const all = [...list]; (await files()).upload(all); };
  for (const id of ["w-upload", "w-camera"]) byId(id)?.addEventListener("change", async ({ target }) => { await upload(target.files); target.value = ""; });
  form.querySelector("[value=file]").addEventListener("click", async (e) => { e.preventDefault(); (await files()).elsewhere(e.target); });
  f.categories.addEventListener("focus", async () => (await import(form.dataset.categories)).complete(f.categories, touched), { once: true });
  const outline = byId("ask-outline");
  const outliner = () => { if (outline.checked) for (const one of form.querySelector("[data-outliner]").dataset.scripts.split(" ")) import(one); };
  outline.addEventListener("change", outliner, { once: true });
  outliner();
  const cards = async () => (await import(form.dataset.card)).cards(form, sent, () => touched());
  byId("ask-card")?.addEventListener("change", async ({ target }) => { const all = await cards(); target.checked ? all.read() : all.drop(); });
  byId("w-card")?.addEventListener("click", async (e) => { if (e.target.matches("button")) { e.preventDefault(); (await cards()).read(); } });
  byId("w-card")?.addEventListener("change", async (e) => { if (e.target.name === "card-drop") (await cards()).drop(); });

  // Local time of this browser.
  const clock = (t) => `${t.getFullYear()}-${pad(t.getMonth() + 1)}-${pad(t.getDate())}T${pad(t.getHours())}:${pad(t.getMinutes())}`;
  function zone() {
    f.offset.value = minutesAt(f.when.value || Date.now());
    byId("w-zone").textContent = t("in your time, %s", Intl.DateTimeFormat().resolvedOptions().timeZone);
    const button = byId("w-go");
    if (!button) return;
    button.dataset.words ??= button.textContent;
    button.textContent = !form.dataset.state.match(/published|scheduled/) && new Date(f.when.value) > Date.now() ? t("Schedule") : button.dataset.words;
  }
  for (const at of [f.when, f.was]) if (at.value) at.value = clock(new Date(Date.parse(`${at.value.slice(0, 16)}:00Z`) - f.offset.value * 60000));
  zone();
  f.when.addEventListener("input", zone);

  // Buttons and keys.
  const go = (what) => { passing = true; const b = form.querySelector(`[name=do][value=${what}]`); b ? form.requestSubmit(b) : form.requestSubmit(); };
  byId("w-look")?.addEventListener("click", (e) => {
    e.preventDefault();
    const hidden = byId("look").hidden = !byId("look").hidden;
    e.target.ariaExpanded = String(!hidden);
    if (!hidden) look();
  });
  form.addEventListener("submit", async (e) => {
    const by = e.submitter;
    // A save during navigation could race with the action of the button.
    if (passing || f.password || by?.formAction.endsWith("/delete")) return void (stopped = true);
    if (by?.hasAttribute("formaction")) return;
    e.preventDefault();
    clearTimeout(timer);
    stopped = true;
    await saving;
    keep();
    say(t("Sending…"));
    try {
      const answer = await fetch(form.action, { method: "POST", body: new FormData(form, by), headers: { Accept: "application/json" } });
      if (answer.headers.get("Content-Type").startsWith("application/json")) return location.assign((await answer.json()).path);
    } catch {
      stopped = form.hasAttribute("data-conflict");
      return say(t("Nothing was done: no connection. Your text is stored in this browser; try again."), true);
    }
    passing = true; // the next page shows the error
    form.requestSubmit(by);
  });
  form.addEventListener("keydown", (e) => {
    if (e.isComposing) return;
    const command = e.ctrlKey || e.metaKey;
    if (e.key === "Enter" && command) { e.preventDefault(); byId("w-go")?.click(); }
    else if (e.key === "Enter" && e.target.matches("input:not([type=checkbox])") && !f.password) { e.preventDefault(); if (e.target.name === "file-url") form.querySelector("[value=file]").click(); }
    else if (e.key === "s" && command) { e.preventDefault(); dirty = true; save(); }
    else if (e.key === "Escape" && !byId("look").hidden) byId("w-look").click();
  });
  for (const box of form.querySelectorAll(".asks input")) box.addEventListener("change", () => { if (box.checked && !/outline|card/.test(box.id)) form.querySelector(`.a-${box.id.slice(4)} :is(input:not([type=hidden]), textarea)`)?.focus(); });

  last = written();
  form.addEventListener("input", () => touched());
  form.addEventListener("change", () => touched());
  addEventListener("blur", () => save());
  addEventListener("online", () => save());
  document.addEventListener("visibilitychange", () => { if (document.hidden) save(true); });
  addEventListener("pagehide", () => { try { sessionStorage.setItem("write", f.key.value); } catch { /* storage is not available */ } save(true); });
  addEventListener("storage", (e) => { if (e.key === recordName() && e.newValue && !dirty) say(t("This post is also open in another tab")); });
  restore();
  grow();
  if (!+f.id.value && !f.password) text.focus();
}
