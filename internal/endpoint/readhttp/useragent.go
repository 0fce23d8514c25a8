package readhttp

import (
	"fmt"
	"strings"

	"cloudburst/internal/endpoint"
)

// ReaderAgent returns the User-Agent for reading feeds. It contains the number of users who follow
// the feed.
//
// spec:feedstate-2007#user-agent
func ReaderAgent(version, about string, readers int64) string {
	ua, _, _ := strings.Cut(endpoint.UserAgent(version, about), " (")
	word := "subscribers"
	if readers == 1 {
		word = "subscriber"
	}
	return fmt.Sprintf("%s (+%s; %d %s)", ua, about, readers, word)
}
