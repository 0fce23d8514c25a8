package readerui

import (
	"context"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"cloudburst/internal/fulltext"
	"cloudburst/internal/river"
	"cloudburst/internal/web/shell"
)

// FullTexts reads the full text of items from their web pages; *fulltext.Service implements it.
type FullTexts interface {
	Get(ctx context.Context, item int64) (fulltext.Text, error)
	Request(ctx context.Context, item int64, wait time.Duration) (fulltext.Text, error)
}

// fullWait is the maximum time for which a form waits for the full text. After this time, the page of the
// item states that the server is still reading the text.
const fullWait = 8 * time.Second

// fullParam is the URL parameter that selects the text on the page of an item: the full text ("1")
// or the text of the feed ("0"). Without the parameter, the setting of the feed applies.
const fullParam = "full"

// fullView is the full text on the page of an item.
type fullView struct {
	Action  string // path of the form that requests the full text; "": no form
	Back    string // path of the page to which the form leads
	Shown   string // URL of the same page with the text of the feed; "": the full text is not shown
	Stored  string // URL of the same page with the full text, if it is stored and not shown
	Pending bool
	Problem string // reason why there is no full text; "": none
	Stream  string // URL of the stream that announces the text of a pending page; "": none
}

// fullOf selects the text of an item for its own page, and describes the choice. The page of
// another user has the text of the feed.
func (s *riverPages) fullOf(r *http.Request, st riverScope, e *river.Entry, page string) (v fullView, err error) {
	if s.FullTexts == nil || st.May != accessWrite || st.Public != "" || !shell.IsSafeURL(e.Link) {
		e.Full = river.Full{}
		return v, nil
	}
	t, err := s.FullTexts.Get(r.Context(), e.ID)
	if err != nil {
		return v, err
	}
	follows := e.Full.HTML != ""
	choice := r.URL.Query().Get(fullParam)
	switch {
	case choice == "0":
		e.Full = river.Full{}
	case choice == "1":
		e.Full = t.Full
	}
	v.Action = "/river/item/" + strconv.FormatInt(e.ID, 10) + "/full"
	v.Back = page
	switch {
	case e.Full.HTML != "":
		v.Shown = withParam(page, fullParam, "0")
	case t.HTML != "":
		if v.Stored = page; !follows {
			v.Stored = withParam(page, fullParam, "1")
		}
	case t.Pending():
		v.Pending = true
		if s.Arrivals != nil {
			v.Stream = "/river/stream?source=" + strconv.FormatInt(e.SourceID, 10)
		}
	default:
		v.Problem = shell.CleanText(t.Problem, 500)
	}
	return v, nil
}

// withParam returns a path with one more URL parameter.
func withParam(path, name, value string) string {
	u, err := url.Parse(path)
	if err != nil {
		return path
	}
	q := u.Query()
	q.Set(name, value)
	q.Set(keepMark, "1")
	u.RawQuery = q.Encode()
	return u.String()
}

// doFull requests the full text of an item, waits at most fullWait, and redirects to the page of the item.
func (s *riverPages) doFull(rw http.ResponseWriter, r *http.Request, reader string, may access) error {
	id, err := strconv.ParseInt(r.PathValue("id"), 10, 64)
	if err != nil || id <= 0 || s.FullTexts == nil {
		return s.NotFound(rw, r)
	}
	if !s.riverForm(rw, r) {
		return nil
	}
	list, err := s.River.Items(r.Context(), river.ItemQuery{Reader: reader, IDs: []int64{id}, Public: may != accessWrite, Bare: true, Limit: 1})
	if err != nil {
		return err
	}
	if len(list) == 0 {
		return s.NotFound(rw, r)
	}
	if _, err := s.FullTexts.Request(r.Context(), id, fullWait); err != nil {
		return err
	}
	did := url.Values{fullParam: {"1"}, keepMark: {"1"}}
	return s.backToRiver(rw, r, did, "#i"+strconv.FormatInt(id, 10))
}
