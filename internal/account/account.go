package account

import (
	"log/slog"
	"net/netip"
	"sync"
	"time"
)

// Options of accounts. Zero fields mean the default in brackets.
type Options struct {
	Memory  uint32 // of one password hash, in KiB [19456]
	Passes  uint32 // of one password hash [2]
	Hashes  int    // at once [as many as processors, at most 8]
	Waiting int    // for their turn to hash; more are refused [64]

	// Hash makes a password's hash; nil: argon2id. Memory is in KiB.
	Hash func(password, salt []byte, passes, memory uint32) []byte

	Limits Limits
}

// Limits say how many failures are borne in a quarter of an hour, at all doors
// together. Beyond them everybody waits, the longer the more often it happens.
// Zero fields mean the default in brackets.
type Limits struct {
	Source int // by one source: a /24 or a /56 [20]
	Name   int // for one user name [10]
	Minute int // by all, in a minute [300]
	Keys   int // sources and names that are remembered [16384]
}

// Accounts lets people in. Store and Key must be set before its first use; the rest
// may be zero.
type Accounts struct {
	Store   Store
	Now     func() time.Time // nil: time.Now
	Key     []byte           // 32 bytes: what the secrets of readers are encrypted with
	Log     *slog.Logger     // nil: nothing is logged
	Options Options

	once  sync.Once
	first string // what the first user has to know
}

// Caller is who tries to get in, and where.
type Caller struct {
	Addr netip.Addr // the zero Addr is counted as one source
	Door string     // page, saveRss, put, basic, wsse, token, api
}

func (a *Accounts) now() time.Time {
	if a.Now == nil {
		return time.Now()
	}
	return a.Now()
}
