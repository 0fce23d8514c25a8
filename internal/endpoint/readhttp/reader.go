package readhttp

import (
	"cloudburst/internal/endpoint"
	"fmt"
	"strings"
)

// ReaderAgent is how the program names itself to the servers of the feeds that it reads
// for people: with how many of them there are.
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
