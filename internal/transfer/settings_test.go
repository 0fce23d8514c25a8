package transfer

import (
	"math/rand/v2"
	"strings"
	"testing"

	"cloudburst/internal/author"
	"cloudburst/internal/author/rules"
)

// choose sets a user's choices about webmentions and the rules for texts.
func (s *testServer) choose(user string, m author.Mentions, r rules.Rules) {
	s.t.Helper()
	if err := (author.MentionSettings{Posts: s.posts}).SetMentions(s.t.Context(), user, m); err != nil {
		s.t.Fatal(err)
	}
	if err := (author.RuleSettings{Posts: s.posts}).SetRules(s.t.Context(), user, r); err != nil {
		s.t.Fatal(err)
	}
}

func (s *testServer) profile(user string) author.Profile {
	s.t.Helper()
	w, err := s.posts.Writer(s.t.Context(), user)
	if err != nil {
		s.t.Fatal(err)
	}
	return w.Profile
}

func TestImportedPostsSendNoWebmentionsIfTheAuthorSendsNone(t *testing.T) {
	t.Parallel()
	from, to := newTestServer(t, "https://one.example"), newTestServer(t, "https://two.example")
	from.randomPosts(rand.New(rand.NewPCG(9, 9)), "alice", 5)
	from.choose("alice", author.Mentions{NoSend: true}, rules.Rules{})
	calls := 0
	to.posts.Mentioned = func() {
		if calls++; !to.profile("alice").Mentions.NoSend {
			t.Error("posts are public before the import has stored that their author sends no webmentions")
		}
	}
	if res := to.mustImport("alice", from.export("alice")); !res.Profile || calls == 0 {
		t.Errorf("%+v, %d calls", res, calls)
	}
}

func TestImportKeepsOwnChoicesAboutTextsAndWebmentions(t *testing.T) {
	t.Parallel()
	from, to := newTestServer(t, "https://one.example"), newTestServer(t, "https://two.example")
	from.choose("alice", author.Mentions{NoReceive: true}, rules.Rules{Short: rules.ShortOff})
	to.choose("alice", author.Mentions{NoSend: true}, rules.Rules{PlainTags: true})
	want := to.profile("alice")
	to.mustImport("alice", from.export("alice"))
	if got := to.profile("alice"); got.Mentions != want.Mentions || got.Rules != want.Rules {
		t.Errorf("%+v, %+v", got.Mentions, got.Rules)
	}
}

func TestImportReportsInvalidRulesForTexts(t *testing.T) {
	t.Parallel()
	s := newTestServer(t, "https://two.example")
	var res Result
	err := s.importSettings(t.Context(), "alice", author.Profile{Rules: rules.Rules{Short: "maybe"}}, &res)
	if err != nil || res.Profile || len(res.Problems) != 1 || !strings.Contains(res.Problems[0], "off, warn or enforce") {
		t.Errorf("%+v, %v", res, err)
	}
}

func TestPreviewStoresNoChoicesOfTheAuthor(t *testing.T) {
	t.Parallel()
	from, to := newTestServer(t, "https://one.example"), newTestServer(t, "https://two.example")
	from.choose("alice", author.Mentions{NoSend: true}, rules.Rules{Short: rules.ShortOff})
	to.with(Options{Preview: true}, from.export("alice"))
	if got := to.profile("alice"); got.Mentions != (author.Mentions{}) || got.Rules != (rules.Rules{}) {
		t.Errorf("%+v, %+v", got.Mentions, got.Rules)
	}
}
