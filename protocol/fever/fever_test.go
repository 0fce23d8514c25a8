package fever_test

import (
	"bytes"
	"context"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"cloudburst/protocol/fever"
)

// fake is a server of one user, alice, with the items 1 to len.
type fake struct {
	items       int
	read, saved map[int64]bool
	calls       []string
	fails       error
	query       fever.Query
}

func newFake(items int) *fake {
	return &fake{items: items, read: map[int64]bool{}, saved: map[int64]bool{}}
}

func (f *fake) did(format string, args ...any) error {
	f.calls = append(f.calls, fmt.Sprintf(format, args...))
	return f.fails
}

func (f *fake) User(ctx context.Context, key string) (string, error) {
	if fever.RequestFrom(ctx) == nil {
		return "", errors.New("no request")
	}
	switch key {
	case fever.Key("alice", "secret"):
		return "alice", nil
	case fever.Key("busy", "secret"):
		return "", &fever.Error{Status: http.StatusTooManyRequests, Msg: "Wait.", RetryAfter: time.Minute}
	}
	return "", fever.ErrKey
}

func (f *fake) Lists(context.Context, string) ([]fever.Group, []fever.Feed, []fever.FeedsGroup, error) {
	return []fever.Group{{ID: 7, Title: "News & more"}, {ID: 8, Title: "Empty"}},
		[]fever.Feed{{ID: 1, Title: "A", URL: "http://a.example/", LastUpdated: 5}, {ID: 2, Title: "B"}},
		[]fever.FeedsGroup{{GroupID: 7, FeedIDs: fever.IDs{1, 2}}}, f.fails
}

func (f *fake) Favicons(context.Context, string) ([]fever.Favicon, error) { return nil, f.fails }

func (f *fake) Items(_ context.Context, _ string, q fever.Query) (out []fever.Item, err error) {
	f.query = q
	add := func(id int64) {
		if id > 0 && id <= int64(f.items) && len(out) < fever.MaxItems {
			out = append(out, fever.Item{ID: id, FeedID: 1, HTML: "<p>1 & 2</p>"})
		}
	}
	switch {
	case q.IDs != nil:
		for _, id := range q.IDs {
			add(id)
		}
	case q.Newest:
		for id := int64(f.items); id > 0; id-- {
			if q.Max == 0 || id < q.Max {
				add(id)
			}
		}
	default:
		for id := q.Since + 1; id <= int64(f.items); id++ {
			add(id)
		}
	}
	return out, f.fails
}

func (f *fake) Total(context.Context, string) (int64, error) { return int64(f.items), f.fails }

func (f *fake) marked(in func(int64) bool) fever.IDs {
	ids := fever.IDs{}
	for id := int64(1); id <= int64(f.items); id++ {
		if in(id) {
			ids = append(ids, id)
		}
	}
	return ids
}

func (f *fake) Unread(context.Context, string) (fever.IDs, error) {
	return f.marked(func(id int64) bool { return !f.read[id] }), f.fails
}

func (f *fake) Saved(context.Context, string) (fever.IDs, error) {
	return f.marked(func(id int64) bool { return f.saved[id] }), f.fails
}

func (f *fake) Mark(_ context.Context, _ string, item int64, read, saved *bool) error {
	if read != nil {
		f.read[item] = *read
	}
	if saved != nil {
		f.saved[item] = *saved
	}
	return f.did("mark %d", item)
}

func (f *fake) MarkFeed(_ context.Context, _ string, feed int32, before time.Time) error {
	return f.did("feed %d before %d", feed, max(before.Unix(), 0))
}

func (f *fake) MarkGroup(_ context.Context, _ string, group int32, before time.Time) error {
	return f.did("group %d before %d", group, max(before.Unix(), 0))
}

func (f *fake) UnreadRecent(context.Context, string) error { return f.did("unread recent") }

