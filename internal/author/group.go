package author

import (
	"cmp"
	"context"
	"crypto/sha256"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"cloudburst/feed"
	"cloudburst/feed/render"
	"cloudburst/internal/author/inspect"
	"cloudburst/internal/author/markup"
	"cloudburst/internal/fault"
)

// Group is a list of readers that an author defines. Its readers get the posts for the group in a
// private feed. Every user has the group [DefaultGroup], whose feed has the name [Private].
type Group struct {
	Slug        string `json:"slug"` // at most 20 lowercase letters, digits, - and _; never changes
	Name        string `json:"name"` // plain text, one line, at most 100 characters
	Description string `json:"description,omitempty"`
	// DeletedAt is the time when the author deleted the group; zero: not deleted. The posts and
	// secrets of a deleted group stay stored, and its feed is not served.
	DeletedAt time.Time `json:"deletedAt,omitzero"`
}

// DefaultGroup is the slug of the group that every user has from the beginning.
const DefaultGroup = "private"

// Limits of groups.
const (
	MaxGroups      = 100 // maximum groups of a user, including deleted groups
	MaxGroupSlug   = 20
	maxDescription = 500 // maximum characters of a description

	// GroupWindow is the maximum number of posts in the feed of a group, which has no archive.
	GroupWindow = 100
)

var groupSlug = regexp.MustCompile(`^[a-z0-9][a-z0-9_-]*$`)

// GroupFeed returns the name of the feed of a group.
func GroupFeed(slug string) string {
	if slug == DefaultGroup {
		return Private
	}
	return Private + "-" + slug
}

// GroupOf returns the slug of the group whose feed has this name. ok is false if the name is not
// that of a group's feed.
func GroupOf(name string) (slug string, ok bool) {
	if name == Private {
		return DefaultGroup, true
	}
	return strings.CutPrefix(name, Private+"-")
}

// GroupBase returns the path of a group's feed without its document: "/alice/private/family/".
func GroupBase(user, slug string) string {
	base := "/" + user + "/private/"
	if slug != DefaultGroup {
		base += slug + "/"
	}
	return base
}

// HasReaders reports whether other people can read a post in this state: everyone, or only the
// readers of the post's groups.
func (s State) HasReaders() bool { return s == Published || s == ForGroups }

// IsDeleted reports whether the author deleted the group.
func (g Group) IsDeleted() bool { return !g.DeletedAt.IsZero() }

// Groups manages the groups of users and the private feeds of the groups.
type Groups struct{ *Posts }

// AllGroups returns the groups of a writer, including deleted groups. The default group is first.
func (f *Profile) AllGroups() []Group {
	if slices.ContainsFunc(f.Groups, func(g Group) bool { return g.Slug == DefaultGroup }) {
		return slices.Clone(f.Groups)
	}
	return append([]Group{{Slug: DefaultGroup, Name: "Private"}}, f.Groups...)
}

// Groups returns the groups of a user, including deleted groups. The default group is first.
func (p Groups) Groups(ctx context.Context, user string) ([]Group, error) {
	w, err := p.Store.Writer(ctx, user)
	return w.AllGroups(), err
}

// Group returns a group. fault.NotFound: the group does not exist or is deleted.
func (p Groups) Group(ctx context.Context, user, slug string) (Group, error) {
	all, err := p.Groups(ctx, user)
	if err != nil {
		return Group{}, err
	}
	for _, g := range all {
		if g.Slug == slug && !g.IsDeleted() {
			return g, nil
		}
	}
	return Group{}, noGroup(user, slug)
}

func noGroup(user, slug string) error {
	return fault.New(fault.NotFound, "%s has no group %q.", user, clip(slug))
}

