package checkup

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Level says how bad a finding is.
type Level string

// Levels: in order; good to know; it works and may not for long; something does not work
// or may be lost.
const (
	OK      Level = "ok"
	Note    Level = "note"
	Warning Level = "warning"
	Problem Level = "problem"
)

// Finding is one thing that was looked at. Its ID stays the same from version to version.
type Finding struct {
	ID             string
	Level          Level
	Text, Why, Fix string // what it is, why it matters, what to do; the last two "" when all is well
}

// Look turns facts into findings, in the order in which people read them.
func Check(w Installation) []Finding {
	var all []Finding
	for _, look := range []func(Installation) []Finding{public, settings, secrets, folder, disk, database, knobs, clock, files, work, events, backup, backupContent} {
		all = append(all, look(w)...)
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
			"Feeds and pages then name the host of listen, or localhost, which other machines may not reach.",
			"Set public-url to the address by which the world reaches the public listener, such as https://cloud.example.org.")
	}
	r := w.Reach
	all := reached(w)
	if r.Tried && r.Err == "" && strings.HasPrefix(w.PublicURL, "http://") {
		all = append(all, Finding{"public-tls", Note, w.PublicURL + " is reached without TLS.", "Passwords and tokens travel in the clear.",
			"Put a proxy with TLS in front, and name it in public-url as https://."})
	}
	if left := r.Expires.Sub(w.Now); !r.Expires.IsZero() {
		date := r.Expires.UTC().Format("2006-01-02")
		switch {
		case left <= 3*24*time.Hour:
			all = append(all, Finding{"certificate", Problem, "The certificate of " + w.PublicURL + " ends on " + date + ".", "Nobody trusts the server afterwards, and hubs and subscribers stop to talk to it.", "Renew it now, and find out why that did not happen by itself."})
		case left <= 14*24*time.Hour:
			all = append(all, Finding{"certificate", Warning, "The certificate of " + w.PublicURL + " ends on " + date + ".", "Renewal by itself should have happened by now.", "Look into the log of whatever renews it."})
		default:
			all = append(all, fine("certificate", "The certificate of %s is good until %s.", w.PublicURL, date)...)
		}
	}
	return all
}

func reached(w Installation) []Finding {
	r := w.Reach
	switch {
	case !r.Tried:
		return found("public-url", Note, "public-url is "+w.PublicURL+"; whether it leads here was not tried.", "Only a server that runs can be reached.", "Start it, and look again.")
	case r.Err != "":
		return found("public-url", Problem, "This server does not reach itself at "+w.PublicURL+": "+r.Err+".",
			"If others do not either, no subscriber can confirm and no hub can tell it anything. (Some routers only keep the machines behind them from using the public name.)",
			"Try the address from another network. Check the name, the proxy in front, and the firewall.")
	case !r.Self:
		return found("public-url", Note, w.PublicURL+" answers, and it was not this process.", "That is right when several machines share the address, and wrong when another program answers there.",
			"Compare with the other machines on the same database.")
	}
	return fine("public-url", "This server reaches itself at %s, in %s.", w.PublicURL, round(r.Took))
}

func settings(w Installation) []Finding {
	var all []Finding
	if w.AdminOpen {
		all = found("admin-listen", Warning, "admin.listen is "+w.AdminListen+", not a loopback address.", "Whoever can connect to it controls this server, without any password.",
			"Set it to 127.0.0.1:5338, or let nobody else through to it.")
	} else if w.AdminListen != "" {
		all = fine("admin-listen", "The operator's listener is on this machine only (%s).", w.AdminListen)
	}
	for _, text := range w.Settings {
		all = append(all, Finding{"setting", Note, text, "It is allowed, and may not be what was meant.", "Leave it when it was; \"cloudburst config\" shows where it is set."})
	}
	return all
}

