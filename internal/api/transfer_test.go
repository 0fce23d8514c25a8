package api

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"cloudburst/client"
	"cloudburst/internal/api/form"
	"cloudburst/internal/fault"
	"cloudburst/internal/hub"
)

func TestExportAndImportRoundTripByteForByte(t *testing.T) {
	t.Parallel()
	from := newFakeHub()
	for i := range 1234 {
		from.add(fmt.Sprintf("http://a.example/%d?x=<&>", i%3), hub.HTTPPost, fmt.Sprintf("http://b.example/ü/%d", i), "", start().Add(time.Duration(i+1)*time.Millisecond))
	}
	from.add("http://a.example/rss", hub.XMLRPC, "http://b.example/RPC2", "river.feedUpdated", start().Add(time.Hour))
	from.add("http://a.example/rss", hub.CNWS, "http://b.example/RPC2", "", hub.Forever())
	from.add("http://a.example/rss", hub.WebSub, "http://b.example/open", "", start().Add(time.Hour))
	secrets := []string{"between us", "<&>\"\u2028\x00", "\xff\x00no text", strings.Repeat("s", 199)}
	for i, secret := range secrets {
		sub := hub.Subscription{TopicID: hub.TopicID("http://a.example/rss"), Protocol: hub.WebSub, Callback: fmt.Sprintf("http://b.example/signed/%d", i),
			Secret: secret, CreatedAt: start(), RenewedAt: start(), ExpiresAt: start().Add(time.Hour)}
		sub.ID = hub.SubscriptionID(sub.Protocol, sub.Callback)
		from.subs[sub.Key()] = hub.SubscriptionInfo{Subscription: sub, Topic: "http://a.example/rss"}
	}
	from.add("http://a.example/rss", hub.HTTPPost, "http://gone.example/", "", start())
	a, _ := serve(t, from)
	var first, second bytes.Buffer
	n, err := a.Export(t.Context(), &first, nil)
	if err != nil || n != 1241 {
		t.Fatal(n, err)
	}
	w := newFakeHub()
	b, _ := serve(t, w)
	opmlProgress := 0
	res, err := b.Import(t.Context(), bytes.NewReader(first.Bytes()), client.ImportOptions{Progress: func(done, total int) {
		opmlProgress++
		if total != 1241 || done > total {
			t.Errorf("%d of %d", done, total)
		}
	}})
	if err != nil || res.Imported != 1241 || res.Bad != 0 || opmlProgress != 3 {
		t.Fatalf("%+v %v, %d steps", res, err, opmlProgress)
	}
	if _, err := b.Export(t.Context(), &second, nil); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(first.Bytes(), second.Bytes()) {
		t.Error("the second export differs")
	}
	res, err = b.Import(t.Context(), bytes.NewReader(first.Bytes()), client.ImportOptions{})
	if err != nil || res.Imported != 1241 || len(w.subs) != 1241 {
		t.Errorf("again: %+v %v", res, err)
	}
	for key, sub := range from.subs {
		if got, ok := w.subs[key]; ok && got.Secret != sub.Secret {
			t.Errorf("the secret %q became %q", sub.Secret, got.Secret)
		}
	}
}

const good = `{"topic":"http://a.example/","protocol":"http-post","callback":"http://b.example/%d","expires_at":"2030-01-01T00:00:00Z"}` + "\n"

