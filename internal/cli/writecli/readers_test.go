package writecli

import (
	"strings"
	"testing"

	"cloudburst/client"
)

func TestReaderCountsArePrintedByKind(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	err := printReaders(&out, client.Readers{
		WindowDays: 7, Count: 13, Services: 8, Programs: 3, Once: 1, Push: 1, Subscriptions: 2, Private: 1, Browsers: 1, Partial: true,
		ServiceList: []client.Service{{Name: "Far\x1b[2J\nReader", Subscribers: 8}},
		ProgramList: []client.NamedCount{{Name: "Near", Count: 3}}, PushList: []client.NamedCount{{Name: "websub", Count: 2}},
	})
	const want = `13 readers in the last 7 days, or more
       8  by services with many users
         8  Far[2J Reader
       3  by programs with one user
         3  Near
       1  by notifications only, to 2 subscriptions
         2  websub
       1  of the private feed
Not counted: 1 browser, 0 robots.
`
	if err != nil || out.String() != want {
		t.Errorf("%v\n%s", err, out.String())
	}
}
