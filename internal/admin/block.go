package admin

import (
	"cmp"
	"context"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"time"

	"cloudburst/internal/fault"
	"cloudburst/internal/href"
	"cloudburst/internal/text"
)

// Kinds of blocks.
const (
	BlockHost    = "host"    // a host name and its subdomains
	BlockNetwork = "network" // a network or an IP address
	BlockTopic   = "topic"   // a feed, by its URL
)

// MaxReason is the maximum length of the reason of a block, in bytes.
const MaxReason = 300

// maxBlocks is the maximum number of blocks, because all blocks are in memory.
const maxBlocks = 10_000

// Block is a host, network or topic that this server neither reads nor notifies.
type Block struct {
	Kind      string // BlockHost, BlockNetwork or BlockTopic
	Value     string // canonical form; see ParseBlock
	Reason    string // shown to administrators only
	CreatedAt time.Time
	CreatedBy string // name of the user; "": the operator
}

// blockList is an immutable list of blocks, prepared for look-ups.
type blockList struct {
	hosts    map[string]bool
	networks []netip.Prefix
	topics   map[string]bool
	all      []Block
}

// ParseBlock finds out what an administrator wants to block. An http or https URL with a path or
// query is a topic. An IP address or a prefix is a network. A name, or the URL of a whole site, is a
// host. fault.Invalid: the text is none of these.
func ParseBlock(given string) (kind, value string, err error) {
	given = strings.TrimSpace(given)
	invalid := func() error {
		return fault.New(fault.Invalid, "%q is not a host, a network or the URL of a feed. Examples: example.org, 192.0.2.0/24, https://example.org/feed.xml.", text.Clip(given, 200))
	}
	if given == "" {
		return "", "", fault.New(fault.Invalid, "A host, a network or the URL of a feed is missing. Examples: example.org, 192.0.2.0/24, https://example.org/feed.xml.")
	}
	if p, err := netip.ParsePrefix(given); err == nil {
		if p.Bits() == 0 {
			return "", "", fault.New(fault.Invalid, "%s would block every address. Choose a smaller network.", given)
		}
		return BlockNetwork, p.Masked().String(), nil
	}
	if ip, err := netip.ParseAddr(strings.Trim(given, "[]")); err == nil {
		ip = ip.Unmap().WithZone("")
		return BlockNetwork, netip.PrefixFrom(ip, ip.BitLen()).String(), nil
	}
	if strings.Contains(given, "://") {
		u, err := url.Parse(given)
		if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || len(given) > 2048 {
			return "", "", invalid()
		}
		if topicPath(*u) != "/" || u.RawQuery != "" {
			return BlockTopic, topicKey(*u), nil
		}
		if _, err := netip.ParseAddr(u.Hostname()); err == nil {
			return ParseBlock(u.Hostname())
		}
		given = u.Hostname()
	}
	host := href.Host("http://" + strings.TrimPrefix(strings.TrimSuffix(given, "."), "*."))
	if host == "" || strings.ContainsAny(given, "/?#@ \t") {
		return "", "", invalid()
	}
	if _, err := netip.ParseAddr(strings.Trim(host, "[]")); err == nil { // an address with a port
		return ParseBlock(host)
	}
	if strings.ContainsAny(host, "/:") {
		return "", "", invalid()
	}
	return BlockHost, host, nil
}

// topicKey returns the form in which the URL of a topic is blocked. It is the same for all spellings
// of the scheme, host, port and path.
//
// spec:cloudburst#block-spellings
func topicKey(u url.URL) string {
	u.Fragment, u.User, u.ForceQuery = "", nil, false
	u.RawPath = topicPath(u)
	u.Path, _ = url.PathUnescape(u.RawPath) // the escapes are valid
	key := u.String()
	if usual := href.UsualSpelling(key); usual != "" {
		return usual
	}
	return key
}

// topicPath returns the escaped path of a URL without dot segments, and with one slash at its start.
// It escapes only what it must, but keeps the escapes of reserved characters, and slashes within the
// path: "a%2Fb", "a/b" and "a//b" may be different feeds.
func topicPath(u url.URL) string {
	u.RawPath = href.UsualEscapes(cmp.Or(u.RawPath, u.EscapedPath()))
	u.Path, _ = url.PathUnescape(u.RawPath)                                  // the escapes are valid
	return "/" + strings.TrimLeft(u.ResolveReference(&u).EscapedPath(), "/") // resolves dot segments
}

// canonical returns the kind and the value that are in force. An earlier version may have stored
// another spelling, or an IP address as a host.
func (b Block) canonical() (kind, value string) {
	if b.Kind == BlockTopic {
		if u, err := url.Parse(b.Value); err == nil {
			return BlockTopic, topicKey(*u)
		}
		return b.Kind, b.Value
	}
	kind, value, err := ParseBlock(b.Value)
	if err != nil || kind != b.Kind && (b.Kind != BlockHost || kind != BlockNetwork) {
		return b.Kind, b.Value
	}
	return kind, value
}