func TestInvalidLineRejectsWholeImport(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, line, want string }{
		{"invalid JSON", `nonsense`, "it is not a subscription in JSON"},
		{"half", `{"topic":"http://a.example/"`, "it is not a subscription in JSON"},
		{"list", `[]`, "it is not a subscription in JSON"},
		{"misspelt", `{"topc":"http://a.example/"}`, `unknown field "topc"`},
		{"two objects on a line", `{"topic":"http://a.example/","protocol":"http-post","callback":"http://b.example/","expires_at":"2030-01-01T00:00:00Z"} {}`, "more follows"},
		{"missing topic", `{"protocol":"http-post","callback":"http://b.example/","expires_at":"2030-01-01T00:00:00Z"}`, "topic is missing"},
		{"relative topic", `{"topic":"/rss","protocol":"http-post","callback":"http://b.example/","expires_at":"2030-01-01T00:00:00Z"}`, "topic is \"/rss\""},
		{"callback to a file", `{"topic":"http://a.example/","protocol":"http-post","callback":"file:///etc/passwd","expires_at":"2030-01-01T00:00:00Z"}`, "callback is"},
		{"protocol", `{"topic":"http://a.example/","protocol":"HTTP-POST","callback":"http://b.example/","expires_at":"2030-01-01T00:00:00Z"}`, `protocol is "HTTP-POST"`},
		{"no procedure", `{"topic":"http://a.example/","protocol":"xml-rpc","callback":"http://b.example/","expires_at":"2030-01-01T00:00:00Z"}`, "procedure is missing"},
		{"procedure", `{"topic":"http://a.example/","protocol":"soap","callback":"http://b.example/","procedure":"a b","expires_at":"2030-01-01T00:00:00Z"}`, `procedure is "a b"`},
		{"secret for a protocol without secrets", `{"topic":"http://a.example/","protocol":"http-post","callback":"http://b.example/","secret":"x","expires_at":"2030-01-01T00:00:00Z"}`, "only websub has secrets"},
		{"long secret", `{"topic":"http://a.example/","protocol":"websub","callback":"http://b.example/","secret":"` + strings.Repeat("x", 200) + `","expires_at":"2030-01-01T00:00:00Z"}`, "secret has 200 bytes"},
		{"two secrets", `{"topic":"http://a.example/","protocol":"websub","callback":"http://b.example/","secret":"x","secret_base64":"eA==","expires_at":"2030-01-01T00:00:00Z"}`, "both set"},
		{"secret that is not base64", `{"topic":"http://a.example/","protocol":"websub","callback":"http://b.example/","secret_base64":"?","expires_at":"2030-01-01T00:00:00Z"}`, "it is not a subscription in JSON"},
		{"missing expiry", `{"topic":"http://a.example/","protocol":"http-post","callback":"http://b.example/"}`, "expires_at is missing"},
		{"expiry", `{"topic":"http://a.example/","protocol":"http-post","callback":"http://b.example/","expires_at":"soon"}`, "it is not a subscription in JSON"},
		{"too long line", `{"topic":"` + strings.Repeat("x", maxLine) + `"}`, "longer than 65536 bytes"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := newFakeHub()
			c, _ := serve(t, w)
			file := fmt.Sprintf(good, 1) + "\n" + tt.line + "\n" + fmt.Sprintf(good, 2) + "also bad"
			_, err := c.Import(t.Context(), strings.NewReader(file), client.ImportOptions{})
			if err == nil || !strings.Contains(err.Error(), "line 3: ") || !strings.Contains(err.Error(), tt.want) || !strings.Contains(err.Error(), "1 more bad line") {
				t.Errorf("%v", err)
			}
			if len(w.subs) != 0 {
				t.Errorf("%d subscriptions of a refused file", len(w.subs))
			}
			res, err := c.Import(t.Context(), strings.NewReader(file), client.ImportOptions{SkipBad: true})
			if err != nil || res.Lines != 4 || res.Imported != 2 || res.Bad != 2 || len(w.subs) != 2 || res.BadLines[0].Line != 3 || res.BadLines[1].Line != 5 {
				t.Errorf("%+v %v", res, err)
			}
		})
	}
}

func TestExpiredSubscriptionsAreSkippedAndCounted(t *testing.T) {
	t.Parallel()
	w := newFakeHub()
	c, _ := serve(t, w)
	file := fmt.Sprintf(good, 1) + `{"topic":"http://a.example/","protocol":"http-post","callback":"http://b.example/","expires_at":"2026-05-04T03:02:01Z"}`
	res, err := c.Import(t.Context(), strings.NewReader(file), client.ImportOptions{})
	if err != nil || res.Imported != 1 || res.Expired != 1 || len(w.subs) != 1 {
		t.Errorf("%+v %v", res, err)
	}
}

func TestFailedImportReportsItsProgress(t *testing.T) {
	t.Parallel()
	w := newFakeHub()
	w.failAt = 500
	c, _ := serve(t, w)
	var file strings.Builder
	for i := range 700 {
		fmt.Fprintf(&file, good, i)
	}
	_, err := c.Import(t.Context(), strings.NewReader(file.String()), client.ImportOptions{})
	if err == nil || !strings.Contains(err.Error(), "after 500 of 700") || !strings.Contains(err.Error(), "disk is full") {
		t.Error(err)
	}
}

