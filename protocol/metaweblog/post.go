package metaweblog

import (
	"maps"
	"path"
	"slices"
	"strings"
	"time"

	"cloudburst/protocol/xmlrpc"
)

// Value returns the struct of metaWeblog.getPost. It has every member that clients expect,
// even if empty, except unknown dates and a missing enclosure.
//
// spec:metaweblog-2002#get-post
func (p Post) Value() map[string]any {
	v := map[string]any{
		"postid": p.ID, "userid": p.UserID, "title": p.Title, "description": p.Description, "link": p.Link, "permaLink": p.PermaLink,
		"categories": texts(p.Categories), "mt_text_more": p.More, "mt_excerpt": p.Excerpt, "mt_keywords": strings.Join(p.Keywords, ", "),
		"mt_convert_breaks": p.Filter, "mt_allow_comments": p.AllowComments, "mt_allow_pings": p.AllowPings,
		"wp_slug": p.Slug, "mt_basename": p.Slug, "post_status": p.Status,
	}
	dated(v, p.Created, "dateCreated", "date_created_gmt")
	dated(v, p.Modified, "date_modified", "date_modified_gmt")
	if p.Enclosure != nil {
		v["enclosure"] = p.Enclosure.value()
	}
	return v
}

// TitleValue returns the struct of mt.getRecentPostTitles.
func (p Post) TitleValue() map[string]any {
	v := map[string]any{"postid": p.ID, "userid": p.UserID, "title": p.Title, "post_status": p.Status}
	dated(v, p.Created, "dateCreated", "date_created_gmt")
	return v
}

// BloggerValue returns the struct of blogger.getPost.
func (p Post) BloggerValue() map[string]any {
	v := map[string]any{"postid": p.ID, "userid": p.UserID, "content": BloggerContent(p.Title, JoinMore(p.Description, p.More))}
	dated(v, p.Created, "dateCreated")
	return v
}

func dated(v map[string]any, t time.Time, names ...string) {
	for _, name := range names {
		if !t.IsZero() {
			v[name] = t
		}
	}
}

func texts(list []string) []string {
	if list == nil {
		return []string{}
	}
	return list
}

// ParsePost parses a post in a server's response, in any of the structs above. The error
// wraps [ErrInvalidResponse].
func ParsePost(v any) (Post, error) {
	m, err := structOf(v, "a post")
	if err != nil {
		return Post{}, err
	}
	p := Post{
		ID: m.word("postid"), UserID: m.word("userid"), Title: m.plain("title"), Description: m.plain("description"), More: m.plain("mt_text_more"),
		Excerpt: m.plain("mt_excerpt"), Link: m.word("link"), PermaLink: m.word("permaLink"), Slug: m.word("wp_slug", "mt_basename"),
		Filter: m.word("mt_convert_breaks"), Status: strings.ToLower(m.word("post_status")),
		Categories: m.list(false, "categories"), Keywords: m.list(true, "mt_keywords", "mt_tags"), Enclosure: m.enclosure("enclosure"),
		Created: m.created(), Modified: m.time("date_modified_gmt", "date_modified"),
	}
	if n := m.allow("mt_allow_comments"); n != nil {
		p.AllowComments = *n
	}
	if n := m.allow("mt_allow_pings"); n != nil {
		p.AllowPings = *n
	}
	if p.Enclosure != nil && p.Enclosure.URL == "" {
		p.Enclosure = nil
	}
	if content := m.text("content"); content != nil && m.text("description") == nil {
		title, text := ParseBloggerContent(*content)
		p.Description, p.More = SplitMore(text)
		if title != nil {
			p.Title = *title
		}
	}
	return p, m.responseErr()
}

func (m *members) plain(names ...string) string {
	if s := m.text(names...); s != nil {
		return *s
	}
	return ""
}

// Value returns the struct of metaWeblog.getCategories: description, htmlUrl and rssUrl,
// with the members that other servers have added.
//
// spec:metaweblog-2002#get-categories
func (c Category) Value() map[string]any {
	return map[string]any{
		"categoryId": c.ID, "parentId": "0", "categoryName": c.Name, "title": c.Name, "description": c.Name, "categoryDescription": "",
		"htmlUrl": c.HTMLURL, "rssUrl": c.RSSURL,
	}
}