// spellings lists the stored blocks that have a canonical form.
func (a *Admin) spellings(ctx context.Context, kind, value string) ([]Block, error) {
	all, err := a.Store.Blocks(ctx)
	return slices.DeleteFunc(all, func(b Block) bool {
		k, v := b.canonical()
		return k != kind || v != value
	}), err
}

// AddBlock blocks a host, network or topic: at once on this node, and on other nodes at their next
// Load. The block replaces those of other spellings. fault.Invalid: the value or the reason is not
// valid; fault.TooMany: there are too many blocks.
func (a *Admin) AddBlock(ctx context.Context, by Actor, given, reason string) (Block, error) {
	kind, value, err := ParseBlock(given)
	if err != nil {
		return Block{}, err
	}
	reason = strings.TrimSpace(reason)
	if len(reason) > MaxReason {
		return Block{}, fault.New(fault.Invalid, "The reason is too long: at most %d bytes are accepted.", MaxReason)
	}
	if len(a.Blocks()) >= maxBlocks {
		return Block{}, fault.New(fault.TooMany, "There are %d blocks already, which is the maximum. Block a network instead of single hosts.", maxBlocks)
	}
	b := Block{Kind: kind, Value: value, Reason: reason, CreatedAt: a.now().UTC().Truncate(time.Millisecond), CreatedBy: by.Name}
	return b, a.Do(ctx, by, BlockAdd, value, reason, func() error {
		if err := a.Store.PutBlock(ctx, b); err != nil {
			return err
		}
		same, err := a.spellings(ctx, kind, value)
		if err != nil {
			return err
		}
		for _, old := range same {
			if old.Kind == kind && old.Value == value {
				continue
			}
			if _, err := a.Store.RemoveBlock(ctx, old.Kind, old.Value); err != nil && fault.CodeOf(err) != fault.NotFound {
				return err
			}
		}
		return a.loadBlocks(ctx)
	})
}

// RemoveBlock removes a block, in all its spellings, at once. It returns the block, so that the caller
// can add it again. fault.NotFound: the block does not exist.
func (a *Admin) RemoveBlock(ctx context.Context, by Actor, kind, value string) (b Block, err error) {
	kind, value = Block{Kind: kind, Value: value}.canonical()
	err = a.Do(ctx, by, BlockRemove, value, "", func() error {
		same, err := a.spellings(ctx, kind, value)
		if err != nil {
			return err
		}
		if len(same) == 0 {
			same = []Block{{Kind: kind, Value: value}} // the store returns the error
		}
		for _, old := range same {
			removed, err := a.Store.RemoveBlock(ctx, old.Kind, old.Value)
			if err != nil {
				return err
			}
			if b.Kind == "" || removed.Value == value {
				b = removed
			}
		}
		return a.loadBlocks(ctx)
	})
	return b, err
}

// Blocks lists the current blocks by kind and value.
func (a *Admin) Blocks() []Block {
	if l := a.blocks.Load(); l != nil {
		return l.all
	}
	return nil
}

func (a *Admin) loadBlocks(ctx context.Context) error {
	all, err := a.Store.Blocks(ctx)
	if err != nil {
		return err
	}
	l := &blockList{hosts: map[string]bool{}, topics: map[string]bool{}, all: all}
	for _, b := range all {
		switch kind, value := b.canonical(); kind {
		case BlockHost:
			l.hosts[value] = true
		case BlockTopic:
			l.topics[value] = true
		case BlockNetwork:
			if p, err := netip.ParsePrefix(value); err == nil {
				l.networks = append(l.networks, p)
			}
		}
	}
	a.blocks.Store(l)
	return nil
}

// BlocksURL reports whether a URL is a blocked topic or is on a blocked host. It uses no I/O, so
// callers can check every request.
func (a *Admin) BlocksURL(raw string) bool {
	l := a.blocks.Load()
	if l == nil || len(l.all) == 0 {
		return false
	}
	u, err := url.Parse(raw)
	if err != nil {
		return false
	}
	if len(l.topics) > 0 && l.topics[topicKey(*u)] {
		return true
	}
	host := href.Host(raw)
	if ip, err := netip.ParseAddr(strings.Trim(host, "[]")); err == nil {
		return l.blocksAddr(ip)
	}
	for host = strings.TrimSuffix(host, "."); host != ""; {
		if l.hosts[host] {
			return true
		}
		_, host, _ = strings.Cut(host, ".")
	}
	return false
}

// BlocksAddr reports whether an IP address is in a blocked network. It uses no I/O, so callers can
// check every request.
func (a *Admin) BlocksAddr(ip netip.Addr) bool {
	l := a.blocks.Load()
	return l != nil && l.blocksAddr(ip)
}

func (l *blockList) blocksAddr(ip netip.Addr) bool {
	ip = ip.Unmap().WithZone("")
	for _, p := range l.networks {
		if p.Contains(ip) {
			return true
		}
	}
	return false
}
