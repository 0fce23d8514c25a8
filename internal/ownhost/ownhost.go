// Package ownhost serves the page of an author at the author's own host name, such as
// blog.example.org. A name is in use after this server has read the author's token at a URL of the
// name. Start with [Hosts].
package ownhost

import (
	"cmp"
	"context"
	"crypto/rand"
	"maps"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"cloudburst/internal/fault"
	"cloudburst/internal/href"
	"cloudburst/internal/limit"
)

// ProofPath is the path at which this server responds with the tokens of the host name of a
// request, one per line.
const ProofPath = "/.well-known/cloudburst-domain"

// Host is the host name of an author. An author has at most one.
type Host struct {
	User       string
	Name       string // lowercase ASCII, without port: "blog.example.org"
	Token      string // token that a request to the name must return
	CreatedAt  time.Time
	VerifiedAt time.Time // time of the verification; zero: the name is not in use
}

// Past is a former host name of a user. Until the time Until, this server continues to notify
// subscribers of feeds at the name, so that no subscription stops when the author removes the name.
type Past struct {
	Name, User string
	Until      time.Time
}

// Certificate is the state of the certificate for a host name.
type Certificate struct {
	Served bool      // this server terminates TLS
	Until  time.Time // end of the certificate; zero: there is no certificate yet
	Error  string    // reason for a missing certificate, as a sentence; "": unknown or no error
}

// InUse reports whether the server serves the author's page at the name.
func (h Host) InUse() bool { return !h.VerifiedAt.IsZero() }

// Store is the database interface. Each method is one transaction.
type Store interface {
	// AuthorHosts lists all host names, sorted by name.
	AuthorHosts(ctx context.Context) ([]Host, error)
	// PastAuthorHosts lists the past names of users, sorted by name.
	PastAuthorHosts(ctx context.Context) ([]Past, error)
	// PutAuthorHost stores the host name of a user and replaces the previous name. A previous name
	// that was in use becomes a past name until the time until. fault.Conflict: another user has
	// the name in use.
	PutAuthorHost(ctx context.Context, h Host, until time.Time) error
	// VerifyAuthorHost puts a host name into use and deletes it from the past names.
	// fault.Conflict: another user has the name in use. fault.NotFound: the user does not have the
	// name with this token.
	VerifyAuthorHost(ctx context.Context, h Host) error
	// DeleteAuthorHost deletes the host name of a user. A name that was in use becomes a past name
	// until the time until. fault.NotFound: the user has no host name.
	DeleteAuthorHost(ctx context.Context, user string, until time.Time) error
	// ForgetAuthorHosts deletes the host name and the past names of a user.
	ForgetAuthorHosts(ctx context.Context, user string) error
	// TidyAuthorHosts deletes the past names that have ended.
	TidyAuthorHosts(ctx context.Context, now time.Time) error
}

// Hosts manages the host names of authors. Store, Public and Read are required. Call Load before the
// other methods.
type Hosts struct {
	Store  Store
	Public func() string                                         // public URL of this server
	Own    func(name string) bool                                // reports whether name is another name of this server; nil: there are none
	Read   func(ctx context.Context, url string) ([]byte, error) // reads a short text over HTTP
	// Covers returns an error if visitors could not reach a name, for example without a certificate;
	// nil: no check.
	Covers func(name string) error
	// CertificateOf returns the state of the certificate for a name; nil: this server has no
	// certificates. Obtain requests a certificate; nil: this server cannot request certificates.
	CertificateOf func(ctx context.Context, name string) Certificate
	Obtain        func(ctx context.Context, name string)
	// Changed is called after the host name in use of a user has changed; nil: not called.
	Changed func(ctx context.Context, user string)
	// Loaded is called when Load has found other names in use than before; nil: not called.
	Loaded func()
	Now    func() time.Time
	// Keep is the time for which subscribers of feeds at a name are notified after the name was
	// removed; see [Past].
	Keep time.Duration

	table atomic.Pointer[table]
	once  sync.Once
	pace  *limit.Limiter // limits verifications; key: user
}

// These limits apply to the verifications of a user: a number at once, and then a rate.
const (
	verifyBurst = 6
	verifyRate  = 1.0 / 20 // verifications per second
	maxPaced    = 10_000   // maximum number of users in Hosts.pace
)

