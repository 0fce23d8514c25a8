package config

import "testing"

func TestHostsInListsCanHavePortsOrMeanSubdomains(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "*", "a.example", "A.example, b.example:8080", "a.example b.example", "127.0.0.1:80,[::1],[::1]:80", "localhost", "bücher.example"} {
		if err := checkHosts(text); err != nil {
			t.Errorf("hosts %q: %v", text, err)
		}
	}
	for _, text := range []string{"", "*", "a.example", ".a.example,*.b.example", "127.0.0.1, ::1", "localhost"} {
		if err := checkDomains(text); err != nil {
			t.Errorf("domains %q: %v", text, err)
		}
	}
	for _, text := range []string{"http://a.example", "a.example/", "u@a.example", "a.example?", "a.example:", "a..example", "::1"} {
		if checkHosts(text) == nil || text != "::1" && checkDomains(text) == nil {
			t.Errorf("%q is accepted", text)
		}
	}
}
