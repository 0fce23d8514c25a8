package checkup

import (
	"strings"
	"testing"
	"time"
)

var now = time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)

// good returns an installation without problems.
func good() Installation {
	return Installation{
		Now: now, Running: true, PublicURL: "https://cloud.example", AdminListen: "127.0.0.1:5338",
		Reach:   Reach{Tried: true, Self: true, Took: 3 * time.Millisecond, Expires: now.Add(60 * 24 * time.Hour)},
		KeyFile: "/data/secret.key", KeyMode: 0o600,
		Folder:    Folder{Path: "/data", Mode: 0o700, Free: 50 << 30, Size: 100 << 30, Sync: time.Millisecond},
		Database:  Database{Engine: "SQLite", Schema: 11, Newest: 11, Took: time.Millisecond, SweepDue: now.Add(time.Minute), LastEvent: now, Hour: []Kind{{"ping", 100, 3}}},
		OpenFiles: 65536, Backup: now.Add(-time.Hour), Copy: Copy{File: "/backup/a.db", SHA256: strings.Repeat("0", 64)},
	}
}

func TestValidInstallationHasOnlyOKFindings(t *testing.T) {
	t.Parallel()
	for _, f := range Check(good()) {
		if f.Level != OK || f.Fix != "" || f.Text == "" {
			t.Errorf("%+v", f)
		}
	}
}

// trouble is one change to the installation that good returns, with the expected finding.
type trouble struct {
	change func(*Installation)
	id     string
	level  Level
	text   string
}

