package river

import (
	"net/netip"
	"testing"

	"cloudburst/feed/polling"
	"cloudburst/internal/fetch"
)

func TestErrorForPrivateAddressNamesTheSetting(t *testing.T) {
	t.Parallel()
	addr := netip.MustParseAddr("192.168.1.7")
	for setting, want := range map[string]string{"egress.allow-fetch": "its address is not public, and egress.allow-fetch does not list it", "": ""} {
		err := &fetch.Error{Kind: fetch.Refused, Text: fetch.Neutral, Err: fetch.NotAllowedError{Addr: addr, Setting: setting}}
		if kind, text := errorKind(err); kind != polling.ErrRefused || text != want {
			t.Errorf("%s: %q", kind, text)
		}
	}
}
