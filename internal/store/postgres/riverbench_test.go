package postgres

import (
	"testing"

	"cloudburst/internal/store/storetest"
)

func BenchmarkUnchangedChecks(b *testing.B) {
	storetest.UnchangedChecks(b, open(b, storetest.Postgres(b)), 5000, 64)
}

func BenchmarkFirstReadings(b *testing.B) {
	storetest.FirstReadings(b, open(b, storetest.Postgres(b)), 64)
}

func BenchmarkClaimsOfAMillion(b *testing.B) {
	storetest.ClaimsOf(b, open(b, storetest.Postgres(b)), 1_000_000)
}

func BenchmarkRivers(b *testing.B)   { storetest.Rivers(b, open(b, storetest.Postgres(b))) }
func BenchmarkIndexing(b *testing.B) { storetest.Indexing(b, open(b, storetest.Postgres(b))) }
