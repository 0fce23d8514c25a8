package accounttest

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"cloudburst/internal/store/storetest"
)

func oneNonce(t *testing.T, e *env) {
	s := e.accounts(t)
	const all = 20
	fresh := make([]bool, all)
	var group sync.WaitGroup
	for i := range all {
		group.Go(func() {
			ids := [][]byte{[]byte("nonce\x00\xff"), []byte("a sum")}
			if i%2 == 0 {
				slices.Reverse(ids)
			}
			yes, err := s.UseNonce(context.WithoutCancel(e.Ctx), ids, e.In(time.Minute))
			if err != nil {
				t.Error(err)
			}
			fresh[i] = yes
		})
	}
	group.Wait()
	n := 0
	for _, yes := range fresh {
		if yes {
			n++
		}
	}
	storetest.Same(t, "fresh", n, 1)
}

func pairsOfNonces(t *testing.T, e *env) {
	s := e.accounts(t)
	for _, step := range []struct {
		ids  string
		want bool
	}{{"a b", true}, {"a c", false}, {"d b", false}, {"e f", true}, {"f g", false}, {"h i", true}, {"c d", true}, {"g", true}} {
		var ids [][]byte
		for _, id := range strings.Fields(step.ids) {
			ids = append(ids, []byte(id))
		}
		fresh, err := s.UseNonce(e.Ctx, ids, e.In(time.Minute))
		storetest.Must(t, err)
		storetest.Same(t, step.ids, fresh, step.want)
	}
}
