package author

import (
	"cmp"
	"context"
	"regexp"
	"strings"
	"unicode/utf8"

	"cloudburst/feed"
	"cloudburst/internal/author/markup"
	"cloudburst/internal/author/rules"
	"cloudburst/internal/fault"
)

// Limits of a profile.
const (
	maxName        = 100  // maximum characters of the name
	maxBlurb       = 2000 // maximum characters of the blurb
	maxPingTargets = 10
)

var (
	accent   = regexp.MustCompile(`^#[0-9a-f]{6}$`)
	language = regexp.MustCompile(`^[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8})*$`)
)

// Writer returns a user's profile and post counts. It does not check whether the user exists.
func (p *Posts) Writer(ctx context.Context, user string) (Writer, error) {
	return p.Store.Writer(ctx, user)
}

// SetProfile changes a user's profile. If the feed is made of posts, SetProfile rebuilds the feed.
// The faults are those of [Posts.Save].
func (p *Posts) SetProfile(ctx context.Context, user string, change func(*Profile) error, via string) (Writer, error) {
	if err := p.checkEdit(ctx, Edit{User: user}); err != nil {
		return Writer{}, err
	}
	w, err := p.Store.SetProfile(ctx, user, func(old *Profile) error {
		created, mentions, groups, rules := old.Categories, old.Mentions, old.Groups, old.Rules
		if err := change(old); err != nil {
			return err
		}
		// Callers replace the whole profile, so SetProfile restores the fields that have methods of
		// their own: AddCategory, SetMentions, AddGroup and SetRules.
		old.Categories, old.Mentions, old.Groups, old.Rules = created, mentions, groups, rules
		return checkProfile(old)
	})
	notifyChanged(ctx, p.Changed)
	if err != nil {
		return w, err
	}
	if err := (Groups{p}).rebuildGroups(ctx, user, w.Groups...); err != nil || !w.Written {
		return w, err
	}
	done, err := p.write(ctx, p.writing(user, via))
	return done.Writer, err
}

// MentionSettings stores whether authors send and receive webmentions.
type MentionSettings struct{ *Posts }

// SetMentions stores whether an author sends and receives webmentions. The feed does not change.
func (p MentionSettings) SetMentions(ctx context.Context, user string, m Mentions) error {
	if err := p.checkEdit(ctx, Edit{User: user}); err != nil {
		return err
	}
	_, err := p.Store.SetProfile(ctx, user, func(f *Profile) error {
		f.Mentions = m
		return nil
	})
	return err
}

// Renew rebuilds the feed of a user's posts after the URL, cloud or hub of this server changed.
func (p *Posts) Renew(ctx context.Context, user, via string) error {
	_, err := p.write(ctx, p.writing(user, via))
	return err
}

// Person returns a writer as the author of posts. A writer without a name has the user name, not
// the title of the feed.
func (p *Posts) Person(w Writer) feed.Person {
	return feed.Person{Name: cmp.Or(w.Name, w.User), Email: w.Email, URL: p.items().at("/" + w.User + "/"), Avatar: p.items().absolute(w.Avatar)}
}

func checkProfile(f *Profile) (err error) {
	f.Title = strings.Join(strings.Fields(markup.CleanText(f.Title)), " ")
	f.Name = strings.Join(strings.Fields(markup.CleanText(f.Name)), " ")
	f.Email = strings.TrimSpace(f.Email)
	f.Blurb = strings.TrimSpace(markup.CleanText(f.Blurb))
	f.Accent, f.Language = strings.ToLower(strings.TrimSpace(f.Accent)), strings.TrimSpace(f.Language)
	switch {
	case utf8.RuneCountInString(f.Title) > MaxTitle:
		return fault.In(fault.New(fault.Invalid, "The title has more than %d characters.", MaxTitle), "title")
	case utf8.RuneCountInString(f.Name) > maxName:
		return fault.In(fault.New(fault.Invalid, "The name has %d characters; at most %d are accepted.", utf8.RuneCountInString(f.Name), maxName), "name")
	case f.Email != "" && !rules.IsMail(f.Email):
		return fault.In(fault.New(fault.Invalid, "%q is not a mail address: write it as alice@example.com, or leave the field empty.", clip(f.Email)), "email")
	case utf8.RuneCountInString(f.Blurb) > maxBlurb:
		return fault.In(fault.New(fault.Invalid, "The text about you has more than %d characters.", maxBlurb), "blurb")
	case f.Accent != "" && !accent.MatchString(f.Accent):
		return fault.In(fault.New(fault.Invalid, "%q is not a colour: write # and six hexadecimal digits, for example #1a73e8.", clip(f.Accent)), "accent")
	case f.Language != "" && !language.MatchString(f.Language):
		return fault.In(fault.New(fault.Invalid, "%q is not a language: write it as en or de-CH.", clip(f.Language)), "language")
	case f.Theme != "" && f.Theme != "light" && f.Theme != "dark":
		return fault.In(fault.New(fault.Invalid, "%q is not a theme: use light, dark, or nothing for the reader's setting.", clip(f.Theme)), "theme")
	case len(f.PingTargets) > maxPingTargets:
		return fault.In(fault.New(fault.Invalid, "There are %d ping targets; at most %d are accepted.", len(f.PingTargets), maxPingTargets), "sinks")
	}
	if err := f.Hints.check(); err != nil {
		return fault.In(err, "hints")
	}
	if err := checkPageSettings(&f.Page); err != nil {
		return err
	}
	if f.Link, err = CheckURL("page", f.Link, false); err != nil {
		return fault.In(err, "link")
	}
	f.Avatar, err = checkFileURL("image", f.Avatar)
	return fault.In(err, "avatar")
}
