package micropub

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
)

// site is a site in memory that stores any properties.
type site struct {
	mu     sync.Mutex
	origin string
	posts  []Object
	gone   map[string]bool
	files  map[string]string
	names  []string
	broken error
}

func newSite(t *testing.T) (*site, *httptest.Server) {
	t.Helper()
	s := &site{gone: map[string]bool{}, files: map[string]string{}}
	mux := http.NewServeMux()
	mux.Handle("/micropub", &Handler{Backend: s, Media: s})
	mux.Handle("/media", &MediaHandler{Auth: s, Media: s})
	srv := httptest.NewServer(mux)
	t.Cleanup(srv.Close)
	s.origin = srv.URL
	return s, srv
}

// Authenticate accepts tokens of the form "alice:create,update".
func (s *site) Authenticate(_ context.Context, token string) (Session, error) {
	user, scopes, ok := strings.Cut(token, ":")
	if !ok {
		return Session{}, &Error{Status: 401, Code: Unauthorized, Description: "There is no such token."}
	}
	return Session{User: user, Scopes: strings.Split(scopes, ",")}, s.broken
}

func (s *site) Create(_ context.Context, user string, r *Request) (string, bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	end := fmt.Sprint(len(s.posts) + 1)
	if r.Slug() != "" {
		end = r.Slug()
	}
	at := s.origin + "/" + user + "/" + end
	r.Properties["url"] = []Value{Text(at)}
	s.posts = append(s.posts, Object{Type: []string{r.Type}, Properties: r.Properties})
	return at, r.Properties.Text("post-status") == "later", nil
}

func (s *site) at(at string) (int, error) {
	for i, p := range s.posts {
		if p.Properties.Text("url") == at {
			return i, nil
		}
	}
	return 0, &Error{Status: 400, Code: InvalidRequest, Description: "There is no post at " + at + "."}
}

func (s *site) Update(_ context.Context, _ string, r *Request) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	i, err := s.at(r.URL)
	if err != nil {
		return "", err
	}
	s.posts[i].Properties = r.Apply(s.posts[i].Properties)
	return s.posts[i].Properties.Text("url"), nil
}

func (s *site) Delete(_ context.Context, _, url string) error {
	_, err := s.at(url)
	s.gone[url] = true
	return err
}

func (s *site) Undelete(_ context.Context, _, url string) (string, error) {
	_, err := s.at(url)
	delete(s.gone, url)
	return "", err
}

func (s *site) Source(_ context.Context, _, url string) (Object, error) {
	i, err := s.at(url)
	if err != nil {
		return Object{}, err
	}
	return s.posts[i], nil
}

func (s *site) Posts(_ context.Context, _ string, q ListQuery) ([]Object, error) {
	var list []Object
	for i := len(s.posts) - 1 - q.Offset; i >= 0 && len(list) < q.Limit; i-- {
		list = append(list, s.posts[i])
	}
	return list, nil
}

func (s *site) Categories(context.Context, string) ([]string, error) {
	return []string{"News", "Old news", "Go"}, nil
}

func (s *site) Config(context.Context, string) (Config, error) {
	return Config{MediaEndpoint: s.origin + "/media", SyndicateTo: []Target{{UID: "elsewhere", Name: "Elsewhere"}},
		PostTypes: []PostType{{Type: "note", Name: "Note"}}}, nil
}

func (s *site) Store(_ context.Context, _ string, f *Upload) (string, error) {
	b, err := io.ReadAll(f)
	if err != nil {
		return "", err
	}
	if strings.Contains(f.Name, "huge") {
		return "", &Error{Status: 413, Code: InvalidRequest, Description: "Too large."}
	}
	at := fmt.Sprintf("%s/files/%d-%s", s.origin, len(s.names), url.PathEscape(f.Name))
	s.files[at] = f.Type + " " + string(b)
	s.names = append(s.names, at)
	return at, nil
}

func (s *site) Files(_ context.Context, _ string, q ListQuery) ([]MediaFile, error) {
	var list []MediaFile
	for i := len(s.names) - 1 - q.Offset; i >= 0 && len(list) < q.Limit; i-- {
		list = append(list, MediaFile{URL: s.names[i]})
	}
	return list, nil
}

// answer is the response to a request.
type answer struct {
	status int
	header http.Header
	body   string
}

// ask sends a request. header has pairs of names and values.
func ask(t *testing.T, method, url, body string, header ...string) answer {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(header); i += 2 {
		req.Header.Add(header[i], header[i+1])
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer{res.StatusCode, res.Header, string(b)}
}

var errBroken = errors.New("the disk sda1 is full")