func secrets(w Installation) []Finding {
	var all []Finding
	if w.KeyTrouble != "" {
		all = append(all, Finding{"secret-key-fits", Problem, w.KeyTrouble, "Readers of private feeds are refused, and logins for feeds cannot be used.",
			"Put back the key of that time: secret.key in the data folder, or accounts.secret-key."})
	}
	switch {
	case w.SecretKey != "" && weak(w.SecretKey):
		all = append(all, Finding{"secret-key", Problem, "accounts.secret-key is one that can be guessed.", "It protects the secrets of private feeds in each copy of the database.",
			"Make a new one, such as by openssl rand -base64 32. Readers of private feeds then need new secrets."})
	case w.SecretKey != "":
		all = append(all, fine("secret-key", "accounts.secret-key is set.")...)
	case w.KeyMode.Perm()&0o077 != 0:
		all = append(all, Finding{"secret-key", Warning, fmt.Sprintf("The key %s can be read by others (%s).", w.KeyFile, w.KeyMode.Perm()), "With it and a copy of the database the secrets of private feeds can be read.",
			"chmod 600 " + w.KeyFile})
	case w.Database.Engine == "PostgreSQL":
		all = append(all, Finding{"secret-key", Note, "The key of the secrets is in this machine's data folder, and accounts.secret-key is not set.", "Other machines on the same database need the same key.",
			"Copy " + w.KeyFile + " into their data folders, or set accounts.secret-key on all of them."})
	case w.KeyMode != 0:
		all = append(all, fine("secret-key", "The key of the secrets is %s, and only this user can read it.", w.KeyFile)...)
	}
	return all
}

// weak finds keys out of documents, and those that a keyboard or a child would make.
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
	if f.Err != "" {
		return found("data-folder", Problem, "The data folder "+f.Path+" cannot be written to: "+f.Err+".", "Nothing can be kept.", "Make it writable for the user of the server, or name another with --data.")
	}
	all := fine("data-folder", "The data folder %s can be written to.", f.Path)
	if f.Mode.Perm()&0o077 != 0 {
		all = found("data-folder", Warning, fmt.Sprintf("The data folder %s is open to others (%s).", f.Path, f.Mode.Perm()), "It holds what people wrote in private, and hashes of their passwords.", "chmod 700 "+f.Path)
	}
	switch {
	case f.Size == 0:
	case f.Free < f.Min:
		all = append(all, Finding{"data-space", Problem, "There are " + Bytes(f.Free) + " left on the disk of the data folder, and disk.min-free is " + Bytes(f.Min) + ".", "/readyz answers 503. When the disk is full, everything is refused until there is room again.", "Make room now."})
	case f.Free < 64<<20 || f.Free < f.Size/100:
		all = append(all, Finding{"data-space", Problem, "There are " + Bytes(f.Free) + " left on the disk of the data folder.", "When it is full, everything is refused until there is room again.", "Make room now."})
	case f.Free < 1<<30 && f.Free < f.Size/10:
		all = append(all, Finding{"data-space", Warning, "There are " + Bytes(f.Free) + " of " + Bytes(f.Size) + " left on the disk of the data folder.", "When it is full, everything is refused until there is room again.", "Make room, or keep less: see Retention in docs/operations.md."})
	default:
		all = append(all, fine("data-space", "There are %s left on the disk of the data folder.", Bytes(f.Free))...)
	}
	return all
}

func disk(w Installation) []Finding {
	var all []Finding
	f := w.Folder
	if f.Kind != "" && w.Database.Engine != "PostgreSQL" {
		all = found("data-kind", Problem, "The data folder is on a file system of the kind "+f.Kind+".", "SQLite needs locks and shared memory that such file systems do not keep: the database can be damaged.",
			"Put the data folder on a disk of this machine, or use PostgreSQL.")
	}
	switch {
	case f.Sync == 0:
	case f.Sync < 20*time.Microsecond:
		all = append(all, Finding{"data-sync", Warning, "A write to disk is acknowledged after " + round(f.Sync) + ", which no disk can do.", "What a positive answer said may be gone after a power cut: the file system is in memory, or something does not pass fsync on.",
			"Use a disk that keeps its word for the data folder."})
	case f.Sync > 100*time.Millisecond:
		all = append(all, Finding{"data-sync", Warning, "A write takes " + round(f.Sync) + " to be on disk.", "Every answer that promises something waits for the disk.", "Use a quicker disk, or find out what else keeps it busy."})
	default:
		all = append(all, fine("data-sync", "A write is on disk after %s.", round(f.Sync))...)
	}
	return all
}

