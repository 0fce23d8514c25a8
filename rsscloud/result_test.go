package rsscloud_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"cloudburst/rsscloud"

	"github.com/google/go-cmp/cmp"
)

func TestAnswersAsTheyStandOnTheWire(t *testing.T) {
	t.Parallel()
	r := rsscloud.Result{Success: true, Msg: rsscloud.ThanksForThePing}
	if got, want := string(r.XML("result")), "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<result success=\"true\" msg=\"Thanks for the ping.\"/>\n"; got != want {
		t.Errorf("got %q", got)
	}
	if got, want := string(r.JSON()), "{\"success\":true,\"msg\":\"Thanks for the ping.\"}\n"; got != want {
		t.Errorf("got %q", got)
	}
	hostile := rsscloud.Result{Msg: "a\"b'c<d>&e\x00\n\xff\u2028"}
	for _, doc := range [][]byte{hostile.XML("notifyResult"), hostile.JSON()} {
		got, err := rsscloud.ParseResult(doc)
		if err != nil || got.Success || !strings.HasPrefix(got.Msg, "a\"b'c<d>&e") {
			t.Errorf("%q: %+v, %v", doc, got, err)
		}
	}
}

// TestAnswersOfCloudsInTheField reads each document of testdata/answers: the first
// word of its name says whether it is a success, a refusal or no answer.
func TestAnswersOfCloudsInTheField(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/answers/*")
	if err != nil || len(files) < 15 {
		t.Fatalf("%d answers, %v", len(files), err)
	}
	for _, file := range files {
		body, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		r, err := rsscloud.ParseResult(body)
		switch word, _, _ := strings.Cut(filepath.Base(file), "-"); {
		case word == "none" && !errors.Is(err, rsscloud.ErrAnswer):
			t.Errorf("%s: %+v, %v", file, r, err)
		case word == "yes" && (err != nil || !r.Success):
			t.Errorf("%s: %+v, %v", file, r, err)
		case word == "no" && (err != nil || r.Success):
			t.Errorf("%s: %+v, %v", file, r, err)
		}
	}
}

func TestCloudAnswerIsKnownAsALoop(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]bool{
		`<result success="true" msg="Thanks for the ping."/>`:                               true,
		`<?xml version="1.0"?><pingResult success="false" msg="no"/>`:                       true,
		"\xEF\xBB\xBF\n<?xml version='1.0'?><!-- x --><notifyResult success='true' msg=''>": true,
		`{"success":true,"msg":"Thanks for the ping."}`:                                     true,
		`{"success":true,"msg":"ok"}`:                                                       false,
		`{"success":true}`:                                                                  false,
		`<result>true</result>`:                                                             false,
		`<resultset success="true"/>`:                                                       false,
		"Thanks for the update.":                                                            false,
		"":                                                                                  false,
		"<html><body>result success</body></html>":                                          false,
	} {
		if got := rsscloud.IsCloudAnswer([]byte(body)); got != want {
			t.Errorf("%s: %t", body, got)
		}
	}
}

func TestConsent(t *testing.T) {
	t.Parallel()
	const c = "0123456789abcdef0123456789abcdef"
	query := "url=http%3A%2F%2Ff.example%2F&challenge=" + c
	for _, tc := range []struct {
		name        string
		status      int
		contentType string
		body        string
		want        error
	}{
		{"the challenge", 200, "text/plain", c, nil},
		{"the challenge with no type", 200, "", c, nil},
		{"the challenge as PHP sends it", 200, "text/html; charset=UTF-8", c + "\n", nil},
		{"within text", 202, "text/plain", "ok: " + c + " thanks", nil},
		{"within a page", 200, "text/html", "<html><body><p>" + c + "</p></body></html>", nil},
		{"in JSON", 200, "application/json", `{"challenge":"` + c + `"}`, nil},
		{"299", 299, "text/plain", c, nil},
		{"echoed query and the challenge itself", 200, "text/html", "<!-- " + query + " -->" + c, nil},
		{"300", 300, "text/plain", c, rsscloud.ErrRefused},
		{"404", 404, "text/plain", c, rsscloud.ErrRefused},
		{"500", 500, "text/plain", c, rsscloud.ErrRefused},
		{"not there", 200, "text/plain", "hello", rsscloud.ErrRefused},
		{"empty", 204, "", "", rsscloud.ErrRefused},
		{"half of it", 200, "text/plain", c[:20], rsscloud.ErrRefused},
		{"behind 4 KiB", 200, "text/plain", strings.Repeat(" ", 4096) + c, rsscloud.ErrRefused},
		{"across 4 KiB", 200, "text/plain", strings.Repeat(" ", 4090) + c, rsscloud.ErrRefused},
		{"search page, in its text", 200, "text/html", "<p>Nothing found for /?" + query + "</p>", rsscloud.ErrEcho},
		{"search page, escaped", 200, "text/html", "<p>Nothing for ?url=x&amp;challenge=" + c + "</p>", rsscloud.ErrEcho},
		{"search page, equals sign as a reference", 200, "text/html", "challenge&#61;" + c, rsscloud.ErrEcho},
		{"search page, encoded", 200, "text/html", "<p>next=%2F%3Furl%3Dx%26challenge%3D" + c + "</p>", rsscloud.ErrEcho},
		{"search page, encoded twice", 200, "text/html", "challenge%253d" + c, rsscloud.ErrEcho},
		{"search page, in a link", 200, "text/html", `<a href="/?` + query + `">login</a>`, rsscloud.ErrEcho},
		{"search page, in a field", 200, "text/html", `<input type=hidden name=challenge value="` + c + `">`, rsscloud.ErrEcho},
		{"search page, in its title", 200, "text/html", "<title>" + c + "</title>", rsscloud.ErrEcho},
		{"search page, in a script", 200, "text/html", "<script>var q={challenge:'" + c + "'}</script>", rsscloud.ErrEcho},
		{"search page, in a broken tag", 200, "text/html", "<a href='" + c, rsscloud.ErrEcho},
		{"XHTML", 200, "application/xhtml+xml", "<p>challenge=" + c + "</p>", rsscloud.ErrEcho},
		{"broken parameters of the type", 200, "text/html;;charset", "challenge=" + c, rsscloud.ErrEcho},
		{"twice in the query", 200, "text/html", query + " " + query, rsscloud.ErrEcho},
	} {
		if err := rsscloud.CheckConsent(tc.status, tc.contentType, []byte(tc.body), c); !errors.Is(err, tc.want) || err == nil != (tc.want == nil) {
			t.Errorf("%s: %v, want %v", tc.name, err, tc.want)
		}
	}
	if err := rsscloud.CheckConsent(200, "text/plain", []byte("x"), ""); err == nil {
		t.Error("no challenge is met by anything")
	}
}

func TestChallengesAreLongAndDiffer(t *testing.T) {
	t.Parallel()
	a, b := rsscloud.NewChallenge(), rsscloud.NewChallenge()
	if len(a) != 32 || strings.Trim(a, "0123456789abcdef") != "" || a == b {
		t.Errorf("%s, %s", a, b)
	}
}

// TestNotificationsOnTheWire compares each protocol's notification with a file.
func TestNotificationsOnTheWire(t *testing.T) {
	t.Parallel()
	const feed = "http://feeds.example/rss.xml?a=1&b=<ü>"
	for _, protocol := range []string{"http-post", "https-post", "xml-rpc", "soap"} {
		n, err := rsscloud.EncodeNotification(protocol, "river.updated", feed)
		if err != nil {
			t.Fatal(err)
		}
		got := n.ContentType + "\n" + n.SOAPAction + "\n\n" + string(n.Body)
		golden := "testdata/notifications/" + protocol + ".txt"
		if update(t) {
			if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(golden)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(string(want), got); d != "" {
			t.Errorf("%s\n%s", protocol, d)
		}
	}
	for _, bad := range [][2]string{{"", ""}, {"HTTP-POST", ""}, {"xml-rpc", ""}, {"soap", "a/b"}, {"xml-rpc", "rssCloud.ping"}} {
		if n, err := rsscloud.EncodeNotification(bad[0], bad[1], feed); err == nil {
			t.Errorf("%q: %s", bad, n.Body)
		}
	}
}
