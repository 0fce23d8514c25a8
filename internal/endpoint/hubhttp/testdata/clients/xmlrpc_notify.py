"""Notifies an aggregator of changes with Python's XML-RPC client, like a cloud."""
import sys
import xmlrpc.client

endpoint, feed = sys.argv[1], sys.argv[2]

server = xmlrpc.client.ServerProxy(endpoint)
for call in (server.rssCloud.notify, server.river2Suite.rssUpdated, server.notify):
    assert call(feed) is True, call

for params in ((), (feed, feed), ([feed],), ("",)):
    try:
        server.notify(*params)
    except xmlrpc.client.Fault as e:
        assert e.faultCode == 4 and "URL" in e.faultString, e
    else:
        raise AssertionError(params)

try:
    server.notify("http://other.example/")
except xmlrpc.client.ProtocolError as e:
    assert e.errcode == 410, e
else:
    raise AssertionError("a feed that nobody wants")
