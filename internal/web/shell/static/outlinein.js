// Pasting, importing and dragging in the outliner: pasted lines, and outlines of other
// programs. outline.js creates the outliner.

const box = document.querySelector("[data-outliner]"), root = box.querySelector(".outline"), file = box.querySelector("[type=file]");
if (!box.outliner) await new Promise((ready) => box.addEventListener("outliner", ready, { once: true }));
const { make, change, isEmpty, text, list, say, nodesOf } = box.outliner;

function insert(nodes, li) {
  const made = nodes.map(make);
  change(() => {
    li.after(...made);
    if (!isEmpty(li)) return;
    list(made[0]).append(...list(li).children);
    li.remove();
  }, made.at(-1), text(made.at(-1)).value.length, `${nodes.length} added`);
}

// Pasted lines become headlines according to their indentation.
root.addEventListener("paste", (e) => {
  const words = e.clipboardData.getData("text/plain"), lines = words.split(/[\r\n]+/).filter((l) => l.trim());
  const outline = /^\s*<(\?xml|opml)\b/.test(words) && words.includes("<opml");
  if (lines.length < 2 && !outline) return;
  e.preventDefault();
  if (outline) return take(new Blob([words]));
  insert(nodesOf(words), e.target.closest("li"));
});

// Imports an outline of another program; the server parses it.
async function take(from) {
  try {
    const res = await fetch(box.dataset.outliner, { method: "POST", body: from }), got = await res.json();
    if (!res.ok) throw new Error(got.error);
    const title = file.form.elements.title;
    if (title && !title.value) {
      title.value = got.title;
      title.dispatchEvent(new Event("input", { bubbles: true }));
    }
    insert(got.nodes, root.lastElementChild);
  } catch (err) {
    say(t("The outline could not be read. %s", err.message));
  }
}
file.addEventListener("change", () => { if (file.files[0]) take(file.files[0]); file.value = ""; });

// A headline can be dragged by its fold button.
let dragged = null;
function drag(e) {
  for (const o of root.querySelectorAll("[data-drop]")) delete o.dataset.drop;
  const li = e.target.closest("li");
  if (!dragged || !li || dragged.contains(li)) return;
  const line = li.firstElementChild, { top, height } = line.getBoundingClientRect();
  const place = e.clientY < top + height / 2 ? "before" : "after", moved = dragged;
  e.preventDefault();
  if (e.type === "drop") change(() => li[place](moved), moved, undefined, t("Moved"));
  else line.dataset.drop = place;
}
root.addEventListener("dragstart", (e) => { dragged = e.target.closest(".wedge") && e.target.closest("li"); });
for (const type of ["dragover", "drop"]) root.addEventListener(type, drag);
root.addEventListener("dragend", (e) => { dragged = null; drag(e); });
