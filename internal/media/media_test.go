package media_test

import (
	"bytes"
	"encoding/base64"
	"image"
	"image/gif"
	"image/jpeg"
	"image/png"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"cloudburst/internal/fault"
	"cloudburst/internal/fulltest"
	"cloudburst/internal/media"

	"github.com/google/go-cmp/cmp"
)

// cleaned returns the inspected file and its content after cleaning.
func cleaned(t testing.TB, b []byte) (*media.File, []byte) {
	t.Helper()
	f, err := media.Inspect(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		t.Fatal(err)
	}
	out, err := io.ReadAll(f.Reader())
	if err != nil {
		t.Fatal(err)
	}
	if int64(len(out)) != f.Size() {
		t.Fatalf("%d bytes of %d", len(out), f.Size())
	}
	return f, out
}

// images returns one file of each format, with all kinds of metadata to remove.
func images(t testing.TB) map[string][]byte {
	t.Helper()
	return map[string][]byte{
		"a.jpg": jpegOf(t, 1), "turned.jpg": jpegOf(t, 6), "a.png": pngOf(t, 1), "turned.png": pngOf(t, 8), "a.gif": gifOf(t), "a.webp": webpOf(t, 1),
		"turned.webp": webpOf(t, 6), "a.heic": heifOf("heic"), "a.avif": heifOf("avif"), "a.mov": movOf("qt  "), "a.mp4": movOf("isom"),
	}
}

func TestUploadedImagesLoseLocationAndSerialNumber(t *testing.T) {
	t.Parallel()
	for name, b := range images(t) {
		for _, secret := range []string{secretSerial, secretLocation, "GPSLatitude", "GPS5", "+47.375", "TiMe"} {
			if before := bytes.Contains(b, []byte(secret)); !before && secret == secretSerial {
				t.Errorf("%s: the test file does not contain %q", name, secret)
			}
			if _, out := cleaned(t, b); bytes.Contains(out, []byte(secret)) {
				t.Errorf("%s still contains %q", name, secret)
			}
		}
		_, once := cleaned(t, b)
		if _, twice := cleaned(t, once); !bytes.Equal(once, twice) {
			t.Errorf("%s: a cleaned file changes when it is inspected again", name)
		}
	}
}

func TestExiftoolFindsNoPrivateMetadata(t *testing.T) {
	t.Parallel()
	fulltest.Needs(t, "exiftool")
	if _, err := exec.LookPath("exiftool"); err != nil {
		t.Skip("exiftool is not installed")
	}
	dir := t.TempDir()
	exiftool := func(name string, b []byte) string {
		t.Helper()
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, b, 0o600); err != nil {
			t.Fatal(err)
		}
		out, err := exec.Command("exiftool", "-a", "-G1", "-s", "-ee", "-u", file).CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v\n%s", name, err, out)
		}
		return string(out)
	}
	for name, b := range images(t) {
		if output := exiftool("with-"+name, b); !strings.Contains(output, "GPS") && !strings.Contains(output, "SerialNumber") {
			t.Errorf("%s: the test file contains no private data:\n%s", name, output)
		}
		_, out := cleaned(t, b)
		output := exiftool(name, out)
		for _, word := range []string{"GPS", "SerialNumber", "[XMP", "IPTC", "Location", "Camra", secretSerial, secretLocation, "Comment", "47 deg"} {
			if strings.Contains(output, word) {
				t.Errorf("%s still contains %q:\n%s", name, word, output)
			}
		}
		if strings.HasPrefix(name, "turned") && !strings.Contains(output, "Orientation") {
			t.Errorf("%s has lost its orientation:\n%s", name, output)
		}
	}
}