func database(w Installation) []Finding {
	d := w.Database
	if d.Err != "" {
		return found("database", Problem, "The database cannot be used: "+strings.TrimSuffix(d.Err, ".")+".", "Nothing works without it.", "Do what the sentence says; the server goes on by itself as soon as the database is back.")
	}
	if d.Engine == "" {
		return nil
	}
	all := fine("database", "%s answers in %s.", d.Engine, round(d.Took))
	if d.Took > time.Second {
		all = found("database", Warning, d.Engine+" takes "+round(d.Took)+" for an answer.", "Everything waits for it.", "Look at the load of its machine, and at the way to it.")
	}
	if d.Schema != d.Newest {
		return append(all, Finding{"schema", Problem, fmt.Sprintf("The schema is %d, and this program works with %d.", d.Schema, d.Newest), "Another version of the program has changed the database meanwhile.", "Run the same version everywhere."})
	}
	return append(all, fine("schema", "The schema is %d, the one of this program.", d.Schema)...)
}

// knobs are the settings of PostgreSQL without which what was committed may be lost.
func knobs(w Installation) []Finding {
	why := map[string]string{
		"fsync":              "When its machine stops, the whole database may be damaged.",
		"full_page_writes":   "When its machine stops in the middle of a write, pages may be damaged.",
		"synchronous_commit": "What was committed in the last moments may be lost when its machine stops. (The program's own connections turn it on.)",
	}
	var all []Finding
	for _, name := range []string{"fsync", "full_page_writes", "synchronous_commit"} {
		value, ok := w.Database.Knobs[name]
		switch {
		case !ok:
		case value == "off" && name == "synchronous_commit":
			all = append(all, Finding{"pg-" + name, Note, "PostgreSQL has " + name + " = off.", why[name], "Leave it at on for this database."})
		case value == "off":
			all = append(all, Finding{"pg-" + name, Problem, "PostgreSQL has " + name + " = off.", why[name], "Set it to on in postgresql.conf, and reload."})
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
		all = found("clock-database", level, "The clock of the database's machine is "+round(d.Abs())+" "+way+" this one's.", "Machines that share a database take each other's claims for over, or for never over, when their clocks differ much.", fix)
	}
	if ahead := w.Database.LastEvent.Sub(w.Now); !w.Database.LastEvent.IsZero() && ahead > time.Minute {
		all = append(all, Finding{"clock-log", Warning, "The newest event of the log is " + round(ahead) + " in the future.", "The clock was set back, or another machine's is ahead: leases and renewals come late.", fix})
	}
	if w.ClockOff.Abs() > time.Minute {
		all = append(all, Finding{"clock-set", Warning, "The clock was set by " + round(w.ClockOff) + " while the server ran.", "It follows slowly, so that nothing runs out at once.", fix})
	}
	if all == nil && w.Database.Err == "" {
		return fine("clock", "The clock agrees with what the database knows.")
	}
	return all
}

func files(w Installation) []Finding {
	const fix = "Raise it: LimitNOFILE=65536 in the unit, or ulimit -n 65536 before the start."
	const why = "It bounds how many notifications are under way and how many may connect."
	switch {
	case w.OpenFiles == 0:
		return nil
	case w.OpenFiles < 1024:
		return found("open-files", Problem, fmt.Sprintf("This process may have %d files open.", w.OpenFiles), why, fix)
	case w.OpenFiles < 4096:
		return found("open-files", Warning, fmt.Sprintf("This process may have %d files open.", w.OpenFiles), why, fix)
	}
	return fine("open-files", "This process may have %d files open.", w.OpenFiles)
}

func work(w Installation) []Finding {
	d := w.Database
	if !w.Running || d.Engine == "" || d.Err != "" {
		return nil
	}
	var all []Finding
	if late := w.Now.Sub(d.SweepDue); !d.SweepDue.IsZero() && late > Patience {
		all = append(all, Finding{"sweep", Warning, "The hourly sweep is late by " + round(late) + ".", "What has run out stays, and nothing old is removed.", "Look into the server's log for what keeps it; \"cloudburst sweep\" runs it now."})
	} else {
		all = append(all, fine("sweep", "The hourly sweep is on time.")...)
	}
	for _, l := range d.Late {
		if l.N == 0 {
			continue
		}
		all = append(all, Finding{"late", Warning, fmt.Sprintf("Work is late: %s (%d, the oldest by %s).", l.What, l.N, round(w.Now.Sub(l.Oldest))), "There is more work than gets done, or something holds it up.",
			"Look at \"cloudburst status\" and the server's log; raise the limit of open files, or share the work with another machine."})
	}
	if len(all) == 1 {
		all = append(all, fine("late", "No work is late.")...)
	}
	return all
}

// A kind of event fails often when most of it does, and there is enough to tell.
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
			bad = append(bad, fmt.Sprintf("%d of %d of the kind %s", k.Failed, k.N, k.Name))
		}
	}
	if len(bad) == 0 {
		return fine("errors", "%d of %d events of the last hour were failures.", failed, total)
	}
	slices.Sort(bad)
	return found("errors", Warning, "Most events of some kinds failed in the last hour: "+strings.Join(bad, ", ")+".", "One feed or host in trouble is normal; most of them is not.", "Look at \"cloudburst log --since 1h\" for the reasons.")
}

