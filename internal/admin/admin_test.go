package admin_test

import (
	"context"
	"errors"
	"io/fs"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"cloudburst/internal/admin"
	"cloudburst/internal/fault"
)

// memory is an admin.Store in memory.
type memory struct {
	entries   []admin.Entry
	blocks    []admin.Block
	overrides []admin.Override
	broken    error // error that AddAudit returns
}

func (m *memory) AddAudit(_ context.Context, e admin.Entry) (int64, error) {
	if m.broken != nil {
		return 0, m.broken
	}
	e.ID += int64(len(m.entries))
	m.entries = append(m.entries, e)
	return e.ID, nil
}

func (m *memory) FailAudit(_ context.Context, id int64, reason string) error {
	for i := range m.entries {
		if m.entries[i].ID == id {
			m.entries[i].Failed = reason
		}
	}
	return nil
}

func (m *memory) Audit(context.Context, admin.AuditQuery) ([]admin.Entry, error) {
	return m.entries, nil
}

func (m *memory) SweepAudit(_ context.Context, before time.Time, limit int) (n int, err error) {
	m.entries = slices.DeleteFunc(m.entries, func(e admin.Entry) bool {
		old := n < limit && e.At().Before(before)
		if old {
			n++
		}
		return old
	})
	return n, nil
}

func (m *memory) PutBlock(_ context.Context, b admin.Block) error {
	m.blocks = append(m.blocks, b)
	return nil
}

func (m *memory) RemoveBlock(_ context.Context, kind, value string) (b admin.Block, err error) {
	i := slices.IndexFunc(m.blocks, func(b admin.Block) bool { return b.Kind == kind && b.Value == value })
	if i < 0 {
		return b, fault.New(fault.NotFound, "not blocked")
	}
	b = m.blocks[i]
	m.blocks = slices.Delete(m.blocks, i, i+1)
	return b, nil
}

func (m *memory) Blocks(context.Context) ([]admin.Block, error) { return slices.Clone(m.blocks), nil }

func (m *memory) PutOverride(_ context.Context, o admin.Override) error {
	m.overrides = append(m.overrides, o)
	return nil
}

func (m *memory) RemoveOverride(_ context.Context, name string) error {
	n := len(m.overrides)
	m.overrides = slices.DeleteFunc(m.overrides, func(o admin.Override) bool { return o.Name == name })
	if len(m.overrides) == n {
		return fault.New(fault.NotFound, "not changed")
	}
	return nil
}

func (m *memory) Overrides(context.Context) ([]admin.Override, error) { return m.overrides, nil }

var alice = admin.Actor{Name: "alice", Addr: netip.MustParseAddr("192.0.2.7"), Via: "page"}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func wantFault(t *testing.T, err error, code fault.Code) {
	t.Helper()
	if fault.CodeOf(err) != code {
		t.Fatalf("error %v, want a fault of code %v", err, code)
	}
}

func TestEveryAdminActionIsLoggedBeforeItIsPerformed(t *testing.T) {
	t.Parallel()
	m := &memory{}
	a := &admin.Admin{Store: m, Now: func() time.Time { return time.UnixMicro(1000) }}
	must(t, a.Do(t.Context(), alice, admin.UserDisable, "bob", "", func() error {
		if len(m.entries) != 1 {
			t.Error("the action is performed before it is recorded")
		}
		return nil
	}))
	err := a.Do(t.Context(), alice, admin.UserDelete, "bob", "", func() error { return fault.New(fault.Conflict, "No.") })
	wantFault(t, err, fault.Conflict)
	if e := m.entries[0]; e.Actor != "alice" || e.Address != "192.0.2.7" || e.Via != "page" || e.Failed != "" || !e.At().Equal(time.UnixMicro(1000)) {
		t.Errorf("entry: %+v", e)
	}
	if e := m.entries[1]; e.Failed != "No." {
		t.Errorf("entry of a failed action: %+v", e)
	}
	m.broken = errors.New("disk full")
	err = a.Do(t.Context(), alice, admin.UserDelete, "bob", "", func() error {
		t.Error("an action is performed that is not recorded")
		return nil
	})
	wantFault(t, err, fault.Unavailable)
}

