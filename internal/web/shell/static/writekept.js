// Restores unsaved text from this browser: at once if no newer version was saved on the
// server, otherwise when the author clicks Restore.

const byId = (id) => document.getElementById(id);
const month = 30 * 864e5;
const plain = "title source link categories outline outline-text reply reply-of reply-guid reply-feed reply-title when was offset language".split(" ");

export async function restore({ form, kept, user, recordName, revision, written, isEmpty, touched, save, say, files, cards }) {
  const f = form.elements;
  const isNew = !+f.id.value;
  const all = kept.names().filter((n) => n.startsWith(`write:${user}:`));
  for (const n of all) if (!(Date.now() - kept.get(n)?.at < month)) kept.drop(n);

  async function fill(record) {
    const values = new URLSearchParams(record.sent);
    for (const name of plain) if (f[name] && values.has(name)) f[name].value = values.get(name);
    form.querySelector(".filelist").replaceChildren();
    if (values.has("file")) (await files()).restore(values);
    if (values.get("card-url") && byId("w-card")) (await cards()).restore(values);
    byId("ask-outline").checked = !!f.outline.value;
    byId("ask-outline").dispatchEvent(new Event("change"));
    for (const name of ["title", "link", "categories", "when", "language"]) if (f[name].value) byId(`ask-${name}`).checked = true;
    f.outline.dispatchEvent(new Event("change"));
  }

  let mine; // what this very tab wrote before it was loaded again
  try { mine = sessionStorage.getItem("write"); } catch { /* storage is not available */ }
  if (isNew && mine && isEmpty() && kept.get(`write:${user}:${mine}`)) f.key.value = mine;
  let name = recordName();
  let record = kept.get(name);
  if (record?.rev === revision()) {
    const before = written();
    await fill(record);
    if (written() === before) return kept.drop(name);
    touched(true);
    say(t("Restored from this browser; not saved on the server yet"));
    return save(); // before more is typed: the server may have it already
  }
  if (!record && isNew && isEmpty()) {
    name = all.filter((n) => /:page-/.test(n) && kept.get(n)).sort((a, b) => kept.get(b).at - kept.get(a).at)[0];
    record = name && kept.get(name);
  }
  if (!record) return;
  const words = new URLSearchParams(record.sent);
  const box = byId("kept");
  box.firstElementChild.textContent = t("This browser has unsaved text from %s: “%s”", new Date(record.at).toLocaleString(dates), (words.get("title") || words.get("source") || "").slice(0, 80));
  box.hidden = false;
  box.onclick = async ({ target }) => {
    if (!target.dataset.kept) return;
    box.hidden = true;
    kept.drop(name);
    if (target.dataset.kept !== "take") return;
    if (isNew) f.key.value = name.split(":").pop();
    await fill(record);
    touched(true);
    f.source.focus();
  };
}
