"""Calls each method of the WordPress API with Python's XML-RPC client: argument 1 is the
server's URL, argument 2 the password of alice."""

import datetime
import sys
import urllib.request
import xmlrpc.client

base, password = sys.argv[1], sys.argv[2]
server = xmlrpc.client.ServerProxy(base + "/RPC2", use_builtin_types=True)
wp = server.wp
me = ("alice", "alice", password)


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


def types(what, struct, **want):
    for name, kind in want.items():
        if name not in struct or type(struct[name]) is not kind:
            sys.exit(f"{what}: {name} is {struct.get(name)!r}, want a {kind.__name__}")


def feed():
    with urllib.request.urlopen(base + "/alice/rss.xml") as r:
        return r.read().decode()


# The user and the options.
blogs = wp.getUsersBlogs("alice", password)
check("blogs", [(b["blogid"], b["isPrimary"]) for b in blogs], [("alice", True)])
types("blog", blogs[0], isAdmin=bool, url=str, blogName=str, xmlrpc=str)
profile = wp.getProfile(*me)
types("profile", profile, user_id=str, username=str, first_name=str, last_name=str, bio=str, email=str, nickname=str, nicename=str, url=str, display_name=str, roles=list)
check("fields of a profile", wp.getProfile(*me, ["username"]), {"username": "alice"})
check("authors", wp.getAuthors(*me), [{"user_id": "alice", "user_login": "alice", "display_name": "alice"}])
options = wp.getOptions(*me)
check("software", options["software_name"], {"desc": "Software Name", "readonly": True, "value": "Cloudburst"})
check("some options", sorted(wp.getOptions(*me, ["blog_title", "time_zone", "no_such"])), ["blog_title", "time_zone"])
check("formats", wp.getPostFormats(*me), {"standard": "Standard"})
check("formats that are shown", wp.getPostFormats(*me, {"show-supported": True})["all"], {"standard": "Standard"})
check("pages", wp.getPageList(*me), [])

# org2blog signs in by these calls, creates missing categories, and posts.
check("no categories yet", wp.getCategories(*me), [])
check("no tags yet", wp.getTags(*me), [])
created = {name: wp.newCategory(*me, {"name": name, "slug": name, "parent_id": 0, "description": ""}) for name in ("org", "notes")}
check("type of an ID", [type(id) for id in created.values()], [int, int])
check("the same category again", wp.newCategory(*me, {"name": "Org"}), created["org"])
listed = wp.getCategories(*me)
check("created categories", sorted(c["categoryName"] for c in listed), ["notes", "org"])
types("category", listed[0], categoryId=str, parentId=str, description=str, categoryDescription=str, categoryName=str, htmlUrl=str, rssUrl=str)
check("mt lists them too", sorted(c["categoryName"] for c in server.mt.getCategoryList(*me)), ["notes", "org"])
id = server.metaWeblog.newPost(*me, {"title": "From Org", "description": "<p>Posted.</p>", "categories": ["org", "notes"], "mt_keywords": "emacs"}, True)
assert "From Org" in feed() and "<category>org</category>" in feed() and "<category>notes</category>" in feed(), feed()
check("used categories", sorted(c["categoryName"] for c in wp.getCategories(*me)), ["emacs", "notes", "org"])
check("tags", sorted((t["name"], t["count"]) for t in wp.getTags(*me)), [("emacs", 1), ("notes", 1), ("org", 1)])
types("tag", wp.getTags(*me)[0], tag_id=int, name=str, count=int, slug=str, html_url=str, rss_url=str)
post = wp.getPost(*me, id)
check("terms of a post", sorted((t["taxonomy"], t["name"]) for t in post["terms"]), [("category", "notes"), ("category", "org"), ("post_tag", "emacs")])
check("the ID of a term", [t["term_id"] for t in post["terms"] if t["name"] == "org"], [str(created["org"])])
assert wp.deletePost(*me, id) is True

