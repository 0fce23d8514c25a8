package checkup

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"cloudburst/internal/text"
)

// Level is the severity of a finding.
type Level string

// Levels of findings. OK: no problem. Note: useful to know. Warning: works now but may fail soon.
// Problem: broken, or data may be lost.
const (
	OK      Level = "ok"
	Note    Level = "note"
	Warning Level = "warning"
	Problem Level = "problem"
)

// Finding is the result of one check. Its ID is stable across versions.
type Finding struct {
	ID             string
	Level          Level
	Text, Why, Fix string // the state, its consequence and the remedy; Why and Fix are "" at level OK
}

// Check evaluates the facts in w and returns the findings in the order of presentation.
func Check(w Installation) []Finding {
	var all []Finding
	for _, check := range []func(Installation) []Finding{public, settings, secrets, folder, disk, bucket, database, databaseSettings, clock, files, work, events, backup, backupContent} {
		all = append(all, check(w)...)
	}
	return all
}

func fine(id, format string, args ...any) []Finding {
	return []Finding{{ID: id, Level: OK, Text: fmt.Sprintf(format, args...)}}
}

func found(id string, level Level, text, why, fix string) []Finding {
	return []Finding{{id, level, text, why, fix}}
}

func public(w Installation) []Finding {
	if w.PublicURL == "" {
		return found("public-url", Warning, "public-url is not set.",
			"Feeds and pages then contain the host of listen, or localhost, which other machines may not reach.",
			"Set public-url to the URL under which the public listener is reachable, such as https://cloud.example.org.")
	}
	r := w.Reach
	all := reached(w)
	if r.Tried && r.Err == "" && strings.HasPrefix(w.PublicURL, "http://") {
		all = append(all, Finding{"public-tls", Note, fmt.Sprintf("%s is reached without TLS.", w.PublicURL), "Passwords and tokens are sent unencrypted.",
			"Put a proxy with TLS in front and set public-url to its https:// URL."})
	}
	if left := r.Expires.Sub(w.Now); !r.Expires.IsZero() {
		date := r.Expires.UTC().Format("2006-01-02")
		switch {
		case left <= 3*24*time.Hour:
			all = append(all, Finding{"certificate", Problem, fmt.Sprintf("The certificate of %s expires on %s.", w.PublicURL, date), "After that date browsers, hubs and subscribers reject the server.", "Renew it now, and find out why automatic renewal failed."})
		case left <= 14*24*time.Hour:
			all = append(all, Finding{"certificate", Warning, fmt.Sprintf("The certificate of %s expires on %s.", w.PublicURL, date), "Automatic renewal should have replaced it by now.", "Check the log of the program that renews it."})
		default:
			all = append(all, fine("certificate", "The certificate of %s is valid until %s.", w.PublicURL, date)...)
		}
	}
	return all
}

func reached(w Installation) []Finding {
	r := w.Reach
	switch {
	case !r.Tried:
		return found("public-url", Note, fmt.Sprintf("public-url is %s; whether it leads to this server was not tested.", w.PublicURL), "Only a running server can be reached.", "Start the server and run the check again.")
	case r.Err != "":
		return found("public-url", Problem, fmt.Sprintf("This server cannot reach itself at %s: %s.", w.PublicURL, r.Err),
			"If other machines cannot reach it either, subscriptions fail and hubs cannot notify it. (Some routers only block the public name for machines behind them.)",
			"Try the URL from another network. Check DNS, the proxy in front, and the firewall.")
	case !r.Self:
		return found("public-url", Note, fmt.Sprintf("%s was answered by a process that is not this process.", w.PublicURL), "This is correct if several machines share the URL, and wrong if another program answers there.",
			"Compare the setting with the other machines on the same database.")
	}
	return fine("public-url", "This server reaches itself at %s in %s.", w.PublicURL, round(r.Took))
}

func settings(w Installation) []Finding {
	var all []Finding
	if w.AdminOpen {
		all = found("admin-listen", Warning, fmt.Sprintf("admin.listen is %s, not a loopback address.", w.AdminListen), "Every client that can connect to it controls this server without a password.",
			"Set it to 127.0.0.1:5338, or block access from other machines.")
	} else if w.AdminListen != "" {
		all = fine("admin-listen", "The operator's listener is reachable only from this machine (%s).", w.AdminListen)
	}
	for _, text := range w.Settings {
		all = append(all, Finding{"setting", Note, text, "The setting is valid but may be a mistake.", "Change it unless it is intended; \"cloudburst config\" shows where it is set."})
	}
	return all
}

