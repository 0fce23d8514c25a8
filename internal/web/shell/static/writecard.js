// The preview of a page that the text links to. The server reads the page when the author asks for
// it; the data stays with the post.

const byId = (id) => document.getElementById(id);

export function cards(form, sent, done) {
  const box = byId("w-card"), ask = byId("ask-card"), wrong = byId("w-card-wrong");
  const button = () => Object.assign(document.createElement("button"), { type: "button", className: "quiet", textContent: t("Try again") });
  function fail(words) {
    wrong.replaceChildren(Object.assign(document.createElement("p"), { className: "wrong", textContent: `✕ ${words}` }));
    box.replaceChildren(button());
  }
  async function read() {
    wrong.replaceChildren();
    const f = form.elements;
    if (!/https?:\/\/\S/.test(f.source.value + f.outline.value + f.link.value)) return fail(t("The text has no URL yet. Write one, such as https://example.com/page, to add its preview."));
    box.replaceChildren(Object.assign(document.createElement("p"), { className: "soft", textContent: t("Reading the page…") }));
    try {
      const a = await (await fetch("/write/card", { method: "POST", body: sent() })).json();
      if (!a.ok) return fail(a.error);
      if (!ask.checked) return;
      box.innerHTML = a.html; // written by the server
      done();
    } catch { fail(t("The page could not be read: no connection.")); }
  }
  function drop() {
    box.replaceChildren(button());
    wrong.replaceChildren();
    ask.checked = false;
    done();
  }
  // Restores the preview of the text stored in this browser, without its image.
  function restore(values) {
    const row = byId("card-row").content.cloneNode(true);
    for (const name of ["card-url", "card-title", "card-description", "card-image"]) row.querySelector(`[name=${name}]`).value = values.get(name) ?? "";
    const link = row.querySelector(".linkcard");
    link.href = values.get("card-url");
    link.querySelector("strong").textContent = values.get("card-title");
    box.replaceChildren(row);
    ask.checked = true;
  }
  return { read, drop, restore };
}
