package rsscloud_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"cloudburst/protocol/rsscloud"

	"github.com/google/go-cmp/cmp"
)

func TestResultIsEncodedAsXMLAndJSON(t *testing.T) {
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

// TestResultsOfExistingCloudsAreParsed parses each document of testdata/answers. The first
// word of the file name is the expected result: yes (success), no (refusal) or none
// (invalid).
func TestResultsOfExistingCloudsAreParsed(t *testing.T) {
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
		case word == "none" && !errors.Is(err, rsscloud.ErrInvalidResponse):
			t.Errorf("%s: %+v, %v", file, r, err)
		case word == "yes" && (err != nil || !r.Success):
			t.Errorf("%s: %+v, %v", file, r, err)
		case word == "no" && (err != nil || r.Success):
			t.Errorf("%s: %+v, %v", file, r, err)
		}
	}
}

func TestPingResponseIsRecognizedByItsDocument(t *testing.T) {
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
		if got := rsscloud.IsPingResponse([]byte(body)); got != want {
			t.Errorf("%s: %t", body, got)
		}
	}
}

func TestGeneratedChallengesAreLongAndUnique(t *testing.T) {
	t.Parallel()
	a, b := rsscloud.NewChallenge(), rsscloud.NewChallenge()
	if len(a) != 32 || strings.Trim(a, "0123456789abcdef") != "" || a == b {
		t.Errorf("%s, %s", a, b)
	}
}

// TestNotificationIsEncodedForEachProtocol compares each protocol's notification with a golden file.
func TestNotificationIsEncodedForEachProtocol(t *testing.T) {
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