func secrets(w Installation) []Finding {
	var all []Finding
	if w.KeyTrouble != "" {
		all = append(all, Finding{"secret-key-fits", Problem, w.KeyTrouble, "Access to private feeds is refused, and stored logins for feeds are unusable.",
			"Restore the previous key: secret.key in the data folder, or accounts.secret-key."})
	}
	switch {
	case w.SecretKey != "" && weak(w.SecretKey):
		all = append(all, Finding{"secret-key", Problem, "accounts.secret-key can be guessed.", "It protects the secrets of private feeds in every copy of the database.",
			"Create a new key, for example with openssl rand -base64 32. Private feeds then need new secrets."})
	case w.SecretKey != "":
		all = append(all, fine("secret-key", "accounts.secret-key is set.")...)
	case w.KeyMode.Perm()&0o077 != 0:
		all = append(all, Finding{"secret-key", Warning, fmt.Sprintf("Other users can read the key %s (%s).", w.KeyFile, w.KeyMode.Perm()), "With the key and a copy of the database, the secrets of private feeds can be decrypted.",
			fmt.Sprintf("chmod 600 %s", w.KeyFile)})
	case w.Database.Engine == "PostgreSQL" && w.KeyMode != 0:
		all = append(all, Finding{"secret-key", Note, "accounts.secret-key is not set; the key of the secrets is in this machine's data folder.", "All machines on the same database need the same key.",
			fmt.Sprintf("Copy %s to their data folders, or set accounts.secret-key on all machines.", w.KeyFile)})
	case w.KeyMode != 0:
		all = append(all, fine("secret-key", "The key of the secrets is %s; only this user can read it.", w.KeyFile)...)
	}
	return all
}

// weak reports whether a key is a placeholder from documentation or easy to guess.
func weak(key string) bool {
	low := strings.ToLower(key)
	for _, word := range []string{"changeme", "change-me", "change me", "secret", "password", "example", "default", "cloudburst", "0123456789", "1234567890", "qwerty"} {
		if strings.Contains(low, word) && len(key) < len(word)+12 {
			return true
		}
	}
	different := map[rune]bool{}
	for _, r := range key {
		different[r] = true
	}
	return len(different) < 8
}

func folder(w Installation) []Finding {
	f := w.Folder
	if f.Path == "" {
		return nil
	}
	if f.Err != "" {
		return found("data-folder", Problem, fmt.Sprintf("The data folder %s is not writable: %s.", f.Path, f.Err), "The server cannot store any data.", "Make it writable for the server's user, or choose another folder with --data.")
	}
	all := fine("data-folder", "The data folder %s is writable.", f.Path)
	if f.Mode.Perm()&0o077 != 0 {
		all = found("data-folder", Warning, fmt.Sprintf("Other users can access the data folder %s (%s).", f.Path, f.Mode.Perm()), "It contains private posts and password hashes.", fmt.Sprintf("chmod 700 %s", f.Path))
	}
	switch {
	case f.Size == 0:
	case f.Free < f.Min:
		all = append(all, Finding{"data-space", Problem, fmt.Sprintf("Only %s are free on the disk of the data folder, and disk.min-free is %s.", Bytes(f.Free), Bytes(f.Min)), "/readyz answers 503. When the disk is full, the server rejects all writes until space is free.", "Free disk space now."})
	case f.Free < 64<<20 || f.Free < f.Size/100:
		all = append(all, Finding{"data-space", Problem, fmt.Sprintf("Only %s are free on the disk of the data folder.", Bytes(f.Free)), "When the disk is full, the server rejects all writes until space is free.", "Free disk space now."})
	case f.Free < 1<<30 && f.Free < f.Size/10:
		all = append(all, Finding{"data-space", Warning, fmt.Sprintf("Only %s of %s are free on the disk of the data folder.", Bytes(f.Free), Bytes(f.Size)), "When the disk is full, the server rejects all writes until space is free.", "Free disk space, or shorten the retention: see Retention in docs/guides/operations.md."})
	default:
		all = append(all, fine("data-space", "%s are free on the disk of the data folder.", Bytes(f.Free))...)
	}
	return all
}

func disk(w Installation) []Finding {
	var all []Finding
	f := w.Folder
	if f.Kind != "" && w.Database.Engine != "PostgreSQL" {
		all = found("data-kind", Problem, fmt.Sprintf("The data folder is on a file system of type %s.", f.Kind), "SQLite needs file locks and shared memory, which this type does not provide reliably: the database can be damaged.",
			"Move the data folder to a local disk, or use PostgreSQL.")
	}
	switch {
	case f.Sync == 0:
	case f.Sync < 20*time.Microsecond:
		all = append(all, Finding{"data-sync", Warning, fmt.Sprintf("A synced write is acknowledged after %s, which no disk can do.", round(f.Sync)), "Acknowledged data may be lost after a power failure: the file system is in memory, or a layer ignores fsync.",
			"Put the data folder on a disk that honors fsync."})
	case f.Sync > 100*time.Millisecond:
		all = append(all, Finding{"data-sync", Warning, fmt.Sprintf("A synced write takes %s.", round(f.Sync)), "Every acknowledged request waits for the disk.", "Use a faster disk, or find out which other load it has."})
	default:
		all = append(all, fine("data-sync", "A synced write takes %s.", round(f.Sync))...)
	}
	return all
}

