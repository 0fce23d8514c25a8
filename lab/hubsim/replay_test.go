package hubsim

import "testing"

func TestSimulationIsReproducibleWithItsSeed(t *testing.T) {
	alongside(t)
	for seed := range uint64(20) {
		first := play(t, seed+1, Options{})
		for range 2 {
			if again := play(t, seed+1, Options{}); again.Sum != first.Sum || again.Ops != first.Ops {
				t.Errorf("seed %d: history %x in %d operations, then %x in %d", seed+1, first.Sum, first.Ops, again.Sum, again.Ops)
			}
		}
	}
}