func serve(t *testing.T, f *fake) *fever.Client {
	t.Helper()
	srv := httptest.NewServer(&fever.Handler{Backend: f, Now: func() time.Time { return time.Unix(1_700_000_000, 0) }})
	t.Cleanup(srv.Close)
	return &fever.Client{URL: srv.URL + "/fever/", Key: fever.Key("alice", "secret"), HTTP: srv.Client()}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestClientSyncsWithHandler(t *testing.T) {
	t.Parallel()
	ctx, f := t.Context(), newFake(120)
	c := serve(t, f)
	wrong := *c
	wrong.Key = fever.Key("alice", "guess")
	if _, err := wrong.Send(ctx, "groups", nil); !errors.Is(err, fever.ErrKey) {
		t.Fatal(err)
	}
	a, err := c.Send(ctx, "groups&feeds", nil)
	must(t, err)
	want := &fever.Response{
		Version: 3, Auth: 1, Refreshed: 1_700_000_000, Groups: []fever.Group{{ID: 7, Title: "News & more"}, {ID: 8, Title: "Empty"}},
		Feeds:       []fever.Feed{{ID: 1, Title: "A", URL: "http://a.example/", LastUpdated: 5}, {ID: 2, Title: "B"}},
		FeedsGroups: []fever.FeedsGroup{{GroupID: 7, FeedIDs: fever.IDs{1, 2}}},
	}
	if d := cmp.Diff(want, a); d != "" {
		t.Error(d)
	}
	var up, down []int64
	for since := int64(0); ; {
		a, err := c.Send(ctx, fmt.Sprintf("items&since_id=%d", since), nil)
		must(t, err)
		if len(a.Items) == 0 {
			break
		}
		for _, it := range a.Items {
			up, since = append(up, it.ID), it.ID
		}
		if *a.Total != 120 || len(a.Items) > 50 {
			t.Errorf("%d of %d", len(a.Items), *a.Total)
		}
	}
	for maxID := int64(0); ; {
		a, err := c.Send(ctx, fmt.Sprintf("items&max_id=%d", maxID), nil)
		must(t, err)
		if len(a.Items) == 0 {
			break
		}
		for _, it := range a.Items {
			down, maxID = append(down, it.ID), it.ID
		}
	}
	slices.Reverse(down)
	if len(up) != 120 || !slices.Equal(up, down) {
		t.Errorf("%v\n%v", up, down)
	}
	a, err = c.Send(ctx, "items&with_ids=5,%207,x,,-1,500", nil)
	must(t, err)
	if len(a.Items) != 2 || a.Items[1].ID != 7 {
		t.Errorf("%+v", a.Items)
	}
	a, err = c.Mark(ctx, "item", "read", 5, time.Time{})
	must(t, err)
	if a.UnreadItems == nil || len(*a.UnreadItems) != 119 || a.SavedItems != nil {
		t.Errorf("%+v", a)
	}
	a, err = c.Mark(ctx, "item", "saved", 7, time.Time{})
	must(t, err)
	if a.SavedItems == nil || a.SavedItems.String() != "7" || a.UnreadItems != nil {
		t.Errorf("%+v", a)
	}
	a, err = c.Send(ctx, "unread_item_ids&saved_item_ids&links&favicons", nil)
	must(t, err)
	if len(*a.UnreadItems) != 119 || len(*a.SavedItems) != 1 {
		t.Errorf("%+v", a)
	}
	f.fails = errors.New("the database is away")
	var e *fever.Error
	if _, err = c.Send(ctx, "groups", nil); !errors.As(err, &e) || e.Status != 500 || strings.Contains(e.Msg, "database") {
		t.Error(err)
	}
}

// ask sends a raw request.
func ask(t *testing.T, f *fake, method, target, contentType, body string) (int, string) {
	t.Helper()
	r := httptest.NewRequest(method, target, strings.NewReader(body))
	if contentType != "" {
		r.Header.Set("Content-Type", contentType)
	}
	w := httptest.NewRecorder()
	(&fever.Handler{Backend: f, Now: func() time.Time { return time.Unix(9, 0) }}).ServeHTTP(w, r)
	answer, _ := io.ReadAll(w.Body)
	return w.Code, strings.TrimSpace(string(answer))
}

const form = "application/x-www-form-urlencoded"

func TestAPIKeyIsAcceptedInQueryFormAndMultipart(t *testing.T) {
	t.Parallel()
	key := fever.Key("alice", "secret")
	var parts bytes.Buffer
	m := multipart.NewWriter(&parts)
	must(t, m.WriteField("api_key", key))
	must(t, m.Close())
	const in, out = `{"api_version":3,"auth":1,"last_refreshed_on_time":9}`, `{"api_version":3,"auth":0}`
	for name, c := range map[string]struct{ method, target, kind, body, want string }{
		"as a form":        {"POST", "/fever/?api", form, "api_key=" + key, in},
		"in uppercase":     {"POST", "/fever/?api", form, "api_key=" + strings.ToUpper(key), in},
		"without a type":   {"POST", "/fever/?api", "", "api_key=" + key + "\n", in},
		"as parts":         {"POST", "/fever/?api", m.FormDataContentType(), parts.String(), in},
		"in the address":   {"GET", "/fever/?api&api_key=" + key, "", "", in},
		"not":              {"GET", "/fever/?api", "", "", out},
		"wrong":            {"POST", "/fever/?api", form, "api_key=" + strings.Repeat("0", 32), out},
		"no query":         {"POST", "/fever/", form, "api_key=" + key, in},
		"with too much":    {"POST", "/fever/?api", form, "api_key=" + strings.Repeat("0", fever.MaxBody), ""},
		"as broken parts":  {"POST", "/fever/?api", m.FormDataContentType(), parts.String()[:parts.Len()-80], ""},
		"after many tries": {"POST", "/fever/?api", form, "api_key=" + fever.Key("busy", "secret"), ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			status, body := ask(t, newFake(0), c.method, c.target, c.kind, c.body)
			if c.want != "" && (status != 200 || body != c.want) || c.want == "" && (status < 400 || !strings.Contains(body, `"auth":0`)) {
				t.Errorf("%d %s", status, body)
			}
		})
	}
	if status, _ := ask(t, newFake(0), "PUT", "/fever/?api", "", ""); status != 405 {
		t.Errorf("PUT: %d", status)
	}
}