func bucket(w Installation) []Finding {
	switch {
	case w.Bucket == "":
		return nil
	case w.BucketErr != "":
		return found("bucket", Problem, fmt.Sprintf("The bucket %s is not usable: %s.", w.Bucket, w.BucketErr), "Uploads fail, and files in the bucket cannot be read.", "Check media.bucket, its access key, and the permissions of the key.")
	}
	return fine("bucket", "The bucket %s stores, returns and deletes files.", w.Bucket)
}

func database(w Installation) []Finding {
	d := w.Database
	if d.Err != "" {
		return found("database", Problem, fmt.Sprintf("The database cannot be used: %s.", strings.TrimSuffix(d.Err, ".")), "The server does not work without its database.", "Fix the stated error. The server resumes automatically when the database is available.")
	}
	if d.Engine == "" {
		return nil
	}
	all := fine("database", "%s answers in %s.", d.Engine, round(d.Took))
	if d.Took > time.Second {
		all = found("database", Warning, fmt.Sprintf("%s takes %s to answer.", d.Engine, round(d.Took)), "Every request waits for the database.", "Check the load of the database server and the network to it.")
	}
	if d.Schema != d.Newest {
		return append(all, Finding{"schema", Problem, fmt.Sprintf("The database schema is %d, but this program needs %d.", d.Schema, d.Newest), "Another version of the program has migrated the database.", "Run the same version on all machines."})
	}
	return append(all, fine("schema", "The database schema is %d, as this program needs.", d.Schema)...)
}

// databaseSettings checks the PostgreSQL settings that prevent loss of committed data.
func databaseSettings(w Installation) []Finding {
	why := map[string]string{
		"fsync":              "If the database server crashes, the whole database may be damaged.",
		"full_page_writes":   "If the database server crashes during a write, pages may be damaged.",
		"synchronous_commit": "If the database server crashes, the last commits may be lost. (The program's own connections turn it on.)",
	}
	var all []Finding
	for _, name := range []string{"fsync", "full_page_writes", "synchronous_commit"} {
		value, ok := w.Database.Knobs[name]
		switch {
		case !ok:
		case value == "off" && name == "synchronous_commit":
			all = append(all, Finding{"pg-" + name, Note, fmt.Sprintf("PostgreSQL has %s = off.", name), why[name], "Set it to on for this database."})
		case value == "off":
			all = append(all, Finding{"pg-" + name, Problem, fmt.Sprintf("PostgreSQL has %s = off.", name), why[name], "Set it to on in postgresql.conf and reload PostgreSQL."})
		default:
			all = append(all, fine("pg-"+name, "PostgreSQL has %s = %s.", name, value)...)
		}
	}
	return all
}

func clock(w Installation) []Finding {
	const fix = "Let a time service (chrony, systemd-timesyncd) set the clock."
	var all []Finding
	if d := w.Database.Clock; d.Abs() > 2*time.Second {
		level := Warning
		if d.Abs() > time.Minute {
			level = Problem
		}
		way := "ahead of"
		if d < 0 {
			way = "behind"
		}
		all = found("clock-database", level, fmt.Sprintf("The clock of the database server is %s %s the clock of this machine.", round(d.Abs()), way), "If clocks differ much, machines on one database see each other's leases expire too early or too late.", fix)
	}
	if ahead := w.Database.LastEvent.Sub(w.Now); !w.Database.LastEvent.IsZero() && ahead > time.Minute {
		all = append(all, Finding{"clock-log", Warning, fmt.Sprintf("The newest event in the log is %s in the future.", round(ahead)), "The clock was set back, or the clock of another machine is ahead: leases and renewals are late.", fix})
	}
	if w.ClockOff.Abs() > time.Minute {
		all = append(all, Finding{"clock-set", Warning, fmt.Sprintf("The clock was set by %s while the server ran.", round(w.ClockOff)), "The server adjusts slowly, so that leases do not expire all at once.", fix})
	}
	if all == nil && w.Database.Err == "" {
		return fine("clock", "The clock agrees with the database.")
	}
	return all
}

