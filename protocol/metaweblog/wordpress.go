package metaweblog

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"cloudburst/protocol/xmlrpc"
)

// helpWP describes the struct of wp.newPost and wp.editPost.
const helpWP = "post_title, post_content, post_excerpt, post_status, post_date_gmt, post_name, terms_names, terms, enclosure (url, type, length)"

// wpTaxonomies are the taxonomies of posts. Both contain the same labels: posts here have one kind
// of label, which is at the same time a tag and a category.
var wpTaxonomies = []string{taxonomyCategory, taxonomyTag}

const (
	taxonomyCategory = "category"
	taxonomyTag      = "post_tag"
)

// wordPress returns the methods of the WordPress API that editors use for posts. All
// methods except wp.getUsersBlogs start with the blog ID, the user name and the password.
func (s *Server) wordPress() []xmlrpc.Method {
	return slices.Concat(s.wordPressSite(), s.wordPressPosts(), s.wordPressTerms(), s.wordPressFiles())
}

// wp returns a method whose first three parameters are the blog ID and the login. Up to
// extra parameters may follow, of which need are required.
func (s *Server) wp(name, help string, types []string, need, extra int, to Access, do func(c *call) (any, error)) xmlrpc.Method {
	login := []string{types[0], "string", "string", "string"}
	m := xmlrpc.Method{Name: name, Help: help}
	for n := need; n <= extra; n++ {
		m.Signature = append(m.Signature, slices.Concat(login, types[1:n+1]))
	}
	m.Do = s.method(name, 1, 3+need, 3+extra, to, func(c *call) (any, error) {
		c.text(0, "blog ID")
		if c.err != nil {
			return nil, c.err
		}
		return do(c)
	})
	return m
}

// blog returns the first parameter, which wp has checked.
func (c *call) blog() string { return c.text(0, "blog ID") }

func (s *Server) wordPressSite() []xmlrpc.Method {
	return []xmlrpc.Method{{
		Name: "wp.getUsersBlogs", Help: "Lists the weblogs of a user: user name, password (or a token). The result is an array of structs of blogid, blogName, url, xmlrpc, isAdmin and isPrimary.",
		Signature: [][]string{{"array", "string", "string"}},
		Do: s.method("wp.getUsersBlogs", 0, 2, 2, List, func(c *call) (any, error) {
			list, err := c.Blogs(c.ctx)
			if err != nil {
				return nil, err
			}
			return values(list, Blog.wpValue), nil
		}),
	},
		s.wp("wp.getProfile", "Returns the profile of the user: blog ID"+in+", and optionally the names of the wanted fields.", []string{"struct", "array"}, 0, 1, List, wpProfile),
		s.wp("wp.getAuthors", "Lists the authors of a weblog: blog ID"+in+".", []string{"array"}, 0, 0, List, wpAuthors),
		s.wp("wp.getOptions", "Returns settings of a weblog, all of them read-only: blog ID"+in+", and optionally the names of the wanted options.", []string{"struct", "array"}, 0, 1, List, s.wpOptions),
		s.wp("wp.getPostFormats", "Returns the formats of posts, of which there is one, standard: blog ID"+in+", and optionally a struct of show-supported.", []string{"struct", "struct"}, 0, 1, List, wpFormats),
		s.wp("wp.getPageList", "Returns an empty array, because weblogs have posts only: blog ID"+in+".", []string{"array"}, 0, 0, List, func(*call) (any, error) {
			return []any{}, nil
		}),
	}
}

// spec:wordpress-xmlrpc#post
func (s *Server) wordPressPosts() []xmlrpc.Method {
	return []xmlrpc.Method{
		s.wp("wp.getPost", "Returns a post: blog ID"+in+", post ID, and optionally the names of the wanted fields.", []string{"struct", "string", "array"}, 1, 2, Read, func(c *call) (any, error) {
			want, err := c.wpFields(4)
			if err != nil {
				return nil, err
			}
			return c.one(3, func(p Post) map[string]any { return want.of(p.wpValue()) })
		}),
		s.wp("wp.getPosts", "Lists posts, the newest first, drafts too: blog ID"+in+", and optionally a struct of post_status, number, offset, orderby, order and s, and the names of the wanted fields.",
			[]string{"array", "struct", "array"}, 0, 2, Read, wpPosts),
		s.wp(MethodWPNewPost, "Creates a post: blog ID"+in+", a struct of "+helpWP+". Without post_status it is a draft. The result is its ID.",
			[]string{"string", "struct"}, 1, 1, Create, wpNewPost),
		s.wp(MethodWPEditPost, "Changes a post: blog ID"+in+", post ID, and a struct as for "+MethodWPNewPost+". "+helpKept+"The result is true.",
			[]string{"boolean", "string", "struct"}, 2, 2, Update, wpEditPost),
		s.wp("wp.deletePost", "Deletes a post: blog ID"+in+", post ID. The result is true.", []string{"boolean", "string"}, 1, 1, Delete, func(c *call) (any, error) {
			id := c.text(3, "post ID")
			if c.err != nil {
				return nil, c.err
			}
			return done(c.DeletePost(c.ctx, id))
		}),
	}
}