// table is a copy of the stored host names.
type table struct {
	names  map[string][]Host // key: name; value: the host in use, or all hosts that are not in use yet
	users  map[string]Host
	active map[string]string // key: name in use; value: user
	past   map[string]Past   // key: name; names in use are left out
}

// Load reads the stored host names, which other nodes may have changed.
func (h *Hosts) Load(ctx context.Context) error {
	all, err := h.Store.AuthorHosts(ctx)
	if err != nil {
		return err
	}
	past, err := h.Store.PastAuthorHosts(ctx)
	if err != nil {
		return err
	}
	t := &table{names: map[string][]Host{}, users: map[string]Host{}, active: map[string]string{}, past: map[string]Past{}}
	for _, one := range all {
		t.names[one.Name], t.users[one.User] = append(t.names[one.Name], one), one
		if one.InUse() {
			t.active[one.Name] = one.User
		}
	}
	for _, one := range past {
		if t.active[one.Name] == "" {
			t.past[one.Name] = one
		}
	}
	if old := h.table.Swap(t); h.Loaded != nil && (old == nil || !maps.Equal(old.active, t.active)) {
		h.Loaded()
	}
	return nil
}

func (h *Hosts) read() *table {
	if t := h.table.Load(); t != nil {
		return t
	}
	return &table{}
}

// Any reports whether an author has, or had, a host name in use.
func (h *Hosts) Any() bool { t := h.read(); return len(t.active)+len(t.past) > 0 }

// Of returns the host name of a user; false: none.
func (h *Hosts) Of(user string) (Host, bool) {
	one, ok := h.read().users[user]
	return one, ok
}

// All lists the host names, sorted by name.
func (h *Hosts) All() []Host {
	all := []Host{}
	for _, one := range h.read().users {
		all = append(all, one)
	}
	slices.SortFunc(all, func(a, b Host) int { return strings.Compare(a.Name+" "+a.User, b.Name+" "+b.User) })
	return all
}

// UserOf returns the user who has the name of a Host header in use; "": none.
func (h *Hosts) UserOf(host string) string {
	t := h.read()
	if len(t.active) == 0 {
		return ""
	}
	return t.active[nameOf(host)]
}

// Tokens returns the tokens for the name of a Host header.
func (h *Hosts) Tokens(host string) (all []string) {
	for _, one := range h.read().names[nameOf(host)] {
		all = append(all, one.Token)
	}
	return all
}

// nameOf returns the name in a Host header: lowercase, without port and final dot.
func nameOf(host string) string {
	if i := strings.LastIndexByte(host, ':'); i > 0 {
		host = host[:i]
	}
	return strings.ToLower(strings.TrimSuffix(host, "."))
}

// Origin returns the origin of the host name in use of a user: "https://blog.example.org"; "":
// none. The origin has the scheme and the port of the public URL.
func (h *Hosts) Origin(user string) string {
	one, ok := h.read().users[user]
	if !ok || !one.InUse() {
		return ""
	}
	return h.originOf(one.Name)
}

func (h *Hosts) originOf(name string) string {
	u, err := url.Parse(h.Public())
	if err != nil || u.Port() == "" {
		scheme, _, _ := strings.Cut(h.Public(), "://")
		return scheme + "://" + name
	}
	return u.Scheme + "://" + name + ":" + u.Port()
}

// URL returns the URL of a path of this server, "/alice/2026/11/22/hello": at the host name of the
// author if there is one, otherwise at the public URL.
func (h *Hosts) URL(path string) string {
	if h.Any() {
		user, rest, below := strings.Cut(strings.TrimPrefix(path, "/"), "/")
		if origin := h.Origin(user); below && origin != "" && !strings.HasPrefix(rest, "private/") {
			return origin + "/" + rest
		}
	}
	return h.Public() + path
}

// pastUser returns the user whose past name is in a Host header; "": none.
func (h *Hosts) pastUser(host string) string {
	if one, ok := h.read().past[nameOf(host)]; ok && h.Now().Before(one.Until) {
		return one.User
	}
	return ""
}

// Former returns the URLs of a path of this server, "/alice/rss.xml", at the past names of its user.
func (h *Hosts) Former(path string) (all []string) {
	user, rest, below := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	if !below || strings.HasPrefix(rest, "private/") {
		return nil
	}
	for name, one := range h.read().past {
		if one.User == user && h.Now().Before(one.Until) {
			all = append(all, h.originOf(name)+"/"+rest)
		}
	}
	slices.Sort(all)
	return all
}