func files(w Installation) []Finding {
	const fix = "Raise the limit: LimitNOFILE=65536 in the systemd unit, or ulimit -n 65536 before the start."
	const why = "The limit bounds concurrent notifications and incoming connections."
	switch {
	case w.OpenFiles == 0:
		return nil
	case w.OpenFiles < 1024:
		return found("open-files", Problem, fmt.Sprintf("This process may open %d files.", w.OpenFiles), why, fix)
	case w.OpenFiles < 4096:
		return found("open-files", Warning, fmt.Sprintf("This process may open %d files.", w.OpenFiles), why, fix)
	}
	return fine("open-files", "This process may open %d files.", w.OpenFiles)
}

func work(w Installation) []Finding {
	d := w.Database
	if !w.Running || d.Engine == "" || d.Err != "" {
		return nil
	}
	var all []Finding
	if late := w.Now.Sub(d.SweepDue); !d.SweepDue.IsZero() && late > LateAfter {
		all = append(all, Finding{"sweep", Warning, fmt.Sprintf("The hourly sweep is late by %s.", round(late)), "Expired subscriptions and old data are not removed.", "Check the server's log for the cause; \"cloudburst sweep\" runs the sweep now."})
	} else {
		all = append(all, fine("sweep", "The hourly sweep is on time.")...)
	}
	for _, l := range d.Late {
		if l.N == 0 {
			continue
		}
		all = append(all, Finding{"late", Warning, fmt.Sprintf("Work is late: %s (%d, the oldest by %s).", l.What, l.N, round(w.Now.Sub(l.Oldest))), "The server cannot keep up, or an error blocks the work.",
			"Check \"cloudburst status\" and the server's log. Raise the limit of open files, or add another machine."})
	}
	if len(all) == 1 {
		all = append(all, fine("late", "No work is late.")...)
	}
	return all
}

// oftenAtLeast is the minimum number of failures in an hour before a kind of event is reported.
const oftenAtLeast = 20

func events(w Installation) []Finding {
	if w.Database.Engine == "" || w.Database.Err != "" {
		return nil
	}
	var total, failed int64
	var bad []string
	for _, k := range w.Database.Hour {
		total, failed = total+k.N, failed+k.Failed
		if k.Failed >= oftenAtLeast && k.Failed*2 > k.N {
			bad = append(bad, fmt.Sprintf("%d of %d of kind %s", k.Failed, k.N, k.Name))
		}
	}
	if len(bad) == 0 {
		return fine("errors", "%d of %d events in the last hour were failures.", failed, total)
	}
	slices.Sort(bad)
	return found("errors", Warning, fmt.Sprintf("Most events of these kinds failed in the last hour: %s.", strings.Join(bad, ", ")), "Single failing feeds or hosts are normal, but a majority is not.", "Run \"cloudburst log --since 1h\" for the reasons.")
}

func backup(w Installation) []Finding {
	const fix = "Run \"cloudburst backup --keep 14 FOLDER\" once a day by a timer, and copy FOLDER to another machine."
	age := w.Now.Sub(w.Backup)
	switch {
	case w.Backup.IsZero():
		return found("backup", Note, "No backup by this program is recorded.", "This check cannot see backups made in other ways.", fix)
	case age > 7*24*time.Hour:
		return found("backup", Warning, fmt.Sprintf("The last backup by this program is %s old.", round(age)), "If the disk fails, all later data is lost.", fix)
	}
	return fine("backup", "The last backup is %s old.", round(age))
}

// backupContent checks that the last backup is unchanged since it was written.
func backupContent(w Installation) []Finding {
	const id = "backup-content"
	c := w.Copy
	switch {
	case c.File == "":
		return nil
	case c.Damaged:
		return found(id, Problem, c.Err, "The backup cannot be restored.", "Create another backup now, and find the cause: the disk, or a program that changed the file.")
	case c.Err != "":
		return found(id, Note, fmt.Sprintf("The last backup could not be verified: %s.", strings.TrimSuffix(c.Err, ".")), "It is unknown whether the backup is intact.",
			"On the machine with the backup, \"cloudburst restore\" verifies it before restoring.")
	case c.SHA256 == "":
		return found(id, Note, fmt.Sprintf("The last backup, %s, has no SHA-256.", c.File), "It cannot be verified whether the backup is intact.", "Create a backup with this version.")
	}
	return fine(id, "The last backup, %s, is intact.", c.File)
}

// Bytes formats a size in the largest unit that fits it.
func Bytes(n uint64) string { return text.SizeWords(int64(min(n, math.MaxInt64))) }

// round formats a duration without insignificant digits.
func round(d time.Duration) string {
	switch {
	case d >= 48*time.Hour:
		return fmt.Sprintf("%d days", int(d.Hours())/24)
	case d >= time.Minute:
		return d.Round(time.Second).String()
	case d >= time.Second:
		return d.Round(100 * time.Millisecond).String()
	case d >= time.Millisecond:
		return d.Round(100 * time.Microsecond).String()
	}
	return d.Round(time.Microsecond).String()
}