func TestBlockedHostsAndNetworksAreParsed(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][2]string{
		"Example.ORG":                        {admin.BlockHost, "example.org"},
		" example.org. ":                     {admin.BlockHost, "example.org"},
		"*.example.org":                      {admin.BlockHost, "example.org"},
		"https://example.org/":               {admin.BlockHost, "example.org"},
		"bücher.example":                     {admin.BlockHost, "xn--bcher-kva.example"},
		"192.0.2.9":                          {admin.BlockNetwork, "192.0.2.9/32"},
		"192.0.2.9/24":                       {admin.BlockNetwork, "192.0.2.0/24"},
		"[2001:db8::1]":                      {admin.BlockNetwork, "2001:db8::1/128"},
		"http://192.0.2.9:8080":              {admin.BlockNetwork, "192.0.2.9/32"},
		"192.0.2.9:80":                       {admin.BlockNetwork, "192.0.2.9/32"},
		"[2001:db8::1]:80":                   {admin.BlockNetwork, "2001:db8::1/128"},
		"example.org:8080":                   {admin.BlockHost, "example.org"},
		"https://Example.org/feed.xml?a=b#c": {admin.BlockTopic, "https://example.org/feed.xml?a=b"},
		"HTTP://u@example.org.:80/./a//%62?": {admin.BlockTopic, "http://example.org/a//b"},
		"https://example.org/./":             {admin.BlockHost, "example.org"},
		"https://example.org/a/%2E%2e/":      {admin.BlockHost, "example.org"},
		"https://example.org/a%2fb;%3b[":     {admin.BlockTopic, "https://example.org/a%2Fb;%3B%5B"},
		"https://example.org/é%2fb/.":        {admin.BlockTopic, "https://example.org/%C3%A9%2Fb/"},
		"https://a.example/w/http://b.c/f":   {admin.BlockTopic, "https://a.example/w/http://b.c/f"},
	} {
		kind, value, err := admin.ParseBlock(text)
		if err != nil || kind != want[0] || value != want[1] {
			t.Errorf("%q is %s %q (%v), want %v", text, kind, value, err, want)
		}
	}
	for _, text := range []string{"", " ", "0.0.0.0/0", "ftp://example.org/x", "a b", "example.org/feed.xml", "https://", "user@example.org", "192.0.2.9:80/24"} {
		if kind, value, err := admin.ParseBlock(text); fault.CodeOf(err) != fault.Invalid {
			t.Errorf("%q is %s %q (%v), want an error", text, kind, value, err)
		}
	}
}

func TestNewBlockAppliesImmediately(t *testing.T) {
	t.Parallel()
	a := &admin.Admin{Store: &memory{}}
	if a.BlocksURL("https://example.org/") {
		t.Error("a host is blocked without a block")
	}
	for _, text := range []string{"example.org", "192.0.2.0/24", "https://example.com/feed.xml", "https://example.com/a%2Fb.xml"} {
		_, err := a.AddBlock(t.Context(), alice, text, "spam")
		must(t, err)
	}
	for raw, want := range map[string]bool{
		"https://example.org/feed":          true,
		"http://WWW.Example.org.:8080/feed": true,
		"https://notexample.org/":           false,
		"https://org/":                      false,
		"http://192.0.2.77/feed":            true,
		"http://192.0.3.1/feed":             false,
		"https://Example.com/feed.xml#top":  true,
		"https://example.com/other.xml":     false,
		"https://EXAMPLE.com.:443/feed.xml": true,
		"https://example.com//./feed.xml?":  true,
		"https://example.com/a/../feed.xml": true,
		"https://example.com/%66eed.xml":    true,
		"https://example.com/a%2fb.xml":     true,
		"https://example.com/a/b.xml":       false,
		"https://example.com/feed.xml/":     false,
		"https://example.com/feed.xml?a=b":  false,
		"https://example.com:8443/feed.xml": false,
		"%":                                 false,
	} {
		if a.BlocksURL(raw) != want {
			t.Errorf("%s is blocked: %v, want %v", raw, !want, want)
		}
	}
	if !a.BlocksAddr(netip.MustParseAddr("::ffff:192.0.2.1")) {
		t.Error("an IPv4-mapped address evades the block")
	}
	b, err := a.RemoveBlock(t.Context(), alice, admin.BlockHost, "example.org")
	must(t, err)
	if b.Reason != "spam" || a.BlocksURL("https://example.org/feed") {
		t.Errorf("after removing %+v the host is still blocked", b)
	}
	_, err = a.RemoveBlock(t.Context(), alice, admin.BlockHost, "example.org")
	wantFault(t, err, fault.NotFound)
}