// AddGroup creates a group. If Slug is "", AddGroup derives the slug from Name. Errors:
// fault.Invalid; fault.Conflict (a group, possibly deleted, has the slug, or the user has 100
// groups); and the faults of [Posts.Save].
func (p Groups) AddGroup(ctx context.Context, user string, g Group) (Group, error) {
	g.DeletedAt = time.Time{}
	if g.Slug = strings.TrimSpace(g.Slug); g.Slug == "" {
		g.Slug = strings.Trim(clipBytes(asciiSlug(g.Name), MaxGroupSlug), "-")
	}
	if err := checkGroup(&g); err != nil {
		return Group{}, err
	}
	err := p.setGroups(ctx, user, g.Slug, func(all []Group) ([]Group, error) {
		for _, other := range all {
			switch {
			case other.Slug != g.Slug:
			case other.IsDeleted():
				return nil, fault.In(fault.New(fault.Conflict, "You deleted a group with the slug %q: restore it, or choose another slug.", g.Slug), "slug")
			default:
				return nil, fault.In(fault.New(fault.Conflict, "You already have a group with the slug %q: choose another slug.", g.Slug), "slug")
			}
		}
		if len(all) >= MaxGroups {
			return nil, fault.New(fault.Conflict, "You have %d groups, which is the limit.", len(all))
		}
		return append(all, g), nil
	})
	return g, err
}

// asciiSlug returns a name in lowercase with a hyphen for each sequence of characters other than a
// to z and digits.
func asciiSlug(name string) string {
	return strings.Join(strings.FieldsFunc(strings.ToLower(name), func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < '0' || r > '9')
	}), "-")
}

// ChangeGroup changes the name and the description of a group. Errors: fault.NotFound (the group
// does not exist), fault.Invalid.
func (p Groups) ChangeGroup(ctx context.Context, user, slug string, change func(*Group)) (Group, error) {
	return p.changeGroup(ctx, user, slug, func(g *Group) error {
		if g.IsDeleted() {
			return noGroup(user, slug)
		}
		change(g)
		return nil
	})
}

// RemoveGroup deletes a group. Its feed is no longer served. Its secrets and posts stay stored, and
// only the author sees the posts that are for no other group. fault.NotFound: the group does not
// exist.
func (p Groups) RemoveGroup(ctx context.Context, user, slug string) (Group, error) {
	return p.changeGroup(ctx, user, slug, func(g *Group) error {
		if g.IsDeleted() {
			return noGroup(user, slug)
		}
		g.DeletedAt = p.now()
		return nil
	})
}

// RestoreGroup reverts RemoveGroup. fault.NotFound: the group does not exist.
func (p Groups) RestoreGroup(ctx context.Context, user, slug string) (Group, error) {
	return p.changeGroup(ctx, user, slug, func(g *Group) error {
		g.DeletedAt = time.Time{}
		return nil
	})
}

func (p Groups) changeGroup(ctx context.Context, user, slug string, change func(*Group) error) (changed Group, err error) {
	err = p.setGroups(ctx, user, slug, func(all []Group) ([]Group, error) {
		i := slices.IndexFunc(all, func(g Group) bool { return g.Slug == slug })
		if i < 0 {
			return nil, noGroup(user, slug)
		}
		if err := change(&all[i]); err != nil {
			return nil, err
		}
		all[i].Slug = slug
		changed = all[i]
		return all, checkGroup(&all[i])
	})
	return changed, err
}

// setGroups changes the list of groups of a user and rebuilds the feed of the group slug.
func (p Groups) setGroups(ctx context.Context, user, slug string, change func([]Group) ([]Group, error)) error {
	if err := p.checkEdit(ctx, Edit{User: user}); err != nil {
		return err
	}
	_, err := p.Store.SetProfile(ctx, user, func(f *Profile) error {
		all, err := change(f.AllGroups())
		if err == nil {
			f.Groups = all
		}
		return err
	})
	if err != nil {
		return err
	}
	return p.rebuildGroups(ctx, user, Group{Slug: slug})
}

// rebuildGroups rebuilds the feeds of groups. It changes neither posts nor the public feed.
func (p Groups) rebuildGroups(ctx context.Context, user string, groups ...Group) error {
	if len(groups) == 0 {
		return nil
	}
	w := p.writing(user, "groups")
	w.Make, w.Private = nil, true
	for _, g := range groups {
		w.Groups = append(w.Groups, g.Slug)
	}
	_, err := p.write(ctx, w)
	return err
}

