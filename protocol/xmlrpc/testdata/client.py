"""Calls the handler of interop_test.go with Python's own client."""

import datetime
import sys
import xmlrpc.client

url = sys.argv[1]


def check(what, got, want):
    if got != want or type(got) is not type(want):
        sys.exit(f"{what}: got {got!r}, want {want!r}")


def fault(what, code, call):
    try:
        got = call()
    except xmlrpc.client.Fault as f:
        check(what, f.faultCode, code)
        return f.faultString
    sys.exit(f"{what}: got {got!r}, want a fault")


server = xmlrpc.client.ServerProxy(url, allow_none=True, use_builtin_types=True)

when = datetime.datetime(1998, 7, 17, 14, 8, 55)
for value in [
    0, -7, 2**31 - 1, "", "a <b> & \"c\" 'd'", "caf\u00e9 \u540d\u524d \U0001f600", "line\nline\ttab",
    " spaces ", True, False, 1.5, -1e20, when, b"\x00\xff", None, [], [1, "a", [None]], {},
    {"url": "http://example.com/?a=1&b=2", "\u00e9 <&>": {"deep": [1.0]}},
]:
    check("echo", server.test.echo(value), [value])
check("no parameters", server.test.echo(), [])
check("several", server.test.echo(1, "b", [3]), [1, "b", [3]])

latin = xmlrpc.client.ServerProxy(url, encoding="iso-8859-1", use_builtin_types=True)
check("ISO-8859-1", latin.test.echo("caf\u00e9"), ["caf\u00e9"])

check("fault's text", fault("fault", 7, server.test.fault), "as \u00e9 asked")
fault("no method", -32601, server.test.none)
fault("wrong parameters", -32602, server.test.params)

names = server.system.listMethods()
for name in ["test.echo", "system.multicall"]:
    check(name, name in names, True)
check("help", server.system.methodHelp("test.echo"), "Gives back its <parameters>.")
check("signature", server.system.methodSignature("test.echo"), [["array", "string"], ["array"]])
check("no signature", server.system.methodSignature("test.fault"), "undef")

batch = xmlrpc.client.MultiCall(server)
batch.test.echo("a")
batch.test.fault()
batch.test.echo("b")
answers = batch()
check("first", answers[0], ["a"])
fault("second", 7, lambda: answers[1])
check("third", answers[2], ["b"])

print("ok")
