// Registers the service worker: the last river without a connection, and marks made meanwhile.

const workers = navigator.serviceWorker; // missing without https

workers?.register("/sw.js", { updateViaCache: "none" }).then((registration) => {
  // A new version takes over when no page is in use.
  const renew = () => { if (document.hidden) registration.waiting?.postMessage("take over"); };
  registration.waiting?.postMessage("take over"); // this page has loaded its files
  document.addEventListener("visibilitychange", renew);
  registration.addEventListener("updatefound", () => registration.installing?.addEventListener("statechange", renew));
  if (document.hidden) registration.update().catch(() => {});
}).catch(() => {}); // the pages work without it

addEventListener("online", () => workers?.controller?.postMessage("replay"));