func checkGroup(g *Group) error {
	g.Name = strings.Join(strings.Fields(markup.CleanText(g.Name)), " ")
	g.Description = strings.TrimSpace(markup.CleanText(g.Description))
	switch {
	case g.Name == "":
		return fault.In(fault.New(fault.Invalid, "The group has no name: enter one, for example Family."), "name")
	case utf8.RuneCountInString(g.Name) > maxName:
		return fault.In(fault.New(fault.Invalid, "The name has %d characters; at most %d are accepted.", utf8.RuneCountInString(g.Name), maxName), "name")
	case utf8.RuneCountInString(g.Description) > maxDescription:
		return fault.In(fault.New(fault.Invalid, "The description has more than %d characters.", maxDescription), "description")
	case g.Slug == DefaultGroup:
		return nil
	case len(g.Slug) > MaxGroupSlug || !groupSlug.MatchString(g.Slug):
		return fault.In(fault.New(fault.Invalid, "%q cannot be the slug of a group: use 1 to %d lowercase letters a to z, digits, - and _.", clip(g.Slug), MaxGroupSlug), "slug")
	case slices.Contains([]string{"feed", "media", "everyone", "public"}, g.Slug):
		return fault.In(fault.New(fault.Invalid, "%q cannot be the slug of a group, because it has another meaning here: choose another one.", g.Slug), "slug")
	}
	return nil
}

// checkGroups returns a fault if a post names a group that its user does not have. A group that the
// post already names is accepted even if it is deleted.
func (p editing) checkGroups(ctx context.Context, was, next *Content) error {
	if len(next.Groups) == 0 || slices.Equal(was.Groups, next.Groups) {
		return nil
	}
	all, err := Groups{p.Posts}.Groups(ctx, p.e.User)
	if err != nil {
		return err
	}
	for _, slug := range next.Groups {
		known := slices.ContainsFunc(all, func(g Group) bool { return g.Slug == slug && !g.IsDeleted() })
		if !known && !slices.Contains(was.Groups, slug) {
			var have []string
			for _, g := range all {
				if !g.IsDeleted() {
					have = append(have, g.Slug)
				}
			}
			return fault.In(fault.New(fault.Invalid, "You have no group %q; your groups are: %s. Nothing was published.", clip(slug), strings.Join(have, ", ")), "groups")
		}
	}
	return nil
}

// groupNames normalizes the groups of a post.
func groupNames(slugs []string) ([]string, error) {
	var all []string
	for _, slug := range slugs {
		if slug = strings.ToLower(strings.TrimSpace(slug)); slug == "" || slices.Contains(all, slug) {
			continue
		}
		if len(slug) > MaxGroupSlug || !groupSlug.MatchString(slug) {
			return nil, fault.New(fault.Invalid, "%q is not a group: name the groups of a post by their slugs.", clip(slug))
		}
		all = append(all, slug)
	}
	return all, nil
}

// groupDocument returns a function that builds the feed of a group as RSS 2.0. The URLs of files in
// its posts are below the URL of the private feed, because readers need the same secret for the
// files.
func groupDocument(p *Posts, user string) func(w Writer, slug string, newest []Post) (Saving, error) {
	return func(w Writer, slug string, newest []Post) (Saving, error) {
		g := Group{Slug: slug, Name: slug}
		for _, one := range w.AllGroups() {
			if one.Slug == slug {
				g = one
			}
		}
		for {
			f := p.Channel(w, newest)
			f.ID = f.Link + "#" + GroupFeed(slug) // the page is that of the public feed, and the URL of a document may change with the secret
			f.Title = plainText(cmp.Or(w.Title, w.User) + ": " + g.Name)
			f.Subtitle = plainText(cmp.Or(g.Description, "Private posts of "+cmp.Or(w.Name, w.User)+". Do not share the URL of this feed."))
			f.Hints = feed.Hints{TTL: f.Hints.TTL}
			doc, _, err := render.Append(nil, f, "rss20", &render.Options{})
			if err != nil {
				return Saving{}, fault.Wrap(fault.Internal, err, "The private feed cannot be written.")
			}
			if len(doc) > MaxDocument && len(newest) > 1 {
				newest = newest[:len(newest)/2]
				continue
			}
			doc = []byte(strings.ReplaceAll(string(doc), "/"+w.User+"/media/", GroupBase(w.User, slug)+"media/"))
			hash := sha256.Sum256(doc)
			return Saving{
				User: user, Name: GroupFeed(slug), At: p.now(), Type: typeRSS, Title: clipRunes(f.Title.Value, inspect.MaxTitle), Items: len(f.Items),
				Bytes: doc, Hash: hash[:], Push: PushMissing, Quiet: p.Feeds.Notify == nil, Allow: func(now Feed) error { return allow(Document{}, now) },
			}, nil
		}
	}
}
