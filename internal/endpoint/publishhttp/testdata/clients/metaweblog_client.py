"""Writes a blog with Python's XML-RPC client: argument 1 is the server's URL,
argument 2 the password of alice."""

import datetime
import sys
import urllib.request
import xmlrpc.client

base, password = sys.argv[1], sys.argv[2]
server = xmlrpc.client.ServerProxy(base + "/RPC2", use_builtin_types=True)
me = ("alice", password)


def check(what, got, want):
    if got != want:
        sys.exit(f"{what}: got {got!r}, want {want!r}")


def fault(what, code, call, *args):
    try:
        got = call(*args)
    except xmlrpc.client.Fault as f:
        check(what + ": code", f.faultCode, code)
        assert f.faultString, what
        return
    sys.exit(f"{what}: got {got!r}, want a fault")


def feed():
    with urllib.request.urlopen(base + "/alice/rss.xml") as r:
        return r.read().decode()


assert {"metaWeblog.newPost", "blogger.getPost", "mt.publishPost"} <= set(server.system.listMethods())
check("blogs", [b["blogid"] for b in server.blogger.getUsersBlogs("key", *me)], ["alice"])
check("user", server.blogger.getUserInfo("key", *me)["userid"], "alice")
blog = server.blogger.getUsersBlogs("key", *me)[0]["blogid"]

# A new post is returned unchanged.
when = datetime.datetime(2024, 5, 6, 7, 8, 9)
post = {
    "title": "Caf\u00e9 & \u65e5\u672c <tag>",
    "description": "<p>caf\u00e9 &amp; \u65e5\u672c \U0001f600</p>",
    "categories": ["K\u00fcche", "\u65e5\u672c\u8a9e"],
    "dateCreated": when,
    "enclosure": {"url": "https://a.example/a.mp3", "type": "audio/mpeg", "length": 99},
    "mt_excerpt": "short", "mt_text_more": "<p>more</p>", "wp_slug": "cafe", "mt_allow_comments": 1,
}
id = server.metaWeblog.newPost(blog, *me, post, True)
check("type of postid", type(id), str)
got = server.metaWeblog.getPost(id, *me)
for name in post:
    if name != "mt_allow_comments":
        check(name, got[name], post[name])
check("userid", got["userid"], "alice")
check("postid", got["postid"], id)
check("status", got["post_status"], "publish")
check("permaLink", got["permaLink"], "https://hub.example/alice/2024/05/06/cafe")
check("link", got["link"], got["permaLink"])
check("gmt", got["date_created_gmt"], when)
assert "Caf\u00e9 &amp; \u65e5\u672c" in feed()

# Edits, with all returned fields and with fewer.
got["title"] = "Another"
check("edit", server.metaWeblog.editPost(id, *me, got, True), True)
after = server.metaWeblog.getPost(id, *me)
for name in got:
    if not name.startswith("date_modified"):
        check("edited " + name, after[name], got[name])
check("edit one", server.metaWeblog.editPost(int(id), *me, {"description": "<p>new</p>"}, True), True)
after = server.metaWeblog.getPost(id, *me)
check("the text", (after["title"], after["description"], after["categories"]), ("Another", "<p>new</p>", post["categories"]))
check("no categories", server.metaWeblog.editPost(id, *me, {"categories": []}, True), True)
check("none", server.metaWeblog.getPost(id, *me)["categories"], [])

# Markdown.
md = server.metaWeblog.newPost(blog, *me, {"title": "MD", "description": "*a*\n\n* b", "mt_convert_breaks": "markdown"}, True)
got = server.metaWeblog.getPost(md, *me)
check("markdown", (got["description"], got["mt_convert_breaks"]), ("*a*\n\n* b", "markdown"))
assert "&lt;em&gt;a&lt;/em&gt;" in feed() or "<em>a</em>" in feed()

# Drafts.
draft = server.metaWeblog.newPost(blog, *me, {"title": "Hidden", "description": "x"}, False)
check("draft", server.metaWeblog.getPost(draft, *me)["post_status"], "draft")
assert "Hidden" not in feed()
check("recent", [p["postid"] for p in server.metaWeblog.getRecentPosts(blog, *me, 10)][-1], id)
check("titles", sorted(p["title"] for p in server.mt.getRecentPostTitles(blog, *me, 10)), ["Another", "Hidden", "MD"])
check("publish", server.mt.publishPost(draft, *me), True)
assert "Hidden" in feed()

# Categories.
server.metaWeblog.editPost(id, *me, {"categories": ["K\u00fcche"]}, True)
cats = server.metaWeblog.getCategories(blog, *me)
check("categories", [(c["description"], c["categoryName"]) for c in cats], [("K\u00fcche", "K\u00fcche")])
assert cats[0]["rssUrl"].startswith("https://hub.example/alice/category/")
check("list", [c["categoryId"] for c in server.mt.getCategoryList(blog, *me)], ["k\u00fcche"])
check("set", server.mt.setPostCategories(draft, *me, [{"categoryId": "k\u00fcche", "isPrimary": True}]), True)
check("are set", server.mt.getPostCategories(draft, *me), [{"categoryId": "k\u00fcche", "categoryName": "K\u00fcche", "isPrimary": True}])

# The Blogger API.
old = server.blogger.newPost("key", blog, *me, "<title>Old &amp; good</title>text", True)
check("blogger", server.blogger.getPost("key", old, *me)["content"], "<title>Old &amp; good</title>text")
check("the same by the other", server.metaWeblog.getPost(old, *me)["title"], "Old & good")
check("blogger edit", server.blogger.editPost("key", old, *me, "only text", True), True)
check("blogger keeps the title", server.blogger.getPost("key", old, *me)["content"], "<title>Old &amp; good</title>only text")
check("blogger recent", len(server.blogger.getRecentPosts("key", blog, *me, 2)), 2)

# Files.
gif = b"GIF89a\x01\x00\x01\x00\x80\x00\x00\x00\x00\x00\xff\xff\xff!\xf9\x04\x01\x00\x00\x00\x00,\x00\x00\x00\x00\x01\x00\x01\x00\x00\x02\x02D\x01\x00;"
up = server.metaWeblog.newMediaObject(blog, *me, {"name": "cloud.gif", "type": "image/gif", "bits": xmlrpc.client.Binary(gif), "overwrite": True})
assert up["url"].startswith("https://hub.example/alice/media/") and up["url"].endswith("cloud.gif"), up

# Refused calls.
fault("wrong password", 403, server.metaWeblog.getPost, id, "alice", "x")
fault("no such post", 404, server.metaWeblog.getPost, "99999", *me)
fault("carol's view", 404, server.metaWeblog.getPost, id, "carol", password)
fault("carol's edit", 404, server.metaWeblog.editPost, id, "carol", password, {"title": "x"}, True)
fault("a string for a struct", -32602, server.metaWeblog.newPost, blog, *me, "x", True)
fault("a struct for a title", -32602, server.metaWeblog.newPost, blog, *me, {"title": {}}, True)
fault("too few", -32602, server.metaWeblog.newPost, blog, *me)
batch = xmlrpc.client.MultiCall(server)
for guess in ["a", "b", password]:
    batch.metaWeblog.getPost(id, "alice", guess)
check("batch", [r["faultCode"] for r in batch().results], [403, 403, 403])

check("delete", server.metaWeblog.deletePost("key", id, *me, True), True)
check("delete", server.blogger.deletePost("key", md, *me, True), True)
fault("deleted", 404, server.metaWeblog.getPost, id, *me)
assert "Another" not in feed()
print("ok")
