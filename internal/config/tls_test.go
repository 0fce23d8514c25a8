package config

import (
	"strings"
	"testing"
)

func TestPublicURLUsesHTTPSWithTLS(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, url, addr, want string
		tls                   TLS
		warns                 string
	}{
		{name: "without TLS", addr: "[::]:5337", want: "http://localhost:5337", warns: "public-url is not set"},
		{name: "domains", addr: "[::]:443", tls: TLS{Domains: []string{"hub.example.org", "b.example"}}, want: "https://hub.example.org"},
		{name: "domains, another port", addr: ":8443", tls: TLS{Domains: []string{"hub.example.org"}}, want: "https://hub.example.org:8443"},
		{name: "files", addr: "127.0.0.1:443", tls: TLS{Cert: "c", Key: "k"}, want: "https://localhost", warns: "public-url is not set"},
		{name: "public URL set", addr: ":443", url: "https://x.example", tls: TLS{Cert: "c", Key: "k"}, want: "https://x.example"},
		{name: "public URL with http", addr: ":443", url: "http://x.example", tls: TLS{Cert: "c", Key: "k"}, want: "http://x.example", warns: "Write https://"},
		{name: "only the other listener", addr: ":80", url: "http://x.example", tls: TLS{HTTPListen: ":80"}, want: "http://x.example", warns: "has no effect"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			c := Default()
			c.PublicURL, c.TLS = tt.url, tt.tls
			if got := c.Public(tt.addr); got != tt.want {
				t.Errorf("public URL %s, want %s", got, tt.want)
			}
			warnings := strings.Join(c.Warnings(), "\n")
			if tt.warns == "" && warnings != "" || !strings.Contains(warnings, tt.warns) {
				t.Errorf("warnings %q, want %q in them", warnings, tt.warns)
			}
		})
	}
}
