package wsse_test

import (
	"fmt"
	"net/http"
	"strings"
	"time"

	"cloudburst/protocol/wsse"
)

// A client sends a new header with each request.
func ExampleHeader() {
	now := time.Date(2026, 5, 4, 3, 2, 1, 0, time.UTC)
	r, err := http.NewRequest("GET", "https://example.org/alice/private/rss.xml", nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	nonce := strings.NewReader("0123456789abcdef") // use nil for a random nonce
	r.Header.Set(wsse.HeaderName, wsse.Header("cal", "secret", now, nonce))
	r.Header.Set("Authorization", `WSSE profile="UsernameToken"`)
	fmt.Println(strings.ReplaceAll(r.Header.Get(wsse.HeaderName), ", ", ",\n  "))
	// Output:
	// UsernameToken Username="cal",
	//   PasswordDigest="j8Abg9ZsrfabNy0ecenRPdIWCss=",
	//   Nonce="30313233343536373839616263646566",
	//   Created="2026-05-04T03:02:01Z"
}

// A server checks three things, in this order: the password, the time of the header, and
// that the header was not used before.
func ExampleParse() {
	const secret = "secret"         // the secret of the user whom the header names
	remembered := map[string]bool{} // use a database in practice, so that the values survive a restart
	now := time.Date(2026, 5, 4, 3, 4, 0, 0, time.UTC)

	header := wsse.Header("cal", secret, now.Add(-time.Minute), nil)
	for range 2 {
		token, err := wsse.Parse(header)
		if err != nil {
			fmt.Println(err)
			return
		}
		proof, ok := token.Verify(secret)
		switch {
		case !ok:
			fmt.Println("wrong password")
		case !token.Fresh(now):
			fmt.Println("made too long ago")
		case remembered[string(proof.Nonce)] || remembered[string(proof.Sum[:])]:
			fmt.Println("was here before")
		default:
			remembered[string(proof.Nonce)], remembered[string(proof.Sum[:])] = true, true
			fmt.Println("welcome,", token.Username)
		}
	}
	// Output:
	// welcome, cal
	// was here before
}