func troubles() map[string]trouble {
	return map[string]trouble{
		"no public-url":                 {func(w *Installation) { w.PublicURL = "" }, "public-url", Warning, "not set"},
		"not reached":                   {func(w *Installation) { w.Reach.Err = "refused" }, "public-url", Problem, "cannot reach itself"},
		"another process answers":       {func(w *Installation) { w.Reach.Self = false }, "public-url", Note, "not this process"},
		"no running server":             {func(w *Installation) { w.Reach = Reach{} }, "public-url", Note, "not tested"},
		"no TLS":                        {func(w *Installation) { w.PublicURL = "http://cloud.example" }, "public-tls", Note, "without TLS"},
		"certificate ends soon":         {func(w *Installation) { w.Reach.Expires = now.Add(10 * 24 * time.Hour) }, "certificate", Warning, "2026-12-02"},
		"certificate ends":              {func(w *Installation) { w.Reach.Expires = now.Add(time.Hour) }, "certificate", Problem, "2026-11-22"},
		"open operator listener":        {func(w *Installation) { w.AdminListen, w.AdminOpen = ":5338", true }, "admin-listen", Warning, ":5338"},
		"a setting":                     {func(w *Installation) { w.Settings = []string{"egress.allow-fetch is wide."} }, "setting", Note, "egress"},
		"a wrong key":                   {func(w *Installation) { w.KeyTrouble = "The key is another." }, "secret-key-fits", Problem, "another"},
		"a default key":                 {func(w *Installation) { w.SecretKey = "changeme-changeme" }, "secret-key", Problem, "guessed"},
		"a monotonous key":              {func(w *Installation) { w.SecretKey = strings.Repeat("ab", 20) }, "secret-key", Problem, "guessed"},
		"a world-readable key":          {func(w *Installation) { w.KeyMode = 0o644 }, "secret-key", Warning, "-rw-r--r--"},
		"a key of one machine":          {func(w *Installation) { w.Database.Engine = "PostgreSQL" }, "secret-key", Note, "this machine's"},
		"an unusable bucket":            {func(w *Installation) { w.Bucket, w.BucketErr = "https://s3.example/b", "it answers 403" }, "bucket", Problem, "https://s3.example/b is not usable: it answers 403."},
		"a folder read only":            {func(w *Installation) { w.Folder.Err = "read-only file system" }, "data-folder", Problem, "read-only"},
		"a world-readable folder":       {func(w *Installation) { w.Folder.Mode = 0o755 }, "data-folder", Warning, "Other users can access"},
		"little space":                  {func(w *Installation) { w.Folder.Free = 900 << 20 }, "data-space", Problem, "900 MiB"},
		"too little to be ready":        {func(w *Installation) { w.Folder.Free, w.Folder.Min = 2<<30, 3<<30 }, "data-space", Problem, "disk.min-free is 3 GiB"},
		"low space":                     {func(w *Installation) { w.Folder.Free, w.Folder.Size = 900<<20, 20<<30 }, "data-space", Warning, "900 MiB"},
		"a damaged backup":              {func(w *Installation) { w.Copy = Copy{File: "/a.db", Damaged: true, Err: "/a.db is damaged."} }, "backup-content", Problem, "damaged"},
		"a backup that is gone":         {func(w *Installation) { w.Copy = Copy{File: "/a.db", Err: "/a.db cannot be read."} }, "backup-content", Note, "cannot be read"},
		"an unverified backup":          {func(w *Installation) { w.Copy.SHA256 = "" }, "backup-content", Note, "/backup/a.db"},
		"NFS":                           {func(w *Installation) { w.Folder.Kind = "nfs" }, "data-kind", Problem, "nfs"},
		"a disk without fsync":          {func(w *Installation) { w.Folder.Sync = time.Microsecond }, "data-sync", Warning, "no disk can do"},
		"a slow disk":                   {func(w *Installation) { w.Folder.Sync = time.Second }, "data-sync", Warning, "takes 1s"},
		"no database":                   {func(w *Installation) { w.Database.Err = "It is away." }, "database", Problem, "It is away."},
		"a slow database":               {func(w *Installation) { w.Database.Took = 2 * time.Second }, "database", Warning, "takes 2s"},
		"another schema":                {func(w *Installation) { w.Database.Schema = 12 }, "schema", Problem, "schema is 12"},
		"fsync":                         {func(w *Installation) { w.Database.Knobs = map[string]string{"fsync": "off"} }, "pg-fsync", Problem, "fsync = off"},
		"full pages":                    {func(w *Installation) { w.Database.Knobs = map[string]string{"full_page_writes": "off"} }, "pg-full_page_writes", Problem, "= off"},
		"commits":                       {func(w *Installation) { w.Database.Knobs = map[string]string{"synchronous_commit": "off"} }, "pg-synchronous_commit", Note, "= off"},
		"clocks":                        {func(w *Installation) { w.Database.Clock = -5 * time.Second }, "clock-database", Warning, "5s behind"},
		"clocks that differ by an hour": {func(w *Installation) { w.Database.Clock = time.Hour }, "clock-database", Problem, "ahead"},
		"an event in the future":        {func(w *Installation) { w.Database.LastEvent = now.Add(time.Hour) }, "clock-log", Warning, "in the future"},
		"a clock that was set":          {func(w *Installation) { w.ClockOff = time.Hour }, "clock-set", Warning, "was set"},
		"few files":                     {func(w *Installation) { w.OpenFiles = 2048 }, "open-files", Warning, "2048"},
		"very few files":                {func(w *Installation) { w.OpenFiles = 256 }, "open-files", Problem, "256"},
		"a late sweep":                  {func(w *Installation) { w.Database.SweepDue = now.Add(-time.Hour) }, "sweep", Warning, "late by 1h"},
		"late work":                     {func(w *Installation) { w.Database.Late = []Late{{"feeds to read", 7, now.Add(-time.Hour)}} }, "late", Warning, "feeds to read (7, the oldest by 1h"},
		"errors":                        {func(w *Installation) { w.Database.Hour = []Kind{{"notify", 50, 40}} }, "errors", Warning, "40 of 50 of kind notify"},
		"no backup":                     {func(w *Installation) { w.Backup = time.Time{} }, "backup", Note, "No backup"},
		"an old backup":                 {func(w *Installation) { w.Backup = now.Add(-30 * 24 * time.Hour) }, "backup", Warning, "30 days"},
	}
}

func TestEachInstallationProblemIsReported(t *testing.T) {
	t.Parallel()
	for name, tt := range troubles() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := good()
			tt.change(&w)
			seen := false
			for _, f := range Check(w) {
				if f.ID != tt.id || f.Level != tt.level {
					continue
				}
				seen = true
				if !strings.Contains(f.Text, tt.text) || f.Why == "" || f.Fix == "" {
					t.Errorf("%+v", f)
				}
			}
			if !seen {
				t.Errorf("no finding %s of the level %s in %+v", tt.id, tt.level, Check(w))
			}
		})
	}
}

func TestOverdueWorkIsReportedOnlyWhileTheServerRuns(t *testing.T) {
	t.Parallel()
	w := good()
	w.Running, w.Database.SweepDue, w.Database.Late = false, now.Add(-time.Hour), []Late{{"feeds to read", 7, now.Add(-time.Hour)}}
	for _, f := range Check(w) {
		if f.ID == "sweep" || f.ID == "late" {
			t.Errorf("%+v", f)
		}
	}
}

func TestStrongKeysCauseNoFinding(t *testing.T) {
	t.Parallel()
	for _, key := range []string{"kq0mS8Vd2hYt1xZr", "correct horse battery staple", "3f0c9a1b7e5d2486"} {
		if weak(key) {
			t.Errorf("%q", key)
		}
	}
}
