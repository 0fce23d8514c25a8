// Registers the service worker: the last river without a connection, and marks made meanwhile.

const workers = navigator.serviceWorker; // missing without https

workers?.register("/sw.js", { updateViaCache: "none" }).then((registration) => {
  // A new version takes over when no page needs the current one. Asked while the current one
  // serves a page, browsers break its answers off, or hold the takeover back for minutes. A page
  // that is left is hidden too, but its timers end.
  const renew = () => setTimeout(() => registration.waiting?.postMessage("take over"), 1500);
  const whenHidden = () => { if (document.hidden) renew(); };
  if (document.readyState === "complete") renew();
  else addEventListener("load", renew);
  document.addEventListener("visibilitychange", whenHidden);
  registration.addEventListener("updatefound", () => registration.installing?.addEventListener("statechange", whenHidden));
  if (document.hidden) registration.update().catch(() => {});
}).catch(() => {}); // the pages work without it

addEventListener("online", () => workers?.controller?.postMessage("replay"));
