package writerui

import (
	"net/http"
	"strconv"
	"strings"

	"cloudburst/internal/account"
	"cloudburst/internal/author"
	"cloudburst/internal/fault"
	"cloudburst/internal/web/locale"
	"cloudburst/internal/web/shell"
)

// versionsView is the page with the earlier versions of a post.
type versionsView struct {
	shell.View
	ID, Base int64
	Message  string
	Words    string // title or first words of the post
	Rows     []versionRow
}

// versionRow is an earlier version.
type versionRow struct {
	N       int64
	When    shell.Moment
	State   string
	Length  string   // such as "12 words"
	Changes []change // difference from this version to the next newer version; nil: the texts are equal
	Source  string
}

// versionPages has the page with the earlier versions of a post.
type versionPages struct{ *Pages }

// page lists the earlier versions of a post.
func (s versionPages) page(rw http.ResponseWriter, r *http.Request, session account.Session) error {
	post, ok := s.ownPost(rw, r, session)
	if !ok {
		return nil
	}
	all, err := s.Versions.List(r.Context(), session.User, post.ID)
	if err != nil {
		return err
	}
	v := versionsView{View: s.NewView(r, "Earlier versions"), ID: post.ID, Base: post.Revision, Words: wordsOfPost(post)}
	after := textOf(&post.Content)
	if draft, err := s.Posts.EditDraft(r.Context(), session.User, post.ID); err == nil {
		after = textOf(&draft.Content)
	}
	for _, version := range all {
		text := textOf(&version.Content)
		v.Rows = append(v.Rows, versionRow{N: version.N, When: v.When(version.At), State: versionWords(version.State), Source: text, Changes: differenceOf(text, after),
			Length: locale.Quantity(len(strings.Fields(text)), "word", "words").In(v.Lang)})
		after = text
	}
	return s.Render(rw, r, http.StatusOK, "writeversions", v)
}

// versionWords names the state of a version.
func versionWords(state author.State) string {
	switch state {
	case author.Published:
		return "published"
	case author.Scheduled:
		return "scheduled"
	case author.ForGroups:
		return "private"
	case author.Deleted:
		return "deleted"
	}
	return "draft"
}

// restore restores an earlier version.
func (s versionPages) restore(rw http.ResponseWriter, r *http.Request, session account.Session) error {
	got, post, ok := s.onPost(rw, r, session)
	if !ok {
		return nil
	}
	n, err := strconv.ParseInt(r.PathValue("n"), 10, 64)
	if err != nil || n <= 0 {
		return s.NotFound(rw, r)
	}
	base, err := strconv.ParseInt(got.fields.Get("base"), 10, 64)
	if err != nil || base < 0 {
		base = 0
	}
	if _, err = s.Versions.Restore(r.Context(), session.User, post.ID, n, base, "write"); err != nil {
		if fault.CodeOf(err) == fault.NotFound {
			return s.NotFound(rw, r)
		}
		return err
	}
	did := "restored"
	if post.State.HasReaders() || post.State == author.Scheduled {
		did = "restored-change"
	}
	return s.redirect(rw, r, "/write/"+strconv.FormatInt(post.ID, 10)+"?did="+did)
}
