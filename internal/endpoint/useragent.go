package endpoint

import (
	"strings"
)

// UserAgent returns the User-Agent header of the program's requests: its version and the URL of a
// page about it.
//
// spec:cloudburst#notify-user-agent
func UserAgent(version, about string) string {
	ua := "Cloudburst/" + strings.Map(func(r rune) rune {
		if r <= ' ' || r >= 0x7f || strings.ContainsRune(`()<>@,;:\"/[]?={}`, r) {
			return '-'
		}
		return r
	}, version)
	if about == "" {
		return ua
	}
	return ua + " (+" + about + ")"
}
