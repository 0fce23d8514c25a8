package metaweblog

import (
	"cmp"
	"hash/fnv"
	"slices"
	"strconv"
	"strings"
	"time"

	"cloudburst/protocol/xmlrpc"
)

// number returns the ID of a category in the WordPress API, where IDs are positive integers. The
// number is a hash of the category's ID, so it never changes and needs no storage.
func (c Category) number() int64 {
	h := fnv.New32a()
	_, _ = h.Write([]byte(c.ID)) // Write never returns an error
	return int64(h.Sum32()>>1 | 1<<30)
}

func (c Category) wpID() string { return strconv.FormatInt(c.number(), 10) }

// categoryByNumber returns the category that has the given ID in the WordPress API.
func categoryByNumber(list []Category, id string) (Category, bool) {
	i := slices.IndexFunc(list, func(c Category) bool { return c.wpID() == id })
	if i < 0 {
		return Category{}, false
	}
	return list[i], true
}

func (c Category) wpValue() map[string]any {
	v := c.Value()
	v["categoryId"] = c.wpID()
	return v
}

func (c Category) wpTag() map[string]any {
	return map[string]any{"tag_id": c.number(), "name": c.Name, "count": c.Posts, "slug": c.ID, "html_url": c.HTMLURL, "rss_url": c.RSSURL}
}

func (c Category) wpTerm(taxonomy string) map[string]any {
	return map[string]any{
		"term_id": c.wpID(), "name": c.Name, "slug": c.ID, "term_group": "0", "term_taxonomy_id": c.wpID(), "taxonomy": taxonomy,
		"description": "", "parent": "0", "count": c.Posts,
	}
}

func (b Blog) wpValue() map[string]any {
	v := b.Value()
	v["isPrimary"] = true
	return v
}

func (u User) wpValue() map[string]any {
	return map[string]any{
		"user_id": u.ID, "username": u.ID, "first_name": u.FirstName, "last_name": u.LastName, "bio": "", "email": u.Email,
		"nickname": u.Nickname, "nicename": u.ID, "url": u.URL, "display_name": u.Nickname, "roles": []string{"author"},
	}
}

func (f File) wpValue() map[string]any {
	v := map[string]any{
		"attachment_id": f.ID, "parent": 0, "link": f.URL, "title": f.Name, "caption": "", "description": "", "metadata": map[string]any{},
		"type": f.Type, "thumbnail": f.URL,
	}
	dated(v, f.Added, "date_created_gmt")
	return v
}

// wpValue returns the post as a struct of the WordPress API. Its time zone is UTC.
func (p Post) wpValue() map[string]any {
	terms := []any{}
	for _, of := range []struct {
		taxonomy    string
		labels, ids []string
	}{{taxonomyCategory, p.Categories, p.CategoryIDs}, {taxonomyTag, p.Keywords, p.KeywordIDs}} {
		for i, label := range of.labels {
			k := Category{ID: label, Name: label, Posts: 1}
			if i < len(of.ids) {
				k.ID = of.ids[i]
			}
			terms = append(terms, k.wpTerm(of.taxonomy))
		}
	}
	v := map[string]any{
		"post_id": p.ID, "post_title": p.Title, "post_status": p.Status, "post_type": "post", "post_format": "standard", "post_name": p.Slug,
		"post_author": p.UserID, "post_password": "", "post_excerpt": p.Excerpt, "post_content": JoinMore(p.Description, p.More),
		"post_parent": "0", "post_mime_type": "", "link": cmp.Or(p.PermaLink, p.Link), "guid": cmp.Or(p.PermaLink, p.Link), "menu_order": 0,
		"comment_status": "closed", "ping_status": "closed", "sticky": false, "post_thumbnail": []any{}, "custom_fields": []any{}, "terms": terms,
	}
	dated(v, p.Created, "post_date", "post_date_gmt")
	dated(v, p.Modified, "post_modified", "post_modified_gmt")
	if p.Enclosure != nil {
		v["enclosure"] = p.Enclosure.value()
	}
	return v
}

// wpOption is one setting of a weblog for wp.getOptions.
type wpOption struct{ name, desc, value string }

