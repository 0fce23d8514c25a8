package account

import (
	"strings"
	"testing"
)

const aHash = "$argon2id$v=19$m=19456,t=2,p=1$AAECAwQFBgcICQoLDA0ODw$AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8"

func TestOnlyArgon2idHashesAreParsed(t *testing.T) {
	t.Parallel()
	if h, err := parseHashed(aHash); err != nil || h.String() != aHash || h.memory != 19456 || h.passes != 2 {
		t.Fatalf("%v, %v", h, err)
	}
	for old, replaced := range map[string]string{
		"p=1$": "p=1x$", "t=2": "t=+2", "m=19456": "m=019456", "v=19": "v=18", "ODw$": "ODw=$", "h8": "h9", "$AAEC": "$$AAEC", "p=1": "p=2", ",t": ", t", "19456": "99999999999",
	} {
		if bad := strings.Replace(aHash, old, replaced, 1); bad == aHash {
			t.Errorf("%s is not in the hash", old)
		} else if _, err := parseHashed(bad); err == nil {
			t.Errorf("%s is parsed", bad)
		}
	}
}

func FuzzHash(f *testing.F) {
	f.Add(aHash)
	f.Fuzz(func(t *testing.T, s string) {
		h, err := parseHashed(s)
		if err == nil && (h.String() != s || h.memory > 1<<18 || h.passes > 64 || len(h.sum) != sumSize) {
			t.Fatalf("%q is parsed as %v", s, h)
		}
	})
}
