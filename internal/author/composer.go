package author

import (
	"cmp"
	"context"

	"cloudburst/internal/author/rules"
	"cloudburst/internal/sanitize"
)

// RuleSettings changes the rules of authors for the texts of their posts.
type RuleSettings struct{ *Posts }

// SetRules changes the rules of an author. Stored posts do not change. Errors: fault.Invalid, and
// those of [Posts.SetProfile].
func (p RuleSettings) SetRules(ctx context.Context, user string, r rules.Rules) error {
	if err := p.checkEdit(ctx, Edit{User: user}); err != nil {
		return err
	}
	if err := r.Check(); err != nil {
		return err
	}
	_, err := p.Store.SetProfile(ctx, user, func(f *Profile) error {
		f.Rules = r
		return nil
	})
	return err
}

// Composer renders and measures the texts of one author by their rules.
type Composer struct {
	rules.Rules
	Limit int    // maximum characters of a short post; 0: no limit
	Most  int    // maximum characters of a short post by the settings of this server, even if the author's rules ignore it
	user  string // "": the text has no author, so hashtags are not linked to category pages
}

// Composer returns the composer of an author.
func (p *Posts) Composer(ctx context.Context, user string) (Composer, error) {
	w, err := p.Store.Writer(ctx, user)
	if err != nil {
		return Composer{}, err
	}
	return composerOf(p, user, w.Rules), nil
}

func composerOf(p *Posts, user string, r rules.Rules) Composer {
	if r.Short == "" {
		r.Short = map[string]string{LimitStop: rules.ShortEnforce, LimitOff: rules.ShortOff}[p.LimitMode]
	}
	r.Short = cmp.Or(r.Short, rules.ShortWarn)
	c := Composer{Rules: r, Most: cmp.Or(max(p.Limit, 0), 140), user: user}
	if c.Short != rules.ShortOff {
		c.Limit = c.Most
	}
	return c
}

// Preview returns a content with the HTML that would be published, and the length of its text.
// fault.Invalid: the content is invalid.
func (o Composer) Preview(c Content) (Content, rules.Measure, error) {
	if err := o.compose(&c); err != nil {
		return c, rules.Measure{}, err
	}
	return c, o.measure(&c), nil
}

// compose checks a content and renders its HTML.
func (o Composer) compose(c *Content) error {
	if err := checkContent(c); err != nil {
		return err
	}
	if err := renderContent(c); err != nil {
		return err
	}
	o.tag(c)
	return nil
}

// Warning returns [rules.Measure.Warning] of a short post that is published or scheduled; "": any
// other post.
func (o Composer) Warning(post Post) string {
	if !post.State.HasReaders() && post.State != Scheduled || post.Title != "" {
		return ""
	}
	return o.measure(&post.Content).Warning()
}

// Warning is like [Composer.Warning] with the rules of the post's author. If the rules cannot be
// read, it logs the error and returns "".
func (p *Posts) Warning(ctx context.Context, post Post) string {
	// Read the author's rules only if the post is too long by the default rules.
	if composerOf(p, "", rules.Rules{Short: rules.ShortWarn}).Warning(post) == "" {
		return ""
	}
	o, err := p.Composer(ctx, post.User)
	if err != nil {
		p.log().WarnContext(ctx, "could not read the rules of an author", "user", post.User, "err", err)
		return ""
	}
	return o.Warning(post)
}

// Preview is like [Composer.Preview] for a post whose author is not a user of this server. Hashtags
// are not linked.
func (p *Posts) Preview(c Content) (Content, rules.Measure, error) {
	return composerOf(p, "", rules.Rules{}).Preview(c)
}

// measure returns the length of a content whose HTML is rendered.
func (o Composer) measure(c *Content) rules.Measure {
	limit := o.Limit
	if c.Title != "" || len(c.Outline) > 0 {
		limit = 0
	}
	return o.Rules.Measure(sanitize.Text(c.HTML), c.Link, limit)
}

// tag makes the hashtags of a rendered content links to the pages of their categories, and adds
// these categories.
func (o Composer) tag(c *Content) {
	found := &rules.Hashtags{Name: CategoryName, Href: func(name string) string { return View{User: o.user, Category: name}.Base() }}
	if o.user != "" && !o.PlainTags {
		c.HTML = found.Link(c.HTML)
		tagNodes(found, c.Outline)
	}
	c.Categories, c.Hashtags = found.Categories(c.Categories, c.Hashtags, MaxCategories)
}

func tagNodes(found *rules.Hashtags, list []Node) {
	for i := range list {
		list[i].HTML = found.Link(list[i].HTML)
		tagNodes(found, list[i].Nodes)
	}
}