func TestResponseContainsEmptyLists(t *testing.T) {
	t.Parallel()
	_, body := ask(t, newFake(0), "POST", "/?api&items&unread_item_ids&saved_item_ids&links&favicons", form, "api_key="+fever.Key("alice", "secret"))
	want := `{"api_version":3,"auth":1,"last_refreshed_on_time":9,"favicons":[],"items":[],"total_items":0,"links":[],"unread_item_ids":"","saved_item_ids":""}`
	if body != want {
		t.Errorf("%s\n%s", body, want)
	}
}

func TestResponseIsXMLIfRequested(t *testing.T) {
	t.Parallel()
	status, body := ask(t, newFake(2), "POST", "/?api=xml&groups&feeds&items&unread_item_ids", form, "api_key="+fever.Key("alice", "secret"))
	var a fever.Response
	if err := xml.Unmarshal([]byte(body), &a); err != nil || status != 200 {
		t.Fatalf("%d %v\n%s", status, err, body)
	}
	if a.XMLName.Local != "response" || a.Auth != 1 || len(a.Groups) != 2 || a.Groups[0].Title != "News & more" || len(a.Feeds) != 2 ||
		a.FeedsGroups[0].FeedIDs.String() != "1,2" || len(a.Items) != 2 || a.Items[0].HTML != "<p>1 & 2</p>" || a.UnreadItems.String() != "1,2" {
		t.Errorf("%s", body)
	}
}

func TestMarkRequestsArePassedToTheBackend(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]string{
		"mark=item&as=read&id=1": "mark 1", "mark=item&as=unread&id=1": "mark 1", "mark=item&as=saved&id=1": "mark 1", "mark=item&as=unsaved&id=1": "mark 1",
		"mark=feed&as=read&id=2&before=1700000000": "feed 2 before 1700000000", "mark=feed&as=read&id=2": "feed 2 before 0",
		"mark=group&as=read&id=7&before=1700000000": "group 7 before 1700000000", "mark=group&as=read&id=0&before=5": "group 0 before 5",
		"mark=group&as=read&id=-1&before=5": "", "mark=feed&as=read&id=0": "", "mark=feed&as=read&id=99999999999": "",
		"unread_recently_read=1": "unread recent", "refresh": "",
		"mark=item&as=read": "400", "mark=item&as=read&id=x": "400", "mark=item&as=eaten&id=1": "400", "mark=feed&as=saved&id=1": "400", "mark=all&as=read&id=1": "400",
		"mark=group&as=read&id=0&before=12%": "400", "mark=group&as=read&id=0&before=soon": "400", "mark=feed&as=read&id=2&before=-5": "400", "mark=feed&as=read&id=2&before=": "feed 2 before 0",
	} {
		f := newFake(1)
		status, answer := ask(t, f, "POST", "/fever/?api", form, body+"&api_key="+fever.Key("alice", "secret"))
		if got := strings.Join(f.calls, "; "); want == "400" && (status != 400 || got != "") || want != "400" && (status != 200 || got != want) {
			t.Errorf("%s: %d %q, want %q\n%s", body, status, got, want, answer)
		}
		if status, _ = ask(t, f, "POST", "/fever/?api", form, body+"&api_key=x"); status != 200 || len(f.calls) > 1 {
			t.Errorf("%s with a wrong key: %d %q", body, status, f.calls)
		}
	}
}

