"""A CNWS subscriber in Python's standard library: subscribes at the endpoint in the
argument, then prints each notification on one line until its input ends."""
import sys
import threading
import urllib.request
import xml.etree.ElementTree as xml
from http.server import BaseHTTPRequestHandler, HTTPServer

NS = "{http://www.owlfish.com/thoughts/cnws-2003-04-08.html}"


def document(action, fields):
    root = xml.Element(NS + "notification", version="1.0")
    inner = xml.SubElement(root, NS + action)
    for name, text in fields.items():
        xml.SubElement(inner, NS + name).text = text
    return xml.tostring(root, encoding="iso-8859-1")  # with prefixes, and with a declaration


class Callback(BaseHTTPRequestHandler):
    def do_POST(self):
        root = xml.fromstring(self.rfile.read(int(self.headers["Content-Length"])))
        change = root.find(NS + "resourceChange")
        resource = change.findtext(NS + "resourceID")
        print(resource, change.findtext(NS + "title", "-"), change.findtext(NS + "changeTime"), sep="|", flush=True)
        answer = document("result", {"status": "false" if resource.endswith("?enough") else "true", "description": "é"})
        self.send_response(200)
        self.send_header("Content-Type", "text/xml")
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *args):
        pass


sys.stdout.reconfigure(encoding="utf-8")
server = HTTPServer(("127.0.0.1", 0), Callback)
threading.Thread(target=server.serve_forever, daemon=True).start()
url = "http://127.0.0.1:%d/notify?a=1&b=2" % server.server_port
body = document("subscribe", {"resourceID": "http://feeds.example/python.xml", "notificationURL": url})
request = urllib.request.Request(sys.argv[1], body, {"Content-Type": "text/xml"})
result = xml.fromstring(urllib.request.urlopen(request, timeout=20).read()).find(NS + "result")
print(result.findtext(NS + "status"), result.findtext(NS + "title"), sep="|", flush=True)
sys.stdin.read()
