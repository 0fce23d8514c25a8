package operatecli

import (
	"bytes"
	"strings"
	"testing"

	"cloudburst/client"
	"cloudburst/internal/cli/shell"
)

func TestStatusPrintsNumberOfPendingSubscriptionRequests(t *testing.T) {
	t.Parallel()
	for n, want := range map[int64]string{
		0: "2 feeds, 1 subscription (0 failing), 0 notifications pending, 0 checks due.\n",
		1: "2 feeds, 1 subscription (0 failing), 0 notifications pending, 0 checks due, 1 request undecided.\n",
		3: "2 feeds, 1 subscription (0 failing), 0 notifications pending, 0 checks due, 3 requests undecided.\n",
	} {
		var out bytes.Buffer
		p := inShell(shell.Shell{Out: &out})
		p.printStatus(&shell.Connection{}, client.Status{Store: "ok", Counts: &client.Counts{Topics: 2, Subscriptions: 1, Requests: n}})
		if _, got, _ := strings.Cut(out.String(), "\n"); got != want {
			t.Errorf("%d requests: %q", n, got)
		}
	}
}
