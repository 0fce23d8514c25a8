package storetest

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
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
			yes, err := s.UseNonce(context.WithoutCancel(e.ctx), ids, e.in(time.Minute))
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
	same(t, "fresh", n, 1)
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
		fresh, err := s.UseNonce(e.ctx, ids, e.in(time.Minute))
		must(t, err)
		same(t, step.ids, fresh, step.want)
	}
}
