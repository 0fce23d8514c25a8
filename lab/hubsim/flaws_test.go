package hubsim

import (
	"testing"

	"cloudburst/internal/fulltest"
)

const flawWithin = 200 // number of seeds within which each bug must be detected

func TestSimulationDetectsEveryPlantedBug(t *testing.T) {
	fulltest.Long(t)
	alongside(t)
	for _, name := range Flaws() {
		t.Run(name, func(t *testing.T) {
			for seed := range uint64(flawWithin) {
				if r := play(t, seed+1, Options{Flaw: name}); len(r.Broken) > 0 {
					t.Logf("found by seed %d: %s", r.Seed, r.Broken[0])
					return
				}
			}
			t.Errorf("not found by %d seeds", flawWithin)
		})
	}
}