// listValue returns the struct of mt.getCategoryList, postValue that of
// mt.getPostCategories.
func (c Category) listValue() map[string]any {
	return map[string]any{"categoryId": c.ID, "categoryName": c.Name}
}

func (c Category) postValue() map[string]any {
	return map[string]any{"categoryId": c.ID, "categoryName": c.Name, "isPrimary": c.Primary}
}

// ParseCategories parses the categories in a server's response: an array of structs, or a
// struct of structs by name. The error wraps [ErrInvalidResponse].
func ParseCategories(v any) ([]Category, error) {
	list, ok := v.([]any)
	if byName, is := v.(map[string]any); is {
		for _, name := range slices.Sorted(maps.Keys(byName)) {
			inner, is := byName[name].(map[string]any)
			if !is {
				return nil, responseError("a category is %s", kind(byName[name]))
			}
			if c := (&members{of: inner}).word("categoryName", "description", "title"); c == "" {
				inner["categoryName"] = name
			}
			list = append(list, inner)
		}
		ok = true
	}
	if !ok {
		return nil, responseError("the categories are %s", kind(v))
	}
	all := make([]Category, 0, len(list))
	for _, item := range list {
		m, err := structOf(item, "a category")
		if err != nil {
			return nil, err
		}
		c := Category{
			ID: m.word("categoryId"), Name: m.plain("categoryName", "description", "title"),
			HTMLURL: m.word("htmlUrl"), RSSURL: m.word("rssUrl"),
		}
		c.Primary, _ = xmlrpc.Bool(item.(map[string]any)["isPrimary"])
		if err := m.responseErr(); err != nil {
			return nil, err
		}
		all = append(all, c)
	}
	return all, nil
}

// Value returns the struct of blogger.getUsersBlogs.
//
// spec:blogger-2001#users-blogs
func (b Blog) Value() map[string]any {
	return map[string]any{"blogid": b.ID, "blogName": b.Name, "url": b.URL, "xmlrpc": b.RPCURL, "isAdmin": true}
}

// Value returns the struct of blogger.getUserInfo.
//
// spec:blogger-2001#user-info
func (u User) Value() map[string]any {
	return map[string]any{"userid": u.ID, "nickname": u.Nickname, "firstname": u.FirstName, "lastname": u.LastName, "email": u.Email, "url": u.URL}
}

// ParseMedia parses the struct of metaWeblog.newMediaObject. The error is a [*FieldError].
//
// spec:metaweblog-2002#new-media-object
func ParseMedia(v any) (Media, error) {
	of, ok := v.(map[string]any)
	if !ok {
		return Media{}, fieldErr("struct", "The file must be a struct of name, type and bits, not %s.", kind(v))
	}
	m := &members{of: of}
	media := Media{Name: baseName(m.word("name")), Type: m.word("type")}
	if m.err != nil {
		return Media{}, m.err
	}
	switch bits, name := m.find("bits"); b := bits.(type) {
	case []byte:
		media.Bits = b
	case string:
		if media.Bits, ok = unpacked(b); !ok {
			return Media{}, fieldErr(name, "The member bits must be valid base64.")
		}
	default:
		return Media{}, fieldErr("bits", "The member bits must be base64, not %s.", kind(bits))
	}
	return media, nil
}

// Value returns the struct for m.
func (m Media) Value() map[string]any {
	return map[string]any{"name": m.Name, "type": m.Type, "bits": m.Bits}
}

// baseName returns the last part of a path of any operating system.
func baseName(s string) string {
	s = path.Base("/" + strings.ReplaceAll(s, `\`, "/"))
	if s == "/" || s == ".." {
		return ""
	}
	return s
}

// Value returns the result of metaWeblog.newMediaObject.
func (f File) Value() map[string]any {
	return map[string]any{"url": f.URL, "file": f.Name, "type": f.Type, "id": f.ID}
}
