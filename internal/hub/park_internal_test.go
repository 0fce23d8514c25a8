package hub

import (
	"runtime"
	"testing"
	"weak"
)

func TestParkedDeliveryDoesNotKeepItsBatchInMemory(t *testing.T) {
	h := &Hub{}
	slow := &delivery{state: parked, parkClaim: 1}
	b := &deliveryBatch{list: []*delivery{{state: finished}, slow}}
	slow.batch = b
	other := weak.Make(b.list[0])
	delivering{h}.unpark(b)
	runtime.GC()
	if other.Value() != nil {
		t.Error("the finished delivery of the batch is still in memory")
	}
	if slow.claim != 1 {
		t.Errorf("the claim is %d", slow.claim)
	}
	runtime.KeepAlive(slow)
}