// spec:wordpress-xmlrpc#terms
func (s *Server) wordPressTerms() []xmlrpc.Method {
	return []xmlrpc.Method{
		s.wp("wp.getCategories", "Lists the categories: blog ID"+in+".", []string{"array"}, 0, 0, List, func(c *call) (any, error) {
			return c.categories(Category.wpValue)
		}),
		s.wp("wp.getTags", "Lists the tags, which are the categories of published posts: blog ID"+in+".", []string{"array"}, 0, 0, List, wpTags),
		s.wp("wp.getTerms", "Lists the terms of a taxonomy, category or post_tag: blog ID"+in+", the taxonomy, and optionally a struct of number, offset, search and hide_empty.",
			[]string{"array", "string", "struct"}, 1, 2, List, wpTerms),
		s.wp("wp.newCategory", "Creates a category that posts can use later: blog ID"+in+", a struct of name. The result is its ID.", []string{"int", "struct"}, 1, 1, Create, wpNewCategory),
	}
}

func (s *Server) wordPressFiles() []xmlrpc.Method {
	return []xmlrpc.Method{
		s.wp(MethodWPUploadFile, "Uploads a file: blog ID"+in+", a struct of name, type and bits (base64). The result is a struct of id, file, url and type.",
			[]string{"struct", "struct"}, 1, 1, Upload, newMedia),
		s.wp("wp.getMediaItem", "Returns an uploaded file: blog ID"+in+", the ID that "+MethodWPUploadFile+" returned.", []string{"struct", "string"}, 1, 1, Read, func(c *call) (any, error) {
			id := c.text(3, "attachment ID")
			if c.err != nil {
				return nil, c.err
			}
			f, err := c.File(c.ctx, c.blog(), id)
			if err != nil {
				return nil, err
			}
			return f.wpValue(), nil
		}),
	}
}

// wpFields are the names of the requested members; nil: all.
type wpFields []string

// wpFields reads an optional list of names. The groups "post" and "terms" of WordPress
// include all of their members.
func (c *call) wpFields(at int) (wpFields, error) {
	list, ok := c.at(at).([]any)
	if c.at(at) != nil && !ok {
		return nil, fieldErr("fields", "The fields must be an array of names, not %s.", kind(c.at(at)))
	}
	var want wpFields
	for _, v := range list {
		name, ok := text(v)
		if !ok {
			return nil, fieldErr("fields", "The fields must be an array of names; it contains %s.", kind(v))
		}
		switch name {
		case "post", "basic":
			return nil, nil
		case "taxonomies":
			name = "terms"
		}
		want = append(want, name)
	}
	return want, nil
}

// of returns the requested members. The ID of a post is always included.
func (f wpFields) of(v map[string]any) map[string]any {
	for name := range v {
		if f != nil && name != "post_id" && !slices.Contains(f, name) {
			delete(v, name)
		}
	}
	return v
}

func wpProfile(c *call) (any, error) {
	want, err := c.wpFields(3)
	if err != nil {
		return nil, err
	}
	u, err := c.User(c.ctx)
	if err != nil {
		return nil, err
	}
	return want.of(u.wpValue()), nil
}

func wpAuthors(c *call) (any, error) {
	u, err := c.User(c.ctx)
	if err != nil {
		return nil, err
	}
	return []any{map[string]any{"user_id": u.ID, "user_login": u.ID, "display_name": u.Nickname}}, nil
}

func wpFormats(c *call) (any, error) {
	all := map[string]any{"standard": "Standard"}
	if filter, ok := c.at(3).(map[string]any); ok {
		if b, _ := xmlrpc.Bool(filter["show-supported"]); b {
			return map[string]any{"all": all, "supported": []any{}}, nil
		}
	}
	return all, nil
}

// Limits of the lists of wp.getPosts and wp.getTerms.
const (
	wpPostsNumber = 10   // number of posts if the filter does not specify one, as in WordPress
	maxWp         = 1000 // maximum number of posts or terms that are read
)

// wpFilter is the optional struct that filters a list.
type wpFilter struct {
	members
	number, offset int
}

func (c *call) wpFilter(at, number int) (*wpFilter, error) {
	of, ok := c.at(at).(map[string]any)
	if list, empty := c.at(at).([]any); !ok && c.at(at) != nil && (!empty || len(list) > 0) { // PHP encodes an empty struct as an array
		return nil, fieldErr("filter", "The filter must be a struct, not %s.", kind(c.at(at)))
	}
	f := &wpFilter{members: members{of: of}}
	f.number, f.offset = f.count("number", number), f.count("offset", 0)
	return f, f.err
}

func (f *wpFilter) count(name string, otherwise int) int {
	v, _ := f.find(name)
	if s, ok := v.(string); v == nil || ok && s == "" {
		return otherwise
	}
	n, ok := xmlrpc.Int(v)
	if !ok || n < 0 {
		f.fail(name, "must be a number from 0, not %s", kind(v))
	}
	return int(min(n, maxWp))
}

