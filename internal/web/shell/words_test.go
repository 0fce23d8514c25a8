package shell

import (
	"encoding/xml"
	"errors"
	"io"
	"math"
	"strings"
	"testing"
	"time"

	"cloudburst/internal/fault"
)

func TestChartsAreWellFormedAndLabelled(t *testing.T) {
	t.Parallel()
	nan := math.NaN()
	for name, values := range map[string][]float64{
		"none": nil, "nothing": {nan, nan}, "zero": {0, 0, 0}, "one": {nan, 5, nan}, "huge": {1, 1e12, nan, 3}, "tiny": {0.0004, 0.0002}, "wrong": {-4, math.Inf(1), 2},
	} {
		for _, bars := range []bool{true, false} {
			f := Figure{ID: "x", Title: "a <b> & c", Desc: `"d"`, Unit: "ms", Bars: bars, Series: []Series{{"s", "s1", values}, {"t", "s2", values}}, Ticks: []Tick{{0, "<"}, {1, "now"}}}
			svg := string(f.SVG())
			for _, want := range []string{"<title id=\"x-t\">a &lt;b&gt; &amp; c</title>", "<desc id=\"x-d\">", `role="img"`} {
				if !strings.Contains(svg, want) {
					t.Errorf("%s: no %s", name, want)
				}
			}
			for _, never := range []string{"NaN", "Inf", "style=", `="-`} {
				if strings.Contains(svg, never) {
					t.Errorf("%s holds %s: %s", name, never, svg)
				}
			}
			d := xml.NewDecoder(strings.NewReader(svg))
			for {
				if _, err := d.Token(); errors.Is(err, io.EOF) {
					break
				} else if err != nil {
					t.Fatalf("%s: %v", name, err)
				}
			}
		}
	}
}

func TestChartMaximumIsRoundedUpToAnEvenStep(t *testing.T) {
	t.Parallel()
	for in, want := range map[float64]float64{0: 1, -3: 1, 1: 1, 1.1: 2, 2.5: 3, 1498: 2000, 7001: 8000, 99: 100, 0.03: 0.03} {
		if got := niceMax(in); math.Abs(got-want) > 1e-9 {
			t.Errorf("niceMax(%v) = %v, want %v", in, got, want)
		}
	}
}

func TestNumbersAndTimesAreFormattedForPeople(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 20, 14, 0, 0, 0, time.UTC)
	for got, want := range map[string]string{
		FormatCount(0): "0", FormatCount(-1204): "−1,204", FormatCount(int64(1234567)): "1,234,567", FormatCount(999): "999",
		FormatQuantity(1, "feed", "feeds"): "1 feed", JoinWords([]string{"a", "b", "c"}): "a, b and c",
		FormatDuration(300 * time.Millisecond): "0.3 s", FormatDuration(1200 * time.Microsecond): "1.2 ms", FormatDuration(15 * time.Second): "15 s",
		FormatDuration(90 * time.Minute): "1 h", FormatDuration(50 * time.Hour): "2 days", FormatDuration(400 * time.Nanosecond): "under 1 µs",
		RelativeTime(now, now.Add(-3*time.Minute)): "3 min ago", RelativeTime(now, now.Add(25*time.Hour)): "in 25 h",
		RelativeTime(now, now): "now ", RelativeTime(now, now.AddDate(0, -1, 0)): "20 Oct 2026",
		CleanText("a\x00b\nc\xff", 10): "a\uFFFDb c\uFFFD", CleanText("abcdef", 4): "abc…",
		ShortURL("https://www.example.com/x"): "example.com/x", HostOf("http://h:1/secret?x"): "h:1", HostOf("::"): "unknown host",
		Sentence("it is so"): "It is so.",
	} {
		if got != strings.TrimSpace(want) {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestLanguageTagIsValidatedForHTML(t *testing.T) {
	t.Parallel()
	for given, want := range map[string]string{"el": "el", "en-GB": "en-GB", "zh-Hant-TW": "", "english": "", "": "", `x"y`: "", "e1": ""} {
		if got := PlainLanguage(given); got != want {
			t.Errorf("%q is %q", given, got)
		}
	}
}

func TestReasonStatesTheTimeOfTheNextTryOnce(t *testing.T) {
	t.Parallel()
	for msg, want := range map[string]string{
		"Too many pings.": "Too many pings. Try again in 50 s.",
		"There were too many attempts. Try again in 50 seconds.":      "There were too many attempts. Try again in 50 seconds.",
		"Too many people sign in. Please try again in a few seconds.": "Too many people sign in. Please try again in a few seconds.",
	} {
		if got := Reason(&fault.Error{Code: fault.TooMany, Msg: msg, RetryAfter: 50 * time.Second}); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
