package publishhttp_test

import (
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"cloudburst/internal/author"
)

func TestPostOfAnAuthorWithADomainIsChangedByItsURL(t *testing.T) {
	t.Parallel()
	w := newPubHarness(t)
	at, p := w.create(`{"name":["Title"],"content":["a"],"photo":["http://alice.example/media/x/cat.png"]}`)
	if len(p.Enclosures) != 1 || p.Enclosures[0].URL != "/alice/media/x/cat.png" {
		t.Errorf("the image is %+v", p.Enclosures)
	}
	u, err := url.Parse(at)
	if err != nil {
		t.Fatal(err)
	}
	at = "http://alice.example" + strings.TrimPrefix(u.Path, "/alice")
	if _, err := w.update(at, `"replace":{"content":["b"]}`); err != nil || w.get(p.ID).Source != "b" {
		t.Errorf("%s: %v", at, err)
	}
	if err := w.client("delete").Delete(t.Context(), at); err != nil || w.get(p.ID).State != author.Deleted {
		t.Errorf("%s was not deleted: %v", at, err)
	}
}

func TestDraftsCannotBeListedByCategory(t *testing.T) {
	t.Parallel()
	w := newPubHarness(t)
	r := pubGet(t, w.origin+"/micropub/?q=source&post-status=draft&category=news")
	r.Header.Set("Authorization", "Bearer alice:update")
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if body, _ := io.ReadAll(res.Body); res.StatusCode != 400 || !strings.Contains(string(body), "published posts only") {
		t.Errorf("%d %s", res.StatusCode, body)
	}
}
