package validator_test

import (
	"testing"
	"time"

	"cloudburst/internal/validator"
)

func noon() time.Time { return time.Date(2026, 11, 24, 12, 0, 0, 0, time.UTC) }

const (
	noonDate   = "Tue, 24 Nov 2026 12:00:00 GMT"
	twoBefore  = "Tue, 24 Nov 2026 11:59:58 GMT"
	oneBefore  = "Tue, 24 Nov 2026 11:59:59 GMT"
	hourBefore = "Tue, 24 Nov 2026 11:00:00 GMT"
)

func version(etag, hash string) validator.Version { return validator.Version{ETag: etag, Hash: hash} }

func TestETagIsProvenIfItChangesTogetherWithTheContent(t *testing.T) {
	t.Parallel()
	proven := validator.Evidence{Proof: validator.Proven}
	refuted := validator.Evidence{Proof: validator.Refuted}
	believed := validator.Evidence{Proof: validator.Proven, Believed: true}
	for name, c := range map[string]struct {
		before      validator.Evidence
		was, is     validator.Version
		conditional bool
		want        validator.Proof
	}{
		"the first read proves nothing":            {is: version(`"1"`, "a"), want: validator.Unproven},
		"another ETag with another content":        {was: version(`"1"`, "a"), is: version(`"2"`, "b"), want: validator.Proven},
		"another ETag with the same content":       {was: version(`"1"`, "a"), is: version(`"2"`, "a"), want: validator.Unproven},
		"the same of both":                         {was: version(`"1"`, "a"), is: version(`"1"`, "a"), want: validator.Unproven},
		"one ETag for two contents":                {was: version(`"1"`, "a"), is: version(`"1"`, "b"), want: validator.Refuted},
		"one ETag for two contents, after a proof": {before: proven, was: version(`"1"`, "a"), is: version(`"1"`, "b"), want: validator.Refuted},
		"weak ETags":                                       {was: version(`W/"1"`, "a"), is: version(`W/"2"`, "b"), want: validator.Unproven},
		"one weak ETag for two contents":                   {was: version(`W/"1"`, "a"), is: version(`W/"1"`, "b"), want: validator.Unproven},
		"a strong ETag after a weak one":                   {was: version(`W/"1"`, "a"), is: version(`"2"`, "b"), want: validator.Unproven},
		"no hash of the content before":                    {was: version(`"1"`, ""), is: version(`"2"`, "b"), want: validator.Unproven},
		"no hash of the content now":                       {was: version(`"1"`, "a"), is: version(`"2"`, ""), want: validator.Unproven},
		"a proof ends with the ETags":                      {before: proven, was: version(`"1"`, "a"), is: version("", "a"), want: validator.Unproven},
		"a proof ends with strong ETags":                   {before: proven, was: version(`"1"`, "a"), is: version(`W/"2"`, "b"), want: validator.Unproven},
		"a proof stays over a read without a change":       {before: proven, was: version(`"1"`, "a"), is: version(`"1"`, "a"), want: validator.Proven},
		"what was wrong once stays wrong":                  {before: refuted, was: version(`"1"`, "a"), is: version(`"2"`, "b"), want: validator.Refuted},
		"a change after a 304 that counted":                {before: believed, was: version(`"1"`, "a"), is: version(`"2"`, "b"), want: validator.Refuted},
		"a change that a conditional request found itself": {before: believed, was: version(`"1"`, "a"), is: version(`"2"`, "b"), conditional: true, want: validator.Proven},
	} {
		got := c.before.Read(validator.FullRead{Was: c.was, Is: c.is, Conditional: c.conditional, At: noon()})
		if got.Proof != c.want || got.Believed || !got.FullAt.Equal(noon()) {
			t.Errorf("%s: %+v, want the proof %q", name, got, c.want)
		}
	}
}

