package wsse

import (
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestWSSEHeaderIsParsedInEveryNotation(t *testing.T) {
	t.Parallel()
	want := Token{Username: "cal", Digest: "WgUU6xmxOsGYqhNun9gJZ//C9ew=", Nonce: "bf59", Created: "2005-11-14T18:40:04-0800",
		At: time.Date(2005, 11, 15, 2, 40, 4, 0, time.UTC)}
	for name, header := range map[string]string{
		"as in the specification": `UsernameToken Username="cal", Created="2005-11-14T18:40:04-0800", Nonce="bf59", PasswordDigest="WgUU6xmxOsGYqhNun9gJZ//C9ew="`,
		"another order":           `UsernameToken PasswordDigest="WgUU6xmxOsGYqhNun9gJZ//C9ew=", Nonce="bf59", Username="cal", Created="2005-11-14T18:40:04-0800"`,
		"no spaces":               `UsernameToken Username="cal",Created="2005-11-14T18:40:04-0800",Nonce="bf59",PasswordDigest="WgUU6xmxOsGYqhNun9gJZ//C9ew="`,
		"many spaces":             "  UsernameToken\t Username = \"cal\" ,\tCreated= \"2005-11-14T18:40:04-0800\" ,  Nonce =\"bf59\",PasswordDigest=\"WgUU6xmxOsGYqhNun9gJZ//C9ew=\"  ",
		"no quotes":               `UsernameToken Username=cal, Created=2005-11-14T18:40:04-0800, Nonce=bf59, PasswordDigest=WgUU6xmxOsGYqhNun9gJZ//C9ew=`,
		"lowercase":               `usernametoken username="cal", created="2005-11-14T18:40:04-0800", nonce="bf59", passworddigest="WgUU6xmxOsGYqhNun9gJZ//C9ew="`,
		"empty places":            `UsernameToken ,, Username="cal", , Created="2005-11-14T18:40:04-0800", Nonce="bf59", PasswordDigest="WgUU6xmxOsGYqhNun9gJZ//C9ew=",`,
		"unknown parameters":      `UsernameToken Username="cal", Type="a, \"b\"", Created="2005-11-14T18:40:04-0800", Nonce="bf59", PasswordDigest="WgUU6xmxOsGYqhNun9gJZ//C9ew="`,
		"escapes":                 `UsernameToken Username="\c\al", Created="2005-11-14T18:40:04-0800", Nonce="bf59", PasswordDigest="WgUU6xmxOsGYqhNun9gJZ\/\/C9ew="`,
	} {
		got, err := Parse(header)
		if d := cmp.Diff(want, got); d != "" || err != nil {
			t.Errorf("%s: %v\n%s", name, err, d)
		}
	}
	odd := strings.Replace(want.String(), `"cal"`, `"a \"b\\, Nonce=\"x\" ☂"`, 1)
	if got, err := Parse(odd); err != nil || got.Username != `a "b\, Nonce="x" ☂` || got.String() != odd {
		t.Errorf("a name with quotes: %q, %v, written %s", got.Username, err, got)
	}
}

func TestParseRejectsInvalidWSSEHeader(t *testing.T) {
	t.Parallel()
	const good = `UsernameToken Username="u", PasswordDigest="d", Nonce="n", Created="2005-11-14T18:40:04Z"`
	if _, err := Parse(good); err != nil {
		t.Fatal(err)
	}
	for name, header := range map[string]string{
		"nothing":               "",
		"the word alone":        "UsernameToken",
		"another word":          strings.Replace(good, "UsernameToken", "UsernameTokens", 1),
		"no word":               strings.TrimPrefix(good, "UsernameToken "),
		"no space after it":     strings.Replace(good, "Token ", "Token,", 1),
		"a parameter twice":     good + `, Nonce="m"`,
		"twice in other case":   good + `, USERNAME="v"`,
		"one missing":           strings.Replace(good, `Nonce="n", `, "", 1),
		"one empty":             strings.Replace(good, `"n"`, `""`, 1),
		"no comma":              strings.Replace(good, `"n",`, `"n"`, 1),
		"no value":              strings.Replace(good, `="n"`, ``, 1),
		"no name":               strings.Replace(good, `Nonce="n"`, `="n"`, 1),
		"an unterminated quote": strings.TrimSuffix(good, `"`),
		"an escape at the end":  strings.TrimSuffix(good, `"`) + `\`,
		"text after a value":    strings.Replace(good, `"n"`, `"n"n`, 1),
		"a quote in a word":     strings.Replace(good, `"n"`, `n"n"`, 1),
		"a line break":          strings.Replace(good, `"n"`, "\"n\r\nX: y\"", 1),
		"a NUL":                 strings.Replace(good, `"u"`, "\"u\x00\"", 1),
		"an escaped line feed":  strings.Replace(good, `"u"`, "\"u\\\n\"", 1),
		"no time":               strings.Replace(good, `2005-11-14T18:40:04Z`, "today", 1),
		"a long nonce":          strings.Replace(good, `"n"`, `"`+strings.Repeat("n", MaxNonce+1)+`"`, 1),
		"a long name":           strings.Replace(good, `"u"`, `"`+strings.Repeat("n", MaxUsername+1)+`"`, 1),
		"a long digest":         strings.Replace(good, `"d"`, `"`+strings.Repeat("n", MaxDigest+1)+`"`, 1),
		"a long time":           strings.Replace(good, `04Z`, `04.`+strings.Repeat("0", MaxCreated)+`Z`, 1),
		"a long header":         good + strings.Repeat(" ", MaxHeader),
	} {
		got, err := Parse(header)
		if _, ok := errors.AsType[*SyntaxError](err); !ok || got != (Token{}) {
			t.Errorf("%s: %v, %+v", name, err, got)
		}
	}
}

func TestSecondWSSEHeaderIsRejected(t *testing.T) {
	t.Parallel()
	value := Header("u", "p", time.Now(), nil)
	if _, ok, err := FromHeader(http.Header{}); ok || err != nil {
		t.Error("no header:", ok, err)
	}
	if got, ok, err := FromHeader(http.Header{"X-Wsse": {value}}); !ok || err != nil || got.Username != "u" {
		t.Error("one header:", ok, err)
	}
	for _, two := range [][]string{{value, value}, {value, ""}, {"", value}, {"x"}} {
		if _, ok, err := FromHeader(http.Header{"X-Wsse": two}); ok || err == nil {
			t.Errorf("%q: %v, %v", two, ok, err)
		}
	}
}

func TestCreatedTimeMayHaveAnyTimeZone(t *testing.T) {
	t.Parallel()
	at := time.Date(2005, 11, 15, 2, 40, 4, 0, time.UTC)
	for _, s := range []string{
		"2005-11-14T18:40:04-0800", "2005-11-14T18:40:04-08:00", "2005-11-14T18:40:04-08", "2005-11-15T02:40:04Z", "2005-11-15T02:40:04z",
		"2005-11-15T02:40:04", "2005-11-15 02:40:04", "2005-11-15t02:40:04+00:00", "2005-11-15T08:10:04+0530", "20051115T024004Z", "20051114T184004-0800",
		"2005-11-15T02:40:04.0Z", "2005-11-15T02:40:04,000000000000+00",
	} {
		if got, ok := parseTime(s); !ok || !got.Equal(at) {
			t.Errorf("%s: %v, %v", s, got, ok)
		}
	}
	for s, want := range map[string]time.Time{
		"2005-11-15T02:40Z":                       at.Add(-4 * time.Second),
		"20051115T0240Z":                          at.Add(-4 * time.Second),
		"2005-11-15T02:40:04.25Z":                 at.Add(time.Second / 4),
		"2016-12-31T23:59:60Z":                    time.Date(2017, 1, 1, 0, 0, 0, 0, time.UTC),
		"2005-11-15T02:40:04.123456789987654321Z": at.Add(123456789),
	} {
		if got, ok := parseTime(s); !ok || !got.Equal(want) {
			t.Errorf("%s: %v, %v, want %v", s, got, ok, want)
		}
	}
	for _, s := range []string{
		"", "2005", "2005-11-15", "2005-11-15T", "2005-11-15T02", " 2005-11-15T02:40:04Z", "2005-11-15T02:40:04Z ", "12005-11-15T02:40:04Z", "05-11-15T02:40:04Z",
		"2005-13-15T02:40:04Z", "2005-02-30T02:40:04Z", "2005-00-10T02:40:04Z", "2005-11-15T24:00:00Z", "2005-11-15T02:60:04Z", "2005-11-15T02:40:61Z",
		"2005-11-15T02:40:04.Z", "2005-11-15T02:40:04+", "2005-11-15T02:40:04+1", "2005-11-15T02:40:04+24:00", "2005-11-15T02:40:04+01:", "2005-11-15T02:40:04+01:60",
		"2005-11-15T02:40:04PST", "2005-11-15T02:40:04ZZ", "2005-11-1502:40:04", "2005-1115T02:40:04Z", "200511-15T02:40:04Z", "2005-11-15T02:4004Z", "2005-11-15T0240:04Z",
		"２005-11-15T02:40:04Z", "2005-11-15T02:40:04Z\x00",
	} {
		if got, ok := parseTime(s); ok {
			t.Errorf("%q is parsed as %v", s, got)
		}
	}
}