// An earlier version stored other spellings, and an IP address with a port as a host.
func TestStoredBlockAppliesInAllSpellings(t *testing.T) {
	t.Parallel()
	m := &memory{blocks: []admin.Block{
		{Kind: admin.BlockHost, Value: "192.0.2.9"}, {Kind: admin.BlockTopic, Value: "http://example.com:80/feed.xml"},
		{Kind: admin.BlockTopic, Value: "http://example.com/a%2fb?%7e|"},
	}}
	a := &admin.Admin{Store: m}
	must(t, a.Load(t.Context()))
	for _, raw := range []string{"http://192.0.2.9/", "http://example.com/feed.xml", "http://example.com/a%2Fb?~%7c"} {
		if !a.BlocksURL(raw) {
			t.Errorf("%s is not blocked", raw)
		}
	}
	for _, text := range []string{"192.0.2.9", "http://example.com/feed.xml", "http://example.com/%61%2Fb?~%7C"} {
		kind, value, err := admin.ParseBlock(text)
		must(t, err)
		_, err = a.RemoveBlock(t.Context(), alice, kind, value)
		must(t, err)
	}
	if len(m.blocks) != 0 || len(a.Blocks()) != 0 {
		t.Errorf("%+v remain", m.blocks)
	}
}

func TestBlockIsRemovedAndReplacedInAllSpellings(t *testing.T) {
	t.Parallel()
	host, network := admin.Block{Kind: admin.BlockHost, Value: "127.0.0.1"}, admin.Block{Kind: admin.BlockNetwork, Value: "127.0.0.1/32"}
	topic, old := admin.Block{Kind: admin.BlockTopic, Value: "http://example.com/f"}, admin.Block{Kind: admin.BlockTopic, Value: "http://example.com:80/./f"}
	for _, c := range []struct {
		stored, removed admin.Block
		raw             string
	}{
		{host, network, "http://127.0.0.1/"},
		{old, topic, "http://example.com/f"},
		{topic, old, "http://example.com/f"},
	} {
		c.removed.Reason = "spam"
		m := &memory{blocks: []admin.Block{c.stored, c.removed, {Kind: admin.BlockHost, Value: "other.example"}}}
		a := &admin.Admin{Store: m}
		must(t, a.Load(t.Context()))
		_, err := a.RemoveBlock(t.Context(), alice, c.removed.Kind, c.removed.Value)
		must(t, err)
		if a.BlocksURL(c.raw) || len(m.blocks) != 1 {
			t.Errorf("after removing %s: %+v", c.removed.Value, m.blocks)
		}
		m.blocks = []admin.Block{c.stored}
		if c.stored == topic {
			continue
		}
		b, err := a.AddBlock(t.Context(), alice, c.raw, "new")
		must(t, err)
		if !a.BlocksURL(c.raw) || len(m.blocks) != 1 || m.blocks[0] != b {
			t.Errorf("after adding %s: %+v", c.raw, m.blocks)
		}
	}
}

// An earlier version stored the URL of a start page as a topic.
func TestStoredTopicBlocksNoHost(t *testing.T) {
	t.Parallel()
	a := &admin.Admin{Store: &memory{blocks: []admin.Block{{Kind: admin.BlockTopic, Value: "http://example.com/"}}}}
	must(t, a.Load(t.Context()))
	if !a.BlocksURL("http://example.com/./") || a.BlocksURL("http://example.com/feed.xml") {
		t.Error("the block of a start page does not apply, or applies to the host")
	}
}