func TestCleanedImagesDecodeToSamePixels(t *testing.T) {
	t.Parallel()
	decoders := map[string]func(io.Reader) (any, error){
		"jpg": func(r io.Reader) (any, error) { return jpeg.Decode(r) },
		"png": func(r io.Reader) (any, error) { return png.Decode(r) },
		"gif": func(r io.Reader) (any, error) { return gif.DecodeAll(r) },
	}
	for name, b := range images(t) {
		decode := decoders[name[strings.LastIndexByte(name, '.')+1:]]
		if decode == nil {
			continue
		}
		_, out := cleaned(t, b)
		want, err := decode(bytes.NewReader(b))
		if err != nil {
			t.Fatal(name, err)
		}
		got, err := decode(bytes.NewReader(out))
		if err != nil {
			t.Fatal(name, err)
		}
		if diff := cmp.Diff(want, got, cmp.AllowUnexported(image.YCbCr{})); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
	_, out := cleaned(t, jpegOf(t, 1))
	if !bytes.Contains(out, []byte("ICC_PROFILE")) {
		t.Error("the colour profile of a JPEG image is missing")
	}
}

func TestTypeSizeAndDurationOfMediaFilesAreDetected(t *testing.T) {
	t.Parallel()
	small, err := base64.StdEncoding.DecodeString("UklGRiQAAABXRUJQVlA4IBgAAAAwAQCdASoBAAEAAwA0JaQAA3AA/vuUAAA=")
	if err != nil {
		t.Fatal(err)
	}
	flac := append([]byte("fLaC\x80\x00\x00\x22"), make([]byte, 34)...)
	copy(flac[18:], "\x0a\xc4\x42\xf0\x00\x01\x58\x88") // 44,100 samples per second, 88,200 samples
	for _, c := range []struct {
		name          string
		bytes         []byte
		kind          string
		width, height int
		seconds       float64
	}{
		{"jpeg", jpegOf(t, 1), "image/jpeg", 40, 24, 0},
		{"jpeg on its side", jpegOf(t, 6), "image/jpeg", 24, 40, 0},
		{"png", pngOf(t, 1), "image/png", 40, 24, 0},
		{"gif", gifOf(t), "image/gif", 20, 10, 0},
		{"webp", webpOf(t, 1), "image/webp", 1, 1, 0},
		{"plain webp", small, "image/webp", 1, 1, 0},
		{"heic", heifOf("heic"), "image/heic", 48, 64, 0},
		{"avif", heifOf("avif"), "image/avif", 48, 64, 0},
		{"mov", movOf("qt  "), "video/quicktime", 48, 64, 5},
		{"mp4", movOf("isom"), "video/mp4", 48, 64, 5},
		{"m4a", movOf("M4A "), "audio/mp4", 0, 0, 5},
		{"wav", wavOf(3), "audio/wav", 0, 0, 3},
		{"mp3", mp3Of(383, false), "audio/mpeg", 0, 0, 9.98},
		{"mp3 with a tag", mp3Of(383, true), "audio/mpeg", 0, 0, 9.98},
		{"flac", flac, "audio/flac", 0, 0, 2},
		{"ogg", []byte("OggS\x00\x02"), "audio/ogg", 0, 0, 0},
		{"pdf", []byte("%PDF-1.7\n"), "application/pdf", 0, 0, 0},
		{"text", []byte("Grüße\n"), "text/plain; charset=utf-8", 0, 0, 0},
		{"html", []byte("  <!DOCTYPE html><html><script>"), "application/octet-stream", 0, 0, 0},
		{"svg", []byte("<?xml version='1.0'?><svg xmlns='http://www.w3.org/2000/svg' onload='x()'/>"), "application/octet-stream", 0, 0, 0},
		{"svg without declaration", []byte("<svg onload='x()'/>"), "application/octet-stream", 0, 0, 0},
		{"xml", []byte("<?xml version='1.0'?><a/>"), "application/octet-stream", 0, 0, 0},
		{"script", []byte("#!/bin/sh\n"), "application/octet-stream", 0, 0, 0},
		{"nothing", nil, "text/plain; charset=utf-8", 0, 0, 0},
	} {
		f, out := cleaned(t, c.bytes)
		if f.Type != c.kind || f.Width != c.width || f.Height != c.height || math.Abs(f.Duration-c.seconds) > 0.05 {
			t.Errorf("%s: %s, %d by %d, %.2f s", c.name, f.Type, f.Width, f.Height, f.Duration)
		}
		if again, _ := cleaned(t, out); again.Type != c.kind || again.Width != c.width && !strings.Contains(c.name, "side") {
			t.Errorf("%s becomes %s, %d wide", c.name, again.Type, again.Width)
		}
	}
}

func TestTruncatedOrDamagedFileIsRejected(t *testing.T) {
	t.Parallel()
	for name, b := range images(t) {
		whole := b
		if i := bytes.LastIndex(b, []byte("tail ")); i > 0 {
			_, whole = cleaned(t, b) // drop the data after the end of the image, which may be truncated
		}
		for _, n := range []int{len(whole) / 3, len(whole) / 2, len(whole) - 5} {
			if strings.HasSuffix(name, ".gif") && n == len(whole)-5 {
				continue
			}
			_, err := media.Inspect(bytes.NewReader(whole[:n]), int64(n))
			if fault.CodeOf(err) != fault.Invalid {
				t.Errorf("%s cut off at %d of %d: %v", name, n, len(whole), err)
			}
		}
	}
	damaged := pngOf(t, 1)
	damaged[len(damaged)-200] ^= 1
	if _, err := media.Inspect(bytes.NewReader(damaged), int64(len(damaged))); fault.CodeOf(err) != fault.Invalid || !strings.Contains(err.Error(), "damaged") {
		t.Error(err)
	}
	for _, c := range []struct{ bytes, want string }{
		{"\xff\xd8\xff\xe0<html><script>alert(1)</script>", "JPEG"},
		{"\x89PNG\r\n\x1a\n<html>", "PNG"},
		{"GIF89a<html><script>alert(1)</script>", "GIF"},
		{string(exifOf(1)), "Save it as JPEG"},
		{"\xff\x0a....", "JPEG XL"},
		{"RIFF\xff\xff\xff\x7fWEBPVP8L", "WebP"},
		{boxOf("ftyp", "heic", u32(0), "mif1"), "HEIC"},
	} {
		_, err := media.Inspect(strings.NewReader(c.bytes), int64(len(c.bytes)))
		if fault.CodeOf(err) != fault.Invalid || !strings.Contains(fault.Message(err), c.want) {
			t.Errorf("%q: %v", c.bytes, err)
		}
	}
}

func TestFileNameThatContradictsItsContentIsReported(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, kind, bytes, want string }{
		{"cat.jpg", "image/jpeg", "<html><body>", "“cat.jpg” is named like an image, but its content is an HTML page; it was not accepted."},
		{"", "image/png", "words", "The file was sent as an image, but its content is a text; it was not accepted."},
		{"song.mp3", "", "%PDF-1.4", "“song.mp3” is named like a sound, but its content is a PDF document; it was not accepted."},
		{"cat.jpg", "text/html", "\x89PNG\r\n\x1a\n", ""},
		{"clip.mp4", "", string(movOf("M4A ")), ""},
		{"page.html", "text/html", "<html>", ""},
		{"drawing.svg", "image/svg+xml", "<svg>", ""},
	} {
		err := media.Detect([]byte(c.bytes)).Check(c.name, c.kind)
		if c.want == "" && err != nil || c.want != "" && fault.Message(err) != c.want {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

func TestFileNamesAreSafeInURLs(t *testing.T) {
	t.Parallel()
	jpg, text := media.Detect([]byte("\xff\xd8\xff")), media.Detect([]byte("words"))
	for _, c := range []struct {
		kind      media.Kind
		name, got string
	}{
		{jpg, "Holiday in Zürich.JPG", "Holiday-in-Zrich.JPG"},
		{jpg, "a.jpeg", "a.jpeg"},
		{jpg, "a.html", "a.jpg"},
		{jpg, "", "picture.jpg"},
		{jpg, `C:\pictures\x.png`, "x.jpg"},
		{jpg, "../../etc/passwd", "passwd.jpg"},
		{jpg, "日本.jpg", "picture.jpg"},
		{text, "notes.txt", "notes.txt"},
		{text, "...", "file"},
		{jpg, strings.Repeat("a", 300) + ".jpg", strings.Repeat("a", 90) + ".jpg"},
	} {
		if got := c.kind.Name(c.name); got != c.got {
			t.Errorf("%q: %q", c.name, got)
		}
	}
}

// FuzzInspect checks that a cleaned file is accepted again, is not changed by a second cleaning,
// and has the size that Size returns.
func FuzzInspect(f *testing.F) {
	for _, b := range images(f) {
		f.Add(b)
	}
	f.Add(wavOf(1)[:100])
	f.Add(mp3Of(3, true))
	f.Fuzz(func(t *testing.T, b []byte) {
		file, err := media.Inspect(bytes.NewReader(b), int64(len(b)))
		if err != nil {
			if fault.CodeOf(err) != fault.Invalid {
				t.Fatalf("the error is no fault.Invalid: %v", err)
			}
			return
		}
		out, err := io.ReadAll(file.Reader())
		if err != nil || int64(len(out)) != file.Size() {
			t.Fatalf("%d bytes of %d, %v", len(out), file.Size(), err)
		}
		again, err := media.Inspect(bytes.NewReader(out), int64(len(out)))
		if err != nil {
			t.Fatalf("a cleaned file is rejected: %v", err)
		}
		twice, err := io.ReadAll(again.Reader())
		if err != nil || !bytes.Equal(out, twice) {
			t.Fatalf("a cleaned file changes: %v", err)
		}
	})
}
