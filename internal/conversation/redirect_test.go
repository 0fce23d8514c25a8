package conversation

import (
	"context"
	"testing"
)

// redirect makes the reported page redirect to a URL.
func (w *scenario) redirect(to string) {
	w.page = func(int) (Content, string, error) {
		return Content{Kind: Reply, Name: "You", Text: "Hello", FinalURL: to}, author, nil
	}
}

func TestRedirectToAnotherHostIsNotApprovedForATrustedOrKnownAuthor(t *testing.T) {
	for to, want := range map[string]State{
		"https://evil.example/spam": Waiting, "https://a.you.example/reply": Waiting, "https://you.example.evil.example/": Waiting,
		"https://you.example/moved": Approved, "https://WWW.You.example/reply": Approved, "": Approved,
	} {
		for name, known := range map[string]bool{"trusted": false, "known": true} {
			t.Run(name+" "+to, func(t *testing.T) {
				run(t, func(t *testing.T, w *scenario) {
					if known {
						w.Known = func(context.Context, Mention) (bool, error) { return true, nil }
					} else {
						w.store.rules = []Rule{{Host: "you.example", Author: author, Verdict: Trust}}
					}
					w.redirect(to)
					w.report(t)
					if m := w.store.one(t); m.State != want || m.Host != "you.example" || m.FinalURL != "" {
						t.Errorf("stored: %+v, want the state %s", m, want)
					}
				})
			})
		}
	}
}

func TestRedirectToABlockedHostOrAuthorIsRejected(t *testing.T) {
	for name, rule := range map[string]Rule{
		"host": {Host: "evil.example", Author: EveryAuthor, Verdict: Block}, "author": {Host: "www.evil.example", Author: author, Verdict: Block},
	} {
		t.Run(name, func(t *testing.T) {
			run(t, func(t *testing.T, w *scenario) {
				w.store.rules = []Rule{rule}
				w.redirect("https://www.evil.example/spam")
				w.report(t)
				if m := w.store.one(t); m.State != Rejected {
					t.Errorf("it is %s", m.State)
				}
			})
		})
	}
}

func TestApprovedReplyWaitsIfItsPageRedirectsToOtherContentElsewhere(t *testing.T) {
	run(t, func(t *testing.T, w *scenario) {
		w.store.rules = []Rule{{Host: "you.example", Author: author, Verdict: Trust}}
		w.report(t)
		w.page = func(int) (Content, string, error) {
			return Content{Kind: Reply, Name: "You", Text: "Buy this", FinalURL: "https://evil.example/spam"}, author, nil
		}
		w.report(t)
		if m := w.store.one(t); m.State != Waiting {
			t.Errorf("it is %s", m.State)
		}
	})
}