# Terms.
wp.newCategory(*me, {"name": "Küche & Bad"})
terms = wp.getTerms(*me, "category")
types("term", terms[0], term_id=str, name=str, slug=str, term_group=str, term_taxonomy_id=str, taxonomy=str, description=str, parent=str, count=int)
check("searched terms", [t["name"] for t in wp.getTerms(*me, "category", {"search": "küche"})], ["Küche & Bad"])
check("terms with posts", wp.getTerms(*me, "category", {"hide_empty": True}), [])
check("some terms", len(wp.getTerms(*me, "category", {"number": 1, "offset": 1})), 1)
check("formats as terms", wp.getTerms(*me, "post_format"), [])
fault("an unknown taxonomy", -32602, wp.getTerms, *me, "genre")

# A file, and a post with everything.
data = b"GIF89a\x01\x00\x01\x00\x80\x00\x00\x00\x00\x00\xff\xff\xff!\xf9\x04\x01\x00\x00\x00\x00,\x00\x00\x00\x00\x01\x00\x01\x00\x00\x02\x02D\x01\x00;"
file = wp.uploadFile(*me, {"name": "dot.gif", "type": "image/gif", "bits": data, "overwrite": False})
types("file", file, id=str, file=str, url=str, type=str)
item = wp.getMediaItem(*me, file["id"])
check("the file again", (item["attachment_id"], item["link"], item["title"], item["type"]), (file["id"], file["url"], "dot.gif", "image/gif"))
types("media item", item, parent=int, caption=str, description=str, thumbnail=str, date_created_gmt=datetime.datetime)
fault("an unknown file", 404, wp.getMediaItem, *me, "0123456789abcdef")
kitchen = terms[[t["name"] for t in terms].index("Küche & Bad")]["term_id"]
id = wp.newPost(*me, {
    "post_type": "post", "post_status": "publish", "post_title": "Tea & cake", "post_content": "one\n\ntwo <b>2</b><!--more-->three",
    "post_excerpt": "short", "post_name": "tea", "post_date_gmt": datetime.datetime(2004, 2, 1, 10, 0, 0), "post_format": "standard",
    "terms": {"category": [int(kitchen)]}, "terms_names": {"category": ["tea"], "post_tag": ["cake"]},
    "enclosure": {"url": file["url"], "length": len(data), "type": "image/gif"}, "custom_fields": [], "sticky": False, "comment_status": "open",
})
check("type of a post's ID", type(id), str)
post = wp.getPost(*me, id)
types("post", post, post_id=str, post_title=str, post_date=datetime.datetime, post_date_gmt=datetime.datetime, post_modified=datetime.datetime,
      post_modified_gmt=datetime.datetime, post_status=str, post_type=str, post_format=str, post_name=str, post_author=str, post_password=str,
      post_excerpt=str, post_content=str, post_parent=str, post_mime_type=str, link=str, guid=str, menu_order=int, comment_status=str,
      ping_status=str, sticky=bool, post_thumbnail=list, terms=list, custom_fields=list, enclosure=dict)
check("title", post["post_title"], "Tea & cake")
check("content", post["post_content"], "<p>one</p>\n\n<p>two <b>2</b></p><!--more--><p>three</p>")
check("status, name, excerpt", (post["post_status"], post["post_name"], post["post_excerpt"]), ("publish", "tea", "short"))
check("date", post["post_date_gmt"], datetime.datetime(2004, 2, 1, 10, 0, 0))
check("terms", [(t["taxonomy"], t["name"]) for t in post["terms"]], [("category", "Küche & Bad"), ("category", "tea"), ("post_tag", "cake")])
check("enclosure", post["enclosure"]["url"], file["url"])
check("two fields", sorted(wp.getPost(*me, id, ["post_title", "terms"])), ["post_id", "post_title", "terms"])
fault("an unknown term", 404, wp.newPost, *me, {"post_title": "x", "terms": {"category": [5]}})
fault("a page", -32602, wp.newPost, *me, {"post_title": "x", "post_type": "page"})
fault("a password", -32602, wp.newPost, *me, {"post_title": "x", "post_password": "secret"})

