package app

import (
	"bufio"
	"net/http"
	"net/textproto"
	"slices"
	"strings"
	"testing"

	"cloudburst/feed/render"
	"cloudburst/internal/fulltest"
)

// TestSharedCachesDoNotStorePrivateResponses reads private posts, feeds and files in all ways
// that give access: with a secret in the URL, with a topic, and with the session of the author.
//
// spec:cloudburst#cache-tags
func TestSharedCachesDoNotStorePrivateResponses(t *testing.T) {
	t.Parallel()
	fulltest.Long(t)
	s := newSavedScene(t)
	s.save(s.post.ID, "family")
	at, slug, file := s.post.PublishedAt.UTC(), "title-"+hiddenWord, s.file.Hash[:16]+"/"+s.file.Name
	secret := strings.TrimSuffix(s.feed, "rss.xml")
	paths := []string{
		"/alice/media/" + file, "/alice/private/family/" + s.secret + "/media/" + file, secret + "feed.js?callback=f",
		strings.TrimPrefix(s.topic, s.v.base), "/alice/" + at.Format("2006/01/02/") + slug,
	}
	for _, f := range render.Formats() {
		paths = append(paths, secret+"rss.xml?format="+f.Name, "/alice/private/family/"+s.secret+"/rss.xml?format="+f.Name)
	}
	for _, p := range s.routes(map[string][]string{"user": {"alice"}, "id": {s.post.GUID}, "slug": {slug}, "hash": {s.file.Hash[:16]}, "name": {s.file.Name}}) {
		if p[0] == "GET" && p[1] != "/logout" && !strings.Contains(p[1], "/stream") {
			paths = append(paths, p[1])
		}
	}
	alice, hidden := s.visitor("alice"), 0
	for _, path := range paths {
		status, answer := alice.send("GET", path, nil)
		if status != http.StatusOK || !strings.Contains(answer, hiddenWord) {
			continue
		}
		hidden++
		h, _ := textproto.NewReader(bufio.NewReader(strings.NewReader(answer))).ReadMIMEHeader()
		rules := strings.Split(http.Header(h).Get("Cache-Control"), ", ")
		if !slices.Contains(rules, "private") && !slices.Contains(rules, "no-store") || slices.Contains(rules, "public") || h.Get("Cache-Tag") != "" {
			t.Errorf("GET %s: Cache-Control is %q, Cache-Tag is %q", path, rules, h.Get("Cache-Tag"))
		}
	}
	if least := 5 + 2*len(render.Formats()); hidden < least {
		t.Errorf("%d responses show private content; want at least %d", hidden, least)
	}
}
