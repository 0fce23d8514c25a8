package rivertest

import (
	"fmt"
	"testing"
	"time"

	"cloudburst/internal/hub"
	"cloudburst/internal/river/forward"
	"cloudburst/internal/store/storetest"
)

// BeforeConsent is the last schema without the consent of recipients.
const BeforeConsent = 16

// ForwardingRows returns statements that fill the table notice of that schema.
func ForwardingRows() (rows []string) {
	for id, n := range []struct {
		sent   int
		paused string
	}{{3, "FALSE"}, {0, "FALSE"}, {0, "TRUE"}, {1, "TRUE"}} {
		rows = append(rows, fmt.Sprintf(`INSERT INTO notice (id, reader, source_id, category, via, target, secret, created_at, paused, sent, last_at, failures, problem, next_at, claim)
			VALUES (%d, 'ann', 0, '', 'webhook', 'http://hook%d.example/', NULL, 1790000000000, %s, %d, 1790000000000, 0, '', NULL, 0)`, id+1, id+1, n.paused, n.sent))
	}
	return rows
}

// ForwardingsMigrated checks that a store with ForwardingRows delivers the confirmed forwardings
// and requests consent for the others.
func ForwardingsMigrated(t *testing.T, st hub.Store) {
	e := newEnv(t, st)
	s := e.stream(t)
	storetest.Same(t, "states", s.states("ann"), []string{forward.ForwardingConfirmed, forward.ForwardingWaiting, forward.ForwardingWaiting, forward.ForwardingConfirmed})
	due, err := s.ClaimForwardings(s.Ctx, s.Now, s.In(time.Minute), 10, 5)
	storetest.Must(t, err)
	storetest.Same(t, "forwardings without consent", []any{len(due), due[0].ID}, []any{1, int64(2)})
}
