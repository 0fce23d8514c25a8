// Offers to open web+feed: links here, where the browser can.
const line = document.getElementById("p-protocol");
if (line && navigator.registerProtocolHandler) {
  line.hidden = false;
  document.getElementById("b-protocol").addEventListener("click", () => {
    navigator.registerProtocolHandler("web+feed", `${location.origin}/feeds/add?url=%s`);
  });
}