func TestItemQueryIsParsed(t *testing.T) {
	t.Parallel()
	for query, want := range map[string]fever.Query{
		"items": {}, "items&since_id=7": {Since: 7}, "items&since_id=-7": {}, "items&max_id=7": {Max: 7, Newest: true}, "items&max_id=0": {Newest: true},
		"items&max_id=9007199254740991": {Max: 9007199254740991, Newest: true}, "items&max_id=99999999999999999999": {Max: 1<<63 - 1, Newest: true},
		"items&with_ids=": {IDs: []int64{0}}, "items&with_ids=1,2": {IDs: []int64{1, 2}}, "items&feed_ids=1,2": {Feeds: []int32{1, 2}},
		"items&group_ids=3&since_id=1": {Groups: []int32{3}, Since: 1}, "items&feed_ids=x": {Feeds: []int32{-1}},
	} {
		f := newFake(0)
		ask(t, f, "POST", "/fever/?api&"+query, form, "api_key="+fever.Key("alice", "secret"))
		if d := cmp.Diff(want, f.query); d != "" {
			t.Errorf("%s: %s", query, d)
		}
	}
	f := newFake(100)
	ask(t, f, "POST", "/fever/?api&items&with_ids="+strings.Repeat("1,", 80), form, "api_key="+fever.Key("alice", "secret"))
	if len(f.query.IDs) != 50 {
		t.Errorf("%d ids", len(f.query.IDs))
	}
}

func TestAPIKeyMatchesTheDocumentedExample(t *testing.T) {
	t.Parallel()
	if got := fever.Key("you@yourdomain.com", "b3stp4s4wd3v4"); got != "22233baf0b67c4e7cbee08486fba3861" {
		t.Error(got)
	}
}

// FuzzRequest checks that any request gets a response in JSON, or in XML if requested.
func FuzzRequest(f *testing.F) {
	f.Add("api&items&since_id=5", form, "mark=item&as=read&id=3")
	f.Add("api=xml&groups&feeds&unread_item_ids", "", "")
	f.Add("api&items&with_ids=1,2,x&feed_ids=1&group_ids=7", "multipart/form-data; boundary=x", "--x\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n1\r\n--x--\r\n")
	f.Add("api&items&max_id=9007199254740991;&%zz", form, "mark=group&as=read&id=-1&before=x")
	f.Fuzz(func(t *testing.T, query, contentType, body string) {
		r := httptest.NewRequest("POST", "/fever/", strings.NewReader(body))
		r.URL.RawQuery = query + "&api_key=" + url.QueryEscape(fever.Key("alice", "secret"))
		r.Header.Set("Content-Type", contentType)
		w := httptest.NewRecorder()
		(&fever.Handler{Backend: newFake(60)}).ServeHTTP(w, r)
		if w.Code == http.StatusInternalServerError {
			t.Errorf("%q %q: %d", query, body, w.Code)
		}
		var a fever.Response
		read := json.Unmarshal
		if strings.HasPrefix(w.Header().Get("Content-Type"), "text/xml") {
			read = xml.Unmarshal
		}
		if err := read(w.Body.Bytes(), &a); err != nil {
			t.Errorf("%q %q: %v", query, body, err)
		}
	})
}

// FuzzIDs checks that a parsed list is unchanged after writing and parsing.
func FuzzIDs(f *testing.F) {
	f.Add("1,2,3")
	f.Add(" 1 ,, x,9223372036854775807,-1")
	f.Fuzz(func(t *testing.T, s string) {
		list := fever.ParseIDs(s, 1000)
		if d := cmp.Diff(list, fever.ParseIDs(list.String(), 1000)); d != "" {
			t.Errorf("%q: %s", s, d)
		}
	})
}
