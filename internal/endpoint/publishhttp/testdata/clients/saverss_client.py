"""Saves feeds with Python's XML-RPC client: argument 1 is the server's URL,
argument 2 the password of alice."""

import sys
import urllib.request
import xmlrpc.client

base, password = sys.argv[1], sys.argv[2]
server = xmlrpc.client.ServerProxy(base + "/RPC2")
URL = "https://hub.example/alice/rss.xml"


def check(what, got, want):
    if got != want:
        sys.exit(f"{what}: got {got!r}, want {want!r}")


def stored():
    with urllib.request.urlopen(base + "/alice/rss.xml") as r:
        return r.read()


def fault(what, *args):
    try:
        got = server.rssCloud.saveRss(*args)
    except xmlrpc.client.Fault as f:
        check(what + ": code", f.faultCode, 4)
        return f.faultString
    sys.exit(f"{what}: got {got!r}, want a fault")


def feed(text, head=""):
    return f'{head}<rss version="2.0"><channel><title>caf\u00e9 \u65e5\u672c & more</title>\n<description>{text}</description></channel></rss>'.replace(" & ", " &amp; ")


doc = feed("one \U0001f600", '<?xml version="1.0" encoding="utf-8"?>\n')
check("save", server.rssCloud.saveRss("alice", password, doc), URL)
check("stored", stored(), doc.encode())

latin = feed("deux", '<?xml version="1.0" encoding="iso-8859-1"?>\r\n').replace("\u65e5\u672c", "\u00fc").encode("iso-8859-1")
check("save base64", server.rssCloud.saveRss("alice", password, xmlrpc.client.Binary(latin)), URL)
check("stored base64", stored(), latin)

large = feed("&lt;p&gt;" * ((2 << 20) // 9 - 30))
assert 2_000_000 < len(large.encode()) <= 2 << 20
check("save 2 MiB", server.rssCloud.saveRss("alice", password, large), URL)
check("stored 2 MiB", stored(), large.encode())

wrong = fault("wrong password", "alice", "x", doc)
check("unknown user", fault("unknown user", "zoe", password, doc), wrong)
assert "DOCTYPE" in fault("doctype", "alice", password, "<!DOCTYPE rss>" + feed("x"))
assert "HTML page" in fault("page", "alice", password, "<html><head><title>x</title></head></html>")
assert "line 2" in fault("not well-formed", "alice", password, feed("<b>x"))
assert "2 MiB" in fault("too large", "alice", password, feed("x" * (2 << 20)))
assert "three" in fault("two parameters", "alice", password)
assert "string" in fault("a number", "alice", password, 5)
check("stored after all that", stored(), large.encode())

batch = xmlrpc.client.MultiCall(server)
for guess in ["a", "b", password]:
    batch.rssCloud.saveRss("alice", guess, doc)
tried = [r for r in batch().results]
check("batch", [r["faultCode"] for r in tried], [4, 403, 403])

try:
    server.rssCloud.ping("x" * (300 << 10))
    sys.exit("a large call of another method was taken")
except xmlrpc.client.ProtocolError as e:
    check("large call", e.errcode, 413)
try:
    server.rssCloud.saveRss("alice", password, "x" * (13 << 20))
    sys.exit("a call of 13 MiB was taken")
except (xmlrpc.client.ProtocolError, ConnectionError) as e:
    check("largest call", getattr(e, "errcode", 413), 413)
