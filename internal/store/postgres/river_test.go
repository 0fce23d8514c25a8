package postgres

import (
	"testing"

	"cloudburst/internal/store/rivertest"
	"cloudburst/internal/store/storetest"
)

func TestTwoProcessesNeverReadTheSameSource(t *testing.T) {
	t.Parallel()
	url := storetest.Postgres(t)
	rivertest.SourceClaims(t, open(t, url), open(t, url))
}

func TestTwoProcessesCountTheFollowersOfASource(t *testing.T) {
	t.Parallel()
	url := storetest.Postgres(t)
	rivertest.SameSubscriptions(t, open(t, url), open(t, url))
}