func TestFeedAgeIsMeasuredWithTheOriginsDate(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		modified, date string
		want           bool
	}{
		"no Last-Modified":                         {"", noonDate, false},
		"one that is no date":                      {"yesterday", noonDate, false},
		"the second of the read":                   {noonDate, noonDate, true},
		"the second before":                        {oneBefore, noonDate, true},
		"two seconds before":                       {twoBefore, noonDate, false},
		"a clock that is slow by an hour":          {hourBefore, hourBefore, true},
		"a clock that is slow, and an old feed":    {twoBefore, hourBefore, false},
		"without a Date ours counts":               {oneBefore, "", true},
		"without a Date ours counts, an hour ago":  {hourBefore, "now", false},
		"a file server's clock that is fast by 1s": {noonDate, oneBefore, true},
	} {
		got := validator.Evidence{}.Read(validator.FullRead{LastModified: c.modified, Date: c.date, At: noon()})
		if got.Recent != c.want {
			t.Errorf("%s: recent is %v", name, got.Recent)
		}
	}
}

func TestStatus304IsTrustedOnlyForAProvenETag(t *testing.T) {
	t.Parallel()
	e := validator.Evidence{Proof: validator.Proven, FullAt: noon()}
	with := func(change func(*validator.Evidence)) validator.Evidence {
		c := e
		change(&c)
		return c
	}
	later := noon().Add(time.Minute)
	for name, c := range map[string]struct {
		evidence       validator.Evidence
		etag           string
		announced, now time.Time
		want           validator.Doubt
	}{
		"a proven ETag":                        {e, `"1"`, later, later, validator.NoDoubt},
		"none":                                 {e, "", later, later, validator.NoETag},
		"a weak one":                           {e, `W/"1"`, later, later, validator.WeakETag},
		"one without quotes":                   {e, `1`, later, later, validator.WeakETag},
		"a list":                               {e, `"1", "2"`, later, later, validator.WeakETag},
		"an empty one":                         {e, `""`, later, later, validator.WeakETag},
		"one that was never seen to change":    {with(func(e *validator.Evidence) { e.Proof = validator.Unproven }), `"1"`, later, later, validator.NotProven},
		"one that was wrong":                   {with(func(e *validator.Evidence) { e.Proof = validator.Refuted }), `"1"`, later, later, validator.WrongOnce},
		"a feed that had only just changed":    {with(func(e *validator.Evidence) { e.Recent = true }), `"1"`, later, later, validator.TooRecent},
		"a change announced during the read":   {e, `"1"`, noon(), later, validator.DuringRead},
		"a full read an hour ago":              {e, `"1"`, noon().Add(time.Hour), noon().Add(time.Hour), validator.LongAgo},
		"a full read a moment less ago":        {e, `"1"`, noon().Add(time.Hour - 1), noon().Add(time.Hour - 1), validator.NoDoubt},
		"a full read that is yet to come":      {e, `"1"`, later, noon().Add(-time.Hour), validator.LongAgo},
		"evidence from before there was a row": {validator.Evidence{}, `"1"`, later, later, validator.NotProven},
	} {
		got := c.evidence.Doubt(c.etag, c.announced, c.now)
		if got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
		if (got.Reason() == "") != (got == validator.NoDoubt) || got != validator.NoDoubt && got.Reason() == string(got) {
			t.Errorf("%s: the reason is %q", name, got.Reason())
		}
	}
}

func TestFullReadIsScheduledAfterTrusted304(t *testing.T) {
	t.Parallel()
	recent := validator.Evidence{Recent: true, FullAt: noon()}
	if at := recent.NextFullRead(noon(), false); !at.Equal(noon().Add(validator.Settled)) {
		t.Errorf("a recent change is looked at again at %s", at)
	}
	if at := recent.NextFullRead(noon(), true); !at.IsZero() {
		t.Errorf("a follow-up leads to another one at %s", at)
	}
	if at := (validator.Evidence{FullAt: noon()}).NextFullRead(noon(), false); !at.IsZero() {
		t.Errorf("an old document is looked at again at %s", at)
	}
	for _, followUp := range []bool{true, false} {
		at := validator.Evidence{FullAt: noon()}.Believe().NextFullRead(noon().Add(time.Minute), followUp)
		if !at.Equal(noon().Add(validator.BelievedFor)) {
			t.Errorf("after a 304 the document is read in full at %s", at)
		}
	}
}

func TestStatus304WithAnotherETagIsNotTrusted(t *testing.T) {
	t.Parallel()
	for named, want := range map[string]bool{"": true, `"1"`: true, `"2"`: false, `W/"1"`: false} {
		if got := validator.Confirms(`"1"`, named); got != want {
			t.Errorf("a 304 with the ETag %s: %v", named, got)
		}
	}
}