# Changes affect only the given fields; a draft is the default.
check("edit", wp.editPost(*me, id, {"post_title": "Tea", "terms_names": {"post_tag": []}}), True)
post = wp.getPost(*me, id)
check("after the edit", (post["post_title"], post["post_content"][:10], [t["name"] for t in post["terms"]]), ("Tea", "<p>one</p>", ["Küche & Bad", "tea"]))
fault("an edit of an old revision", 409, wp.editPost, *me, id, {"post_title": "x", "if_not_modified_since": datetime.datetime(2001, 1, 1)})
markdown = server.metaWeblog.newPost(*me, {"title": "M", "description": "*one*\ntwo", "mt_convert_breaks": "markdown"}, True)
wp.editPost(*me, markdown, {"post_content": "*one*\ntwo, more"})
check("Markdown stays", server.metaWeblog.getPost(markdown, *me[1:])["mt_convert_breaks"], "markdown")
draft = wp.newPost(*me, {"post_title": "A draft", "post_content": "x"})
check("a draft", wp.getPost(*me, draft)["post_status"], "draft")
assert "A draft" not in feed()

# Lists.
check("all", sorted(p["post_id"] for p in wp.getPosts(*me)), sorted([id, markdown, draft]))
check("drafts", [p["post_id"] for p in wp.getPosts(*me, {"post_status": "draft"})], [draft])
check("published ones, some", [p["post_id"] for p in wp.getPosts(*me, {"post_status": "publish", "number": 1, "offset": 1})], [id])
check("searched", [p["post_id"] for p in wp.getPosts(*me, {"s": "TEA"}, ["post_title"])], [id])
titles = lambda filter: [p["post_title"] for p in wp.getPosts(*me, filter, ["post_title"])]
check("by title", titles({"orderby": "title", "order": "ASC"}), ["A draft", "M", "Tea"])
check("by title, descending", titles({"orderby": "post_title", "number": 2}), ["Tea", "M"])
check("the oldest first", titles({"orderby": "date", "order": "asc", "number": 1}), ["Tea"])
check("by ID", [p["post_id"] for p in wp.getPosts(*me, {"orderby": "ID", "order": "ASC", "offset": 1})], [markdown, draft])
check("a field that all have in common", titles({"orderby": "author title", "order": "ASC", "post_status": ["publish"]}), ["M", "Tea"])
check("pages", wp.getPosts(*me, {"post_type": "page"}), [])
check("the ID of a category for Movable Type", server.mt.setPostCategories(draft, *me[1:], [{"categoryId": kitchen}]), True)
check("it has its name", [c["categoryName"] for c in server.mt.getPostCategories(draft, *me[1:])], ["Küche & Bad"])

# A deleted post, and refused calls.
check("delete", wp.deletePost(*me, draft), True)
fault("a deleted post", 404, wp.getPost, *me, draft)
fault("a wrong password", 403, wp.getUsersBlogs, "alice", "wrong")
fault("a wrong password of a post", 403, wp.newPost, "alice", "alice", "wrong", {"post_title": "x"})
fault("another weblog", 404, wp.getPosts, "bob", *me[1:])
fault("too few parameters", -32602, wp.getPost, *me)
fault("a category without a name", -32602, wp.newCategory, *me, {"slug": "x"})

names = [m for m in server.system.listMethods() if m.startswith("wp.")]
check("methods", sorted(names), sorted("wp." + m for m in (
    "getUsersBlogs getProfile getOptions getPost getPosts newPost editPost deletePost getCategories newCategory getTags getTerms "
    "getPageList uploadFile getMediaItem getPostFormats getAuthors").split()))
for name in names:
    assert server.system.methodHelp(name), name
    check(name, type(server.system.methodSignature(name)[0]), list)
print("ok")
