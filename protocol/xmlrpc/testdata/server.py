"""Answers the client of interop_test.go with Python's own server."""

import xmlrpc.client
import xmlrpc.server


class Handler(xmlrpc.server.SimpleXMLRPCRequestHandler):
    rpc_paths = ("/RPC2",)


def fail():
    raise xmlrpc.client.Fault(9, "caf\u00e9 <closed>")


with xmlrpc.server.SimpleXMLRPCServer(
    ("127.0.0.1", 0), requestHandler=Handler, allow_none=True, logRequests=False, use_builtin_types=True
) as server:
    server.register_introspection_functions()
    server.register_multicall_functions()
    server.register_function(lambda *args: list(args), "echo")
    server.register_function(lambda v: type(v).__name__, "kind")
    server.register_function(fail, "fail")
    print(server.server_address[1], flush=True)
    server.serve_forever()
