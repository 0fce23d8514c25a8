package accountui

import "testing"

func TestConcurrentUploadsAreLimited(t *testing.T) {
	t.Parallel()
	var m moves
	for i := range maxUploads {
		if _, err := m.arrive(string(rune('a' + i))); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := m.arrive("z"); err == nil {
		t.Error("there is room for any number of files")
	}
}
