package writerui

import (
	"slices"

	"cloudburst/internal/author"
	"cloudburst/internal/web/shell"
)

// audience is the form field for the readers of a post: everyone, or groups. The template audience
// renders it.
type audience struct {
	Only    bool // the post is for groups
	Options []audienceOption
	Wrong   string
}

type audienceOption struct {
	Slug, Name string
	Chosen     bool
	Deleted    bool // the post is for a group that no longer exists
}

// Values of the field audience. A form without the field leaves the groups of a post unchanged.
const (
	forEveryone = "everyone"
	forGroups   = "groups"
)

// audienceOf returns the field for the groups of a writer.
func audienceOf(w author.Writer, f *postForm, wrong string) audience {
	a := audience{Only: f.Audience == forGroups, Wrong: wrong}
	for _, g := range w.AllGroups() {
		chosen := f.isFor(g.Slug)
		if !g.IsDeleted() || chosen {
			a.Options = append(a.Options, audienceOption{g.Slug, shell.CleanText(g.Name, 100), chosen, g.IsDeleted()})
		}
	}
	return a
}

func (f *postForm) isFor(slug string) bool {
	return slices.Contains(f.Groups, slug)
}

// checkAudience returns the error message of the field audience; "": the field is valid.
func (f *postForm) checkAudience() string {
	if f.Audience == forGroups && len(f.Groups) == 0 {
		return "Choose at least one group, or Everyone."
	}
	return ""
}

// applyAudience sets the groups of a post. If the form is for groups but names no group, the post
// keeps its groups, and a public post gets the default group. So an incomplete form never makes a
// post public.
func (f *postForm) applyAudience(c *author.Content) {
	switch {
	case f.Audience == forEveryone:
		c.Groups = nil
	case f.Audience == forGroups && len(f.Groups) > 0:
		c.Groups = f.Groups
	case f.Audience == forGroups && len(c.Groups) == 0:
		c.Groups = []string{author.DefaultGroup}
	}
}

// fillAudience puts the groups of a post into the form.
func (f *postForm) fillAudience(c author.Content) {
	if f.Audience, f.Groups = forEveryone, c.Groups; len(c.Groups) > 0 {
		f.Audience = forGroups
	}
}