func (s *Server) wpOptions(c *call) (any, error) {
	want, err := c.wpFields(3)
	if err != nil {
		return nil, err
	}
	list, err := c.Blogs(c.ctx)
	if err != nil {
		return nil, err
	}
	if len(list) == 0 {
		return map[string]any{}, nil
	}
	b, all := list[0], map[string]any{}
	for _, o := range []wpOption{
		{"software_name", "Software Name", s.Software}, {"software_version", "Software Version", s.Version},
		{"blog_url", "WordPress Address (URL)", strings.TrimSuffix(b.URL, "/")}, {"home_url", "Site Address (URL)", b.URL},
		{"blog_title", "Site Title", b.Name}, {"blog_tagline", "Tagline", b.Tagline},
		{"time_zone", "Time Zone", "0"}, {"date_format", "Date Format", "Y-m-d"}, {"time_format", "Time Format", "H:i"},
		{"users_can_register", "Allow new users to sign up", "0"}, {"default_comment_status", "Allow people to post comments on new articles", "closed"},
		{"default_ping_status", "Allow link notifications from other blogs on new articles", "closed"}, {"blog_public", "Privacy access", "1"},
		{"image_default_link_type", "Image default link type", "none"}, {"post_thumbnail", "Post Thumbnail", ""},
	} {
		if want == nil || slices.Contains(want, o.name) {
			all[o.name] = map[string]any{"desc": o.desc, "readonly": true, "value": o.value}
		}
	}
	return all, nil
}

// wpEdit parses the struct of wp.newPost and wp.editPost. Members without a meaning here,
// such as post_format, custom_fields, post_thumbnail and sticky, are ignored.
func (c *call) wpEdit(at int) (Edit, error) {
	of, ok := c.at(at).(map[string]any)
	if !ok {
		return Edit{}, fieldErr("content", "The post must be a struct of %s, not %s.", helpWP, kind(c.at(at)))
	}
	m := &members{of: of}
	if t := m.word("post_type"); t != "" && t != "post" {
		return Edit{}, fieldErr("post_type", "This weblog has posts only; post_type is %s.", shown(t))
	}
	if m.word("post_password") != "" {
		return Edit{}, fieldErr("post_password", "Published posts are public here: a post cannot have a password.")
	}
	e := Edit{
		Title: m.text("post_title"), Excerpt: m.text("post_excerpt"), Slug: m.text("post_name"), Enclosure: m.enclosure("enclosure"),
		Status: strings.ToLower(m.word("post_status")), Created: m.wpDate(),
	}
	if whole := m.text("post_content"); whole != nil {
		body, more := SplitMore(*whole)
		e.Description, e.More = &body, &more
	}
	if m.err != nil {
		return Edit{}, m.err
	}
	return e, c.wpTermsOf(m, &e)
}

// wpDate returns the date of a post in UTC, the time zone of the weblogs.
func (m *members) wpDate() time.Time {
	if t := m.time("post_date_gmt"); !t.IsZero() {
		return t
	}
	return m.time("post_date")
}

// wpTermsOf parses terms_names and terms, structs of lists by taxonomy: lists of names, and
// lists of IDs of existing terms.
//
// spec:wordpress-xmlrpc#terms-of-a-post
func (c *call) wpTermsOf(m *members, e *Edit) error {
	to := map[string]*[]string{taxonomyCategory: &e.Categories, taxonomyTag: &e.Keywords}
	for _, name := range []string{"terms", "terms_names"} {
		v, _ := m.find(name)
		by, ok := v.(map[string]any)
		if list, empty := v.([]any); v == nil || empty && len(list) == 0 {
			continue
		}
		if !ok {
			return fieldErr(name, "The member %s must be a struct of lists by taxonomy, not %s.", name, kind(v))
		}
		for taxonomy := range by {
			if taxonomy == "post_format" {
				continue
			}
			if to[taxonomy] == nil {
				return fieldErr(name, "There is no taxonomy %s; there are category and post_tag.", shown(taxonomy))
			}
			in := &members{of: by}
			labels := in.list(false, taxonomy)
			if in.err != nil {
				return in.err
			}
			if name == "terms" {
				if err := c.named(labels); err != nil {
					return err
				}
			}
			*to[taxonomy] = append(append([]string{}, *to[taxonomy]...), labels...) // an empty list removes all labels
		}
	}
	return nil
}

// named replaces the IDs of terms by the names of the terms.
func (c *call) named(ids []string) error {
	if len(ids) == 0 {
		return nil
	}
	list, err := c.Categories(c.ctx, c.blog())
	if err != nil {
		return err
	}
	for i, id := range ids {
		k, ok := categoryByNumber(list, id)
		if !ok {
			return &xmlrpc.Fault{Code: CodeNotFound, String: "There is no term with the ID " + shown(id) + "; wp.getTerms lists them."}
		}
		ids[i] = k.Name
	}
	return nil
}
