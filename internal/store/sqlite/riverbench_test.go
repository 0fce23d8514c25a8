package sqlite

import (
	"testing"

	"cloudburst/internal/store/rivertest"
)

func BenchmarkUnchangedChecks(b *testing.B) {
	rivertest.UnchangedChecks(b, open(b, Options{}), 5000, 64)
}

func BenchmarkFirstChecks(b *testing.B) { rivertest.FirstReadings(b, open(b, Options{}), 64) }

func BenchmarkClaimsOfAMillionFeeds(b *testing.B) {
	rivertest.ClaimsOf(b, open(b, Options{}), 1_000_000)
}

func BenchmarkReadRivers(b *testing.B) { rivertest.Rivers(b, open(b, Options{})) }
func BenchmarkIndexItems(b *testing.B) { rivertest.Indexing(b, open(b, Options{})) }

func BenchmarkCountFollowers(b *testing.B) { rivertest.Followers(b, open(b, Options{}), 10_000) }
