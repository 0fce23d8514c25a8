"""Writes by Micropub like an app that implements only the recommendation.

usage: micropub_client.py BASE TOKEN
"""
import html.parser
import json
import re
import sys
import urllib.error
import urllib.parse
import urllib.request

base, token = sys.argv[1], sys.argv[2]


class Links(html.parser.HTMLParser):
    """Returns the URLs of the links of a page, by rel."""

    def __init__(self):
        super().__init__()
        self.found = {}

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        if tag in ("link", "a"):
            for rel in (attrs.get("rel") or "").split():
                self.found.setdefault(rel, attrs.get("href"))


def here(url):
    """Returns a URL of the server for use in the test."""
    return re.sub(r"^https?://[^/]+", base, url)


def ask(method, url, body=None, kind=None, auth=True):
    req = urllib.request.Request(here(url), data=body, method=method)
    if kind:
        req.add_header("Content-Type", kind)
    if auth:
        req.add_header("Authorization", "Bearer " + token)
    req.add_header("Accept", "application/json")
    try:
        with urllib.request.urlopen(req) as res:
            return res.status, res.headers, res.read()
    except urllib.error.HTTPError as e:
        return e.code, e.headers, e.read()


def form(url, *fields, **options):
    return ask("POST", url, urllib.parse.urlencode(fields).encode(), "application/x-www-form-urlencoded", **options)


def send(url, value):
    return ask("POST", url, json.dumps(value).encode(), "application/json")


def parts(*fields):
    out = b""
    for name, filename, kind, data in fields:
        out += b'--frontier\r\nContent-Disposition: form-data; name="%s"' % name.encode()
        if filename:
            out += b'; filename="%s"\r\nContent-Type: %s' % (filename.encode(), kind.encode())
        out += b"\r\n\r\n" + data + b"\r\n"
    return out + b"--frontier--\r\n", "multipart/form-data; boundary=frontier"


def query(where, **values):
    status, _, body = ask("GET", where + "?" + urllib.parse.urlencode(values, doseq=True))
    assert status == 200, (status, body)
    return json.loads(body)


# The page of a user with posts names the endpoint.
assert form(base + "/micropub", ("content", "The first post"))[0] == 201
status, _, page = ask("GET", base + "/alice/", auth=False)
links = Links()
links.feed(page.decode())
assert status == 200 and links.found.get("micropub"), links.found
endpoint = urllib.parse.urljoin(base + "/alice/", links.found["micropub"])

config = query(endpoint, q="config")
media = config["media-endpoint"]
assert query(endpoint, q="syndicate-to")["syndicate-to"] == []

# Text by form, which can contain the token.
status, head, _ = form(endpoint, ("h", "entry"), ("content", "A note"), ("category[]", "one"), ("category[]", "two"))
assert status == 201, status
note = head["Location"]
assert b"A note" in ask("GET", note, auth=False)[2]
status, head, _ = form(endpoint, ("h", "entry"), ("content", "By form"), ("access_token", token), auth=False)
assert status == 201, status

# A file by the media endpoint, and one with a post.
body, kind = parts(("file", "words.txt", "text/plain", b"Some words."))
status, head, _ = ask("POST", media, body, kind)
assert status == 201, status
assert ask("GET", head["Location"], auth=False)[2] == b"Some words."
body, kind = parts(("h", "", "", b"entry"), ("content", "", "", b"With a file"), ("photo", "other.txt", "text/plain", b"Others."))
status, head, _ = ask("POST", endpoint, body, kind)
assert status == 201, status

# Changes, and their responses.
for change, want in [
    ({"replace": {"content": [{"html": "<p>Another note</p>"}]}}, {"content": [{"html": "<p>Another note</p>"}], "category": ["one", "two"]}),
    ({"add": {"category": ["three"]}}, {"content": [{"html": "<p>Another note</p>"}], "category": ["one", "two", "three"]}),
    ({"delete": {"category": ["one"]}}, {"content": [{"html": "<p>Another note</p>"}], "category": ["two", "three"]}),
    ({"delete": ["category"]}, {"content": [{"html": "<p>Another note</p>"}]}),
]:
    status, _, body = send(endpoint, {"action": "update", "url": note, **change})
    assert status in (200, 204), (status, body)
    got = query(endpoint, **{"q": "source", "url": note, "properties[]": ["content", "category"]})
    assert got == {"properties": want}, got
status, _, body = send(endpoint, {"action": "update", "url": note, "replace": "content"})
assert status == 400 and json.loads(body)["error"] == "invalid_request", (status, body)

# Delete and undelete.
assert form(endpoint, ("action", "delete"), ("url", note))[0] in (200, 204)
assert ask("GET", note, auth=False)[0] == 410
assert send(endpoint, {"action": "undelete", "url": note})[0] in (200, 204)
assert b"Another note" in ask("GET", note, auth=False)[2]

# Missing permission.
status, head, body = form(endpoint, ("content", "x"), auth=False)
assert status == 401 and json.loads(body)["error"] == "unauthorized" and head["WWW-Authenticate"], (status, body)
status, _, body = ask("GET", endpoint + "?q=config&access_token=" + token)
assert status == 400, (status, body)

items = query(endpoint, q="source", limit=2)["items"]
assert len(items) == 2 and items[0]["type"] == ["h-entry"], items
print("ok")