func TestChangedSettingSurvivesARestart(t *testing.T) {
	t.Parallel()
	m := &memory{}
	const name = "accounts.registration"
	start := func() *admin.Admin {
		return &admin.Admin{Store: m, Settings: map[string]admin.Setting{"accounts.registration": {
			Configured: "closed",
			Check: func(v string) error {
				if v != "open" && v != "closed" {
					return fault.New(fault.Invalid, "no")
				}
				return nil
			},
		}}}
	}
	a := start()
	must(t, a.Load(t.Context()))
	if _, changed := a.Override(name); changed || a.Value(name) != "closed" {
		t.Errorf("without a change: %q in force", a.Value(name))
	}
	wantFault(t, a.SetSetting(t.Context(), alice, "accounts.registration", "ajar"), fault.Invalid)
	wantFault(t, a.SetSetting(t.Context(), alice, "listen", ":80"), fault.NotFound)
	must(t, a.SetSetting(t.Context(), alice, "accounts.registration", "open"))
	if a.Value(name) != "open" || m.entries[0].Detail != "closed → open" {
		t.Errorf("%q in force, recorded as %+v", a.Value(name), m.entries)
	}
	a = start()
	must(t, a.Load(t.Context()))
	if o, ok := a.Override("accounts.registration"); a.Value(name) != "open" || !ok || o.ChangedBy != "alice" {
		t.Errorf("after a restart: %q in force, %+v", a.Value(name), o)
	}
	must(t, a.ResetSetting(t.Context(), alice, "accounts.registration"))
	if a.Value(name) != "closed" {
		t.Errorf("after the reset: %q in force", a.Value(name))
	}
	wantFault(t, a.ResetSetting(t.Context(), alice, "accounts.registration"), fault.NotFound)
}

func TestBackupsAreCreatedListedAndDeleted(t *testing.T) {
	t.Parallel()
	folder := filepath.Join(t.TempDir(), "backups")
	now := time.Date(2026, 11, 28, 3, 0, 0, 0, time.UTC)
	a := &admin.Admin{Store: &memory{}, Now: func() time.Time { return now }, Backups: &admin.Backups{
		Folder: folder,
		Write:  func(_ context.Context, file string) error { return os.WriteFile(file, []byte("database"), 0o600) },
		Verify: func(context.Context, string) (string, error) { return "sum", nil },
	}}
	list, err := a.ListBackups()
	must(t, err)
	if len(list) != 0 {
		t.Errorf("before the first backup: %+v", list)
	}
	_, err = a.CreateBackup(t.Context(), alice)
	must(t, err)
	_, err = a.CreateBackup(t.Context(), alice)
	wantFault(t, err, fault.Conflict)
	now = now.Add(time.Hour)
	_, err = a.CreateBackup(t.Context(), alice)
	must(t, err)
	must(t, os.WriteFile(filepath.Join(folder, "other.db"), nil, 0o600))
	list, err = a.ListBackups()
	must(t, err)
	if len(list) != 2 || list[0].Name != "cloudburst-20261128T040000Z.db" || list[0].Size != 8 || !list[0].At.Equal(now) {
		t.Errorf("backups: %+v", list)
	}
	sum, err := a.VerifyBackup(t.Context(), alice, list[0].Name)
	must(t, err)
	if sum != "sum" {
		t.Errorf("sum %q", sum)
	}
	for _, name := range []string{"other.db", "../secret.key", "", "cloudburst-20261128T050000Z.db", "cloudburst-99999999T999999Z.db"} {
		wantFault(t, a.DeleteBackup(t.Context(), alice, name), fault.NotFound)
	}
	key := filepath.Join(folder, list[0].Name+".key")
	must(t, os.WriteFile(key, nil, 0o600))
	must(t, a.DeleteBackup(t.Context(), alice, list[0].Name))
	if _, err := os.Stat(key); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the key of the deleted backup: %v", err)
	}
	list, err = a.ListBackups()
	must(t, err)
	if len(list) != 1 {
		t.Errorf("after deleting one: %+v", list)
	}
}
