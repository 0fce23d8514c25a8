package readerui

import (
	"context"
	"net/http"

	"cloudburst/internal/author"
	"cloudburst/internal/river/rail"
	"cloudburst/internal/web/shell"
)

// firstSteps is the data of the cards for a new user.
type firstSteps struct {
	User    string // name of the user; "": signed out
	Follows int    // number of followed feeds; 0: none, or only the default feeds
	Wrote   bool
	Writes  bool // writing is possible
	Fresh   bool // no account exists yet
}

// steps finds out which of the first steps the user has done.
func (s *riverPages) steps(ctx context.Context, user string, following map[int64]bool) (f firstSteps, err error) {
	f = firstSteps{User: user, Writes: s.Posts != nil, Fresh: s.Accounts != nil && s.Accounts.SetupToken() != ""}
	if !s.followsOnlyDefaults(following) {
		f.Follows = len(following)
	}
	if s.Posts == nil || user == "" {
		return f, nil
	}
	written, err := s.Posts.List(ctx, author.PostQuery{User: user, Limit: 1})
	f.Wrote = len(written) > 0
	return f, err
}

// countFollowed counts the feeds of a river that is not the user's own. A page without items shows
// the number.
func (s *riverPages) countFollowed(ctx context.Context, v *riverView) error {
	if v.Own || v.Query.Category != "" || v.Query.Filtered() {
		return nil
	}
	following, err := s.River.Following(ctx, v.Reader)
	v.Feeds = int64(len(following))
	return err
}

// welcome shows the first steps on the page of a new user.
func (s *riverPages) welcome(ctx context.Context, v *riverView, list rail.List) (err error) {
	if v.Query.scoped() || v.Query.Filtered() {
		return nil
	}
	if v.Feeds = int64(len(list.Feeds)); list.Many {
		v.Feeds = maxRailFeeds + 1
		return nil
	}
	following := make(map[int64]bool, len(list.Feeds))
	for i := range list.Feeds {
		following[list.Feeds[i].ID] = true
	}
	if !v.Top() || !s.followsOnlyDefaults(following) {
		return nil
	}
	v.Steps, err = s.steps(ctx, v.User, following)
	v.Welcome = !v.Steps.Wrote
	return err
}

// welcomeView is the page after an account was created.
type welcomeView struct {
	shell.View
	Steps firstSteps
}

func (s *riverPages) welcomePage(rw http.ResponseWriter, r *http.Request, reader string, _ access) error {
	v := welcomeView{View: s.NewView(r, "Welcome")}
	if v.User == "" {
		return shell.Redirect(rw, r, "/river")
	}
	following, err := s.River.Following(r.Context(), reader)
	if err == nil {
		v.Steps, err = s.steps(r.Context(), v.User, following)
	}
	if err != nil {
		return err
	}
	return s.Render(rw, r, http.StatusOK, "welcome", v)
}
