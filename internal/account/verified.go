package account

import (
	"crypto/hmac"
	"crypto/sha256"
	"sync"
	"time"

	"cloudburst/internal/cache"
)

// verifiedFor is the time for which a verified password is accepted without another argon2id hash.
const verifiedFor = 5 * time.Minute

// maxVerified is the maximum number of verified passwords in the cache.
const maxVerified = 1 << 14

// verifiedCache records which passwords were verified, so that a program that sends its password
// with each request costs one argon2id hash per verifiedFor. It stores the HMAC-SHA-256 of the
// stored hash and the password, with a random key of this process. A changed password or another
// user has a different HMAC. The zero value is ready for use.
type verifiedCache struct {
	mu    sync.Mutex
	key   []byte
	times cache.LRU[[sha256.Size]byte, time.Time] // key: HMAC of a verified password; value: time of the argon2id hash
}

// sum returns the HMAC for a password that matches a stored hash. The stored hash has a random
// salt, so it also identifies the user. It contains no zero byte, so the zero byte separates the
// hash from the password.
func (c *verifiedCache) sum(with passwordHash, password string) (sum [sha256.Size]byte) {
	mac := hmac.New(sha256.New, c.key)
	mac.Write([]byte(with.String() + "\x00" + password))
	mac.Sum(sum[:0])
	return sum
}

// has reports whether the password was verified with this stored hash less than verifiedFor ago.
func (c *verifiedCache) has(with passwordHash, password string, now time.Time) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.key == nil {
		return false
	}
	sum := c.sum(with, password)
	at, ok := c.times.Get(sum)
	if age := now.Sub(at); !ok || age < 0 || age >= verifiedFor {
		c.times.Delete(sum)
		return false
	}
	return true
}

// put records that the password matches the stored hash.
func (c *verifiedCache) put(with passwordHash, password string, now time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.key == nil {
		c.key, c.times.Max = randomBytes(sha256.Size), maxVerified
	}
	c.times.Put(c.sum(with, password), now, 1)
}
