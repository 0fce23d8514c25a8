package readhttp

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"cloudburst/internal/fault"
	"cloudburst/internal/fetch"
	"cloudburst/internal/river"
	"cloudburst/internal/river/forward"
)

var _ forward.Sender = (*Sender)(nil)

func blueChalk() river.Entry {
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	return river.Entry{
		Item: river.Item{ID: 1 << 62, SourceID: 5, At: at.Add(5 * time.Second), Content: river.Content{
			Title: "Blue chalk", Link: "http://chalk.example/blue", HTML: "<p>It is <b>blue</b>.</p>", Text: "It is blue.",
			Published: at, Authors: []string{"Bea"}, Categories: []string{"colours"},
			Enclosures: []river.Enclosure{{URL: "http://chalk.example/blue.mp3", Type: "audio/mpeg", Length: 123456, Duration: 61}},
		}},
		Source: river.EntrySource{ID: 5, Title: "The chalk log", URL: "http://chalk.example/rss.xml", Home: "http://chalk.example/"},
	}
}

func noticeDoc(t *testing.T, fence string) string {
	t.Helper()
	doc, err := os.ReadFile("../../../docs/guides/notices.md")
	if err != nil {
		t.Fatal(err)
	}
	_, after, ok := strings.Cut(string(doc), "\n"+fence+"\n")
	text, _, closed := strings.Cut(after, "\n```")
	if !ok || !closed {
		t.Fatalf("docs/guides/notices.md has no block %s", fence)
	}
	return text
}

// target records its requests and returns configured responses.
type target struct {
	*httptest.Server
	status int
	header http.Header
	got    []*http.Request
	bodies []string
}

func newTarget(t *testing.T) (*target, *Sender) {
	t.Helper()
	h := &target{status: 200, header: http.Header{}}
	h.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		h.got, h.bodies = append(h.got, r), append(h.bodies, string(b))
		maps.Copy(w.Header(), h.header)
		w.WriteHeader(h.status)
	}))
	t.Cleanup(h.Close)
	s := fetch.NewSender(fetch.SenderOptions{Guard: &fetch.Guard{Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}, Callback: true}, UserAgent: "Cloudburst/test", Bucket: -1})
	t.Cleanup(s.Close)
	return h, &Sender{Sender: s}
}

func TestWebhookRequestMatchesDocumentation(t *testing.T) {
	t.Parallel()
	n := forward.Forwarding{ID: 7, Reader: "ann", Via: forward.ViaWebhook}
	b, err := json.MarshalIndent(newWebhookMessage(n, []river.Entry{blueChalk()}), "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	got := strings.NewReplacer(`\u003c`, "<", `\u003e`, ">").Replace(string(b))
	if d := cmp.Diff(noticeDoc(t, "```json"), got); d != "" {
		t.Error(d)
	}
}

func TestWebhookIsSignedAndHasIdempotencyKey(t *testing.T) {
	t.Parallel()
	h, teller := newTarget(t)
	n := forward.Forwarding{ID: 7, Reader: "ann", Via: forward.ViaWebhook, Target: h.URL + "/hook?a=b", Secret: "chalk"}
	for range 2 {
		if err := teller.Forward(t.Context(), n, []river.Entry{blueChalk()}); err != nil {
			t.Fatal(err)
		}
	}
	sum := hmac.New(sha256.New, []byte("chalk"))
	sum.Write([]byte(h.bodies[0]))
	r := h.got[0]
	if got, want := r.Header.Get("X-Cloudburst-Signature"), "sha256="+hex.EncodeToString(sum.Sum(nil)); got != want {
		t.Errorf("signature %s; want %s", got, want)
	}
	if r.Method != "POST" || r.URL.RequestURI() != "/hook?a=b" || r.Header.Get("Content-Type") != "application/json" || r.UserAgent() != "Cloudburst/test" {
		t.Errorf("%s %s %v", r.Method, r.URL, r.Header)
	}
	if k := r.Header.Get("Idempotency-Key"); len(k) != 32 || h.got[1].Header.Get("Idempotency-Key") != k || h.bodies[0] != h.bodies[1] {
		t.Errorf("the second time it is %q and %q", k, h.got[1].Header.Get("Idempotency-Key"))
	}
	n.Secret = ""
	if err := teller.Forward(t.Context(), n, []river.Entry{blueChalk()}); err != nil {
		t.Fatal(err)
	}
	if _, ok := h.got[2].Header["X-Cloudburst-Signature"]; ok {
		t.Error("a webhook without a secret is signed")
	}
}

func TestWebhookOmitsTooLongHTML(t *testing.T) {
	t.Parallel()
	e := blueChalk()
	e.HTML = strings.Repeat("x", maxWebhookHTML+1)
	if it := newWebhookMessage(forward.Forwarding{}, []river.Entry{e}).Items[0]; it.HTML != "" || it.Text == "" {
		t.Errorf("%+v", it)
	}
}

func TestForwardingByPOSTSendsOneItemAsForm(t *testing.T) {
	t.Parallel()
	h, teller := newTarget(t)
	bare := river.Entry{Item: river.Item{ID: 2}, Source: river.EntrySource{URL: "http://chalk.example/rss.xml"}}
	if err := teller.Forward(t.Context(), forward.Forwarding{ID: 7, Via: forward.ViaPost, Target: h.URL}, []river.Entry{blueChalk(), bare}); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]string{noticeDoc(t, "```form"), "feed=http%3A%2F%2Fchalk.example%2Frss.xml&feedTitle=&id=2&text=&title=&url="}, h.bodies); d != "" {
		t.Error(d)
	}
	if r := h.got[0]; r.Header.Get("Content-Type") != "application/x-www-form-urlencoded" || r.Header.Get("Idempotency-Key") == "" {
		t.Errorf("%v", r.Header)
	}
}

