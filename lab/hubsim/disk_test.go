package hubsim

import (
	"testing"

	"cloudburst/internal/hub"
	"cloudburst/internal/store/storetest"
)

func TestTheSimulatedStoreKeepsTheContractOfTheRealOnes(t *testing.T) {
	t.Parallel()
	storetest.RunEngine(t, func(*testing.T) hub.Store { return NewDisk(false) })
}
