package clustertest

import (
	"os"
	"regexp"
	"testing"
)

// block returns the configuration of a load balancer from the documentation: the code block in
// this language.
func block(t *testing.T, language string) string {
	t.Helper()
	page, err := os.ReadFile("../../docs/guides/nodes.md")
	if err != nil {
		t.Fatal(err)
	}
	found := regexp.MustCompile("(?s)```" + language + "\n(.*?)```").FindSubmatch(page)
	if found == nil {
		t.Fatalf("docs/guides/nodes.md has no block for %s", language)
	}
	return string(found[1])
}

// The test runs the documented configurations of nginx and HAProxy. It only changes the addresses
// and removes the certificate.
func TestNodesAreReplacedBehindABalancer(t *testing.T) {
	t.Parallel()
	swap := func(t *testing.T, text string, pairs ...string) string {
		t.Helper()
		out, err := Swap(text, pairs...)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	for _, b := range []Balancer{{
		Name: "nginx",
		Config: func(dir, addr string, nodes [2]string) string {
			text := swap(t, block(t, "nginx"), "10.0.0.11:5337", nodes[0], "10.0.0.12:5337", nodes[1], "listen 443 ssl", "listen "+addr)
			head := "daemon off;\nworker_processes 1;\npid " + dir + "/pid;\nerror_log " + dir + "/log;\nevents {}\nhttp {\naccess_log off;\n"
			if os.Getuid() == 0 {
				head = "user root;\n" + head // otherwise the workers run as another user, who cannot write to dir
			}
			for _, kind := range []string{"client_body", "proxy", "fastcgi", "uwsgi", "scgi"} {
				head += kind + "_temp_path " + dir + "/" + kind + ";\n"
			}
			return head + text + "}\n"
		},
		Args: func(dir, file string) []string { return []string{"-p", dir, "-c", file, "-e", dir + "/log"} },
	}, {
		Name: "haproxy",
		Config: func(dir, addr string, nodes [2]string) string {
			return swap(t, block(t, "haproxy"), "10.0.0.11:5337", nodes[0], "10.0.0.12:5337", nodes[1], ":443 ssl crt /etc/ssl/hub.pem", addr)
		},
		Args: func(dir, file string) []string { return []string{"-f", file, "-db"} },
	}} {
		t.Run(b.Name, func(t *testing.T) {
			t.Parallel()
			w := harness(t, Options{Env: []string{"CLOUDBURST_SHUTDOWN_DELAY=" + notices.String(), "CLOUDBURST_TRUSTED_PROXIES=127.0.0.0/8"}})
			kept(t, w, w.Balanced(b))
		})
	}
}
