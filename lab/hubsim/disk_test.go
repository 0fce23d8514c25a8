package hubsim

import (
	"testing"

	"cloudburst/internal/hub"
	"cloudburst/internal/store/hubtest"
)

func TestSimulatedStorePassesTheContractTests(t *testing.T) {
	t.Parallel()
	hubtest.RunEngine(t, func(*testing.T) hub.Store { return NewDisk(false) })
}
