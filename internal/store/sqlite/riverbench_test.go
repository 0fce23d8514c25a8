package sqlite

import (
	"testing"

	"cloudburst/internal/store/storetest"
)

func BenchmarkUnchangedChecks(b *testing.B) {
	storetest.UnchangedChecks(b, open(b, Options{}), 5000, 64)
}

func BenchmarkFirstReadings(b *testing.B) { storetest.FirstReadings(b, open(b, Options{}), 64) }

func BenchmarkClaimsOfAMillion(b *testing.B) { storetest.ClaimsOf(b, open(b, Options{}), 1_000_000) }

func BenchmarkRivers(b *testing.B)   { storetest.Rivers(b, open(b, Options{})) }
func BenchmarkIndexing(b *testing.B) { storetest.Indexing(b, open(b, Options{})) }
