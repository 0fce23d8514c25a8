// Calls the REST endpoints with the fetch of Node.js and browsers.
//
// Usage: fetch.mjs BASE-URL

const base = process.argv[2];
const feed = "http://feeds.example/node.xml?a=1&b=ü";

function expect(what, got, want) {
	if (JSON.stringify(got) !== JSON.stringify(want)) {
		console.error(`${what}: got ${JSON.stringify(got)}, want ${JSON.stringify(want)}`);
		process.exit(1);
	}
}

async function post(path, body, headers = {}) {
	const r = await fetch(base + path, { method: "POST", body, headers });
	return { status: r.status, type: r.headers.get("content-type"), cors: r.headers.get("access-control-allow-origin"), text: await r.text() };
}

const thanks = { success: true, msg: "Thanks for the ping." };

let r = await post("/ping", new URLSearchParams({ url: feed }), { Accept: "application/json" });
expect("status", r.status, 200);
expect("cors", r.cors, "*");
expect("json", JSON.parse(r.text), thanks);

// A plain string is sent as text/plain.
r = await post("/ping", "url=" + encodeURIComponent(feed), { Accept: "application/json, text/plain, */*" });
expect("text/plain", JSON.parse(r.text), thanks);

r = await post("/ping", new URLSearchParams({ url: feed }));
expect("xml", [r.type, r.text.includes('<result success="true" msg="Thanks for the ping."')], ["text/xml; charset=utf-8", true]);

// FormData is sent as multipart.
const form = new FormData();
form.set("url", feed);
r = await post("/ping", form);
expect("multipart", [r.status, r.text.includes('success="false"')], [415, true]);

r = await post("/pleaseNotify", new URLSearchParams({
	notifyProcedure: "", port: "5337", path: "/feedupdated", protocol: "http-post", url1: feed, domain: "agg.example",
}), { Accept: "application/json" });
expect("pleaseNotify", JSON.parse(r.text).success, true);

r = await fetch(base + "/rsscloud/pleaseNotify", { method: "OPTIONS", headers: { Origin: "http://page.example", "Access-Control-Request-Method": "POST" } });
expect("preflight", [r.status, r.headers.get("access-control-allow-origin")], [204, "*"]);

r = await post("/ping", "url=%zz", { "Content-Type": "application/x-www-form-urlencoded", Accept: "application/json" });
expect("broken form", JSON.parse(r.text).success, false);

r = await post("/ping", "url=" + "a".repeat(70000));
expect("too large", r.status, 413);
