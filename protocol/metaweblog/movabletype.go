package metaweblog

import (
	"slices"
	"strconv"

	"cloudburst/protocol/xmlrpc"
)

func (s *Server) movableType() []xmlrpc.Method {
	return []xmlrpc.Method{{
		Name: "mt.getRecentPostTitles", Help: "Returns the newest posts without their texts: blogid" + in + " and how many.",
		Signature: [][]string{{"array", "string", "string", "string", "int"}},
		Do: s.method("mt.getRecentPostTitles", 1, 3, 4, Read, func(c *call) (any, error) {
			return c.recent(0, 3, true, Post.TitleValue)
		}),
	}, {
		Name: "mt.getCategoryList", Help: "Returns the categories: blogid" + in + ".",
		Signature: [][]string{{"array", "string", "string", "string"}},
		Do: s.method("mt.getCategoryList", 1, 3, 3, List, func(c *call) (any, error) {
			return c.categories(Category.listValue)
		}),
	}, {
		Name: "mt.getPostCategories", Help: "Returns the categories of a post: postid" + in + ".",
		Signature: [][]string{{"array", "string", "string", "string"}},
		Do:        s.method("mt.getPostCategories", 1, 3, 3, Read, postCategories),
	}, {
		Name: "mt.setPostCategories", Help: "Replaces the categories of a post: postid" + in + " and an array of structs of categoryId and isPrimary. The result is true.",
		Signature: [][]string{{"boolean", "string", "string", "string", "array"}},
		Do:        s.method("mt.setPostCategories", 1, 4, 4, Update, setPostCategories),
	}, {
		Name: "mt.publishPost", Help: "Publishes a post now: postid" + in + ". The result is true.",
		Signature: [][]string{{"boolean", "string", "string", "string"}},
		Do: s.method("mt.publishPost", 1, 3, 3, Update, func(c *call) (any, error) {
			id := c.text(0, "postid")
			if c.err != nil {
				return nil, c.err
			}
			return done(c.Publish(c.ctx, id))
		}),
	}, {
		Name: methodSupported, Help: "Lists the methods for editing weblogs.",
		Signature: [][]string{{"array"}},
		Do:        s.plain(methodSupported, nil), // Methods sets the function
	}, {
		Name: "mt.supportedTextFilters", Help: "Lists the text filters in addition to HTML: an array of structs of key, for mt_convert_breaks, and label.",
		Signature: [][]string{{"array"}},
		Do:        s.plain("mt.supportedTextFilters", func(*args) any { return values(s.filters(), Filter.value) }),
	}, {
		Name: "mt.getTrackbackPings", Help: "Returns an empty array: trackbacks are not supported.",
		Signature: [][]string{{"array", "string"}},
		Do: s.plain("mt.getTrackbackPings", func(a *args) any {
			a.count(1, 1)
			a.text(0, "postid")
			return []any{}
		}),
	}}
}

func (s *Server) filters() []Filter {
	if s.Filters != nil {
		return s.Filters
	}
	return []Filter{{FilterBreaks, "Convert Line Breaks"}, {FilterMarkdown, "Markdown"}}
}

func (f Filter) value() map[string]any { return map[string]any{"key": f.Key, "label": f.Label} }

// spec:movabletype-2002#post-categories
func postCategories(c *call) (any, error) {
	id := c.text(0, "postid")
	if c.err != nil {
		return nil, c.err
	}
	list, err := c.PostCategories(c.ctx, id)
	if err != nil {
		return nil, err
	}
	return values(list, Category.postValue), nil
}

func setPostCategories(c *call) (any, error) {
	id := c.text(0, "postid")
	if c.err != nil {
		return nil, c.err
	}
	ids, err := ParseCategoryIDs(c.at(3))
	if err != nil {
		return nil, err
	}
	if err := c.numbered(ids); err != nil {
		return nil, err
	}
	return done(c.SetCategories(c.ctx, id, ids))
}

// numbered replaces numeric category IDs of the WordPress API by the IDs of this API, because
// editors mix both APIs.
func (c *call) numbered(ids []string) error {
	number := func(id string) bool {
		n, err := strconv.ParseInt(id, 10, 32)
		return err == nil && n >= 1<<30
	}
	if !slices.ContainsFunc(ids, number) {
		return nil
	}
	list, err := c.Categories(c.ctx, "")
	if err != nil {
		return err
	}
	for i, id := range ids {
		if k, ok := categoryByNumber(list, id); ok && !slices.ContainsFunc(list, func(k Category) bool { return k.ID == id }) {
			ids[i] = k.ID
		}
	}
	return nil
}

// ParseCategoryIDs parses the array of mt.setPostCategories: structs of categoryId and
// isPrimary, or IDs. The result has the primary category first and no duplicates. The error
// is a [*FieldError].
func ParseCategoryIDs(v any) ([]string, error) {
	list, ok := v.([]any)
	if !ok {
		return nil, fieldErr("categories", "The categories must be an array of structs, not %s.", kind(v))
	}
	ids := []string{}
	for _, item := range list {
		id, primary := "", false
		if of, ok := item.(map[string]any); ok {
			m := &members{of: of}
			id = m.word("categoryId")
			p, _ := m.find("isPrimary")
			primary, _ = xmlrpc.Bool(p)
			if m.err != nil {
				return nil, m.err
			}
		} else if id, ok = text(item); !ok {
			return nil, fieldErr("categories", "A category must be a struct with a categoryId, not %s.", kind(item))
		}
		switch {
		case id == "":
			return nil, fieldErr("categoryId", "A category has no categoryId.")
		case slices.Contains(ids, id):
		case primary:
			ids = slices.Insert(ids, 0, id)
		default:
			ids = append(ids, id)
		}
	}
	return ids, nil
}
