package publishhttp_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestUnsupportedMicropubPropertiesAreStoredAndReturned has the check-in of case 204 at micropub.rocks.
func TestUnsupportedMicropubPropertiesAreStoredAndReturned(t *testing.T) {
	t.Parallel()
	w := newPubHarness(t)
	const venue = `[{"type":["h-card"],"properties":{"name":["Los Gorditos"],"url":["https://a.example/502c"],"latitude":["45.52"]}}]`
	at, p := w.create(`{"content":["Lunch"],"summary":["Food"],"checkin":` + venue + `,"rsvp":["yes"],"mp-syndicate-to":["x"]}`)
	if p.Source != "Lunch" {
		t.Errorf("%+v", p.Content)
	}
	check := func(when, want string) {
		t.Helper()
		got, err := w.client("update").Source(t.Context(), at)
		if err != nil {
			t.Fatal(when, err)
		}
		for name := range got.Properties {
			switch name {
			case "checkin", "rsvp", "summary":
			default:
				delete(got.Properties, name)
			}
		}
		text, err := json.Marshal(got.Properties)
		if err != nil {
			t.Fatal(err)
		}
		var have, wanted any
		if errors.Join(json.Unmarshal(text, &have), json.Unmarshal([]byte(want), &wanted)) != nil || !cmp.Equal(have, wanted) {
			t.Errorf("%s: %s, want %s", when, text, want)
		}
	}
	check("created", `{"checkin":`+venue+`,"rsvp":["yes"],"summary":["Food"]}`)
	for _, tt := range []struct{ changes, want string }{
		{`"replace":{"content":["Supper"]}`, `{"checkin":` + venue + `,"rsvp":["yes"],"summary":["Food"]}`},
		{`"add":{"rsvp":["maybe"]}`, `{"checkin":` + venue + `,"rsvp":["yes","maybe"],"summary":["Food"]}`},
		{`"delete":{"rsvp":["yes"]},"replace":{"summary":["Drink"]}`, `{"checkin":` + venue + `,"rsvp":["maybe"],"summary":["Drink"]}`},
		{`"delete":["checkin","summary"]`, `{"rsvp":["maybe"]}`},
	} {
		if _, err := w.update(at, tt.changes); err != nil {
			t.Fatal(tt.changes, err)
		}
		check(tt.changes, tt.want)
	}
	if _, err := w.update(at, `"replace":{"note":["`+strings.Repeat("x", 64<<10)+`"]}`); err == nil || !strings.Contains(err.Error(), "65536 bytes are accepted") {
		t.Errorf("too much: %v", err)
	}
	check("after a refusal", `{"rsvp":["maybe"]}`)
}
