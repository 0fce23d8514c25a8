package crashtest

import (
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// cyclesFlag makes a long run of it: go test ./internal/crashtest -crash.cycles 5000 -timeout 3h
var cyclesFlag = flag.Int("crash.cycles", 50, "how often the program is killed")

// build makes the program, with or without planted bugs.
func build(t *testing.T, tags string) string {
	t.Helper()
	bin := filepath.Join(t.TempDir(), "cloudburst")
	cmd := exec.CommandContext(t.Context(), "go", "build", "-tags", tags, "-o", bin, "cloudburst/cmd/cloudburst")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, out)
	}
	return bin
}

func run(t *testing.T, o Options) Report {
	t.Helper()
	o.Dir = t.TempDir()
	o.Log = func(s string) { t.Log(s) }
	r, err := Run(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Log(r)
	return r
}

func TestNothingAcknowledgedIsLostWhenTheProgramIsKilled(t *testing.T) {
	r := run(t, Options{Binary: build(t, ""), Cycles: *cyclesFlag, Seed: uint64(time.Now().UnixNano())})
	for i, b := range r.Broken {
		if i == 20 {
			t.Errorf("… and %d more", len(r.Broken)-i)
			break
		}
		t.Error(b)
	}
	if r.Registered < r.Deaths || r.Pings < r.Deaths || r.Live == 0 || r.Notifications == 0 {
		t.Errorf("too little happened to prove anything: %s", r)
	}
}

func TestThePlantedBugsAreCaught(t *testing.T) {
	bin := build(t, "plantedbugs")
	for bug, want := range map[string][]string{
		"ack-before-commit": {"registration lost", "cancel undone"},
		"forget-failures":   {"ping lost"},
	} {
		t.Run(bug, func(t *testing.T) {
			r := run(t, Options{Binary: bin, Cycles: 15, Seed: 3, Env: []string{"CLOUDBURSTBUG=" + bug}})
			for _, w := range want {
				for _, b := range r.Broken {
					if strings.HasPrefix(b, w) {
						return
					}
				}
			}
			t.Errorf("the harness did not see the bug: %s", r)
		})
	}
}
