"""Calls the XML-RPC and REST endpoints with Python's standard library.

Usage: xmlrpc_client.py BASE-URL
"""

import json
import sys
import urllib.parse
import urllib.request
import xmlrpc.client

BASE = sys.argv[1]
FEED = "http://feeds.example/python.xml"
DEAD = "http://feeds.example/dead.xml"


def fault(call, *args):
    try:
        answer = call(*args)
    except xmlrpc.client.Fault as f:
        return f
    raise SystemExit(f"no fault but {answer!r}")


def expect(what, got, want):
    if got != want:
        raise SystemExit(f"{what}: got {got!r}, want {want!r}")


for path in ("/RPC2", "/"):
    server = xmlrpc.client.ServerProxy(BASE + path, allow_none=False)
    expect("hello", server.rssCloud.hello(), True)
    expect("ping", server.rssCloud.ping(FEED), True)
    expect("pleaseNotify", server.rssCloud.pleaseNotify("river.updated", 5337, "/RPC2", "xml-rpc", [FEED, FEED + "?ü"]), True)
    expect("with domain", server.rssCloud.pleaseNotify("", "80", "/cb", "http-post", FEED, "agg.example"), True)
    expect("2003", server.xmlStorageSystem.rssPleaseNotify("river.updated", 5337, "/RPC2", "xml-rpc", [FEED]), True)
    expect("2003 refused", server.xmlStorageSystem.rssPleaseNotify("river.updated", 5337, "/RPC2", "xml-rpc", [DEAD]), False)
    expect("refused", fault(server.rssCloud.pleaseNotify, "river.updated", 5337, "/RPC2", "xml-rpc", [DEAD]).faultCode, 4)
    expect("wrong port", fault(server.rssCloud.pleaseNotify, "river.updated", 0, "/RPC2", "xml-rpc", [FEED]).faultCode, 4)
    f = fault(server.rssCloud.ping, DEAD)
    expect("dead feed", (f.faultCode, f.faultString), (4, "The feed could not be read."))
    expect("no such method", fault(server.rssCloud.nothing).faultCode, -32601)
    if "rssCloud.ping" not in server.system.listMethods():
        raise SystemExit("system.listMethods does not list rssCloud.ping")
    if not server.system.methodHelp("rssCloud.ping") or not server.system.methodSignature("rssCloud.ping"):
        raise SystemExit("rssCloud.ping is not described")
    multi = xmlrpc.client.MultiCall(server)
    multi.rssCloud.ping(FEED)
    multi.rssCloud.hello()
    expect("multicall", list(multi()), [True, True])

body = urllib.parse.urlencode({"url": FEED}).encode()
with urllib.request.urlopen(BASE + "/rsscloud/ping", body) as answer:
    expect("type", answer.headers["Content-Type"], "text/xml; charset=utf-8")
    text = answer.read().decode()
    if '<result success="true" msg="Thanks for the ping."' not in text:
        raise SystemExit(text)
request = urllib.request.Request(BASE + "/ping", body, {"Accept": "application/json"})
with urllib.request.urlopen(request) as answer:
    expect("json", json.load(answer), {"success": True, "msg": "Thanks for the ping."})