func TestForwardingIsRetriedDependingOnTheResponse(t *testing.T) {
	t.Parallel()
	h, teller := newTarget(t)
	h.header.Set("Retry-After", "120")
	h.header.Set("Location", "/elsewhere")
	for status, want := range map[int]fault.Code{204: 0, 302: fault.Unreadable, 404: fault.Unreadable, 410: fault.Gone, 429: fault.Unreadable, 500: fault.Unreadable} {
		h.status = status
		before := len(h.got)
		err := teller.Forward(t.Context(), forward.Forwarding{Via: forward.ViaWebhook, Target: h.URL + "/"}, []river.Entry{blueChalk()})
		if (err == nil) != (want == 0) || err != nil && fault.CodeOf(err) != want {
			t.Errorf("%d: %v", status, err)
		}
		if err != nil && want != fault.Gone && fault.RetryAfter(err) != 2*time.Minute {
			t.Errorf("%d: RetryAfter %v", status, fault.RetryAfter(err))
		}
		if len(h.got) != before+1 {
			t.Errorf("%d: %d requests", status, len(h.got)-before)
		}
	}
}

func TestForwardingToPrivateAddressIsRefused(t *testing.T) {
	t.Parallel()
	s := fetch.NewSender(fetch.SenderOptions{Guard: &fetch.Guard{Callback: true}, Bucket: -1})
	t.Cleanup(s.Close)
	teller := &Sender{Sender: s}
	for _, to := range []string{"http://127.0.0.1:9/", "http://169.254.169.254/latest", "http://me:secret@192.0.2.1/", "http://[::1]/"} {
		for _, via := range []string{forward.ViaWebhook, forward.ViaPost} {
			err := teller.Forward(t.Context(), forward.Forwarding{Via: via, Target: to}, []river.Entry{blueChalk()})
			if fault.CodeOf(err) != fault.Refused || strings.Contains(fault.Message(err), "secret") {
				t.Errorf("%s to %s: %v", via, to, err)
			}
		}
	}
	if err := teller.Forward(t.Context(), forward.Forwarding{Via: forward.ViaEmail, Target: "a@b.example"}, []river.Entry{blueChalk()}); fault.CodeOf(err) != fault.Unsupported {
		t.Errorf("mail without a server: %v", err)
	}
	if d := cmp.Diff([]string{forward.ViaWebhook, forward.ViaPost, forward.ViaMastodon}, teller.Ways()); d != "" {
		t.Error(d)
	}
}
