// The files of a post: uploads with their progress, or links to files elsewhere.

const byId = (id) => document.getElementById(id);
let made;

export function files(form, done) {
  return made ??= make(form, done);
}

// An uploaded file is at /<user>/media/<hash of its bytes>/<name>: the folder names its bytes.
const bytesOf = (url) => url.startsWith("/") ? url.slice(0, url.lastIndexOf("/")) : url;

function make(form, done) {
  function add(file, alt) {
    const there = [...form.querySelectorAll("[name=file]")].find((i) => bytesOf(i.value) === bytesOf(file.url));
    if (there) return there.closest(".file");
    const row = byId("file-row").content.firstElementChild.cloneNode(true);
    const set = (name, value) => { row.querySelector(`[name=${name}]`).value = value ?? ""; };
    set("file", file.url); set("file-type", file.type); set("file-length", file.length); set("file-title", file.title); set("file-alt", alt);
    const isImage = /^image\//.test(file.type) && file.url.startsWith("/");
    const drop = row.querySelector("[type=checkbox]");
    drop.value = file.url;
    drop.id = `drop-${file.url}`;
    row.querySelector(".check label").htmlFor = drop.id;
    row.querySelector("a").href = file.url;
    row.querySelector("bdi").textContent = file.name;
    row.querySelector(".soft").textContent = [file.type, file.size].filter(Boolean).join(", ");
    const words = row.querySelector("[name=file-alt]");
    words.ariaLabel = t("Description of %s", file.name);
    words.placeholder = isImage ? t("Describe the image for people who cannot see it") : t("Description");
    if (isImage) {
      const image = Object.assign(document.createElement("img"), { src: file.url, alt: "", width: 48, height: 48 });
      row.querySelector(".tile").replaceWith(image);
      const into = Object.assign(document.createElement("button"), { type: "button", className: "quiet", textContent: t("Insert") });
      into.onclick = () => { byId("w-source").setRangeText(`![${words.value}](${file.url})`, byId("w-source").selectionStart, byId("w-source").selectionEnd, "end"); row.remove(); byId("w-source").focus(); done(); };
      row.append(into);
    }
    form.querySelector(".filelist").append(row);
    byId("ask-files").checked = true;
    return row;
  }
  const wrongFile = (words) => {
    byId("ask-files").checked = true;
    const p = Object.assign(document.createElement("p"), { className: "wrong", textContent: `✕ ${words}` });
    byId("w-files-wrong").append(p);
  };
  function upload(files) {
    byId("w-files-wrong").replaceChildren();
    for (const file of files) {
      const row = Object.assign(document.createElement("li"), { className: "file" });
      row.innerHTML = `<div><p></p><progress max=1></progress></div><button type=button class=quiet>${t("Cancel")}</button>`;
      row.querySelector("p").textContent = file.name;
      const bar = row.querySelector("progress");
      bar.ariaLabel = t("Uploading %s", file.name);
      form.querySelector(".filelist").append(row);
      byId("ask-files").checked = true;
      const body = new FormData();
      body.append("upload", file, file.name || "image.png");
      const ask = new XMLHttpRequest();
      row.querySelector("button").onclick = () => ask.abort();
      ask.upload.onprogress = (e) => { if (e.lengthComputable) bar.value = e.loaded / e.total; };
      ask.onloadend = () => {
        row.remove();
        if (ask.response?.ok) { add(ask.response.file); done(); } else if (ask.status) wrongFile(ask.response?.error ?? t("%s was not accepted.", file.name));
        else if (ask.readyState === 4 && !ask.stopped) wrongFile(t("%s was not uploaded: no connection. Choose it again.", file.name));
      };
      ask.onabort = () => { ask.stopped = true; };
      ask.responseType = "json";
      ask.open("POST", "/write/media");
      ask.send(body);
    }
  }
  // Restores the files of the text stored in this browser.
  function restore(values) {
    const all = (name) => values.getAll(name);
    all("file").forEach((url, i) => add({ url, type: all("file-type")[i], length: all("file-length")[i], title: all("file-title")[i], name: all("file-title")[i] || url }, all("file-alt")[i]));
  }
  async function elsewhere(button) {
    byId("w-files-wrong").replaceChildren();
    const at = form.elements["file-url"];
    button.disabled = true;
    try {
      const a = await (await fetch("/write/file", { method: "POST", body: new URLSearchParams({ "file-url": at.value }) })).json();
      if (a.ok) { add(a.file); at.value = ""; done(); } else wrongFile(a.error);
    } catch { wrongFile(t("The file could not be checked: no connection.")); }
    button.disabled = false;
  }
  return { upload, restore, elsewhere };
}
