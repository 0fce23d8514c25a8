"""Pings like a blog, by XML-RPC, with Python's standard library.

Usage: weblogs_client.py BASE-URL
"""

import sys
import xmlrpc.client

BASE = sys.argv[1]
SITE = "http://site.example/"
PAGE = SITE + "new"
FEED = SITE + "rss.xml"


def taken(answer):
    if answer != {"flerror": False, "message": "Thanks for the ping."}:
        raise SystemExit(f"not taken: {answer!r}")


def refused(answer, part):
    if answer["flerror"] is not True or part not in answer["message"]:
        raise SystemExit(f"not refused with {part!r}: {answer!r}")


for path in ("/RPC2", "/weblogUpdates"):
    server = xmlrpc.client.ServerProxy(BASE + path)
    ping, extended = server.weblogUpdates.ping, server.weblogUpdates.extendedPing
    taken(ping("The Site", SITE))
    taken(ping("Grün & <Co>", SITE, PAGE, "a|b"))
    taken(extended("The Site", SITE, FEED))
    taken(extended("The Site", SITE, PAGE, FEED))
    taken(extended("The Site", SITE, PAGE, FEED, "rss|opml"))

    # A refusal is a result, not a fault, which would end this program.
    refused(ping(), "parameters")
    refused(ping("The Site"), "parameters")
    refused(extended("The Site", SITE, PAGE, FEED, "a", "b"), "parameters")
    refused(ping("n" * 1025, SITE), "1025 characters")
    refused(ping("The Site", SITE + "a" * (256 - len(SITE))), "255 characters")
    refused(extended("The Site", SITE, "javascript:alert(1)"), "http://")
    refused(ping("The Site", ["http://site.example/"]), "not a string")
    refused(ping("limit", SITE), "Too many pings")
    refused(ping("away", SITE), "away")
    refused(ping("bug", SITE), "Something went wrong")

    multi = xmlrpc.client.MultiCall(server)
    multi.weblogUpdates.ping("The Site", SITE)
    multi.weblogUpdates.ping("The Site", "ftp://site.example/")
    first, second = list(multi())
    taken(first)
    refused(second, "http://")
    for name in ("weblogUpdates.ping", "weblogUpdates.extendedPing"):
        if not server.system.methodHelp(name) or not server.system.methodSignature(name):
            raise SystemExit(f"{name} is not described")