// part returns the part of a list that the filter requests.
func part[T any](list []T, f *wpFilter) []T {
	list = list[min(f.offset, len(list)):]
	return list[:min(f.number, len(list))]
}

func wpPosts(c *call) (any, error) {
	f, err := c.wpFilter(3, wpPostsNumber)
	if err != nil {
		return nil, err
	}
	want, err := c.wpFields(4)
	if err != nil {
		return nil, err
	}
	status, search := f.list(true, "post_status"), strings.ToLower(f.word("s"))
	orderby, order := cmp.Or(f.word("orderby"), "date"), f.word("order")
	if t := f.word("post_type"); t != "" && t != "post" {
		return []any{}, f.err
	}
	if f.err != nil {
		return nil, f.err
	}
	if slices.Contains(status, "any") {
		status = nil
	}
	q := PostQuery{Limit: maxWp, Statuses: status}
	newest := orderby == "date" && !strings.EqualFold(order, "ASC")
	if search == "" && newest {
		q.Limit = max(f.offset+f.number, 1)
	}
	list, err := c.Posts(c.ctx, c.blog(), q)
	if err != nil {
		return nil, err
	}
	list = slices.DeleteFunc(list, func(p Post) bool {
		return !strings.Contains(strings.ToLower(p.Title+"\n"+p.Description+p.More), search)
	})
	if !newest {
		wpOrder(list, orderby, order)
	}
	return values(part(list, f), func(p Post) map[string]any { return want.of(p.wpValue()) }), nil
}

func wpNewPost(c *call) (any, error) {
	e, err := c.wpEdit(3)
	if err != nil {
		return nil, err
	}
	if e.Description != nil {
		e.Filter = new(FilterBreaks)
	}
	return c.NewPost(c.ctx, c.blog(), e)
}

// wpEditPost changes a post. WordPress shows the line breaks of a text; if a post is in Markdown it
// stays Markdown, and its line breaks follow the rules of Markdown.
func wpEditPost(c *call) (any, error) {
	id := c.text(3, "post ID")
	e, err := c.wpEdit(4)
	if err := cmp.Or(c.err, err); err != nil {
		return nil, err
	}
	was, err := c.Post(c.ctx, id)
	if err != nil {
		return nil, err
	}
	m := &members{of: c.at(4).(map[string]any)} // wpEdit has checked the type
	if since := m.time("if_not_modified_since"); !since.IsZero() && was.Modified.Truncate(time.Second).After(since) {
		return nil, &xmlrpc.Fault{Code: CodeConflict, String: "There is a revision of this post that is more recent."}
	}
	if m.err != nil {
		return nil, m.err
	}
	if e.Description != nil && was.Filter != FilterMarkdown {
		e.Filter = new(FilterBreaks)
	}
	return done(c.EditPost(c.ctx, id, e))
}

func wpTags(c *call) (any, error) {
	list, err := c.Categories(c.ctx, c.blog())
	if err != nil {
		return nil, err
	}
	return values(slices.DeleteFunc(list, Category.unused), Category.wpTag), nil
}

func (c Category) unused() bool { return c.Posts == 0 }

func wpTerms(c *call) (any, error) {
	taxonomy := c.text(3, "taxonomy")
	if c.err != nil {
		return nil, c.err
	}
	f, err := c.wpFilter(4, maxWp)
	if err != nil {
		return nil, err
	}
	if taxonomy == "post_format" || taxonomy == "nav_menu" || taxonomy == "link_category" {
		return []any{}, nil
	}
	if !slices.Contains(wpTaxonomies, taxonomy) {
		return nil, fieldErr("taxonomy", "There is no taxonomy %s; there are category and post_tag.", shown(taxonomy))
	}
	v, _ := f.find("hide_empty")
	hide, _ := xmlrpc.Bool(v)
	search := strings.ToLower(f.word("search"))
	if f.err != nil {
		return nil, f.err
	}
	list, err := c.Categories(c.ctx, c.blog())
	if err != nil {
		return nil, err
	}
	list = slices.DeleteFunc(list, func(k Category) bool {
		return (hide || taxonomy == taxonomyTag) && k.unused() || !strings.Contains(strings.ToLower(k.Name), search)
	})
	return values(part(list, f), func(k Category) map[string]any { return k.wpTerm(taxonomy) }), nil
}

func wpNewCategory(c *call) (any, error) {
	name := ""
	m := &members{}
	switch v := c.at(3).(type) {
	case map[string]any:
		m.of = v
		name = m.word("name")
	case string:
		name = v
	default:
		return nil, fieldErr("category", "The category must be a struct with a name, not %s.", kind(v))
	}
	if m.err != nil {
		return nil, m.err
	}
	k, err := c.NewCategory(c.ctx, c.blog(), name)
	if err != nil {
		return nil, err
	}
	return k.number(), nil
}
