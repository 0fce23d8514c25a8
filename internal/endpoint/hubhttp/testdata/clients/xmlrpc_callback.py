"""An aggregator that uses only Python's standard library.

It prints the URL of its procedure river.updated, then a line for each
notification, and ends with its input.
"""

import sys
import threading
from xmlrpc.server import SimpleXMLRPCRequestHandler, SimpleXMLRPCServer


class Handler(SimpleXMLRPCRequestHandler):
    rpc_paths = ("/RPC2",)


def updated(url):
    print(url, flush=True)
    return True


server = SimpleXMLRPCServer(("127.0.0.1", 0), requestHandler=Handler, logRequests=False)
server.register_function(updated, "river.updated")
print("http://127.0.0.1:%d/RPC2" % server.server_address[1], flush=True)
threading.Thread(target=server.serve_forever, daemon=True).start()
sys.stdin.read()
