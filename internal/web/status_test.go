package web

import (
	"strings"
	"testing"
)

func TestStatusPageShowsPendingSubscriptionRequests(t *testing.T) {
	t.Parallel()
	f := newFake()
	w, _ := newWeb(t, f)
	h := w.Routes()
	const words = "Requests pending"
	if strings.Contains(get(t, h, "/status").Body.String(), words) {
		t.Error("there are none, and the page speaks of them")
	}
	f.requests = 3
	rec := get(t, h, "/status")
	check(t, rec)
	if !strings.Contains(rec.Body.String(), words+"</dt><dd>3<") {
		t.Error("three requests are not shown")
	}
}
