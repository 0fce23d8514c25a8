package wsse

import (
	"testing"
	"time"
)

func FuzzParse(f *testing.F) {
	f.Add(published, "taadtaadpstcsm")
	f.Add(`usernametoken username=a,nonce="\"\\",created=20051114T184004,passworddigest=00`, "")
	f.Fuzz(func(t *testing.T, header, password string) {
		token, err := Parse(header)
		if err != nil {
			return
		}
		if again := parsed(t, token.String()); again != token {
			t.Fatalf("changed by writing and parsing:\n%+v\n%+v", token, again)
		}
		if !token.Fresh(token.At) || token.Fresh(token.At.Add(time.Hour)) {
			t.Fatal("not fresh at its own time, or fresh an hour later")
		}
		if proof, ok := token.Verify(password); ok {
			if len(proof.Nonce) > MaxNonce || digest(proof.Nonce, token.Created, password) != proof.Sum {
				t.Fatalf("an invalid proof: %+v", proof)
			}
		}
		// A header of the client with this user name and password.
		ours := parsed(t, Header(token.Username, password+"x", token.At, nil))
		if ours.Username != token.Username || !ours.Check(password+"x") {
			t.Fatalf("a header for %q is parsed as %q, or does not match", token.Username, ours.Username)
		}
	})
}

func FuzzTime(f *testing.F) {
	f.Add("2005-11-14T18:40:04-0800")
	f.Add("20051114T1840,5+01:30")
	f.Fuzz(func(t *testing.T, s string) {
		at, ok := parseTime(s)
		if ok && (at.Location() != time.UTC || at.Year() < -1 || at.Year() > 10000) {
			t.Fatalf("%q: %v", s, at)
		}
		if want, err := time.Parse(time.RFC3339, s); err == nil && ok && !at.Equal(want) {
			t.Fatalf("%q is %v, parsed as %v, %v", s, want, at, ok)
		}
	})
}
