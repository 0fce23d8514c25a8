package postgres

import (
	"testing"

	"cloudburst/internal/store/rivertest"
	"cloudburst/internal/store/storetest"
)

func BenchmarkUnchangedChecks(b *testing.B) {
	rivertest.UnchangedChecks(b, open(b, storetest.Postgres(b)), 5000, 64)
}

func BenchmarkFirstChecks(b *testing.B) {
	rivertest.FirstReadings(b, open(b, storetest.Postgres(b)), 64)
}

func BenchmarkClaimsOfAMillionFeeds(b *testing.B) {
	rivertest.ClaimsOf(b, open(b, storetest.Postgres(b)), 1_000_000)
}

func BenchmarkReadRivers(b *testing.B) { rivertest.Rivers(b, open(b, storetest.Postgres(b))) }
func BenchmarkIndexItems(b *testing.B) { rivertest.Indexing(b, open(b, storetest.Postgres(b))) }

func BenchmarkCountFollowers(b *testing.B) {
	rivertest.Followers(b, open(b, storetest.Postgres(b)), 10_000)
}
