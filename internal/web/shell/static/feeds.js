// Offers to open web+feed: links here, where the browser can.
const line = document.getElementById("p-protocol");
if (line && navigator.registerProtocolHandler) {
  line.hidden = false;
  document.getElementById("b-protocol").addEventListener("click", () => {
    navigator.registerProtocolHandler("web+feed", `${location.origin}/feeds/add?url=%s`);
  });
}

// One check box ticks all feeds of the page. A feed in two categories is ticked in both.
const form = document.getElementById("selected");
if (form) {
  const boxes = [...form.querySelectorAll("[name=feed]")];
  const all = document.getElementById("x-all");
  const refresh = () => {
    const n = new Set(boxes.filter((box) => box.checked).map((box) => box.value)).size;
    document.getElementById("x-count").textContent = n ? t("%d ticked", n) : "";
    all.checked = boxes.length > 0 && boxes.every((box) => box.checked);
    all.indeterminate = n > 0 && !all.checked;
  };
  document.getElementById("p-all").hidden = false;
  form.addEventListener("change", ({ target }) => {
    if (target === all) for (const box of boxes) box.checked = all.checked;
    else for (const box of boxes) if (box.value === target.value) box.checked = target.checked;
    refresh();
  });
  refresh();
}
