package sqldb

import "testing"

func TestEachTableHasOnePlaceInACluster(t *testing.T) {
	t.Parallel()
	tables, err := Schema()
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]bool{}
	for _, name := range Derived() {
		want[name] = true
	}
	for _, table := range tables {
		want[table.Name] = true
	}
	for _, p := range Placements() {
		if !want[p.Table] {
			t.Errorf("the table %s does not exist, or has two places", p.Table)
		}
		if p.Why == "" {
			t.Errorf("the place of the table %s has no reason", p.Table)
		}
		delete(want, p.Table)
	}
	for name := range want {
		t.Errorf("the table %s has no place: distribute it by topic, or give a reason to keep it on the coordinator", name)
	}
}