// Inner returns the URL of this server with the same page as a URL at the host name of an author,
// in use or past. It returns other URLs unchanged.
func (h *Hosts) Inner(raw string) string {
	scheme, rest, ok := strings.Cut(raw, "://")
	if !ok || !h.Any() || !strings.EqualFold(scheme, "http") && !strings.EqualFold(scheme, "https") {
		return raw
	}
	end := strings.IndexAny(rest, "/?#")
	if end < 0 {
		end = len(rest)
	}
	user := cmp.Or(h.UserOf(rest[:end]), h.pastUser(rest[:end]))
	if user == "" {
		return raw
	}
	if end == len(rest) || rest[end] != '/' {
		return h.Public() + "/" + user + "/" + rest[end:]
	}
	return h.Public() + "/" + user + rest[end:]
}

// Set stores the host name that a user wants to use, and returns it with its token. The name is in
// use after [Hosts.Verify]. fault.Invalid: name is not a complete host name, or is a name of this
// server. fault.Conflict: another user has the name in use.
func (h *Hosts) Set(ctx context.Context, user, name string) (Host, error) {
	name, err := h.check(name)
	if err != nil {
		return Host{}, fault.In(err, "domain")
	}
	old, had := h.Of(user)
	if had && old.Name == name {
		return old, nil
	}
	one := Host{User: user, Name: name, Token: rand.Text(), CreatedAt: h.Now().UTC()}
	if other := h.UserOf(name); other != "" && other != user {
		return Host{}, fault.In(taken(name), "domain")
	}
	if err := h.Store.PutAuthorHost(ctx, one, h.Now().Add(h.Keep)); err != nil {
		return Host{}, fault.In(err, "domain")
	}
	return one, h.changed(ctx, user, had && old.InUse())
}

func taken(name string) error {
	return fault.New(fault.Conflict, "The domain %s already shows the page of another author of this server. If it is yours, ask the operator to remove it there.", name)
}

// changed reads the table again. If shown is true, the name in use of the user has changed, and
// changed calls h.Changed.
func (h *Hosts) changed(ctx context.Context, user string, shown bool) error {
	if err := h.Load(ctx); err != nil {
		return err
	}
	if shown && h.Changed != nil {
		h.Changed(ctx, user)
	}
	return nil
}

// check returns the host name in its stored form. fault.Invalid: text is not a complete host name,
// or is a name of this server.
func (h *Hosts) check(text string) (string, error) {
	text = strings.TrimSpace(text)
	bad := func(why string) (string, error) {
		if len(text) > 100 {
			text = strings.ToValidUTF8(text[:100], "") + "…"
		}
		return "", fault.New(fault.Invalid, "%q cannot be your domain: %s.", text, why)
	}
	raw := text
	if !strings.Contains(raw, "://") {
		raw = "http://" + raw
	}
	u, err := url.Parse(raw)
	if err != nil || u.Host == "" || u.User != nil || strings.Trim(u.Path, "/") != "" || u.RawQuery != "" || u.Fragment != "" || u.Port() != "" {
		return bad("write only its name, such as blog.example.org")
	}
	name := href.Host("http://" + u.Hostname())
	if _, err := netip.ParseAddr(strings.Trim(u.Hostname(), "[]")); err == nil {
		return bad("it is an IP address; write a name such as blog.example.org")
	}
	if !isName(name) {
		return bad("write a complete name such as blog.example.org")
	}
	if public := href.Host(h.Public()); name == public || h.Own != nil && h.Own(name) {
		return bad("it is the name of this server")
	}
	return name, nil
}

// isName reports whether s is a complete host name with at least two labels.
func isName(s string) bool {
	labels := strings.Split(s, ".")
	if len(s) > 253 || len(labels) < 2 || labels[len(labels)-1] == "localhost" || strings.Trim(labels[len(labels)-1], "0123456789") == "" {
		return false
	}
	for _, l := range labels {
		if l == "" || len(l) > 63 || l[0] == '-' || l[len(l)-1] == '-' || strings.Trim(l, "abcdefghijklmnopqrstuvwxyz0123456789-") != "" {
			return false
		}
	}
	return true
}

