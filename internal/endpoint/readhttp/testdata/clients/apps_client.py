"""A reading app in Python's standard library: argument 1 is the server's URL, 2 the
password of alice, 3 her token for reading."""

import hashlib
import json
import sys
import urllib.error
import urllib.parse
import urllib.request

base, password, token = sys.argv[1:4]


def check(what, got, want):
    if got != want:
        sys.exit(f"{what}: got {got!r}, want {want!r}")


def google(path, fields=None, auth=None):
    data = urllib.parse.urlencode(fields, doseq=True).encode() if fields is not None else None
    request = urllib.request.Request(base + path, data)
    if auth:
        request.add_header("Authorization", "GoogleLogin auth=" + auth)
    with urllib.request.urlopen(request, timeout=20) as answer:
        text = answer.read().decode()
        return json.loads(text) if answer.headers["Content-Type"].startswith("application/json") else text


text = google("/accounts/ClientLogin", {"Email": "alice", "Passwd": password})
auth = dict(line.split("=", 1) for line in text.splitlines())["Auth"]
try:
    google("/reader/api/0/user-info", auth="alice/wrong")
    sys.exit("a wrong Auth was let in")
except urllib.error.HTTPError as error:
    check("status", (error.code, error.headers["X-Reader-Google-Bad-Token"]), (401, "true"))
feeds = google("/reader/api/0/subscription/list?output=json", auth=auth)["subscriptions"]
check("feeds", [f["url"] for f in feeds], ["http://feeds.test/news.xml", "http://feeds.test/pod.xml"])
ids = google("/reader/api/0/stream/items/ids?output=json&n=100&s=user/-/state/com.google/reading-list", auth=auth)
ids = [int(ref["id"]) for ref in ids["itemRefs"]]
items = google("/reader/api/0/stream/items/contents", {"output": "json", "i": ["%016x" % i for i in ids]}, auth)["items"]
check("items", sorted(int(i["id"].rsplit("/", 1)[1], 16) for i in items), sorted(ids))
t = google("/reader/api/0/token", auth=auth)
check("mark", google("/reader/api/0/edit-tag", {"T": t, "i": ids[:2], "a": "user/-/state/com.google/read"}, auth), "OK")
counts = google("/reader/api/0/unread-count?output=json", auth=auth)
check("unread", counts["max"], len(ids) - 2)

key = hashlib.md5(f"alice:{token}".encode()).hexdigest()


def hot(query, **fields):
    data = urllib.parse.urlencode({"api_key": key, **fields}).encode()
    with urllib.request.urlopen(f"{base}/fever/?api&{query}", data, timeout=20) as answer:
        return json.load(answer)


check("auth", hot("")["auth"], 1)
check("feeds", [f["url"] for f in hot("feeds")["feeds"]], [f["url"] for f in feeds])
unread = [int(i) for i in hot("unread_item_ids")["unread_item_ids"].split(",")]
check("unread", sorted(unread), sorted(ids[2:]))
check("item", hot(f"items&with_ids={unread[0]}")["items"][0]["id"], unread[0])
after = hot("", mark="item", **{"as": "read"}, id=unread[0])["unread_item_ids"]
check("read", after, ",".join(map(str, unread[1:])))
check("saved", hot("", mark="item", **{"as": "saved"}, id=unread[0])["saved_item_ids"], str(unread[0]))
print("ok")
