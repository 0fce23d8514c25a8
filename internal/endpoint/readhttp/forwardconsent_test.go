package readhttp

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	netmail "net/mail"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"cloudburst/internal/fault"
	"cloudburst/internal/river/forward"
)

const (
	docSecret    = "between the two of us"
	docChallenge = "KXBJGYXZNFMRP5NP7VJV2RVQ4L"
)

func TestWebhookChallengeMatchesDocumentation(t *testing.T) {
	t.Parallel()
	n := forward.Forwarding{ID: 7, Reader: "ann", Via: forward.ViaWebhook, Target: "https://example.org/hook", Secret: docSecret}
	m := challengeOf(n, docChallenge)
	if d := cmp.Diff(noticeDoc(t, "```challenge"), string(m.Body)); d != "" {
		t.Error(d)
	}
	if m.Header[0] != "X-Cloudburst-Signature" || m.Header[1] != "sha256="+signed(docSecret, m.Body) {
		t.Errorf("%q", m.Header)
	}
	if d := cmp.Diff(noticeDoc(t, "```response"), challengeResponse(docSecret, docChallenge)); d != "" {
		t.Error(d)
	}
	n.Via, n.Secret = forward.ViaPost, ""
	if m := challengeOf(n, "x"); string(m.Body) != "challenge=x&notice=7&reader=ann&type=challenge" || m.ContentType != "application/x-www-form-urlencoded" {
		t.Errorf("%s %s", m.ContentType, m.Body)
	}
}

// The function in the guide is run as it is documented, and must answer real challenges.
func TestExampleFunctionInGuideAnswersWebhookChallenge(t *testing.T) {
	t.Parallel()
	program := noticeDoc(t, "```python challenge") + "\nimport sys\nsys.stdout.write(respond(sys.argv[1], sys.stdin.buffer.read()))\n"
	for _, secret := range []string{docSecret, "", "ключ ☂"} {
		srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			body, err := io.ReadAll(r.Body)
			if err != nil {
				t.Error(err)
			}
			c := exec.CommandContext(r.Context(), "python3", "-c", program, secret)
			c.Stdin = bytes.NewReader(body)
			answer, err := c.Output()
			if err != nil {
				t.Error(err)
			}
			_, _ = w.Write(answer)
		}))
		t.Cleanup(srv.Close)
		_, teller := newTarget(t)
		if err := teller.Ask(t.Context(), forward.Forwarding{ID: 7, Reader: "ann", Via: forward.ViaWebhook, Target: srv.URL, Secret: secret}, "token"); err != nil {
			t.Errorf("with the secret %q: %v", secret, err)
		}
	}
}

// If a target echoes the request or returns any other response, it has not consented.
func TestOnlyCorrectResponseToChallengeIsConsent(t *testing.T) {
	t.Parallel()
	echo := func(form bool) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			b, _ := io.ReadAll(r.Body)
			if form {
				b = []byte("challenge=" + strings.SplitN(strings.SplitN(string(b), "challenge=", 2)[1], "&", 2)[0])
			}
			_, _ = w.Write(b)
		}
	}
	for name, tt := range map[string]struct {
		via     string
		secret  string
		handler http.HandlerFunc
		code    fault.Code
	}{
		"echo of the JSON request": {forward.ViaWebhook, "", echo(false), fault.Unreadable},
		"echo of the form":         {forward.ViaPost, "", echo(false), fault.Unreadable},
		"echo of one field":        {forward.ViaPost, "", echo(true), fault.Unreadable},
		"nothing":                  {forward.ViaWebhook, "", func(http.ResponseWriter, *http.Request) {}, fault.Unreadable},
		"OK":                       {forward.ViaWebhook, "s", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "OK") }, fault.Unreadable},
		"an error":                 {forward.ViaWebhook, "s", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(500) }, fault.Unreadable},
		"status 410":               {forward.ViaWebhook, "s", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(410) }, fault.Gone},
		"unsigned challenge with a secret": {forward.ViaWebhook, "s", func(w http.ResponseWriter, r *http.Request) {
			b, _ := io.ReadAll(r.Body)
			_, after, _ := strings.Cut(string(b), `"challenge":"`)
			challenge, _, _ := strings.Cut(after, `"`)
			fmt.Fprint(w, challenge)
		}, fault.Unreadable},
	} {
		srv := httptest.NewServer(tt.handler)
		t.Cleanup(srv.Close)
		_, teller := newTarget(t)
		err := teller.Ask(t.Context(), forward.Forwarding{ID: 7, Reader: "ann", Via: tt.via, Target: srv.URL, Secret: tt.secret}, "token")
		if err == nil || fault.CodeOf(err) != tt.code {
			t.Errorf("%s: %v", name, err)
		}
	}
	silent := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }))
	t.Cleanup(silent.Close)
	_, teller := newTarget(t)
	err := teller.Ask(t.Context(), forward.Forwarding{Via: forward.ViaWebhook, Target: silent.URL}, "token")
	if want := silent.URL + " sent no valid response to the challenge."; fault.CodeOf(err) != fault.Unreadable || fault.Message(err) != want {
		t.Errorf("no answer at all: %q; want %q", fault.Message(err), want)
	}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { fmt.Fprintln(w, r.FormValue("challenge")) }))
	t.Cleanup(srv.Close)
	if err := teller.Ask(t.Context(), forward.Forwarding{Via: forward.ViaPost, Target: srv.URL}, "token"); err != nil {
		t.Errorf("the response to a form: %v", err)
	}
}

func TestConfirmationMailContainsLinkAndNoFeedContent(t *testing.T) {
	t.Parallel()
	s := (&mailServer{}).start(t, false)
	teller := &Sender{Mail: &Mail{Server: s.addr, TLS: MailPlain, From: "river@news.example", Site: func() string { return "https://news.example" }}, Now: func() time.Time { return time.Date(2026, 3, 1, 12, 0, 6, 0, time.UTC) }}
	n := forward.Forwarding{ID: 7, Reader: "7", Sender: "ann\r\nBcc: all@spam.example", Category: "BUY NOW", Via: forward.ViaEmail, Target: "vic@home.example", End: "END"}
	if err := teller.Ask(t.Context(), n, "TOKEN"); err != nil {
		t.Fatal(err)
	}
	m, err := netmail.ReadMessage(strings.NewReader(s.mails[0]))
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"To": "<vic@home.example>", "Subject": "Confirm: items from news.example", "Auto-Submitted": "auto-generated", "Bcc": "",
		"List-Unsubscribe": "<https://news.example/feeds/notices/end?token=END>", "List-Unsubscribe-Post": "List-Unsubscribe=One-Click",
	} {
		if got := m.Header.Get(name); got != want {
			t.Errorf("%s: %q; want %q", name, got, want)
		}
	}
	raw, err := io.ReadAll(m.Body)
	if err != nil {
		t.Fatal(err)
	}
	body := strings.ReplaceAll(strings.ReplaceAll(string(raw), "=\r\n", ""), "=3D", "=")
	if !strings.HasPrefix(body, "ann Bcc: all@spam.example on news.example wants to forward") {
		t.Errorf("the mail does not begin with its sender: %s", body)
	}
	if !strings.Contains(body, "https://news.example/feeds/notices/confirm?token=TOKEN") || !strings.Contains(body, "7 days") || strings.Contains(body, "BUY NOW") {
		t.Errorf("%s", body)
	}
}
