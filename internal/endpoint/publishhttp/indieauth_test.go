package publishhttp

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"cloudburst/internal/fault"
	"cloudburst/internal/fetch"
)

// appPages contains documents. The key is the URL, the value is the media type and the text.
type appPages map[string][2]string

func (p appPages) Get(_ context.Context, r fetch.Request) (*fetch.Response, error) {
	doc, ok := p[r.URL]
	if !ok {
		return &fetch.Response{Status: http.StatusNotFound, URL: r.URL, Header: http.Header{}}, nil
	}
	return &fetch.Response{Status: http.StatusOK, URL: r.URL, Header: http.Header{"Content-Type": {doc[0]}}, Body: []byte(doc[1])}, nil
}

func TestIndieAuthClientMetadataIsReadFromItsURL(t *testing.T) {
	t.Parallel()
	c := &IndieAuthClients{Web: appPages{
		"https://app.example/":      {"text/html", `<link rel=redirect_uri href="/cb"><p class=h-app><b class=p-name>App</b>`},
		"https://app.example/meta":  {"application/json", `{"client_id":"https://app.example/meta","client_name":"Meta","redirect_uris":["a.b:/cb"]}`},
		"https://app.example/other": {"application/json", `{"client_id":"https://app.example/","client_name":"Meta","redirect_uris":["a.b:/cb"]}`},
		"http://127.0.0.1/":         {"text/html", "<title>This server</title>"},
	}}
	for id, want := range map[string]string{
		"https://app.example/": "App https://app.example/cb", "https://app.example/meta": "Meta a.b:/cb", "https://app.example/other": "", "https://app.example/gone": "", "http://127.0.0.1/": "",
	} {
		app, err := c.Client(t.Context(), id)
		if got := strings.TrimSpace(app.Name + " " + strings.Join(app.Redirects, " ")); app.ID != id || !strings.HasPrefix(got, want) || want == "" && got != "" {
			t.Errorf("%s: %+v", id, app)
		}
		if unread := strings.HasSuffix(id, "other") || strings.HasSuffix(id, "gone"); (err != nil) != unread || unread && fault.CodeOf(err) != fault.Unreadable {
			t.Errorf("%s: %v", id, err)
		}
	}
}