func TestUploadsLeaveNoTemporaryFiles(t *testing.T) {
	t.Parallel()
	w := newFakeHub()
	srv := New(Options{Hub: w, Store: store{w}, Bus: w.bus, Temp: t.TempDir(), Now: start})
	for _, line := range []string{"bad", fmt.Sprintf(good, 1)} {
		r := requestFor(t.Context(), line)
		srv.Handler().ServeHTTP(discard{}, r)
	}
	left, err := os.ReadDir(srv.Temp)
	if err != nil || len(left) != 0 {
		t.Error(left, err)
	}
	if len(w.subs) != 1 {
		t.Errorf("%d subscriptions", len(w.subs))
	}
}

func TestUploadIsRefusedIfTheDiskIsFull(t *testing.T) {
	t.Parallel()
	srv := New(Options{Now: start})
	_, err := srv.check(strings.NewReader(fmt.Sprintf(good, 1)), fullDisk{})
	if fault.Message(err) != fault.DiskFull || fault.CodeOf(err) != fault.Unavailable {
		t.Error(err)
	}
}

// fullDisk is a file on a full disk.
type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) {
	return 0, &fs.PathError{Op: "write", Path: "upload", Err: syscall.ENOSPC}
}

func TestInterruptedExportReturnsError(t *testing.T) {
	t.Parallel()
	w := newFakeHub()
	for i := range 1500 {
		w.add("http://a.example/", hub.HTTPPost, fmt.Sprintf("http://b.example/%d", i), "", start().Add(time.Hour))
	}
	c, _ := serveWith(t, Options{Hub: w, Store: &brokenLater{store: store{w}}, Bus: w.bus})
	var out bytes.Buffer
	if n, err := c.Export(t.Context(), &out, nil); err == nil || n != 1000 {
		t.Errorf("%d %v", n, err)
	}
}

// brokenLater is a store that returns only the first batch of subscriptions. Later reads fail.
type brokenLater struct {
	store
	reads int
}

func (b *brokenLater) Subscriptions(ctx context.Context, q hub.SubscriptionQuery) ([]hub.SubscriptionInfo, error) {
	if b.reads++; b.reads > 1 {
		return nil, context.DeadlineExceeded
	}
	return b.store.Subscriptions(ctx, q)
}

func FuzzImportLine(f *testing.F) {
	f.Add([]byte(fmt.Sprintf(good, 1)))
	f.Add([]byte(`{"topic":"http://[::1]:80/","protocol":"soap","callback":"https://x/?a=b#c","procedure":"a.b","created_at":"2026-01-01T00:00:00.5+02:00","expires_at":"9999-12-31T23:59:59Z","topic_id":"7","id":"8"}`))
	f.Fuzz(func(t *testing.T, line []byte) {
		sub, err := readSubscription(line)
		if err != nil {
			return
		}
		s := New(Options{Now: start})
		info := s.subscriptionFrom(sub)
		// The server must accept its own export of an accepted line. A second export must be identical.
		once := mustEncode(t, form.ExportedSubscription(info.Subscription, info.Topic))
		again, err := readSubscription(once)
		if err != nil {
			t.Fatalf("%s became %s: %v", line, once, err)
		}
		info = s.subscriptionFrom(again)
		if twice := mustEncode(t, form.ExportedSubscription(info.Subscription, info.Topic)); !bytes.Equal(once, twice) {
			t.Fatalf("%s became %s", once, twice)
		}
	})
}

func TestListResponsesContainNoSecrets(t *testing.T) {
	t.Parallel()
	w := newFakeHub()
	sub := hub.Subscription{TopicID: hub.TopicID("http://a.example/"), Protocol: hub.WebSub, Callback: "http://b.example/", Secret: "between us",
		CreatedAt: start(), RenewedAt: start(), ExpiresAt: start().Add(time.Hour)}
	sub.ID = hub.SubscriptionID(sub.Protocol, sub.Callback)
	w.subs[sub.Key()] = hub.SubscriptionInfo{Subscription: sub, Topic: "http://a.example/"}
	c, _ := serve(t, w)
	n := 0
	for s, err := range c.Subscriptions(t.Context(), client.SubscriptionQuery{Protocol: hub.WebSub}) {
		if n++; err != nil || s.Secret != "" || len(s.SecretBase64) > 0 {
			t.Errorf("%+v %v", s, err)
		}
	}
	if n != 1 {
		t.Errorf("%d are listed", n)
	}
}
