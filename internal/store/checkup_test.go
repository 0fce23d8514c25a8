package store_test

import (
	"context"
	"time"

	"cloudburst/internal/checkup"
)

type examiner interface {
	Checkup(ctx context.Context, now time.Time) (checkup.Database, error)
}
