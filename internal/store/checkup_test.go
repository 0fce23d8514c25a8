package store_test

import (
	"context"
	"testing"
	"time"

	"cloudburst/internal/checkup"
	"cloudburst/internal/event"
	"cloudburst/internal/store"
	"cloudburst/internal/store/storetest"
)

type examiner interface {
	Checkup(ctx context.Context, now time.Time) (checkup.Database, error)
}

func TestCheckupReportsOverdueWorkInBothDatabases(t *testing.T) {
	t.Parallel()
	for engine, o := range map[string]store.Options{"SQLite": {Dir: t.TempDir()}, "PostgreSQL": {DatabaseURL: storetest.Postgres(t)}} {
		s := open(t, o)
		feed := "http://feeds.example/late.xml"
		if err := s.RecordPing(t.Context(), feed, moment, moment, []event.Event{{Node: 1, Seq: 1, At: moment, Kind: "ping"}, {Node: 1, Seq: 2, At: moment, Kind: "ping", OK: true}}); err != nil {
			t.Fatal(err)
		}
		d, err := s.(examiner).Checkup(t.Context(), moment.Add(30*time.Minute))
		if err != nil || d.Engine != engine || d.Schema != d.Newest || d.Schema == 0 || d.Took <= 0 || !d.LastEvent.Equal(moment) {
			t.Errorf("%+v %v", d, err)
		}
		// A test server may run without fsync, and reports that.
		reported := func(knob string) bool { return d.Knobs[knob] == "on" || d.Knobs[knob] == "off" }
		if engine == "PostgreSQL" && (!reported("fsync") || !reported("full_page_writes") || d.Knobs["synchronous_commit"] != "on" || d.Clock.Abs() > time.Minute) {
			t.Errorf("%+v", d)
		}
		if len(d.Hour) != 1 || d.Hour[0].N != 2 || d.Hour[0].Failed != 1 {
			t.Errorf("%s: the last hour: %+v", engine, d.Hour)
		}
		late := int64(0)
		for _, l := range d.Late {
			late += l.N
		}
		if late != 1 {
			t.Errorf("%s: late: %+v", engine, d.Late)
		}
		closeStore(t, s)
	}
}