// ProofURL returns the URL that must respond with the token of a host name.
func (h *Hosts) ProofURL(name string) string {
	if u, err := url.Parse(h.Public()); err == nil && u.Scheme == "http" && u.Port() != "" {
		name += ":" + u.Port()
	}
	return "http://" + name + ProofPath
}

// maxProof is the maximum size of a proof in bytes.
const maxProof = 16 << 10

// Verify reads the token of a user at the user's host name and puts the name into use.
// fault.NotFound: the user has no name. fault.Unreadable: the name does not lead to this server.
// fault.TooMany: the user has verified too often. fault.Conflict: another user has the name in use.
// Verify also returns errors of Covers.
func (h *Hosts) Verify(ctx context.Context, user string) (Host, error) {
	if err := h.Load(ctx); err != nil { // another node may have stored the name
		return Host{}, err
	}
	one, ok := h.Of(user)
	if !ok {
		return Host{}, fault.New(fault.NotFound, "You have no domain yet. Enter its name first.")
	}
	if one.InUse() {
		return one, nil
	}
	if err := h.prove(ctx, one); err != nil {
		return one, err
	}
	one.VerifiedAt = h.Now().UTC()
	if err := h.Store.VerifyAuthorHost(ctx, one); err != nil {
		if fault.CodeOf(err) == fault.Conflict {
			err = taken(one.Name)
		}
		return one, err
	}
	return one, h.changed(ctx, user, true)
}

// Check verifies the host name of a user, even if the name is in use, and requests a certificate
// for the name. After an error, a name in use remains in use. Check returns the same errors as
// Verify.
func (h *Hosts) Check(ctx context.Context, user string) (Host, error) {
	before, _ := h.Of(user)
	one, err := h.Verify(ctx, user)
	if err == nil && before.InUse() {
		err = h.prove(ctx, one)
	}
	if err != nil {
		return one, err
	}
	if h.Obtain != nil {
		h.Obtain(ctx, one.Name)
	}
	return one, nil
}

// Certificate returns the state of the certificate for a host name.
func (h *Hosts) Certificate(ctx context.Context, name string) Certificate {
	if h.CertificateOf == nil {
		return Certificate{}
	}
	return h.CertificateOf(ctx, name)
}

// prove reads the token of a user at the user's host name.
func (h *Hosts) prove(ctx context.Context, one Host) error {
	user := one.User
	if h.Covers != nil {
		if err := h.Covers(one.Name); err != nil {
			return err
		}
	}
	h.once.Do(func() { h.pace = limit.New(verifyRate, verifyBurst, maxPaced) })
	if wait, ok := h.pace.Take(user, h.Now()); !ok {
		return &fault.Error{Code: fault.TooMany, RetryAfter: wait, Msg: "You have checked the domain several times. Check it again in a while; a changed DNS record needs time."}
	}
	body, err := h.Read(ctx, h.ProofURL(one.Name))
	if err != nil {
		return fault.Wrap(fault.Unreadable, err, "The domain %s does not lead to this server yet. Reading %s failed: %s. Check the DNS record of the domain; a change may take some hours.",
			one.Name, h.ProofURL(one.Name), strings.TrimSuffix(fault.Message(err), "."))
	}
	if len(body) > maxProof || !slices.Contains(strings.Fields(string(body)), one.Token) {
		return fault.New(fault.Unreadable, "The domain %s leads to another server: %s does not contain your token. Check the DNS record of the domain; a change may take some hours.", one.Name, h.ProofURL(one.Name))
	}
	return nil
}

// Remove ends the use of the host name of a user. fault.NotFound: the user has no host name.
func (h *Hosts) Remove(ctx context.Context, user string) (Host, error) {
	one, _ := h.Of(user)
	if err := h.Store.DeleteAuthorHost(ctx, user, h.Now().Add(h.Keep)); err != nil {
		return one, err
	}
	return one, h.changed(ctx, user, one.InUse())
}

// Forget removes everything about a user who is deleted.
func (h *Hosts) Forget(ctx context.Context, user string) error {
	if err := h.Store.ForgetAuthorHosts(ctx, user); err != nil {
		return err
	}
	return h.Load(ctx)
}

// Tidy removes the past names that have ended.
func (h *Hosts) Tidy(ctx context.Context) error {
	if err := h.Store.TidyAuthorHosts(ctx, h.Now()); err != nil {
		return err
	}
	return h.Load(ctx)
}