func backup(w Installation) []Finding {
	const fix = "cloudburst backup --keep 14 FOLDER, once a day by a timer; and copy FOLDER to another machine."
	age := w.Now.Sub(w.Backup)
	switch {
	case w.Backup.IsZero():
		return found("backup", Note, "No backup by this program is known.", "Other ways to make one cannot be seen from here.", fix)
	case age > 7*24*time.Hour:
		return found("backup", Warning, "The last backup by this program is "+round(age)+" old.", "What was written since then is lost with the disk.", fix)
	}
	return fine("backup", "The last backup is %s old.", round(age))
}

// backupContent reports whether the last backup still has the content that was written.
func backupContent(w Installation) []Finding {
	const id = "backup-content"
	c := w.Copy
	switch {
	case c.File == "":
		return nil
	case c.Damaged:
		return found(id, Problem, c.Err, "It cannot be restored.", "Make another backup now, and look for the reason: the disk, or a program that changed the file.")
	case c.Err != "":
		return found(id, Note, "The last backup could not be verified: "+strings.TrimSuffix(c.Err, ".")+".", "Whether it still has the content that was written is not known.",
			"Where the backup is, \"cloudburst restore\" verifies it before it puts it back.")
	case c.SHA256 == "":
		return found(id, Note, "The last backup, "+c.File+", carries no SHA-256.", "Whether it still has the content that was written cannot be verified.", "Make a backup with this version.")
	}
	return fine(id, "The last backup, %s, has the content that was written.", c.File)
}

// Bytes prints a size for people.
func Bytes(n uint64) string {
	switch {
	case n >= 10<<30:
		return fmt.Sprintf("%d GiB", n>>30)
	case n >= 10<<20:
		return fmt.Sprintf("%d MiB", n>>20)
	}
	return fmt.Sprintf("%d KiB", n>>10)
}

// round shows a time with the digits that matter.
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
