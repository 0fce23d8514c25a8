package transfer

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"cloudburst/internal/fulltest"
)

// A small archive can list the same bytes many times. Verifying all entries would then take very
// long, so the import rejects such an archive.
func TestZIPArchiveWithOverlappingEntriesIsRejected(t *testing.T) {
	t.Parallel()
	from, to := newTestServer(t, "https://one.example"), newTestServer(t, "https://two.example")
	file := from.export("alice")
	same := func(change func(*Manifest)) []byte {
		return repack(t, file, func(name string, b []byte) []byte {
			if name != nameManifest {
				return b
			}
			var m Manifest
			if err := json.Unmarshal(b, &m); err != nil {
				t.Fatal(err)
			}
			change(&m)
			out, err := json.Marshal(m)
			if err != nil {
				t.Fatal(err)
			}
			return out
		})
	}
	to.mustReject(same(func(m *Manifest) { m.Entries = append(m.Entries, m.Entries[0]) }), "listed twice")
	to.mustReject(overlapping(t, 400), "larger than")
}

// overlapping returns an archive whose entries all share the same 15 MiB, compressed once.
func overlapping(t *testing.T, n int) []byte {
	t.Helper()
	m := Manifest{Format: formatName, Version: formatVersion}
	const size = 15 << 20
	for i := range n {
		m.Entries = append(m.Entries, Entry{Name: fmt.Sprintf("media/%d", i), Size: size})
	}
	text, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for name, body := range map[string][]byte{nameManifest: text, "media/0": make([]byte, size)} {
		f, err := w.Create(name)
		if err == nil {
			_, err = f.Write(body)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	// Repeat the directory entry that refers to the bytes, under other names.
	whole := b.Bytes()
	end := bytes.LastIndex(whole, []byte("PK\x05\x06"))
	start := int(binary.LittleEndian.Uint32(whole[end+16:]))
	directory := bytes.Clone(whole[start:end])
	at := bytes.Index(directory, []byte("media/0")) - 46
	one := directory[at : at+46+len("media/0")+int(binary.LittleEndian.Uint16(directory[at+30:]))]
	for i := 1; i < n; i++ {
		name := fmt.Sprintf("media/%d", i)
		head := bytes.Clone(one[:46])
		binary.LittleEndian.PutUint16(head[28:], uint16(len(name)))
		directory = append(append(append(directory, head...), name...), one[46+len("media/0"):]...)
	}
	tail := bytes.Clone(whole[end:])
	binary.LittleEndian.PutUint16(tail[8:], uint16(n+1))
	binary.LittleEndian.PutUint16(tail[10:], uint16(n+1))
	binary.LittleEndian.PutUint32(tail[12:], uint32(len(directory)))
	return append(append(bytes.Clone(whole[:start]), directory...), tail...)
}

// Each entry of the directory takes some hundred bytes of memory before any entry is checked.
func TestZIPArchiveWithHugeDirectoryIsRejected(t *testing.T) {
	t.Parallel()
	fulltest.Long(t)
	r := &limitedReaderAt{r: strings.NewReader(strings.Repeat("x", 100)), left: 50}
	if _, err := r.ReadAt(make([]byte, 40), 0); err != nil {
		t.Errorf("archive within the limit: %v", err)
	}
	if _, err := r.ReadAt(make([]byte, 40), 40); !errors.Is(err, errDirectory) {
		t.Errorf("archive above the limit: %v", err)
	}
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for i := range 4000 { // with long names, fewer entries exceed the limit
		if _, err := w.CreateHeader(&zip.FileHeader{Name: fmt.Sprintf("%d%s", i, strings.Repeat("n", 15_000))}); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	newTestServer(t, "https://two.example").mustReject(b.Bytes(), "too many entries")
}

// An element has four bytes in the file, but takes a hundred bytes in memory.
func TestImportFileOfManyEmptyElementsIsRejected(t *testing.T) {
	t.Parallel()
	fulltest.Long(t)
	to := newTestServer(t, "https://two.example")
	const rss = `<rss version="2.0" xmlns:wp="http://wordpress.org/export/1.2/"><channel>`
	to.mustReject([]byte(rss+"<wp:wxr_version>1.2</wp:wxr_version><item>"+strings.Repeat("<a/>", maxWXRTags+10_000)+"</item></channel></rss>"), "cannot be read beyond line")
	to.mustReject([]byte(`<rss version="2.0"><channel><item>`+strings.Repeat("<z:a/>", maxTags)+"</item></channel></rss>"), "elements")
	to.mustReject([]byte(`{"version":"https://jsonfeed.org/version/1.1","title":"t","items":[{"id":"1","_e":[`+strings.Repeat("0,", maxMembers)+"0]}]}"), "elements")
}
