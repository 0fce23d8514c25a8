package app

import (
	"testing"

	"cloudburst/internal/config"
)

func TestCloudElementContainsHostOfThePlainListener(t *testing.T) {
	t.Parallel()
	tls := config.TLS{Cert: "c", Key: "k", HTTPListen: ":8080"}
	for _, tt := range []struct {
		public, chosen string
		tls            config.TLS
		want           string
	}{
		{"http://hub.example:5337", "auto", config.TLS{}, `<cloud domain="hub.example" port="5337" path="/rsscloud/pleaseNotify" registerProcedure="" protocol="http-post" />`},
		{"http://hub.example:5337", "https-post", config.TLS{}, `<cloud domain="hub.example" port="5337" path="/rsscloud/pleaseNotify" registerProcedure="" protocol="http-post" />`},
		{"https://hub.example", "auto", tls, `<cloud domain="hub.example" port="8080" path="/rsscloud/pleaseNotify" registerProcedure="" protocol="http-post" />`},
		{"https://hub.example", "https-post", tls, `<cloud domain="hub.example" port="443" path="/rsscloud/pleaseNotify" registerProcedure="" protocol="https-post" />`},
		{"https://hub.example", "auto", config.TLS{}, `<cloud domain="hub.example" port="443" path="/rsscloud/pleaseNotify" registerProcedure="" protocol="https-post" />`},
		{"https://hub.example:8443", "http-post", config.TLS{}, `<cloud domain="hub.example" port="8443" path="/rsscloud/pleaseNotify" registerProcedure="" protocol="http-post" />`},
	} {
		a := &App{cfg: config.Config{TLS: tt.tls, Hub: config.Hub{CloudProtocol: tt.chosen}}}
		if got := a.cloudAt(tt.public).String(); got != tt.want {
			t.Errorf("%s, %s: %s; want %s", tt.public, tt.chosen, got, tt.want)
		}
	}
}
