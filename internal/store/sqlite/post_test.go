package sqlite

import (
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"cloudburst/internal/fulltest"
	"cloudburst/internal/store/authortest"
)

func BenchmarkSavePostAmong100kPosts(b *testing.B) {
	authortest.SavesOf(b, open(b, Options{}), 100_000)
}

func BenchmarkRenumberPlacesOf100kPosts(b *testing.B) {
	authortest.RenumberingOf(b, open(b, Options{}), 100_000)
}

func TestSavingAPostIsFastWithManyPosts(t *testing.T) {
	t.Parallel()
	fulltest.SkipUnderRace(t)
	fulltest.Long(t)
	s := open(t, Options{})
	started := time.Now()
	authortest.FillPosts(t, s, "many", 100_000)
	t.Logf("added 100,000 posts in %v", time.Since(started))
	authortest.FillPosts(t, s, "few", 10)
	usual := authortest.SaveTimes(t, s, 41, "many", "few")
	if t.Logf("saving takes %v with 100,000 posts, and %v with ten", usual[0], usual[1]); usual[0] > 4*usual[1] {
		t.Errorf("saving takes %v with 100,000 posts, and %v with ten", usual[0], usual[1])
	}
}

// TestNoStatementScansAllPostsOfAWriter checks the plan of every statement of a simulated day of a
// writer.
func TestNoStatementScansAllPostsOfAWriter(t *testing.T) {
	t.Parallel()
	fulltest.SkipUnderRace(t)
	s := open(t, Options{})
	authortest.FillPosts(t, s, "alice", 3000)
	authortest.WriterDay(t, s, "alice")
	placeholders := regexp.MustCompile(`\$\d+`)
	ours := regexp.MustCompile(`\b(post|post_word|post_category|post_count|writer|media|media_piece|media_content)\b`)
	checked := 0
	for _, stmts := range []*statements{s.reader(), s.writer.stmts} {
		for text := range stmts.known {
			if !ours.MatchString(text) || strings.Contains(text, "INSERT INTO") {
				continue
			}
			translated, err := stmts.dialect.Text(text)
			if err != nil {
				t.Fatal(err)
			}
			names := placeholders.FindAllString(translated.SQL, -1)
			slices.Sort(names)
			rows, err := s.rdb.QueryContext(t.Context(), "EXPLAIN QUERY PLAN "+translated.SQL, make([]any, len(slices.Compact(names)))...)
			if err != nil {
				t.Fatalf("%v: %s", err, translated.SQL)
			}
			newest := strings.Contains(text, "SELECT * FROM (SELECT") // the statement sorts the result of a subquery
			for rows.Next() {
				var id, parent, unused int
				var detail string
				if err := rows.Scan(&id, &parent, &unused, &detail); err != nil {
					t.Fatal(err)
				}
				scan := strings.HasPrefix(detail, "SCAN") && detail != "SCAN n" && (detail != "SCAN p" || !newest) // a scan of a subquery's result is allowed
				if strings.Contains(detail, "INDEX post_everyone") || strings.Contains(detail, "INDEX post_due") || strings.Contains(detail, "INDEX post_unindexed") {
					scan = !strings.Contains(text, "LIMIT") // a scan in the requested order with a limit is allowed
				}
				if strings.Contains(detail, "COVERING INDEX writer_changed") { // the stamp of all users adds up one row per writer, and no posts
					scan = false
				}
				if scan || strings.Contains(detail, "TEMP B-TREE") && !newest {
					t.Errorf("%s\n\t%s", detail, translated.SQL)
				}
			}
			if err := rows.Err(); err != nil {
				t.Fatal(err)
			}
			checked++
		}
	}
	if checked < 50 {
		t.Errorf("only %d statements were checked", checked)
	}
}
