package storetest

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"testing"
)

// pattern is the database file that [Fill] copies. It is created once per process.
var pattern struct {
	sync.Once
	file []byte
	err  error
}

// Fill puts a copy of an empty store into dir, unless the file exists, and returns dir. file is the
// name of the database file. create creates the original in another folder, once per process.
func Fill(t testing.TB, dir, file string, create func(dir string) error) string {
	t.Helper()
	p := &pattern
	p.Do(func() {
		var temp string
		if temp, p.err = os.MkdirTemp("", "cloudburst-store-"); p.err != nil {
			return
		}
		defer os.RemoveAll(temp)
		if p.err = create(temp); p.err == nil {
			p.file, p.err = os.ReadFile(filepath.Join(temp, file))
		}
	})
	if p.err != nil {
		t.Fatal(p.err)
	}
	f, err := os.OpenFile(filepath.Join(dir, file), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return dir
	}
	if err == nil {
		_, err = f.Write(p.file)
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
	return dir
}
