package packagetest

import (
	"encoding/json"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"cloudburst/lab/outside"

	"go.yaml.in/yaml/v3"
)

// exported returns the names of all metrics of a new server.
func exported(t *testing.T) map[string]bool {
	t.Helper()
	dir := t.TempDir()
	cmd := exec.Command(program(t), "serve", "--listen", "127.0.0.1:0", "--admin.listen", "127.0.0.1:0", "--data", dir, "--log.level", "error")
	cmd.Stderr = t.Output()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = cmd.Process.Kill(); _ = cmd.Wait() }()
	var text string
	outside.Until(t, "the metrics are there", func() bool {
		addr, err := os.ReadFile(filepath.Join(dir, "admin.addr"))
		if err != nil {
			return false
		}
		res, err := http.Get("http://" + strings.TrimSpace(string(addr)) + "/metrics")
		if err != nil {
			return false
		}
		defer res.Body.Close()
		raw, err := io.ReadAll(res.Body)
		text = string(raw)
		return err == nil && res.StatusCode == http.StatusOK
	})
	names := map[string]bool{"up": true} // "up" is a metric of Prometheus itself
	for _, m := range regexp.MustCompile(`(?m)^([a-z_0-9]+)[ {]`).FindAllStringSubmatch(text, -1) {
		names[m[1]] = true
	}
	return names
}

// used returns the names of the metrics in a Prometheus expression. A metric is a word before a
// selector in braces.
func used(expr string) (names []string) {
	for _, m := range regexp.MustCompile(`([a-z_0-9]+)\{`).FindAllStringSubmatch(expr, -1) {
		names = append(names, m[1])
	}
	return append(names, regexp.MustCompile(`\b(?:cloudburst|process|go)_[a-z_0-9]+`).FindAllString(expr, -1)...)
}

func TestMonitoringUsesExistingMetrics(t *testing.T) {
	t.Parallel()
	have := exported(t)
	check := func(where, expr string) {
		names := used(expr)
		if len(names) == 0 {
			t.Errorf("%s uses no metric: %s", where, expr)
		}
		for _, n := range names {
			if !have[n] {
				t.Errorf("%s uses %s, which the program does not have", where, n)
			}
		}
	}
	var board struct {
		Panels []struct {
			Title       string
			Targets     []struct{ Expr string }
			FieldConfig struct{ Defaults struct{ Unit string } }
		}
	}
	if err := json.Unmarshal([]byte(read(t, "packaging/monitoring/dashboard.json")), &board); err != nil || len(board.Panels) < 10 {
		t.Fatalf("%d panels, %v", len(board.Panels), err)
	}
	for i, p := range board.Panels {
		if p.Title == "" || p.FieldConfig.Defaults.Unit == "" || len(p.Targets) == 0 {
			t.Errorf("panel %d has the title %q, the unit %q and %d lines", i+1, p.Title, p.FieldConfig.Defaults.Unit, len(p.Targets))
		}
		for _, target := range p.Targets {
			check("the panel "+p.Title, target.Expr)
		}
	}
	var rules struct {
		Groups []struct {
			Rules []struct {
				Alert, Expr         string
				Labels, Annotations map[string]string
			}
		}
	}
	if err := yaml.Unmarshal([]byte(read(t, "packaging/monitoring/alerts.yaml")), &rules); err != nil || len(rules.Groups) != 1 {
		t.Fatalf("%+v, %v", rules, err)
	}
	rate := regexp.MustCompile(`sum by \(job\) \(rate\(cloudburst_(\w+)_total\{job="cloudburst"\}\[10m\]\)\)`)
	for _, r := range rules.Groups[0].Rules {
		// notifications_total counts only the delivered notifications.
		if got := rate.ReplaceAllString(r.Expr, "$1"); r.Alert == "CloudburstManyFailures" &&
			got != "notification_failures > 0.5 * (notification_failures + notifications) and notification_failures + notifications > 1" {
			t.Errorf("the alert %s does not compare the failures with all notifications: %s", r.Alert, got)
		}
		check("the alert "+r.Alert, r.Expr)
		if r.Labels["severity"] == "" || r.Annotations["summary"] == "" || r.Annotations["description"] == "" {
			t.Errorf("the alert %s lacks a label or an annotation: %v %v", r.Alert, r.Labels, r.Annotations)
		}
	}
}
